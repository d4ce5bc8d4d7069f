package standard

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// quantRules are the operators on 8-bit values, which are those of passes/quant.
var quantRules = map[string][]rule.Rule{
	"QuantizeLinear":        rule.From(10, QuantizeLinear),
	"DequantizeLinear":      rule.From(10, DequantizeLinear),
	"DynamicQuantizeLinear": rule.From(11, func(c *rule.Call) []op.Value { return c.Items(c.Do(std.DynamicQuantize, nil, c.X(0)), 3) }),
	"QLinearMatMul":         rule.From(10, qlinearMatMul),
	"QLinearConv":           rule.From(10, QlinearConv),
	"MatMulInteger": rule.From(10, func(c *rule.Call) []op.Value {
		return c.One(std.QMatmul, std.QLinearAttrs{DType: array.I32}, c.X(0), nil, c.Opt(2), c.X(1), nil, c.Opt(3))
	}),
	"ConvInteger": rule.From(10, func(c *rule.Call) []op.Value {
		return qconv(c, 1, array.I32, c.X(0), nil, c.Opt(2), c.X(1), nil, c.Opt(3))
	}),
}

// scaleAxis is the axis that scales go along: none for one scale.
func scaleAxis(c *rule.Call) int {
	axis := c.Int("axis", 1)
	if c.Type(1).Rank() == 0 || c.Type(1).Rank() == 1 && c.Type(1).Dim(0).Is(1) {
		return 0
	}
	return c.Axis(axis, c.Rank(0))
}

// blocks spreads scales or zero points that stand for blocks along an axis over their
// elements.
func blocks(c *rule.Call, i, axis, size int) op.Value {
	t := c.Type(0)
	if size < 1 || size > mostEntry {
		panic(diag.New(spec.CodeModel, "block_size is "+strconv.Itoa(size)+", expected 0 for none, or more"))
	}
	want := t.Dims().Slice()
	want[axis] = t.Dim(axis).AddInt(size - 1).FloorDivInt(size)
	c.NeedDims(i, want...)
	v := c.X(i)
	v = c.Do(std.RepeatInterleave, std.RepeatInterleaveAttrs{Repeats: size, Dim: axis}, v)
	return c.Do(std.Slice, std.SliceAttrs{Dim: axis, Stop: c.Type(0).Dim(axis)}, v)
}

// QuantizeLinear is the rule of QuantizeLinear: one scale, one an axis or one a block.
func QuantizeLinear(c *rule.Call) []op.Value {
	axis, block := scaleAxis(c), c.Int("block_size", 0)
	c.Ignore("precision")
	d := c.DType("output_dtype", array.Invalid)
	if c.Has(2) {
		d = c.Type(2).DType()
	}
	if d == array.Invalid {
		d = array.U8
	}
	unsaturated := c.Int("saturate", 1) == 0 && d.IsNarrowFloat() && d.Bits() == 8
	x, scale := c.X(0), c.X(1)
	if c.Type(1).DType() == array.F8E8M0FNU {
		scale = as(c, c.Type(0).DType(), scale)
	}
	if t, s := c.Type(0).DType(), scale.Type().DType(); t != s {
		panic(diag.New(spec.CodeType, "the scale is "+s.String()+" for values of "+t.String()))
	}
	if block == 0 {
		return c.One(std.Quantize, std.QuantizeAttrs{Axis: axis, DType: d, Unsaturated: unsaturated}, x, scale, c.Opt(2))
	}
	v := c.Do(std.Div, nil, x, as(c, c.Type(0).DType(), blocks(c, 1, axis, block)))
	if !d.IsNarrowFloat() {
		v = c.Do(std.Round, nil, v)
	}
	if c.Has(2) {
		v = c.Do(std.Add, nil, v, as(c, c.Type(0).DType(), blocks(c, 2, axis, block)))
	}
	return c.One(std.Cast, std.CastAttrs{DType: d, Unsaturated: unsaturated}, v)
}

// DequantizeLinear computes in f32 where the result is not of the scale's type.
func DequantizeLinear(c *rule.Call) []op.Value {
	axis, block := scaleAxis(c), c.Int("block_size", 0)
	s := c.Type(1).DType()
	d := c.DType("output_dtype", s)
	if d == array.F8E8M0FNU {
		panic(diag.New(spec.CodeAttribute, "output_dtype is not given for scales of "+d.String()))
	}
	scale := c.X(1)
	if block == 0 {
		if d == s {
			return c.One(std.Dequantize, std.DequantizeAttrs{Axis: axis}, c.X(0), scale, c.Opt(2))
		}
		return []op.Value{as(c, d, c.Do(std.Dequantize, std.DequantizeAttrs{Axis: axis}, c.X(0), as(c, array.F32, scale), c.Opt(2)))}
	}
	wide := func(v op.Value) op.Value { return as(c, array.F32, v) }
	v := wide(c.X(0))
	if c.Has(2) {
		v = c.Do(std.Sub, nil, v, wide(blocks(c, 2, axis, block)))
	}
	return []op.Value{as(c, d, c.Do(std.Mul, nil, v, wide(blocks(c, 1, axis, block))))}
}

// as casts to an element type.
func as(c *rule.Call, d array.DType, v op.Value) op.Value {
	if v.Type().DType() == d {
		return v
	}
	return c.Do(std.Cast, std.CastAttrs{DType: d}, v)
}

// scales are f32 for the integer operators.
func scale(c *rule.Call, i int) op.Value {
	if c.Type(i).DType() == array.F32 {
		return c.X(i)
	}
	return c.Do(std.Cast, std.CastAttrs{DType: array.F32}, c.X(i))
}

func qlinearMatMul(c *rule.Call) []op.Value {
	if c.Type(0).DType() == array.Invalid {
		panic(diag.New(spec.CodeType, "the element type of the input is not known"))
	}
	return c.One(std.QMatmul, std.QLinearAttrs{}, c.X(0), scale(c, 1), c.X(2), c.X(3), scale(c, 4), c.X(5), scale(c, 6), c.X(7))
}

// QlinearConv is the rule of QLinearConv.
func QlinearConv(c *rule.Call) []op.Value {
	return qconv(c, 3, array.Invalid, c.X(0), c.X(1), c.X(2), c.X(3), c.X(4), c.X(5), c.X(6), c.X(7), c.Opt(8))
}

// qconv calls a convolution with the weight at operand w.
func qconv(c *rule.Call, w int, d array.DType, in ...op.Value) []op.Value {
	k := spatial(c, w)
	needSpatial(c, "the weight", len(k))
	win := WindowOf(c, k)
	if !win.symmetric() {
		in[0] = padded(c, in[0], &win, false, zeroOf(c))
	}
	a := std.QConvAttrs{Stride: op.IntList(win.Strides...), Padding: win.Padding(),
		Dilation: op.IntList(win.Dilations...), Groups: c.Group(), DType: d}
	if len(k) > 3 {
		panic(diag.New(spec.CodeOperator, strconv.Itoa(len(k))+" spatial dimensions are not supported"))
	}
	return c.One(byRank(c, len(k), std.QConv1d, std.QConv2d, std.QConv3d), a, in...)
}

// zeroOf is the zero point of the input of a convolution, operand 2, which is the value
// that padding must have.
func zeroOf(c *rule.Call) float64 {
	const i = 2
	if !c.Has(i) {
		return 0
	}
	if v := c.In[i].Arr; v == nil || v.Len() != 1 {
		panic(diag.New(spec.CodeAttribute, "padding that differs from side to side needs a zero point that is known"))
	}
	return array.Float64At(c.In[i].Arr, 0)
}
