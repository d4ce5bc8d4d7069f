package gpu_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
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
	randomGraphs(t, count, fxtest.RandomControl, g, gpu.Target{Device: run.NewDevice(processor{l}), Cache: "-"})
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
			require.Empty(t, fxtest.CloseArrays(asComputed(m, interpreted(t, m, in...)), asComputed(m, got)), "graph %d:\n%s", k, m.Graph)
		}
		require.NoError(t, e.Close())
	}
}

// asComputed returns results of a graph as exact as it computes: those of f64 as f32, if it
// computes in that anywhere.
func asComputed(m *graph.Module, list []*array.Array) []*array.Array {
	narrow := false
	for n := range m.Graph.All() {
		narrow = narrow || n.Type().Kind() == shape.Tensor && n.Type().DType() == array.F32 && n.Opcode().IsCall()
	}
	out := slices.Clone(list)
	for i, a := range list {
		if narrow && a != nil && a.DType() == array.F64 {
			out[i] = array.Cast(a, array.F32)
		}
	}
	return out
}
