package gpu_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
)

// written sets all elements of an array, as training does.
func written(a *array.Array, x float64) {
	for i := range a.Len() {
		array.SetFloat64At(a, i, x)
	}
	a.Storage().Bump()
}

// TestWrittenWeightsAreCopiedAgain: with what was packed of them, for all sizes that are lowered.
func TestWrittenWeightsAreCopiedAgain(t *testing.T) {
	g := target(t)
	m := parsed(t, mlp)
	e := compile(t, g, m)
	for i, w := range []string{"fc.bias", "fc.weight", "fc.bias", "fc.weight"} {
		for _, n := range []int{2, 3, 2} {
			got, err := e.Run(ctx, []*array.Array{ramp(n, 8)})
			require.NoError(t, err)
			fxtest.Close(t, "mlp", interpreted(t, m, ramp(n, 8)), got)
		}
		written(m.Param(w).Value, float64(i)+0.5)
	}
	require.Equal(t, 2, e.Stats().Sizes.Misses, "nothing is lowered again")

	var all sync.WaitGroup // a run has the weights of before or after, as a whole
	for range 4 {
		all.Go(func() {
			for range 8 {
				got, err := e.Run(ctx, []*array.Array{ramp(2, 8)})
				if err != nil || len(got) != 1 {
					t.Error(err)
				}
			}
		})
	}
	for range 8 {
		m.Param("fc.bias").Value.Storage().Bump()
	}
	all.Wait()
}

// TestLiveWeightsAreReadAtEachRun: those of the module that was compiled, which must fit.
func TestLiveWeightsAreReadAtEachRun(t *testing.T) {
	g := target(t)
	m := parsed(t, `gofx 1
graph live(%x: f32[4]) {
  %w = get_attr[w] live : f32[4]
  %y = call_function[add](%x, %w) : f32[4]
  return %y
}
param w : f32[4]
`)
	e, err := g.Compile(m, lowering.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	in := []*array.Array{ramp(4)}
	run := func(w *array.Array) ([]*array.Array, error) {
		m.SetParam(graph.Param{Path: "w", Value: w})
		return e.Run(ctx, in)
	}
	for _, w := range []*array.Array{ramp(4), array.FromSlice([]float32{7, 6, 5, 4})} {
		got, err := run(w)
		require.NoError(t, err)
		fxtest.Close(t, "live", interpreted(t, m, in...), got)
	}
	for _, w := range []*array.Array{ramp(5), ramp(2), array.FromSlice([]int64{1, 2, 3, 4}), nil} {
		_, err := run(w)
		require.ErrorIs(t, err, interp.GuardFailed)
	}
	got, err := run(ramp(4))
	require.NoError(t, err)
	fxtest.Close(t, "live", interpreted(t, m, in...), got)
}
