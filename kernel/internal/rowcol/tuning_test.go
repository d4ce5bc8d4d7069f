package rowcol

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

func TestSizesForOtherCaches(t *testing.T) {
	kerneltest.EachCaches(t, func(t *testing.T, c cpu.Caches) {
		for _, strip := range []int{columnStrip(), farStrip()} {
			require.True(t, strip >= RowWidth && strip%RowWidth == 0 && 8*strip <= c.L1, "%d columns in %d", strip, c.L1)
		}
		require.True(t, 0 < FarLen() && 4*FarLen() <= c.L2)
		t.Run("assembly", TestRowAssembly)
	})
}
