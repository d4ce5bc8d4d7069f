package gemm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

func TestSizesForOtherCaches(t *testing.T) {
	kerneltest.EachCaches(t, func(t *testing.T, c cpu.Caches) {
		for _, l := range []cpu.Level{cpu.Generic, cpu.NEON, cpu.AVX2, cpu.AVX512} {
			most, b := BlockingOf(l), tuned(l)
			require.LessOrEqual(t, b.area, most.area)
			require.LessOrEqual(t, 4*b.area, c.L2/2)
			b.area = most.area
			require.Equal(t, most, b, "only the area follows from caches")
			for _, k := range []int{1, 100, 5000} {
				b := tuned(l)
				require.Positive(t, b.most(k))
				a, _ := b.sizes(5000, 5000, k)
				whole, _ := most.sizes(5000, 5000, k)
				require.LessOrEqual(t, a, whole, "scratch is stated for the largest area")
			}
		}
		for name, bytes := range map[string]int{"dotRow": 4 * dotRow(), "streamCols": 4 * streamCols()} {
			require.True(t, 0 < bytes && bytes <= c.L1/2, "%s: %d bytes in %d", name, bytes, c.L1)
		}
		require.GreaterOrEqual(t, streamCols()/streamRows, 1)
		for name, bytes := range map[string]int{"directSize": 4 * directSize(), "stripSize": 4 * stripSize(100, false)} {
			require.True(t, 0 < bytes && bytes < c.L2, "%s: %d bytes in %d", name, bytes, c.L2)
		}
		require.LessOrEqual(t, stripSize(100, false), stripSize(100, true))
		require.LessOrEqual(t, stripSize(100, true), stripSize(1, false))
		require.GreaterOrEqual(t, stripTotal(), stripSize(1, false), "one block may be strips")
	})
}

// TestCrowdedRows: 14 rows a page apart are too many for eight ways, not for twelve.
func TestCrowdedRows(t *testing.T) {
	for _, c := range []struct {
		l1, rows, ld int
		crowded      bool
	}{{32 << 10, 14, 1024, true}, {32 << 10, 14, 1040, false}, {32 << 10, 8, 2048, false}, {48 << 10, 14, 3072, false}, {16 << 10, 6, 1024, true}} {
		before := cpu.UseCaches(cpu.Caches{Line: 64, L1: c.l1, L2: 1 << 20})
		require.Equal(t, c.crowded, crowded(c.rows, c.ld), "%+v", c)
		cpu.UseCaches(before)
	}
	j := productJob{Product: Product{Ldb: 2048}}
	require.Equal(t, crowdedPanels, j.directPanels())
	j.Ldb = 2064
	require.Equal(t, DirectPanels, j.directPanels())
}

// TestSameForCaches multiplies by every way whose blocks follow from caches.
func TestSameForCaches(t *testing.T) {
	random := func(shape ...int) *array.Array {
		a := array.New(array.F32, shape...)
		copy(array.Data[float32](a), kerneltest.RandomFloats(rand.New(rand.NewPCG(uint64(shape[0]), 9)), a.Len()))
		return a
	}
	for _, c := range [][3]int{{3, 300, 40}, {4, 40, 2500}, {10, 100, 64}, {90, 70, 900}, {200, 140, 30}, {1, 5000, 7}, {40, 2100, 50}, {28, 40, 1024}, {60, 1024, 60}} {
		m, n, k := c[0], c[1], c[2]
		for _, trans := range []bool{false, true} {
			t.Run(fmt.Sprintf("MatMul/%dx%dx%d/trans=%v", m, n, k, trans), func(t *testing.T) {
				kerneltest.SameForCaches(t, func() (par.Step, *array.Array, []*array.Array) {
					b := random(k, n)
					if trans {
						b = array.Permute(random(n, k), 1, 0)
					}
					return MatMul{}, array.New(array.F32, m, n), []*array.Array{random(m, k), b}
				})
			})
		}
		t.Run(fmt.Sprintf("LinearPacked/%dx%dx%d", m, n, k), func(t *testing.T) {
			kerneltest.SameForCaches(t, func() (par.Step, *array.Array, []*array.Array) {
				p := array.New(array.F32, PackedLen(k, n))
				PackLinear{}.Run(&par.Workspace{}, []*array.Array{p}, []*array.Array{random(n, k)})
				return LinearPacked{Features: n}, array.New(array.F32, m, n), []*array.Array{random(m, k), p, random(n)}
			})
		})
	}
	t.Run("batch", func(t *testing.T) {
		kerneltest.SameForCaches(t, func() (par.Step, *array.Array, []*array.Array) {
			return MatMul{}, array.New(array.F32, 6, 50, 60), []*array.Array{random(6, 50, 40), random(6, 40, 60)}
		})
	})
}

// TestTwinsForOtherCaches compares with references as with other caches.
func TestTwinsForOtherCaches(t *testing.T) {
	kerneltest.EachCaches(t, func(t *testing.T, _ cpu.Caches) {
		t.Run("levels", TestGemmLevels)
		t.Run("packed", TestPackedB)
		t.Run("epilogue", TestEpilogueTwin)
	})
}
