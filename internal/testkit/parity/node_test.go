package parity

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
)

func init() { area("2.2", nodeRows, userRows) }

var nodeRows = []row{
	{id: "42a", input: "`Rename(\"add_1\")` next to `add_1`, a copy into the same graph, `Rename(\"a b\")`, `Rename(\"7\")`",
		outcome: "names are unique, and letters, digits and `_` alone", on: in((*graph.Node).Rename, (*graph.Cursor).Inline), test: func(t *testing.T) {
			g := parse(t, chain).Graph
			g.Find("a").Rename("add_1")
			g.Find("b").Rename("add_1")
			require.Equal(t, "add_2", g.Output().Prev().Prev().Name())
			g.Before(g.Output()).Inline(parse(t, chain).Graph, g.Inputs())
			g.Find("c").Rename("a b")
			g.Find("c_1").Rename("7")
			require.NotNil(t, g.Find("a_b"))
			require.NotNil(t, g.Find("_7"))
			seen := map[string]bool{}
			for n := range g.Nodes() {
				require.False(t, seen[n.Name()])
				seen[n.Name()] = true
			}
		}},
	{id: "43", input: "operands of `add(%x, %x)` and `where(%c, %x, %y)`", outcome: "each operand once, in order of first use",
		on: in((*graph.Node).Inputs), test: func(t *testing.T) {
			g := parse(t, "graph g(%x: f32[2], %c: bool[2]) {\n  %a = call_function[add](%x, %x)\n  %w = call_function[where](%c, %a, %x)\n  return %w\n}").Graph
			require.Equal(t, []*graph.Node{g.Find("x")}, slices.Collect(g.Find("a").Inputs()))
			require.Equal(t, []*graph.Node{g.Find("c"), g.Find("a"), g.Find("x")}, slices.Collect(g.Find("w").Inputs()))
		}},
	{id: "48a", input: "three calls through one cursor before a node, two through cursors after it", outcome: "calls of one cursor keep their order",
		on: in((*graph.Graph).Before, (*graph.Graph).After), test: func(t *testing.T) {
			g := parse(t, chain).Graph
			b := g.Find("b")
			before := g.Before(b)
			for _, name := range []string{"p", "q", "r"} {
				before.Function(std.Neg, nil, g.Find("a")).Rename(name)
			}
			after := g.After(b)
			after.Function(std.Neg, nil, b).Rename("s")
			after.Function(std.Neg, nil, b).Rename("u")
			require.Equal(t, "x a p q r b s u c output", order(g))
		}},
	{id: "48b", input: "`Prepend`, `Append`, and a move to where the node is", outcome: "the node stands there; nothing happens",
		on: in((*graph.Node).Prepend, (*graph.Node).Append), test: func(t *testing.T) {
			g := parse(t, chain).Graph
			n := g.Before(g.Output()).Function(std.Neg, nil, g.Find("x"))
			require.NoError(t, g.Find("a").Prepend(n))
			require.Equal(t, "x neg a b c output", order(g))
			require.NoError(t, n.Prepend(n))
			require.NoError(t, g.Find("b").Append(n))
			require.NoError(t, g.Find("b").Append(n))
			require.Equal(t, "x a b neg c output", order(g))
		}},
	{id: "48c", input: "a move of a node past its operand, and past its user", outcome: "refused with FX3004, nothing moves",
		on: in((*graph.Node).Prepend, (*graph.Node).Append), test: func(t *testing.T) {
			g := parse(t, chain).Graph
			require.ErrorIs(t, g.Find("a").Prepend(g.Find("b")), graph.BrokenOrder)
			require.ErrorIs(t, g.Find("c").Append(g.Find("a")), graph.BrokenOrder)
			require.Equal(t, "x a b c output", order(g))
		}},
	{id: "49", input: "a node that is moved there and back, its graph dropped", outcome: "its memory is free", on: in((*graph.Node).Append), test: func(t *testing.T) {
		p := func() weak.Pointer[graph.Node] {
			g := parse(t, chain).Graph
			n := g.Before(g.Output()).Function(std.Neg, nil, g.Find("x"))
			for range 100 {
				require.NoError(t, g.Find("a").Prepend(n))
				require.NoError(t, g.Find("c").Append(n))
				require.True(t, g.Find("c").Next() == n)
			}
			return weak.Make(n)
		}()
		runtime.GC()
		require.Nil(t, p.Value())
	}},
	{id: "51", input: "the operands that `Args` returned are overwritten", outcome: "the node has the operands that it had", on: in((*graph.Node).Args), test: func(t *testing.T) {
		g := parse(t, chain).Graph
		args := g.Find("c").Args()
		require.Equal(t, []*graph.Node{g.Find("b"), g.Find("a")}, args)
		args[0] = nil
		require.True(t, g.Find("c").Arg(0) == g.Find("b"))
		require.Empty(t, graph.Lint(g))
	}},
	{id: "56", input: "`Function` with attributes of another operator, and with too few operands", outcome: "refused when the node is made",
		on: in((*graph.Cursor).Function), test: func(t *testing.T) {
			g := parse(t, chain).Graph
			c := g.Before(g.Output())
			require.Panics(t, func() { c.Function(std.Neg, std.ReduceAttrs{}, g.Find("a")) })
			require.Panics(t, func() { c.Function(std.Add, nil, g.Find("a")) })
			var errs []error
			c.OnError = func(err error) { errs = append(errs, err) }
			c.Function(std.Add, nil, g.Find("a"))
			require.Len(t, errs, 1)
		}},
	{id: "57", input: "`node.next = ...` and other private fields", none: "fields of a node are not exported: the compiler refuses"},
	{id: "58", input: "a key set on a node, the graph copied", outcome: "both have the value; later ones are apart", on: in(graph.Key[string].Set, graph.Key[string].Get, graph.Clone), test: func(t *testing.T) {
		tag := graph.NewKey[string]("tag")
		m := parse(t, chain)
		tag.Set(m.Graph.Find("a"), "here")
		c := graph.Clone(m)
		tag.Set(m.Graph.Find("a"), "changed")
		have, ok := tag.Get(c.Graph.Find("a"))
		require.True(t, ok)
		require.Equal(t, "here", have)
		_, ok = tag.Get(c.Graph.Find("b"))
		require.False(t, ok)
	}},
	{id: "59a", input: "`Text` of calls of an operator, a method, a module and a parameter", outcome: "the line of the text form", on: in((*graph.Node).Text), test: func(t *testing.T) {
		g := linear(t).Graph
		require.Equal(t, "%fc = call_module[fc](%x) : f32[N,2] in \"fc\" \"nn.Linear\"", g.Find("fc").Text())
		require.Equal(t, "%w = get_attr[scale] : f32[2]", g.Find("w").Text())
		n := g.Before(g.Output()).Method(std.Transpose, std.TransposeAttrs{Dim0: 1}, g.Find("y"))
		require.Equal(t, "%transpose = call_method[transpose](%y) {dim0=1} : f32[2,N]", n.Text())
	}},
	{id: "60", input: "1,000 calls inserted at one place", outcome: "`Precedes` says the order of the list, both ways", on: in((*graph.Node).Precedes), test: func(t *testing.T) {
		g := parse(t, chain).Graph
		for range 1000 {
			g.After(g.Find("a")).Function(std.Neg, nil, g.Find("a"))
		}
		list := slices.Collect(g.Nodes())
		for i := 1; i < len(list); i++ {
			require.True(t, list[i-1].Precedes(list[i]))
			require.False(t, list[i].Precedes(list[i-1]))
		}
	}},
	{id: "64", input: "nodes erased, the current one and the one after it, and others inserted, in a loop over `Nodes`", outcome: "the loop goes on with the present nodes",
		on: in((*graph.Graph).Nodes, (*graph.Graph).Erase), test: func(t *testing.T) {
			g := parse(t, chain).Graph
			for range 6 {
				g.Before(g.Output()).Function(std.Neg, nil, g.Find("c"))
			}
			seen := 0
			for n := range g.Nodes() {
				if strings.HasPrefix(n.Name(), "neg") {
					seen++
					require.NoError(t, g.Erase(n.Next()))
					require.NoError(t, g.Erase(n))
				}
			}
			require.Equal(t, 3, seen)
			require.Equal(t, "x a b c output", order(g))
		}},
}

// order lists the names of the nodes.
func order(g *graph.Graph) string {
	var list []string
	for n := range g.Nodes() {
		list = append(list, n.Name())
	}
	return strings.Join(list, " ")
}
