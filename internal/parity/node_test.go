package parity

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	_ "github.com/gofx-dev/gofx/op/std"
)

func init() { area("2.2", "Node and Graph", nodeRows) }

// parse reads a graph in the text form, without its first line.
func parse(t *testing.T, text string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\n"+text), "parity.fx")
	require.NoError(t, err)
	return m
}

var nodeRows = []row{
	{id: "43", input: "operands of `add(%x, %x)` and `where(%c, %x, %y)`", outcome: "each operand once, in order of first use",
		on: []any{(*graph.Node).Inputs}, test: func(t *testing.T) {
			g := parse(t, "graph g(%x: f32[2], %c: bool[2]) {\n  %a = call_function[add](%x, %x)\n  %w = call_function[where](%c, %a, %x)\n  return %w\n}").Graph
			require.Equal(t, []*graph.Node{g.Find("x")}, slices.Collect(g.Find("a").Inputs()))
			require.Equal(t, []*graph.Node{g.Find("c"), g.Find("a"), g.Find("x")}, slices.Collect(g.Find("w").Inputs()))
		}},
}
