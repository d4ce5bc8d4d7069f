package gpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/internal/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/passes"
)

// TestRandomGraphs: graphs that are drawn compute what the interpreter does, for two sizes each.
func TestRandomGraphs(t *testing.T) {
	g := target(t)
	count := 6
	if fxtest.IsNightly() {
		count = 400
	}
	graphs := rapid.Custom(fxtest.RandomGraph)
	for k := range count {
		m := graphs.Example(k)
		e, err := g.Compile(m, lowering.Options{})
		require.NoError(t, err, "%s", m.Graph)
		for _, n := range []int{1, 3} {
			in, err := passes.Inputs(m.Graph, map[string]int{"N": n}, uint64(k))
			require.NoError(t, err)
			got, err := e.Run(ctx, in)
			require.NoError(t, err, "%s", m.Graph)
			require.Empty(t, fxtest.CloseArrays(interpreted(t, m, in...), got), "%s", m.Graph)
		}
		require.NoError(t, e.Close())
	}
}
