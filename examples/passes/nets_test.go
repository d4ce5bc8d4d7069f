package recipes

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

var ctx = context.Background()

// capture traces a network.
func capture(t *testing.T, net any, inputs ...fx.Option) *fx.GraphModule {
	t.Helper()
	gm, err := fx.Trace(ctx, net, inputs...)
	require.NoError(t, err)
	return gm
}

// apply runs passes, functionalize first.
func apply(t *testing.T, gm *fx.GraphModule, list ...fx.Pass) *fx.PassReport {
	t.Helper()
	functionalize, err := fx.Pipeline("functionalize")
	require.NoError(t, err)
	report, err := gm.Apply(ctx, append(functionalize, list...), fx.PassOptions{})
	require.NoError(t, err)
	return report
}

// same runs a graph in the interpreter and as a plan and compares both with the
// expected results.
func same(t *testing.T, gm *fx.GraphModule, want *tensor.Tensor, tolerance float64, in ...*tensor.Tensor) {
	t.Helper()
	var arrays []*array.Array
	for _, x := range in {
		arrays = append(arrays, x.Array())
	}
	got, err := gm.RunArrays(ctx, arrays)
	require.NoError(t, err)
	require.Empty(t, passes.Differ(got[0], want.Array(), tolerance, 0), "interp")
	exe, err := cpu.Compile(gm.Module, lowering.Options{Exact: true})
	require.NoError(t, err)
	defer exe.Close()
	got, err = exe.Run(ctx, arrays)
	require.NoError(t, err)
	require.Empty(t, passes.Differ(got[0], want.Array(), tolerance, 0), "plan")
}

// normal returns pseudo-random numbers.
func normal(g *op.Gen, shape ...int) *tensor.Tensor { return tensor.New(g.Normal(shape...)) }

// mlp is a block as transformers have it.
type mlp struct {
	Up, Down *nn.Linear
	Act      *nn.ReLU
}

func newMLP(width, hidden int) *mlp {
	return &mlp{nn.NewLinear(width, hidden), nn.NewLinear(hidden, width), nn.NewReLU()}
}

func (m *mlp) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Down.Forward(m.Act.Forward(m.Up.Forward(x)))
}
