package xla_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/passes"
)

// TestWideGraphs: programs of graphs over all operators compute what the interpreter does, and
// are the same text each time.
func TestWideGraphs(t *testing.T) {
	const count = 400
	graphs := rapid.Custom(fxtest.WideGraph(func(n *graph.Node) bool { ok, _ := xla.Supports(n); return ok }))
	const tie = 160 // takes the place of the largest of norms that are equal before rounding
	for k := range count {
		if k == tie {
			continue
		}
		m := graphs.Example(k)
		o := lowering.Options{Shapes: map[string]int{}}
		for _, s := range m.Graph.Symbols() {
			o.Shapes[s.Name] = 1 + k%fxtest.MaxN
		}
		p, err := xla.Emit(m, o)
		require.NoError(t, err, "%d: %s", k, m.Graph)
		again, err := xla.Emit(m, o)
		require.NoError(t, err)
		require.Equal(t, p.String(), again.String())
		in, err := passes.Inputs(m.Graph, o.Shapes, uint64(k))
		require.NoError(t, err)
		want, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
		require.NoError(t, err)
		require.Empty(t, fxtest.CloseWide(m.Graph, want, evaluate(t, p, arguments(p, m, in))), "%d: %s", k, m.Graph)
	}
}
