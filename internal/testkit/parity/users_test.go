package parity

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
)

// users lists the names of the users of a node.
func users(g *graph.Graph, name string) []string {
	var list []string
	for u := range g.Find(name).Users() {
		list = append(list, u.Name())
	}
	return list
}

var userRows = []row{
	{id: "44a", input: "`SetArg` of `%c`'s operand 0 from `%b` to `%x`", outcome: "`%b` has no users, `%x` has `%c` as the last one", on: in((*graph.Node).SetArg, (*graph.Node).Users), test: func(t *testing.T) {
		g := parse(t, chain).Graph
		g.Find("c").SetArg(0, g.Find("x"))
		require.Empty(t, users(g, "b"))
		require.Equal(t, []string{"a", "c"}, users(g, "x"))
		require.Empty(t, graph.Lint(g))
	}},
	{id: "44b", input: "`SetArgs` with the operands exchanged, and with others", outcome: "users follow; each user is there once", on: in((*graph.Node).SetArgs), test: func(t *testing.T) {
		g := parse(t, chain).Graph
		c := g.Find("c")
		c.SetArgs(g.Find("a"), g.Find("b"))
		require.Equal(t, []*graph.Node{g.Find("a"), g.Find("b")}, c.Args())
		c.SetArgs(g.Find("a"), g.Find("a"))
		require.Equal(t, []string{"b", "c"}, users(g, "a"))
		require.Equal(t, 3, g.Find("a").NumUses())
		require.Empty(t, users(g, "b"))
		require.Empty(t, graph.Lint(g))
	}},
	{id: "44c", input: "a node erased", outcome: "its operands lose the user", on: in((*graph.Graph).Erase), test: func(t *testing.T) {
		g := parse(t, chain).Graph
		n := g.Before(g.Output()).Function(std.Neg, nil, g.Find("b"))
		require.Equal(t, []string{"c", "neg"}, users(g, "b"))
		require.NoError(t, g.Erase(n))
		require.Equal(t, []string{"c"}, users(g, "b"))
		require.True(t, n.Erased())
	}},
	{id: "45", input: "`ReplaceUses` of `%a` by `%x` for `%c` alone, then for all", outcome: "`%b` keeps `%a`, then nobody uses `%a`; the number of uses is returned", on: in((*graph.Node).ReplaceUses), test: func(t *testing.T) {
		g := parse(t, chain).Graph
		a, x := g.Find("a"), g.Find("x")
		require.Equal(t, 1, a.ReplaceUses(x, func(u *graph.Node) bool { return u.Name() == "c" }))
		require.Equal(t, []string{"b"}, users(g, "a"))
		require.True(t, g.Find("c").Arg(1) == x)
		require.Equal(t, 1, a.ReplaceUses(x, nil))
		require.Zero(t, a.NumUses())
	}},
	{id: "45b", input: "`CopyMeta` to a node that stands for another one", outcome: "it has the keys of the other that it had not", on: in(graph.CopyMeta), test: func(t *testing.T) {
		one, two := graph.NewKey[int]("one"), graph.NewKey[int]("two")
		g := parse(t, chain).Graph
		one.Set(g.Find("a"), 1)
		two.Set(g.Find("a"), 2)
		two.Set(g.Find("b"), 3)
		graph.CopyMeta(g.Find("b"), g.Find("a"))
		v, _ := one.Get(g.Find("b"))
		require.Equal(t, 1, v)
		v, _ = two.Get(g.Find("b"))
		require.Equal(t, 3, v)
	}},
	{id: "46", input: "`ReplaceInput` of `%a` by `%x` in `add(%a, %a)`", outcome: "both slots; other users keep `%a`", on: in((*graph.Node).ReplaceInput), test: func(t *testing.T) {
		g := parse(t, chain).Graph
		c := g.Find("c")
		c.SetArg(0, g.Find("a"))
		require.Equal(t, 2, c.ReplaceInput(g.Find("a"), g.Find("x")))
		require.Equal(t, []string{"b"}, users(g, "a"))
		require.Zero(t, c.ReplaceInput(g.Find("a"), g.Find("x")))
	}},
	{id: "47", input: "`Erase` of a node with users, and of one that is erased", outcome: "refused with FX3001: how many uses, by which nodes", on: in((*graph.Graph).Erase), test: func(t *testing.T) {
		g := parse(t, chain).Graph
		err := g.Erase(g.Find("a"))
		require.ErrorIs(t, err, graph.EraseUsed)
		require.ErrorContains(t, err, "used 2 times, by %b, %c")
		n := g.Before(g.Output()).Function(std.Neg, nil, g.Find("b"))
		require.NoError(t, g.Erase(n))
		require.ErrorIs(t, g.Erase(n), graph.EraseUsed)
	}},
	{id: "50a", input: "`Inline` of a graph with two results", outcome: "a node for each result; the graph stays as it is", on: in((*graph.Cursor).Inline), test: func(t *testing.T) {
		from := parse(t, "graph two(%p: f32[2], %q: f32[2]) {\n  %s = call_function[sub](%p, %q)\n  %n = call_function[neg](%p)\n  return %s, %n\n}").Graph
		text := from.String()
		m := parse(t, chain)
		out := m.Graph.Before(m.Graph.Output()).Inline(from, []*graph.Node{m.Graph.Find("c"), m.Graph.Find("x")})
		require.Len(t, out, 2)
		m.Graph.Output().SetArg(0, m.Graph.Before(m.Graph.Output()).Function(std.Add, nil, out...))
		require.InDeltaSlice(t, []float32{-2, -1}, values(t, m, vector(2, 1)), 1e-6, "c - x - c")
		require.Equal(t, text, from.String())
	}},
	{id: "50b", input: "`GraphCopy` with values for the input and for a call", outcome: "what has a value is not copied; the map has the copies", on: in((*graph.Cursor).GraphCopy), test: func(t *testing.T) {
		from, to := parse(t, chain).Graph, parse(t, chain).Graph
		values := map[*graph.Node]*graph.Node{from.Find("x"): to.Find("x"), from.Find("a"): to.Find("a")}
		size := to.Len()
		out := to.Before(to.Output()).GraphCopy(from, values)
		require.Equal(t, size+2, to.Len())
		require.True(t, values[from.Find("c")] == out[0])
		require.True(t, out[0].Arg(1) == to.Find("a"))
	}},
	{id: "54", input: "an `Index`, then nodes erased, made, and another operator set", outcome: "it finds the present nodes, in the order of the graph", on: in(graph.NewIndex, (*graph.Index).Calls, (*graph.Index).Named, (*graph.Index).Targets), test: func(t *testing.T) {
		m := linear(t)
		g := m.Graph
		x := graph.NewIndex(g)
		defer x.Close()
		require.Equal(t, []*graph.Node{g.Find("fc")}, x.Calls(std.Linear))
		require.Equal(t, []*graph.Node{g.Find("w")}, x.Targets(graph.GetAttr, "scale"))
		late := g.Before(g.Output()).Function(std.Neg, nil, g.Find("y"))
		early := g.After(g.Find("fc")).Function(std.Neg, nil, g.Find("fc"))
		require.Equal(t, []*graph.Node{early, late}, x.Calls(std.Neg))
		require.NoError(t, g.Erase(early))
		require.Equal(t, []*graph.Node{late}, x.Calls(std.Neg))
		late.Rename("last")
		require.True(t, x.Named("last") == late)
		g.Find("fc").ToFunction(g.Before(g.Find("fc")).GetAttr("fc.weight"))
		require.Empty(t, x.Targets(graph.CallModule, "fc"))
		require.Len(t, x.Calls(std.Linear), 1)
	}},
	{id: "61", input: "a listener, a node made, replaced and erased, the listener stopped", outcome: "it is told of each, and of nothing after its end", on: in((*graph.Graph).Listen), test: func(t *testing.T) {
		g := parse(t, chain).Graph
		var told []string
		stop := g.Listen(graph.Listener{
			Created:  func(n *graph.Node) { told = append(told, "created "+n.Name()) },
			Erased:   func(n *graph.Node) { told = append(told, "erased "+n.Name()) },
			Replaced: func(old, by *graph.Node) { told = append(told, old.Name()+" by "+by.Name()) },
		})
		b := g.Find("b")
		b.ReplaceUses(g.After(b).Function(std.Neg, nil, b.Arg(0)), nil)
		require.NoError(t, g.Erase(b))
		stop()
		require.NoError(t, g.Erase(g.Output()))
		require.Equal(t, []string{"created neg", "b by neg", "erased b"}, told)
	}},
	{id: "63", input: "`InsertArg` of `%a` between two operands, one of them `%a`, and far out of range", outcome: "users are right, `%a`'s user is there once; refused", on: in((*graph.Node).InsertArg), test: func(t *testing.T) {
		g := parse(t, "graph g(%a: f32[2], %b: f32[2]) {\n  %c = call_function[cat](%a, %b)\n  return %c\n}").Graph
		a, c := g.Find("a"), g.Find("c")
		c.InsertArg(1, a)
		require.Equal(t, []*graph.Node{a, a, g.Find("b")}, c.Args())
		require.Equal(t, []*graph.Node{c}, slices.Collect(a.Users()))
		require.Equal(t, 2, a.NumUses())
		c.InsertArg(3, a)
		require.Panics(t, func() { c.InsertArg(5, a) })
		require.NoError(t, c.Infer())
		require.Equal(t, "f32[8]", c.Type().String())
	}},
}
