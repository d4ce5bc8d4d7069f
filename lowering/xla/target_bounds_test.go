//go:build (linux || darwin) && (amd64 || arm64) && !android

package xla_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
	"github.com/gofx-dev/gofx/op"
)

// runtimeOf makes a client of the plugin for a test.
func runtimeOf(t testing.TB, f *fake) *xla.Runtime {
	t.Helper()
	r, err := xla.NewRuntime(f.path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func bounds(e lowering.Executable) xla.RunStats {
	s := e.(*xla.Executable).Stats()
	s.Sizes = lowering.CacheStats{}
	return s
}

// One program is compiled for all sizes up to the bound, when the module is: inputs are padded with
// zeros, main is told the size, results are cut.
func TestBoundedProgramServesAllSizes(t *testing.T) {
	f := plugin(t)
	r := runtimeOf(t, f)
	e := compileFor(t, xla.Target{Runtime: r, Cache: "-", Bounds: map[string]int{"N": 4}}, parse(t, symbolic), lowering.Options{})
	require.Equal(t, 1, r.Stats().Compiles)
	require.Contains(t, f.text(), "@main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<i32>) -> (tensor<4xf32>)")
	require.Equal(t, []float32{4, 6}, run1(t, e, floats(1, 2), floats(3, 4)))
	dims, data := f.argument(t, 0, 0)
	require.Equal(t, []int{4}, dims)
	require.Equal(t, []float32{1, 2, 0, 0}, data)
	dims, data = f.argument(t, 0, 2)
	require.Empty(t, dims)
	require.Equal(t, uint32(2), math.Float32bits(data[0]))
	require.Equal(t, []float32{9}, run1(t, e, floats(4), floats(5)))
	require.Equal(t, []float32{2, 2, 2, 2}, run1(t, e, floats(1, 1, 1, 1), floats(1, 1, 1, 1)))
	require.Equal(t, 1, r.Stats().Compiles)
	require.Equal(t, xla.RunStats{Bounded: 3}, bounds(e))

	_, err := e.Run(ctx, []*array.Array{floats(1, 2), floats(1, 2, 3)})
	require.ErrorIs(t, err, interp.GuardFailed)
	require.ErrorContains(t, err, `input "z" is f32[3], dimension 0 is expected to be N, which is 2 here`)
}

// What is beyond the bound, or empty, has a program of its size.
func TestSizesBeyondTheirBounds(t *testing.T) {
	f := plugin(t)
	r := runtimeOf(t, f)
	e := compileFor(t, xla.Target{Runtime: r, Cache: "-", Bounds: map[string]int{"N": 2}}, parse(t, symbolic), lowering.Options{})
	require.Equal(t, []float32{4, 6}, run1(t, e, floats(1, 2), floats(3, 4)))
	require.Equal(t, []float32{4, 6, 8}, run1(t, e, floats(1, 2, 3), floats(3, 4, 5)))
	require.Equal(t, []float32{4, 6, 8}, run1(t, e, floats(1, 2, 3), floats(3, 4, 5)))
	require.Empty(t, run1(t, e, floats(), floats()))
	require.Equal(t, xla.RunStats{Bounded: 1, Own: 3, Outside: 3}, bounds(e))
	require.Equal(t, 3, r.Stats().Compiles)
}

// A graph that needs its size as a number, and a plugin that takes no bounds, get programs for sizes: the
// statistics say why.
func TestBoundedProgramsMayBeRefused(t *testing.T) {
	f := plugin(t)
	r := runtimeOf(t, f)
	target := xla.Target{Runtime: r, Cache: "-", Bounds: map[string]int{"N": 4}}
	m := parse(t, strings.Replace(symbolic, "%y = call_function[add](%x, %z) : f32[N]", "%c = call_function[cat](%x, %z) {dim=0} : f32[2*N]\n  %y = call_function[add](%c, %c) : f32[2*N]", 1))
	e := compileFor(t, target, m, lowering.Options{})
	_, err := e.Run(ctx, []*array.Array{floats(1, 2), floats(3, 4)})
	require.NoError(t, err)
	s := bounds(e)
	require.Equal(t, 1, s.Own)
	require.ErrorIs(t, s.Refused, lowering.Unsupported)
	require.ErrorContains(t, s.Refused, "node %c: cat: target xla cannot leave a size open")

	f.fail("PJRT_Client_Compile", 12, "bounded dynamic dimensions are not implemented")
	e = compileFor(t, target, parse(t, symbolic), lowering.Options{})
	compiles := r.Stats().Compiles
	for n := range 3 {
		require.Equal(t, []float32{4, 6}, run1(t, e, floats(1, 2), floats(3, 4)), n)
	}
	require.Equal(t, compiles+1, r.Stats().Compiles, "the plugin is not asked again")
	s = bounds(e)
	require.Equal(t, []int{0, 3, 0}, []int{s.Bounded, s.Own, s.Outside})
	require.ErrorIs(t, s.Refused, pjrt.Unimplemented)
	require.ErrorContains(t, s.Refused, "bounded dynamic dimensions are not implemented")
}

const two = `
graph sum(%x: f32[N,M], %z: f32[N,M]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%x, 1)
  %y = call_function[add](%x, %z) : f32[N,M]
  return %y
}
`

// Symbols without a bound have a program for each of their values.
func TestSomeSizesAreBounded(t *testing.T) {
	f := plugin(t)
	r := runtimeOf(t, f)
	e := compileFor(t, xla.Target{Runtime: r, Cache: "-", Bounds: map[string]int{"N": 3}}, parse(t, two), lowering.Options{})
	require.Zero(t, r.Stats().Compiles)
	for i, dims := range [][]int{{1, 2}, {3, 2}, {2, 5}, {2, 2}} {
		x := array.New(array.F32, dims...)
		for k := range x.Len() {
			array.SetFloat64At(x, k, float64(k))
		}
		out, err := e.Run(ctx, []*array.Array{x, x})
		require.NoError(t, err)
		require.Equal(t, dims, out[0].Shape(), i)
		for k := range x.Len() {
			require.Equal(t, float64(2*k), array.Float64At(out[0], k))
		}
	}
	require.Equal(t, 2, r.Stats().Compiles)
	both := compileFor(t, xla.Target{Runtime: r, Cache: "-", Bounds: map[string]int{"N": 3, "M": 2}}, parse(t, two), lowering.Options{})
	out, err := both.Run(ctx, []*array.Array{array.FromSlice([]float32{1, 2}, 2, 1), array.FromSlice([]float32{3, 4}, 2, 1)})
	require.NoError(t, err)
	require.Equal(t, []float32{4, 6}, array.Data[float32](out[0]))
	require.Equal(t, []int{2, 1}, out[0].Shape())
	_, data := f.argument(t, 0, 0)
	require.Equal(t, []float32{1, 0, 2, 0, 0, 0}, data)
}

// Values stay as large as the bound on the device and are of the run's size to the caller; donated
// ones are given up.
func TestBoundedValuesStayOnTheDevice(t *testing.T) {
	f := plugin(t)
	r := runtimeOf(t, f)
	target := xla.Target{Runtime: r, Cache: "-", Bounds: map[string]int{"N": 4}}
	e := compileFor(t, target, parse(t, symbolic), lowering.Options{Donate: []int{0}}).(lowering.Resident)
	require.Contains(t, f.text(), "%arg0: tensor<4xf32> {jax.buffer_donor = true}")
	x, err := e.Put(ctx, floats(1, 2))
	require.NoError(t, err)
	require.Equal(t, "f32[2]", x.Type().String())
	y, err := e.RunValues(ctx, []lowering.Value{x, lowering.Host(floats(10, 20))})
	require.NoError(t, err)
	require.Equal(t, "1 2 ", f.kept())
	require.Equal(t, "f32[2]", y[0].Type().String())
	s := r.Client().Stats()
	require.Zero(t, s.Downloads)
	require.Equal(t, int64(3), s.Uploads, "x, the other one, the size")
	z, err := e.RunValues(ctx, []lowering.Value{y[0], y[0]})
	require.NoError(t, err)
	require.Equal(t, "0 1 2 ", f.kept(), "what is another argument, too, is not given up")
	a, err := z[0].Array(ctx)
	require.NoError(t, err)
	require.Equal(t, []float32{22, 44}, array.Data[float32](a))
	require.NoError(t, z[0].Close())

	// another executable of the client has no room for bounds
	plain := compileFor(t, xla.Target{Runtime: r, Cache: "-"}, parse(t, symbolic), lowering.Options{}).(lowering.Resident)
	x, err = e.Put(ctx, floats(1, 2))
	require.NoError(t, err)
	y, err = plain.RunValues(ctx, []lowering.Value{x, x})
	require.NoError(t, err)
	require.Equal(t, "f32[2]", y[0].Type().String())
	z, err = e.RunValues(ctx, []lowering.Value{y[0], x})
	require.NoError(t, err)
	a, err = z[0].Array(ctx)
	require.NoError(t, err)
	require.Equal(t, []float32{3, 6}, array.Data[float32](a))
	require.NoError(t, z[0].Close())
	require.NoError(t, x.Close())
	require.Equal(t, 2, r.Client().Stats().Live, "the programs alone")
}

// Bounds are part of the keys of caches.
func TestBoundsAreInTheKeys(t *testing.T) {
	f := plugin(t)
	cache := t.TempDir()
	at := func(most int) xla.Stats {
		r, err := xla.NewRuntime(f.path)
		require.NoError(t, err)
		defer r.Close()
		e, err := xla.Target{Runtime: r, Cache: cache, Bounds: map[string]int{"N": most}}.Compile(parse(t, symbolic), lowering.Options{})
		require.NoError(t, err)
		require.Equal(t, []float32{4, 6}, run1(t, e, floats(1, 2), floats(3, 4)))
		require.NoError(t, e.Close())
		return r.Stats()
	}
	require.Equal(t, xla.Stats{Compiles: 1, Kept: 1}, at(4))
	require.Equal(t, xla.Stats{Loaded: 1, Kept: 1}, at(4))
	require.Equal(t, xla.Stats{Compiles: 1, Kept: 1}, at(5))
}

// Bounds for which arrays are too large for the host are no error: runs have programs for their sizes.
func TestBoundsMayBeTooLarge(t *testing.T) {
	f := plugin(t)
	for limit, most := range map[int64]int{1 << 16: 1 << 20, 1 << 17: math.MaxInt32, math.MaxInt64: math.MaxInt32} {
		func() {
			defer array.SetMaxBytes(array.SetMaxBytes(limit))
			e := compileFor(t, xla.Target{Plugin: f.path, Cache: "-", Bounds: map[string]int{"N": most, "M": most}}, parse(t, two), lowering.Options{})
			require.Equal(t, []float32{0, 2, 4}, run1(t, e, numbers(1, 3), numbers(1, 3)))
			s := bounds(e)
			require.Equal(t, 1, s.Own)
			require.ErrorIs(t, s.Refused, array.CodeTooLarge)
		}()
	}
}

// Sizes that the graph does not take are refused before the program, which would take them, is asked.
func TestBoundedProgramsAreGuarded(t *testing.T) {
	f := plugin(t)
	m := parse(t, `
graph g(%x: f32[N,2]) {
  symbol N = dim(%x, 0)
  %a = call_function[select](%x) {dim=0, index=2} : f32[2]
  %y = call_function[add](%a, %a) : f32[2]
  return %y
}
`)
	e := compileFor(t, xla.Target{Plugin: f.path, Cache: "-", Bounds: map[string]int{"N": 8}}, m, lowering.Options{})
	_, err := e.Run(ctx, []*array.Array{numbers(2, 2)})
	require.ErrorIs(t, err, interp.GuardFailed)
	_, err = e.Run(ctx, []*array.Array{numbers(3, 2)})
	require.NoError(t, err)
	require.Equal(t, xla.RunStats{Bounded: 1}, bounds(e))
}

// A weight that is live, or was written, is that of the run.
func TestWeightsOfBoundedPrograms(t *testing.T) {
	f := plugin(t)
	m := parse(t, `
graph bias(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] live : f32[3]
  %y = call_function[add](%x, %w) : f32[N,3]
  return %y
}
param w : f32[3]
`)
	e := compileFor(t, xla.Target{Plugin: f.path, Cache: "-", Bounds: map[string]int{"N": 4}}, m, lowering.Options{})
	require.Equal(t, []float32{1, 3, 5}, run1(t, e, numbers(1, 3)))
	m.Param("w").Value = floats(8, 8, 8)
	require.Equal(t, []float32{8, 9, 10, 11, 12, 13}, run1(t, e, numbers(2, 3)))
	array.Copy(m.Param("w").Value, floats(5, 6, 7))
	m.Param("w").Value.Storage().Bump()
	require.Equal(t, []float32{5, 7, 9}, run1(t, e, array.Permute(array.FromSlice([]float32{0, 1, 2}, 3, 1), 1, 0)))
	require.Equal(t, xla.RunStats{Bounded: 3}, bounds(e))
}

func TestTargetRefusesBounds(t *testing.T) {
	f := plugin(t)
	for want, c := range map[string]struct {
		bounds map[string]int
		o      lowering.Options
	}{
		`symbol "K" has the bound 4, the graph has no such symbol`:            {map[string]int{"K": 4}, lowering.Options{}},
		"symbol N has the bound 1, expected 2 or more":                        {map[string]int{"N": 1}, lowering.Options{}},
		"symbol N has the bound -3, expected 2 or more":                       {map[string]int{"N": -3}, lowering.Options{}},
		"symbol N has the bound 4294967296, expected 2147483647 or less":      {map[string]int{"N": 1 << 32}, lowering.Options{}},
		"symbol N has a bound, and its size is pinned or follows from others": {map[string]int{"N": 4}, lowering.Options{Shapes: map[string]int{"N": 2}}},
	} {
		_, err := xla.Target{Plugin: f.path, Cache: "-", Bounds: c.bounds}.Compile(parse(t, two), c.o)
		require.ErrorIs(t, err, lowering.BadOption, want)
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, [6]int64{}, f.alive())
}

// Parts of a split have the bounds of their own symbols, which are those of the whole graph.
func TestSplitDividesBounds(t *testing.T) {
	f := plugin(t)
	r := runtimeOf(t, f)
	m := parse(t, `
graph g(%x: f32[N], %w: f32[]) {
  symbol N = dim(%x, 0)
  %c = call_function[add](%w, %w) : f32[]
  %y = call_function[add](%x, %c) : f32[N]
  return %y
}
`)
	same := op.NewAdHoc("example.com/net", "same", op.Args("x"), false, false, func(in []*array.Array) ([]*array.Array, error) {
		return []*array.Array{array.Clone(in[0])}, nil
	})
	c, y := m.Graph.Find("c"), m.Graph.Find("y")
	n := m.Graph.Before(y).Function(same, nil, c)
	n.SetType(c.Type())
	y.SetArg(1, n)
	split := func(target xla.Target) lowering.Split {
		target.Runtime, target.Cache = r, "-"
		return lowering.Split{First: target, Rest: lowering.Split{First: cpu.Target{}, Rest: target}, Min: 1}
	}
	for _, s := range []lowering.Target{split(xla.Target{Bounds: map[string]int{"N": 4}}), lowering.Split{First: split(xla.Target{Bounds: map[string]int{"N": 4}}), Rest: cpu.Target{}}} {
		before := r.Stats()
		e := compileFor(t, s, m, lowering.Options{})
		for n := 1; n < 5; n++ {
			out := run1(t, e, numbers(n), array.Scalar(float32(5)))
			require.Len(t, out, n)
			require.Equal(t, float32(n-1+10), out[n-1])
		}
		after := r.Stats()
		require.LessOrEqual(t, after.Compiles-before.Compiles, 2, "a program for each part")
		require.NotZero(t, after.Hits+after.Compiles-before.Hits-before.Compiles)
	}
	_, err := split(xla.Target{Bounds: map[string]int{"K": 4}}).Compile(m, lowering.Options{})
	require.ErrorContains(t, err, `symbol "K" has the bound 4, the graph has no such symbol`)
	_, err = split(xla.Target{Layout: byRows}).Compile(m, lowering.Options{})
	require.ErrorContains(t, err, "parts of a split run on one device")
}
