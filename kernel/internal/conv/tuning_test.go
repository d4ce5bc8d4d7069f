package conv

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

func TestSizesForOtherCaches(t *testing.T) {
	kerneltest.EachCaches(t, func(t *testing.T, c cpu.Caches) {
		require.True(t, 0 < rowsNear() && rowsNear() < c.L2)
		require.True(t, 0 < spanBlock() && 4*spanBlock() <= c.L2/4)
	})
}

// TestSameForCaches convolves by every way: spans, tiles of positions, products and
// transforms, with a packed weight and without.
func TestSameForCaches(t *testing.T) {
	random := func(shape ...int) *array.Array {
		a := array.New(array.F32, shape...)
		copy(array.Data[float32](a), kerneltest.RandomFloats(rand.New(rand.NewPCG(uint64(len(shape)), 9)), a.Len()))
		return a
	}
	for _, c := range []struct{ chans, out, size, kernel, stride int }{
		{40, 30, 20, 1, 1}, {300, 40, 14, 1, 1}, {300, 40, 28, 1, 1}, {40, 70, 7, 3, 1}, {900, 20, 7, 1, 1}, {20, 40, 13, 3, 2}, {32, 24, 18, 3, 1},
	} {
		pad := c.kernel / 2
		conv := Conv{Stride: []int{c.stride, c.stride}, PadLo: []int{pad, pad}, PadHi: []int{pad, pad}}
		size := (c.size+2*pad-c.kernel)/c.stride + 1
		weight := []int{c.out, c.chans, c.kernel, c.kernel}
		for _, in := range [][]int{nil, {c.size, c.size}} { // products; the fastest
			t.Run(fmt.Sprintf("%+v/%v", c, in), func(t *testing.T) {
				kerneltest.SameForCaches(t, func() (par.Step, *array.Array, []*array.Array) {
					p := array.New(array.F32, PackedConvLen(conv, in, weight))
					PackConv{Conv: conv, In: in}.Run(&par.Workspace{}, []*array.Array{p}, []*array.Array{random(weight...)})
					s := ConvPacked{Conv: conv, Channels: c.out, Kernel: weight[2:], In: in, Epilogue: operand.Epilogue{Act: operand.ActReLU}}
					return s, array.New(array.F32, 2, c.out, size, size), []*array.Array{random(2, c.chans, c.size, c.size), p, random(c.out)}
				})
			})
		}
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			kerneltest.SameForCaches(t, func() (par.Step, *array.Array, []*array.Array) {
				return conv, array.New(array.F32, 2, c.out, size, size), []*array.Array{random(2, c.chans, c.size, c.size), random(weight...), random(c.out)}
			})
		})
	}
}

// Sums of a weight's gradient are cut by sizes alone.
func TestWeightGradSameForCaches(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	c := tiledCase{3, 1, 20, 17, [2]int{60, 60}, [2]int{60, 60}, [2]int{1, 1}}
	in, _ := c.operands(r, r.NormFloat64, r.NormFloat64)
	kerneltest.SameForCaches(t, func() (par.Step, *array.Array, []*array.Array) {
		return c.step(), array.New(array.F32, c.outPer, c.per, 3, 3), in
	})
}

// TestOrderOfTiles: an image that the second cache cannot hold is read once, unless the
// weights would be read again for more.
func TestOrderOfTiles(t *testing.T) {
	defer cpu.UseCaches(cpu.UseCaches(cpu.Caches{Line: 64, L1: 32 << 10, L2: 1 << 20}))
	for _, c := range []struct {
		image, weights, tiles, panels int
		once                          bool
	}{
		{700 << 10, 4 << 20, 14, 32, false}, // stays
		{1100 << 10, 180 << 10, 56, 4, true},
		{1100 << 10, 180 << 10, 56, 1, false},
		{800 << 10, 1 << 20, 14, 8, true},
		{800 << 10, 64 << 20, 14, 8, false},
		{8 << 20, 1 << 18, 7, 8, true},
	} {
		groups := (c.tiles-1)/rowsGroup + 1
		j := rowsJob{rowsPlan: rowsPlan{tiles: c.tiles}, groups: groups, panels: c.panels}
		j.order(c.image, c.weights)
		require.Equal(t, c.once, j.imageOnce, "%+v", c)
		require.True(t, j.groups >= groups && j.groups <= c.tiles)
		if j.imageOnce && j.groups < c.tiles {
			require.LessOrEqual(t, c.image/j.groups, 1<<19, "a group's part of the image stays in the cache with the weights")
		}
	}
}

// TestTwinsForOtherCaches compares with references as with other caches.
func TestTwinsForOtherCaches(t *testing.T) {
	kerneltest.EachCaches(t, func(t *testing.T, _ cpu.Caches) {
		t.Run("packed", TestConvPacked)
		t.Run("levels", TestConvLevels)
		t.Run("winograd", TestWinogradStep)
	})
}
