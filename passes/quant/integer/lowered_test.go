package integer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
)

// between returns what turns values from bytes to floats and back between operators of
// one graph: every quantize but those of inputs, every dequantize but those of results,
// which are what an integer network needs.
func between(g *graph.Graph) (list []string) {
	for n := range g.Calls(std.Quantize) {
		if n.Arg(0).Opcode() != graph.Placeholder {
			list = append(list, n.Text())
		}
	}
	for n := range g.Calls(std.Dequantize) {
		for u := range n.Users() {
			if u.Opcode() != graph.Output {
				list = append(list, n.Text()+" for "+u.String())
			}
		}
	}
	return list
}

// TestLower_models quantises networks with one image: whatever the plan grants
// for the CPU becomes an operator on quantised values.
func TestLower_models(t *testing.T) {
	for name, decibels := range map[string]float64{"efficientnet_b0": 25, "mobilenet_v3_large": 20, "resnet18": 34, "resnet50": 20, "unet": 20} {
		model := models.Lookup(name)
		net := model.New()
		models.Synthetic(model, net, "gofx-1")
		gm, err := fx.Trace(ctx, net, fx.Input("x", "f32[N,3,224,224]"))
		require.NoError(t, err)
		_, err = gm.Apply(ctx, fx.Optimise(), fx.PassOptions{})
		require.NoError(t, err)
		plain, m := graph.Clone(gm.Module), gm.Module
		gen := passes.Random{State: 9}
		x := gen.Array(array.F32, 1, 3, 224, 224)
		quanttest.Quantise(t, m, quanttest.Static(), quanttest.Inputs([]*array.Array{x}))
		converted := graph.Clone(m)
		r := quanttest.Pipeline(t, m, integer.Lower)
		require.Empty(t, r.Passes[0].Refused, name)
		for n := range m.Graph.Nodes() {
			o := n.Op()
			require.False(t, o == std.Conv2d || o == std.ConvTranspose2d || o == std.Linear || o == std.Add || o == std.Relu, "%s: %s", name, n.Text())
		}
		require.Empty(t, between(m.Graph), name)
		want := quanttest.Interpret(t, plain, x)[0]
		t.Logf("%s: %.1f dB", name, quanttest.SQNR(want, quanttest.Interpret(t, m, x)[0]))
		require.Greater(t, quanttest.SQNR(want, quanttest.Interpret(t, converted, x)[0]), decibels, name)
		require.Greater(t, quanttest.SQNR(want, quanttest.Interpret(t, m, x)[0]), decibels, name)
	}
}

// TestLower_fourBits finds the operator on weights of 4 bits again.
func TestLower_fourBits(t *testing.T) {
	for group, want := range map[int]int{32: 1, 64: 1, 16: 0} { // kernels have groups of 32
		m := quanttest.Parse(t, quanttest.TiedEmbedding)
		plain := graph.Clone(m)
		b := cpu.QuantBackend()
		b.Operator(std.Linear).Weight.GroupOf = 16
		c := &quant.Config{Rules: []quant.Rule{quanttest.Rule(quant.Selector{Op: "linear"}, quant.WeightOnly)}}
		c.Rules[0].Weight = quant.Scheme{Bits: 4, Granularity: quant.PerGroup, Group: group}
		quanttest.Pipeline(t, m, quant.Convert(c, b), integer.Lower)
		found := 0
		for range m.Graph.Calls(std.Int4Linear) {
			found++
		}
		require.Equal(t, want, found, m)
		if found > 0 {
			for _, o := range []*op.Op{std.BitwiseAnd, std.Dequantize, std.Reshape} {
				for n := range m.Graph.Calls(o) {
					t.Errorf("%s is left over", n)
				}
			}
		}
		quanttest.Sounds(t, plain, m, 15)
	}
}

// TestDropoutIsLeftOut has dropouts, which do nothing here, between layers, before a
// residual and after it.
func TestDropoutIsLeftOut(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%x: f32[N,8]) {
  %w1 = get_attr[w1] : f32[8,8]
  %y1 = call_function[linear](%x, %w1, _)
  %h = call_function[hardswish](%y1)
  %d1 = call_function[dropout](%h) {p=0.5}
  %w2 = get_attr[w2] : f32[8,8]
  %y2 = call_function[linear](%d1, %w2, _)
  %d2 = call_function[dropout](%y2) {p=0.5}
  %s = call_function[add](%d2, %d1)
  %r = call_function[relu](%s)
  %d3 = call_function[dropout](%r) {p=0.5}
  %y3 = call_function[linear](%d3, %w1, _)
  return %y3
}
param w1 : f32[8,8]
param w2 : f32[8,8]
`)
	plain := graph.Clone(m)
	quanttest.Quantise(t, m, quanttest.Static(), quanttest.Batches(t, m, 4, map[string]int{"N": 3}))
	quanttest.Pipeline(t, m, integer.Lower)
	for n := range m.Graph.Calls(std.Dropout) {
		t.Error(n.Text())
	}
	require.Empty(t, between(m.Graph))
	in, err := passes.Inputs(m.Graph, map[string]int{"N": 3}, 100)
	require.NoError(t, err)
	require.Greater(t, quanttest.SQNR(quanttest.Interpret(t, plain, in...)[0], quanttest.Interpret(t, m, in...)[0]), 30.0)
}

// TestLower_trainedDropoutStays, whose results are random.
func TestLower_trainedDropoutStays(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%q: u8[4], %key: i64[]) {
  %s = get_attr[s] : f32[]
  %x = call_function[dequantize](%q, %s)
  %d = call_function[dropout](%x, %key) {p=0.5,training=true}
  %y = call_function[quantize](%d, %s)
  return %y
}
param s : f32[]
`)
	before := m.String()
	r := quanttest.Pipeline(t, m, integer.Lower)
	require.Equal(t, before, m.String())
	require.Len(t, r.Passes[0].Refused, 1)
	require.Contains(t, r.Passes[0].Refused[0].Why, "training")
}
