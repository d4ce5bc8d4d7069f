package parity

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
)

func init() { area("2.9", planRows) }

// mlp is two layers with an activation between.
func mlp() *nn.Sequential {
	return nn.NewSequential(nn.NewLinear(8, 8), nn.NewReLU(), nn.NewLinear(8, 4))
}

const mlpInput = "f32[4,8]"

var planRows = []row{
	{id: "136", input: "a convolution with a batch norm and a ReLU, in evaluation and in training mode", outcome: "one group, computed together; left in float with the reason", on: in(quant.Resolve, nn.Train), test: func(t *testing.T) {
		m := nn.NewSequential(nn.NewConv2d(2, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU(), nn.NewConv2d(4, 2, 3))
		g := folded(t, m, image)
		plan := resolve(t, g, mode(quant.Static))
		require.Equal(t, quant.Within, reason(t, plan, "_2"))
		require.Zero(t, opcounts(g.Graph)["batch_norm"])
		nn.Train(m)
		gm := capture(t, m, fx.Input("x", image))
		apply2(t, gm.Module, simplify.Functionalize)
		require.Equal(t, quant.InTraining, reason(t, resolve(t, gm.Module, mode(quant.Static)), "batch_norm"))
	}},
	{id: "137", input: "a pattern with a part that may be anything", outcome: "it matches whatever is there, which the replacement does not get", on: in(passes.Any), test: func(t *testing.T) {
		for _, other := range []string{"%y", "%a", "%x"} {
			m := body(t, "  %a = call_function[exp](%y)\n  %b = call_function[mul](%x, "+other+")\n  %c = call_function[relu](%b)\n  return %c")
			report := apply2(t, m, passes.Rule(passes.Rewrite{Name: "wild", Doc: "d", Pattern: func(x tt) tt { return x.Mul(passes.Any()).Relu() }, Replacement: func(x tt) tt { return x.Relu() }}))
			require.Equal(t, 1, report.Matches("wild"), report.Explain())
			require.True(t, m.Graph.Output().Arg(0).Arg(0) == m.Graph.Find("x"))
		}
	}},
	{id: "138", input: "layers exchanged for ones that are trained quantised", none: "models are not trained in this version; what training has found comes in as weights and ranges"},
	{id: "139a", input: "convolutions of 1 to 3 dimensions and linear layers, as layers and as functions, static", outcome: "quantize and dequantize around each, the same for both spellings; 25 dB or more", on: in(quant.Convert, quant.Prepare), test: func(t *testing.T) {
		for in, m := range map[string][2]nn.Module{
			"f32[2,2,9]":     {nn.NewConv1d(2, 4, 3), nn.NewConv1d(4, 2, 3)},
			"f32[1,2,6,6]":   {nn.NewConv2d(2, 4, 3), nn.NewConv2d(4, 2, 3)},
			"f32[1,2,5,5,5]": {nn.NewConv3d(2, 4, 2), nn.NewConv3d(4, 2, 2)},
			"f32[3,8]":       {nn.NewLinear(8, 8), nn.NewLinear(8, 4)},
		} {
			layers := folded(t, nn.NewSequential(m[0], nn.NewReLU(), m[1]), in)
			q := quantised(t, layers, mode(quant.Static))
			require.Equal(t, 4, opcounts(q.Graph)["dequantize"], "%s", q.Graph)
			require.Equal(t, 2, opcounts(q.Graph)["quantize"])
			require.Greater(t, float64(signal(t, layers, q)), 25.0, in)
			flat := capture(t, nn.NewSequential(m[0], nn.NewReLU(), m[1]), fx.Input("x", in), fx.Flat())
			_, err := flat.Apply(context.Background(), fx.Optimise(), fx.PassOptions{})
			require.NoError(t, err)
			require.Equal(t, opcounts(q.Graph), opcounts(quantised(t, flat.Module, mode(quant.Static)).Graph))
		}
	}},
	{id: "139b", input: "the same, lowered to operators on integers", outcome: "no float operator is left but at the ends; a quantum of difference at most", on: in(variable{"passes/quant/integer.Lower", integer.Lower}), test: func(t *testing.T) {
		m := folded(t, mlp(), mlpInput)
		q := quantised(t, m, mode(quant.Static))
		want := interpreted(t, q, 5)
		apply2(t, q, integer.Lower)
		require.Equal(t, map[string]int{"quantize": 1, "q_linear": 2}, opcounts(q.Graph))
		near(t, want, interpreted(t, q, 5), 0.02)
	}},
	{id: "139c", input: "linear layers in mode dynamic, and lowered", outcome: "operands are quantised by the range of each run, without calibration", on: in(quant.Convert), test: func(t *testing.T) {
		m := folded(t, mlp(), mlpInput)
		q := quantised(t, m, mode(quant.Dynamic))
		require.Equal(t, 2, opcounts(q.Graph)["dynamic_quantize"])
		require.Greater(t, float64(signal(t, m, q)), 25.0)
		apply2(t, q, integer.Lower)
		require.Equal(t, 2, opcounts(q.Graph)["q_linear"])
	}},
	{id: "140", input: "weights alone, converted without any calibration", outcome: "stored in 8 bits with scales from their own extremes", on: in(quant.Convert), test: func(t *testing.T) {
		m := folded(t, mlp(), mlpInput)
		q := quantised(t, m, mode(quant.WeightOnly))
		require.Equal(t, array.I8, q.Param("0.weight_quantised").Value.DType())
		require.Equal(t, []int{8}, q.Param("0.weight_scale").Value.Shape())
		require.Greater(t, float64(signal(t, m, q)), 35.0)
	}},
	{id: "141", input: "convolution, batch norm and ReLU of 1 to 3 dimensions, quantised", outcome: "the numbers of the float model to 25 dB, the batch norm in the weights", on: in(variable{"passes/fusion.ConvBN", fusion.ConvBN}), test: func(t *testing.T) {
		for in, m := range map[string]*nn.Sequential{
			"f32[2,2,9]":     nn.NewSequential(nn.NewConv1d(2, 4, 3), nn.NewBatchNorm1d(4), nn.NewReLU(), nn.NewConv1d(4, 2, 3)),
			"f32[1,2,6,6]":   nn.NewSequential(nn.NewConv2d(2, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU(), nn.NewConv2d(4, 2, 3)),
			"f32[1,2,5,5,5]": nn.NewSequential(nn.NewConv3d(2, 4, 2), nn.NewBatchNorm3d(4), nn.NewReLU(), nn.NewConv3d(4, 2, 2)),
		} {
			gm := capture(t, m, fx.Input("x", in))
			apply(t, gm.Module, simplify.Functionalize, fusion.ConvBN, simplify.DCE)
			require.Zero(t, opcounts(gm.Graph)["batch_norm"])
			require.Greater(t, float64(signal(t, gm.Module, quantised(t, gm.Module, mode(quant.Static)))), 25.0)
		}
	}},
	{id: "142", input: "rules by operator, type and name for one layer, in any order; two of one kind; an exclusion", outcome: "name before type before operator; the last of equals; the exclusion", on: in(quant.Resolve), test: func(t *testing.T) {
		m := folded(t, mlp(), mlpInput)
		rule := func(s quant.Selector, mo quant.Mode) quant.Rule {
			return quant.Rule{Selector: s, Setting: quant.Setting{Mode: mo}}
		}
		asked := func(rules ...quant.Rule) string {
			return decision(resolve(t, m, &quant.Config{Rules: rules}), "_0", quant.OperatorPart).Asked
		}
		byOp := rule(quant.Selector{Op: "linear"}, quant.Static)
		byType := rule(quant.Selector{Type: "nn.Linear"}, quant.Float)
		byName := rule(quant.Selector{Name: "_0"}, quant.WeightOnly)
		require.Equal(t, "static", asked(byOp))
		require.Equal(t, "weight_only", asked(byName, byOp))
		require.Equal(t, "weight_only", asked(byOp, byName))
		require.Equal(t, "dynamic", asked(byOp, rule(quant.Selector{Op: "linear"}, quant.Dynamic)))
		require.Equal(t, "float", asked(byType, byOp))
		require.Equal(t, "weight_only", asked(byName, byType))
		excluded := &quant.Config{Global: quant.Setting{Mode: quant.Static}, Rules: []quant.Rule{byName}, Exclude: []quant.Selector{{Name: "_0"}}}
		require.Equal(t, "float", decision(resolve(t, m, excluded), "_0", quant.OperatorPart).Granted)
	}},
	{id: "143", input: "a rule for a convolution whose batch norm is folded into it", outcome: "the rule holds for what they have become", on: in(quant.Resolve), test: func(t *testing.T) {
		m := folded(t, nn.NewSequential(nn.NewConv2d(2, 4, 3), nn.NewBatchNorm2d(4), nn.NewConv2d(4, 2, 3)), image)
		c := mode(quant.Static)
		c.Rules = []quant.Rule{{Selector: quant.Selector{Type: "nn.Conv2d"}, Setting: quant.Setting{Mode: quant.WeightOnly}}}
		for n := range m.Graph.Calls(std.Conv2d) {
			e := decision(resolve(t, m, c), n.Name(), quant.OperatorPart)
			require.Equal(t, "weight_only", e.Asked, "%s", e.By)
		}
	}},
	{id: "144", input: "a configuration in JSON; one with an unknown field, an unknown value, a rule that selects nothing", outcome: "read; all mistakes at line and column, with the known names", on: in(quant.ParseConfig), test: func(t *testing.T) {
		c, err := quant.ParseConfig([]byte(`{"global": {"mode": "static"}, "rules": [{"op": "linear", "mode": "dynamic"}], "exclude": [{"scope": "head"}]}`), "q.json")
		require.NoError(t, err)
		require.Equal(t, quant.Static, c.Global.Mode)
		require.Equal(t, quant.Dynamic, c.Rules[0].Mode)
		_, err = quant.ParseConfig([]byte(`{"global": {"mod": "static"},
 "rules": [{"op": "linear", "mode": "statical"}]}`), "q.json")
		require.ErrorIs(t, err, quant.BadConfig)
		require.ErrorContains(t, err, `q.json:1:13: global has no field "mod"`)
		require.ErrorContains(t, err, "q.json:2:")
		c.Rules[0].Selector = quant.Selector{Op: "conv3d"}
		_, err = quant.Resolve(folded(t, mlp(), mlpInput), c, cpu.QuantBackend())
		require.ErrorIs(t, err, quant.BadConfig)
	}},
	{id: "145", input: "a backend that has linear layers weight-only with symmetric tensors of i8; static and 4 bits asked of it", outcome: "what it has, and the reason; strict refuses", on: in(quant.Resolve, (*quant.Backend).Operator, quant.Reason.Refusal), test: func(t *testing.T) {
		b := &quant.Backend{Name: "edge", Operators: []quant.Operator{{Op: std.Linear, Modes: []quant.Mode{quant.WeightOnly}, Weight: quant.Weight{Operand: 1, DTypes: []array.DType{array.I8}}}}}
		require.NotNil(t, b.Operator(std.Linear))
		require.Nil(t, b.Operator(std.Relu))
		m := folded(t, mlp(), mlpInput)
		plan, err := quant.Resolve(m, mode(quant.Static), b)
		require.NoError(t, err)
		require.Equal(t, quant.NoMode, reason(t, plan, "_0"))
		require.Equal(t, "weight_only", decision(plan, "_0", quant.OperatorPart).Granted)
		four := mode(quant.WeightOnly)
		four.Global.Weight.Bits = 4
		plan, err = quant.Resolve(m, four, b)
		require.NoError(t, err)
		require.Equal(t, quant.NoScheme, decision(plan, "_0", quant.WeightPart).Why[0].Reason)
		require.True(t, quant.NoScheme.Refusal())
		four.Strict = true
		_, err = quant.Resolve(m, four, b)
		require.ErrorIs(t, err, quant.Refused)
		require.ErrorContains(t, err, "edge")
	}},
	{id: "146", input: "a wrapped Go function between quantised layers", outcome: "it stays in float, with the reason; the layers do not", on: in(quant.Resolve), test: func(t *testing.T) {
		l := nn.NewLinear(8, 8)
		gm := capture(t, func(x tt) tt { return l.Forward(half8(l.Forward(x))) }, fx.Input("x", mlpInput))
		apply2(t, gm.Module, simplify.Functionalize)
		plan := resolve(t, gm.Module, mode(quant.Static))
		require.Equal(t, quant.OpaqueCode, reason(t, plan, "Half8"))
		require.Equal(t, 2, strings.Count(plan.String(), "  linear  "))
	}},
}

var half8 = tensor.WrapPure(Half8, tensor.Signature("f32[N,M] -> f32[N,M]"))

// Half8 is a Go function whose meaning is not known.
func Half8(x tt) tt { return x.DivScalar(2) }
