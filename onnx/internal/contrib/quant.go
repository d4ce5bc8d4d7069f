package contrib

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/onnx/internal/standard"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// contribQuantRules are ONNX Runtime's operators on quantised values.
var contribQuantRules = map[string][]rule.Rule{
	"QuantizeLinear":           rule.From(1, standard.QuantizeLinear),
	"DequantizeLinear":         rule.From(1, standard.DequantizeLinear),
	"QLinearAdd":               rule.From(1, func(c *rule.Call) []op.Value { return quantPair(c, std.QAdd) }),
	"QLinearMul":               rule.From(1, func(c *rule.Call) []op.Value { return quantPair(c, std.QMul) }),
	"QLinearAveragePool":       rule.From(1, quantAveragePool),
	"QLinearGlobalAveragePool": rule.From(1, quantGlobalPool),
	"QLinearReduceMean":        rule.From(1, quantReduceMean),
	"QLinearConcat":            rule.From(1, quantConcat),
	"QLinearWhere":             rule.From(1, quantWhere),
	"QLinearSoftmax":           rule.From(1, quantSoftmax),
	"QLinearSigmoid": rule.From(1, func(c *rule.Call) []op.Value {
		return requantised(c, c.Do(std.Sigmoid, nil, realOperand(c, 0)), 3)
	}),
	"QLinearLeakyRelu": rule.From(1, func(c *rule.Call) []op.Value {
		a := std.LeakyReluAttrs{NegativeSlope: c.Float("alpha", 0.01)}
		return requantised(c, c.Do(std.LeakyRelu, a, realOperand(c, 0)), 3)
	}),
	"QLinearConv":           rule.From(1, contribQuantConv),
	"QGemm":                 rule.From(1, quantGemm),
	"DynamicQuantizeMatMul": rule.From(1, dynamicQuantMatMul),
	"MatMulIntegerToFloat": rule.From(1, func(c *rule.Call) []op.Value {
		return toFloats(c, c.X(0), c.X(2), c.Opt(4), c.X(1), c.X(3), c.Opt(5), c.Opt(6))
	}),
	"DynamicQuantizeLSTM": {{Since: 1, Run: dynamicQuantLSTM}},
	"MulInteger": rule.From(1, func(c *rule.Call) []op.Value {
		return c.One(std.Mul, nil, centered(c, 0, 1), centered(c, 2, 3))
	}),
	"ReduceSumInteger": rule.From(1, func(c *rule.Call) []op.Value {
		a := std.ReduceAttrs{Dim: op.IntList(c.List("axes")...), KeepDim: c.Flag("keepdims", true)}
		return c.One(std.Cast, std.CastAttrs{DType: array.I32}, c.Do(std.Sum, a, c.Do(std.Cast, std.CastAttrs{DType: array.I64}, c.X(0))))
	}),
	"NhwcMaxPool":          rule.From(1, nhwcMaxPool),
	"MatMulNBits":          rule.From(1, matMulNBits),
	"GatherBlockQuantized": rule.From(1, gatherBlockQuantized),
}

// realOperand is the quantised operand i, which its scale and its zero point follow, in floats.
func realOperand(c *rule.Call, i int) op.Value {
	return c.Do(std.Dequantize, nil, c.X(i), scalar(c, i+1), scalarOpt(c, i+2))
}

// scalar is operand i, which has one element, with rank 0.
func scalar(c *rule.Call, i int) op.Value {
	if n, ok := c.Type(i).Dims().Prod().Int(); !ok || n != 1 {
		panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is "+c.Type(i).String()+", expected one element"))
	}
	if c.Type(i).Rank() == 0 {
		return c.X(i)
	}
	return standard.Reshape(c, c.X(i))
}

func scalarOpt(c *rule.Call, i int) op.Value {
	if !c.Has(i) {
		return nil
	}
	return scalar(c, i)
}

// requantised quantises y with the scale at operand i and the zero point after it;
// without a zero point the result has the type of operand 0.
func requantised(c *rule.Call, y op.Value, i int) []op.Value {
	a := std.QuantizeAttrs{DType: c.Type(0).DType()}
	if c.Has(i + 1) {
		a.DType = c.Type(i + 1).DType()
	}
	return c.One(std.Quantize, a, y, scalar(c, i), scalarOpt(c, i+1))
}

// quantPair calls q_add or q_mul.
func quantPair(c *rule.Call, o *op.Op) []op.Value {
	return c.One(o, nil, c.X(0), scalar(c, 1), scalarOpt(c, 2), c.X(3), scalar(c, 4), scalarOpt(c, 5), scalar(c, 6), scalarOpt(c, 7))
}

// quantAveragePool pools as q_avg_pool does where that can, else in floats.
func quantAveragePool(c *rule.Call) []op.Value {
	last := c.Flag("channels_last", false)
	x := c.X(0)
	if last {
		x = channels(c, x, true)
	}
	in := moved(c, x)
	k := standard.KernelShape(in)
	w := standard.WindowOf(in, k)
	include, ceil := c.Flag("count_include_pad", false), standard.CeilOf(c, &w)
	var y op.Value
	if w.Fits(false) && !w.Dilated() {
		a := std.QAvgPoolAttrs{KernelSize: op.IntList(k...), Stride: op.IntList(w.Strides...), Padding: w.Padding(), CeilMode: ceil, CountExcludePad: !include}
		y = c.Do(std.QAvgPool, a, x, scalar(c, 1), scalarOpt(c, 2), scalar(c, 3), scalarOpt(c, 4))
	} else {
		floats := c.Do(std.Dequantize, nil, x, scalar(c, 1), scalarOpt(c, 2))
		y = requantised(c, standard.AveragePool(moved(c, floats))[0], 3)[0]
	}
	if last {
		y = channels(c, y, false)
	}
	return []op.Value{y}
}

// quantGlobalPool is a pool over everything where the sizes are known, else a mean in floats.
func quantGlobalPool(c *rule.Call) []op.Value {
	last := c.Flag("channels_last", false)
	n := c.Rank(0) - 2
	if n < 1 {
		panic(diag.New(spec.CodeModel, "the input is "+c.Type(0).String()+", expected spatial dimensions"))
	}
	x := c.X(0)
	if last {
		x = channels(c, x, true)
	}
	var y op.Value
	if k, ok := x.Type().Dims().Sub(2, 2+n).Known(); ok && n <= 3 {
		y = c.Do(std.QAvgPool, std.QAvgPoolAttrs{KernelSize: op.IntList(k...)}, x, scalar(c, 1), scalarOpt(c, 2), scalar(c, 3), scalarOpt(c, 4))
	} else {
		var dims []int
		for i := range n {
			dims = append(dims, 2+i)
		}
		floats := c.Do(std.Dequantize, nil, x, scalar(c, 1), scalarOpt(c, 2))
		y = requantised(c, c.Do(std.Mean, std.ReduceAttrs{Dim: op.IntList(dims...), KeepDim: true}, floats), 3)[0]
	}
	if last {
		y = channels(c, y, false)
	}
	return []op.Value{y}
}

func quantReduceMean(c *rule.Call) []op.Value {
	a := std.ReduceAttrs{Dim: op.IntList(c.List("axes")...), KeepDim: c.Flag("keepdims", true)}
	return requantised(c, c.Do(std.Mean, a, realOperand(c, 0)), 3)
}

// quantConcat joins tensors, each with its scale and its zero point.
func quantConcat(c *rule.Call) []op.Value {
	in := []op.Value{scalar(c, 0), scalarOpt(c, 1)}
	if len(c.In)%3 != 2 || len(c.In) < 5 {
		panic(diag.New(spec.CodeModel, strconv.Itoa(len(c.In))+" inputs, expected tensors with their scales and zero points"))
	}
	for i := 2; i < len(c.In); i += 3 {
		in = append(in, c.X(i), scalar(c, i+1), scalarOpt(c, i+2))
	}
	return c.One(std.QConcat, std.DimAttrs{Dim: c.Axis(c.Int("axis", 0), c.Rank(2))}, in...)
}

func quantWhere(c *rule.Call) []op.Value {
	y := c.Do(std.Where, nil, c.X(0), realOperand(c, 1), realOperand(c, 4))
	return c.One(std.Quantize, std.QuantizeAttrs{DType: c.Type(1).DType()}, y, scalar(c, 7), scalarOpt(c, 8))
}

// quantSoftmax is over all dimensions from the axis on before operator set 13, over that
// one since; the set is that of ONNX, which the attribute says.
func quantSoftmax(c *rule.Call) []op.Value {
	x := realOperand(c, 0)
	rank := c.Rank(0)
	set := c.Int("opset", 0)
	if set < 1 {
		panic(diag.New(spec.CodeModel, "attribute opset is missing, which says what axis means"))
	}
	axis := c.Axis(c.Int("axis", -1), rank)
	if set >= 13 || axis == rank-1 {
		return requantised(c, c.Do(std.Softmax, std.DimAttrs{Dim: axis}, x), 3)
	}
	y := c.Do(std.Softmax, std.DimAttrs{Dim: -1}, c.Do(std.Flatten, std.FlattenAttrs{StartDim: axis, EndDim: -1}, x))
	return requantised(c, standard.Reshape(c, y, c.Type(0).Dims().Slice()...), 3)
}

// contribQuantConv has the channels last, or not.
func contribQuantConv(c *rule.Call) []op.Value {
	if !c.Flag("channels_last", false) {
		return standard.QlinearConv(c)
	}
	in := make([]op.Value, len(c.In))
	for i := range in {
		in[i] = c.Opt(i)
	}
	in[0] = channels(c, in[0], true)
	return []op.Value{channels(c, standard.QlinearConv(moved(c, in...))[0], false)}
}

// quantGemm adds a C that is quantised as the products are.
func quantGemm(c *rule.Call) []op.Value {
	alpha := c.Float("alpha", 1)
	ta, tb := c.Flag("transA", false), c.Flag("transB", false)
	turned := func(x op.Value, yes bool) op.Value {
		if !yes {
			return x
		}
		return c.Do(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, x)
	}
	a, b := turned(c.X(0), ta), turned(c.X(3), tb)
	if alpha == 1 && (!c.Has(6) || c.Type(6).Rank() == 1 && c.Type(6).Dim(0).Equal(b.Type().Dim(1))) {
		attrs, in := std.QLinearAttrs{DType: array.F32}, []op.Value{a, scalar(c, 1), scalarOpt(c, 2), b, c.X(4), c.Opt(5)}
		if c.Has(7) {
			attrs.DType = array.Invalid
			return c.One(std.QMatmul, attrs, append(in, scalar(c, 7), scalarOpt(c, 8), c.Opt(6))...)
		}
		return c.One(std.QMatmul, attrs, append(in, nil, nil, c.Opt(6))...)
	}
	sums := c.Do(std.QMatmul, std.QLinearAttrs{DType: array.I32}, a, nil, scalarOpt(c, 2), b, nil, c.Opt(5))
	if c.Has(6) {
		sums = c.Do(std.Add, nil, sums, c.X(6))
	}
	unit := c.Do(std.Mul, nil, scalar(c, 1), c.X(4))
	if alpha != 1 {
		unit = c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(alpha)}, unit)
	}
	y := c.Do(std.Mul, nil, c.Do(std.Cast, std.CastAttrs{DType: array.F32}, sums), unit)
	if !c.Has(7) {
		return []op.Value{y}
	}
	return requantised(c, y, 7)
}

// toFloats multiplies quantised matrices to floats, and adds a bias.
func toFloats(c *rule.Call, in ...op.Value) []op.Value {
	y := c.Do(std.QMatmul, std.QLinearAttrs{DType: array.F32}, in[:6]...)
	if in[6] != nil {
		y = c.Do(std.Add, nil, y, in[6])
	}
	return []op.Value{y}
}

// dynamicQuantMatMul quantises its first operand by its range.
func dynamicQuantMatMul(c *rule.Call) []op.Value {
	x := c.Items(c.Do(std.DynamicQuantize, nil, c.X(0)), 3)
	return toFloats(c, x[0], x[1], x[2], c.X(1), c.X(2), c.Opt(3), c.Opt(4))
}

// centered is operand i less its zero point, in i32.
func centered(c *rule.Call, i, zero int) op.Value {
	wide := func(x op.Value) op.Value { return c.Do(std.Cast, std.CastAttrs{DType: array.I32}, x) }
	if !c.Has(zero) {
		return wide(c.X(i))
	}
	return c.Do(std.Sub, nil, wide(c.X(i)), wide(c.X(zero)))
}

// dynamicQuantLSTM is lstm with weights of 8 bits, which lie transposed.
func dynamicQuantLSTM(c *rule.Call) []*rule.Datum {
	c.Write()
	turned := *c
	turned.In = append([]*rule.Datum(nil), c.In...)
	for _, i := range []int{1, 2} {
		c.Rank(i)
		w := c.Prepared(i, func(x op.Value) op.Value { return c.Do(std.Transpose, std.TransposeAttrs{Dim0: -2, Dim1: -1}, x) })
		turned.In[i] = &rule.Datum{Node: nodeOf(w), Name: c.In[i].Name}
	}
	r := standard.RecurrentOf(&turned, 4, []string{"Sigmoid", "Tanh", "Tanh"})
	r.Order = []int{0, 2, 3, 1}
	if _, ok := r.Plain([]string{"Sigmoid", "Tanh", "Tanh"}); !ok || r.Reverse || r.BatchFirst {
		panic(diag.New(spec.CodeAttribute, "DynamicQuantizeLSTM with peepholes, clip, lengths, other activations, reverse or the batch first is not supported"))
	}
	in := []op.Value{c.X(0), r.State(5), r.State(6)}
	for d := range r.Dirs {
		for k := range 2 {
			in = append(in, bytesOf(r, 1+k, 9+2*k, d), rowScales(r, 8+2*k, d))
		}
		if c.Has(3) {
			in = append(in, r.Weights(3, d, 0), r.Weights(3, d, r.Gates))
		}
	}
	out := c.Items(c.Do(std.QLstm, std.LstmAttrs{Bidirectional: r.Dirs == 2, NoBias: !c.Has(3)}, in...), 3)
	t, b := c.Type(0).Dim(0), c.Type(0).Dim(1)
	y := standard.Reshape(c, out[0], t, b, shape.Const(r.Dirs), shape.Const(r.Hidden))
	return c.Values(r.Results(y, out[1:]))
}

// bytesOf are the weights of a direction as i8 around zero: u8 around 128 are, too.
func bytesOf(r *standard.Recurrent, i, zero, d int) op.Value {
	c := r.Call
	half := int64(0)
	if c.Type(i).DType() == array.U8 {
		half = 128
	}
	if !c.Has(zero) && half != 0 {
		panic(diag.New(spec.CodeAttribute, "weights of DynamicQuantizeLSTM are u8 without a zero point"))
	}
	if c.Has(zero) {
		z := c.Constant(zero)
		for k := range z.Len() {
			if array.Int64At(z, k) != half {
				panic(diag.New(spec.CodeAttribute, "the zero point "+strconv.FormatInt(array.Int64At(z, k), 10)+" of a weight of DynamicQuantizeLSTM is not supported"))
			}
		}
	}
	w := r.Weights(i, d, 0)
	if half == 0 {
		return w
	}
	w = c.Do(std.Sub, std.SubAttrs{Other: op.Int(half)}, c.Do(std.Cast, std.CastAttrs{DType: array.I16}, w))
	return c.Do(std.Cast, std.CastAttrs{DType: array.I8}, w)
}

// rowScales are the scales of a direction: one, or one for each row in PyTorch's order.
func rowScales(r *standard.Recurrent, i, d int) op.Value {
	if r.Call.Type(i).Rank() == 2 {
		return r.Weights(i, d, 0)
	}
	return r.Call.Do(std.Select, std.SelectAttrs{Index: d}, r.Call.X(i))
}

func nhwcMaxPool(c *rule.Call) []op.Value {
	in := moved(c, channels(c, c.X(0), true))
	k := standard.KernelShape(in)
	w := standard.WindowOf(in, k)
	ceil := standard.CeilOf(c, &w)
	if !w.Fits(true) {
		return []op.Value{channels(c, standard.MaxPool(in)[0], false)}
	}
	a := std.MaxPoolAttrs{KernelSize: op.IntList(k...), Stride: op.IntList(w.Strides...), Padding: w.Padding(),
		Dilation: op.IntList(w.Dilations...), CeilMode: ceil}
	return []op.Value{channels(c, c.Do(std.QMaxPool, a, in.X(0)), false)}
}
