package tune_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/tune"
)

const separable = `graph net(%x: f32[N,3,8,8]) {
  %w1 = get_attr[c1.weight] : f32[6,3,3,3]
  %b1 = get_attr[c1.bias] : f32[6]
  %c1 = call_function[conv2d](%x, %w1, %b1) {padding=[1,1]}
  %r1 = call_function[relu](%c1)
  %w2 = get_attr[c2.weight] : f32[6,1,3,3]
  %c2 = call_function[conv2d](%r1, %w2, _) {padding=[1,1],groups=6}
  %p = call_function[max_pool2d](%c2) {kernel_size=[2,2]}
  %w3 = get_attr[c3.weight] : f32[4,6,1,1]
  %c3 = call_function[conv2d](%p, %w3, _)
  return %c3
}
param c1.weight : f32[6,3,3,3]
param c1.bias : f32[6]
param c2.weight : f32[6,1,3,3]
param c3.weight : f32[4,6,1,1]
`

// outer returns the largest magnitude for each index of the first axis.
func outer(a *array.Array) []float64 {
	most := make([]float64, a.Dim(0))
	for i, v := range array.Data[float32](a) {
		c := i * a.Dim(0) / a.Len()
		most[c] = max(most[c], math.Abs(float64(v)))
	}
	return most
}

// ratioOf quantises a graph with one scale a weight and compares it with the float one.
func ratioOf(t *testing.T, m *graph.Module, c *quant.Config, sizes map[string]int) float64 {
	t.Helper()
	q := graph.Clone(m)
	quanttest.Quantise(t, q, c, quanttest.Batches(t, m, 4, sizes))
	got, err := tune.Compare(ctx, m, q, quanttest.Batches(t, m, 4, sizes), onCPU)
	require.NoError(t, err)
	return float64(got.Total())
}

func requireClose(t *testing.T, want, got []*array.Array) {
	t.Helper()
	for i, a := range want {
		w, g := array.Data[float32](a), array.Data[float32](got[i])
		for k := range w {
			require.InDelta(t, w[k], g[k], 1e-5*(1+math.Abs(float64(w[k]))))
		}
	}
}

func TestEqualise_givesWeightsEqualRanges(t *testing.T) {
	m := quanttest.Parse(t, separable)
	w1, b1 := array.Data[float32](m.Param("c1.weight").Value), array.Data[float32](m.Param("c1.bias").Value)
	for i := range w1[:27] {
		w1[i] *= 100
	}
	b1[0] *= 100
	for i := range 4 { // and channel 1 is never read
		array.Data[float32](m.Param("c3.weight").Value)[6*i+1] = 0
	}
	for _, c := range []int{0} {
		for i := range 9 {
			array.Data[float32](m.Param("c2.weight").Value)[9*c+i] /= 100
		}
	}
	sizes := map[string]int{"N": 2}
	equal := graph.Clone(m)
	r := quanttest.Pipeline(t, equal, tune.Equalise)
	require.True(t, r.Changed())
	a := outer(equal.Param("c1.weight_equalised").Value)
	b := outer(equal.Param("c2.weight_equalised").Value)
	for c := range a {
		require.InEpsilon(t, a[c], b[c], 2e-3, "channel %d", c)
	}
	require.Nil(t, equal.Param("c1.weight"), "weights that nothing reads are dropped")
	for in := range quanttest.Batches(t, m, 3, sizes) {
		requireClose(t, quanttest.Interpret(t, m, in...), quanttest.Interpret(t, equal, in...))
	}
	require.Greater(t, ratioOf(t, equal, perTensor(), sizes), ratioOf(t, m, perTensor(), sizes)+6)
	require.False(t, quanttest.Pipeline(t, equal, tune.Equalise).Changed(), "there is nothing left to do")
}

func TestEqualise_leavesSharedValuesAlone(t *testing.T) {
	for name, text := range map[string]string{
		"a second user": `graph net(%x: f32[N,8]) {
  %w = get_attr[a] : f32[8,8]
  %h = call_function[linear](%x, %w, _)
  %v = get_attr[b] : f32[8,8]
  %y = call_function[linear](%h, %v, _)
  return (%y, %h)
}
param a : f32[8,8]
param b : f32[8,8]
`,
		"a function that does not scale": `graph net(%x: f32[N,8]) {
  %w = get_attr[a] : f32[8,8]
  %h = call_function[linear](%x, %w, _)
  %s = call_function[sigmoid](%h)
  %v = get_attr[b] : f32[8,8]
  %y = call_function[linear](%s, %v, _)
  return %y
}
param a : f32[8,8]
param b : f32[8,8]
`,
		"a shared weight": `graph net(%x: f32[N,8]) {
  %w = get_attr[a] : f32[8,8]
  %h = call_function[linear](%x, %w, _)
  %y = call_function[linear](%h, %w, _)
  return %y
}
param a : f32[8,8]
`,
		"groups of several channels": `graph net(%x: f32[N,3,8,8]) {
  %w = get_attr[a] : f32[4,3,1,1]
  %h = call_function[conv2d](%x, %w, _)
  %v = get_attr[b] : f32[4,2,1,1]
  %y = call_function[conv2d](%h, %v, _) {groups=2}
  return %y
}
param a : f32[4,3,1,1]
param b : f32[4,2,1,1]
`,
	} {
		m := quanttest.Parse(t, text)
		before := m.String()
		require.False(t, quanttest.Pipeline(t, m, tune.Equalise).Changed(), name)
		require.Equal(t, before, m.String(), name)
	}
}

const normed = `graph net(%x: f32[N,8]) {
  %g = get_attr[ln.weight] : f32[8]
  %b = get_attr[ln.bias] : f32[8]
  %n = call_function[layer_norm](%x, %g, %b) {normalized_shape=[8]}
  %w1 = get_attr[q] : f32[8,8]
  %q = call_function[linear](%n, %w1, _)
  %w2 = get_attr[k] : f32[8,8]
  %k = call_function[linear](%n, %w2, _)
  %y = call_function[add](%q, %k)
  return %y
}
param ln.weight : f32[8]
param ln.bias : f32[8]
param q : f32[8,8]
param k : f32[8,8]
`

func TestSmooth_movesOutliersToWeights(t *testing.T) {
	m := quanttest.Parse(t, normed)
	array.Data[float32](m.Param("ln.weight").Value)[3] = 200
	for _, w := range []string{"q", "k"} {
		for i := range 8 {
			array.Data[float32](m.Param(w).Value)[8*i+3] /= 200
		}
	}
	sizes := map[string]int{"N": 16}
	smooth := graph.Clone(m)
	quanttest.Pipeline(t, smooth, tune.Smooth(quanttest.Batches(t, m, 3, sizes), tune.SmoothOptions{Engine: onCPU}))
	for in := range quanttest.Batches(t, m, 3, sizes) {
		requireClose(t, quanttest.Interpret(t, m, in...), quanttest.Interpret(t, smooth, in...))
	}
	c := &quant.Config{Global: quant.Setting{Mode: quant.Dynamic}}
	require.Greater(t, ratioConverted(t, smooth, c, sizes), ratioConverted(t, m, c, sizes)+10)

	other := quanttest.Parse(t, normed)
	other.Graph.Output().SetArgs(other.Graph.Find("n"))
	require.False(t, quanttest.Pipeline(t, other, tune.Smooth(quanttest.Batches(t, other, 1, sizes), tune.SmoothOptions{})).Changed())
}

// ratioConverted is ratioOf for modes that need no calibration.
func ratioConverted(t *testing.T, m *graph.Module, c *quant.Config, sizes map[string]int) float64 {
	t.Helper()
	q := graph.Clone(m)
	quanttest.Pipeline(t, q, quant.Convert(c, cpu.QuantBackend()))
	got, err := tune.Compare(ctx, m, q, quanttest.Batches(t, m, 4, sizes), nil)
	require.NoError(t, err)
	return float64(got.Total())
}

func TestCorrectBias_centresErrors(t *testing.T) {
	m := quanttest.Parse(t, threeLayers)
	sizes := map[string]int{"N": 64}
	q := graph.Clone(m)
	quanttest.Quantise(t, q, perTensor(), quanttest.Batches(t, m, 3, sizes))
	shift := func() float64 {
		worst := 0.0
		sum := make([]float64, 8)
		for in := range quanttest.Batches(t, m, 3, sizes) {
			a, b := array.Data[float32](quanttest.Interpret(t, m, in...)[0]), array.Data[float32](quanttest.Interpret(t, q, in...)[0])
			for i := range a {
				sum[i%8] += float64(a[i]-b[i]) / (3 * 64)
			}
		}
		for _, v := range sum {
			worst = max(worst, math.Abs(v))
		}
		return worst
	}
	before := shift()
	n, err := tune.CorrectBias(ctx, m, q, quanttest.Batches(t, m, 3, sizes), nil)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Less(t, shift(), before/20)
	require.NotNil(t, q.Param("l1_bias_corrected"))
}
