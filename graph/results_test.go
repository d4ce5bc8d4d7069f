package graph_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/kept"
	_ "github.com/gofx-dev/gofx/internal/testkit/stale"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

const everywhere = `graph g(%x: f32[N,2]) {
  symbol N = dim(%x, 0)
  %p = call_function[full]() {size=[], value=1, dtype=bool}
  %w = get_attr[w] : f32[2,2]
  %m = call_function[matmul](%x, %w)
  %a = call_function[relu](%m)
  %b = call_function[add](%a, %m)
  %c = call_function[cond](%p, %b) {
    region then(%i: f32[N,2]) {
      %r = call_function[neg](%i)
      return (%r)
    }
    region else(%j: f32[N,2]) {
      return (%j)
    }
  }
  %d = call_function[getitem](%c) {index=0}
  %e = call_function[call](%d) {graph="sub"}
  %f = call_module[fc](%e)
  return %f
}
subgraph sub(%s: f32[N,2]) {
  symbol N = dim(%s, 0)
  %t = call_function[exp](%s)
  return %t
}
param w : f32[2,2] buffer
module fc = linear (weight=w, bias=_)
`

var note = graph.NewKey[int]("note")

// edits are all ways to change a program. Each must end what is kept about its graphs.
var edits = []struct {
	name string
	do   func(m *graph.Module, find func(string) *graph.Node) error
}{
	{"a new node", func(m *graph.Module, n func(string) *graph.Node) error {
		m.Graph.After(n("a")).Function(std.Neg, nil, n("a"))
		return nil
	}},
	{"a new node in a body", func(m *graph.Module, n func(string) *graph.Node) error {
		n("r").Graph().After(n("r")).Function(std.Neg, nil, n("r"))
		return nil
	}},
	{"a new node in a sub-graph", func(m *graph.Module, n func(string) *graph.Node) error {
		n("t").Graph().After(n("t")).Function(std.Neg, nil, n("t"))
		return nil
	}},
	{"an operand", func(m *graph.Module, n func(string) *graph.Node) error { n("b").SetArg(0, n("m")); return nil }},
	{"operands", func(m *graph.Module, n func(string) *graph.Node) error { n("b").SetArgs(n("m"), n("m")); return nil }},
	{"uses", func(m *graph.Module, n func(string) *graph.Node) error { n("a").ReplaceUses(n("m"), nil); return nil }},
	{"erased", func(m *graph.Module, n func(string) *graph.Node) error {
		n("a").ReplaceUses(n("m"), nil)
		return m.Graph.Erase(n("a"))
	}},
	{"attributes", func(m *graph.Module, n func(string) *graph.Node) error { return n("b").SetAttrs(std.AddAttrs{}) }},
	{"another operator", func(m *graph.Module, n func(string) *graph.Node) error {
		_, err := n("a").ReplaceWith(std.Gelu)
		return err
	}},
	{"a type", func(m *graph.Module, n func(string) *graph.Node) error {
		n("a").SetType(shape.TensorType(array.F32, shape.ConstDims(3, 2)))
		return nil
	}},
	{"a name", func(m *graph.Module, n func(string) *graph.Node) error { n("a").Rename("other"); return nil }},
	{"live", func(m *graph.Module, n func(string) *graph.Node) error { n("w").SetLive(true); return nil }},
	{"a place", func(m *graph.Module, n func(string) *graph.Node) error { return n("x").Append(n("w")) }},
	{"the order", func(m *graph.Module, n func(string) *graph.Node) error {
		m.Graph.MoveBefore(n("b"), n("a"))
		_, err := m.Graph.Sort()
		return err
	}},
	{"a symbol", func(m *graph.Module, n func(string) *graph.Node) error {
		m.Graph.DefineSymbol("K", n("m"), 1)
		return nil
	}},
	{"a guard", func(m *graph.Module, n func(string) *graph.Node) error {
		m.Graph.AddGuard(shape.Sym("N"), shape.Const(4), n("x"))
		return nil
	}},
	{"an assumption", func(m *graph.Module, n func(string) *graph.Node) error {
		return m.Graph.Assume(shape.Equality(shape.Sym("N"), shape.Const(4)), n("x"))
	}},
	{"forgotten facts", func(m *graph.Module, n func(string) *graph.Node) error { m.Graph.ResetFacts(); return nil }},
	{"a note of what was fixed", func(m *graph.Module, n func(string) *graph.Node) error {
		m.Graph.NoteSpecialisation(graph.Specialisation{What: "it"})
		return nil
	}},
	{"side data", func(m *graph.Module, n func(string) *graph.Node) error { note.Set(n("a"), 1); return nil }},
	{"side data taken away", func(m *graph.Module, n func(string) *graph.Node) error { note.Delete(n("b")); return nil }},
	{"side data copied", func(m *graph.Module, n func(string) *graph.Node) error { graph.CopyMeta(n("a"), n("b")); return nil }},
	{"a tensor of the state", func(m *graph.Module, n func(string) *graph.Node) error {
		m.SetParam(graph.Param{Path: "w", Value: array.New(array.F32, 2, 2)})
		return nil
	}},
	{"what a module does", func(m *graph.Module, n func(string) *graph.Node) error {
		m.SetBound("fc", graph.Bound{Op: std.Matmul, Params: []string{"w"}})
		return nil
	}},
	{"another module", func(m *graph.Module, n func(string) *graph.Node) error { n("f").SetModule("fd"); return nil }},
	{"another sub-graph", func(m *graph.Module, n func(string) *graph.Node) error { m.NewSub("more"); return nil }},
	{"what is unused", func(m *graph.Module, n func(string) *graph.Node) error { m.DropUnused(); return nil }},
	{"a type inferred again", func(m *graph.Module, n func(string) *graph.Node) error { return n("c").Infer() }},
	{"another graph", func(m *graph.Module, n func(string) *graph.Node) error {
		m.Become(m.WithGraph(m.Graph.Clone()))
		return nil
	}},
	{"a change that no method makes", func(m *graph.Module, n func(string) *graph.Node) error { m.Touch(); return nil }},
	{"an edit that is taken back", func(m *graph.Module, n func(string) *graph.Node) error {
		err := graph.Edit(m, func(*graph.Graph) error {
			n("a").SetArg(0, n("x"))
			return errors.New("taken back")
		})
		if err == nil {
			return errors.New("the edit was not taken back")
		}
		return nil
	}},
}

// watched counts the computations of an analysis, those alone that nothing kept.
func watched(t *testing.T, name string) *int {
	n := new(int)
	kept.Watch(func(of string) {
		if of == name {
			*n++
		}
	})
	t.Cleanup(func() { kept.Watch(nil) })
	return n
}

// TestAnalysis_endsWithEveryEdit asks about the graph, a body and a sub-graph before and
// after each edit of one of them.
func TestAnalysis_endsWithEveryEdit(t *testing.T) {
	times := watched(t, "asked")
	for _, e := range edits {
		m := programOf(t, everywhere)
		find := func(name string) *graph.Node {
			for n := range m.All() {
				if n.Name() == name {
					return n
				}
			}
			return nil
		}
		note.Set(find("b"), 2)
		asked := graph.NewAnalysis("asked", func(*graph.Graph) int { return 1 })
		ask := func() int {
			*times = 0
			for _, g := range []*graph.Graph{m.Graph, find("r").Graph(), m.Sub("sub")} {
				asked.Of(g)
			}
			return *times
		}
		require.Equal(t, 3, ask(), e.name)
		require.Zero(t, ask(), e.name)
		require.NoError(t, e.do(m, find), e.name)
		require.Equal(t, 3, ask(), e.name)
		require.Zero(t, ask(), e.name)
	}
}

// TestAnalysis_withoutAModule: a graph keeps answers about itself and its bodies, and takes
// none of them into a module.
func TestAnalysis_withoutAModule(t *testing.T) {
	times := watched(t, "length")
	length := graph.NewAnalysis("length", func(g *graph.Graph) int { return g.Len() })
	g := graph.New("alone")
	typ := shape.TensorType(array.F32, shape.ConstDims(2))
	x := g.At().Placeholder("x", typ, nil)
	require.Equal(t, 1, length.Of(g))
	body := g.NewRegion("body")
	i := body.At().Placeholder("i", typ, nil)
	require.Equal(t, 1, length.Of(body))
	body.At().Output(&graph.Structure{Kind: graph.Results, Fields: []*graph.Structure{graph.Leaf(0)}}, i)
	pred := g.At().Function(std.Full, std.FullAttrs{Value: op.Float(1), DType: array.Bool})
	other := body.Clone()
	flow := g.At().Region(op.Cond, nil, []*graph.Graph{body, other}, pred, x)
	require.Equal(t, 2, length.Of(body))
	require.Equal(t, 3, length.Of(g))
	*times = 0
	require.Equal(t, 5, length.Of(g)+length.Of(body))
	require.Zero(t, *times)
	body.Before(body.Output()).Function(std.Neg, nil, i)
	require.Equal(t, 6, length.Of(g)+length.Of(body))
	require.Equal(t, 2, *times)
	graph.NewModule(g)
	require.Equal(t, 6, length.Of(g)+length.Of(body))
	require.Equal(t, 4, *times)
	g.After(flow).Function(std.Neg, nil, x)
	require.Equal(t, 7, length.Of(g)+length.Of(body))
}

// TestAnalysis_thatAsksAnother, and one that has no answer.
func TestAnalysis_thatAsksAnother(t *testing.T) {
	m := programOf(t, everywhere)
	times := watched(t, "first")
	first := graph.NewAnalysis("first", func(g *graph.Graph) *graph.Node { return g.First() })
	second := graph.NewAnalysis("second", func(g *graph.Graph) *graph.Node { return first.Of(g).Next() })
	none := graph.NewAnalysis("none", func(g *graph.Graph) error { return nil })
	require.Equal(t, "%p", second.Of(m.Graph).String())
	require.Equal(t, "%x", first.Of(m.Graph).String())
	require.Equal(t, 1, *times)
	require.NoError(t, none.Of(m.Graph))
	require.NoError(t, none.Of(m.Graph))
}

// TestAnalysis_thatEdits is a mistake; its answer is not kept.
func TestAnalysis_thatEdits(t *testing.T) {
	m := programOf(t, everywhere)
	grows := graph.NewAnalysis("grows", func(g *graph.Graph) int {
		g.Before(g.Output()).Function(std.Neg, nil, g.Find("a"))
		return g.Len()
	})
	require.Equal(t, grows.Of(m.Graph)+1, grows.Of(m.Graph))
}

// TestAnalysis_manyAsk reads one graph in many goroutines, as runs of an interpreter do.
func TestAnalysis_manyAsk(t *testing.T) {
	m := programOf(t, everywhere)
	length := graph.NewAnalysis("length", func(g *graph.Graph) int { return g.Len() })
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if length.Of(m.Graph) != 11 || length.Of(m.Sub("sub")) != 3 {
					t.Error("a wrong answer")
				}
			}
		})
	}
	all.Wait()
}

// TestEffectsOf_areComputedOnce for all graphs of a program.
func TestEffectsOf_areComputedOnce(t *testing.T) {
	m := programOf(t, everywhere)
	times := watched(t, "effects")
	for range 3 {
		for n := range m.All() {
			require.False(t, graph.EffectsOf(n.Graph()).Overwritten(n))
		}
	}
	require.Equal(t, 1, *times)
}
