package blocked

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// TestTwinsForOtherCaches compares with references as with other caches, where weights are
// read once for a tile or once in all.
func TestTwinsForOtherCaches(t *testing.T) {
	kerneltest.EachCaches(t, func(t *testing.T, c cpu.Caches) {
		require.True(t, 0 < outerWeights() && 4*outerWeights() <= c.L2/2)
		t.Run("conv", TestConvBlocked)
		t.Run("transpose", TestConvTransposeBlocked)
	})
}
