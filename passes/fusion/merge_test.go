package fusion_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/shape"
)

// TestMergesOnRandomGraphs makes products of few values by few matrices, parameters and
// values, some of which depend on others, and compares what is computed.
func TestMergesOnRandomGraphs(t *testing.T) {
	for _, p := range []passes.Pass{fusion.MergeLinear, fusion.MergeMatmul} {
		matches, refused := 0, 0
		for seed := range uint64(300) {
			m := randomProducts(rand.New(rand.NewPCG(seed, 11)))
			in, err := passes.Inputs(m.Graph, map[string]int{"N": 3}, seed)
			require.NoError(t, err)
			run := func(m *graph.Module) []*array.Array {
				out, err := (&interp.Interpreter{State: interp.NewState(graph.Clone(m))}).RunArrays(context.Background(), in)
				require.NoError(t, err)
				return out
			}
			done := graph.Clone(m)
			r, err := passes.Run(context.Background(), done, []passes.Pass{p}, passes.Options{})
			require.NoError(t, err, "seed %d\n%s", seed, m)
			matches += r.Matches(p.Name)
			refused += len(r.Passes[0].Refused)
			require.Empty(t, fxtest.CloseArrays(run(m), run(done)), "seed %d\n%s\nbecame\n%s", seed, m, done)
		}
		require.Greater(t, matches, 80, p.Name)
		require.Greater(t, refused, 30, p.Name)
	}
}

func randomProducts(r *rand.Rand) *graph.Module {
	g := graph.New("products")
	m := graph.NewModule(g)
	c := g.At()
	gen := passes.Random{State: r.Uint64()}
	square := shape.TensorType(array.F32, shape.ConstDims(4, 4))
	values := []*graph.Node{c.Placeholder("x", square, nil), c.Placeholder("y", square, nil)}
	var weights []*graph.Node
	for i := range 24 {
		path := m.FreshPath("w")
		m.SetParam(graph.Param{Path: path, Value: gen.Array(array.F32, 4, 4)})
		weights = append(weights, c.GetAttr(path))
		weights[i].SetLive(r.IntN(6) == 0)
	}
	m.SetParam(graph.Param{Path: "bias", Value: gen.Array(array.F32, 4)})
	some := func(list []*graph.Node) *graph.Node { return list[r.IntN(len(list))] }
	for range 4 + r.IntN(6) {
		var n *graph.Node
		switch r.IntN(8) {
		case 0, 1:
			n = c.Function(std.Linear, nil, some(values[:2]), some(weights))
		case 2:
			n = c.Function(std.Linear, nil, some(values), some(weights), c.GetAttr("bias"))
		case 3:
			n = c.Function(std.Matmul, nil, some(values), some(weights))
		case 4:
			n = c.Function(std.Matmul, nil, some(values), weights[0])
		case 5:
			n = c.Function(std.Matmul, nil, some(values), some(values))
		case 6:
			n = c.Function(std.Softmax, std.DimAttrs{Dim: 1}, some(values))
		default:
			n = c.Function(std.Relu, nil, values[len(values)-1])
		}
		values = append(values, n)
	}
	out := values[2:]
	s := &graph.Structure{Kind: graph.Results}
	for i := range out {
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	c.Output(s, out...)
	return m
}
