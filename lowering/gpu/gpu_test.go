package gpu_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

const mlp = `gofx 1
graph mlp(%x: f32[N,8]) {
  symbol N = dim(%x, 0)
  %w = get_attr[fc.weight] : f32[16,8]
  %b = get_attr[fc.bias] : f32[16]
  %y = call_function[linear](%x, %w, %b) : f32[N,16]
  %z = call_function[relu](%y) : f32[N,16]
  return %z
}
param fc.weight : f32[16,8]
param fc.bias : f32[16]
`

func parsed(t testing.TB, text string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte(text), "test.fx")
	require.NoError(t, err)
	for n := range m.All() {
		if n.Opcode() == graph.GetAttr {
			_, dims, _ := n.Type().Concrete()
			p := *m.Param(n.Target())
			p.Value = ramp(dims...)
			m.SetParam(p)
		}
	}
	return m
}

// ramp is an array of small numbers of both signs.
func ramp(dims ...int) *array.Array {
	a := array.New(array.F32, dims...)
	for i := range a.Len() {
		array.SetFloat64At(a, i, float64(i%13)/8-0.75)
	}
	return a
}

func interpreted(t testing.TB, m *graph.Module, in ...*array.Array) []*array.Array {
	t.Helper()
	out, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
	require.NoError(t, err)
	return out
}

func TestSizesAreLoweredOnceEach(t *testing.T) {
	g := target(t)
	m := parsed(t, mlp)
	e := compile(t, g, m)
	for _, n := range []int{3, 5, 3, 0, 5} {
		x := ramp(n, 8)
		got, err := e.Run(ctx, []*array.Array{x})
		require.NoError(t, err)
		fxtest.Close(t, "mlp", interpreted(t, m, x), got)
	}
	require.Equal(t, 3, e.Stats().Sizes.Misses)
	s := e.Stats()
	require.Equal(t, 1, s.Launches, "the bias and the activation are part of the product: %s", s)
	if g.Device.Info().Host {
		require.Equal(t, 1, s.Setup, "the weight is packed once: %s", s)
	}
	for range gpu.MaxSizes + 1 {
		_, err := e.Run(ctx, []*array.Array{ramp(7+e.Stats().Sizes.Misses, 8)})
		require.NoError(t, err)
	}
	require.Equal(t, lowering.CacheStats{Hits: 2, Misses: gpu.MaxSizes + 4, Evicted: 4, Kept: gpu.MaxSizes}, e.Stats().Sizes)
}

// short is a device that is out of memory for a while.
type short struct {
	device.Device
	full atomic.Bool
}

func (s *short) Alloc(n int) (device.Buffer, error) {
	if s.full.Load() {
		return nil, diag.New(gpu.DriverFailed, "no memory is left")
	}
	return s.Device.Alloc(n)
}

func TestALoweringThatFailedIsTriedAgain(t *testing.T) {
	d := &short{Device: run.Driver(target(t).Device)}
	m := parsed(t, mlp)
	e := compile(t, gpu.Target{Device: run.NewDevice(d)}, m)
	x := ramp(3, 8)
	d.full.Store(true)
	for range 2 {
		_, err := e.Run(ctx, []*array.Array{x})
		require.ErrorIs(t, err, gpu.DriverFailed)
	}
	d.full.Store(false)
	got, err := e.Run(ctx, []*array.Array{x})
	require.NoError(t, err)
	fxtest.Close(t, "mlp", interpreted(t, m, x), got)
}

func TestManyGoroutinesShareAnExecutable(t *testing.T) {
	g := target(t)
	m := parsed(t, mlp)
	e := compile(t, g, m)
	var all sync.WaitGroup
	for k := range 8 {
		x := ramp(3+k%2, 8)
		want := interpreted(t, m, x)
		all.Go(func() {
			for range 5 {
				got, err := e.Run(ctx, []*array.Array{x})
				if err != nil || fxtest.CloseArrays(want, got) != "" {
					t.Error(err, fxtest.CloseArrays(want, got))
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, e.Close())
	_, err := e.Run(ctx, []*array.Array{ramp(3, 8)})
	require.ErrorIs(t, err, lowering.Closed)
	require.NoError(t, e.Close())
}

// sum takes inputs of which it relies on equal sizes.
const sum = "gofx 1\n\ngraph f(%x: f32[N], %y: f32[M]) {\n  symbol N = dim(%x, 0)\n  symbol M = dim(%y, 0)\n  %s = call_function[add](%x, %y) : f32[N]\n  guard N == M from %s\n  return %s\n}\n"

func TestInputsAreChecked(t *testing.T) {
	g := target(t)
	s := compile(t, g, parsed(t, sum))
	_, err := s.Run(ctx, []*array.Array{ramp(2), ramp(3)})
	require.ErrorIs(t, err, interp.GuardFailed)
	require.ErrorContains(t, err, `input "x" is f32[2]: `)
	require.NoError(t, s.Close())
	e := compile(t, g, parsed(t, mlp))
	_, err = e.Run(ctx, nil)
	require.ErrorIs(t, err, interp.MissingInput)
	_, err = e.Run(ctx, []*array.Array{ramp(3, 9)})
	require.ErrorIs(t, err, interp.GuardFailed)
	_, err = e.Run(ctx, []*array.Array{array.New(array.I64, 3, 8)})
	require.ErrorIs(t, err, interp.GuardFailed)
	_, err = e.Run(ctx, []*array.Array{ramp(3, 8), ramp(1)})
	require.ErrorIs(t, err, interp.ExtraInput)
	_, err = g.Compile(parsed(t, mlp), lowering.Options{Exact: true})
	require.ErrorIs(t, err, lowering.BadOption)
	_, err = g.Compile(parsed(t, mlp), lowering.Options{Weights: array.BF16})
	require.ErrorIs(t, err, lowering.BadOption)
}

// TestAbsentResults: as on the processor, they are refused, and left out by an option.
func TestAbsentResults(t *testing.T) {
	g, _ := onCUDA(t)
	m := parsed(t, "gofx 1\ngraph g(%x: f32[2]) {\n  %y = call_function[neg](%x)\n  return (%y, _, %x)\n}\n")
	_, err := g.Compile(m, lowering.Options{})
	require.ErrorIs(t, err, interp.Undefined)
	require.ErrorContains(t, err, "result 1 is absent")
	e, err := g.Compile(m, lowering.Options{Outputs: []int{2, 0}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	got, err := e.Run(ctx, []*array.Array{ramp(2)})
	require.NoError(t, err)
	require.Equal(t, array.Data[float32](ramp(2)), array.Data[float32](got[0]))
	require.Equal(t, []float32{0.75, 0.625}, array.Data[float32](got[1]))
}

func TestIndexOutOfRangeIsAnError(t *testing.T) {
	g := target(t)
	m := parsed(t, `gofx 1
graph lookup(%i: i64[3]) {
  %w = get_attr[table] : f32[4,2]
  %y = call_function[embedding](%i, %w)
  return %y
}
param table : f32[4,2]
`)
	e := compile(t, g, m)
	for range 2 {
		_, err := e.Run(ctx, []*array.Array{array.FromSlice([]int64{0, 4, 1})})
		require.ErrorIs(t, err, gpu.OutOfRange)
		require.ErrorContains(t, err, "embedding")
		got, err := e.Run(ctx, []*array.Array{array.FromSlice([]int64{0, 3, 1})})
		require.NoError(t, err)
		require.Equal(t, []float32{-0.75, -0.625, 0, 0.125, -0.5, -0.375}, array.Data[float32](got[0]))
	}
}

// TestRestRunsOnTheCPU: what the device has no kernel for falls back, counted.
func TestRestRunsOnTheCPU(t *testing.T) {
	g := target(t)
	m := parsed(t, `gofx 1
graph mixed(%x: f32[2,4,4]) {
  %a = call_function[exp](%x)
  %d = call_function[det](%a)
  %y = call_function[tanh](%d)
  return %y
}
`)
	require.NotEmpty(t, lowering.Query(g, m.Graph))
	_, err := g.Compile(m, lowering.Options{})
	require.ErrorIs(t, err, lowering.Unsupported)
	e, err := lowering.Split{First: g, Rest: cpu.Target{}}.Compile(m, lowering.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	x := ramp(2, 4, 4)
	got, err := e.Run(ctx, []*array.Array{x})
	require.NoError(t, err)
	fxtest.Close(t, "mixed", interpreted(t, m, x), got)
	s := e.(*lowering.Pieces).Stats()
	require.Len(t, s.Fallback, 1)
	require.Equal(t, "d", s.Fallback[0].Node)
}

// TestBuiltProgramsAreKept: a second device of the same driver builds nothing.
func TestBuiltProgramsAreKept(t *testing.T) {
	first := target(t)
	cache := t.TempDir()
	try := func() gpu.BuildStats {
		d := run.NewDevice(run.Driver(first.Device))
		g := gpu.Target{Device: d, Cache: cache}
		m := parsed(t, mlp)
		for range 2 {
			got, err := compile(t, g, m).Run(ctx, []*array.Array{ramp(2, 8)})
			require.NoError(t, err)
			fxtest.Close(t, "mlp", interpreted(t, m, ramp(2, 8)), got)
		}
		return d.Builds()
	}
	require.Equal(t, gpu.BuildStats{Built: 1, Shared: 1}, try())
	require.Equal(t, gpu.BuildStats{Loaded: 1, Shared: 1}, try())
}

// losing is a driver whose queues lose the device at the launch that is said.
type losing struct {
	device.Device
	left int
}

type losingQueue struct {
	device.Queue
	d *losing
}

func (d *losing) NewQueue() (device.Queue, error) {
	q, err := d.Device.NewQueue()
	return losingQueue{q, d}, err
}

func (q losingQueue) Launch(l *device.Launch) error {
	if q.d.left--; q.d.left < 0 {
		return diag.New(device.Lost, "the device is lost")
	}
	return q.Queue.Launch(l)
}

func TestLostDevice(t *testing.T) {
	first := target(t)
	away := &losing{Device: run.Driver(first.Device), left: 2} // one launch packs the weight, where it is packed
	d := run.NewDevice(away)
	m := parsed(t, mlp)
	e, err := gpu.Target{Device: d, Cache: "-"}.Compile(m, lowering.Options{})
	require.NoError(t, err)
	x := []*array.Array{ramp(2, 8)}
	want := interpreted(t, m, x...)
	got, err := e.Run(ctx, x)
	require.NoError(t, err)
	fxtest.Close(t, "before", want, got)
	away.left = 0
	_, err = e.Run(ctx, x)
	require.ErrorIs(t, err, gpu.Lost)
	require.NoError(t, e.Close())
	rest, err := cpu.Target{}.Compile(m, lowering.Options{})
	require.NoError(t, err)
	got, err = rest.Run(ctx, x)
	require.NoError(t, err)
	fxtest.Close(t, "after", want, got)
}
