package gpu_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda/cudatest"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	clang "github.com/gofx-dev/gofx/lowering/gpu/internal/ptx"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// listener keeps the sources that its device is asked to build.
type listener struct {
	device.Device
	mu      sync.Mutex
	sources []string
}

func (l *listener) Build(source string, binary []byte) (device.Program, bool, error) {
	l.mu.Lock()
	l.sources = append(l.sources, source)
	l.mu.Unlock()
	return l.Device.Build(source, binary)
}

// onCUDA returns a target for the CUDA device of the tests, which computes on the host.
func onCUDA(t testing.TB) (gpu.Target, *listener) {
	t.Helper()
	l := &listener{Device: cudatest.New(t).Device()}
	return gpu.Target{Device: run.NewDevice(l), Cache: "-"}, l
}

// TestEverySampleByCUDA runs all samples of all operators that the target supports through
// the CUDA driver of the tests, many operators in one program, and compiles the same
// sources to PTX where there is a compiler for that.
func TestEverySampleByCUDA(t *testing.T) {
	g, l := onCUDA(t)
	var ops []*op.Op
	for _, o := range op.All() {
		if !o.Structural() && !o.AdHoc {
			ops = append(ops, o)
		}
	}
	ran := 0
	const together = 40
	for part := range slices.Chunk(ops, together) {
		t.Run(part[0].Key()+" to "+part[len(part)-1].Key(), func(t *testing.T) {
			ran += samplesTogether(t, g, part, func(o *op.Op) []op.Sample { return chosen(o.Samples()) }, cancels)
		})
	}
	t.Logf("%d samples ran", ran)
	require.Greater(t, ran, 300)
	t.Run("ptx", func(t *testing.T) { ptx(t, l.sources) })
}

// TestPlansAreReplayed: after the first run a run launches one recording, and nothing else.
func TestPlansAreReplayed(t *testing.T) {
	drv := cudatest.New(t)
	g := gpu.Target{Device: run.NewDevice(drv.Device()), Cache: "-"}
	b := newTogether(t)
	x := array.FromSlice([]float32{1, 4, 9}, 3)
	in := b.operands([]*array.Array{x})[0]
	root := b.c.Function(std.Sqrt, nil, in)
	b.result(root, 0)
	b.result(b.c.Function(std.Sum, std.ReduceAttrs{}, root), 1)
	e, err := g.Compile(b.module(), lowering.Options{})
	require.NoError(t, err)
	for range 3 {
		got, err := e.Run(ctx, b.in)
		require.NoError(t, err)
		require.Equal(t, float32(6), array.Data[float32](got[1])[0])
	}
	require.Equal(t, 3, drv.Calls("cuGraphLaunch"))
	require.Equal(t, 2, drv.Calls("cuLaunchKernel"), "while they were recorded")
	require.NoError(t, e.Close())
	require.Zero(t, drv.Alive(cudatest.Execs))
}

// samplesTogether runs samples of several operators in one program. Results may differ by
// their tolerance, and where near, if it is given, says so.
func samplesTogether(t *testing.T, g gpu.Target, ops []*op.Op, samples func(*op.Op) []op.Sample, near func(want, got *array.Array) bool) (ran int) {
	b := newTogether(t)
	type call struct {
		o    *op.Op
		s    op.Sample
		args []*graph.Node
	}
	var calls []call
	for _, o := range ops {
		for _, s := range samples(o) {
			calls = append(calls, call{o, s, b.operands(s.In)})
		}
	}
	var want []*array.Array
	for i, c := range calls {
		n := b.c.Function(c.o, c.s.Attrs, c.args...)
		if ok, _ := g.Supports(n); !ok || !everyRun(n) {
			require.NoError(t, b.m.Graph.Erase(n))
			continue
		}
		w, err := c.o.Eval(&kernel.Workspace{}, c.s.Attrs, c.s.In)
		require.NoError(t, err, c.s.Name)
		b.result(n, i)
		want = append(want, w...)
		ran++
	}
	if ran == 0 {
		return 0
	}
	e, err := g.Compile(b.module(), lowering.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	got, err := e.Run(ctx, b.in)
	require.NoError(t, err)
	require.Len(t, got, len(want))
	for i := range got {
		c := calls[b.of[i]]
		if d := fxtest.Beyond(c.o, c.s.Attrs, c.s.In, want[i], got[i]); d != "" && (near == nil || !near(want[i], got[i])) {
			t.Errorf("%s %s: %s", c.o.Key(), c.s.Name, d)
		}
	}
	return ran
}

// cancels reports whether floats differ by no more than the roundings of numbers near 1:
// the host's functions of mathematics are others than ours, and what is made of several
// may be the small difference of larger ones.
func cancels(want, got *array.Array) bool {
	u, float := fxtest.Rounding[want.DType()]
	if !float || got.DType() != want.DType() || got.Len() != want.Len() {
		return false
	}
	for k := range want.Len() {
		x, y := array.Float64At(want, k), array.Float64At(got, k)
		if x != y && !(x != x && y != y) && !(math.Abs(x-y) <= 2*u*max(1, math.Abs(x))) {
			return false
		}
	}
	return true
}

// ptx compiles sources to PTX for sm_90, as a user's driver gets it, which calls nothing that
// the driver does not have.
func ptx(t *testing.T, sources []string) {
	for i, s := range sources {
		made, err := clang.Compile(s, clang.Hopper)
		if errors.Is(err, clang.ErrNoCompiler) {
			t.Skip(err)
		}
		require.NoError(t, err, "source %d", i)
		require.Contains(t, string(made), ".target sm_90")
		require.NotContains(t, string(made), ".extern .func")
		require.Equal(t, strings.Contains(s, "FX_TENSOR"), strings.Contains(string(made), "mma.sync.aligned."), "tensor cores where they are called")
		require.Equal(t, strings.Count(s, "\nKERNEL("), strings.Count(string(made), ".visible .entry "), "every kernel is an entry")
	}
}
