package op_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Attributes that are nil stand for the zero value wherever an operator takes some, and
// the struct of another operator is an error where there is one.
func TestAttributesThatAreNil(t *testing.T) {
	x := shape.TensorType(array.F32, shape.ConstDims(2, 3))
	in, data := []shape.Type{x}, array.New(array.F32, 2, 3)
	for _, o := range []*op.Op{std.Sum, std.Gelu, std.Transpose, std.Norm, std.Tril} {
		zero := o.Codec().Zero()
		want, err := o.Type(nil, zero, in)
		require.NoError(t, err, o.Name)
		got, err := o.Type(nil, nil, in)
		require.NoError(t, err, o.Name)
		require.True(t, want.Same(got), o.Name)
		_, err = o.Type(nil, std.SplitAttrs{}, in)
		require.ErrorIs(t, err, op.BadAttr, o.Name)

		step, err := o.Step(zero, in)
		require.NoError(t, err, o.Name)
		same, err := o.Step(nil, in)
		require.NoError(t, err, o.Name)
		require.Equal(t, step, same, o.Name)
		_, err = o.Step(std.SplitAttrs{}, in)
		require.ErrorIs(t, err, op.BadAttr, o.Name)

		require.Equal(t, o.Departs(op.Alters, zero, []*array.Array{data}), o.Departs(op.Alters, nil, []*array.Array{data}), o.Name)
		require.True(t, o.Flops(zero, in, want).Equal(o.Flops(nil, in, want)), o.Name)
		require.NotPanics(t, func() {
			o.NumResults(nil)
			o.Training(nil)
			o.Lift(nil, in)
			o.AtMost(nil, in)
			o.Layout(nil, in, []shape.Dims{want.Dims()}, op.Layout{})
		}, o.Name)
		_, _, err = o.View(nil, []*array.Array{data})
		require.NoError(t, err, o.Name)
	}
	_, err := std.Gelu.Expression(nil, in)
	require.NoError(t, err)
	_, err = std.Gelu.Expression(std.SplitAttrs{}, in)
	require.ErrorIs(t, err, op.BadAttr)
	n, several := std.Split.NumResults(nil)
	require.Zero(t, n)
	require.True(t, several)
}
