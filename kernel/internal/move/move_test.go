package move

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

func TestViews(t *testing.T) {
	x := kerneltest.Iota64(2, 3, 4)
	for _, d := range array.DTypes() {
		src := x
		if d == array.Bool {
			src = kerneltest.Fill64(x.Shape, func(ix []int) float64 { return float64((ix[0] + ix[1] + ix[2]) % 2) })
		}
		for _, in := range kerneltest.Layouts(d, src) {
			kerneltest.ViewAndCopy(t, Permute{Dims: []int{2, 0, 1}}, kerneltest.Fill64([]int{4, 2, 3}, func(i []int) float64 {
				return src.At(i[1], i[2], i[0])
			}), in, true)
			kerneltest.ViewAndCopy(t, Slice{Dim: -1, Start: 1, Stop: 99, Step: 2}, kerneltest.Fill64([]int{2, 3, 2}, func(i []int) float64 {
				return src.At(i[0], i[1], 1+2*i[2])
			}), in, true)
			kerneltest.ViewAndCopy(t, Slice{Dim: 1, Start: -2, Stop: -1, Step: 1}, kerneltest.Fill64([]int{2, 1, 4}, func(i []int) float64 {
				return src.At(i[0], 1, i[2])
			}), in, true)
			kerneltest.ViewAndCopy(t, Slice{Dim: 0, Start: 2, Stop: 1, Step: 1}, kerneltest.Tensor64{Shape: []int{0, 3, 4}}, in, true)
			kerneltest.ViewAndCopy(t, Slice{Dim: 0, Start: 0, Stop: math.MaxInt, Step: math.MaxInt}, kerneltest.Fill64([]int{1, 3, 4}, func(i []int) float64 {
				return src.At(i...)
			}), in, true)
			kerneltest.ViewAndCopy(t, Select{Dim: 1, Index: -1}, kerneltest.Fill64([]int{2, 4}, func(i []int) float64 {
				return src.At(i[0], 2, i[1])
			}), in, true)
			kerneltest.ViewAndCopy(t, Diagonal{Offset: 1, Dim1: 0, Dim2: 2}, kerneltest.Fill64([]int{3, 2}, func(i []int) float64 {
				return src.At(i[1], i[0], i[1]+1)
			}), in, true)
			kerneltest.ViewAndCopy(t, Diagonal{Offset: -1, Dim1: 1, Dim2: 2}, kerneltest.Fill64([]int{2, 2}, func(i []int) float64 {
				return src.At(i[0], i[1]+1, i[1])
			}), in, true)
			kerneltest.ViewAndCopy(t, Diagonal{Offset: 9, Dim1: 1, Dim2: 2}, kerneltest.Tensor64{Shape: []int{2, 0}}, in, true)
			kerneltest.Same(t, src, kerneltest.Run1(t, Copy{}, d, src.Shape, in))
		}
	}
	kerneltest.Code(t, operand.IndexCode, "index 3 is out of range for dimension 1 of size 3", func() {
		Select{Dim: 1, Index: 3}.View([]*array.Array{array.New(array.F32)}, []*array.Array{kerneltest.Pack64(array.F32, x)})
	})
}

func TestReshape(t *testing.T) {
	for _, c := range []struct{ from, to []int }{
		{[]int{2, 3, 4}, []int{6, 4}},
		{[]int{2, 3, 4}, []int{24}},
		{[]int{2, 3, 4}, []int{2, 1, 3, 2, 2}},
		{[]int{2, 3, 4}, []int{4, 3, 2}},
		{[]int{1, 1}, []int{}},
		{[]int{}, []int{1, 1}},
		{[]int{0, 3}, []int{5, 0}},
		{[]int{2, 1, 4}, []int{1, 8, 1}},
	} {
		x := kerneltest.Iota64(c.from...)
		for i, in := range kerneltest.Layouts(array.I32, x) {
			kerneltest.ViewAndCopy(t, Reshape{}, kerneltest.Tensor64{Shape: c.to, Data: x.Data}, in, i == 0)
		}
	}
	// Strided inputs whose reshape is still a view.
	base := kerneltest.Pack64(array.F32, kerneltest.Iota64(4, 6))
	rows := array.Make(array.F32, []int{2, 6}, []int{12, 1}, 0, base.Storage())
	dst := array.New(array.F32, 2, 2, 3)
	require.True(t, Reshape{}.View([]*array.Array{dst}, []*array.Array{rows}))
	require.Equal(t, []int{12, 3, 1}, dst.Strides())
	cols := array.Make(array.F32, []int{4, 3}, []int{6, 2}, 1, base.Storage())
	dst = array.New(array.F32, 12)
	require.True(t, Reshape{}.View([]*array.Array{dst}, []*array.Array{cols}))
	require.Equal(t, []int{2}, dst.Strides())
	one := array.Make(array.F32, []int{2, 1, 3}, []int{6, 99, 2}, 0, base.Storage())
	dst = array.New(array.F32, 6)
	require.True(t, Reshape{}.View([]*array.Array{dst}, []*array.Array{one}))
	require.Equal(t, []int{2}, dst.Strides())
	rep := array.Make(array.F32, []int{3, 4}, []int{0, 1}, 0, base.Storage())
	require.False(t, Reshape{}.View([]*array.Array{array.New(array.F32, 12)}, []*array.Array{rep}))
	require.True(t, Reshape{}.View([]*array.Array{array.New(array.F32, 3, 2, 2)}, []*array.Array{rep}))
	kerneltest.Code(t, operand.OperandCode, "different numbers", func() {
		Reshape{}.View([]*array.Array{array.New(array.F32, 5)}, []*array.Array{rep})
	})
}

func TestExpandAndTile(t *testing.T) {
	x := kerneltest.Iota64(3, 1)
	for _, in := range kerneltest.Layouts(array.F16, x) {
		kerneltest.ViewAndCopy(t, Expand{}, kerneltest.Fill64([]int{2, 3, 4}, func(i []int) float64 { return x.At(i[1], 0) }), in, true)
		kerneltest.Same(t, kerneltest.Fill64([]int{2, 6, 4}, func(i []int) float64 { return x.At(i[1]%3, 0) }), kerneltest.Run1(t, Tile{}, array.F16, []int{2, 6, 4}, in))
		kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{0, 6, 4}}, kerneltest.Run1(t, Tile{}, array.F16, []int{0, 6, 4}, in))
		for _, dim := range []int{0, 1} {
			shape := []int{3, 1}
			shape[dim] *= 3
			kerneltest.Same(t, kerneltest.Fill64(shape, func(i []int) float64 {
				j := []int{i[0], i[1]}
				j[dim] /= 3
				return x.At(j...)
			}), kerneltest.Run1(t, RepeatInterleave{Repeats: 3, Dim: dim}, array.F16, shape, in))
		}
	}
	kerneltest.ViewAndCopy(t, Expand{}, kerneltest.Tensor64{Shape: []int{0, 3}}, kerneltest.Pack64(array.F32, kerneltest.Iota64(1, 3)), true)
	kerneltest.ViewAndCopy(t, Expand{}, kerneltest.Tensor64{Shape: []int{2}, Data: []float64{1, 1}}, kerneltest.Pack64(array.F32, kerneltest.Iota64()), true)
}

func TestConcat(t *testing.T) {
	a, b := kerneltest.Iota64(2, 3, 2), kerneltest.Iota64(2, 1, 2)
	want := kerneltest.Fill64([]int{2, 5, 2}, func(i []int) float64 {
		switch {
		case i[1] < 3:
			return a.At(i...)
		case i[1] == 3:
			return b.At(i[0], 0, i[2])
		}
		return b.At(i[0], 0, i[2])
	})
	for _, d := range []array.DType{array.F32, array.U8, array.BF16, array.I64} {
		for k, x := range kerneltest.Layouts(d, a) {
			y := kerneltest.Layouts(d, b)[k]
			kerneltest.Same(t, want, kerneltest.Run1(t, Concat{Dim: -2}, d, want.Shape, x, array.New(d, 0), y, y))
		}
	}
	kerneltest.Code(t, operand.OperandCode, "another rank", func() {
		kerneltest.Run1(t, Concat{}, array.F32, []int{3}, array.New(array.F32, 1), array.New(array.F32, 2, 1))
	})
	kerneltest.Code(t, operand.OperandCode, "not joined", func() {
		kerneltest.Run1(t, Concat{}, array.F32, []int{3, 2}, array.New(array.F32, 1, 2), array.New(array.F32, 2, 1))
	})
}

func TestFlipRoll(t *testing.T) {
	x := kerneltest.Iota64(3, 4, 5)
	for _, in := range kerneltest.Layouts(array.I16, x) {
		kerneltest.Same(t, kerneltest.Fill64(x.Shape, func(i []int) float64 { return x.At(2-i[0], i[1], 4-i[2]) }),
			kerneltest.Run1(t, Flip{Dims: []int{0, -1}}, array.I16, x.Shape, in))
		kerneltest.Same(t, kerneltest.Fill64(x.Shape, func(i []int) float64 { return x.At(Mod(i[0]-4, 3), i[1], Mod(i[2]+7, 5)) }),
			kerneltest.Run1(t, Roll{Shifts: []int{4, -7}, Dims: []int{0, 2}}, array.I16, x.Shape, in))
		kerneltest.Same(t, kerneltest.Fill64(x.Shape, func(i []int) float64 { return x.Data[Mod(i[0]*20+i[1]*5+i[2]-7, 60)] }),
			kerneltest.Run1(t, Roll{Shifts: []int{7}}, array.I16, x.Shape, in))
	}
	empty := kerneltest.Tensor64{Shape: []int{0, 2}}
	in := kerneltest.Pack64(array.F32, empty)
	kerneltest.Same(t, empty, kerneltest.Run1(t, Flip{Dims: []int{0}}, array.F32, empty.Shape, in))
	kerneltest.Same(t, empty, kerneltest.Run1(t, Roll{Shifts: []int{1}, Dims: []int{0}}, array.F32, empty.Shape, in))
}

func TestMoveDoesNotAllocate(t *testing.T) {
	x := kerneltest.Layouts(array.F32, kerneltest.Iota64(8, 8, 8))[1]
	out := []*array.Array{array.New(array.F32, 8, 8, 8)}
	for _, s := range []par.Step{Copy{}, Permute{Dims: []int{1, 2, 0}}, Flip{Dims: []int{0}}, Roll{Shifts: []int{3}}, Reshape{}} {
		kerneltest.NoAllocs(t, s, out, x)
	}
	kerneltest.NoAllocs(t, Concat{Dim: 0}, []*array.Array{array.New(array.F32, 16, 8, 8)}, x, x)
}
