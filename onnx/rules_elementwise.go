package onnx

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// elementwiseRules are the operators that compute each element by itself.
var elementwiseRules = map[string][]rule{
	"Abs": plain(std.Abs), "Neg": plain(std.Neg), "Exp": plain(std.Exp), "Log": plain(std.Log), "Sqrt": plain(std.Sqrt),
	"Reciprocal": plain(std.Reciprocal), "Floor": plain(std.Floor), "Ceil": plain(std.Ceil), "Round": plain(std.Round),
	"Sin": plain(std.Sin), "Cos": plain(std.Cos), "Tan": plain(std.Tan), "Atan": plain(std.Atan), "Asin": plain(std.Asin), "Acos": plain(std.Acos),
	"Sinh": plain(std.Sinh), "Cosh": plain(std.Cosh), "Asinh": plain(std.Asinh), "Acosh": plain(std.Acosh), "Atanh": plain(std.Atanh),
	"Tanh": plain(std.Tanh), "Sigmoid": plain(std.Sigmoid), "Relu": plain(std.Relu), "Erf": plain(std.Erf), "Sign": plain(std.Sign),
	"Softplus": from(1, func(c *call) []op.Value {
		return c.one(std.Softplus, std.SoftplusAttrs{Beta: 1, Threshold: 20}, c.x(0))
	}), "Softsign": plain(std.Softsign), "Mish": plain(std.Mish),
	"IsNaN": plain(std.Isnan), "Not": plain(std.LogicalNot), "BitwiseNot": plain(std.BitwiseNot),
	"HardSwish": plain(std.Hardswish),

	"Add": broadcast(std.Add),
	"Sub": broadcast(std.Sub),
	"Mul": broadcast(std.Mul),
	"Div": from(1, divide),
	"Pow": from(1, power), "Mod": {{since: 10, build: modulo}, {since: 28, build: moduloOfFloats}},
	"And": broadcast(std.LogicalAnd), "Or": broadcast(std.LogicalOr), "Xor": broadcast(std.LogicalXor),
	"Equal": broadcast(std.Eq), "Greater": broadcast(std.Gt), "Less": broadcast(std.Lt),
	"GreaterOrEqual": broadcast(std.Ge), "LessOrEqual": broadcast(std.Le),
	"BitwiseAnd": plain(std.BitwiseAnd), "BitwiseOr": plain(std.BitwiseOr), "BitwiseXor": plain(std.BitwiseXor),
	"Max": variadic(std.Maximum), "Min": variadic(std.Minimum), "Sum": variadic(std.Add), "Mean": from(1, meanOf),
	"Where": from(9, func(c *call) []op.Value { return c.one(std.Where, nil, c.xs()...) }),
	"PRelu": from(1, prelu),

	"Cast": {{since: 1, build: cast, after: castParts}},
	"CastLike": from(15, func(c *call) []op.Value {
		return []op.Value{castTo(c, c.typ(1).DType(), c.x(0))}
	}),
	"Clip": {{since: 1, build: func(c *call) []op.Value {
		return clip(c, op.Float(c.float("min", -math.MaxFloat32)), op.Float(c.float("max", math.MaxFloat32)))
	}}, {since: 11, build: clipInputs}},
	"Identity": {{since: 1, run: func(c *call) []*value { v := *c.value(0); return []*value{&v} }}},
	"Dropout":  {{since: 1, run: dropout}},

	"LeakyRelu": from(1, func(c *call) []op.Value {
		return c.one(std.LeakyRelu, std.LeakyReluAttrs{NegativeSlope: c.float("alpha", 0.01)}, c.x(0))
	}),
	"Elu": from(1, func(c *call) []op.Value {
		return c.one(std.Elu, std.AlphaAttrs{Alpha: c.float("alpha", 1)}, c.x(0))
	}),
	"Celu": from(12, func(c *call) []op.Value {
		return c.one(std.Celu, std.AlphaAttrs{Alpha: c.float("alpha", 1)}, c.x(0))
	}),
	"Selu": from(1, selu),
	"Gelu": from(20, func(c *call) []op.Value {
		a := std.GeluAttrs{}
		if c.oneOf("approximate", "none", "tanh") == "tanh" {
			a.Approximate = "tanh"
		}
		return c.one(std.Gelu, a, c.x(0))
	}),
	"Swish": from(24, func(c *call) []op.Value {
		v := c.do(std.Mul, std.BinaryAttrs{Other: op.Float(c.float("alpha", 1))}, c.x(0))
		return c.one(std.Mul, nil, c.x(0), c.do(std.Sigmoid, nil, v))
	}),
	"SwiGLU": from(28, func(c *call) []op.Value {
		c.rank(0) // the sizes are asked for below
		c.needDims(1, c.typ(0).Dims().Slice()...)
		v := c.do(std.Mul, std.BinaryAttrs{Other: op.Float(c.float("alpha", 1))}, c.x(0))
		return c.one(std.Mul, nil, c.do(std.Mul, nil, c.x(0), c.do(std.Sigmoid, nil, v)), c.x(1))
	}),
	"Affine": from(1, func(c *call) []op.Value {
		v := c.do(std.Mul, std.BinaryAttrs{Other: op.Float(c.float("alpha", 1))}, c.x(0))
		return c.one(std.Add, std.AddAttrs{Other: op.Float(c.float("beta", 0))}, v)
	}),
	"Shrink": from(9, shrink),
	"IsInf":  from(10, isInf),
	"BitShift": from(11, func(c *call) []op.Value {
		if c.oneOf("direction", "LEFT", "RIGHT") == "LEFT" {
			return c.one(std.BitwiseLeftShift, nil, c.x(0), c.x(1))
		}
		return c.one(std.BitwiseRightShift, nil, c.x(0), c.x(1))
	}),
	"HardSigmoid":     from(1, hardSigmoid),
	"ThresholdedRelu": from(10, thresholdedRelu),
}

// legacy gives the second operand of an operator of the first sets the place that
// its axis names; later sets broadcast.
func legacy(c *call) (x, y op.Value) {
	x, y = c.x(0), c.x(1)
	c.ignore("consumed_inputs")
	if !c.flag("broadcast", false) || !c.given("axis") {
		c.ignore("axis")
		return x, y
	}
	rank := c.rank(0)
	axis := c.axis(c.int("axis", 0), rank)
	for range rank - axis - c.rank(1) {
		y = c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, y)
	}
	return x, y
}

func broadcast(o *op.Op) []rule {
	return from(1, func(c *call) []op.Value {
		x, y := legacy(c)
		return c.one(o, nil, x, y)
	})
}

func divide(c *call) []op.Value {
	x, y := legacy(c)
	a := std.DivAttrs{}
	if d := c.typ(0).DType(); d.IsInt() {
		a.RoundingMode = "trunc"
	}
	return c.one(std.Div, a, x, y)
}

// power has the type of its base.
func power(c *call) []op.Value {
	x, y := legacy(c)
	d := c.typ(0).DType()
	wide := op.Promote([]shape.Type{c.typ(0), c.typ(1)})
	v := c.do(std.Pow, nil, x, y)
	if wide != d {
		v = c.do(std.Cast, std.CastAttrs{DType: d}, v)
	}
	return []op.Value{v}
}

func modulo(c *call) []op.Value {
	if c.flag("fmod", false) {
		return c.one(std.Fmod, nil, c.x(0), c.x(1))
	}
	return c.one(std.Remainder, nil, c.x(0), c.x(1))
}

// moduloOfFloats takes floats without fmod, too: then a zero has the sign of the divisor.
func moduloOfFloats(c *call) []op.Value {
	if c.flag("fmod", false) || !c.typ(0).DType().IsFloat() {
		return modulo(c)
	}
	v := c.do(std.Remainder, nil, c.x(0), c.x(1))
	zero := c.do(std.Mul, std.BinaryAttrs{Other: op.Float(0)}, c.do(std.Sign, nil, c.x(1)))
	return c.one(std.Where, nil, c.do(std.Eq, std.BinaryAttrs{Other: op.Int(0)}, v), zero, v)
}

func variadic(o *op.Op) []rule {
	return from(1, func(c *call) []op.Value {
		c.ignore("consumed_inputs")
		v := c.x(0)
		for i := 1; i < len(c.in); i++ {
			v = c.do(o, nil, v, c.x(i))
		}
		return []op.Value{v}
	})
}

func meanOf(c *call) []op.Value {
	v := c.x(0)
	for i := 1; i < len(c.in); i++ {
		v = c.do(std.Add, nil, v, c.x(i))
	}
	return c.one(std.Div, std.DivAttrs{Other: op.Float(float64(len(c.in)))}, v)
}

// prelu's slope broadcasts; in the first sets it has a value for each channel.
func prelu(c *call) []op.Value {
	x, slope := c.x(0), c.x(1)
	if c.typ(1).Rank() == 1 && c.typ(0).Rank() > 2 && c.typ(0).Dim(1).Equal(c.typ(1).Dim(0)) && !c.typ(0).Dim(-1).Equal(c.typ(1).Dim(0)) {
		for range c.typ(0).Rank() - 2 {
			slope = c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, slope)
		}
	}
	negative := c.do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, x)
	return c.one(std.Where, nil, negative, c.do(std.Mul, nil, x, slope), x)
}

func cast(c *call) []op.Value {
	d := c.dtype("to", array.Invalid)
	if d == c.typ(0).DType() {
		c.ignore("saturate", "round_mode")
		return []op.Value{c.x(0)} // exporters write many
	}
	return []op.Value{castTo(c, d, c.x(0))}
}

// castTo converts x as the attributes saturate and round_mode say. Floats go to integers of
// 4 and 2 bits by way of i64: the standard leaves numbers out of range undefined, and its
// reference implementation, as the cases show, keeps the low bits.
func castTo(c *call, d array.DType, x op.Value) op.Value {
	a := std.CastAttrs{DType: d}
	saturate, mode := c.int("saturate", 1), c.oneOf("round_mode", "up", "down", "nearest")
	switch {
	case d.IsNarrowInt() && !x.Type().DType().IsInt():
		x = c.do(std.Cast, std.CastAttrs{DType: array.I64}, x)
	case d == array.F8E8M0FNU && mode != "up":
		a.Round = mode
		fallthrough
	case d.IsNarrowFloat() && d.Bits() == 8:
		a.Unsaturated = saturate == 0
	}
	return c.do(std.Cast, a, x)
}

// castParts keeps the known parts of a list of integers.
func castParts(c *call, outs []*value) {
	if v := outs[0]; v.node != nil && v.typ().DType() == array.I64 {
		v.parts = c.in[0].parts
	}
}

func clip(c *call, low, high op.Scalar) []op.Value {
	c.ignore("consumed_inputs")
	if low.Present() && low.Float64() == -math.MaxFloat32 {
		low = op.Scalar{}
	}
	if high.Present() && high.Float64() == math.MaxFloat32 {
		high = op.Scalar{}
	}
	switch {
	case !low.Present() && !high.Present():
		return []op.Value{c.x(0)}
	case c.typ(0).DType().IsFloat() && low.Present() && high.Present() && low.Float64() == 0 && high.Float64() == 6:
		return c.one(std.Relu6, nil, c.x(0))
	}
	return c.one(std.Clamp, std.ClampAttrs{Min: low, Max: high}, c.x(0))
}

// clipInputs clamps to bounds that are operands: numbers where they are known.
func clipInputs(c *call) []op.Value {
	known := func(i int) bool { return !c.has(i) || c.in[i].arr != nil && c.in[i].arr.Len() == 1 }
	if known(1) && known(2) {
		var low, high op.Scalar
		if c.has(1) {
			low = c.number(1)
		}
		if c.has(2) {
			high = c.number(2)
		}
		if !low.Present() || !high.Present() || low.Float64() <= high.Float64() {
			return clip(c, low, high)
		}
	}
	v := c.x(0)
	if c.has(1) {
		v = c.do(std.Maximum, nil, v, c.x(1))
	}
	if c.has(2) {
		v = c.do(std.Minimum, nil, v, c.x(2))
	}
	return []op.Value{v}
}

// dropout is the identity where a model runs; its mask is all true.
func dropout(c *call) []*value {
	c.ignore("ratio", "seed", "is_test", "consumed_inputs")
	keeps := c.has(1) && c.in[1].arr != nil && c.in[1].arr.Len() == 1 && array.Float64At(c.in[1].arr, 0) == 0
	if c.has(2) && !keeps && (c.in[2].arr == nil || c.in[2].arr.Len() != 1 || array.Int64At(c.in[2].arr, 0) != 0) {
		panic(diag.New(CodeAttribute, "training_mode is not supported"))
	}
	x := *c.value(0)
	outs := []*value{&x}
	if c.outputs() > 1 {
		c.write()
		mask := c.do(std.OnesLike, std.LikeAttrs{DType: array.Bool}, c.x(0))
		outs = append(outs, c.values([]op.Value{nil, mask})[1])
	}
	return outs
}

func selu(c *call) []op.Value {
	const usualAlpha, usualGamma = 1.67326319217681884765625, 1.05070102214813232421875
	alpha, gamma := c.float("alpha", usualAlpha), c.float("gamma", usualGamma)
	c.ignore("consumed_inputs")
	if float32(alpha) == usualAlpha && float32(gamma) == usualGamma && c.typ(0).DType() != array.F64 {
		return c.one(std.Selu, nil, c.x(0))
	}
	v := c.do(std.Elu, std.AlphaAttrs{Alpha: alpha}, c.x(0))
	return c.one(std.Mul, std.BinaryAttrs{Other: op.Float(gamma)}, v)
}

func hardSigmoid(c *call) []op.Value {
	alpha, beta := c.float("alpha", 0.2), c.float("beta", 0.5)
	c.ignore("consumed_inputs")
	if float32(alpha) == float32(1.0/6) && beta == 0.5 && c.typ(0).DType() != array.F64 {
		return c.one(std.Hardsigmoid, nil, c.x(0))
	}
	v := c.do(std.Mul, std.BinaryAttrs{Other: op.Float(alpha)}, c.x(0))
	v = c.do(std.Add, std.AddAttrs{Other: op.Float(beta)}, v)
	return c.one(std.Clamp, std.ClampAttrs{Min: op.Float(0), Max: op.Float(1)}, v)
}

func thresholdedRelu(c *call) []op.Value {
	return c.one(std.Threshold, std.ThresholdAttrs{Threshold: c.float("alpha", 1)}, c.x(0))
}

func shrink(c *call) []op.Value {
	bias, lambda := c.float("bias", 0), c.float("lambd", 0.5)
	x := c.x(0)
	d := c.typ(0).DType()
	low := c.do(std.Lt, std.BinaryAttrs{Other: op.Float(-lambda)}, x)
	high := c.do(std.Gt, std.BinaryAttrs{Other: op.Float(lambda)}, x)
	v := c.do(std.Where, nil, low, c.do(std.Add, std.AddAttrs{Other: op.Float(bias)}, x),
		c.do(std.Where, nil, high, c.do(std.Sub, std.SubAttrs{Other: op.Float(bias)}, x), c.do(std.ZerosLike, nil, x)))
	return c.one(std.Cast, std.CastAttrs{DType: d}, v)
}

func isInf(c *call) []op.Value {
	negative, positive := c.flag("detect_negative", true), c.flag("detect_positive", true)
	x := c.x(0)
	v := c.do(std.Isinf, nil, x)
	switch {
	case negative && positive:
		return []op.Value{v}
	case negative:
		return c.one(std.LogicalAnd, nil, v, c.do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, x))
	case positive:
		return c.one(std.LogicalAnd, nil, v, c.do(std.Gt, std.BinaryAttrs{Other: op.Int(0)}, x))
	}
	return c.one(std.ZerosLike, std.LikeAttrs{DType: array.Bool}, x)
}
