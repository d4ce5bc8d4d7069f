package kernel_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
)

// Steps that find sizes take memory of the frame, and use it again.
func ExampleFrame_Sized() {
	var s kernel.Frame
	var i array.Array
	s.Header(&i, array.I64, 0, 0)
	for _, x := range [][]float32{{1, 0, 2}, {0, 0, 5}} {
		s.Sized("i", kernel.NonZero{}, s.Outs(&i), s.Ins(array.FromSlice(x)))
		y := kernel.Late[int64](2)
		s.Fit(y.Array, i.Shape()...)
		kernel.Copy{}.Run(s.At("y"), s.Outs(y.Array), s.Ins(&i))
		fmt.Println(y.Shape(), y.Data())
	}
	// Output:
	// [2 1] [0 2]
	// [1 1] [2]
}

func TestLateResults(t *testing.T) {
	var s kernel.Frame
	large := array.New(array.F32, 4, 4)
	a := array.Make(array.F32, []int{4, 4}, []int{4, 1}, 0, large.Storage())
	s.Fit(a, 2, 3)
	require.Same(t, large.Storage(), a.Storage())
	require.Equal(t, []int{2, 3}, a.Shape())
	s.Fit(a, 7)
	require.NotSame(t, large.Storage(), a.Storage(), "the array shares storage with the bytes after it")
	gaps := array.Make(array.F32, []int{2, 2}, []int{1, 2}, 0, large.Storage())
	s.Fit(gaps, 2, 2)
	require.NotSame(t, large.Storage(), gaps.Storage())
	require.ErrorIs(t, call(&s, func() { s.Fit(a, 1<<40, 1<<40) }), kernel.CodeSizes)

	var c kernel.Checker
	c.Late("y", array.New(array.F32), array.F32)
	require.NoError(t, c.Err())
	c.Late("y", nil, array.F32)
	c.Late("z", array.New(array.F64), array.F32)
	require.ErrorContains(t, c.Err(), `output "y" is nil`)
	require.ErrorContains(t, c.Err(), `output "z" is f64[], expected an array of type f32`)

	var r array.Array
	s.Header(&r, array.I64, 0)
	limit := func(n int64) []*array.Array {
		return []*array.Array{array.Scalar(int64(0)), array.Scalar(n), array.Scalar(int64(1))}
	}
	require.Error(t, call(&s, func() { s.Sized("r", kernel.Range{}, s.Outs(&r), limit(1<<62)) }))
	s.Sized("r", kernel.Range{}, s.Outs(&r), limit(5))
	require.Equal(t, []int64{0, 1, 2, 3, 4}, array.Data[int64](&r))
	s.Header(&r, array.I64, 0, 0)
	in := []*array.Array{array.FromSlice([]float32{1, 0, 2})}
	s.Sized("r", kernel.NonZero{}, s.Outs(&r), in)
	require.Zero(t, testing.AllocsPerRun(10, func() { s.Sized("r", kernel.NonZero{}, s.Outs(&r), in) }))
}
