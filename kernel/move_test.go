package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

func TestViews(t *testing.T) {
	x := iota64(2, 3, 4)
	for _, d := range array.DTypes() {
		src := x
		if d == array.Bool {
			src = fill64(x.shape, func(ix []int) float64 { return float64((ix[0] + ix[1] + ix[2]) % 2) })
		}
		for _, in := range layouts(d, src) {
			viewAndCopy(t, Permute{Dims: []int{2, 0, 1}}, fill64([]int{4, 2, 3}, func(i []int) float64 {
				return src.at(i[1], i[2], i[0])
			}), in, true)
			viewAndCopy(t, Slice{Dim: -1, Start: 1, Stop: 99, Step: 2}, fill64([]int{2, 3, 2}, func(i []int) float64 {
				return src.at(i[0], i[1], 1+2*i[2])
			}), in, true)
			viewAndCopy(t, Slice{Dim: 1, Start: -2, Stop: -1, Step: 1}, fill64([]int{2, 1, 4}, func(i []int) float64 {
				return src.at(i[0], 1, i[2])
			}), in, true)
			viewAndCopy(t, Slice{Dim: 0, Start: 2, Stop: 1, Step: 1}, tensor64{shape: []int{0, 3, 4}}, in, true)
			viewAndCopy(t, Slice{Dim: 0, Start: 0, Stop: math.MaxInt, Step: math.MaxInt}, fill64([]int{1, 3, 4}, func(i []int) float64 {
				return src.at(i...)
			}), in, true)
			viewAndCopy(t, Select{Dim: 1, Index: -1}, fill64([]int{2, 4}, func(i []int) float64 {
				return src.at(i[0], 2, i[1])
			}), in, true)
			viewAndCopy(t, Diagonal{Offset: 1, Dim1: 0, Dim2: 2}, fill64([]int{3, 2}, func(i []int) float64 {
				return src.at(i[1], i[0], i[1]+1)
			}), in, true)
			viewAndCopy(t, Diagonal{Offset: -1, Dim1: 1, Dim2: 2}, fill64([]int{2, 2}, func(i []int) float64 {
				return src.at(i[0], i[1]+1, i[1])
			}), in, true)
			viewAndCopy(t, Diagonal{Offset: 9, Dim1: 1, Dim2: 2}, tensor64{shape: []int{2, 0}}, in, true)
			same(t, src, run1(t, Copy{}, d, src.shape, in))
		}
	}
	code(t, indexCode, "index 3 is out of range for dimension 1 of size 3", func() {
		Select{Dim: 1, Index: 3}.View([]*array.Array{array.New(array.F32)}, []*array.Array{pack64(array.F32, x)})
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
		x := iota64(c.from...)
		for i, in := range layouts(array.I32, x) {
			viewAndCopy(t, Reshape{}, tensor64{shape: c.to, data: x.data}, in, i == 0)
		}
	}
	// Strided inputs whose reshape is still a view.
	base := pack64(array.F32, iota64(4, 6))
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
	code(t, operandCode, "different numbers", func() {
		Reshape{}.View([]*array.Array{array.New(array.F32, 5)}, []*array.Array{rep})
	})
}

func TestExpandAndTile(t *testing.T) {
	x := iota64(3, 1)
	for _, in := range layouts(array.F16, x) {
		viewAndCopy(t, Expand{}, fill64([]int{2, 3, 4}, func(i []int) float64 { return x.at(i[1], 0) }), in, true)
		same(t, fill64([]int{2, 6, 4}, func(i []int) float64 { return x.at(i[1]%3, 0) }), run1(t, Tile{}, array.F16, []int{2, 6, 4}, in))
		same(t, tensor64{shape: []int{0, 6, 4}}, run1(t, Tile{}, array.F16, []int{0, 6, 4}, in))
		for _, dim := range []int{0, 1} {
			shape := []int{3, 1}
			shape[dim] *= 3
			same(t, fill64(shape, func(i []int) float64 {
				j := []int{i[0], i[1]}
				j[dim] /= 3
				return x.at(j...)
			}), run1(t, RepeatInterleave{Repeats: 3, Dim: dim}, array.F16, shape, in))
		}
	}
	viewAndCopy(t, Expand{}, tensor64{shape: []int{0, 3}}, pack64(array.F32, iota64(1, 3)), true)
	viewAndCopy(t, Expand{}, tensor64{shape: []int{2}, data: []float64{1, 1}}, pack64(array.F32, iota64()), true)
}

func TestConcat(t *testing.T) {
	a, b := iota64(2, 3, 2), iota64(2, 1, 2)
	want := fill64([]int{2, 5, 2}, func(i []int) float64 {
		switch {
		case i[1] < 3:
			return a.at(i...)
		case i[1] == 3:
			return b.at(i[0], 0, i[2])
		}
		return b.at(i[0], 0, i[2])
	})
	for _, d := range []array.DType{array.F32, array.U8, array.BF16, array.I64} {
		for k, x := range layouts(d, a) {
			y := layouts(d, b)[k]
			same(t, want, run1(t, Concat{Dim: -2}, d, want.shape, x, array.New(d, 0), y, y))
		}
	}
	code(t, operandCode, "another rank", func() {
		run1(t, Concat{}, array.F32, []int{3}, array.New(array.F32, 1), array.New(array.F32, 2, 1))
	})
	code(t, operandCode, "not joined", func() {
		run1(t, Concat{}, array.F32, []int{3, 2}, array.New(array.F32, 1, 2), array.New(array.F32, 2, 1))
	})
}

func TestFlipRollTri(t *testing.T) {
	x := iota64(3, 4, 5)
	for _, in := range layouts(array.I16, x) {
		same(t, fill64(x.shape, func(i []int) float64 { return x.at(2-i[0], i[1], 4-i[2]) }),
			run1(t, Flip{Dims: []int{0, -1}}, array.I16, x.shape, in))
		same(t, fill64(x.shape, func(i []int) float64 { return x.at(mod(i[0]-4, 3), i[1], mod(i[2]+7, 5)) }),
			run1(t, Roll{Shifts: []int{4, -7}, Dims: []int{0, 2}}, array.I16, x.shape, in))
		same(t, fill64(x.shape, func(i []int) float64 { return x.data[mod(i[0]*20+i[1]*5+i[2]-7, 60)] }),
			run1(t, Roll{Shifts: []int{7}}, array.I16, x.shape, in))
		for _, diagonal := range []int{-9, -1, 0, 2, 9} {
			for _, upper := range []bool{false, true} {
				same(t, fill64(x.shape, func(i []int) float64 {
					if keep := i[2]-i[1] <= diagonal; upper && i[2]-i[1] >= diagonal || !upper && keep {
						return x.at(i...)
					}
					return 0
				}), run1(t, Tri{Upper: upper, Diagonal: diagonal}, array.I16, x.shape, in))
			}
		}
	}
	empty := tensor64{shape: []int{0, 2}}
	in := pack64(array.F32, empty)
	same(t, empty, run1(t, Flip{Dims: []int{0}}, array.F32, empty.shape, in))
	same(t, empty, run1(t, Roll{Shifts: []int{1}, Dims: []int{0}}, array.F32, empty.shape, in))
	same(t, empty, run1(t, Tri{}, array.F32, empty.shape, in))
}

func TestMoveDoesNotAllocate(t *testing.T) {
	x := layouts(array.F32, iota64(8, 8, 8))[1]
	out := []*array.Array{array.New(array.F32, 8, 8, 8)}
	for _, s := range []Step{Copy{}, Permute{Dims: []int{1, 2, 0}}, Flip{Dims: []int{0}}, Roll{Shifts: []int{3}}, Tri{}, Reshape{}} {
		noAllocs(t, s, out, x)
	}
	noAllocs(t, Concat{Dim: 0}, []*array.Array{array.New(array.F32, 16, 8, 8)}, x, x)
}
