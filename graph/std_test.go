package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// TestEveryOperatorRoundTrips calls every operator with the attributes and types
// of its samples, prints, reads and compares.
func TestEveryOperatorRoundTrips(t *testing.T) {
	calls := 0
	for _, o := range op.All() {
		for _, s := range o.Samples() {
			g := graph.New(o.Name)
			args := make([]*graph.Node, len(s.In))
			for i, a := range s.In {
				if a != nil {
					args[i] = g.At().Placeholder("x", shape.TypeOf(a), nil)
				}
			}
			g.At().Output(nil, g.At().Function(o, s.Attrs, args...))
			text := g.String()
			require.Empty(t, graph.Lint(g), text)
			m, err := graph.Parse([]byte(text), "t.fx")
			require.NoError(t, err, text)
			equal, diff := graph.Equal(g, m.Graph)
			require.True(t, equal, "%s\n%s", diff, text)
			require.Equal(t, text, m.Graph.String())
			calls++
		}
	}
	require.Greater(t, calls, 200)
}
