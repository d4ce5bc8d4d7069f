package winograd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// TestBlocksForOtherCaches: every tile is in a block, blocks are no larger than caches
// allow, and the choice of transforms does not depend on them.
func TestBlocksForOtherCaches(t *testing.T) {
	one := []int{1, 1}
	for _, size := range []int{7, 14, 28, 56} {
		g := geom.NewSpatial([]int{size, size}, []int{size, size}, []int{3, 3}, one, one, one)
		v := Conv{G: g, Batch: 3, Groups: 1, PerGroup: 256, OutPerGroup: 256}
		chosen := Tile(cpu.AVX512, &g, 256, 256)
		kerneltest.EachCaches(t, func(t *testing.T, c cpu.Caches) {
			require.Equal(t, chosen, Tile(cpu.AVX512, &g, 256, 256))
			require.True(t, 0 < blockNear() && blockNear() < c.L2)
			require.True(t, blockNear() < blockFar() && blockFar() <= 12<<20)
			for threads := 1; threads <= 2; threads++ {
				j := New(v, cpu.AVX512, 4, threads)
				n := 0
				for i := range j.Blocks {
					b := j.Block(i)
					n += b.Images * b.Tiles()
				}
				require.Equal(t, v.Batch*j.Tiles, n)
				budget := blockFar()
				if j.Apart {
					budget = blockNear()
				}
				least := j.T * j.T * (j.Ps + j.ldy) // one panel
				require.LessOrEqual(t, 4*(j.SizeV+j.sizeY), max(budget, 4*least))
			}
		})
	}
}

// TestTwinsForOtherCaches compares with references as with other caches.
func TestTwinsForOtherCaches(t *testing.T) {
	kerneltest.EachCaches(t, func(t *testing.T, _ cpu.Caches) { t.Run("layout", TestWinogradLayoutTwins) })
}
