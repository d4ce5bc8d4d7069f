package tune_test

import (
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/passes/quant/tune"
)

// uniform are the settings that treat all operators alike, float last.
func uniform() map[string]*quant.Config {
	list := map[string]*quant.Config{}
	for _, k := range []quant.ObserverKind{quant.MinMax, quant.Histogram, quant.Percentile, quant.Entropy} {
		c := quanttest.Static()
		c.Global.Activation.Observer.Kind = k
		list["static, "+k.String()] = c
	}
	for _, mode := range []quant.Mode{quant.Dynamic, quant.WeightOnly, quant.Float} {
		list[mode.String()] = &quant.Config{Global: quant.Setting{Mode: mode}}
	}
	return list
}

// calibrated returns the graph with observers that have seen the batches.
func calibrated(t testing.TB, m *graph.Module, c *quant.Config, in iter.Seq2[[]*array.Array, error]) *graph.Module {
	m = graph.Clone(m)
	if r := quanttest.Pipeline(t, m, quant.Prepare(c, cpu.QuantBackend())); r.Changed() {
		_, err := quant.Calibrate(ctx, m, in, quant.CalibrateOptions{})
		require.NoError(t, err)
	}
	return m
}

// inFloat counts the operators that compute in floats, whatever their weights are.
func inFloat(t *testing.T, m *graph.Module, c *quant.Config) (n int) {
	p, err := quant.Resolve(m, c, cpu.QuantBackend())
	require.NoError(t, err)
	for _, e := range p.Entries {
		if e.Part == quant.OperatorPart && e.Granted != quant.Static.String() && e.Granted != quant.Dynamic.String() {
			n++
		}
	}
	return n
}

// testMixed demands that mixed precision meets a budget, with fewer operators in floats
// than the best uniform setting that meets it.
func testMixed(t *testing.T, m *graph.Module, in iter.Seq2[[]*array.Array, error], budget tune.Decibels) {
	best := math.MaxInt
	for name, c := range uniform() {
		trials, err := tune.NewTrials(ctx, calibrated(t, m, c, in), c, cpu.QuantBackend(), in, onCPU)
		require.NoError(t, err)
		form, err := trials.Convert(ctx)
		require.NoError(t, err)
		q, err := trials.Quality(ctx, form)
		require.NoError(t, err)
		t.Logf("%s: %s, %d operators in floats", name, q, inFloat(t, m, c))
		if q >= budget {
			best = min(best, inFloat(t, m, c))
		}
	}
	c := quanttest.Static()
	trials, err := tune.NewTrials(ctx, calibrated(t, m, c, in), c, cpu.QuantBackend(), in, onCPU)
	require.NoError(t, err)
	mixed, err := trials.Mixed(ctx, tune.MixedOptions{Budget: budget})
	require.NoError(t, err)

	// The configuration alone, from the float graph on, gives what was promised.
	m2 := calibrated(t, m, mixed, in)
	trials, err = tune.NewTrials(ctx, m2, mixed, cpu.QuantBackend(), in, onCPU)
	require.NoError(t, err)
	form, err := trials.Convert(ctx)
	require.NoError(t, err)
	q, err := trials.Quality(ctx, form)
	require.NoError(t, err)
	t.Logf("mixed: %s, %d operators in floats, the best uniform setting has %d", q, inFloat(t, m, mixed), best)
	require.GreaterOrEqual(t, float64(q), float64(budget))
	require.Less(t, inFloat(t, m, mixed), best)
}

// mobileNet returns the network, optimised, and a batch.
func mobileNet(t testing.TB) (*graph.Module, []*array.Array) {
	model := models.Lookup("mobilenet_v3_large")
	net := model.New()
	models.Synthetic(model, net, "gofx-1")
	gm, err := fx.Trace(ctx, net, fx.Input("x", "f32[N,3,224,224]"))
	require.NoError(t, err)
	_, err = gm.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	gen := passes.Random{State: 9}
	return gm.Module, []*array.Array{gen.Array(array.F32, 1, 3, 224, 224)}
}

func TestMixed_mobileNet(t *testing.T) {
	fxtest.Nightly(t)
	m, in := mobileNet(t)
	testMixed(t, m, quanttest.Inputs(in), 30)
}

// BenchmarkMixedPrecisionOfMobileNet measures the uniform settings and what Mixed makes of
// measured times, in turns: of those that keep the budget, mixed is to be the fastest.
func BenchmarkMixedPrecisionOfMobileNet(b *testing.B) {
	m, in := mobileNet(b)
	const budget = 30
	one := lowering.Options{Threads: 1}
	var names []string
	var forms []*cpu.Executable
	enter := func(name string, c *quant.Config) {
		trials, err := tune.NewTrials(ctx, calibrated(b, m, c, quanttest.Inputs(in)), c, cpu.QuantBackend(), quanttest.Inputs(in), onCPU)
		require.NoError(b, err)
		form, err := trials.Convert(ctx)
		require.NoError(b, err)
		q, err := trials.Quality(ctx, form)
		require.NoError(b, err)
		b.Logf("%s: %s", name, q)
		if q < budget {
			return
		}
		quanttest.Pipeline(b, form, integer.Lower)
		e, err := cpu.Compile(form, one)
		require.NoError(b, err)
		names, forms = append(names, name), append(forms, e)
	}
	c := quanttest.Static()
	trials, err := tune.NewTrials(ctx, calibrated(b, m, c, quanttest.Inputs(in)), c, cpu.QuantBackend(), quanttest.Inputs(in), onCPU)
	require.NoError(b, err)
	mixed, err := trials.Mixed(ctx, tune.MixedOptions{Budget: budget, Cost: cpu.QuantCost(in, 20, one)})
	require.NoError(b, err)
	enter("mixed", mixed)
	for name, c := range uniform() {
		enter(name, c)
	}
	times := make([][]time.Duration, len(forms))
	for b.Loop() {
		for i, e := range forms {
			start := time.Now()
			_, err := e.Run(ctx, in)
			require.NoError(b, err)
			times[i] = append(times[i], time.Since(start))
		}
	}
	for i, t := range times {
		slices.Sort(t)
		b.ReportMetric(t[len(t)/2].Seconds()*1e3, strings.ReplaceAll(names[i], ", ", "-")+"-ms")
	}
}
