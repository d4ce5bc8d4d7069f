//go:build linux && amd64

package xla_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/pyenv"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
)

// installedRuntime is a runtime of XLA's plugin for processors with some devices, which a Python wheel
// brings, or of the plugin that GOFX_TEST_PLUGIN names, as far as it has as many.
func installedRuntime(t testing.TB, devices int) *xla.Runtime {
	t.Helper()
	path, options := os.Getenv("GOFX_TEST_PLUGIN"), []pjrt.NamedValue(nil)
	if path == "" {
		path = pyenv.File(t, "fastatomstruct_xla_cpu", "libpjrt_cpu.so")
		options = []pjrt.NamedValue{{Name: "cpu_device_count", Value: int64(devices)}}
	}
	r, err := xla.NewRuntime(path, options...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	if n := len(r.Client().Devices()); n < devices {
		t.Skipf("the plugin has %d devices, of %d that are needed", n, devices)
	}
	return r
}

// TestPluginSamples: the target computes operators' samples with XLA as the operators do; on every
// change the first one of every other operator.
func TestPluginSamples(t *testing.T) {
	r := installedRuntime(t, 1)
	ran := 0
	for i, o := range triedOps() {
		list := o.Samples()
		if !fxtest.IsNightly() {
			list = list[:min(len(list), 1-i%2)]
		}
		for _, s := range list {
			t.Run(o.Key()+" "+s.Name, func(t *testing.T) {
				m := oneCall(o, s.Attrs, s.In)
				if len(lowering.Query(target{}, m.Graph)) > 0 {
					return
				}
				ran++
				s.In = flushed(s.In)
				out := runs(t, xla.Target{Runtime: r, Cache: "-"}, m, lowering.Options{}, present(s.In))
				want := evalCall(t, o, s)
				if d := differsFrom(o, s, want, out); d != "" && r.Client().Platform() != "cpu" && aStep(want, out) {
					return // XLA divides with two units of error on cards, and contracts products and sums
				} else if d != "" && o.Tol == (op.Tolerance{}) {
					require.Empty(t, fxtest.CloseArrays(want, out)) // sums are rounded in another order
				} else {
					require.Empty(t, d)
				}
			})
		}
	}
	t.Log(ran, "samples")
	require.Greater(t, ran, 100)
}

// aStep reports whether bytes are those that are wanted, or their neighbours: a quotient was rounded the other way.
func aStep(want, got []*array.Array) bool {
	for i, w := range want {
		if w.DType() != array.U8 && w.DType() != array.I8 || w.Len() != got[i].Len() {
			return false
		}
		for k := range w.Len() {
			if math.Abs(array.Float64At(w, k)-array.Float64At(got[i], k)) > 1 {
				return false
			}
		}
	}
	return true
}

// flushed are arrays with 0 for subnormal numbers, as which XLA takes them on processors.
func flushed(in []*array.Array) []*array.Array {
	out := slices.Clone(in)
	for k, a := range in {
		if a == nil || a.DType() != array.F32 && a.DType() != array.F64 {
			continue
		}
		least := map[array.DType]float64{array.F32: 0x1p-126, array.F64: 0x1p-1022}[a.DType()]
		out[k] = array.Clone(a)
		for i := range a.Len() {
			if x := array.Float64At(a, i); math.Abs(x) < least {
				array.SetFloat64At(out[k], i, math.Copysign(0, x))
			}
		}
	}
	return out
}

// runs compiles, runs and closes.
func runs(t testing.TB, target xla.Target, m *graph.Module, o lowering.Options, in []*array.Array) []*array.Array {
	t.Helper()
	e, err := target.Compile(m, o)
	require.NoError(t, err)
	out, err := e.Run(ctx, in)
	require.NoError(t, err)
	require.NoError(t, e.Close())
	return out
}

// TestPluginModels: XLA computes networks as their fixtures say, small ones on every change.
func TestPluginModels(t *testing.T) {
	r := installedRuntime(t, 1)
	ran := 0
	for _, model := range models.All() {
		module := model.New()
		m := traceModel(t, model, module)
		if !fxtest.IsNightly() && flopsOf(m, model.Dims) > evaluated {
			continue
		}
		ran++
		t.Run(model.Name, func(t *testing.T) {
			ref := fxtest.LoadFixture(t, model.Name)
			models.Synthetic(model, module, "gofx-1")
			x, err := model.SyntheticInputs("gofx-1")
			require.NoError(t, err)
			var in []*array.Array
			for i := range x {
				in = append(in, x[i].Array())
			}
			m := traceModel(t, model, module)
			ref.Check(t, runs(t, xla.Target{Runtime: r, Cache: "-"}, m, lowering.Options{}, in))
		})
	}
	require.Positive(t, ran)
}

// TestPluginControlFlow: branches and loops for all sizes.
func TestPluginControlFlow(t *testing.T) {
	r := installedRuntime(t, 1)
	m := parse(t, strings.TrimPrefix(flow, "gofx 1\n"))
	var g op.Gen
	m.Param("w").Value = g.Normal(4, 4)
	e := compileFor(t, xla.Target{Runtime: r, Cache: "-"}, m, lowering.Options{})
	for _, n := range []int{3, 1, 0} {
		for _, limit := range []float32{100, 2, -100} {
			in := []*array.Array{g.Uniform(0.1, 1, n, 4), array.Scalar(limit)}
			want, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
			require.NoError(t, err)
			got, err := e.Run(ctx, in)
			require.NoError(t, err)
			fxtest.Close(t, "flow", want, got)
		}
	}
	require.Equal(t, 3, r.Stats().Compiles)
}

const perceptron = `
graph perceptron(%x: f32[N,8]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[4,8]
  %h = call_function[linear](%x, %w) : f32[N,4]
  %y = call_function[softmax](%h) {dim=1} : f32[N,4]
  %s = call_function[sum](%y) {dim=[0]} : f32[4]
  return (%y, %s)
}
param w : f32[4,8]
`

// TestPluginBounds: XLA takes a program for all sizes up to a bound.
func TestPluginBounds(t *testing.T) {
	r := installedRuntime(t, 1)
	m := parse(t, perceptron)
	var g op.Gen
	m.Param("w").Value = g.Normal(4, 8)
	e := compileFor(t, xla.Target{Runtime: r, Cache: "-", Bounds: map[string]int{"N": 8}}, m, lowering.Options{})
	for _, n := range []int{1, 3, 8, 5, 9, 0} {
		in := []*array.Array{g.Normal(n, 8)}
		want, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
		require.NoError(t, err)
		got, err := e.Run(ctx, in)
		require.NoError(t, err)
		fxtest.Close(t, "perceptron", want, got)
	}
	s := bounds(e)
	require.NoError(t, s.Refused)
	require.Equal(t, []int{4, 2, 2}, []int{s.Bounded, s.Own, s.Outside})
}

// TestPluginKeepsPrograms: what was compiled is loaded by the next runtime, for one device and for many;
// what is damaged is compiled again.
func TestPluginKeepsPrograms(t *testing.T) {
	dir := t.TempDir()
	m := parse(t, perceptron)
	var g op.Gen
	m.Param("w").Value = g.Normal(4, 8)
	in := []*array.Array{g.Normal(4, 8)}
	want, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
	require.NoError(t, err)
	layout := &shard.Layout{Mesh: mesh(2, 2), Inputs: map[string]shard.Split{"x": {"data", ""}}, Weights: map[string]shard.Split{"w": {"tensor", ""}}}
	round := func() xla.Stats {
		r := installedRuntime(t, 4)
		for _, l := range []*shard.Layout{nil, layout} {
			fxtest.Close(t, "perceptron", want, runs(t, xla.Target{Runtime: r, Cache: dir, Layout: l}, m, lowering.Options{Shapes: map[string]int{"N": 4}}, in))
		}
		return r.Stats()
	}
	s := round()
	require.Equal(t, []int{2, 0}, []int{s.Compiles, s.Loaded})
	s = round()
	require.Equal(t, []int{0, 2}, []int{s.Compiles, s.Loaded})
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(f, data[:len(data)/2], 0o600))
	}
	s = round()
	require.Equal(t, []int{2, 0}, []int{s.Compiles, s.Loaded})
}

// TestPluginKeepsProgramsOfThisProcessor: another one may lack instructions that a program has.
func TestPluginKeepsProgramsOfThisProcessor(t *testing.T) {
	r := installedRuntime(t, 1)
	if r.Client().Platform() != "cpu" {
		t.Skip("the plugin's devices are no processors")
	}
	info, err := os.ReadFile("/proc/cpuinfo")
	require.NoError(t, err)
	_, flags, ok := strings.Cut(string(info), "\nflags")
	require.True(t, ok)
	_, flags, _ = strings.Cut(flags, ": ")
	flags, _, _ = strings.Cut(flags, "\n")
	require.Contains(t, r.Versions(), strings.TrimSpace(flags))
}

// TestPluginDonation: what is given up on devices is gone, and its memory becomes a result's.
func TestPluginDonation(t *testing.T) {
	r := installedRuntime(t, 2)
	m := parse(t, rows)
	for _, l := range []*shard.Layout{nil, byRows} {
		e := compileFor(t, xla.Target{Runtime: r, Cache: "-", Layout: l}, m, lowering.Options{Donate: []int{0}}).(lowering.Resident)
		v, err := e.Put(ctx, numbers(4, 3))
		require.NoError(t, err)
		for range 3 {
			out, err := e.RunValues(ctx, []lowering.Value{v})
			require.NoError(t, err)
			_, err = v.Array(ctx)
			require.Error(t, err)
			v = out[0]
		}
		got, err := v.Array(ctx)
		require.NoError(t, err)
		require.Equal(t, []float32{3, 7, 11, 6, 10, 14, 9, 13, 17, 12, 16, 20}, array.Data[float32](got))
		require.NoError(t, v.Close())
	}
}
