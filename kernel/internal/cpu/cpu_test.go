package cpu

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRestrict(t *testing.T) {
	full := Features{Level: AVX512, Vnni: true}
	require.Equal(t, full, restrict(full, ""))
	require.Equal(t, full, restrict(full, "avx512"))
	require.Equal(t, full, restrict(full, "sse9"))
	require.Equal(t, Features{Level: AVX2}, restrict(full, "avx2"))
	require.Equal(t, Features{}, restrict(full, "generic"))
	low := Features{Level: AVX2}
	require.Equal(t, low, restrict(low, "avx512"), "a level is never raised")
	require.Equal(t, Features{Level: NEON}, restrict(Features{Level: NEON}, "avx2"))
	// The variable is read before tests begin, which the test cache does not see.
	require.Equal(t, restrict(Detect(), os.Getenv("GOFX_CPU")), Host)
}
