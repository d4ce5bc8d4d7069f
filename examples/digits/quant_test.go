package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/passes/quant/tune"
)

// one yields a single batch.
func one(x *array.Array) func(yield func([]*array.Array, error) bool) {
	return func(yield func([]*array.Array, error) bool) { yield([]*array.Array{x}, nil) }
}

// optimised returns the network as it is quantised.
func optimised(t testing.TB) *fx.GraphModule {
	t.Helper()
	ctx := context.Background()
	m := NewNet()
	require.NoError(t, nn.LoadFile(m, "digits.safetensors"))
	gm, err := fx.Trace(ctx, m, fx.Input("x", "f32[N,1,8,8]"))
	require.NoError(t, err)
	_, err = gm.Apply(ctx, fx.Optimise(), fx.PassOptions{})
	require.NoError(t, err)
	return gm
}

// quantised returns the network as a configuration quantises it, before and after
// quant-lower.
func quantised(t *testing.T, config *quant.Config) (reference, lowered *fx.GraphModule) {
	t.Helper()
	ctx := context.Background()
	gm := optimised(t)
	backend := cpu.QuantBackend()
	apply := func(list ...fx.Pass) {
		t.Helper()
		_, err := gm.Apply(ctx, list, fx.PassOptions{})
		require.NoError(t, err)
	}
	if config.Global.Mode == quant.Static {
		apply(quant.Prepare(config, backend))
		x, err := npy.ReadFile("calibration.npy")
		require.NoError(t, err)
		n, err := quant.Calibrate(ctx, gm.Module, one(x), quant.CalibrateOptions{})
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	apply(quant.Convert(config, backend))
	reference = fx.NewGraphModule(graph.Clone(gm.Module))
	apply(integer.Lower)
	return reference, gm
}

// planned runs the compiled plan of a graph.
func planned(t *testing.T, gm *fx.GraphModule, x *array.Array) []float32 {
	t.Helper()
	exe, err := cpu.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err)
	defer exe.Close()
	out, err := exe.Run(context.Background(), []*array.Array{x})
	require.NoError(t, err)
	return array.Data[float32](array.Contiguous(out[0]))
}

// interpreted runs a graph in the interpreter.
func interpreted(t *testing.T, gm *fx.GraphModule, x *array.Array) []float32 {
	t.Helper()
	out, err := gm.RunArrays(context.Background(), []*array.Array{x})
	require.NoError(t, err)
	return array.Data[float32](array.Contiguous(out[0]))
}

// TestQuantisedAccuracy quantises the network in every mode and counts the digits of
// the test split that are right; float gets 447.
func TestQuantisedAccuracy(t *testing.T) {
	images, labels, err := testSplit()
	require.NoError(t, err)
	x := array.FromSlice(images, len(labels), 1, 8, 8)
	four := quant.Scheme{Bits: 4, Granularity: quant.PerGroup, Group: 32}
	for name, c := range map[string]struct {
		config quant.Config
		least  int
	}{
		"static, histogram":  {quant.Config{Global: quant.Setting{Mode: quant.Static}}, 445},
		"static, min_max":    {quant.Config{Global: quant.Setting{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.MinMax}}}}, 445},
		"static, entropy":    {quant.Config{Global: quant.Setting{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.Entropy}}}}, 445},
		"static, percentile": {quant.Config{Global: quant.Setting{Mode: quant.Static, Activation: quant.Scheme{Observer: quant.Observer{Kind: quant.Percentile}}}}, 445},
		"static, i8":         {quant.Config{Global: quant.Setting{Mode: quant.Static, Activation: quant.Scheme{DType: array.I8, Symmetry: quant.Symmetric}}}, 445},
		"dynamic":            {quant.Config{Global: quant.Setting{Mode: quant.Dynamic}}, 445},
		"weights":            {quant.Config{Global: quant.Setting{Mode: quant.WeightOnly}}, 445},
		"weights, 4 bits":    {quant.Config{Global: quant.Setting{Mode: quant.WeightOnly, Weight: four}}, 440},
	} {
		reference, lowered := quantised(t, &c.config)
		a, b := interpreted(t, lowered, x), planned(t, lowered, x)
		t.Logf("%s: %d, lowered %d, planned %d of %d", name, right(interpreted(t, reference, x), labels), right(a, labels), right(b, labels), len(labels))
		require.GreaterOrEqual(t, right(interpreted(t, reference, x), labels), c.least, name)
		require.GreaterOrEqual(t, right(b, labels), c.least, name)
		require.Equal(t, argmax(a, 10), argmax(b, 10), "%s: predictions of the interpreter and of the plan", name)
	}
}

// logitsOf returns the logits of a generated package, and those of the interpreter and
// of the plan on the graph that its configuration gives.
func logitsOf(t *testing.T, p generated, images []float32, n int) (gen, interp, plan []float32) {
	t.Helper()
	net, err := p.load()
	require.NoError(t, err)
	out, err := net.Forward(context.Background(), array.DenseOf(images, n, 1, 8, 8))
	require.NoError(t, err)
	text, err := os.ReadFile(p.config)
	require.NoError(t, err)
	config, err := quant.ParseConfig(text, p.config)
	require.NoError(t, err)
	_, gm := quantised(t, config)
	x := array.FromSlice(images, n, 1, 8, 8)
	return out.Data(), interpreted(t, gm, x), planned(t, gm, x)
}

// TestQuantisedPackages compares the output of go generate with the graphs, and with
// the float package: at most half a percent fewer digits are right, the file of
// weights is under 30 % of the size.
func TestQuantisedPackages(t *testing.T) {
	images, labels, err := testSplit()
	require.NoError(t, err)
	size := func(folder string) float64 {
		info, err := os.Stat(filepath.Join(folder, "weights.safetensors"))
		require.NoError(t, err)
		return float64(info.Size())
	}
	const float = 447 // right answers of digitsnet
	for _, p := range packages()[1:] {
		require.Less(t, size(p.folder), 0.3*size("digitsnet"), p.folder)
		gen, interp, plan := logitsOf(t, p, images, len(labels))
		require.GreaterOrEqual(t, float64(right(gen, labels)), float-0.005*float64(len(labels)), p.folder)
		require.Equal(t, plan, gen, "%s: logits of the plan and of generated code", p.folder)
		require.Equal(t, argmax(interp, 10), argmax(gen, 10), "%s: predictions of the interpreter and of generated code", p.folder)
		if p.folder == "staticnet" { // float convolutions of the others differ in the last bits
			require.Equal(t, interp, gen, "%s: logits of the interpreter and of generated code", p.folder)
		}
	}
}

// TestCommandPrintsAccuracies runs the code of go run.
func TestCommandPrintsAccuracies(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, run(&b))
	for _, line := range []string{
		"float        447 of 449 test digits are right (99.55 %), by the generated package digitsnet",
		"static int8  448 of 449 test digits are right (99.78 %), by the generated package staticnet",
		"dynamic int8 448 of 449 test digits are right (99.78 %), by the generated package dynamicnet",
		"int4         448 of 449 test digits are right (99.78 %), by the generated package int4net",
	} {
		require.Contains(t, b.String(), line+"\n")
	}
}

// TestMixedPrecision demands that the network meets a budget, with fewer operators in
// floats than the best setting for all operators that meets it.
func TestMixedPrecision(t *testing.T) {
	ctx := context.Background()
	x, err := npy.ReadFile("calibration.npy")
	require.NoError(t, err)
	float := optimised(t)
	backend := cpu.QuantBackend()
	trialsOf := func(c *quant.Config) *tune.Trials {
		gm := fx.NewGraphModule(graph.Clone(float.Module))
		r, err := gm.Apply(ctx, []fx.Pass{quant.Prepare(c, backend)}, fx.PassOptions{})
		require.NoError(t, err)
		if r.Changed() {
			_, err := quant.Calibrate(ctx, gm.Module, one(x), quant.CalibrateOptions{})
			require.NoError(t, err)
		}
		trials, err := tune.NewTrials(ctx, gm.Module, c, backend, one(x), nil)
		require.NoError(t, err)
		return trials
	}
	quality := func(c *quant.Config) (q tune.Decibels, floats int) {
		trials := trialsOf(c)
		form, err := trials.Convert(ctx)
		require.NoError(t, err)
		q, err = trials.Quality(ctx, form)
		require.NoError(t, err)
		p, err := quant.Resolve(float.Module, c, backend)
		require.NoError(t, err)
		for _, e := range p.Entries {
			if e.Part == quant.OperatorPart && e.Granted != quant.Static.String() && e.Granted != quant.Dynamic.String() {
				floats++
			}
		}
		return q, floats
	}
	setting := func(mode quant.Mode, kind quant.ObserverKind) *quant.Config {
		return &quant.Config{Global: quant.Setting{Mode: mode, Activation: quant.Scheme{Observer: quant.Observer{Kind: kind}}}}
	}
	static := setting(quant.Static, quant.Histogram)
	const budget = 40
	best := math.MaxInt
	for _, c := range []*quant.Config{static, setting(quant.Static, quant.MinMax), setting(quant.Static, quant.Entropy), setting(quant.Static, quant.Percentile),
		{Global: quant.Setting{Mode: quant.Dynamic}}, {Global: quant.Setting{Mode: quant.WeightOnly}}, {Global: quant.Setting{Mode: quant.Float}}} {
		q, floats := quality(c)
		t.Logf("%s, %s: %s, %d operators in floats", c.Global.Mode, c.Global.Activation.Observer.Kind, q, floats)
		if q >= budget {
			best = min(best, floats)
		}
	}
	mixed, err := trialsOf(static).Mixed(ctx, tune.MixedOptions{Budget: budget})
	require.NoError(t, err)
	q, floats := quality(mixed)
	t.Logf("mixed: %s, %d operators in floats, the best uniform setting has %d", q, floats, best)
	require.GreaterOrEqual(t, float64(q), float64(budget))
	require.Less(t, floats, best)
}

// BenchmarkMixedPrecision measures, in turns, the settings for all operators that keep 40
// dB and Mixed's result for measured times, on the images of the calibration.
func BenchmarkMixedPrecision(b *testing.B) {
	ctx := context.Background()
	x, err := npy.ReadFile("calibration.npy")
	require.NoError(b, err)
	const budget = 40
	float, backend, thread := optimised(b), cpu.QuantBackend(), lowering.Options{Threads: 1}
	trialsOf := func(c *quant.Config) *tune.Trials {
		gm := fx.NewGraphModule(graph.Clone(float.Module))
		r, err := gm.Apply(ctx, []fx.Pass{quant.Prepare(c, backend)}, fx.PassOptions{})
		require.NoError(b, err)
		if r.Changed() {
			_, err := quant.Calibrate(ctx, gm.Module, one(x), quant.CalibrateOptions{})
			require.NoError(b, err)
		}
		trials, err := tune.NewTrials(ctx, gm.Module, c, backend, one(x), nil)
		require.NoError(b, err)
		return trials
	}
	static := &quant.Config{Global: quant.Setting{Mode: quant.Static}}
	mixed, err := trialsOf(static).Mixed(ctx, tune.MixedOptions{Budget: budget, Cost: cpu.QuantCost([]*array.Array{x}, 20, thread)})
	require.NoError(b, err)
	configs := map[string]*quant.Config{"mixed": mixed, "static": static}
	for _, mode := range []quant.Mode{quant.Dynamic, quant.WeightOnly, quant.Float} {
		configs[mode.String()] = &quant.Config{Global: quant.Setting{Mode: mode}}
	}
	forms, times := map[string]*cpu.Executable{}, map[string][]time.Duration{}
	for name, c := range configs {
		trials := trialsOf(c)
		form, err := trials.Convert(ctx)
		require.NoError(b, err)
		q, err := trials.Quality(ctx, form)
		require.NoError(b, err)
		b.Logf("%s: %s", name, q)
		if q < budget {
			continue
		}
		gm := fx.NewGraphModule(form)
		_, err = gm.Apply(ctx, []fx.Pass{integer.Lower}, fx.PassOptions{})
		require.NoError(b, err)
		forms[name], err = cpu.Compile(gm.Module, thread)
		require.NoError(b, err)
	}
	for b.Loop() {
		for name, e := range forms {
			start := time.Now()
			_, err := e.Run(ctx, []*array.Array{x})
			require.NoError(b, err)
			times[name] = append(times[name], time.Since(start))
		}
	}
	for name, t := range times {
		slices.Sort(t)
		b.ReportMetric(t[len(t)/2].Seconds()*1e3, name+"-ms")
	}
}
