package tensor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

func TestInPlaceWritesAreSeenThroughViews(t *testing.T) {
	x := mat(2, 2, 1, 2, 3, 4)
	view, copied := x.T(), x.T().Clone()
	row := x.At(1)
	require.Same(t, x, x.AddScalarInPlace(1))
	requireClose(t, []int{2, 2}, f32{2, 3, 4, 5}, x)
	requireClose(t, []int{2, 2}, f32{2, 4, 3, 5}, view)
	requireClose(t, []int{2, 2}, f32{1, 3, 2, 4}, copied)
	requireClose(t, []int{2}, f32{4, 5}, row)

	row.MulScalarInPlace(10)
	requireClose(t, []int{2, 2}, f32{2, 3, 40, 50}, x)
	requireClose(t, []int{2, 2}, f32{2, 40, 3, 50}, view)
}

func TestInPlaceOnItself(t *testing.T) {
	x := mat(2, 2, 1, 2, 3, 4)
	x.AddInPlace(x.T())
	requireClose(t, []int{2, 2}, f32{2, 5, 5, 8}, x)
	x.AssignInPlace(x.T().SubScalar(1))
	requireClose(t, []int{2, 2}, f32{1, 4, 4, 7}, x)
	y := mat(2, 2, 1, 2, 3, 4)
	y.AssignInPlace(y.T()) // source and target overlap
	requireClose(t, []int{2, 2}, f32{1, 3, 2, 4}, y)
}

func TestInPlaceForms(t *testing.T) {
	x := vec(-1, 4)
	requireClose(t, []int{2}, f32{0, 4}, x.Clone().ReluInPlace())
	requireClose(t, []int{2}, f32{-2, 2}, x.Clone().SubInPlace(vec(1, 2)))
	requireClose(t, []int{2}, f32{-3, 0}, x.Clone().SubInPlace(vec(1, 2), tensor.SubAttrs{Alpha: tensor.Number(2)}))
	requireClose(t, []int{2}, f32{-0.5, 2}, x.Clone().DivScalarInPlace(2))
	requireClose(t, []int{2}, f32{-1, 1}, x.Clone().ClampInPlace(-1, 1))
	requireClose(t, []int{2}, f32{9, 4}, x.Clone().MaskedFillInPlace(x.LtScalar(0), 9))
}

func TestInPlaceKeepsTheType(t *testing.T) {
	x := ints(1, 2)
	x.AddScalarInPlace(3)
	require.Equal(t, []int64{4, 5}, tensor.Data[int64](x))
	e := failure(t, func() { x.AddScalarInPlace(0.5) })
	require.Equal(t, op.InPlaceType, e.Code)
	require.Equal(t, "add_", e.Op)
	require.Equal(t, "a result of element type f32 cannot be written to a tensor of i64", e.Msg)

	e = failure(t, func() { vec(1, 2).AddInPlace(mat(2, 2, 1, 2, 3, 4)) })
	require.Equal(t, op.InPlaceType, e.Code)
	require.Equal(t, "the result f32[2,2] does not fit the tensor f32[2] that it is written to", e.Msg)

	half := vec(1, 2).Cast(array.F16)
	half.AddInPlace(vec(0.5, 0.5)) // f32 result, written as f16
	require.Equal(t, array.F16, half.DType())
	requireClose(t, []int{2}, f32{1.5, 2.5}, half.Cast(array.F32))
}

func TestInPlaceOfSharedElements(t *testing.T) {
	x := vec(1, 2, 3)
	wide := x.Expand(2, 3)
	for name, write := range map[string]func(){
		"all":         func() { wide.AddScalarInPlace(1) },
		"assign":      func() { wide.AssignInPlace(mat(2, 3, 1, 2, 3, 4, 5, 6)) },
		"transposed":  func() { wide.T().ReluInPlace() },
		"two columns": func() { wide.Slice(1, 0, 2).MulScalarInPlace(2) },
	} {
		e := failure(t, write)
		require.Equal(t, tensor.SharedElement, e.Code, name)
		require.Contains(t, e.Pos.String(), "inplace_test.go", name)
		requireClose(t, []int{3}, f32{1, 2, 3}, x)
	}
	// One row of it shows each element once, and so does what was not repeated.
	wide.Select(0, 1).AddScalarInPlace(1)
	wide.Slice(0, 1, 2).AddScalarInPlace(1)
	x.Expand(3).AddScalarInPlace(1)
	x.Expand(0, 3).AddScalarInPlace(1)
	wide.Clone().AddScalarInPlace(1)
	requireClose(t, []int{3}, f32{4, 5, 6}, x)
}

func TestWritesToPiecesReachTheBase(t *testing.T) {
	x := mat(2, 3, 1, 2, 3, 4, 5, 6)
	x.Chunk(3, 1)[2].AddScalarInPlace(10)
	requireClose(t, []int{2, 3}, f32{1, 2, 13, 4, 5, 16}, x)
	x.Split([]int{1, 1}, 0)[1].MulScalarInPlace(2)
	requireClose(t, []int{2, 3}, f32{1, 2, 13, 8, 10, 32}, x)
	x.T().Unbind(0, 3)[1].AssignInPlace(vec(-1, -2))
	requireClose(t, []int{2, 3}, f32{1, -1, 13, 8, -2, 32}, x)

	// Results that PyTorch computes have memory of their own.
	sq := mat(2, 2, 1, 2, 3, 4)
	tensor.Einsum([]*tensor.Tensor{sq}, "ii->i").MulScalarInPlace(0)
	tensor.Einsum([]*tensor.Tensor{sq}, "ij->ji").MulScalarInPlace(0)
	sq.Reshape(1, 2, 2).PixelShuffle(1).MulScalarInPlace(0)
	sq.Reshape(4, 1, 1).PixelShuffle(2).MulScalarInPlace(0)
	sq.Reshape(1, 2, 2).PixelUnshuffle(2).MulScalarInPlace(0)
	sq.Clone().MulScalarInPlace(0)
	requireClose(t, []int{2, 2}, f32{1, 2, 3, 4}, sq)
}
