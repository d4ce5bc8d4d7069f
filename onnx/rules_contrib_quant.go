package onnx

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// contribQuantRules are ONNX Runtime's operators on quantised values.
var contribQuantRules = map[string][]rule{
	"QuantizeLinear":           from(1, quantizeLinear),
	"DequantizeLinear":         from(1, dequantizeLinear),
	"QLinearAdd":               from(1, func(c *call) []op.Value { return quantPair(c, std.QAdd) }),
	"QLinearMul":               from(1, func(c *call) []op.Value { return quantPair(c, std.QMul) }),
	"QLinearAveragePool":       from(1, quantAveragePool),
	"QLinearGlobalAveragePool": from(1, quantGlobalPool),
	"QLinearReduceMean":        from(1, quantReduceMean),
	"QLinearConcat":            from(1, quantConcat),
	"QLinearWhere":             from(1, quantWhere),
	"QLinearSoftmax":           from(1, quantSoftmax),
	"QLinearSigmoid": from(1, func(c *call) []op.Value {
		return requantised(c, c.do(std.Sigmoid, nil, realOperand(c, 0)), 3)
	}),
	"QLinearLeakyRelu": from(1, func(c *call) []op.Value {
		a := std.LeakyReluAttrs{NegativeSlope: c.float("alpha", 0.01)}
		return requantised(c, c.do(std.LeakyRelu, a, realOperand(c, 0)), 3)
	}),
	"QLinearConv":           from(1, contribQuantConv),
	"QGemm":                 from(1, quantGemm),
	"DynamicQuantizeMatMul": from(1, dynamicQuantMatMul),
	"MatMulIntegerToFloat": from(1, func(c *call) []op.Value {
		return toFloats(c, c.x(0), c.x(2), c.opt(4), c.x(1), c.x(3), c.opt(5), c.opt(6))
	}),
	"DynamicQuantizeLSTM": {{since: 1, run: dynamicQuantLSTM}},
	"MulInteger": from(1, func(c *call) []op.Value {
		return c.one(std.Mul, nil, centered(c, 0, 1), centered(c, 2, 3))
	}),
	"ReduceSumInteger": from(1, func(c *call) []op.Value {
		a := std.ReduceAttrs{Dim: op.IntList(c.list("axes")...), KeepDim: c.flag("keepdims", true)}
		return c.one(std.Cast, std.CastAttrs{DType: array.I32}, c.do(std.Sum, a, c.do(std.Cast, std.CastAttrs{DType: array.I64}, c.x(0))))
	}),
	"NhwcMaxPool":          from(1, nhwcMaxPool),
	"MatMulNBits":          from(1, matMulNBits),
	"GatherBlockQuantized": from(1, gatherBlockQuantized),
}

// realOperand is the quantised operand i, which its scale and its zero point follow, in floats.
func realOperand(c *call, i int) op.Value {
	return c.do(std.Dequantize, nil, c.x(i), scalar(c, i+1), scalarOpt(c, i+2))
}

// scalar is operand i, which has one element, with rank 0.
func scalar(c *call, i int) op.Value {
	if n, ok := c.typ(i).Dims().Prod().Int(); !ok || n != 1 {
		panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" is "+c.typ(i).String()+", expected one element"))
	}
	if c.typ(i).Rank() == 0 {
		return c.x(i)
	}
	return reshape(c, c.x(i))
}

func scalarOpt(c *call, i int) op.Value {
	if !c.has(i) {
		return nil
	}
	return scalar(c, i)
}

// requantised quantises y with the scale at operand i and the zero point after it;
// without a zero point the result has the type of operand 0.
func requantised(c *call, y op.Value, i int) []op.Value {
	a := std.QuantizeAttrs{DType: c.typ(0).DType()}
	if c.has(i + 1) {
		a.DType = c.typ(i + 1).DType()
	}
	return c.one(std.Quantize, a, y, scalar(c, i), scalarOpt(c, i+1))
}

// quantPair calls q_add or q_mul.
func quantPair(c *call, o *op.Op) []op.Value {
	return c.one(o, nil, c.x(0), scalar(c, 1), scalarOpt(c, 2), c.x(3), scalar(c, 4), scalarOpt(c, 5), scalar(c, 6), scalarOpt(c, 7))
}

// quantAveragePool pools as q_avg_pool does where that can, else in floats.
func quantAveragePool(c *call) []op.Value {
	last := c.flag("channels_last", false)
	x := c.x(0)
	if last {
		x = channels(c, x, true)
	}
	in := moved(c, x)
	k := kernelShape(in)
	w := windowOf(in, k)
	include, ceil := c.flag("count_include_pad", false), ceilOf(c, &w)
	var y op.Value
	if w.fits(false) && !w.dilated() {
		a := std.QAvgPoolAttrs{KernelSize: op.IntList(k...), Stride: op.IntList(w.strides...), Padding: w.padding(), CeilMode: ceil, CountExcludePad: !include}
		y = c.do(std.QAvgPool, a, x, scalar(c, 1), scalarOpt(c, 2), scalar(c, 3), scalarOpt(c, 4))
	} else {
		floats := c.do(std.Dequantize, nil, x, scalar(c, 1), scalarOpt(c, 2))
		y = requantised(c, averagePool(moved(c, floats))[0], 3)[0]
	}
	if last {
		y = channels(c, y, false)
	}
	return []op.Value{y}
}

// quantGlobalPool is a pool over everything where the sizes are known, else a mean in floats.
func quantGlobalPool(c *call) []op.Value {
	last := c.flag("channels_last", false)
	n := c.rank(0) - 2
	if n < 1 {
		panic(diag.New(CodeModel, "the input is "+c.typ(0).String()+", expected spatial dimensions"))
	}
	x := c.x(0)
	if last {
		x = channels(c, x, true)
	}
	var y op.Value
	if k, ok := x.Type().Dims().Sub(2, 2+n).Known(); ok && n <= 3 {
		y = c.do(std.QAvgPool, std.QAvgPoolAttrs{KernelSize: op.IntList(k...)}, x, scalar(c, 1), scalarOpt(c, 2), scalar(c, 3), scalarOpt(c, 4))
	} else {
		var dims []int
		for i := range n {
			dims = append(dims, 2+i)
		}
		floats := c.do(std.Dequantize, nil, x, scalar(c, 1), scalarOpt(c, 2))
		y = requantised(c, c.do(std.Mean, std.ReduceAttrs{Dim: op.IntList(dims...), KeepDim: true}, floats), 3)[0]
	}
	if last {
		y = channels(c, y, false)
	}
	return []op.Value{y}
}

func quantReduceMean(c *call) []op.Value {
	a := std.ReduceAttrs{Dim: op.IntList(c.list("axes")...), KeepDim: c.flag("keepdims", true)}
	return requantised(c, c.do(std.Mean, a, realOperand(c, 0)), 3)
}

// quantConcat joins tensors, each with its scale and its zero point.
func quantConcat(c *call) []op.Value {
	in := []op.Value{scalar(c, 0), scalarOpt(c, 1)}
	if len(c.in)%3 != 2 || len(c.in) < 5 {
		panic(diag.New(CodeModel, strconv.Itoa(len(c.in))+" inputs, expected tensors with their scales and zero points"))
	}
	for i := 2; i < len(c.in); i += 3 {
		in = append(in, c.x(i), scalar(c, i+1), scalarOpt(c, i+2))
	}
	return c.one(std.QConcat, std.DimAttrs{Dim: c.axis(c.int("axis", 0), c.rank(2))}, in...)
}

func quantWhere(c *call) []op.Value {
	y := c.do(std.Where, nil, c.x(0), realOperand(c, 1), realOperand(c, 4))
	return c.one(std.Quantize, std.QuantizeAttrs{DType: c.typ(1).DType()}, y, scalar(c, 7), scalarOpt(c, 8))
}

// quantSoftmax is over all dimensions from the axis on before operator set 13, over that
// one since; the set is that of ONNX, which the attribute says.
func quantSoftmax(c *call) []op.Value {
	x := realOperand(c, 0)
	rank := c.rank(0)
	set := c.int("opset", 0)
	if set < 1 {
		panic(diag.New(CodeModel, "attribute opset is missing, which says what axis means"))
	}
	axis := c.axis(c.int("axis", -1), rank)
	if set >= 13 || axis == rank-1 {
		return requantised(c, c.do(std.Softmax, std.DimAttrs{Dim: axis}, x), 3)
	}
	y := c.do(std.Softmax, std.DimAttrs{Dim: -1}, c.do(std.Flatten, std.FlattenAttrs{StartDim: axis, EndDim: -1}, x))
	return requantised(c, reshape(c, y, c.typ(0).Dims().Slice()...), 3)
}

// contribQuantConv has the channels last, or not.
func contribQuantConv(c *call) []op.Value {
	if !c.flag("channels_last", false) {
		return qlinearConv(c)
	}
	in := make([]op.Value, len(c.in))
	for i := range in {
		in[i] = c.opt(i)
	}
	in[0] = channels(c, in[0], true)
	return []op.Value{channels(c, qlinearConv(moved(c, in...))[0], false)}
}

// quantGemm adds a C that is quantised as the products are.
func quantGemm(c *call) []op.Value {
	alpha := c.float("alpha", 1)
	ta, tb := c.flag("transA", false), c.flag("transB", false)
	turned := func(x op.Value, yes bool) op.Value {
		if !yes {
			return x
		}
		return c.do(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, x)
	}
	a, b := turned(c.x(0), ta), turned(c.x(3), tb)
	if alpha == 1 && (!c.has(6) || c.typ(6).Rank() == 1 && c.typ(6).Dim(0).Equal(b.Type().Dim(1))) {
		attrs, in := std.QLinearAttrs{DType: array.F32}, []op.Value{a, scalar(c, 1), scalarOpt(c, 2), b, c.x(4), c.opt(5)}
		if c.has(7) {
			attrs.DType = array.Invalid
			return c.one(std.QMatmul, attrs, append(in, scalar(c, 7), scalarOpt(c, 8), c.opt(6))...)
		}
		return c.one(std.QMatmul, attrs, append(in, nil, nil, c.opt(6))...)
	}
	sums := c.do(std.QMatmul, std.QLinearAttrs{DType: array.I32}, a, nil, scalarOpt(c, 2), b, nil, c.opt(5))
	if c.has(6) {
		sums = c.do(std.Add, nil, sums, c.x(6))
	}
	unit := c.do(std.Mul, nil, scalar(c, 1), c.x(4))
	if alpha != 1 {
		unit = c.do(std.Mul, std.BinaryAttrs{Other: op.Float(alpha)}, unit)
	}
	y := c.do(std.Mul, nil, c.do(std.Cast, std.CastAttrs{DType: array.F32}, sums), unit)
	if !c.has(7) {
		return []op.Value{y}
	}
	return requantised(c, y, 7)
}

// toFloats multiplies quantised matrices to floats, and adds a bias.
func toFloats(c *call, in ...op.Value) []op.Value {
	y := c.do(std.QMatmul, std.QLinearAttrs{DType: array.F32}, in[:6]...)
	if in[6] != nil {
		y = c.do(std.Add, nil, y, in[6])
	}
	return []op.Value{y}
}

// dynamicQuantMatMul quantises its first operand by its range.
func dynamicQuantMatMul(c *call) []op.Value {
	x := c.items(c.do(std.DynamicQuantize, nil, c.x(0)), 3)
	return toFloats(c, x[0], x[1], x[2], c.x(1), c.x(2), c.opt(3), c.opt(4))
}

// centered is operand i less its zero point, in i32.
func centered(c *call, i, zero int) op.Value {
	wide := func(x op.Value) op.Value { return c.do(std.Cast, std.CastAttrs{DType: array.I32}, x) }
	if !c.has(zero) {
		return wide(c.x(i))
	}
	return c.do(std.Sub, nil, wide(c.x(i)), wide(c.x(zero)))
}

// dynamicQuantLSTM is lstm with weights of 8 bits, which lie transposed.
func dynamicQuantLSTM(c *call) []*value {
	c.write()
	turned := *c
	turned.in = append([]*value(nil), c.in...)
	for _, i := range []int{1, 2} {
		c.rank(i)
		w := c.prepared(i, func(x op.Value) op.Value { return c.do(std.Transpose, std.TransposeAttrs{Dim0: -2, Dim1: -1}, x) })
		turned.in[i] = &value{node: nodeOf(w), name: c.in[i].name}
	}
	r := recurrentOf(&turned, 4, []string{"Sigmoid", "Tanh", "Tanh"})
	r.order = []int{0, 2, 3, 1}
	if _, ok := r.plain([]string{"Sigmoid", "Tanh", "Tanh"}); !ok || r.reverse || r.batchFirst {
		panic(diag.New(CodeAttribute, "DynamicQuantizeLSTM with peepholes, clip, lengths, other activations, reverse or the batch first is not supported"))
	}
	in := []op.Value{c.x(0), r.state(5), r.state(6)}
	for d := range r.dirs {
		for k := range 2 {
			in = append(in, bytesOf(r, 1+k, 9+2*k, d), rowScales(r, 8+2*k, d))
		}
		if c.has(3) {
			in = append(in, r.weights(3, d, 0), r.weights(3, d, r.gates))
		}
	}
	out := c.items(c.do(std.QLstm, std.LstmAttrs{Bidirectional: r.dirs == 2, NoBias: !c.has(3)}, in...), 3)
	t, b := c.typ(0).Dim(0), c.typ(0).Dim(1)
	y := reshape(c, out[0], t, b, shape.Const(r.dirs), shape.Const(r.hidden))
	return c.values(r.results(y, out[1:]))
}

// bytesOf are the weights of a direction as i8 around zero: u8 around 128 are, too.
func bytesOf(r *recurrent, i, zero, d int) op.Value {
	c := r.c
	half := int64(0)
	if c.typ(i).DType() == array.U8 {
		half = 128
	}
	if !c.has(zero) && half != 0 {
		panic(diag.New(CodeAttribute, "weights of DynamicQuantizeLSTM are u8 without a zero point"))
	}
	if c.has(zero) {
		z := c.constant(zero)
		for k := range z.Len() {
			if array.Int64At(z, k) != half {
				panic(diag.New(CodeAttribute, "the zero point "+strconv.FormatInt(array.Int64At(z, k), 10)+" of a weight of DynamicQuantizeLSTM is not supported"))
			}
		}
	}
	w := r.weights(i, d, 0)
	if half == 0 {
		return w
	}
	w = c.do(std.Sub, std.SubAttrs{Other: op.Int(half)}, c.do(std.Cast, std.CastAttrs{DType: array.I16}, w))
	return c.do(std.Cast, std.CastAttrs{DType: array.I8}, w)
}

// rowScales are the scales of a direction: one, or one for each row in PyTorch's order.
func rowScales(r *recurrent, i, d int) op.Value {
	if r.c.typ(i).Rank() == 2 {
		return r.weights(i, d, 0)
	}
	return r.c.do(std.Select, std.SelectAttrs{Index: d}, r.c.x(i))
}

func nhwcMaxPool(c *call) []op.Value {
	in := moved(c, channels(c, c.x(0), true))
	k := kernelShape(in)
	w := windowOf(in, k)
	ceil := ceilOf(c, &w)
	if !w.fits(true) {
		return []op.Value{channels(c, maxPool(in)[0], false)}
	}
	a := std.MaxPoolAttrs{KernelSize: op.IntList(k...), Stride: op.IntList(w.strides...), Padding: w.padding(),
		Dilation: op.IntList(w.dilations...), CeilMode: ceil}
	return []op.Value{channels(c, c.do(std.QMaxPool, a, in.x(0)), false)}
}
