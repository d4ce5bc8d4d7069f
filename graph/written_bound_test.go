package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
)

// TestWrittenSizesDemandThatNothingIsCut: texts say N-4 of what has N-min(N,4) elements. That is
// a guard, and no other size.
func TestWrittenSizesDemandThatNothingIsCut(t *testing.T) {
	text := func(written string) string {
		return "gofx 1\n\ngraph g(%x: f32[N]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[slice](%x) {start=2, stop=-2} : f32[" + written + "]\n  %z = call_function[neg](%y) : f32[" + written + "]\n  return %z\n}\n"
	}
	m, err := graph.Parse([]byte(text("N-4")), "g.fx")
	require.NoError(t, err)
	require.Len(t, m.Graph.Guards(), 1)
	require.Equal(t, "N >= 4", m.Graph.Guards()[0].Relation.String())
	require.NoError(t, graph.Lint(m.Graph).Err())
	again, err := graph.Parse([]byte(m.String()), "g.fx")
	require.NoError(t, err)
	require.Equal(t, m.String(), again.String())
	require.Len(t, again.Graph.Guards(), 1)

	m, err = graph.Parse([]byte(text("N-min(N,4)")), "g.fx")
	require.NoError(t, err)
	require.Empty(t, m.Graph.Guards())

	for _, wrong := range []string{"N-3", "N", "4", "M"} {
		_, err := graph.Parse([]byte(text(wrong)), "g.fx")
		require.Error(t, err, wrong)
	}
}
