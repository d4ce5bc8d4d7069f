package quant

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// TestTwinsForOtherCaches compares with definitions, which are exact, as with other caches.
func TestTwinsForOtherCaches(t *testing.T) {
	kerneltest.EachCaches(t, func(t *testing.T, c cpu.Caches) {
		require.True(t, 0 < blockBytes() && blockBytes() <= c.L2/2)
		t.Run("gemm", TestQGemmIsExact)
		t.Run("planes", TestQConvByPlanes)
	})
}
