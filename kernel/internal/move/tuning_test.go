package move

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// TestTwinsForOtherCaches copies as with other caches: small results go past them, too.
func TestTwinsForOtherCaches(t *testing.T) {
	kerneltest.EachCaches(t, func(t *testing.T, c cpu.Caches) {
		require.True(t, StreamBytes() >= min(c.L2, 8<<20) && streamTile() <= c.L2)
		t.Run("assembly", TestMoveAssembly)
		t.Run("streams", TestMoveStreams)
		t.Run("views", TestViews)
		t.Run("allocations", TestMoveDoesNotAllocate)
	})
}
