package graph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/shape"
)

func TestToFunctionAndBecome(t *testing.T) {
	m := parse(t, `
graph g(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] live : f32[4,4]
  %neg_7 = call_method[@neg](%x) : f32[N,4]
  %neg_2 = call_function[@neg](%neg_7) : f32[N,4]
  %cond = call_function[cond](%x, %neg_2) : f32[N,4] {
    region a(%p: f32[N,4]) {
      return %p
    }
    region b(%p: f32[N,4]) {
      %neg = call_function[@neg](%p) : f32[N,4]
      return %neg
    }
  }
  return %cond, %w
}
param w : f32[4,4]
`)
	c := Clone(m)
	before := m.String()
	for n := range c.Graph.All() {
		require.Same(t, c, n.Graph().Module())
		if n.Opcode() == CallMethod {
			n.ToFunction()
		}
	}
	require.Equal(t, before, m.String())
	require.Equal(t, CallFunction, c.Graph.Find("neg_7").Opcode())

	m.Become(c)
	require.Equal(t, CallFunction, m.Graph.Find("neg_7").Opcode())
	for n := range m.Graph.All() {
		require.Same(t, m, n.Graph().Module())
	}
}

func TestToFunctionOfModule(t *testing.T) {
	m := parse(t, `
graph g(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %fc = call_module[fc](%x) : f32[N,10]
  return %fc
}
param fc.weight : f32[10,4]
module fc = @linear (weight=fc.weight, bias=_)
`)
	n := m.Graph.Find("fc")
	n.Bound().Type = "example.com/nn.Linear"
	w := m.Graph.Before(n).GetAttr("fc.weight")
	n.ToFunction(w, nil)
	require.Equal(t, 2, n.NumArgs())
	require.Equal(t, Scope{Path: "fc", Type: "example.com/nn.Linear"}, n.Scope())
	require.Equal(t, 1, w.NumUses())
	require.Equal(t, "%fc = call_function["+tPath+"linear](%x, %fc_weight) : f32[N,10] in \"fc\" \"example.com/nn.Linear\"", n.Text())
	require.NoError(t, n.Infer())
	require.Equal(t, "f32[N,10]", n.Type().String())
	require.Panics(t, func() { w.ToFunction() })
}

func TestEraseFreesGuards(t *testing.T) {
	m := parse(t, `
graph g(%x: f32[N,M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  %neg = call_function[@neg](%x) : f32[N,M]
  guard N == M from %neg
  return %x
}
`)
	require.NoError(t, m.Graph.Erase(m.Graph.Find("neg")))
	require.Len(t, m.Graph.Guards(), 1)
	require.Empty(t, Lint(m.Graph))
}

func TestRetype(t *testing.T) {
	m := parse(t, `
graph g(%x: f32[N,M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  guard N == 3
  note "x.Dim(0) = 3"
  %w = get_attr[w] : f32[2]
  %neg = call_function[@neg](%x) : f32[N,M]
  return %neg
}
param w : f32[2]
`)
	g := m.Graph
	g.ResetFacts()
	require.Empty(t, g.Symbols())
	require.Empty(t, g.Guards())
	require.Len(t, g.Specialisations(), 1)
	m.SetParam(Param{Path: "w", Type: shape.TensorType(array.F64, shape.ConstDims(5))})
	g.Find("x").SetType(shape.TensorType(array.F32, shape.ConstDims(3, 4)))
	for n := range g.Nodes() {
		require.NoError(t, n.Retype())
	}
	require.Equal(t, "f64[5]", g.Find("w").Type().String())
	require.Equal(t, "f32[3,4]", g.Output().Type().String())
}
