package graph_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/std"
)

// extract takes the part between named nodes.
func extract(m *graph.Module, in, out []string) (*graph.Module, error) {
	find := func(names []string) (list []*graph.Node) {
		for _, n := range names {
			list = append(list, m.Graph.Find(n))
		}
		return list
	}
	return graph.Extract(find(in), find(out))
}

const twoLayers = `graph net(%x: f32[N,4], %scale: f32[]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[4,4]
  %a = call_function[linear](%x, %w, _) : f32[N,4]
  %b = call_function[relu](%a) : f32[N,4]
  %fc = call_module[fc](%b) : f32[N,2]
  %s = call_function[mul](%fc, %scale) : f32[N,2]
  %r = call_function[reshape](%s) {shape=[2*N]} : f32[2*N]
  %d = call_function[add](%r, %r) : f32[2*N]
  %e = call_function[reshape](%d) {shape=[N,2]} : f32[N,2]
  return %e
}
param w : f32[4,4]
param fc.weight : f32[2,4]
module fc = linear (weight=fc.weight, bias=_)
`

func TestExtract(t *testing.T) {
	for name, c := range map[string]struct {
		in, out []string
		want    string
	}{
		"a middle": {[]string{"b"}, []string{"fc"}, `gofx 1

graph net(%b: f32[N,4]) {
  symbol N = dim(%b, 0)
  %fc = call_module[fc](%b) : f32[N,2]
  return %fc
}
param fc.weight : f32[2,4]
module fc = linear (weight=fc.weight, bias=_)
`},
		"a beginning, with the inputs that it needs": {nil, []string{"b"}, `gofx 1

graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[4,4]
  %a = call_function[linear](%x, %w, _) : f32[N,4]
  %b = call_function[relu](%a) : f32[N,4]
  return %b
}
param w : f32[4,4]
`},
		"weights as inputs, several outputs": {[]string{"w"}, []string{"b", "a"}, `gofx 1

graph net(%w: f32[4,4], %x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %a = call_function[linear](%x, %w, _) : f32[N,4]
  %b = call_function[relu](%a) : f32[N,4]
  return %b, %a
}
`},
		"a size that is a multiple of a symbol": {[]string{"r"}, []string{"e"}, `gofx 1

graph net(%r: f32[s0]) {
  symbol s0 = dim(%r, 0)
  guard s0 % 2 == 0 from %r
  %d = call_function[add](%r, %r) : f32[s0]
  %e = call_function[reshape](%d) {shape=[s0//2,2]} : f32[s0//2,2]
  return %e
}
`},
		"inputs that agree in a size": {[]string{"fc", "x"}, []string{"s", "x"}, `gofx 1

graph net(%fc: f32[N,2], %x: f32[N,4], %scale: f32[]) {
  symbol N = dim(%fc, 0)
  symbol s0 = dim(%x, 0)
  guard s0 == N from %x
  %s = call_function[mul](%fc, %scale) : f32[N,2]
  return %s, %x
}
`},
	} {
		t.Run(name, func(t *testing.T) {
			m := parse(twoLayers)
			part, err := extract(m, c.in, c.out)
			require.NoError(t, err)
			require.Equal(t, c.want, part.String())
			require.Empty(t, graph.Lint(part.Graph))
			require.Equal(t, parse(twoLayers).String(), m.String(), "what it is taken from stays as it was")
		})
	}
}

// TestExtractedPartsComputeTheSame runs the graph whole and in two parts.
func TestExtractedPartsComputeTheSame(t *testing.T) {
	m := parse(twoLayers)
	var g op.Gen
	for _, p := range m.Params() {
		q := *p
		_, dims, _ := p.Type.Concrete()
		q.Value = g.Normal(dims...)
		m.SetParam(q)
	}
	run := func(m *graph.Module, in ...*array.Array) *array.Array {
		p := interp.Interpreter{State: interp.NewState(m)}
		out, err := p.RunArrays(context.Background(), in)
		require.NoError(t, err)
		return out[0]
	}
	x, scale := g.Normal(3, 4), array.Scalar(float32(2))
	for _, cut := range []string{"a", "b", "fc", "s", "r", "d"} {
		first, err := extract(m, nil, []string{cut})
		require.NoError(t, err, cut)
		second, err := extract(m, []string{cut}, []string{"e"})
		require.NoError(t, err, cut)
		in := []*array.Array{x, scale}
		value := run(first, in[:len(first.Graph.Inputs())]...)
		rest := append([]*array.Array{value}, in[1:len(second.Graph.Inputs())]...)
		require.Equal(t, array.Data[float32](run(m, in...)), array.Data[float32](run(second, rest...)), cut)
		for _, p := range second.Params() {
			require.Same(t, m.Param(p.Path).Value, p.Value, "weights are shared")
		}
	}
}

func TestExtractMistakes(t *testing.T) {
	text := `graph net(%x: f32[N,4], %i: i64[K]) {
  symbol N = dim(%x, 0)
  symbol K = dim(%i, 0)
  %m = get_attr[m] live : f32[4]
  %t = call_function[split](%x) {sizes=[2,2], dim=1} : (f32[N,2], f32[N,2])
  %p = call_function[getitem](%t) : f32[N,2]
  %f = call_function[reshape](%p) {shape=[2*N]} : f32[2*N]
  %h = call_function[expand](%i) {shape=[N,K]} : i64[N,K]
  %y = call_function[sum](%x) {dim=[0]} : f32[4]
  %z = call_function[assign](%m, %y) : f32[4]
  %q = get_attr[m] live : f32[4]
  %o = call_function[neg](%q) : f32[4]
  return %f, %h, %o
}
param m : f32[4] buffer
`
	for _, c := range []struct {
		in, out []string
		err     string
	}{
		{nil, nil, "no outputs are given"},
		{nil, []string{"t"}, "%t is a tuple, expected tensors"},
		{[]string{"p", "p"}, []string{"f"}, "%p is given twice"},
		{nil, []string{"h"}, "does not stand on its own"},
		{nil, []string{"o"}, "%z writes m, which the part of the graph reads"},
	} {
		_, err := extract(parse(text), c.in, c.out)
		require.ErrorContains(t, err, c.err)
		require.ErrorIs(t, err, graph.BadExtract)
	}
	_, err := extract(parse(text), nil, []string{"o", "z"})
	require.NoError(t, err)
	_, err = extract(parse(text), []string{"x"}, []string{"h"})
	require.NoError(t, err, "an input may be there for its size alone")
	other := parse(text)
	_, err = graph.Extract([]*graph.Node{other.Graph.Find("x")}, []*graph.Node{parse(text).Graph.Find("y")})
	require.ErrorContains(t, err, "is no value of the graph")
}

func TestFeatures(t *testing.T) {
	m := parse(`graph net(%x: f32[4], %unused: f32[2], %p: bool[]) {
  %a = call_function[neg](%x) : f32[4] in "twice"
  %b = call_function[exp](%a) : f32[4] in "twice"
  %t = call_function[split](%b) {sizes=[2,2]} : (f32[2], f32[2]) in "cut"
  %l = call_function[getitem](%t) : f32[2] in "cut"
  %r = call_function[getitem](%t) {index=1} : f32[2] in "cut"
  %c = call_function[cond](%p, %l) : f32[2] {
    region(%i: f32[2]) {
      %inner = call_function[neg](%i) : f32[2] in "inside"
      return %inner
    }
    region(%i: f32[2]) {
      return %i
    }
  }
  %s = call_function[add](%r, %c) : f32[2] in "twicer"
  return %s
}
`)
	before := m.String()
	part, err := graph.Features(m.Graph, "twice", "c", "x")
	require.NoError(t, err)
	require.Len(t, part.Graph.Inputs(), 3, "the signature stays")
	require.Equal(t, `return {twice: %b, c: %c, x: %x}`, part.Graph.Output().Text())
	require.Nil(t, part.Graph.Find("s"))
	for _, c := range []struct{ names, err string }{
		{"cut", `"cut" has several values that leave it, %l, %r: expected the name of one of them`},
		{"inside", `"inside" is inside of a region`},
		{"inner", `"inner" is inside of a region`},
		{"t", "is a tuple"},
		{"output", "is neither a node nor"},
		{"", "is neither"},
		{"a a", `"a" is given twice`},
	} {
		_, err := graph.Features(m.Graph, strings.Split(c.names, " ")...)
		require.ErrorIs(t, err, graph.BadExtract)
		require.ErrorContains(t, err, c.err)
	}
	_, err = graph.Features(m.Graph)
	require.ErrorContains(t, err, "no outputs are given")
	require.Equal(t, before, m.String())
}
