package gpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// TestInto: results are in the arrays of their inputs after a run, which later runs read; on the
// device they lie in the memory of the inputs, crosswise here, and nothing is allocated.
func TestInto(t *testing.T) {
	d := &counting{Device: run.Driver(target(t).Device)}
	m := parsed(t, grow)
	cross := lowering.Options{Into: []lowering.Into{{Result: 0, Input: 1}, {Result: 1, Input: 0}}}
	e, err := gpu.Target{Device: run.NewDevice(d)}.Compile(m, cross)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	x, y := ramp(3, 8), ramp(3, 8)
	first := interpreted(t, m, x, y)
	second := interpreted(t, m, first[1], first[0])
	out, err := e.Run(ctx, []*array.Array{x, y})
	require.NoError(t, err)
	require.Same(t, y, out[0])
	require.Same(t, x, out[1])
	fxtest.Close(t, "once", first, out)
	version := x.Storage().Version()
	out, err = e.Run(ctx, []*array.Array{x, y})
	require.NoError(t, err)
	fxtest.Close(t, "twice", second, out)
	require.NotEqual(t, version, x.Storage().Version(), "who has packed it sees the write")

	r := e.(lowering.Resident)
	a, err := r.Put(ctx, ramp(3, 8))
	require.NoError(t, err)
	b, err := r.Put(ctx, ramp(3, 8))
	require.NoError(t, err)
	d.allocs = 0
	values, err := r.RunValues(ctx, []lowering.Value{a, b})
	require.NoError(t, err)
	require.Zero(t, d.allocs)
	_, err = a.Array(ctx)
	require.ErrorIs(t, err, lowering.Closed)
	for i, v := range values {
		got, err := v.Array(ctx)
		require.NoError(t, err)
		fxtest.Close(t, "values", first[i:i+1], []*array.Array{got})
		require.NoError(t, v.Close())
	}
}

// TestIntoIsRefused: what a run cannot do is said before it, and nothing is written.
func TestIntoIsRefused(t *testing.T) {
	g := target(t)
	_, err := g.Compile(parsed(t, "gofx 1\ngraph net(%x: f32[4]) {\n  %y = call_function[sum](%x) : f32[]\n  return %y\n}\n"), lowering.Options{Into: []lowering.Into{{}}})
	require.ErrorIs(t, err, lowering.BadOption)
	require.ErrorContains(t, err, "result 0 is f32[], the input that it is to be made in, \"x\", is f32[4]")
	e, err := g.Compile(parsed(t, grow), lowering.Options{Into: []lowering.Into{{}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	x := ramp(3, 8)
	before := array.Clone(x)
	_, err = e.Run(ctx, []*array.Array{x, x})
	require.ErrorIs(t, err, lowering.BadOutput)
	require.ErrorContains(t, err, "shares memory with another input")
	_, err = e.Run(ctx, []*array.Array{nil, x})
	require.ErrorIs(t, err, lowering.BadOutput)
	_, err = e.Run(ctx, []*array.Array{x})
	require.Error(t, err)
	_, err = e.Run(ctx, []*array.Array{x, ramp(3, 7)})
	require.Error(t, err)
	require.True(t, array.Equal(before, x))
}
