package kernel

import "testing"

// qLevels runs f at every level of this processor, also without its dot products.
func qLevels(t testing.TB, f func(level string)) {
	t.Helper()
	old := cpu
	defer func() { cpu = old }()
	for _, l := range levels() {
		for _, vnni := range []bool{false, true} {
			if vnni && (l != levelAVX512 || !detectCPU().vnni) {
				continue
			}
			cpu = cpuFeatures{level: l, vnni: vnni, vbmi: vnni && detectCPU().vbmi}
			name := l.name()
			if vnni {
				name += "+vnni"
			}
			f(name)
		}
	}
}
