package program

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// TestTwinsForOtherCaches compares with the machine in Go as with other caches: small
// results go past them, too.
func TestTwinsForOtherCaches(t *testing.T) {
	kerneltest.EachCaches(t, func(t *testing.T, c cpu.Caches) {
		require.GreaterOrEqual(t, throughBytes(), min(c.L2, 24<<20))
		t.Run("strips", TestStripsAgainstBlocks)
	})
}
