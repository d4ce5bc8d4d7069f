package gpu_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/expand"
)

// hostOnly are the operators that no device runs: each call of them falls back, for the reason
// that package expand has.
const hostOnly = `det non_max_suppression non_max_suppression_limits nonzero observe range sized unique`

// TestOperatorsWithoutKernels holds the list of operators that devices do not run at all.
func TestOperatorsWithoutKernels(t *testing.T) {
	g := gpu.Target{Device: run.NewDevice(&failing{})}
	var none []string
	for _, o := range op.All() {
		if o.Structural() || o.AdHoc || o.Path != "" {
			continue
		}
		some, reason := false, ""
		for _, s := range o.Samples() {
			b := newTogether(t)
			ok, why := g.Supports(b.c.Function(o, s.Attrs, b.operands(s.In)...))
			require.True(t, ok || why != "", o.Key())
			some, reason = some || ok, why
		}
		if !some {
			none = append(none, o.Key())
			require.Equal(t, expand.Reasons()[o], reason, o.Key())
		}
	}
	slices.Sort(none)
	require.Equal(t, strings.Fields(hostOnly), none)
}

// single is a device without floats of 64 bits.
type single struct{ device.Device }

func (d single) Info() device.Info {
	i := d.Device.Info()
	i.Doubles = false
	return i
}

func (d single) Build(source string, binary []byte) (device.Program, bool, error) {
	return d.Device.Build(strings.ReplaceAll(source, "#define FX_F64\n", ""), binary)
}

// TestIntegersWithoutDoubles: integers become floats of 16 bits, rounded once, where a device has no f64.
func TestIntegersWithoutDoubles(t *testing.T) {
	fake, _ := onCUDA(t)
	g := gpu.Target{Device: run.NewDevice(single{run.Driver(fake.Device)}), Cache: "-"}
	b := newTogether(t)
	for _, d := range []array.DType{array.I64, array.U64, array.I32, array.U32, array.I16} {
		a := array.New(d, 64*10)
		for i := range a.Len() { // powers of 2, the middles between numbers of 16 bits, and what is next to them
			n := i / 10
			x := int64(1)<<n + []int64{0, 1 << n >> 8, 1 << n >> 11, 3 << n >> 8, 3 << n >> 11}[i%5]
			array.SetInt64At(a, i, []int64{x + 1, 1 - x, x - 1, -1 - x, x, -x}[i%6])
		}
		b.operands([]*array.Array{a})
	}
	for i, n := range b.m.Graph.Inputs() {
		for _, to := range []array.DType{array.F16, array.BF16} {
			b.result(b.c.Function(std.Cast, std.CastAttrs{DType: to}, n), i)
		}
	}
	m := b.module()
	got, err := compile(t, g, m).Run(ctx, b.in)
	require.NoError(t, err)
	fxtest.Same(t, "casts", interpreted(t, m, b.in...), got)
}

// wide is a device whose work-items are the lanes, as those of GPUs are: groups reduce
// together and products have small tiles.
type wide struct{ device.Device }

func (d wide) Info() device.Info {
	i := d.Device.Info()
	i.Vector, i.Host = 1, false
	return i
}

// processor is a device that has the vectors of a CPU. The driver of the tests compiles faster
// than PoCL.
type processor struct{ device.Device }

func (d processor) Info() device.Info {
	i := d.Device.Info()
	i.Vector, i.Host = 16, true
	return i
}

// grouped returns a target for the first device as if it was a GPU.
func grouped(t testing.TB) gpu.Target {
	t.Helper()
	return gpu.Target{Device: run.NewDevice(wide{run.Driver(target(t).Device)}), Cache: "-"}
}

// TestWideGroups runs what a GPU would be given on the device there is.
func TestWideGroups(t *testing.T) {
	g := grouped(t)
	m := parsed(t, `gofx 1
graph wide(%x: f32[3,600], %y: f32[600,9], %i: f32[1,3,6,6]) {
  %w = get_attr[w] : f32[8,3,3,3]
  %s = call_function[sum](%x) {dim=[-1]}
  %m = call_function[softmax](%x) {dim=-1}
  %v = call_function[var](%x) {dim=[-1]}
  %p = call_function[matmul](%x, %y)
  %c = call_function[conv2d](%i, %w)
  %n = call_function[amax](%y) {dim=[0]}
  return %s, %m, %v, %p, %c, %n
}
param w : f32[8,3,3,3]
`)
	in := []*array.Array{ramp(3, 600), ramp(600, 9), ramp(1, 3, 6, 6)}
	want := interpreted(t, m, in...)
	got, err := compile(t, g, m).Run(ctx, in)
	require.NoError(t, err)
	fxtest.Close(t, "wide", want, got)
}
