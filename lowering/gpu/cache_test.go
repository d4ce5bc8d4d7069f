package gpu_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

type rateAttrs struct {
	Rate float64 `fx:",param"`
	Up   bool
}

// step is x plus a rate times x, of which the rate is data.
var step = op.Define("step_by", op.Spec[rateAttrs]{
	Doc: "step_by returns x + rate·x, or x - rate·x.",
	In:  op.Args("x"),
	Expr: func(b *expr.Builder, a rateAttrs, x []expr.Value) []expr.Value {
		d := b.Mul(x[0], b.Like(x[0], a.Rate))
		if a.Up {
			return []expr.Value{b.Add(x[0], d)}
		}
		return []expr.Value{b.Sub(x[0], d)}
	},
})

// stepped is a graph that calls step on a value of these sizes.
func stepped(a rateAttrs, dims ...int) *graph.Module {
	g := graph.New("stepped")
	c := g.At()
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(dims...)), nil)
	y := c.Function(step, a, x)
	c.Output(nil, y, c.Function(op.Lookup("sin"), nil, y))
	return graph.NewModule(g)
}

// newer is a driver of another version.
type newer struct{ device.Device }

func (d newer) Info() device.Info {
	i := d.Device.Info()
	i.Driver += " of tomorrow"
	return i
}

// TestWhatMakesAnotherProgram: a second process builds nothing for the same graph with other
// data, and builds for all else.
func TestWhatMakesAnotherProgram(t *testing.T) {
	driver := run.Driver(target(t).Device)
	cache := t.TempDir()
	try := func(d device.Device, m *graph.Module, o lowering.Options, x *array.Array) gpu.BuildStats {
		dev := run.NewDevice(d)
		e, err := gpu.Target{Device: dev, Cache: cache}.Compile(m, o)
		require.NoError(t, err)
		got, err := e.Run(ctx, []*array.Array{x})
		require.NoError(t, err)
		want := interpreted(t, m, x)
		if o.Outputs != nil {
			want = []*array.Array{want[o.Outputs[0]]}
		}
		fxtest.Close(t, m.Graph.Name, want, got)
		require.NoError(t, e.Close())
		return dev.Builds()
	}
	x := ramp(3, 4)
	base := rateAttrs{Rate: 0.125, Up: true}
	require.Equal(t, gpu.BuildStats{Built: 1}, try(driver, stepped(base, 3, 4), lowering.Options{}, x))
	hit, miss := gpu.BuildStats{Loaded: 1}, gpu.BuildStats{Built: 1}
	require.Equal(t, hit, try(driver, stepped(base, 3, 4), lowering.Options{}, x), "the same again")
	require.Equal(t, hit, try(driver, stepped(rateAttrs{Rate: -3, Up: true}, 3, 4), lowering.Options{}, x), "a value that is data")
	require.Equal(t, miss, try(driver, stepped(rateAttrs{Rate: 0.125}, 3, 4), lowering.Options{}, x), "an attribute that is structure")
	require.Equal(t, miss, try(driver, stepped(base, 3, 5), lowering.Options{}, ramp(3, 5)), "sizes")
	require.Equal(t, miss, try(driver, stepped(base, 3, 4), lowering.Options{Outputs: []int{1}}, x), "results")
	require.Equal(t, miss, try(driver, stepped(base, 3, 4), lowering.Options{Donate: []int{0}}, x), "donated inputs")
	require.Equal(t, miss, try(newer{driver}, stepped(base, 3, 4), lowering.Options{}, x), "the version of the driver")
	files, err := filepath.Glob(filepath.Join(cache, "*.bin"))
	require.NoError(t, err)
	require.Len(t, files, 6)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(f, data[:len(data)/2], 0o600))
	}
	require.Equal(t, miss, try(driver, stepped(base, 3, 4), lowering.Options{}, x), "a damaged file")
}

// TestDataIsNoPartOfTheSource: also of rates for which the expression has other constants.
func TestDataIsNoPartOfTheSource(t *testing.T) {
	g := target(t)
	for _, rate := range []float64{0, 1, 2, 1e30, -0.5} {
		m := stepped(rateAttrs{Rate: rate}, 2, 3)
		got, err := compile(t, g, m).Run(ctx, []*array.Array{ramp(2, 3)})
		require.NoError(t, err)
		fxtest.Close(t, "rate", interpreted(t, m, ramp(2, 3)), got)
	}
	require.False(t, strings.Contains(stepped(rateAttrs{}, 2).Graph.String(), "param:"), "the user's graph stays")
}

// TestASecondRunCompilesNothing: another process finds the kernels of a network on disk.
func TestASecondRunCompilesNothing(t *testing.T) {
	driver := run.Driver(target(t).Device)
	for _, name := range []string{"resnet18", "resnet50"} {
		t.Run(name, func(t *testing.T) {
			if name != "resnet18" {
				fxtest.Nightly(t)
			}
			model := models.Lookup(name)
			m, in := traced(t, model)
			cache := t.TempDir()
			var first []*array.Array
			for _, want := range []gpu.BuildStats{{Built: 1}, {Loaded: 1}} {
				d := run.NewDevice(driver)
				e, err := gpu.Target{Device: d, Cache: cache}.Compile(m, lowering.Options{})
				require.NoError(t, err)
				got, err := e.Run(ctx, in)
				require.NoError(t, err)
				require.NoError(t, e.Close())
				require.Equal(t, want, d.Builds())
				if first == nil {
					first = got
				}
				fxtest.Close(t, name, first, got)
			}
		})
	}
}
