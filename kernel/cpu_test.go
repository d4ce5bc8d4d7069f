package kernel

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

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

func (l cpuLevel) name() string {
	return [...]string{"generic", "neon", "avx2", "avx512"}[l]
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
		t.Run(l.name(), func(t *testing.T) {
			useLevel(t, l)
			f(t)
		})
	}
}

func TestRestrict(t *testing.T) {
	full := cpuFeatures{level: levelAVX512, vnni: true}
	require.Equal(t, full, restrict(full, ""))
	require.Equal(t, full, restrict(full, "avx512"))
	require.Equal(t, full, restrict(full, "sse9"))
	require.Equal(t, cpuFeatures{level: levelAVX2}, restrict(full, "avx2"))
	require.Equal(t, cpuFeatures{}, restrict(full, "generic"))
	low := cpuFeatures{level: levelAVX2}
	require.Equal(t, low, restrict(low, "avx512"), "a level is never raised")
	require.Equal(t, cpuFeatures{level: levelNEON}, restrict(cpuFeatures{level: levelNEON}, "avx2"))
	// The variable is read before tests begin, which the test cache does not see.
	require.Equal(t, restrict(detectCPU(), os.Getenv("GOFX_CPU")), cpu)
}
