package shapeprop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/shapeprop"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

func types(t *testing.T, kv ...string) map[string]shape.Type {
	m := map[string]shape.Type{}
	for i := 0; i < len(kv); i += 2 {
		ty, err := shape.ParseType(kv[i+1])
		require.NoError(t, err)
		m[kv[i]] = ty
	}
	return m
}

func run(m *graph.Module, p passes.Pass) error {
	_, err := passes.Run(context.Background(), m, []passes.Pass{p}, passes.Options{})
	return err
}

const untyped = `
graph g(%x: ?[*], %y: ?[*]) {
  %w = get_attr[w] : f32[4,3]
  %a = call_function[linear](%x, %w) : ? at "net.go:5"
  %b = call_function[add](%a, %y) : ? at "net.go:6"
  %c = call_method[flatten](%b) {start_dim=1, end_dim=-1} : ? at "net.go:7"
  return %c
}
param w : f32[4,3]
`

func TestInferFillsTypes(t *testing.T) {
	m := passtest.Parse(t, untyped)
	require.NoError(t, run(m, shapeprop.Infer(types(t, "x", "f32[N,S,3]", "y", "f32[4]"))))
	require.Equal(t, "f32[N,S,4]", m.Graph.Find("b").Type().String())
	require.Equal(t, "f32[N,4*S]", m.Graph.Find("c").Type().String())
	require.Equal(t, "f32[N,4*S]", m.Graph.Output().Type().String())
	require.Len(t, m.Graph.Symbols(), 2)
	require.Nil(t, passes.Typed.Violation(m.Graph))

	// The names of the symbols may change, and with them what they mean.
	require.NoError(t, run(m, shapeprop.Infer(types(t, "x", "f32[S,8,3]", "y", "f32[S,1,1]"))))
	require.Equal(t, "f32[S,32]", m.Graph.Find("c").Type().String())
	passtest.Same(t, m, m)
}

func TestInfer_reportsAllMistakes(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%x: ?[*], %y: ?[*]) {
  %a = call_function[add](%x, %y) : ? at "net.go:5"
  %b = call_function[relu](%a) : ? at "net.go:6"
  %c = call_function[sum](%x) {dim=[4]} : ? at "net.go:7"
  return %b, %c
}
`)
	before := m.String()
	err := run(m, shapeprop.Infer(types(t, "x", "f32[2]", "y", "f32[3]")))
	require.ErrorIs(t, err, op.ShapeMismatch)
	require.ErrorIs(t, err, op.BadAxis)
	require.ErrorContains(t, err, "net.go:5: add: shapes [2] and [3]")
	require.ErrorContains(t, err, "net.go:7: sum")
	require.NotContains(t, err.Error(), "net.go:6", "one mistake, one message")
	require.Equal(t, before, m.String())
}

func TestContradiction_citesBothLines(t *testing.T) {
	const text = `
graph g(%x: ?[*], %y: ?[*]) {
  %u = get_attr[u] : f32[3]
  %v = get_attr[v] : f32[5]
  %a = call_function[add](%x, %u) : ? at "net.go:5"
  %b = call_function[add](%y, %v) : ? at "net.go:6"
  return %a, %b
}
param u : f32[3]
param v : f32[5]
`
	err := run(passtest.Parse(t, text), shapeprop.Infer(types(t, "x", "f32[A]", "y", "f32[A]")))
	require.ErrorIs(t, err, graph.Contradiction)
	require.ErrorContains(t, err, "net.go:6: ")
	require.ErrorContains(t, err, "\n    net.go:5: but A = 3 was required by %a")

	m := passtest.Parse(t, text)
	require.NoError(t, run(m, shapeprop.Infer(types(t, "x", "f32[A]", "y", "f32[B]"))))
	require.Equal(t, "f32[3]", m.Graph.Find("a").Type().String())
	err = run(m, shapeprop.Specialize(map[string]int{"A": 4}))
	require.ErrorIs(t, err, graph.Contradiction)
	require.ErrorContains(t, err, "net.go:5: but A = 3")
}

func TestInfer_restatesOldSymbols(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%x: f32[N,6]) {
  symbol N = dim(%x, 0)
  guard N == 2*K
  symbol K = dim(%x, 1)
  %a = call_method[reshape](%x) {shape=[3*N,2]} : f32[3*N,2]
  %b = call_method[expand](%x) {shape=[2,N,6]} : f32[2,N,6]
  return %a, %b
}
`)
	require.NoError(t, run(m, shapeprop.Infer(types(t, "x", "f32[12,6]"))))
	require.Contains(t, m.String(), "%a = call_method[reshape](%x) {shape=[36,2]} : f32[36,2]")
	require.Contains(t, m.String(), "%b = call_method[expand](%x) {shape=[2,12,6]} : f32[2,12,6]")
	err := run(m, shapeprop.Infer(types(t, "x", "f32[12,7]")))
	require.ErrorIs(t, err, op.BadReshape)
}

func TestInferKeepsGuards(t *testing.T) {
	const text = `
graph g(%x: f32[N,M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  %a = call_function[relu](%x) : f32[N,M] at "net.go:5"
  guard N == M from %a
  return %a
}
`
	m := passtest.Parse(t, text)
	require.NoError(t, run(m, shapeprop.Infer(types(t, "x", "f32[P,Q]"))))
	require.Contains(t, m.String(), "guard P == Q from %a")
	err := run(m, shapeprop.Infer(types(t, "x", "f32[2,3]")))
	require.ErrorIs(t, err, graph.Contradiction)
	require.ErrorContains(t, err, "net.go:5: ")
}

func TestInferInRegions(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%p: bool[], %x: ?[*], %s: ?[*]) {
  %c = call_function[cond](%p, %x) : ? {
    region a(%u: ?[*]) {
      %n = call_function[neg](%u) : ?
      return (%n)
    }
    region b(%u: ?[*]) {
      return (%u)
    }
  }
  %y = call_function[getitem](%c) : ?
  %z = call_function[scan](%y, %s) {carry=1, seqs=1} : ? {
    region body(%h: ?[*], %i: ?[*]) {
      %n = call_function[add](%h, %i) : ?
      return (%n, %n)
    }
  }
  %last = call_function[getitem](%z) : ?
  %all = call_function[getitem](%z) {index=1} : ?
  return %last, %all
}
`)
	require.NoError(t, run(m, shapeprop.Infer(types(t, "x", "f32[N]", "s", "f32[T,N]"))))
	require.Equal(t, "f32[N]", m.Graph.Find("y").Type().String())
	require.Equal(t, "f32[T,N]", m.Graph.Find("all").Type().String())
	require.Nil(t, passes.Typed.Violation(m.Graph))
	require.NoError(t, run(m, shapeprop.Specialize(map[string]int{"N": 3, "T": 2})))
	for n := range m.Graph.All() {
		require.NotContains(t, n.Type().String(), "N", "%s", n)
	}
	passtest.Same(t, m, m)
}

func TestSpecialize(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%x: f32[N,M,4]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  guard M == 2*N
  %a = call_method[reshape](%x) {shape=[N,4*M]} : f32[N,4*M]
  return %a
}
`)
	before := graph.Clone(m)
	require.NoError(t, run(m, shapeprop.Specialize(map[string]int{"N": 3})))
	require.Contains(t, m.String(), "%a = call_method[reshape](%x) {shape=[3,24]} : f32[3,24]")
	require.Contains(t, m.String(), "%x: f32[3,6,4]")
	require.Len(t, m.Graph.Symbols(), 2, "no symbol is dropped")
	in, err := passes.Inputs(before.Graph, map[string]int{"N": 3}, 1)
	require.NoError(t, err)
	require.Equal(t, []int{3, 6, 4}, in[0].Shape())
	passtest.Same(t, m, before)

	for name, sizes := range map[string]map[string]int{"unknown": {"Q": 1}, "negative": {"N": -1}} {
		require.ErrorIs(t, run(m, shapeprop.Specialize(sizes)), shapeprop.NoSuchSymbol, name)
	}
	require.ErrorIs(t, run(m, shapeprop.Specialize(map[string]int{"N": 4})), graph.Contradiction)
	require.ErrorIs(t, run(m, shapeprop.Infer(types(t, "q", "f32[1]"))), shapeprop.NoSuchInput)
	for range 20 { // of several, always the same
		require.ErrorContains(t, run(m, shapeprop.Infer(types(t, "q", "f32[1]", "p", "f32[1]", "r", "f32[1]"))), `no input "p"`)
	}
}

func TestObserve(t *testing.T) {
	m := passtest.Parse(t, untyped)
	three := tensor.FromSlice(make([]float32, 6), 2, 3)
	four := tensor.FromSlice(make([]float32, 9), 3, 3)
	bias := tensor.FromSlice(make([]float32, 4))
	require.NoError(t, shapeprop.Observe(context.Background(), m, three, bias))
	c := m.Graph.Find("c")
	got, ok := shapeprop.Observed.Get(c)
	require.True(t, ok)
	require.Equal(t, "f32[2,4]", got.String())
	require.NotEqual(t, "f32[2,4]", c.Type().String(), "the types of nodes are not touched")
	require.NoError(t, shapeprop.Observe(context.Background(), m, four, bias))
	got, _ = shapeprop.Observed.Get(c)
	require.Equal(t, "f32[?,4]", got.String(), "widened")
	require.Error(t, shapeprop.Observe(context.Background(), m, bias))
}

// TestRegions_ruledOutBySizes: the pass reports them; who binds a graph to lower it prepares
// regions by themselves.
func TestRegions_ruledOutBySizes(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%x: f32[N], %y: f32[M], %p: bool[]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  %c = call_function[cond](%p, %x, %y) : f32[N] {
    region yes(%a: f32[N], %b: f32[M]) {
      %s = call_function[add](%a, %b) : f32[N]
      guard N == M from %s
      return %s
    }
    region no(%a: f32[N], %b: f32[M]) {
      return %a
    }
  }
  return %c
}
`)
	sizes := map[string]int{"N": 3, "M": 5}
	require.ErrorIs(t, run(graph.Clone(m), shapeprop.Specialize(sizes)), op.ShapeMismatch)
	_, err := shapeprop.Bind(passes.NewCtx(context.Background(), m), m.Graph, nil, func(symbol string) shape.Dim { return shape.Const(sizes[symbol]) })
	require.NoError(t, err)
	require.Equal(t, "f32[3]", m.Graph.Find("c").Type().String())
}
