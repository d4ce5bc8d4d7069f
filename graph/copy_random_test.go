package graph_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/cases"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
)

// sameCopies copies a graph in every way that there is and compares with it.
func sameCopies(t require.TestingT, m *graph.Module) {
	all := graph.PrintOptions{Positions: true}
	require.Equal(t, graph.Print(m, all), graph.Print(graph.Clone(m), all))
	again := m.WithGraph(copied(m.Graph, nil)).Graph
	equal, diff := graph.Equal(m.Graph, again)
	require.True(t, equal, diff)
	at := again.First()
	for n := range m.Graph.Nodes() { // numbers of names may be others where they do not rise
		require.Equal(t, n.Stack(), at.Stack(), "%s", n)
		require.Equal(t, n.Scope(), at.Scope(), "%s", n)
		at = at.Next()
	}

	// In the place of its own nodes, with its inputs for its inputs.
	for _, values := range []bool{false, true} {
		c := m.WithGraph(m.Graph.Clone())
		from, out := m.Graph, c.Graph.Output()
		var results []*graph.Node
		if values {
			given := map[*graph.Node]*graph.Node{}
			for i, p := range from.Inputs() {
				given[p] = c.Graph.Inputs()[i]
			}
			results = c.Graph.Before(out).GraphCopy(from, given)
		} else {
			results = c.Graph.Before(out).Inline(from, c.Graph.Inputs())
		}
		out.SetArgs(results...)
		require.NoError(t, graph.Lint(c.Graph).Err(), "%s", c)
		require.Len(t, c.Params(), len(m.Params()), "the graphs are of one model")
	}

	var outputs []*graph.Node
	for _, a := range m.Graph.Output().Args() {
		if a == nil {
			return
		}
		outputs = append(outputs, a)
	}
	if len(outputs) == 0 {
		return
	}
	part, err := graph.Extract(m.Graph.Inputs(), outputs)
	if err != nil {
		require.ErrorIs(t, err, graph.BadExtract)
		return
	}
	for n := range part.Graph.All() {
		was := m.Graph.Find(n.Name())
		if was == nil || n.Graph() != part.Graph || n.Opcode() == graph.Output {
			continue
		}
		require.Equal(t, was.Type().String(), n.Type().String(), "%s", n)
		require.Equal(t, was.Scope(), n.Scope(), "%s", n)
		require.Equal(t, was.Stack(), n.Stack(), "%s", n)
	}
}

// Whichever way a graph is copied, it is the same graph.
func TestCopiesAreTheSame(t *testing.T) {
	fxtest.CheckTimes(t, 5, func(t *rapid.T) { sameCopies(t, fxtest.RandomGraph(t)) })
	for _, c := range cases.Everything() {
		m, err := c.Module(context.Background())
		require.NoError(t, err)
		t.Run(c.Name, func(t *testing.T) { sameCopies(t, m) })
	}
}
