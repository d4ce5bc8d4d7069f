package tune_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/passes/quant/tune"
)

// TestEqualise_keepsToChannels has layers, and pools between them, that take another
// dimension of the same size than the layer in front writes its channels along.
func TestEqualise_keepsToChannels(t *testing.T) {
	for name, text := range map[string]string{
		"linear behind conv": `graph net(%x: f32[2,3,6,4]) {
  %w = get_attr[w] : f32[4,3,1,1]
  %v = get_attr[v] : f32[5,4]
  %a = call_function[conv2d](%x, %w, _)
  %b = call_function[linear](%a, %v, _)
  return %b
}
param w : f32[4,3,1,1]
param v : f32[5,4]
`, "conv behind linear": `graph net(%x: f32[2,4,3]) {
  %w = get_attr[w] : f32[4,3]
  %v = get_attr[v] : f32[5,4,1]
  %a = call_function[linear](%x, %w, _)
  %b = call_function[conv1d](%a, %v, _)
  return %b
}
param w : f32[4,3]
param v : f32[5,4,1]
`, "pool of features": `graph net(%x: f32[2,5,3]) {
  %w = get_attr[w] : f32[4,3]
  %v = get_attr[v] : f32[5,4]
  %a = call_function[linear](%x, %w, _)
  %p = call_function[avg_pool1d](%a) {kernel_size=[3],stride=[1],padding=[1]}
  %b = call_function[linear](%p, %v, _)
  return %b
}
param w : f32[4,3]
param v : f32[5,4]
`, "pool over channels": `graph net(%x: f32[2,3,6]) {
  %w = get_attr[w] : f32[4,3,1]
  %v = get_attr[v] : f32[5,4,1]
  %a = call_function[conv1d](%x, %w, _)
  %p = call_function[max_pool2d](%a) {kernel_size=[3,3],stride=[1,1],padding=[1,1]}
  %b = call_function[conv1d](%p, %v, _)
  return %b
}
param w : f32[4,3,1]
param v : f32[5,4,1]
`} {
		t.Run(name, func(t *testing.T) {
			m := quanttest.Parse(t, text)
			plain := graph.Clone(m)
			quanttest.Pipeline(t, m, tune.Equalise)
			require.Equal(t, plain.String(), m.String())
		})
	}
}

// TestCorrectBias_singleImage has channels first, without a batch before them.
func TestCorrectBias_singleImage(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%x: f32[3,2,7]) {
  %w = get_attr[w] : f32[4,3,1,1]
  %a = call_function[conv2d](%x, %w, _)
  return %a
}
param w : f32[4,3,1,1]
`)
	plain := graph.Clone(m)
	c := &quant.Config{Global: quant.Setting{Mode: quant.WeightOnly}}
	quanttest.Pipeline(t, m, quant.Convert(c, cpu.QuantBackend()))
	n, err := tune.CorrectBias(ctx, plain, m, quanttest.Batches(t, plain, 4, nil), nil)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	quanttest.Sounds(t, plain, m, 30)
}

// TestSmooth_takesOperandsOfProductsAlone refuses a layer norm that is a bias, too, and
// strengths that are none.
func TestSmooth_takesOperandsOfProductsAlone(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%x: f32[N,8]) {
  %g = get_attr[g] : f32[8]
  %n = call_function[layer_norm](%x, %g, _) {normalized_shape=[8]}
  %w = get_attr[w] : f32[8,8]
  %s = call_function[select](%n) {dim=0,index=0}
  %y = call_function[linear](%n, %w, %s)
  return %y
}
param g : f32[8]
param w : f32[8,8]
`)
	sizes := map[string]int{"N": 4}
	r := quanttest.Pipeline(t, m, tune.Smooth(quanttest.Batches(t, m, 1, sizes), tune.SmoothOptions{}))
	require.False(t, r.Changed())
	for _, strength := range []float64{-1, 1.5, math.NaN()} {
		_, err := passes.Run(ctx, m, []passes.Pass{tune.Smooth(quanttest.Batches(t, m, 1, sizes), tune.SmoothOptions{Strength: strength})}, passes.Options{})
		require.ErrorIs(t, err, quant.BadConfig)
	}
}

// TestFourBitsThatAreWritten writes the bytes of a weight between their unpacking and
// the layer, which must not read them later.
func TestFourBitsThatAreWritten(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%x: f32[2,64]) {
  %w = get_attr[w] : f32[3,64]
  %y = call_function[linear](%x, %w, _)
  return %y
}
param w : f32[3,64]
`)
	c := &quant.Config{Global: quant.Setting{Mode: quant.WeightOnly, Weight: quant.Scheme{Bits: 4}}}
	quanttest.Pipeline(t, m, quant.Convert(c, cpu.QuantBackend()))
	linear := m.Graph.Find("y")
	var bytes *graph.Node
	for n := range m.Graph.Calls(std.BitwiseAnd) {
		bytes = n.Arg(0)
	}
	at := m.Graph.Before(linear)
	at.Function(op.Assign, nil, bytes, at.Function(std.BitwiseXor, std.BinaryAttrs{Other: op.Int(255)}, bytes))
	in, err := passes.Inputs(m.Graph, nil, 1)
	require.NoError(t, err)
	want := quanttest.Interpret(t, m, in...)
	quanttest.Pipeline(t, m, integer.Lower)
	require.Empty(t, slices.Collect(m.Graph.Calls(std.Int4Linear)))
	requireClose(t, want, quanttest.Interpret(t, m, in...))
}
