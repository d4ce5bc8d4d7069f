package recipes

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// blocks has a pair that can be cut, and layers that cannot.
type blocks struct {
	Mlp        *mlp
	Odd, Out   *nn.Linear
	Gated, End *nn.Linear
	Fork, A, B *nn.Linear
}

func newBlocks() *blocks {
	return &blocks{newMLP(8, 16), nn.NewLinear(8, 7), nn.NewLinear(7, 8), nn.NewLinear(8, 16), nn.NewLinear(8, 4),
		nn.NewLinear(8, 16), nn.NewLinear(16, 8), nn.NewLinear(16, 8)}
}

func (m *blocks) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = nn.Run(m.Mlp, x).Add(x)
	x = m.Out.Forward(m.Odd.Forward(x).Relu()).Softmax(-1)
	y := m.Fork.Forward(x).Relu()
	x = m.A.Forward(y).Add(m.B.Forward(y))
	return m.End.Forward(m.Gated.Forward(x).Glu(-1))
}

func TestTensorParallel(t *testing.T) {
	const ranks = 4
	net := newBlocks()
	gm := capture(t, net, fx.Input("x", "f32[N,8]"))
	report := apply(t, gm, TensorParallel(ranks))
	require.Equal(t, 1, report.Matches("tensor-parallel"))
	for _, why := range []string{"7 features are not cut into 4", "%glu needs all features", "%softmax needs all features", "%relu_1 has 2 uses", "%add_1 needs all features", "%output needs all features"} {
		require.Contains(t, report.Explain(), why)
	}
	var g op.Gen
	x := normal(&g, 5, 8)
	same(t, gm, net.Forward(x), 0, x) // side data change nothing
	out, err := cluster(gm, ranks).RunArrays(ctx, []*array.Array{x.Array()})
	require.NoError(t, err)
	require.InDeltaSlice(t, tensor.Data[float32](net.Forward(x)), array.Data[float32](out[0]), 1e-5)
}

// cluster computes a graph as ranks do that have nothing but their parts of the layers
// that are cut: where a value is in parts, the whole one is NaN.
func cluster(gm *fx.GraphModule, ranks int) *interp.Interpreter {
	parts := map[*graph.Node][]*tensor.Tensor{}
	part := func(x *tensor.Tensor, dim, rank int) *tensor.Tensor {
		n := x.Dim(dim) / ranks
		return x.Slice(dim, rank*n, (rank+1)*n)
	}
	p := &interp.Interpreter{State: interp.NewState(gm.Module)}
	p.CallFunction = func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		cut, _ := Cut.Get(n)
		before, inParts := parts[n.Arg(0)]
		whole, err := next(in)
		for r := range ranks {
			switch {
			case cut == Columns:
				parts[n] = append(parts[n], in[0].T.Linear(part(in[1].T, 0, r), part(in[2].T, 0, r)))
			case cut == Rows && r == 0:
				whole.T = before[0].Linear(part(in[1].T, 1, 0), in[2].T)
			case cut == Rows: // the sum over ranks
				whole.T = whole.T.Add(before[r].Linear(part(in[1].T, 1, r), nil))
			case inParts:
				parts[n] = append(parts[n], tensor.CallOp(n.Op(), n.Attrs(), before[r]))
			}
		}
		if len(parts[n]) > 0 {
			whole.T = tensor.Full(whole.T.Array().Shape(), math.NaN())
		}
		return whole, err
	}
	return p
}
