package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// copied rebuilds a graph with a Copier. instead, when it is not nil, may put another node in the place of
// one, and drops the node when it says so.
func copied(src *graph.Graph, instead func(c *graph.Cursor, n *graph.Node, args []*graph.Node) (by *graph.Node, drop bool)) *graph.Graph {
	dst := graph.New(src.Name)
	k, c := graph.NewCopier(dst, src), dst.At()
	for n := range src.Nodes() {
		args := n.Args()
		for i, a := range args {
			if a != nil {
				args[i] = k.Mapped(a)
			}
		}
		k.At(c, n)
		if instead != nil {
			by, drop := instead(c, n, args)
			if drop {
				continue
			}
			if by != nil {
				k.Map(n, by)
				continue
			}
		}
		k.Copy(c, n, args)
	}
	k.Finish()
	return dst
}

const foundSize = `graph g(%x: f32[N]) {
  symbol N = dim(%x, 0)
  %nz = call_function[github.com/gofx-dev/gofx/graph.nonzero](%x) : i64[K,1]
  symbol K = dim(%nz, 0)
  guard K >= 2 from %nz
  guard N >= 3 from %x
  note "K is large" guard K >= 2
  %y = call_function[neg](%x) : f32[N]
  return %y
}
`

// What a copy says of sizes speaks of what was copied.
func TestCopier_dropsFactsOfDroppedNodes(t *testing.T) {
	src := read(t, foundSize).Graph
	require.NoError(t, graph.Lint(src).Err())
	dst := copied(src, func(_ *graph.Cursor, n *graph.Node, _ []*graph.Node) (*graph.Node, bool) {
		return nil, n.Name() == "nz"
	})
	require.NoError(t, graph.Lint(dst).Err(), "%s", dst)
	require.Len(t, dst.Guards(), 1)
	require.Equal(t, "K is large", dst.Specialisations()[0].What)
}

// The structure of the copy's output is the copy's.
func TestCopier_structureIsItsOwn(t *testing.T) {
	src := read(t, "graph g(%x: f32[2]) {\n  return {\"a\": %x}\n}\n").Graph
	dst := copied(src, nil)
	src.Output().Structure().Keys[0] = "b"
	require.Equal(t, "a", dst.Output().Structure().Keys[0])
}

// What is made in the place of a node has what is told about that, as what a Cursor makes.
func TestCopier_handsOnInheritedKeys(t *testing.T) {
	told := graph.NewInheritedKey[string]("told")
	src := read(t, "graph g(%x: f32[2]) {\n  %y = call_function[neg](%x)\n  return %y\n}\n").Graph
	told.Set(src.Find("y"), "of y")
	dst := copied(src, func(c *graph.Cursor, n *graph.Node, args []*graph.Node) (*graph.Node, bool) {
		if n.Op() != std.Neg {
			return nil, false
		}
		return c.Function(std.Exp, nil, c.Function(std.Relu, nil, args...)), false
	})
	for _, name := range []string{"relu", "exp"} {
		v, ok := told.Get(dst.Find(name))
		require.True(t, ok, name)
		require.Equal(t, "of y", v)
	}
}

// A size that only a run finds keeps its symbol where the type is inferred again.
func TestCopier_keepsFoundSizes(t *testing.T) {
	src := read(t, `graph g(%x: f32[N]) {
  symbol N = dim(%x, 0)
  %nz = call_function[github.com/gofx-dev/gofx/graph.nonzero](%x) : i64[K,1]
  symbol K = dim(%nz, 0)
  %y = call_function[cast](%nz) {dtype=f32} : f32[K,1]
  return %y
}
`).Graph
	dst := copied(src, func(c *graph.Cursor, n *graph.Node, args []*graph.Node) (*graph.Node, bool) {
		if n.Opcode() != graph.Placeholder {
			return nil, false
		}
		x := c.Placeholder(n.Target(), n.Type(), nil)
		return c.Function(std.Cast, std.CastAttrs{DType: array.F64}, x), false
	})
	require.NoError(t, graph.Lint(dst).Err(), "%s", dst)
	require.Equal(t, "i64[K,1]", dst.Find("nz").Type().String())
	require.Equal(t, "f32[K,1]", dst.Find("y").Type().String())
}

// A node that knows where it comes from keeps that, also at a cursor with a line of a text.
func TestInline_keepsPositions(t *testing.T) {
	src := graph.New("made")
	c := src.At()
	c.SetPos(src.Position(0, 4))
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), nil)
	y := c.Function(std.Neg, nil, x)
	c.Output(nil, y)
	require.Contains(t, y.Pos().File, "copy_test.go")
	m := read(t, "graph g(%x: f32[2]) {\n  %y = call_function[neg](%x) at \"model.go:7\"\n  return %y\n}\n")
	at := m.Graph.Find("y")
	require.Equal(t, "model.go", at.Pos().File)
	got := m.Graph.After(at).Inline(src, []*graph.Node{at})[0]
	require.Equal(t, y.Pos(), got.Pos())
}

// What is told about a call is told about all that comes in its place, side data of its own or not.
func TestInline_handsOnInheritedKeys(t *testing.T) {
	told, label := graph.NewInheritedKey[string]("told"), graph.NewKey[string]("label")
	m := read(t, "graph g(%x: f32[2]) {\n  %y = call_function[neg](%x)\n  return %y\n}\n")
	src := read(t, "graph s(%x: f32[2]) {\n  %a = call_function[exp](%x)\n  %b = call_function[relu](%a)\n  return %b\n}\n").Graph
	label.Set(src.Find("b"), "own")
	y := m.Graph.Find("y")
	told.Set(y, "of y")
	m.Graph.After(y).Inline(src, []*graph.Node{y})
	for _, name := range []string{"a", "b"} {
		v, ok := told.Get(m.Graph.Find(name))
		require.True(t, ok, name)
		require.Equal(t, "of y", v)
	}
	v, _ := label.Get(m.Graph.Find("b"))
	require.Equal(t, "own", v)
}

// Outline and Inline leave scopes and lines as they were, in bodies as well.
func TestInline_scopesOfBodies(t *testing.T) {
	m := read(t, `graph g(%p: bool[], %x: f32[2]) {
  %c = call_function[cond](%p, %x) : (f32[2]) in "layer" {
    region yes(%a: f32[2]) {
      %s = call_function[neg](%a) : f32[2] in "layer"
      return (%s)
    }
    region no(%a: f32[2]) {
      %n = call_function[exp](%a) : f32[2] in "layer.inner"
      return (%n)
    }
  }
  %y = call_function[getitem](%c) {index=0} : f32[2] in "layer"
  return %y
}
`)
	before := graph.Print(m, graph.PrintOptions{})
	scopes := func() map[string]string {
		all := map[string]string{}
		for n := range m.Graph.All() {
			if n.Opcode().IsCall() {
				all[n.Name()] = n.Scope().Path
			}
		}
		return all
	}
	want := scopes()
	call, err := graph.Outline("part", []*graph.Node{m.Graph.Find("c")})
	require.NoError(t, err)
	_, err = graph.Inline(call)
	require.NoError(t, err)
	require.Equal(t, want, scopes(), "%s", before)
}

// A module's scope of the root has no path to be put below another.
func TestInline_scopeWithoutPath(t *testing.T) {
	m := read(t, "graph g(%x: f32[2]) {\n  %y = call_function[call](%x) {graph=\"s\"} : f32[2] in \"layer\"\n  return %y\n}\nsubgraph s(%x: f32[2]) {\n  %a = call_function[exp](%x)\n  return %a\n}\n")
	a := m.Sub("s").Find("a")
	c := m.Sub("s").Before(a)
	c.SetScope(m.Sub("s").Scope(graph.Scope{Type: "pkg.Layer"}))
	n := c.Function(std.Neg, nil, a.Arg(0))
	a.SetArg(0, n)
	_, err := graph.Inline(m.Graph.Find("y"))
	require.NoError(t, err)
	require.Equal(t, "layer", m.Graph.Find("neg").Scope().Path)
}

// A size that a value has already gets no second symbol.
func TestGraphCopy_definesNoSymbolInVain(t *testing.T) {
	m := read(t, "graph g(%x: f32[N]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[cast](%x) {dtype=i64} : i64[N]\n  %z = call_function[reshape](%y) {shape=[N,1]} : i64[N,1]\n  return %z\n}\n")
	src := read(t, foundSize).Graph
	src.Output().SetArg(0, src.Find("nz"))
	values := map[*graph.Node]*graph.Node{src.Find("x"): m.Graph.Find("x"), src.Find("nz"): m.Graph.Find("z")}
	m.Graph.Before(m.Graph.Output()).GraphCopy(src, values)
	require.Len(t, m.Graph.Symbols(), 1, "%s", m)
}

// A size that is not known is no guard.
func TestInline_guardOfAbsentInput(t *testing.T) {
	m := read(t, "graph g(%x: f32[2]) {\n  %y = call_function[neg](%x)\n  return %y\n}\n")
	src := read(t, "graph s(%x: f32[2], %y: f32[N]) {\n  symbol N = dim(%y, 0)\n  guard N >= 3\n  guard N == 4\n  %a = call_function[exp](%x)\n  return %a\n}\n").Graph
	m.Graph.Before(m.Graph.Output()).Inline(src, []*graph.Node{m.Graph.Find("y"), nil})
	require.Empty(t, m.Graph.Guards(), "%s", m)
}

// A size of a region of the copied graph is not taken for a size of the graph that has the copy.
func TestInline_symbolsOfBodiesStayApart(t *testing.T) {
	src := read(t, `graph s(%x: f32[N], %rows: f32[3,M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%rows, 1)
  %s = call_function[scan](%x, %rows) {carry=1, seqs=1} : (f32[N]) {
    region body(%a: f32[N], %row: f32[M]) {
      %nz = call_function[github.com/gofx-dev/gofx/graph.nonzero](%row) : i64[K,1]
      symbol K = dim(%nz, 0)
      %z = call_function[ones]() {size=[N,K]} : f32[N,K]
      %b = call_function[sum](%z) {dim=[1]} : f32[N]
      %c = call_function[add](%a, %b) : f32[N]
      return (%c)
    }
  }
  %s0 = call_function[getitem](%s) {index=0} : f32[N]
  return %s0
}
`).Graph
	require.NoError(t, graph.Lint(src).Err())
	m := read(t, "graph g(%x: f32[K], %rows: f32[3,J]) {\n  symbol K = dim(%x, 0)\n  symbol J = dim(%rows, 1)\n  %y = call_function[neg](%x) : f32[K]\n  return %y\n}\n")
	g := m.Graph
	out := g.Before(g.Output()).Inline(src, []*graph.Node{g.Find("y"), g.Find("rows")})[0]
	g.Output().SetArg(0, out)
	require.Equal(t, "f32[K]", out.Type().String())
	z := g.Find("s").Regions()[0].Find("z")
	require.NotEqual(t, z.Type().Dim(0), z.Type().Dim(1), "%s", m)
	require.NoError(t, graph.Lint(g).Err(), "%s", m)
}

// A fresh size of a region does not hide one of the graph around.
func TestNewSymbol_isFreshInBodies(t *testing.T) {
	m := read(t, `graph g(%p: bool[], %x: f32[s0]) {
  symbol s0 = dim(%x, 0)
  %c = call_function[cond](%p, %x) : (f32[s0]) {
    region yes(%a: f32[s0]) {
      %s = call_function[neg](%a) : f32[s0]
      return (%s)
    }
    region no(%a: f32[s0]) {
      return (%a)
    }
  }
  %y = call_function[getitem](%c) {index=0} : f32[s0]
  return %y
}
`)
	r := m.Graph.Find("c").Regions()[0]
	src := read(t, foundSize).Graph
	r.Before(r.Output()).Inline(src, []*graph.Node{r.Find("s")})
	require.Equal(t, "i64[s1,1]", r.Find("nz").Type().String(), "%s", m)
}

// What was fixed during capture stays noted, in bodies as well.
func TestExtract_keepsNotesOfBodies(t *testing.T) {
	m := read(t, `graph g(%p: bool[], %x: f32[N]) {
  symbol N = dim(%x, 0)
  %c = call_function[cond](%p, %x) : (f32[N]) {
    region yes(%a: f32[N]) {
      note "a was large"
      return (%a)
    }
    region no(%a: f32[N]) {
      return (%a)
    }
  }
  %y = call_function[getitem](%c) {index=0} : f32[N]
  return %y
}
`)
	part, err := graph.Extract(m.Graph.Inputs(), []*graph.Node{m.Graph.Find("y")})
	require.NoError(t, err)
	require.Len(t, part.Graph.Find("c").Regions()[0].Specialisations(), 1, "%s", part)
}

// Operands that are made later are operands of the copy as well.
func TestInline_keepsLateOperands(t *testing.T) {
	src := read(t, "graph s(%x: f32[2]) {\n  %a = call_function[exp](%x)\n  %b = call_function[relu](%a)\n  return %b\n}\n").Graph
	src.MoveBefore(src.Find("b"), src.Find("a"))
	m := read(t, "graph g(%x: f32[2]) {\n  %y = call_function[neg](%x)\n  return %y\n}\n")
	out := m.Graph.Before(m.Graph.Output()).Inline(src, []*graph.Node{m.Graph.Find("y")})[0]
	require.Equal(t, m.Graph.Find("a"), out.Arg(0), "%s", m)
}

// The state of a sub-graph comes below the name of the graph that is taken in.
func TestInline_stateOfSubgraphs(t *testing.T) {
	m := read(t, "graph g(%x: f32[2]) {\n  %y = call_function[neg](%x)\n  return %y\n}\n")
	src := read(t, `graph net(%x: f32[2]) {
  %y = call_function[call](%x) {graph="part"} : f32[2]
  return %y
}
subgraph part(%x: f32[2]) {
  %w = get_attr[w] : f32[2]
  %a = call_function[add](%x, %w) : f32[2]
  return %a
}
param w : f32[2]
`)
	src.SetParam(graph.Param{Path: "w", Value: array.New(array.F32, 2)})
	m.Graph.Before(m.Graph.Output()).Inline(src.Graph, []*graph.Node{m.Graph.Find("y")})
	require.NotNil(t, m.Param("net.w"), "%s", m)
}

// A note of a sub-graph is taken in once, however often that is called.
func TestInline_notesOnce(t *testing.T) {
	m := read(t, `graph g(%x: f32[2]) {
  %y = call_function[call](%x) {graph="s"} : f32[2]
  %z = call_function[call](%y) {graph="s"} : f32[2]
  return %z
}
subgraph s(%x: f32[2]) {
  note "n was 2"
  %a = call_function[exp](%x) : f32[2]
  return %a
}
`)
	inlineAll(t, m)
	require.Len(t, m.Graph.Specialisations(), 1, "%s", m)
}

// A Linter that watches sees symbols go.
func TestOutline_tellsLintersOfSymbols(t *testing.T) {
	m := read(t, foundSize)
	g := m.Graph
	out := g.Before(g.Output()).Function(std.Cast, std.CastAttrs{DType: array.F32}, g.Find("nz"))
	l := graph.NewLinter(g)
	defer l.Close()
	require.Empty(t, l.Check())
	_, err := graph.Outline("part", []*graph.Node{g.Find("nz"), out})
	require.NoError(t, err)
	require.Equal(t, graph.Lint(g), l.Check())
	g.Find("y").SetType(shape.TensorType(array.F32, shape.Of(shape.Sym("K"))))
	require.Equal(t, graph.Lint(g).Err().Error(), l.Check().Err().Error())
}
