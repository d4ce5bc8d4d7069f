//go:build (linux || darwin) && (amd64 || arm64) && !android

package xla_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// parse reads a module; its weights are 1, 2, 3, ...
func parse(t testing.TB, text string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\n"+text), "net.fx")
	require.NoError(t, err)
	for _, p := range m.Params() {
		d, dims, ok := p.Type.Concrete()
		require.True(t, ok)
		q := *p
		q.Value = array.New(d, dims...)
		for i := range q.Value.Len() {
			array.SetFloat64At(q.Value, i, float64(i+1))
		}
		m.SetParam(q)
	}
	return m
}

func compileFor(t testing.TB, target lowering.Target, m *graph.Module, o lowering.Options) lowering.Executable {
	t.Helper()
	e, err := target.Compile(m, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

func floats(x ...float32) *array.Array { return array.FromSlice(x) }

func run1(t testing.TB, e lowering.Executable, in ...*array.Array) []float32 {
	t.Helper()
	out, err := e.Run(ctx, in)
	require.NoError(t, err)
	require.Len(t, out, 1)
	return array.Data[float32](out[0])
}

const bias = `
graph bias(%x: f32[3]) {
  %w = get_attr[w] : f32[3]
  %y = call_function[add](%x, %w) : f32[3]
  return %y
}
param w : f32[3]
`

const live = `
graph bias(%x: f32[3]) {
  %w = get_attr[w] live : f32[3]
  %y = call_function[add](%x, %w) : f32[3]
  return %y
}
param w : f32[3]
`

const symbolic = `
graph sum(%x: f32[N], %z: f32[N]) {
  symbol N = dim(%x, 0)
  %y = call_function[add](%x, %z) : f32[N]
  return %y
}
`

// A tensor that one node reads at each run is live for all of them, whichever is first.
func TestWeightsThatAreReadTwice(t *testing.T) {
	f := plugin(t)
	for _, attrs := range []string{"%v = get_attr[w] : f32[3]\n %w = get_attr[w] live : f32[3]", "%w = get_attr[w] live : f32[3]\n %v = get_attr[w] : f32[3]"} {
		m := parse(t, "graph two(%x: f32[3]) {\n"+attrs+`
  %y = call_function[add](%x, %w) : f32[3]
  %z = call_function[mul](%y, %v) : f32[3]
  return %z
}
param w : f32[3]
`)
		e := compileFor(t, xla.Target{Plugin: f.path, Cache: "-"}, m, lowering.Options{})
		run1(t, e, floats(0, 0, 0))
		m.Param("w").Value = floats(8, 8, 8)
		run1(t, e, floats(0, 0, 0))
		_, data := f.argument(t, 0, 1)
		require.Equal(t, []float32{8, 8, 8}, data, attrs)
	}
}

// Weights go to the device once, inputs and results with each run.
func TestTargetRunsOnAPlugin(t *testing.T) {
	f := plugin(t)
	r, err := xla.NewRuntime(f.path)
	require.NoError(t, err)
	defer r.Close()
	target := xla.Target{Runtime: r, Cache: "-"}
	require.Equal(t, "xla", target.Name())
	e := compileFor(t, target, parse(t, bias), lowering.Options{})
	require.Equal(t, int64(1), r.Client().Stats().Uploads)
	for range 3 {
		require.Equal(t, []float32{11, 22, 33}, run1(t, e, floats(10, 20, 30)))
	}
	stats := r.Client().Stats()
	require.Equal(t, []int64{4, 3, 3, 1}, []int64{stats.Uploads, stats.Downloads, stats.Executions, stats.Compilations})
	require.Equal(t, 2, stats.Live, "the weight and the program")
}

// What the graph relies on names the input with its type; without a context a run goes on to its end.
func TestWhatTheGraphReliesOn(t *testing.T) {
	f := plugin(t)
	m := parse(t, "graph f(%x: f32[N], %y: f32[M]) {\n  symbol N = dim(%x, 0)\n  symbol M = dim(%y, 0)\n  %s = call_function[add](%x, %y) : f32[N]\n  guard N == M from %s\n  return %s\n}\n")
	e := compileFor(t, xla.Target{Plugin: f.path, Cache: "-"}, m, lowering.Options{})
	_, err := e.Run(ctx, []*array.Array{floats(1, 2), floats(1, 2, 3)})
	require.ErrorIs(t, err, interp.GuardFailed)
	require.ErrorContains(t, err, `input "x" is f32[2]: `)
	var none context.Context
	for _, x := range []lowering.Executable{e, compileFor(t, cpu.Target{}, m, lowering.Options{})} {
		out, err := x.Run(none, []*array.Array{floats(1, 2), floats(1, 2)})
		require.NoError(t, err)
		require.Equal(t, []float32{2, 4}, array.Data[float32](out[0]))
	}
}

// A frozen weight that is written, and a live one that is replaced, go there again.
func TestWeightsFollowTheModel(t *testing.T) {
	f := plugin(t)
	m := parse(t, bias)
	e := compileFor(t, xla.Target{Plugin: f.path, Cache: "-"}, m, lowering.Options{})
	require.Equal(t, []float32{1, 2, 3}, run1(t, e, floats(0, 0, 0)))
	array.Copy(m.Param("w").Value, floats(5, 6, 7))
	m.Param("w").Value.Storage().Bump()
	require.Equal(t, []float32{5, 6, 7}, run1(t, e, floats(0, 0, 0)))

	m = parse(t, live)
	e = compileFor(t, xla.Target{Plugin: f.path, Cache: "-"}, m, lowering.Options{})
	require.Equal(t, []float32{1, 2, 3}, run1(t, e, floats(0, 0, 0)))
	m.Param("w").Value = floats(8, 8, 8)
	require.Equal(t, []float32{8, 8, 8}, run1(t, e, floats(0, 0, 0)))
	m.Param("w").Value = floats(8, 8)
	_, err := e.Run(ctx, []*array.Array{floats(0, 0, 0)})
	require.ErrorIs(t, err, interp.GuardFailed)
	m.Param("w").Value = nil
	_, err = e.Run(ctx, []*array.Array{floats(0, 0, 0)})
	require.ErrorContains(t, err, "has no data")
}

func TestEqualProgramsAreCompiledOnce(t *testing.T) {
	f := plugin(t)
	r, err := xla.NewRuntime(f.path)
	require.NoError(t, err)
	defer r.Close()
	target := xla.Target{Runtime: r, Cache: "-"}
	a := compileFor(t, target, parse(t, bias), lowering.Options{})
	other := parse(t, bias)
	other.Param("w").Value = floats(7, 7, 7) // other weights, the same program
	b := compileFor(t, target, other, lowering.Options{})
	require.Equal(t, xla.Stats{Compiles: 1, Hits: 1, Kept: 1}, r.Stats())
	require.Equal(t, []float32{1, 2, 3}, run1(t, a, floats(0, 0, 0)))
	require.Equal(t, []float32{7, 7, 7}, run1(t, b, floats(0, 0, 0)))
	for _, text := range []string{strings.ReplaceAll(bias, "[3]", "[4]"), strings.ReplaceAll(bias, "add", "sub")} { // shape, structure
		compileFor(t, target, parse(t, text), lowering.Options{})
	}
	require.Equal(t, 3, r.Stats().Compiles)

	two := parse(t, strings.Replace(bias, "return %y", "return (%y, %x)", 1))
	compileFor(t, target, two, lowering.Options{Outputs: []int{0}})
	compileFor(t, target, parse(t, bias), lowering.Options{Donate: []int{0}})
	require.Equal(t, xla.Stats{Compiles: 5, Hits: 1, Kept: 5}, r.Stats(), "chosen results and donations are part of the key")
}

type shiftAttrs struct {
	By float64 `fx:",param"`
}

var shift = op.Define("shift_by", op.Spec[shiftAttrs]{
	Doc: "shift_by adds a number, which is data.",
	In:  op.Args("x"),
	Expr: func(b *expr.Builder, a shiftAttrs, x []expr.Value) []expr.Value {
		return []expr.Value{b.Add(x[0], b.Like(x[0], a.By))}
	},
})

// Attributes that are data are no part of a program.
func TestDataIsAnArgument(t *testing.T) {
	f := plugin(t)
	r, err := xla.NewRuntime(f.path)
	require.NoError(t, err)
	defer r.Close()
	for _, by := range []float64{1, 2, 0.5} {
		g := graph.New("shifted")
		x := g.At().Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), nil)
		g.At().Output(nil, g.At().Function(shift, shiftAttrs{by}, x))
		e := compileFor(t, xla.Target{Runtime: r, Cache: "-"}, graph.NewModule(g), lowering.Options{})
		require.Equal(t, []float32{float32(1 + by), float32(2 + by)}, run1(t, e, floats(1, 2)))
	}
	require.Equal(t, xla.Stats{Compiles: 1, Hits: 2, Kept: 1}, r.Stats())
}

// Programs that nobody uses are kept, up to a bound.
func TestCacheOfProgramsIsBounded(t *testing.T) {
	f := plugin(t)
	r, err := xla.NewRuntime(f.path)
	require.NoError(t, err)
	defer r.Close()
	target := xla.Target{Runtime: r, Cache: "-"}
	of := func(n int) {
		e, err := target.Compile(parse(t, strings.ReplaceAll(bias, "[3]", "["+strconv.Itoa(n)+"]")), lowering.Options{})
		require.NoError(t, err)
		require.NoError(t, e.Close())
	}
	for n := range xla.MaxCompiled + 3 {
		of(n + 1)
	}
	require.Equal(t, xla.Stats{Compiles: xla.MaxCompiled + 3, Evicted: 3, Kept: xla.MaxCompiled}, r.Stats())
	require.Equal(t, int64(xla.MaxCompiled), f.alive()[4])
	of(xla.MaxCompiled + 3)
	require.Equal(t, 1, r.Stats().Hits)
	of(1)
	require.Equal(t, xla.MaxCompiled+4, r.Stats().Compiles)
}

// Another runtime of the same plugin compiles nothing, unless the plugin changed.
func TestProgramsAreKeptOnDisk(t *testing.T) {
	f := plugin(t)
	cache := t.TempDir()
	at := func(path string) xla.Stats {
		r, err := xla.NewRuntime(path)
		require.NoError(t, err)
		defer r.Close()
		e, err := xla.Target{Runtime: r, Cache: cache}.Compile(parse(t, bias), lowering.Options{})
		require.NoError(t, err)
		require.Equal(t, []float32{2, 3, 4}, run1(t, e, floats(1, 1, 1)))
		require.NoError(t, e.Close())
		return r.Stats()
	}
	require.Equal(t, xla.Stats{Compiles: 1, Kept: 1}, at(f.path))
	require.Equal(t, xla.Stats{Loaded: 1, Kept: 1}, at(f.path))
	other := filepath.Join(t.TempDir(), "fake.so")
	data, err := os.ReadFile(f.path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(other, data, 0o700))
	require.Equal(t, xla.Stats{Compiles: 1, Kept: 1}, at(other))
	files, err := filepath.Glob(filepath.Join(cache, "*.bin"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, name := range files { // what no plugin reads is compiled again
		require.NoError(t, os.WriteFile(name, []byte("damaged"), 0o600))
	}
	require.Equal(t, xla.Stats{Compiles: 1, Kept: 1}, at(f.path))
}

// Values stay on the device between runs, and donated ones are taken.
func TestValuesStayOnTheDevice(t *testing.T) {
	f := plugin(t)
	r, err := xla.NewRuntime(f.path)
	require.NoError(t, err)
	defer r.Close()
	target := xla.Target{Runtime: r, Cache: "-"}
	e := compileFor(t, target, parse(t, symbolic), lowering.Options{Donate: []int{0}}).(lowering.Resident)
	x, err := e.Put(ctx, floats(1, 2))
	require.NoError(t, err)
	require.Equal(t, "f32[2]", x.Type().String())
	uploads := r.Client().Stats().Uploads
	y, err := e.RunValues(ctx, []lowering.Value{x, lowering.Host(floats(10, 20))})
	require.NoError(t, err)
	_, err = x.Array(ctx)
	require.ErrorIs(t, err, pjrt.Closed, "it belongs to the run")
	z, err := e.RunValues(ctx, []lowering.Value{y[0], y[0]})
	require.NoError(t, err)
	a, err := z[0].Array(ctx)
	require.NoError(t, err)
	require.Equal(t, []float32{22, 44}, array.Data[float32](a))
	require.NoError(t, z[0].Close())
	s := r.Client().Stats()
	require.Equal(t, uploads+1, s.Uploads)
	require.Equal(t, int64(1), s.Downloads)
	_, err = e.RunValues(ctx, []lowering.Value{y[0], lowering.Host(floats(1))})
	require.Error(t, err)
	_, err = e.Put(ctx, nil)
	require.ErrorIs(t, err, interp.MissingInput)
	require.Equal(t, 1, r.Client().Stats().Live, "the program alone")
}

// A run whose context has ended is stopped, as on other targets.
func TestStoppedRuns(t *testing.T) {
	e := compileFor(t, xla.Target{Plugin: plugin(t).path, Cache: "-"}, parse(t, symbolic), lowering.Options{})
	ended, end := context.WithCancel(ctx)
	end()
	_, err := e.Run(ended, []*array.Array{floats(1), floats(2)})
	require.ErrorIs(t, err, diag.Stopped)
	require.ErrorIs(t, err, context.Canceled)
}

// A program is made for each value of the symbols, when it comes; the last ones are kept.
func TestSizesGetProgramsWhenTheyCome(t *testing.T) {
	f := plugin(t)
	r, err := xla.NewRuntime(f.path)
	require.NoError(t, err)
	defer r.Close()
	e := compileFor(t, xla.Target{Runtime: r, Cache: "-"}, parse(t, symbolic), lowering.Options{})
	require.Zero(t, r.Stats().Compiles)
	require.Equal(t, []float32{4, 6}, run1(t, e, floats(1, 2), floats(3, 4)))
	require.Equal(t, []float32{9}, run1(t, e, floats(4), floats(5)))
	require.Equal(t, []float32{2, 2}, run1(t, e, floats(1, 1), floats(1, 1)))
	require.Equal(t, xla.Stats{Compiles: 2, Kept: 2}, r.Stats())
	for n := range xla.MaxSizes + 4 {
		x := array.New(array.F32, n+1)
		require.Len(t, run1(t, e, x, x), n+1)
	}
	require.Equal(t, xla.MaxSizes+4, r.Stats().Compiles)

	_, err = e.Run(ctx, []*array.Array{floats(1, 2), floats(1, 2, 3)})
	require.ErrorIs(t, err, interp.GuardFailed)
	pinned := compileFor(t, xla.Target{Runtime: r, Cache: "-"}, parse(t, symbolic), lowering.Options{Shapes: map[string]int{"N": 2}})
	require.Equal(t, []float32{4, 6}, run1(t, pinned, floats(1, 2), floats(3, 4)))
	_, err = pinned.Run(ctx, []*array.Array{floats(1), floats(1)})
	require.ErrorIs(t, err, interp.GuardFailed)
}

func TestTargetRefuses(t *testing.T) {
	f := plugin(t)
	target := xla.Target{Plugin: f.path, Cache: "-"}
	for _, o := range []lowering.Options{{Exact: true}, {Weights: array.F16}, {Outputs: []int{3}}} {
		_, err := target.Compile(parse(t, bias), o)
		require.ErrorIs(t, err, lowering.BadOption)
	}
	m := parse(t, bias)
	foreign := op.NewAdHoc("example.com/net", "f", op.Args("x"), false, false, nil)
	m.Graph.Before(m.Graph.Output()).Function(foreign, nil, m.Graph.First())
	_, err := target.Compile(m, lowering.Options{})
	require.ErrorIs(t, err, lowering.Unsupported)
	m = parse(t, bias)
	m.Param("w").Value = nil
	_, err = target.Compile(m, lowering.Options{})
	require.ErrorContains(t, err, "has no data")
	_, err = xla.Target{Plugin: "/no/such/plugin.so"}.Compile(parse(t, bias), lowering.Options{})
	require.ErrorIs(t, err, pjrt.NoPlugin)

	e := compileFor(t, target, parse(t, bias), lowering.Options{})
	for _, in := range [][]*array.Array{{floats(1)}, {array.New(array.I64, 3)}} {
		_, err = e.Run(ctx, in)
		require.ErrorIs(t, err, interp.GuardFailed)
	}
	_, err = e.Run(ctx, []*array.Array{floats(1, 2, 3), floats(1)})
	require.ErrorIs(t, err, interp.ExtraInput)
	_, err = e.Run(ctx, nil)
	require.ErrorIs(t, err, interp.MissingInput)
}

// What fails on the device is an error of that run, or of that compilation, alone.
func TestFailuresOfTheDevice(t *testing.T) {
	f := plugin(t)
	target := xla.Target{Plugin: f.path, Cache: "-"}
	f.fail("PJRT_Client_Compile", 13, "the compiler is broken")
	_, err := target.Compile(parse(t, bias), lowering.Options{})
	require.ErrorContains(t, err, "the compiler is broken")
	require.Equal(t, [6]int64{}, f.alive())
	e := compileFor(t, target, parse(t, bias), lowering.Options{})
	f.fail("PJRT_LoadedExecutable_Execute", 14, "device lost")
	_, err = e.Run(ctx, []*array.Array{floats(0, 0, 0)})
	require.ErrorIs(t, err, pjrt.PluginFailed)
	require.ErrorIs(t, err, pjrt.Unavailable)
	require.Equal(t, []float32{1, 2, 3}, run1(t, e, floats(0, 0, 0)))

	f.hold(1)
	short, end := context.WithTimeout(ctx, 10*time.Millisecond)
	defer end()
	_, err = e.Run(short, []*array.Array{floats(0, 0, 0)})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	f.hold(0)
	require.Equal(t, []float32{1, 2, 3}, run1(t, e, floats(0, 0, 0)))
}

func TestTargetsOfAPluginShareAClient(t *testing.T) {
	f := plugin(t)
	target := xla.Target{Plugin: f.path, Cache: "-"}
	a, err := target.Compile(parse(t, bias), lowering.Options{})
	require.NoError(t, err)
	b, err := target.Compile(parse(t, symbolic), lowering.Options{})
	require.NoError(t, err)
	require.Equal(t, int64(1), f.alive()[2])
	require.NoError(t, a.Close())
	require.NoError(t, a.Close())
	_, err = a.Run(ctx, []*array.Array{floats(0, 0, 0)})
	require.ErrorIs(t, err, lowering.Closed)
	require.Equal(t, []float32{3}, run1(t, b, floats(1), floats(2)))
	require.NoError(t, b.Close())
	require.Equal(t, [6]int64{}, f.alive())

	// whatever the plugin is called, and no client begins before the last one has ended
	t.Setenv("GOFX_PJRT_PLUGIN", f.path)
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			for range 50 {
				e, err := xla.Target{Plugin: []string{f.path, ""}[i%2], Cache: "-"}.Compile(parse(t, bias), lowering.Options{})
				require.NoError(t, err)
				require.Equal(t, int64(1), f.alive()[2])
				require.NoError(t, e.Close())
			}
		})
	}
	wg.Wait()
	require.Equal(t, [6]int64{}, f.alive())

	r, err := xla.NewRuntime(f.path)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	_, err = xla.Target{Runtime: r, Cache: "-"}.Compile(parse(t, bias), lowering.Options{})
	require.ErrorIs(t, err, lowering.Closed)
}

func TestManyGoroutinesShareAnExecutable(t *testing.T) {
	f := plugin(t)
	m := parse(t, bias)
	e := compileFor(t, xla.Target{Plugin: f.path, Cache: "-"}, m, lowering.Options{})
	s := compileFor(t, xla.Target{Plugin: f.path, Cache: "-"}, parse(t, symbolic), lowering.Options{})
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			for i := range 10 {
				require.Equal(t, []float32{1, 2, 3}, run1(t, e, floats(0, 0, 0)))
				x := array.New(array.F32, 1+(g+i)%4)
				require.Len(t, run1(t, s, x, x), 1+(g+i)%4)
				m.Param("w").Value.Storage().Bump() // as if it was written: uploaded again
			}
		})
	}
	wg.Wait()
}

// What the plugin's target does not take runs on the processor.
func TestSplitOverPluginAndProcessor(t *testing.T) {
	f := plugin(t)
	m := parse(t, bias)
	foreign := op.NewAdHoc("example.com/net", "twice", op.Args("x"), false, false, func(in []*array.Array) ([]*array.Array, error) {
		out := array.Clone(in[0])
		for i := range out.Len() {
			array.SetFloat64At(out, i, 2*array.Float64At(in[0], i))
		}
		return []*array.Array{out}, nil
	})
	out := m.Graph.Output()
	n := m.Graph.Before(out).Function(foreign, nil, out.Arg(0))
	n.SetType(out.Arg(0).Type())
	out.SetArg(0, n)
	e := compileFor(t, lowering.Split{First: xla.Target{Plugin: f.path, Cache: "-"}, Rest: cpu.Target{}, Min: 1}, m, lowering.Options{})
	require.Equal(t, []float32{22, 44, 66}, run1(t, e, floats(10, 20, 30)))
}
