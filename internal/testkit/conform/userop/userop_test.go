package userop_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/conform/userop"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

const path = "github.com/gofx-dev/gofx/internal/testkit/conform/userop"

func model(x, y *tensor.Tensor) *tensor.Tensor {
	return tensor.CallOp(userop.Hypot, nil, tensor.CallOp(userop.Swoosh, nil, x), y)
}

// reference is the model by hand.
func reference(x, y float64) float64 { return math.Hypot(x/(1+math.Exp(1-x)), y) }

func TestOneLineOperatorsRunInEveryEngine(t *testing.T) {
	ctx := context.Background()
	require.Equal(t, path+".swoosh", userop.Swoosh.Key())
	require.Equal(t, op.Elementwise, userop.Hypot.Class)

	var g op.Gen
	x, y := g.Normal(3, 4), g.Normal(4) // y broadcasts
	eager := model(tensor.New(x), tensor.New(y)).Array()
	for i := range eager.Len() {
		want := reference(array.Float64At(x, i), array.Float64At(y, i%4))
		require.InDelta(t, want, array.Float64At(eager, i), 1e-6*(1+want))
	}
	want := []*array.Array{eager}

	gm, err := fx.Trace(ctx, model, fx.Input("x", "f32[N,4]"), fx.Input("y", "f32[4]"))
	require.NoError(t, err)
	text := gm.String()
	require.Contains(t, text, "call_function["+path+".swoosh](%x) : f32[N,4]")
	require.Contains(t, text, "call_function["+path+".hypot](%swoosh, %y) : f32[N,4]")
	parsed, err := graph.Parse([]byte(text), "user.fx")
	require.NoError(t, err)
	for _, m := range []*fx.GraphModule{gm, fx.NewGraphModule(parsed)} {
		got, err := m.Run(ctx, tensor.New(x), tensor.New(y))
		require.NoError(t, err)
		fxtest.Same(t, "interp", want, []*array.Array{got[0].Array()})
	}
	e, err := cpu.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err)
	got, err := e.Run(ctx, []*array.Array{x, y})
	require.NoError(t, err)
	fxtest.Same(t, "plan", want, got)
}

func TestOperandsPromote(t *testing.T) {
	x := tensor.FromSlice([]float64{3, 5})
	y := tensor.FromSlice([]int64{4, 12})
	z := tensor.CallOp(userop.Hypot, nil, x, y)
	require.Equal(t, array.F64, z.DType())
	require.Equal(t, []float64{5, 13}, tensor.Data[float64](z))
}

func TestMistakesArePositioned(t *testing.T) {
	_, err := fx.Trace(context.Background(), model, fx.Input("x", "f32[3]"), fx.Input("y", "f32[4]"))
	require.ErrorContains(t, err, "userop_test.go:")
	require.ErrorContains(t, err, "hypot")
}
