package recompute_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/recompute"
	"github.com/gofx-dev/gofx/tensor"
)

func TestMistakes(t *testing.T) {
	s := subject{net: newDeep(2, 8), specs: []fx.Option{fx.Input("x", "f32[N,8]")}}
	g := s.gradients(t)
	text := g.Graph.String()
	for _, c := range []struct {
		policy recompute.Policy
		code   diag.Code
		words  string
	}{
		{recompute.Policy{Scopes: []string{"layer9"}}, recompute.BadPolicy, `no call is in a module "layer9"`},
		{recompute.Policy{Scopes: []string{"layers.*", "[a"}}, recompute.BadPolicy, "malformed"},
		{recompute.Policy{Budget: -1}, recompute.BadPolicy, "-1 bytes"},
		{recompute.Policy{Budget: 10}, recompute.BadPolicy, "needs the size N"},
		{recompute.Policy{Budget: 10, Scopes: []string{"layers.*"}}, recompute.BadPolicy, "both scopes and a budget"},
		{recompute.Policy{Budget: 1, Sizes: map[string]int{"N": 4}}, recompute.OverBudget, "expected at most 1"},
	} {
		_, err := g.Apply(ctx, []fx.Pass{recompute.Pass(c.policy)}, fx.PassOptions{})
		var e *diag.Error
		require.ErrorAs(t, err, &e, "%+v", c.policy)
		require.Equal(t, c.code, e.Code, "%v", err)
		require.Contains(t, e.Msg, c.words)
		require.Equal(t, text, g.Graph.String(), "the graph is as it was")
	}
	gm, err := fx.Trace(ctx, s.net, s.specs...)
	require.NoError(t, err)
	_, err = gm.Apply(ctx, []fx.Pass{recompute.Pass(recompute.Policy{})}, fx.PassOptions{})
	require.ErrorIs(t, err, recompute.NoBackward)
}

// A budget is kept with the fewest operations computed again; what no policy reaches is an error that
// says how much is reached.
func TestBudget(t *testing.T) {
	s := subject{net: newDeep(8, 8), specs: []fx.Option{fx.Input("x", "f32[N,8]")}, in: []*array.Array{noise(32, 8)}}
	size := map[string]int{"N": 32}
	g := s.gradients(t)
	want, _ := runs(t, s.in, fx.NewGraphModule(graph.Clone(g.Module)))
	_, cheap, whole := reported(t, g, recompute.Policy{Sizes: size})
	for _, budget := range []int64{whole * 3 / 4, cheap, cheap / 2, cheap / 4} {
		m, kept, _ := reported(t, g, recompute.Policy{Budget: budget, Sizes: size})
		require.LessOrEqual(t, kept, budget)
		got, _ := runs(t, s.in, m)
		compare(t, "the interpreter", want, got)
	}
}

// Repeated calls are in the text, and optimising what is read from it merges none of them.
func TestTextAndOptimise(t *testing.T) {
	s := subject{net: newDeep(3, 8), specs: []fx.Option{fx.Input("x", "f32[N,8]")}, in: []*array.Array{noise(4, 8)}}
	m := with(t, s.gradients(t), recompute.Policy{Scopes: []string{"layers.*"}})
	read, err := graph.Parse([]byte(m.Graph.String()), "step.fx")
	require.NoError(t, err)
	require.Equal(t, m.Graph.String(), read.Graph.String())
	count := func(g *graph.Graph, name string) (n int) {
		for k := range g.Nodes() {
			if k.Op() != nil && k.Op().Name == name {
				n++
			}
		}
		return n
	}
	before := map[string]int{"barrier": count(m.Graph, "barrier"), "gelu": count(m.Graph, "gelu"), "dropout": count(m.Graph, "dropout")}
	require.Equal(t, 6, before["gelu"])
	require.Equal(t, 6, before["dropout"], "with the same key: three of them are gradients")
	_, err = m.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	for name, n := range before {
		require.Equal(t, n, count(m.Graph, name), name)
	}
	// A second time there is nothing left to do.
	again := fx.NewGraphModule(graph.Clone(m.Module))
	_, err = again.Apply(ctx, []fx.Pass{recompute.Pass(recompute.Policy{Scopes: []string{"layers.*"}})}, fx.PassOptions{})
	require.NoError(t, err)
	require.Equal(t, before["barrier"], count(again.Graph, "barrier"))
}

// Control flow and statistics that are written stay as they are, and the report says so.
func TestRecompute_keepsControlFlowAndStatistics(t *testing.T) {
	bn := nn.NewBatchNorm1d(4)
	l := nn.NewLinear(4, 4, nn.Seed(1))
	nn.Train(bn)
	net := &struct {
		Bn *nn.BatchNorm1d
		L  *nn.Linear
	}{bn, l}
	f := func(x *tensor.Tensor) *tensor.Tensor {
		x = bn.Forward(l.Forward(x)).Sin()
		last, out := tensor.Scan(func(carry, rows []*tensor.Tensor) (next, out []*tensor.Tensor) {
			h := carry[0].Add(rows[0]).Tanh()
			return []*tensor.Tensor{h}, []*tensor.Tensor{h.Mul(h)}
		}, []*tensor.Tensor{x.Select(0, 0).MulScalar(0)}, []*tensor.Tensor{x})
		return last[0].Sum().Add(out[0].Exp().Square().Sum())
	}
	gm, err := fx.Trace(ctx, f, fx.Input("x", "f32[N,4]"), fx.Root(net))
	require.NoError(t, err)
	g, err := gm.ValueAndGrad(ctx, fx.GradOptions{})
	require.NoError(t, err)
	a, b := fx.NewGraphModule(graph.Clone(g.Module)), fx.NewGraphModule(graph.Clone(g.Module))
	report, err := b.Apply(ctx, []fx.Pass{recompute.Pass(recompute.Policy{})}, fx.PassOptions{})
	require.NoError(t, err)
	in := []*array.Array{noise(6, 4)}
	want, state := runs(t, in, a)
	got, after := runs(t, in, b)
	compare(t, "the interpreter", want, got)
	for path, v := range state {
		require.True(t, array.Equal(v, after[path]), path)
	}
	scans := 0
	for n := range b.Graph.Nodes() {
		if n.Op() == op.Scan {
			scans++
		}
	}
	require.Equal(t, 2, scans, "one forwards and one backwards")
	require.Contains(t, report.Explain(), "computed again")
}
