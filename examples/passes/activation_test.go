package recipes

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

// three spellings of relu, and one on integers.
type spellings struct{ Act *nn.ReLU }

func (m *spellings) Forward(x *tensor.Tensor, i *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) {
	return tensor.Relu(m.Act.Forward(x.Relu().SubScalar(0.25)).SubScalar(0.5)), i.Relu()
}

func TestReplaceActivation(t *testing.T) {
	gm := capture(t, &spellings{nn.NewReLU()}, fx.Input("x", "f32[N,4]"), fx.Input("i", "i64[3]"))
	report, err := gm.Apply(ctx, []fx.Pass{ReplaceActivation(std.Relu, std.Gelu, tensor.GeluAttrs{Approximate: "tanh"})}, fx.PassOptions{
		Expect: []passes.Expectation{fx.Expect("relu-to-gelu", 3)},
	})
	require.NoError(t, err)
	require.Len(t, slices.Collect(gm.Graph.Calls(std.Relu)), 1)
	require.Contains(t, report.Explain(), "it gives i64, gelu takes floats only")

	var g op.Gen
	x, i := normal(&g, 5, 4), tensor.FromSlice([]int64{-1, 0, 2})
	gelu := func(x *tensor.Tensor) *tensor.Tensor { return x.Gelu(tensor.GeluAttrs{Approximate: "tanh"}) }
	same(t, gm, gelu(gelu(gelu(x).SubScalar(0.25)).SubScalar(0.5)), 0, x, i)
}
