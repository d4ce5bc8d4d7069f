package parity

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/passes/quant/tune"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
)

func init() { area("2.9", formRows, valueFormRows) }

var lowerPass = variable{"passes/quant/integer.Lower", integer.Lower}

// sole finds the only call of an operator.
func sole(t *testing.T, m *graph.Module, name string) *graph.Node {
	t.Helper()
	var found *graph.Node
	for n := range m.Graph.All() {
		if n.Op() != nil && n.Op().Name == name {
			require.Nil(t, found, "two calls of %s", name)
			found = n
		}
	}
	require.NotNil(t, found, "no call of %s", name)
	return found
}

var formRows = []row{
	{id: "147", input: "a prepared graph copied; a calibrated one saved, loaded and converted", outcome: "the copy observes on its own; the same bytes as without", on: in(graph.Clone, graph.Save, graph.Load), test: func(t *testing.T) {
		m := folded(t, mlp(), mlpInput)
		c := mode(quant.Static)
		p := prepared(t, m, c)
		fresh := graph.Clone(m)
		apply2(t, fresh, quant.Prepare(c, cpu.QuantBackend()))
		other := graph.Clone(fresh)
		_, err := quant.Calibrate(context.Background(), other, batches(t, m, 3), quant.CalibrateOptions{})
		require.NoError(t, err)
		_, err = passes.Run(context.Background(), fresh, []passes.Pass{quant.Convert(c, cpu.QuantBackend())}, passes.Options{})
		require.ErrorIs(t, err, quant.Uncalibrated, "the original has seen nothing")
		dir := t.TempDir()
		require.NoError(t, graph.Save(dir, p))
		loaded, err := graph.Load(dir)
		require.NoError(t, err)
		for _, q := range []*graph.Module{loaded, p} {
			apply2(t, q, quant.Convert(c, cpu.QuantBackend()))
		}
		equal, diff := graph.EqualModules(p, loaded)
		require.True(t, equal, diff)
	}},
	{id: "148", input: "an operator that stays in float between quantised ones, with two users; inputs and results of the graph", outcome: "one quantize and one dequantize a value, at the edges of what is quantised", on: in(quant.Convert), test: func(t *testing.T) {
		a, b, c := nn.NewLinear(4, 4), nn.NewLinear(4, 4), nn.NewLinear(4, 4)
		m := folded(t, func(x tt) tt { y := a.Forward(x).Softmax(-1); return b.Forward(y).Add(c.Forward(y)) }, "f32[2,4]")
		q := quantised(t, m, mode(quant.Static))
		soft := sole(t, q, "softmax")
		require.Equal(t, 1, soft.NumUses(), "one quantize of it")
		require.Equal(t, "quantize", firstUser(soft).Op().Name)
		require.Equal(t, 1, firstUser(soft).NumUses(), "one dequantize of that")
		in := q.Graph.Inputs()[0]
		require.Equal(t, 1, in.NumUses())
		require.Equal(t, "quantize", firstUser(in).Op().Name)
		require.Equal(t, array.F32, q.Graph.Output().Arg(0).Type().DType())
	}},
	{id: "149", input: "a transposed convolution with groups, in a lowered graph", outcome: "it stays in float operators, with the reason", on: in(lowerPass), test: func(t *testing.T) {
		m := folded(t, nn.NewSequential(nn.NewConvTranspose2d(4, 4, 2, nn.Groups(2)), nn.NewConv2d(4, 4, 3)), "f32[1,4,5,5]")
		q := quantised(t, m, mode(quant.Static))
		report := apply2(t, q, integer.Lower)
		require.Contains(t, report.Explain(), "a transposed convolution of groups has no integer form")
		require.Equal(t, 1, opcounts(q.Graph)["conv_transpose2d"])
		require.Equal(t, 1, opcounts(q.Graph)["q_conv2d"])
	}},
	{id: "150", input: "scales and zero points of a converted graph", outcome: "parameters with paths of their own, of the values' names", on: in(quant.Convert), test: func(t *testing.T) {
		q := quantised(t, folded(t, mlp(), mlpInput), mode(quant.Static))
		require.Equal(t, array.F32, q.Param("quantised.x.scale").Value.DType())
		require.Equal(t, array.U8, q.Param("quantised.x.zero").Value.DType())
		require.Positive(t, array.Data[float32](q.Param("quantised.x.scale").Value)[0])
	}},
	{id: "151", input: "a lowered graph compiled for the CPU, which packs its weights; saved, loaded and compiled again", outcome: "the same bytes; what is stored is not packed", on: in(cpu.Compile, graph.Load), test: func(t *testing.T) {
		q := quantised(t, folded(t, mlp(), mlpInput), mode(quant.Static))
		apply2(t, q, integer.Lower)
		want := compiled(t, q, 3)
		dir := t.TempDir()
		require.NoError(t, graph.Save(dir, q))
		loaded, err := graph.Load(dir)
		require.NoError(t, err)
		near(t, want, compiled(t, loaded, 3), 0)
		require.Equal(t, []int{8, 8}, loaded.Param("0.weight_quantised").Value.Shape())
	}},
	{id: "152", input: "a model of half precision, static and dynamic", outcome: "it stays as it is, with the reason", on: in(quant.Resolve), test: func(t *testing.T) {
		for _, kind := range []quant.Mode{quant.Static, quant.Dynamic} {
			m := folded(t, func(x tt) tt { return x.Matmul(x) }, "f16[2,2]")
			require.Equal(t, quant.OtherFloats, reason(t, resolve(t, m, mode(kind)), "matmul"))
		}
	}},
	{id: "153", input: "indices, sizes and their arithmetic next to a linear layer", outcome: "no observer for them", on: in(quant.Prepare), test: func(t *testing.T) {
		l := nn.NewLinear(4, 4)
		m := folded(t, func(x tt) tt {
			return l.Forward(x.Reshape(x.Size(0).Mul(2).Div(2), 4)).IndexSelect(tensor.Arange(x.Size(0)), 0)
		}, "f32[N,4]")
		p := graph.Clone(m)
		apply2(t, p, quant.Prepare(mode(quant.Static), cpu.QuantBackend()))
		require.Positive(t, opcounts(p.Graph)["observe"])
		for n := range p.Graph.Calls(std.Observe) {
			require.Equal(t, array.F32, n.Arg(0).Type().DType())
		}
	}},
	{id: "154", input: "one layer that is called twice, once with a ReLU after it, dynamic", outcome: "one weight in 8 bits for both calls", on: in(quant.Convert), test: func(t *testing.T) {
		l := nn.NewLinear(4, 4)
		m := folded(t, func(x tt) tt { return l.Forward(l.Forward(x).Relu()).Add(l.Forward(x)) }, "f32[2,4]")
		q := quantised(t, m, mode(quant.Dynamic))
		stored := 0
		for _, p := range q.Params() {
			if p.TypeOf().DType() == array.I8 && p.TypeOf().Rank() == 2 {
				stored++
			}
		}
		require.Equal(t, 1, stored)
		require.Greater(t, float64(signal(t, m, q)), 25.0)
	}},
	{id: "155", input: "the quantised form of a residual network in floats, lowered, and compiled", outcome: "a quantum of difference at most; compiled and interpreted, the same bytes", on: in(lowerPass, cpu.Compile), test: func(t *testing.T) {
		m := folded(t, newResidual(), "f32[1,2,5,5]")
		q := quantised(t, m, mode(quant.Static))
		reference := interpreted(t, q, 9)
		apply2(t, q, integer.Lower)
		require.Equal(t, 2, opcounts(q.Graph)["q_conv2d"], "%s", q.Graph)
		near(t, reference, interpreted(t, q, 9), 0.05)
		near(t, interpreted(t, q, 9), compiled(t, q, 9), 0)
	}},
	{id: "156", input: "a rule of mode float for one layer", outcome: "it is as it was, the others are quantised", on: in(quant.Convert), test: func(t *testing.T) {
		m := folded(t, mlp(), mlpInput)
		c := mode(quant.Static)
		c.Rules = []quant.Rule{{Selector: quant.Selector{Name: "_2"}, Setting: quant.Setting{Mode: quant.Float}}}
		q := quantised(t, m, c)
		require.NotNil(t, q.Param("2.weight"))
		require.Nil(t, q.Param("0.weight"))
		require.Equal(t, quant.NotAsked, reason(t, resolve(t, m, c), "_2"))
	}},
	{id: "157", input: "sigmoid and tanh between quantised layers", outcome: "the scales 1/256 and 1/128 with the zero points 0 and 128, without observing", on: in(quant.Convert, quant.Prepare), test: func(t *testing.T) {
		a, b := nn.NewLinear(4, 4), nn.NewLinear(4, 4)
		m := folded(t, func(x tt) tt { return b.Forward(a.Forward(x).Sigmoid()).Tanh().Matmul(x) }, "f32[4,4]")
		q := quantised(t, m, mode(quant.Static))
		for name, want := range map[string][2]float64{"sigmoid": {1.0 / 256, 0}, "tanh": {1.0 / 128, 128}} {
			require.InDelta(t, want[0], array.Float64At(q.Param("quantised."+name+".scale").Value, 0), 1e-9)
			require.Equal(t, want[1], array.Float64At(q.Param("quantised."+name+".zero").Value, 0))
		}
	}},
}

func firstUser(n *graph.Node) *graph.Node {
	for u := range n.Users() {
		return u
	}
	return nil
}

var valueFormRows = []row{
	{id: "158a", input: "an embedding in 8 and in 4 bits; an LSTM", outcome: "the table is stored in 8 and in 4 bits; dynamic, with states quantised in each step", on: in(quant.Convert, quant.Resolve), test: func(t *testing.T) {
		m := folded(t, nn.NewSequential(nn.NewEmbedding(10, 64), nn.NewLinear(64, 3)), "i64[4]")
		for bits, width := range map[int]int{8: 64, 4: 32} {
			c := mode(quant.WeightOnly)
			c.Global.Weight.Bits = bits
			if bits == 4 {
				c.Global.Weight.Granularity = quant.PerGroup
			}
			q := quantised(t, m, c)
			require.Equal(t, []int{10, width}, q.Param("0.weight_quantised").Value.Shape())
			require.Greater(t, float64(signal(t, m, q)), 15.0)
		}
		l := nn.NewLSTM(4, 4)
		m = folded(t, func(x tt) tt { y, _, _ := l.Forward(x, nil, nil); return y }, "f32[3,1,4]")
		require.Equal(t, "dynamic", decision(resolve(t, m, mode(quant.Dynamic)), sole(t, m, "lstm").Name(), quant.OperatorPart).Granted)
		require.Equal(t, 1, opcounts(quantised(t, m, mode(quant.Dynamic)).Graph)["q_lstm"])
	}},
	{id: "158b", input: "pools, cat, views, sums with a ReLU, products of two values, all between quantised layers", outcome: "computed on bytes after lowering", on: in(lowerPass), test: func(t *testing.T) {
		a, b, c := nn.NewConv2d(2, 4, 3, nn.Padding(1)), nn.NewConv2d(2, 4, 3, nn.Padding(1)), nn.NewConv2d(8, 2, 1)
		m := folded(t, func(x tt) tt {
			y, z := a.Forward(x), b.Forward(x)
			s := y.Add(z).Relu().Mul(y)
			return c.Forward(tensor.Cat([]tt{s.MaxPool2d([]int{2}), z.AvgPool2d([]int{2})}, 1).Transpose(2, 3))
		}, "f32[1,2,6,6]")
		q := quantised(t, m, mode(quant.Static))
		require.Greater(t, float64(signal(t, m, q)), 20.0)
		apply2(t, q, integer.Lower)
		counts := opcounts(q.Graph)
		require.Equal(t, 1, counts["quantize"], "%v", counts)
		require.Equal(t, array.U8, sole(t, q, "cat").Type().DType())
		for _, o := range []string{"conv2d", "add", "mul", "max_pool2d", "avg_pool2d", "relu"} {
			require.Zero(t, counts[o], "%v", counts)
		}
	}},
	{id: "159", input: "one value that two layers ask for in other ways", outcome: "it is quantised once; the plan says who has decided", on: in(quant.Resolve), test: func(t *testing.T) {
		a, b := nn.NewLinear(4, 4), nn.NewLinear(4, 4)
		m := folded(t, func(x tt) tt { return a.Forward(x).Add(b.Forward(x)) }, "f32[2,4]")
		c := mode(quant.Static)
		signed := c.Global
		signed.Activation.DType = array.I8
		var second string
		for n := range m.Graph.Calls(std.Linear) {
			second = n.Name()
		}
		c.Rules = []quant.Rule{{Selector: quant.Selector{Name: second}, Setting: signed}}
		plan := resolve(t, m, c)
		require.Equal(t, quant.OtherScheme, decision(plan, "x", quant.ValuePart).Why[0].Reason, "%s", plan)
	}},
	{id: "160", input: "a chain of cat, pool and views between quantised layers", outcome: "one group: equal scales for all of them", on: in(quant.Resolve, quant.Convert), test: func(t *testing.T) {
		a, b := nn.NewConv2d(2, 2, 3, nn.Padding(1)), nn.NewConv2d(4, 2, 1)
		m := folded(t, func(x tt) tt {
			return b.Forward(tensor.Cat([]tt{a.Forward(x).Relu(), x}, 1).MaxPool2d(2).Transpose(2, 3))
		}, "f32[1,2,6,6]")
		plan := resolve(t, m, mode(quant.Static))
		require.Len(t, plan.Groups, 1, "%s", plan)
		require.Len(t, plan.Groups[0], 5)
		q := quantised(t, m, mode(quant.Static))
		scales := 0
		for _, p := range q.Params() {
			if p.Path == "quantised.cat.scale" || p.Path == "quantised.x.scale" || p.Path == "quantised.relu.scale" {
				scales++
			}
		}
		require.Equal(t, 1, scales, "one pair of parameters")
	}},
	{id: "161", input: "an input of bytes that is dequantised; a result that is quantised", outcome: "neither is quantised again; the operator between is on bytes", on: in(lowerPass), test: func(t *testing.T) {
		m := parse(t, `graph net(%x: u8[N,4]) {
  %s = get_attr[s] : f32[]
  %w = get_attr[w] : i8[2,4]
  %d = call_function[dequantize](%x, %s) : f32[N,4]
  %v = call_function[dequantize](%w, %s) : f32[2,4]
  %y = call_function[linear](%d, %v) : f32[N,2]
  %q = call_function[quantize](%y, %s) : u8[N,2]
  return %q
}
param s : f32[]
param w : i8[2,4]
`)
		m.SetParam(graph.Param{Path: "s", Value: array.Scalar(float32(0.5))})
		m.SetParam(graph.Param{Path: "w", Value: array.FromSlice([]int8{1, 2, 3, 4, -1, -2, -3, -4}, 2, 4)})
		want := interpreted(t, m, 4)
		apply2(t, m, integer.Lower)
		require.Equal(t, map[string]int{"q_linear": 1}, opcounts(m.Graph))
		near(t, want, interpreted(t, m, 4), 1)
	}},
	{id: "162", input: "calibration without data; conversion of a graph that has seen none; calibration of one that is not prepared; preparation before folding", outcome: "FX6005, FX6006, FX6003; the order is refused", on: in(quant.Calibrate, quant.Convert), test: func(t *testing.T) {
		m := folded(t, mlp(), mlpInput)
		c := mode(quant.Static)
		_, err := quant.Calibrate(context.Background(), m, batches(t, m, 1), quant.CalibrateOptions{})
		require.ErrorIs(t, err, quant.NotPrepared)
		apply2(t, m, quant.Prepare(c, cpu.QuantBackend()))
		_, err = quant.Calibrate(context.Background(), m, of(), quant.CalibrateOptions{})
		require.ErrorIs(t, err, quant.NoBatches)
		_, err = passes.Run(context.Background(), m, []passes.Pass{quant.Convert(c, cpu.QuantBackend())}, passes.Options{})
		require.ErrorIs(t, err, quant.Uncalibrated)
		require.ErrorContains(t, err, "%x")
		_, err = passes.Run(context.Background(), folded(t, mlp(), mlpInput), append([]passes.Pass{quant.Prepare(c, cpu.QuantBackend())}, fx.Optimise()...), passes.Options{})
		require.ErrorIs(t, err, passes.BadPipeline)
	}},
	{id: "163", input: "graphs with one result, two, and a map of them, converted", outcome: "the same structure of results; no unused node or parameter", on: in(quant.Convert), test: func(t *testing.T) {
		l := nn.NewLinear(4, 4)
		for _, f := range []any{
			func(x tt) tt { return l.Forward(x) },
			func(x tt) (a, b tt) { y := l.Forward(x); return y, y.Relu() },
			func(x tt) map[string]tt { y := l.Forward(x); return map[string]tt{"a": y, "b": y.Relu()} },
		} {
			m := folded(t, f, "f32[2,4]")
			q := quantised(t, m, mode(quant.Static))
			require.Equal(t, m.Graph.Output().Structure(), q.Graph.Output().Structure())
			require.False(t, apply2(t, q, simplify.DCE).Changed(), "%s", q.Graph)
			require.Zero(t, q.DropUnused())
		}
	}},
	{id: "164", input: "SqueezeNet with synthetic weights, quantised statically", outcome: "20 dB or more against the float network", on: in(quant.Convert, tune.Compare), test: func(t *testing.T) {
		spec := models.Lookup("squeezenet1_1")
		net := spec.New()
		models.Synthetic(spec, net, "parity")
		m := folded(t, net, "f32[1,3,64,64]")
		q := quantised(t, m, mode(quant.Static))
		require.Greater(t, float64(signal(t, m, q)), 20.0)
	}},
	{id: "165", input: "a key, a position and a scope at layers, prepared and converted", outcome: "they are there", on: in(quant.Prepare, quant.Convert), test: func(t *testing.T) {
		key := graph.NewKey[string]("owner")
		m := folded(t, mlp(), mlpInput)
		key.Set(m.Graph.Find("_0"), "me")
		pos := m.Graph.Find("_0").Pos()
		q := quantised(t, m, mode(quant.Static))
		owner, _ := key.Get(q.Graph.Find("_0"))
		require.Equal(t, "me", owner)
		require.Equal(t, pos, q.Graph.Find("_0").Pos())
	}},
	{id: "166", input: "a weight that is no layer's, and a layer that is used in two places", outcome: "both are quantised, the layer's weight once", on: in(quant.Convert), test: func(t *testing.T) {
		w, l := tensor.Param(random(4, 4)), nn.NewLinear(4, 4)
		m := folded(t, func(x tt) tt { return l.Forward(l.Forward(x).Linear(w, nil)) }, "f32[2,4]")
		q := quantised(t, m, mode(quant.WeightOnly))
		stored := 0
		for _, p := range q.Params() {
			if p.TypeOf().DType() == array.I8 {
				stored++
			}
		}
		require.Equal(t, 2, stored)
	}},
}

// random is an array of pseudo-random floats.
func random(dims ...int) *array.Array {
	return (&passes.Random{State: 3}).Array(array.F32, dims...)
}
