package parity

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/passes/quant/tune"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
)

func init() { area("2.10", observeRows, toolRows) }

// single is a product with a matrix: %x is the only value that is observed.
const single = `graph net(%x: f32[?,4]) {
  %w = get_attr[w] : f32[2,4]
  %y = call_function[linear](%x, %w) : f32[?,2]
  return %y
}
param w : f32[2,4]
`

// singleModule is single with a weight.
func singleModule(t *testing.T) *graph.Module {
	t.Helper()
	m := parse(t, single)
	p := *m.Param("w")
	p.Value = array.FromSlice([]float32{1, -2, 3, -4, 0.5, 0, 0, 0.25}, 2, 4)
	m.SetParam(p)
	return m
}

// observed prepares single for a scheme, runs it on rows of four, and returns it with its
// configuration.
func observed(t *testing.T, s quant.Scheme, rows ...[]float32) (*graph.Module, *quant.Config) {
	t.Helper()
	m := singleModule(t)
	c := &quant.Config{Global: quant.Setting{Mode: quant.Static, Activation: s}}
	apply2(t, m, quant.Prepare(c, cpu.QuantBackend()))
	var all [][]*array.Array
	for _, r := range rows {
		all = append(all, []*array.Array{array.FromSlice(r, len(r)/4, 4)})
	}
	_, err := quant.Calibrate(context.Background(), m, of(all...), quant.CalibrateOptions{})
	require.NoError(t, err)
	return m, c
}

// parameters are scale and zero point that rows give.
func parameters(t *testing.T, s quant.Scheme, rows ...[]float32) (scale, zero float64) {
	t.Helper()
	m, c := observed(t, s, rows...)
	apply2(t, m, quant.Convert(c, cpu.QuantBackend()))
	return array.Float64At(m.Param("quantised.x.scale").Value, 0), array.Float64At(m.Param("quantised.x.zero").Value, 0)
}

var minMax = quant.Scheme{Observer: quant.Observer{Kind: quant.MinMax}}

// extremes are the extremes that an observer has seen.
func extremes(m *graph.Module) []float64 { return array.Data[float64](m.Param("quant.x.seen").Value) }

var observeRows = []row{
	{id: "167", input: "1 to 8, in one batch and in two: u8 affine, u8 symmetric, i8 symmetric; a moving average", outcome: "8/255 and 0; 8/127 and 128; 8/127 and 0; a hundredth of the way", on: in(quant.Calibrate, quant.Convert), test: func(t *testing.T) {
		data := []float32{1, 2, 3, 4, 5, 6, 7, 8}
		for _, rows := range [][][]float32{{data}, {data[4:], data[:4]}} {
			scale, zero := parameters(t, minMax, rows...)
			require.InDelta(t, 8./255, scale, 1e-7)
			require.Zero(t, zero)
			s := minMax
			s.Symmetry = quant.Symmetric
			scale, zero = parameters(t, s, rows...)
			require.InDelta(t, 8./127, scale, 1e-7)
			require.Equal(t, 128., zero)
			s.DType = array.I8
			scale, zero = parameters(t, s, rows...)
			require.InDelta(t, 8./127, scale, 1e-7)
			require.Zero(t, zero)
		}
		m, _ := observed(t, quant.Scheme{Observer: quant.Observer{Kind: quant.MovingAverage}}, []float32{0, 0, 0, 1}, []float32{0, 0, 0, 2})
		require.InDelta(t, 1.01, extremes(m)[1], 1e-9)
	}},
	{id: "168", input: "a weight with rows of other ranges, a scale for each channel and for the tensor", outcome: "the largest magnitude of each row over 127; of all", on: in(quant.Convert), test: func(t *testing.T) {
		m, c := observed(t, minMax, []float32{1, 2, 3, 4})
		apply2(t, m, quant.Convert(c, cpu.QuantBackend()))
		require.InDeltaSlice(t, []float32{4. / 127, 0.5 / 127}, array.Data[float32](m.Param("w_scale").Value), 1e-7)
		require.Equal(t, []int8{32, -64, 95, -127, 127, 0, 0, 64}, array.Data[int8](m.Param("w_quantised").Value))
		m = singleModule(t)
		whole := mode(quant.WeightOnly)
		whole.Global.Weight.Granularity = quant.PerTensor
		apply2(t, m, quant.Convert(whole, cpu.QuantBackend()))
		require.InDelta(t, 4./127, array.Float64At(m.Param("w_scale").Value, 0), 1e-7)
		require.Equal(t, 1, m.Param("w_scale").Value.Len())
	}},
	{id: "169", input: "an observer before its first batch and after it, saved and loaded between two batches", outcome: "buffers of one shape; it goes on where it was", on: in(quant.Calibrate, graph.Save, graph.Load), test: func(t *testing.T) {
		first, _ := observed(t, minMax, []float32{1, 2, 3, 4})
		dir := t.TempDir()
		require.NoError(t, graph.Save(dir, first))
		loaded, err := graph.Load(dir)
		require.NoError(t, err)
		second := []*array.Array{array.FromSlice([]float32{-5, 0, 0, 2}, 1, 4)}
		_, err = quant.Calibrate(context.Background(), loaded, of(second, second), quant.CalibrateOptions{})
		require.NoError(t, err)
		require.Equal(t, []float64{-5, 4}, extremes(loaded), "the first batch is passed over")
		fresh := singleModule(t)
		apply2(t, fresh, quant.Prepare(&quant.Config{Global: quant.Setting{Mode: quant.Static, Activation: minMax}}, cpu.QuantBackend()))
		require.Equal(t, fresh.Param("quant.x.seen").TypeOf(), loaded.Param("quant.x.seen").TypeOf())
	}},
	{id: "170", input: "no rows; all negative, all positive, constant, zero and tiny values; NaN and infinities", outcome: "the range holds 0, the scale is positive and finite; FX6004 with the layer", on: in(quant.Calibrate, quant.Convert), test: func(t *testing.T) {
		for _, c := range []struct {
			row         []float32
			scale, zero float64
		}{
			{[]float32{-1, -2, -3, -8}, 8. / 255, 255},
			{[]float32{5, 6, 7, 8}, 8. / 255, 0},
			{[]float32{3, 3, 3, 3}, 3. / 255, 0},
			{[]float32{0, 0, 0, 0}, 1, 0},
			{[]float32{0, 0, 0, 1e-45}, 0x1p-126, 0},
		} {
			scale, zero := parameters(t, minMax, []float32{}, c.row)
			require.InEpsilon(t, c.scale, scale, 1e-6, "%v", c.row)
			require.Equal(t, c.zero, zero, "%v", c.row)
		}
		m, _ := observed(t, minMax, []float32{1, 2, 3, 4})
		for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(-1))} {
			row := []*array.Array{array.FromSlice([]float32{0, 0, bad, 0}, 1, 4)}
			_, err := quant.Calibrate(context.Background(), m, of(row, row), quant.CalibrateOptions{})
			require.ErrorIs(t, err, quant.NonFinite)
			require.ErrorContains(t, err, "x")
		}
		require.Equal(t, []float64{1, 4}, extremes(m))
	}},
	{id: "171", input: "the same data in one batch and in many, of very small and very large values, histogram and entropy", outcome: "the same counts, in as many bins; the range cuts outliers off", on: in(quant.Calibrate), test: func(t *testing.T) {
		data := tensor.Data[float32](tensor.New(random(1000, 4)))
		data[17], data[3000] = 1e-30, 65536
		histogram := quant.Scheme{Observer: quant.Observer{Kind: quant.Histogram}}
		one, _ := observed(t, histogram, data)
		var parts [][]float32
		for i := 0; i < len(data); i += 40 {
			parts = append(parts, data[i:i+40])
		}
		many, _ := observed(t, histogram, parts...)
		require.Equal(t, extremes(one), extremes(many))
		require.LessOrEqual(t, len(extremes(one)), 2100)
		scale, _ := parameters(t, minMax, data)
		require.InDelta(t, 65537./255, scale, 1)
		cut, _ := parameters(t, quant.Scheme{Observer: quant.Observer{Kind: quant.Percentile, Percentile: 99.9}}, data)
		require.Less(t, cut, 1.)
	}},
	{id: "172", input: "values quantised and dequantised for a tensor and for each channel, beyond the range, halves between two steps, in f16", outcome: "the nearest step, halves to the even one, saturated", on: in((*tensor.Tensor).Quantize, (*tensor.Tensor).Dequantize), test: func(t *testing.T) {
		x := vector(-1000, -0.25, 0.25, 0.75, 1.25, 1000)
		q := x.Quantize(tensor.Scalar(float32(0.5)), tensor.Scalar(uint8(10)))
		require.Equal(t, []uint8{0, 10, 10, 12, 12, 255}, tensor.Data[uint8](q))
		require.Equal(t, []float32{-5, 0, 0, 1, 1, 122.5}, tensor.Data[float32](q.Dequantize(tensor.Scalar(float32(0.5)), tensor.Scalar(uint8(10)))))
		rows := tensor.FromSlice([]float32{1, 2, 1, 2}, 2, 2).Quantize(vector(1, 0.5), tensor.FromSlice([]int8{0, 0}), tensor.QuantizeAttrs{Axis: 0, DType: array.I8})
		require.Equal(t, []int8{1, 2, 2, 4}, tensor.Data[int8](rows))
		gm := capture(t, func(x tt) tt {
			s, z := tensor.Scalar(float32(0.5)), tensor.Scalar(uint8(10))
			return x.Quantize(s, z).Dequantize(s, z)
		}, fx.Input("x", "f32[N]"))
		require.Equal(t, [][]float32{{-5, 0, 0, 1, 1, 122.5}}, results(t, gm, x))
	}},
	{id: "173", input: "four batches through a moving average with weight a quarter, one of them empty", outcome: "the averages of the extremes, batch by batch", on: in(quant.Calibrate), test: func(t *testing.T) {
		m, _ := observed(t, quant.Scheme{Observer: quant.Observer{Kind: quant.MovingAverage, Averaging: 0.25}},
			[]float32{1, 2, 3, 4}, []float32{-3, 0, 8, 1}, []float32{}, []float32{-3, 0, 8, 1})
		require.Equal(t, []float64{-0.75, 5.75}, extremes(m))
	}},
	{id: "174", input: "scales and zero points that are trained", none: "models are not trained in this version"},
}

// spread is a two-layer network whose middle channels have other ranges.
func spread() *nn.Sequential {
	m := mlp()
	m.Modules[0].(*nn.Linear).Weight.Select(0, 0).MulScalarInPlace(50)
	m.Modules[2].(*nn.Linear).Weight.Select(1, 0).MulScalarInPlace(0.02)
	return m
}

var toolRows = []row{
	{id: "175", input: "two layers with a channel whose weights have another range; scales moved between them; large channels of a layer norm", outcome: "equal ranges, the same results to rounding; more signal with one scale for a weight", on: in(variable{"passes/quant/tune.Equalise", tune.Equalise}, tune.Smooth), test: func(t *testing.T) {
		m := folded(t, spread(), mlpInput)
		c := mode(quant.WeightOnly)
		c.Global.Weight.Granularity = quant.PerTensor
		before := signal(t, m, quantised(t, m, c))
		e := graph.Clone(m)
		require.True(t, apply(t, e, tune.Equalise).Changed())
		require.Greater(t, float64(signal(t, e, quantised(t, e, c))), float64(before)+6)
		norm := nn.NewLayerNorm([]int{8})
		norm.Weight.Select(0, 3).MulScalarInPlace(64)
		l := nn.NewLinear(8, 4)
		s := folded(t, func(x tt) tt { return l.Forward(norm.Forward(x)) }, mlpInput)
		require.True(t, apply(t, s, tune.Smooth(batches(t, s, 2), tune.SmoothOptions{})).Changed())
	}},
	{id: "176", input: "the plan of a network; how far each value is off; which operator harms most", outcome: "tables with who asked, what is granted and why not; decibels for each value; also as JSON", on: in((*quant.Plan).String, (*tune.Quality).String, (*tune.Trials).Sensitivities), test: func(t *testing.T) {
		m := folded(t, spread(), mlpInput)
		c := mode(quant.Static)
		require.Contains(t, resolve(t, m, c).String(), "Q05 float result")
		p := prepared(t, m, c)
		quality, err := tune.Compare(context.Background(), m, quantised(t, m, c), batches(t, m, 2), nil)
		require.NoError(t, err)
		require.Len(t, quality.Results, 1)
		require.Contains(t, quality.String(), "_2")
		data, err := json.Marshal(quality)
		require.NoError(t, err)
		require.Contains(t, string(data), "sqnr_db")
		trials, err := tune.NewTrials(context.Background(), p, c, cpu.QuantBackend(), batches(t, m, 2), nil)
		require.NoError(t, err)
		list, err := trials.Sensitivities(context.Background(), nil)
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.LessOrEqual(t, float64(list[0].Alone), float64(list[1].Alone))
	}},
	{id: "177", input: "a float graph and its quantised form, value by value; one with a value taken out; graphs that do not correspond; a budget", outcome: "signal over noise and largest error of each value of the same name; FX6007; a configuration within the budget", on: in(tune.Compare, (*tune.Trials).Mixed, (*tune.Quality).Total), test: func(t *testing.T) {
		m := folded(t, mlp(), mlpInput)
		c := mode(quant.Static)
		quality, err := tune.Compare(context.Background(), m, quantised(t, m, c), batches(t, m, 2), nil)
		require.NoError(t, err)
		require.Equal(t, "_0", quality.Layers[0].Node)
		require.Positive(t, quality.Layers[0].Largest)
		require.Positive(t, float64(quality.Total()))
		_, err = tune.Compare(context.Background(), m, folded(t, nn.NewSequential(nn.NewLinear(8, 3)), mlpInput), batches(t, m, 1), nil)
		require.ErrorIs(t, err, tune.NotComparable)
		trials, err := tune.NewTrials(context.Background(), prepared(t, m, c), c, cpu.QuantBackend(), batches(t, m, 2), nil)
		require.NoError(t, err)
		_, err = trials.Quality(context.Background(), folded(t, nn.NewSequential(nn.NewLinear(8, 3)), mlpInput))
		require.ErrorIs(t, err, tune.NotComparable)
		mixed, err := trials.Mixed(context.Background(), tune.MixedOptions{Budget: quality.Total() + 3})
		require.NoError(t, err)
		require.NotEmpty(t, mixed.Exclude)
	}},
	{id: "178", input: "a captured graph with a chain of shared values; biases corrected; conversion twice; weights alone, folded by a pass", outcome: "one group through the chain; biases move; the second pass has nothing to do; folding leaves the bytes", on: in(tune.CorrectBias, quant.Resolve), test: func(t *testing.T) {
		a, b := nn.NewLinear(4, 4), nn.NewLinear(8, 4)
		m := folded(t, func(x tt) tt { return b.Forward(tensor.Cat([]tt{x, a.Forward(x).Relu().Reshape(2, 4)}, 1).Flip(0)) }, "f32[2,4]")
		plan := resolve(t, m, mode(quant.Static))
		require.Len(t, plan.Groups, 1, "%s", plan)
		require.GreaterOrEqual(t, len(plan.Groups[0]), 4)
		q := quantised(t, m, mode(quant.Static))
		n, err := tune.CorrectBias(context.Background(), m, q, batches(t, m, 2), nil)
		require.NoError(t, err)
		require.Equal(t, 2, n)
		w := quantised(t, m, mode(quant.WeightOnly))
		text := w.String()
		apply(t, w, simplify.ConstFoldLimit(0), quant.Convert(mode(quant.WeightOnly), cpu.QuantBackend()))
		require.Equal(t, text, w.String())
	}},
	{id: "179", input: "operators counted, and listed in order, of a converted graph; a pass that must match so often", outcome: "counts and order; refused with the first candidate that did not match", on: in((*graph.Graph).Calls, passes.ExpectAtLeast), test: func(t *testing.T) {
		q := quantised(t, folded(t, mlp(), mlpInput), mode(quant.Static))
		require.Len(t, collect(q.Graph.Calls(std.Linear)), 2)
		require.Equal(t, map[string]int{"quantize": 2, "dequantize": 4, "linear": 2, "relu": 1}, opcounts(q.Graph))
		_, err := passes.Run(context.Background(), q, []passes.Pass{integer.Lower}, passes.Options{Expect: []passes.Expectation{passes.ExpectAtLeast("quant-lower", 99)}})
		require.ErrorIs(t, err, passes.MatchCount)
	}},
}
