package quant_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
)

// seen returns what the observer of %x has seen: the extremes, the limit and the counts.
func seen(m *graph.Module) []float64 {
	return array.Data[float64](m.Param("quant.x.seen").Value)
}

func calibrate(t testing.TB, m *graph.Module, all ...[]*array.Array) {
	t.Helper()
	n, err := quant.Calibrate(ctx, m, quanttest.Inputs(all...), quant.CalibrateOptions{})
	require.NoError(t, err)
	require.Equal(t, len(all), n)
}

func TestExtremes(t *testing.T) {
	m := quanttest.Prepared(t, quanttest.Single, quant.Observer{Kind: quant.MinMax})
	require.Equal(t, []float64{inf, -inf}, seen(m))
	calibrate(t, m, quanttest.Rows(1, 2, 3, 4), quanttest.Rows(-5, 0, 7, 1), quanttest.Rows(0, 0, 0, 0))
	require.Equal(t, []float64{-5, 7}, seen(m))

	m = quanttest.Prepared(t, quanttest.Single, quant.Observer{Kind: quant.MovingAverage, Averaging: 0.25})
	calibrate(t, m, quanttest.Rows(1, 2, 3, 4), quanttest.Rows(-3, 0, 8, 1), quanttest.Rows(), quanttest.Rows(-3, 0, 8, 1))
	require.Equal(t, []float64{-0.75, 5.75}, seen(m)) // 1, 0, -0.75: by a quarter towards -3
}

// TestHistograms_countTheSame feeds the same data in batches of several sizes, those
// without elements among them.
func TestHistograms_countTheSame(t *testing.T) {
	gen := passes.Random{State: 3}
	data := array.Data[float32](gen.Array(array.F32, 4000))
	for i := range data {
		data[i] *= float32(math.Pow(10, float64(i%7-3)))
	}
	data[17], data[3000] = 0, 65536
	data[3500] = -1e-30
	var want []float64
	for _, size := range []int{4000, 400, 40, 4} {
		m := quanttest.Prepared(t, quanttest.Single, quant.Observer{Kind: quant.Histogram})
		all := [][]*array.Array{quanttest.Rows()}
		for part := range slices.Chunk(data, size) {
			all = append(all, quanttest.Rows(part...))
		}
		calibrate(t, m, all...)
		got := seen(m)
		if want == nil {
			want = got
			sum := 0.0
			for _, c := range got[3:] {
				sum += c
			}
			require.Equal(t, 4000., sum)
			require.Equal(t, 65536., got[1])
			require.Equal(t, 65536., got[2])
			require.Equal(t, 1., got[len(got)-1], "the largest element is in the last bin")
		}
		require.Equal(t, want, got, size)
	}
}

// TestPrepare_graphsAreOrdinary prints, saves, loads and runs one in two engines.
func TestPrepare_graphsAreOrdinary(t *testing.T) {
	for _, kind := range []quant.ObserverKind{quant.MinMax, quant.MovingAverage, quant.Histogram} {
		m := quanttest.Parse(t, quanttest.Residual)
		plain := graph.Clone(m)
		c := quanttest.Static()
		c.Global.Activation.Observer.Kind = kind
		_, err := passes.Run(ctx, m, []passes.Pass{quant.Prepare(c, cpu.QuantBackend())}, passes.Options{Numeric: &passes.Numeric{Rel: 1e-30}})
		require.NoError(t, err)

		again, err := graph.Parse([]byte(m.String()), "net.fx")
		require.NoError(t, err)
		require.Equal(t, m.String(), again.String())

		dir := t.TempDir()
		require.NoError(t, graph.Save(dir, m))
		loaded, err := graph.Load(dir)
		require.NoError(t, err)

		e, err := cpu.Compile(loaded, lowering.Options{Exact: true})
		require.NoError(t, err)
		_, err = quant.Calibrate(ctx, loaded, quanttest.Batches(t, plain, 3, nil), quant.CalibrateOptions{Engine: e})
		require.NoError(t, err)
		_, err = quant.Calibrate(ctx, m, quanttest.Batches(t, plain, 3, nil), quant.CalibrateOptions{})
		require.NoError(t, err)
		equal, diff := graph.EqualModules(m, loaded)
		require.True(t, equal, "the plan observes what the interpreter observes: %s", diff)

		for _, p := range []*graph.Module{m, loaded} {
			quanttest.Pipeline(t, p, quant.Convert(c, cpu.QuantBackend()))
			require.NotContains(t, p.String(), "quant.Observer")
			quanttest.Sounds(t, plain, p, 20)
		}
		equal, diff = graph.EqualModules(m, loaded)
		require.True(t, equal, diff)
	}
}

func TestObservers_nonFiniteValuesAreNamedByLayer(t *testing.T) {
	for _, bad := range []float64{nan, inf, -inf} {
		m := quanttest.Prepared(t, `graph net(%x: f32[N,4]) {
  %w = get_attr[w] : f32[4,4]
  %a = call_function[linear](%x, %w, _) in "fc1" "nn.Linear" at "model.go:7"
  %b = call_function[linear](%a, %w, _) in "fc2" "nn.Linear" at "model.go:8"
  return %b
}
param w : f32[4,4]
`, quant.Observer{})
		calibrate(t, m, quanttest.Rows(1, 2, 3, 4))
		before := slices.Clone(seen(m))
		n, err := quant.Calibrate(ctx, m, quanttest.Inputs(quanttest.Rows(1, 2, 3, 4), quanttest.Rows(1, float32(bad), 3, 4), quanttest.Rows(0, 0, 0, 0)), quant.CalibrateOptions{})
		require.Equal(t, 1, n)
		require.ErrorIs(t, err, quant.NonFinite)
		require.ErrorContains(t, err, "in batch 2")
		require.ErrorContains(t, err, `model.go:7: linear: layer "fc1": the value has`)
		require.Less(t, strings.Index(err.Error(), "placeholder: the value"), strings.Index(err.Error(), "fc1"), "the first is the origin")
		require.Equal(t, before, seen(m), "the observers are as they were")
		// A graph that was run otherwise is refused when it is converted.
		array.Data[float64](m.Param("quant.a.seen").Value)[1] = nan
		_, err = passes.Run(ctx, m, []passes.Pass{quant.Convert(quanttest.Static(), cpu.QuantBackend())}, passes.Options{})
		require.ErrorIs(t, err, quant.NonFinite)
		require.ErrorContains(t, err, "fc1")
	}
}
