package quant_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/quant"
)

// TestOneValueInTwoPlaces takes a value quantised as operand and in floats as bias.
func TestOneValueInTwoPlaces(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%x: f32[4]) {
  %w = get_attr[w] : f32[4,4]
  %y = call_function[linear](%x, %w, %x)
  %z = call_function[linear](%w, %w, _)
  return (%y, %z, %x)
}
param w : f32[4,4]
`)
	plain := graph.Clone(m)
	quanttest.Quantise(t, m, quanttest.Static(), quanttest.Batches(t, m, 8, nil))
	require.Regexp(t, `%y = call_function\[linear\]\(%dequantize\w*, %dequantize\w*, %x\)`, m.String())
	require.Regexp(t, `return \(%y, %z, %x\)`, m.String())
	require.Regexp(t, `%z = call_function\[linear\]\(%dequantize\w*, %dequantize\w*, _\)`, m.String())
	in := []*array.Array{array.FromSlice([]float32{0.5, -0.5, 0.25, 0.1})}
	a, b := quanttest.Interpret(t, plain, in...), quanttest.Interpret(t, m, in...)
	require.Greater(t, quanttest.SQNR(a[0], b[0]), 25.)
	require.Greater(t, quanttest.SQNR(a[1], b[1]), 25.)
}

// TestPlan_fixedRangesAreCovered joins small values with what lies from 0 to 1.
func TestPlan_fixedRangesAreCovered(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%x: f32[2,4]) {
  %w = get_attr[w] : f32[4,4]
  %a = call_function[linear](%x, %w, _)
  %b = call_function[sigmoid](%a)
  %s = call_function[mul](%a) {other=0.001}
  %c = call_function[cat](%s, %b) {dim=0}
  %d = call_function[linear](%c, %w, _)
  return %d
}
param w : f32[4,4]
`)
	plain := graph.Clone(m)
	quanttest.Quantise(t, m, quanttest.Static(), quanttest.Batches(t, m, 8, nil))
	require.InDelta(t, 1./255, array.Float64At(m.Param("quantised.b.scale").Value, 0), 1e-4)
	quanttest.Sounds(t, plain, m, 25)
}

// TestPlan_fusedOperatorsNeedTheirResult gives the activation a scheme of its own.
func TestPlan_fusedOperatorsNeedTheirResult(t *testing.T) {
	m := quanttest.Parse(t, quanttest.Residual)
	c := quanttest.Static()
	r := quanttest.Rule(quant.Selector{Name: "r1"}, quant.Static)
	r.Activation.DType = array.I8
	c.Rules = []quant.Rule{r}
	p, err := quant.Resolve(m, c, cpu.QuantBackend())
	require.NoError(t, err)
	require.Regexp(t, `%r1 +value +i8 by name r1 +i8 affine, histogram +Q14 other scheme: %c2 asks for u8 affine`, p.String())
	quanttest.Quantise(t, m, c, quanttest.Batches(t, m, 2, nil))
	require.Contains(t, m.String(), "param quantised.r1.zero : i8[]")
}

// TestPlan_vectorsAreNoWeights multiplies by a constant vector, of which no axis is channels.
func TestPlan_vectorsAreNoWeights(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%x: f32[2,4]) {
  %v = get_attr[v] : f32[4]
  %y = call_function[matmul](%x, %v)
  return %y
}
param v : f32[4]
`)
	plain := graph.Clone(m)
	quanttest.Quantise(t, m, quanttest.Static(), quanttest.Batches(t, m, 8, nil))
	require.Contains(t, m.String(), "[quantize](%v")
	quanttest.Sounds(t, plain, m, 25)
}

// TestPlan_sumsWithFloatsStayFloat has sums after products whose results nothing takes
// quantised: what is added is not rounded for nothing.
func TestPlan_sumsWithFloatsStayFloat(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%x: f32[2,4], %r: f32[2,4]) {
  %w = get_attr[w] : f32[4,4]
  %a = call_function[linear](%x, %w, _)
  %s = call_function[add](%a, %r)
  %u = call_function[relu](%s)
  %y = call_function[softmax](%u) {dim=1}
  return %y
}
param w : f32[4,4]
`)
	p, err := quant.Resolve(m, quanttest.Static(), cpu.QuantBackend())
	require.NoError(t, err)
	require.Regexp(t, `%a +linear .* static +Q05`, p.String())
	require.Regexp(t, `%s +add .* float +Q04 no gain: nothing after it is quantised\n`, p.String())
	require.Regexp(t, `%u +relu .* float +Q04 no gain: nothing after it is quantised\n`, p.String())
	require.NotRegexp(t, `%[rs] +value`, p.String())
	plain := graph.Clone(m)
	quanttest.Quantise(t, m, quanttest.Static(), quanttest.Batches(t, m, 16, nil))
	require.Regexp(t, `%s = call_function\[add\]\(%a, %r\)`, m.String())
	quanttest.Sounds(t, plain, m, 25)
}

// TestStagesOfFusion takes operators in the order that the backend computes them in.
func TestStagesOfFusion(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%x: f32[2,4]) {
  %w = get_attr[w] : f32[4,4]
  %a = call_function[linear](%x, %w, _)
  %b = call_function[relu](%a)
  %c = call_function[add](%b, %x)
  %d = call_function[linear](%c, %w, _)
  %e = call_function[add](%d, %x) {alpha=2}
  %f = call_function[linear](%e, %w, _)
  return %f
}
param w : f32[4,4]
`)
	p, err := quant.Resolve(m, quanttest.Static(), cpu.QuantBackend())
	require.NoError(t, err)
	require.Regexp(t, `%b +relu .*computed with %a`, p.String())
	require.Regexp(t, `%c +add .* static\n`, p.String(), "a sum behind an activation is computed apart")
	require.Regexp(t, `%e +add .* static\n`, p.String(), "a sum with a factor is computed apart")
	plain := graph.Clone(m)
	quanttest.Quantise(t, m, quanttest.Static(), quanttest.Batches(t, m, 32, nil))
	quanttest.Sounds(t, plain, m, 20)
}

// TestConditionsAndState leaves regions as they are and writes what was written.
func TestConditionsAndState(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%p: bool[], %x: f32[2,4]) {
  %w = get_attr[w] : f32[4,4]
  %a = call_function[linear](%x, %w, _)
  %s = get_attr[cache] : f32[2,4]
  %t = call_function[assign](%s, %a)
  %c = call_function[cond](%p, %a) {
    region(%u: f32[2,4]) {
      %v = get_attr[w] : f32[4,4]
      %l = call_function[linear](%u, %v, _)
      return %l
    }
    region(%u: f32[2,4]) {
      return %u
    }
  }
  %d = call_function[linear](%c, %w, _)
  %e = call_function[linear](%a, %w, _)
  return (%d, %e, %t)
}
param w : f32[4,4]
param cache : f32[2,4] buffer
`)
	plain := graph.Clone(m)
	quanttest.Quantise(t, m, quanttest.Static(), quanttest.Batches(t, m, 64, nil))
	require.Contains(t, m.String(), "param w : f32[4,4]\n", "the region reads it in floats")
	quanttest.Sounds(t, plain, m, 22)
}

func TestBadBackends(t *testing.T) {
	m := quanttest.Parse(t, quanttest.Single)
	for want, o := range map[string]quant.Operator{
		"operator 0 of its table is nil":                       {},
		"operator linear has no modes":                         {Op: std.Linear},
		"operator linear has mode weight_only and no weight":   {Op: std.Linear, Modes: []quant.Mode{quant.WeightOnly}},
		"operator relu has no operand 1 that can be a weight":  {Op: std.Relu, Modes: []quant.Mode{quant.Static}, Weight: quant.Weight{Operand: 1, DTypes: []array.DType{array.I8}}},
		"operator relu has element types other than u8 and i8": {Op: std.Relu, Modes: []quant.Mode{quant.Static}, Activations: []array.DType{array.F16}},
	} {
		_, err := quant.Resolve(m, quanttest.Static(), &quant.Backend{Name: "odd", Operators: []quant.Operator{o}})
		require.ErrorIs(t, err, quant.BadConfig)
		require.ErrorContains(t, err, "backend odd: "+want)
	}
}
