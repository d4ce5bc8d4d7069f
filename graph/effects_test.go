package graph_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// putIn is an operator of a user's that writes its first operand.
var putIn = op.Define("put_in", op.Spec[op.None]{
	Doc: "put_in adds src to x in place and returns the sum.", In: op.Args("x", "src"), Mutates: []int{0},
	Infer:  func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
	Kernel: func(op.None, []shape.Type) kernel.Step { return putStep{} },
})

type putStep struct{}

// Run implements kernel.Step.
func (putStep) Run(w *kernel.Workspace, out, in []*array.Array) {
	for i := range in[0].Len() {
		array.SetFloat64At(in[0], i, array.Float64At(in[0], i)+array.Float64At(in[1], i))
		array.SetFloat64At(out[0], i, array.Float64At(in[0], i))
	}
}

func programOf(t *testing.T, text string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\n\n"+text), "effects.fx")
	require.NoError(t, err)
	return m
}

// TestEqual_readsStayOnTheirSideOfAWrite: what reads state through a view, through the
// parameters of a module or in a body gives another value after the write.
func TestEqual_readsStayOnTheirSideOfAWrite(t *testing.T) {
	const tail = "param w : f32[2,2] buffer\nparam v : f32[2,2] buffer\n"
	const write = "  %s = call_function[assign](%a, %x)\n"
	for _, c := range []struct{ name, before, read, more string }{
		{"a view", "  %v = call_function[t](%a)\n", "  %y = call_function[relu](%v)\n", ""},
		{"a view of a view", "  %u = call_function[t](%a)\n  %v = call_function[t](%u)\n", "  %y = call_function[relu](%v)\n", ""},
		{"a module", "", "  %y = call_module[fc](%x)\n", "module fc = linear (weight=w, bias=_)\n"},
		{"a body", "  %p = call_function[full]() {size=[], value=1, dtype=bool}\n", "  %y = call_function[cond](%p, %x) {\n" +
			"    region then(%i: f32[2,2]) {\n      %r = get_attr[w] live : f32[2,2]\n      return (%r)\n    }\n" +
			"    region else(%j: f32[2,2]) {\n      return (%j)\n    }\n  }\n  %z = call_function[getitem](%y) {index=0}\n", ""},
	} {
		of := func(body string) *graph.Module {
			out := "%y"
			if c.name == "a body" {
				out = "%z"
			}
			return programOf(t, "graph g(%x: f32[2,2]) {\n  %a = get_attr[w] live : f32[2,2]\n"+c.before+body+"  return "+out+"\n}\n"+c.more+tail)
		}
		early, late := of(c.read+write), of(write+c.read)
		require.NoError(t, graph.Lint(early.Graph).Err(), c.name)
		equal, _ := graph.Equal(early.Graph, late.Graph)
		require.False(t, equal, c.name)
		require.NotEqual(t, graph.Hash(early.Graph), graph.Hash(late.Graph), c.name)
	}
}

// TestEqual_orderOfPureControlFlow: the order of two calls of control flow whose bodies
// have no effect counts as little as that of two sums.
func TestEqual_orderOfPureControlFlow(t *testing.T) {
	flow := func(name, f string) string {
		return "  %" + name + " = call_function[cond](%p, %x) {\n" +
			"    region then(%i: f32[2]) {\n      %r = call_function[" + f + "](%i)\n      return (%r)\n    }\n" +
			"    region else(%j: f32[2]) {\n      return (%j)\n    }\n  }\n"
	}
	of := func(body string) *graph.Module {
		return programOf(t, "graph g(%p: bool[], %x: f32[2]) {\n"+body+"  %u = call_function[getitem](%a) {index=0}\n  %v = call_function[getitem](%b) {index=0}\n  %y = call_function[sub](%u, %v)\n  return %y\n}\n")
	}
	m, n := of(flow("a", "relu")+flow("b", "exp")), of(flow("b", "exp")+flow("a", "relu"))
	equal, diff := graph.Equal(m.Graph, n.Graph)
	require.True(t, equal, diff)
	require.Equal(t, graph.Hash(m.Graph), graph.Hash(n.Graph))
}

// TestOrder_memoryThatIsNoState: an operator may write what another call has made.
func TestOrder_memoryThatIsNoState(t *testing.T) {
	m := programOf(t, `graph g(%x: f32[2]) {
  %a = call_function[neg](%x)
  %r = call_function[exp](%a)
  %p = call_function[`+putIn.Key()+`](%a, %x)
  %s = call_function[exp](%a)
  %y = call_function[sub](%r, %s)
  return %y
}
`)
	g := m.Graph
	require.Error(t, g.Find("p").Append(g.Find("r")), "it would read what is written")
	require.Error(t, g.Find("p").Prepend(g.Find("s")), "it would not read what is written")
	swapped := graph.Clone(m)
	swapped.Graph.MoveBefore(swapped.Graph.Find("p"), swapped.Graph.Find("r"))
	equal, _ := graph.Equal(g, swapped.Graph)
	require.False(t, equal)
}

// TestExtract_refusesWhatOthersWrite: an operator of a user's that writes state, or what a call
// made, keeps a part that reads it from standing on its own, as assign does.
func TestExtract_refusesWhatOthersWrite(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"state", "  %p = call_function[put_in](%a, %x)\n  %y = call_function[neg](%a)\n", "%p writes w, "},
		{"a view of state", "  %v = call_function[t](%a)\n  %p = call_function[put_in](%v, %x)\n  %y = call_function[neg](%a)\n", "%p writes w, "},
		{"a value", "  %b = call_function[neg](%x)\n  %p = call_function[put_in](%b, %x)\n  %y = call_function[exp](%b)\n", "%p writes %b, "},
		{"an input", "  %p = call_function[put_in](%x, %a)\n  %y = call_function[exp](%x)\n", "%p writes %x, "},
	} {
		m := programOf(t, "graph g(%x: f32[2,2]) {\n  %a = get_attr[w] live : f32[2,2]\n"+strings.ReplaceAll(c.body, "put_in", putIn.Key())+"  return (%p, %y)\n}\nparam w : f32[2,2] buffer\n")
		_, err := graph.Extract(nil, []*graph.Node{m.Graph.Find("y")})
		require.ErrorIs(t, err, graph.BadExtract, c.name)
		require.ErrorContains(t, err, c.want, c.name)
		_, err = graph.Extract(nil, []*graph.Node{m.Graph.Find("y"), m.Graph.Find("p")})
		require.NoError(t, err, c.name)
	}
}
