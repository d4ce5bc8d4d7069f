package quant_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/passes/simplify"
)

var nan, inf = math.NaN(), math.Inf(1)

func TestConvert_refusesUncalibratedGraphs(t *testing.T) {
	m := quanttest.Parse(t, quanttest.Residual)
	quanttest.Pipeline(t, m, quant.Prepare(quanttest.Static(), cpu.QuantBackend()))
	before := m.String()
	convert := []passes.Pass{quant.Convert(quanttest.Static(), cpu.QuantBackend())}
	_, err := passes.Run(ctx, m, convert, passes.Options{})
	var l diag.List
	require.ErrorAs(t, err, &l)
	require.Len(t, l, 4, "%f is a view of %p and needs none")
	for i, name := range []string{"x", "r1", "r2", "p"} {
		require.Equal(t, quant.Uncalibrated, l[i].Code)
		require.ErrorContains(t, l[i], `observer "quant.`+name+`" has seen nothing`)
	}
	require.Equal(t, before, m.String(), "a pass that fails changes nothing")

	plain := quanttest.Parse(t, quanttest.Residual)
	_, err = passes.Run(ctx, plain, convert, passes.Options{})
	require.ErrorIs(t, err, quant.NotPrepared)

	_, err = quant.Calibrate(ctx, m, quanttest.Batches(t, plain, 1, nil), quant.CalibrateOptions{})
	require.NoError(t, err)
	c := quanttest.Static()
	c.Exclude = []quant.Selector{{Name: "y"}} // takes fewer values than have been observed
	quanttest.Pipeline(t, graph.Clone(m), quant.Convert(c, cpu.QuantBackend()))
	quanttest.Pipeline(t, m, convert...)
	r := quanttest.Pipeline(t, m, convert...)
	require.False(t, r.Changed(), "what is quantised is not quantised again")
}

func TestWeightOnly(t *testing.T) {
	for name, c := range map[string]struct {
		weight   quant.Scheme
		decibels float64
		contains []string
	}{
		"channels": {quant.Scheme{}, 35, []string{"emb.weight_quantised : i8[10,64]", "emb.weight_scale : f32[10]"}},
		"tensor":   {quant.Scheme{Granularity: quant.PerTensor}, 35, []string{"emb.weight_scale : f32[] "}},
		"affine":   {quant.Scheme{Symmetry: quant.Affine, DType: array.U8}, 35, []string{"emb.weight_quantised : u8[10,64]", "emb.weight_zero : u8[10]"}},
		"search":   {quant.Scheme{Granularity: quant.PerTensor, Observer: quant.Observer{Kind: quant.Histogram}}, 35, nil},
		"4 bits":   {quant.Scheme{Bits: 4}, 15, []string{"emb.weight_quantised : u8[10,32]", "emb.weight_scale : f32[10,2]"}},
		"64":       {quant.Scheme{Bits: 4, Granularity: quant.PerGroup, Group: 64, Symmetry: quant.Symmetric}, 15, []string{"emb.weight_scale : f32[10,1]"}},
	} {
		m := quanttest.Parse(t, quanttest.TiedEmbedding)
		plain := graph.Clone(m)
		config := &quant.Config{Global: quant.Setting{Mode: quant.WeightOnly, Weight: c.weight}}
		r := quanttest.Pipeline(t, m, quant.Convert(config, cpu.QuantBackend()))
		require.Equal(t, 2, r.Matches("quant-convert"), name)
		text := m.String()
		for _, want := range c.contains {
			require.Contains(t, text, want, name)
		}
		require.NotContains(t, text, "param emb.weight : f32", "the float weight is gone")
		require.NotContains(t, text, "param emb.weight_quantised_1", "one copy of a weight for all who read it")
		quanttest.Sounds(t, plain, m, c.decibels)
		sameInPlan(t, m)
		// What folds constants does not undo it.
		_, err := passes.Run(ctx, m, fx.Optimise(), passes.Options{})
		require.NoError(t, err)
		require.Contains(t, m.String(), "[dequantize]", name)
		quanttest.Sounds(t, plain, m, c.decibels)
	}
}

// sameInPlan demands that the plan gives what the interpreter gives, bit for bit, and
// that the graph can be printed and read.
func sameInPlan(t testing.TB, m *graph.Module) {
	t.Helper()
	again, err := graph.Parse([]byte(m.String()), "net.fx")
	require.NoError(t, err)
	require.Equal(t, m.String(), again.String())
	in, err := passes.Inputs(m.Graph, nil, 5)
	require.NoError(t, err)
	e, err := cpu.Compile(m, lowering.Options{Exact: true})
	require.NoError(t, err)
	got, err := e.Run(ctx, in)
	require.NoError(t, err)
	for i, want := range quanttest.Interpret(t, m, in...) {
		require.True(t, array.Equal(want, got[i]), "result %d", i)
	}
}

func TestDynamic(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%q: f32[N,2,5,8], %k: f32[N,2,5,8]) {
  %kt = call_function[transpose](%k) {dim0=-2,dim1=-1}
  %s = call_function[matmul](%q, %kt)
  %p = call_function[softmax](%s) {dim=-1}
  %o = call_function[matmul](%p, %k)
  %w = get_attr[w] : f32[8,8]
  %y = call_function[linear](%o, %w, _)
  %z = call_function[linear](%o, %w, _)
  return (%y, %z)
}
param w : f32[8,8]
`)
	plain := graph.Clone(m)
	c := &quant.Config{Global: quant.Setting{Mode: quant.Dynamic}}
	p, err := quant.Resolve(m, c, cpu.QuantBackend())
	require.NoError(t, err)
	granted := 0
	for _, e := range p.Entries {
		if e.Part == quant.OperatorPart && e.Granted == "dynamic" {
			granted++
		}
	}
	require.Equal(t, 4, granted, p)
	quanttest.Pipeline(t, m, quant.Convert(c, cpu.QuantBackend()))
	// q, kt, p, k and o are quantised, each once.
	require.Equal(t, 5, strings.Count(m.String(), "[dynamic_quantize]"), m)
	quanttest.Sounds(t, plain, m, 30)
	sameInPlan(t, m)
}

// TestAttention quantises the products that attention is made of.
func TestAttention(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%q: f32[N,2,5,8], %k: f32[N,2,5,8]) {
  %y = call_function[scaled_dot_product_attention](%q, %k, %k, _)
  return %y
}
`)
	plain := graph.Clone(m)
	c := &quant.Config{Global: quant.Setting{Mode: quant.Dynamic}}
	p, err := quant.Resolve(m, c, cpu.QuantBackend())
	require.NoError(t, err)
	require.Contains(t, p.String(), "Q25 faster in float: cpu keeps scores in a cache")
	asked := &quant.Config{Rules: []quant.Rule{quanttest.Rule(quant.Selector{Op: "scaled_dot_product_attention"}, quant.Dynamic)}}
	own := graph.Clone(m)
	r := quanttest.Pipeline(t, own, quant.Convert(asked, cpu.QuantBackend()), integer.Lower)
	require.Empty(t, r.Passes[1].Refused)
	require.Equal(t, 2, quanttest.Calls(own.Graph, std.QMatmul))
	require.Equal(t, 4, quanttest.Calls(own.Graph, std.DynamicQuantize))
	quanttest.Sounds(t, plain, own, 30)
	sameInPlan(t, own)
	attention := simplify.DecomposeExcept(func(n *graph.Node) bool { return n.Op() != std.ScaledDotProductAttention })
	quanttest.Pipeline(t, m, attention, quant.Convert(c, cpu.QuantBackend()))
	require.Equal(t, 4, strings.Count(m.String(), "[dynamic_quantize]"), m)
	quanttest.Sounds(t, plain, m, 30)
	sameInPlan(t, m)
}

// TestStatic quantises a net with every observer, and in both types.
func TestStatic(t *testing.T) {
	for kind := quant.MinMax; kind <= quant.Entropy; kind++ {
		for _, d := range []array.DType{array.U8, array.I8} {
			for _, s := range []quant.Symmetry{quant.Symmetric, quant.Affine} {
				m := quanttest.Parse(t, quanttest.Residual)
				plain := graph.Clone(m)
				c := quanttest.Static()
				c.Global.Activation = quant.Scheme{DType: d, Symmetry: s, Observer: quant.Observer{Kind: kind}}
				quanttest.Quantise(t, m, c, quanttest.Batches(t, m, 8, nil))
				quanttest.Sounds(t, plain, m, 15)
				sameInPlan(t, m)
				require.Equal(t, 5, strings.Count(m.String(), "[quantize]"))
			}
		}
	}
}

// TestConvert_groupsHaveOnePairOfParameters joins values whose ranges differ.
func TestConvert_groupsHaveOnePairOfParameters(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%x: f32[N,4], %y: f32[N,4]) {
  %w = get_attr[w] : f32[4,4]
  %a = call_function[linear](%x, %w, _)
  %b = call_function[sigmoid](%a)
  %c = call_function[cat](%a, %b) {dim=1}
  %r = call_function[reshape](%c) {shape=[-1,4]}
  %d = call_function[linear](%r, %w, _)
  %e = call_function[sigmoid](%d)
  %f = call_function[matmul](%e, %w)
  return %f
}
param w : f32[4,4]
`)
	c := quanttest.Static()
	p, err := quant.Resolve(m, c, cpu.QuantBackend())
	require.NoError(t, err)
	require.Equal(t, [][]string{{"a", "b", "c", "r"}}, p.Groups)
	plain := graph.Clone(m)
	quanttest.Quantise(t, m, c, quanttest.Batches(t, m, 16, nil))
	one := func(path string) float64 { return array.Float64At(m.Param("quantised."+path).Value, 0) }
	require.Nil(t, m.Param("quantised.b.scale"))
	require.Equal(t, 1./256, one("e.scale"), "alone, the operator fixes its range")
	require.Equal(t, 0., one("e.zero"))
	require.Greater(t, 255*one("a.scale"), 1., "the group covers all of it")
	quanttest.Sounds(t, plain, m, 20)
}

// TestEqualOperands lets a backend demand equal parameters of a sum.
func TestEqualOperands(t *testing.T) {
	m := quanttest.Parse(t, quanttest.Residual)
	b := cpu.QuantBackend()
	b.Operator(std.Conv2d).Fused = b.Operator(std.Conv2d).Fused[1:]
	b.Operator(std.Add).Sharing = quant.Equal
	p, err := quant.Resolve(m, quanttest.Static(), b)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"r1", "c2", "r2", "p", "f"}}, p.Groups)
}

// TestAfterBatchNorm folds first: the observers see folded weights.
func TestAfterBatchNorm(t *testing.T) {
	m := quanttest.Parse(t, afterBatchNorm)
	for i, v := range array.Data[float32](m.Param("s").Value) {
		array.Data[float32](m.Param("s").Value)[i] = v*v + 0.1 // a variance
	}
	plain := graph.Clone(m)
	quanttest.Pipeline(t, m, fx.Optimise()...)
	p, err := quant.Resolve(m, quanttest.Static(), cpu.QuantBackend())
	require.NoError(t, err)
	require.NotContains(t, p.String(), "batch_norm")
	require.Contains(t, p.String(), "w_folded")
	quanttest.Quantise(t, m, quanttest.Static(), quanttest.Batches(t, m, 8, nil))
	quanttest.Sounds(t, plain, m, 20)
	_, err = passes.Run(ctx, m, []passes.Pass{quant.Prepare(quanttest.Static(), cpu.QuantBackend()), fusion.ConvBN}, passes.Options{})
	require.ErrorIs(t, err, passes.BadPipeline)
}

const afterBatchNorm = `graph net(%x: f32[N,3,6,6]) {
  %w = get_attr[w] : f32[4,3,3,3]
  %c = call_function[conv2d](%x, %w, _)
  %v = get_attr[v] : f32[4]
  %s = get_attr[s] : f32[4]
  %n = call_function[batch_norm_inference](%c, %v, %s, %v, %v)
  %r = call_function[relu](%n)
  %u = get_attr[u] : f32[2,4,3,3]
  %d = call_function[conv2d](%r, %u, _)
  return %d
}
param w : f32[4,3,3,3]
param v : f32[4]
param s : f32[4]
param u : f32[2,4,3,3]
`
