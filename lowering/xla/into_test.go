package xla_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

const updates = `
graph step(%w: f32[N], %g: f32[N], %n: f32[N]) {
  symbol N = dim(%w, 0)
  %u = call_function[add](%w, %g) : f32[N]
  %m = call_function[mul](%u, %n) : f32[N]
  return (%u, %m)
}
`

var pairs = lowering.Options{Into: []lowering.Into{{Result: 0, Input: 0}, {Result: 1, Input: 2}}}

// A result is in the array of its input after a run. The plugin that tests build adds two arguments.
func TestInto(t *testing.T) {
	f := plugin(t)
	r, err := xla.NewRuntime(f.path)
	require.NoError(t, err)
	defer r.Close()
	e := compileFor(t, xla.Target{Runtime: r, Cache: "-"}, parse(t, symbolic), lowering.Options{Into: []lowering.Into{{Input: 1}}})
	sum := floats(10, 20)
	for _, want := range [][]float32{{11, 22}, {12, 24}} {
		out, err := e.Run(ctx, []*array.Array{floats(1, 2), sum})
		require.NoError(t, err)
		require.Same(t, sum, out[0])
		require.Equal(t, want, array.Data[float32](sum))
	}
	p, err := xla.Emit(parse(t, updates), lowering.Options{Shapes: map[string]int{"N": 2}, Donate: []int{0, 1}, Into: pairs.Into})
	require.NoError(t, err)
	require.Contains(t, p.String(), "{tf.aliasing_output = 0 : i32}")
	require.Contains(t, p.String(), "{jax.buffer_donor = true}")
	require.Contains(t, p.String(), "{tf.aliasing_output = 1 : i32}")
}

// madeInInputs runs steps whose results lie in the memory of inputs, of the host and of the device.
func madeInInputs(t *testing.T, r *xla.Runtime) {
	e := compileFor(t, xla.Target{Runtime: r, Cache: "-"}, parse(t, updates), pairs).(lowering.Resident)
	w, n := floats(1, 2), floats(2, 3)
	for _, want := range [][]float32{{2, 4, 4, 12}, {3, 6, 12, 72}} {
		out, err := e.Run(ctx, []*array.Array{w, floats(1, 2), n})
		require.NoError(t, err)
		require.Same(t, w, out[0])
		require.Same(t, n, out[1])
		require.Equal(t, want, append(array.Data[float32](w), array.Data[float32](n)...))
	}
	a, err := e.Put(ctx, floats(1, 2))
	require.NoError(t, err)
	b, err := e.Put(ctx, floats(2, 3))
	require.NoError(t, err)
	values, err := e.RunValues(ctx, []lowering.Value{a, lowering.Host(floats(1, 2)), b})
	require.NoError(t, err)
	_, err = a.Array(ctx)
	require.ErrorIs(t, err, pjrt.Closed)
	for i, want := range [][]float32{{2, 4}, {4, 12}} {
		got, err := values[i].Array(ctx)
		require.NoError(t, err)
		require.Equal(t, want, array.Data[float32](got))
		require.NoError(t, values[i].Close())
	}
	c, err := e.Put(ctx, floats(1, 2)) // one value twice is not taken, and the result has memory of its own
	require.NoError(t, err)
	values, err = e.RunValues(ctx, []lowering.Value{c, c, lowering.Host(floats(2, 3))})
	require.NoError(t, err)
	got, err := values[0].Array(ctx)
	require.NoError(t, err)
	require.Equal(t, []float32{2, 4}, array.Data[float32](got))
	require.NoError(t, values[0].Close())
	require.NoError(t, values[1].Close())
}

// XLA makes the results in the arguments: it needs no memory for them.
func TestXLAMakesResultsInArguments(t *testing.T) {
	r := installedRuntime(t, 1)
	madeInInputs(t, r)
	for _, into := range [][]lowering.Into{nil, pairs.Into[:1], pairs.Into} {
		p, err := xla.Emit(parse(t, updates), lowering.Options{Shapes: map[string]int{"N": 1000}, Into: into})
		require.NoError(t, err)
		e, err := r.Client().Compile(p.String(), pjrt.CompileOptions{})
		require.NoError(t, err)
		memory, err := e.Memory()
		require.NoError(t, err)
		require.Equal(t, int64(len(into)*4000), memory.Aliased)
		require.NoError(t, e.Close())
	}
}

func TestIntoIsRefused(t *testing.T) {
	f := plugin(t)
	r, err := xla.NewRuntime(f.path)
	require.NoError(t, err)
	defer r.Close()
	for _, c := range []struct {
		target xla.Target
		text   string
		want   string
	}{
		{xla.Target{Bounds: map[string]int{"N": 8}}, updates, "target xla with a layout or bounds makes no results in the memory of inputs"},
		{xla.Target{Layout: &shard.Layout{}}, updates, "with a layout or bounds"},
		{xla.Target{}, "\ngraph net(%x: f32[4]) {\n  %y = call_function[sum](%x) : f32[]\n  return %y\n}\n", "result 0 is f32[], the input that it is to be made in, \"x\", is f32[4]"},
	} {
		c.target.Runtime, c.target.Cache = r, "-"
		_, err := c.target.Compile(parse(t, c.text), lowering.Options{Into: []lowering.Into{{}}})
		require.ErrorIs(t, err, lowering.BadOption)
		require.ErrorContains(t, err, c.want)
	}
	_, err = xla.EmitBounded(parse(t, updates), pairs, map[string]int{"N": 8})
	require.ErrorContains(t, err, "target xla with bounds makes no results")
	e := compileFor(t, xla.Target{Runtime: r, Cache: "-"}, parse(t, updates), pairs)
	w, n := floats(1, 2), floats(2, 3)
	for _, in := range [][]*array.Array{{w, w, n}, {nil, n, w}} {
		_, err = e.Run(ctx, in)
		require.ErrorIs(t, err, lowering.BadOutput)
	}
	for _, in := range [][]*array.Array{{w, n}, {w, n, floats(1)}} {
		_, err = e.Run(ctx, in)
		require.Error(t, err)
	}
	require.Equal(t, []float32{1, 2, 2, 3}, append(array.Data[float32](w), array.Data[float32](n)...))
}
