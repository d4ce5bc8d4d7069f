package gpu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/passes"
)

// special are numbers that operators treat in ways of their own, or nearly overflow.
var special = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), 0, 1e-40, -1e10, 65536}

// TestWideGraphs: graphs over all operators, every second one with special numbers in its inputs.
func TestWideGraphs(t *testing.T) {
	g := target(t)
	count := 3
	if fxtest.IsNightly() {
		count = 60
	}
	graphs := rapid.Custom(fxtest.WideGraph(func(n *graph.Node) bool { ok, _ := g.Supports(n); return ok }))
	for k := range count {
		m := graphs.Example(k)
		in, err := passes.Inputs(m.Graph, map[string]int{"N": 3}, uint64(k))
		require.NoError(t, err)
		if k%2 == 1 {
			r := rand.New(rand.NewPCG(uint64(k), 1))
			for _, a := range in {
				for i, x := range array.Data[float32](a) {
					if r.IntN(6) == 0 {
						x = special[r.IntN(len(special))]
					}
					array.Data[float32](a)[i] = x
				}
			}
		}
		want, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
		e := compile(t, g, m)
		got, failed := e.Run(ctx, in)
		require.Equal(t, err == nil, failed == nil, "%v, %v: %s", err, failed, m.Graph)
		if err == nil {
			require.Empty(t, fxtest.CloseWide(m.Graph, want, got), "%d: %s", k, m.Graph)
		}
	}
}
