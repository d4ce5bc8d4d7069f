//go:build !386 && !arm && !mips && !mipsle

package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// Products of sizes are checked where they could wrap around: a matrix that
// is too short never passes.
func TestHugeMatrices(t *testing.T) {
	for _, c := range [][3]int{ // rows, columns, leading dimension
		{2, 1, 1 << 31}, {1 << 31, 1, 1}, {1 << 31, 1, 1 << 31}, {1<<33 + 1, 1, 1 << 31}, {1<<32 + 1, 4, 1 << 32},
		{3, 1 << 62, 1 << 62}, {5, 2, 1 << 62}, {math.MaxInt, 1, 1}, {math.MaxInt, math.MaxInt, math.MaxInt},
		{1, 1 << 31, 0}, {1, math.MaxInt, math.MaxInt}, {2, 3, -1}, {2, 3, math.MinInt}, {1 << 31, 1 << 31, 0},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			kerneltest.EachLevel(t, func(t *testing.T) {
				require.Panics(t, func() { gemm.CheckOperand("a", c[0], c[1], false, 16, c[2]) })
				require.Panics(t, func() { gemm.CheckOperand("a", c[1], c[0], true, 16, c[2]) })
				short := make([]float32, 16)
				w := &Workspace{}
				require.Panics(t, func() { Gemm(w, false, false, c[0], 1, c[1], short, c[2], short, 1, short, 1, false) })
				require.Panics(t, func() { Gemm(w, false, false, 1, c[1], c[0], short, c[0], short, c[2], short, c[1], false) })
				require.Panics(t, func() { Gemm(w, false, false, c[0], c[1], 0, nil, 0, nil, 0, short, c[2], false) })
			})
		})
	}
}

// repeated is a view of one row as a matrix with more than 2³¹ rows.
func repeated(row []float32, rows int) *array.Array {
	return array.Expand(array.FromSlice(row, 1, len(row)), rows, len(row))
}

// Positions past 2³¹ and 2³² are reached; the views take no memory.
func TestHugeViews(t *testing.T) {
	const n = 1<<33 + 5
	row := []float32{1, 2, 3}
	rows := repeated(row, n)
	index := array.FromSlice([]int64{0, 1 << 31, 1<<32 + 1, n - 1}, 4)
	want := []float32{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}
	for name, c := range map[string]struct {
		step Step
		in   []*array.Array
	}{
		"embedding":    {Embedding{}, []*array.Array{index, rows}},
		"index_select": {IndexSelect{}, []*array.Array{rows, index}},
		"slice":        {Slice{Start: n - 4, Stop: n, Step: 1}, []*array.Array{rows}},
		"strided":      {Slice{Start: 3, Stop: n, Step: 1<<31 + 1}, []*array.Array{rows}},
	} {
		out := array.New(array.F32, 4, 3)
		w := &Workspace{}
		c.step.Run(w, []*array.Array{out}, c.in)
		require.Equal(t, want, array.Data[float32](out), name)
		require.Less(t, w.HighWater(), 1<<20, name)
	}
	out := array.New(array.F32, 1, 3)
	Gather{}.Run(&Workspace{}, []*array.Array{out}, []*array.Array{rows, array.FromSlice([]int64{n - 1, 1 << 32, 7}, 1, 3)})
	require.Equal(t, row, array.Data[float32](out))
	Select{Index: n - 1}.Run(&Workspace{}, []*array.Array{array.Reshape(out, 3)}, []*array.Array{rows})
	require.Equal(t, row, array.Data[float32](out))
	for _, bad := range []int64{n, -1, math.MaxInt64, math.MinInt64} {
		require.Panics(t, func() {
			IndexSelect{}.Run(&Workspace{}, []*array.Array{out}, []*array.Array{rows, array.FromSlice([]int64{bad}, 1)})
		})
	}
}

// A packed weight that is too short is noticed before assembly reads it.
func TestShortPackedWeights(t *testing.T) {
	f := func(shape ...int) *array.Array { return array.New(array.F32, shape...) }
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range []int{10, 40} {
			require.Panics(t, func() {
				LinearPacked{Features: n}.Run(&Workspace{}, []*array.Array{f(20, n)}, []*array.Array{f(20, 100), f(PackedLen(100, n) - 1)})
			})
		}
		for _, groups := range []int{1, 2, 8} {
			s := ConvPacked{Conv: Conv{Groups: groups}, Channels: 16, Kernel: []int{3, 3}}
			require.Panics(t, func() {
				s.Run(&Workspace{}, []*array.Array{f(1, 16, 7, 7)}, []*array.Array{f(1, 8, 9, 9), f(PackedConvLen(s.Conv, nil, []int{16, 8 / groups, 3, 3}) - 1)})
			})
		}
	})
}
