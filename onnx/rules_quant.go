package onnx

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// quantRules are the operators on 8-bit values, which are those of passes/quant.
var quantRules = map[string][]rule{
	"QuantizeLinear":        from(10, quantizeLinear),
	"DequantizeLinear":      from(10, dequantizeLinear),
	"DynamicQuantizeLinear": from(11, func(c *call) []op.Value { return c.items(c.do(std.DynamicQuantize, nil, c.x(0)), 3) }),
	"QLinearMatMul":         from(10, qlinearMatMul),
	"QLinearConv":           from(10, qlinearConv),
	"MatMulInteger": from(10, func(c *call) []op.Value {
		return c.one(std.QMatmul, std.QLinearAttrs{DType: array.I32}, c.x(0), nil, c.opt(2), c.x(1), nil, c.opt(3))
	}),
	"ConvInteger": from(10, func(c *call) []op.Value {
		return qconv(c, 1, array.I32, c.x(0), nil, c.opt(2), c.x(1), nil, c.opt(3))
	}),
}

// scaleAxis is the axis that scales go along: none for one scale.
func scaleAxis(c *call) int {
	axis := c.int("axis", 1)
	if c.typ(1).Rank() == 0 || c.typ(1).Rank() == 1 && c.typ(1).Dim(0).Is(1) {
		return 0
	}
	return c.axis(axis, c.rank(0))
}

// blocks spreads scales or zero points that stand for blocks along an axis over their
// elements.
func blocks(c *call, i, axis, size int) op.Value {
	t := c.typ(0)
	if size < 1 || size > mostEntry {
		panic(diag.New(CodeModel, "block_size is "+strconv.Itoa(size)+", expected 0 for none, or more"))
	}
	want := t.Dims().Slice()
	want[axis] = t.Dim(axis).AddInt(size - 1).FloorDivInt(size)
	c.needDims(i, want...)
	v := c.x(i)
	v = c.do(std.RepeatInterleave, std.RepeatInterleaveAttrs{Repeats: size, Dim: axis}, v)
	return c.do(std.Slice, std.SliceAttrs{Dim: axis, Stop: c.typ(0).Dim(axis)}, v)
}

func quantizeLinear(c *call) []op.Value {
	axis, block := scaleAxis(c), c.int("block_size", 0)
	c.ignore("precision")
	d := c.dtype("output_dtype", array.Invalid)
	if c.has(2) {
		d = c.typ(2).DType()
	}
	if d == array.Invalid {
		d = array.U8
	}
	unsaturated := c.int("saturate", 1) == 0 && d.IsNarrowFloat() && d.Bits() == 8
	x, scale := c.x(0), c.x(1)
	if c.typ(1).DType() == array.F8E8M0FNU {
		scale = as(c, c.typ(0).DType(), scale)
	}
	if t, s := c.typ(0).DType(), scale.Type().DType(); t != s {
		panic(diag.New(CodeType, "the scale is "+s.String()+" for values of "+t.String()))
	}
	if block == 0 {
		return c.one(std.Quantize, std.QuantizeAttrs{Axis: axis, DType: d, Unsaturated: unsaturated}, x, scale, c.opt(2))
	}
	v := c.do(std.Div, nil, x, as(c, c.typ(0).DType(), blocks(c, 1, axis, block)))
	if !d.IsNarrowFloat() {
		v = c.do(std.Round, nil, v)
	}
	if c.has(2) {
		v = c.do(std.Add, nil, v, as(c, c.typ(0).DType(), blocks(c, 2, axis, block)))
	}
	return c.one(std.Cast, std.CastAttrs{DType: d, Unsaturated: unsaturated}, v)
}

// dequantizeLinear computes in f32 where the result is not of the scale's type.
func dequantizeLinear(c *call) []op.Value {
	axis, block := scaleAxis(c), c.int("block_size", 0)
	s := c.typ(1).DType()
	d := c.dtype("output_dtype", s)
	if d == array.F8E8M0FNU {
		panic(diag.New(CodeAttribute, "output_dtype is not given for scales of "+d.String()))
	}
	scale := c.x(1)
	if block == 0 {
		if d == s {
			return c.one(std.Dequantize, std.DequantizeAttrs{Axis: axis}, c.x(0), scale, c.opt(2))
		}
		return []op.Value{as(c, d, c.do(std.Dequantize, std.DequantizeAttrs{Axis: axis}, c.x(0), as(c, array.F32, scale), c.opt(2)))}
	}
	wide := func(v op.Value) op.Value { return as(c, array.F32, v) }
	v := wide(c.x(0))
	if c.has(2) {
		v = c.do(std.Sub, nil, v, wide(blocks(c, 2, axis, block)))
	}
	return []op.Value{as(c, d, c.do(std.Mul, nil, v, wide(blocks(c, 1, axis, block))))}
}

// as casts to an element type.
func as(c *call, d array.DType, v op.Value) op.Value {
	if v.Type().DType() == d {
		return v
	}
	return c.do(std.Cast, std.CastAttrs{DType: d}, v)
}

// scales are f32 for the integer operators.
func scale(c *call, i int) op.Value {
	if c.typ(i).DType() == array.F32 {
		return c.x(i)
	}
	return c.do(std.Cast, std.CastAttrs{DType: array.F32}, c.x(i))
}

func qlinearMatMul(c *call) []op.Value {
	if c.typ(0).DType() == array.Invalid {
		panic(diag.New(CodeType, "the element type of the input is not known"))
	}
	return c.one(std.QMatmul, std.QLinearAttrs{}, c.x(0), scale(c, 1), c.x(2), c.x(3), scale(c, 4), c.x(5), scale(c, 6), c.x(7))
}

func qlinearConv(c *call) []op.Value {
	return qconv(c, 3, array.Invalid, c.x(0), c.x(1), c.x(2), c.x(3), c.x(4), c.x(5), c.x(6), c.x(7), c.opt(8))
}

// qconv calls a convolution with the weight at operand w.
func qconv(c *call, w int, d array.DType, in ...op.Value) []op.Value {
	k := spatial(c, w)
	needSpatial(c, "the weight", len(k))
	win := windowOf(c, k)
	if !win.symmetric() {
		in[0] = padded(c, in[0], &win, false, zeroOf(c))
	}
	a := std.QConvAttrs{Stride: op.IntList(win.strides...), Padding: win.padding(),
		Dilation: op.IntList(win.dilations...), Groups: c.group(), DType: d}
	if len(k) > 3 {
		panic(diag.New(CodeOperator, strconv.Itoa(len(k))+" spatial dimensions are not supported"))
	}
	return c.one(byRank(c, len(k), std.QConv1d, std.QConv2d, std.QConv3d), a, in...)
}

// zeroOf is the zero point of the input of a convolution, operand 2, which is the value
// that padding must have.
func zeroOf(c *call) float64 {
	const i = 2
	if !c.has(i) {
		return 0
	}
	if v := c.in[i].arr; v == nil || v.Len() != 1 {
		panic(diag.New(CodeAttribute, "padding that differs from side to side needs a zero point that is known"))
	}
	return array.Float64At(c.in[i].arr, 0)
}
