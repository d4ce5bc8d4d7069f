package kernel

import "testing"

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
			name := l.name()
			if vnni {
				name += "+dot"
			}
			f(name)
		}
	}
}
