package gpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/passes"
)

// TestRandomGraphs: graphs that are drawn compute what the interpreter does, for two sizes each.
func TestRandomGraphs(t *testing.T) {
	count := 6
	if fxtest.IsNightly() {
		count = 400
	}
	randomGraphs(t, count, fxtest.RandomGraph, target(t))
}

// TestRandomControl is TestRandomGraphs for graphs with branches and loops, on the device of the
// tests that compiles faster, as a GPU and as a processor in turns.
func TestRandomControl(t *testing.T) {
	count := 4
	if fxtest.IsNightly() {
		count = 300
	}
	g, l := onCUDA(t)
	randomGraphs(t, count, fxtest.RandomControl, g, gpu.Target{Device: gpu.Using(processor{l}), Cache: "-"})
}

func randomGraphs(t *testing.T, count int, draw func(t *rapid.T) *graph.Module, targets ...gpu.Target) {
	t.Helper()
	graphs := rapid.Custom(draw)
	for k := range count {
		m := graphs.Example(k)
		require.Empty(t, graph.Lint(m.Graph), "%s", m.Graph)
		e, err := targets[k%len(targets)].Compile(m, lowering.Options{})
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
