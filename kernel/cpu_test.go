package kernel

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

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
