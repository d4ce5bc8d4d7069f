package kernel

import "testing"

// levels lists what this processor has, lowest first.
func levels() []cpuLevel {
	top := detectCPU().level
	switch top {
	case levelAVX512:
		return []cpuLevel{levelGeneric, levelAVX2, levelAVX512}
	case levelGeneric:
		return []cpuLevel{levelGeneric}
	}
	return []cpuLevel{levelGeneric, top}
}

// useLevel makes kernels use a level until the test ends.
func useLevel(t testing.TB, l cpuLevel) {
	old := cpu
	cpu.level = l
	t.Cleanup(func() { cpu = old })
}

// eachLevel runs a test at every level of this processor.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	for _, l := range levels() {
		t.Run(l.String(), func(t *testing.T) {
			useLevel(t, l)
			f(t)
		})
	}
}

// qLevels runs f at every level of this processor, also without its dot products.
func qLevels(t testing.TB, f func(level string)) {
	t.Helper()
	old := cpu
	defer func() { cpu = old }()
	for _, l := range levels() {
		for _, vnni := range []bool{false, true} {
			top := detectCPU()
			if vnni && !(l == levelAVX512 && top.vnni || l == levelNEON && top.dot) {
				continue
			}
			cpu = cpuFeatures{level: l, vnni: vnni, vbmi: vnni && top.vbmi, dot: vnni && top.dot}
			name := l.String()
			if vnni {
				name += "+dot"
			}
			f(name)
		}
	}
}

func benchLevels(b *testing.B, f func(b *testing.B, level cpuLevel)) {
	for _, level := range append([]cpuLevel{levelGeneric}, vecLevels()...) {
		b.Run(level.String(), func(b *testing.B) { f(b, level) })
	}
}

func perElement(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
}

// vecLevels are the levels with assembly that this machine and GOFX_CPU allow.
func vecLevels() []cpuLevel {
	var levels []cpuLevel
	for l := levelAVX2; l <= cpu.level; l++ {
		if stripCode(l) != nil {
			levels = append(levels, l)
		}
	}
	return levels
}

// winogradLevels are the levels whose products Winograd's convolution can use.
func winogradLevels(t *testing.T, f func(t *testing.T)) {
	for _, l := range levels() {
		if l == levelGeneric {
			continue
		}
		t.Run(l.String(), func(t *testing.T) {
			useLevel(t, l)
			f(t)
		})
	}
}
