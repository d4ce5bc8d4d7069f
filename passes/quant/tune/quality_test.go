package tune_test

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/tune"
)

var ctx = context.Background()

// onCPU runs graphs by plans.
func onCPU(m *graph.Module) (quant.Engine, error) {
	return cpu.Compile(m, lowering.Options{Threads: 1})
}

func TestCompare_measuresDifferences(t *testing.T) {
	float := quanttest.Parse(t, "graph net(%x: f32[1,4]) {\n %y = call_function[mul](%x) {other=2.0}\n %z = call_function[add](%y) {other=1.0}\n return %z\n}\n")
	other := quanttest.Parse(t, "graph net(%x: f32[1,4]) {\n %y = call_function[mul](%x) {other=2.5}\n %z = call_function[add](%y) {other=1.0}\n return %z\n}\n")
	q, err := tune.Compare(ctx, float, other, quanttest.Inputs(quanttest.Rows(1, 2, 3, 4), quanttest.Rows(0, 0, 0, 1)), nil)
	require.NoError(t, err)
	require.Equal(t, 2, q.Batches)
	require.Len(t, q.Layers, 2)
	// Signals 4·(1+4+9+16+1), differences a quarter of them squared.
	require.InDelta(t, 10*math.Log10(16), float64(q.Layers[0].SQNR), 1e-6)
	require.Equal(t, 2.0, q.Layers[0].Largest)
	signal, noise := 9.0+25+49+81+1+1+1+9, 0.25*31
	require.InDelta(t, 10*math.Log10(signal/noise), float64(q.Total()), 1e-6)
	require.Equal(t, "y", q.Layers[0].Node)
	require.Contains(t, q.String(), "%y  mul  12.0 dB")

	same, err := tune.Compare(ctx, float, graph.Clone(float), quanttest.Inputs(quanttest.Rows(1, 2, 3, 4)), onCPU)
	require.NoError(t, err)
	require.True(t, math.IsInf(float64(same.Total()), 1))
	require.Contains(t, same.String(), "exact")
	text, err := json.Marshal(same)
	require.NoError(t, err)
	require.Contains(t, string(text), `"sqnr_db":null`)

	_, err = tune.Compare(ctx, float, other, quanttest.Inputs(), nil)
	require.ErrorIs(t, err, quant.NoBatches)
	_, err = tune.Compare(ctx, float, quanttest.Parse(t, "graph net(%x: f32[1,4], %y: f32[1,4]) {\n return %x\n}\n"), quanttest.Inputs(), nil)
	require.ErrorIs(t, err, tune.NotComparable)
}

// TestCompare_seesRounding measures a network after the rounding of its values.
func TestCompare_seesRounding(t *testing.T) {
	m := quanttest.Parse(t, quanttest.Residual)
	float := graph.Clone(m)
	sizes := map[string]int{"N": 2}
	quanttest.Quantise(t, m, quanttest.Static(), quanttest.Batches(t, m, 4, sizes))
	for _, engine := range []tune.EngineFor{nil, onCPU} {
		q, err := tune.Compare(ctx, float, m, quanttest.Batches(t, float, 2, sizes), engine)
		require.NoError(t, err)
		require.Len(t, q.Layers, 9)
		for _, l := range q.Layers {
			require.Greater(t, float64(l.SQNR), 20.0, l.Node)
		}
		require.Less(t, float64(q.Layers[0].SQNR), 60.0) // the first product is of rounded operands
		require.Greater(t, float64(q.Total()), 20.0)
	}
}

const threeLayers = `graph net(%x: f32[N,8]) {
  %w1 = get_attr[l1] : f32[8,8]
  %h1 = call_function[linear](%x, %w1, _)
  %r1 = call_function[relu](%h1)
  %w2 = get_attr[l2] : f32[8,8]
  %h2 = call_function[linear](%r1, %w2, _)
  %r2 = call_function[relu](%h2)
  %w3 = get_attr[l3] : f32[8,8]
  %y = call_function[linear](%r2, %w3, _)
  return %y
}
param l1 : f32[8,8]
param l2 : f32[8,8]
param l3 : f32[8,8]
`

// perTensor gives all of a weight one scale.
func perTensor() *quant.Config {
	c := quanttest.Static()
	c.Global.Weight.Granularity = quant.PerTensor
	return c
}

// trialsOf prepares and calibrates three layers. The first row of the second one's
// weight hides the others, and gives nothing: what is after the relu is 0.
func trialsOf(t *testing.T) (*tune.Trials, *graph.Module) {
	m := quanttest.Parse(t, threeLayers)
	for i := range 8 {
		array.Data[float32](m.Param("l2").Value)[i] = -40
	}
	sizes := map[string]int{"N": 16}
	prepare := graph.Clone(m)
	quanttest.Pipeline(t, prepare, quant.Prepare(perTensor(), cpu.QuantBackend()))
	_, err := quant.Calibrate(ctx, prepare, quanttest.Batches(t, m, 3, sizes), quant.CalibrateOptions{})
	require.NoError(t, err)
	trials, err := tune.NewTrials(ctx, prepare, perTensor(), cpu.QuantBackend(), quanttest.Batches(t, m, 2, sizes), onCPU)
	require.NoError(t, err)
	return trials, m
}

func TestSensitivities_findTheWorstOperator(t *testing.T) {
	trials, _ := trialsOf(t)
	list, err := trials.Sensitivities(ctx, nil)
	require.NoError(t, err)
	require.NotEmpty(t, list)
	worst := list[0]
	require.Equal(t, "h2", worst.Node)
	for _, s := range list[1:] {
		require.GreaterOrEqual(t, float64(s.Alone), float64(worst.Alone))
		require.Positive(t, s.Work)
	}
	// Leaving the worst one in float helps most.
	for _, s := range list[1:] {
		require.LessOrEqual(t, float64(s.Without), float64(worst.Without))
	}
}

func TestMixed_meetsItsBudget(t *testing.T) {
	trials, m := trialsOf(t)
	whole, err := trials.Convert(ctx)
	require.NoError(t, err)
	low, err := trials.Quality(ctx, whole)
	require.NoError(t, err)
	for _, more := range []tune.Decibels{-1, 3, 10} {
		budget := low + more
		c, err := trials.Mixed(ctx, tune.MixedOptions{Budget: budget})
		require.NoError(t, err)
		mixed := graph.Clone(m)
		quanttest.Quantise(t, mixed, c, quanttest.Batches(t, m, 3, map[string]int{"N": 16}))
		got, err := trials.Quality(ctx, mixed)
		require.NoError(t, err)
		require.GreaterOrEqual(t, float64(got), float64(budget))
		require.Equal(t, more < 0, len(c.Exclude) == 0)
		p, err := quant.Resolve(m, c, cpu.QuantBackend())
		require.NoError(t, err)
		require.NotContains(t, p.String(), ": 0 of", "the budget of %s needs no float everywhere", budget)
	}
	_, err = trials.Mixed(ctx, tune.MixedOptions{Accept: func(*graph.Module) (bool, error) { return false, nil }})
	require.ErrorIs(t, err, tune.BudgetMissed)
}
