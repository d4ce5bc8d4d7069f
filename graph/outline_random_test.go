package graph_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/passes"
)

func interpret(t require.TestingT, m *graph.Module, in []*array.Array) []*array.Array {
	p := interp.Interpreter{State: interp.NewState(m)}
	out, err := p.RunArrays(context.Background(), in)
	require.NoError(t, err)
	return out
}

// some draws a set of calls and reads of a graph: a stretch of it, with holes.
func some(t *rapid.T, g *graph.Graph) []*graph.Node {
	var all, set []*graph.Node
	for n := range g.Nodes() {
		if n.Opcode() != graph.Placeholder && n.Opcode() != graph.Output {
			all = append(all, n)
		}
	}
	from := rapid.IntRange(0, len(all)-1).Draw(t, "from")
	to := rapid.IntRange(from, len(all)-1).Draw(t, "to")
	holes := rapid.IntRange(0, 3).Draw(t, "holes")
	for _, n := range all[from : to+1] {
		if holes == 0 || rapid.IntRange(0, 3).Draw(t, "hole") > 0 {
			set = append(set, n)
		}
	}
	return append(set, all[from])
}

// What is outlined computes the same, prints and parses, and is the original graph
// again when it is inlined.
func TestOutlineRandom(t *testing.T) {
	outlined := 0
	property := func(t *rapid.T) {
		m := fxtest.RandomGraph(t)
		before := graph.Clone(m)
		sizes := map[string]int{"N": rapid.IntRange(1, fxtest.MaxN).Draw(t, "N")}
		in, err := passes.Inputs(m.Graph, sizes, rapid.Uint64().Draw(t, "seed"))
		require.NoError(t, err)
		want := interpret(t, before, in)
		calls := 0
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			call, err := graph.Outline("part", some(t, m.Graph))
			if err != nil {
				require.ErrorIs(t, err, graph.BadOutline)
				continue
			}
			require.NotNil(t, call.Callee())
			calls++
		}
		require.NoError(t, graph.Lint(m.Graph).Err(), "%s", m)
		if calls == 0 {
			equal, diff := graph.Equal(m.Graph, before.Graph)
			require.True(t, equal, diff)
			return
		}
		outlined++
		if d := fxtest.SameArrays(want, interpret(t, m, in)); d != "" {
			t.Fatalf("%s\n%s", d, m)
		}
		again, err := graph.Parse([]byte(m.String()), "again.fx")
		require.NoError(t, err, "%s", m)
		equal, diff := graph.EqualModules(again, m)
		require.True(t, equal, diff)
		require.Equal(t, graph.Hash(m.Graph), graph.Hash(again.Graph))
		require.Equal(t, m.String(), again.String())

		inlineAll(t, m)
		require.NoError(t, graph.Lint(m.Graph).Err(), "%s", m)
		equal, diff = graph.Equal(m.Graph, before.Graph)
		require.True(t, equal, "%s\n%s\n%s", diff, m, before)
		m.DropUnused()
		require.Empty(t, m.Subs())
	}
	fxtest.CheckTimes(t, 20, property) // 2,000 graphs
	require.Positive(t, outlined)
}

func inlineAll(t require.TestingT, m *graph.Module) {
	for again := true; again; {
		again = false
		for n := range m.Graph.All() {
			if n.Callee() != nil {
				_, err := graph.Inline(n)
				require.NoError(t, err)
				again = true
				break
			}
		}
	}
}
