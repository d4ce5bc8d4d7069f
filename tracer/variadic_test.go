package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

func sum(scale float64, xs ...*tensor.Tensor) *tensor.Tensor {
	total := xs[0].MulScalar(scale)
	for _, x := range xs[1:] {
		total = total.Add(x)
	}
	return total
}

func TestVariadicArguments(t *testing.T) {
	m := fx.Meta("f32[N]")
	one, err := fx.Trace(ctx, sum, fx.Args(2.0, m, nil, m.Type()))
	require.NoError(t, err)
	require.Len(t, one.Graph.Inputs(), 3)
	require.Equal(t, "?[*]", one.Graph.Inputs()[1].Type().String(), "nil is a tensor of which nothing is known")
	require.Equal(t, "f32[N]", one.Graph.Inputs()[2].Type().String())
	x := tensor.FromSlice([]float32{1, 2})
	out, err := one.Run(ctx, x, x, x)
	require.NoError(t, err)
	require.Equal(t, []float32{4, 8}, tensor.Data[float32](out[0]))

	list, err := fx.Trace(ctx, sum, fx.Args(2.0, []*tensor.Tensor{m, m, m}))
	require.NoError(t, err)
	each, err := fx.Trace(ctx, sum, fx.Args(2.0, m, m, m))
	require.NoError(t, err)
	require.Equal(t, list.Graph.String(), each.Graph.String(), "one by one or as one list is the same")

	concat := func(xs ...*tensor.Tensor) *tensor.Tensor { return tensor.Cat(xs, 0) }
	three, err := fx.Trace(ctx, concat, fx.Args(m, m, m))
	require.NoError(t, err)
	require.Equal(t, "f32[3*N]", three.Graph.Output().Arg(0).Type().String())
}

func TestVariadicOptions(t *testing.T) {
	exact, err := fx.Trace(ctx, tensor.Gelu, fx.Input("x", "f32[N]"))
	require.NoError(t, err, "options may be left out")
	require.Equal(t, tensor.GeluAttrs{}, calls(exact.Graph, std.Gelu)[0].Attrs())
	fast, err := fx.Trace(ctx, tensor.Gelu, fx.Args(nil, tensor.GeluAttrs{Approximate: "tanh"}))
	require.NoError(t, err)
	require.Equal(t, tensor.GeluAttrs{Approximate: "tanh"}, calls(fast.Graph, std.Gelu)[0].Attrs())
	require.Len(t, fast.Graph.Specialisations(), 1)
	sized, err := fx.Trace(ctx, tensor.Reshape, fx.Input("x", "f32[N,6]"), fx.Args(nil, -1, 2, 3))
	require.NoError(t, err)
	require.Equal(t, "f32[N,2,3]", sized.Graph.Output().Arg(0).Type().String())
}

func TestVariadicMistakes(t *testing.T) {
	for msg, args := range map[string][]any{
		"how many values the parameter ...*tensor.Tensor has is not known": {2.0},
		"the example argument is a string, the parameter a *tensor.Tensor": {2.0, shape.Type{}, "x"},
		"the example argument is a nil tensor":                             {2.0, (*tensor.Tensor)(nil)},
	} {
		_, err := fx.Trace(ctx, sum, fx.Args(args...))
		require.ErrorContains(t, err, msg)
	}
	_, err := fx.Trace(ctx, tensor.Neg, fx.Args(nil, nil))
	require.ErrorContains(t, err, "2 example arguments for 1 parameters")
}
