package standard

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// elementwiseRules are the operators that compute each element by itself.
var elementwiseRules = map[string][]rule.Rule{
	"Abs": rule.Plain(std.Abs), "Neg": rule.Plain(std.Neg), "Exp": rule.Plain(std.Exp), "Log": rule.Plain(std.Log), "Sqrt": rule.Plain(std.Sqrt),
	"Reciprocal": rule.Plain(std.Reciprocal), "Floor": rule.Plain(std.Floor), "Ceil": rule.Plain(std.Ceil), "Round": rule.Plain(std.Round),
	"Sin": rule.Plain(std.Sin), "Cos": rule.Plain(std.Cos), "Tan": rule.Plain(std.Tan), "Atan": rule.Plain(std.Atan), "Asin": rule.Plain(std.Asin), "Acos": rule.Plain(std.Acos),
	"Sinh": rule.Plain(std.Sinh), "Cosh": rule.Plain(std.Cosh), "Asinh": rule.Plain(std.Asinh), "Acosh": rule.Plain(std.Acosh), "Atanh": rule.Plain(std.Atanh),
	"Tanh": rule.Plain(std.Tanh), "Sigmoid": rule.Plain(std.Sigmoid), "Relu": rule.Plain(std.Relu), "Erf": rule.Plain(std.Erf), "Sign": rule.From(9, sign),
	"Softplus": rule.From(1, func(c *rule.Call) []op.Value {
		return c.One(std.Softplus, std.SoftplusAttrs{Beta: 1, Threshold: 20}, c.X(0))
	}), "Softsign": rule.Plain(std.Softsign), "Mish": rule.Plain(std.Mish),
	"IsNaN": rule.Plain(std.Isnan), "Not": rule.Plain(std.LogicalNot), "BitwiseNot": rule.Plain(std.BitwiseNot),
	"HardSwish": rule.Plain(std.Hardswish),

	"Add": broadcast(std.Add),
	"Sub": broadcast(std.Sub),
	"Mul": broadcast(std.Mul),
	"Div": rule.From(1, divide),
	"Pow": rule.From(1, power), "Mod": {{Since: 10, Build: modulo}, {Since: 28, Build: moduloOfFloats}},
	"And": broadcast(std.LogicalAnd), "Or": broadcast(std.LogicalOr), "Xor": broadcast(std.LogicalXor),
	"Equal": broadcast(std.Eq), "Greater": broadcast(std.Gt), "Less": broadcast(std.Lt),
	"GreaterOrEqual": broadcast(std.Ge), "LessOrEqual": broadcast(std.Le),
	"BitwiseAnd": rule.Plain(std.BitwiseAnd), "BitwiseOr": rule.Plain(std.BitwiseOr), "BitwiseXor": rule.Plain(std.BitwiseXor),
	"Max": variadic(std.Maximum), "Min": variadic(std.Minimum), "Sum": variadic(std.Add), "Mean": rule.From(1, meanOf),
	"Where": rule.From(9, func(c *rule.Call) []op.Value { return c.One(std.Where, nil, c.Xs()...) }),
	"PRelu": rule.From(1, prelu),

	"Cast": {{Since: 1, Build: cast, After: castParts}},
	"CastLike": rule.From(15, func(c *rule.Call) []op.Value {
		return []op.Value{castTo(c, c.Type(1).DType(), c.X(0))}
	}),
	"Clip": {{Since: 1, Build: func(c *rule.Call) []op.Value {
		return clip(c, op.Float(c.Float("min", -math.MaxFloat32)), op.Float(c.Float("max", math.MaxFloat32)))
	}}, {Since: 11, Build: clipInputs}},
	"Identity": {{Since: 1, Run: func(c *rule.Call) []*rule.Datum { v := *c.Value(0); return []*rule.Datum{&v} }}},
	"Dropout":  {{Since: 1, Run: dropout}},

	"LeakyRelu": rule.From(1, func(c *rule.Call) []op.Value {
		return c.One(std.LeakyRelu, std.LeakyReluAttrs{NegativeSlope: c.Float("alpha", 0.01)}, c.X(0))
	}),
	"Elu": rule.From(1, func(c *rule.Call) []op.Value {
		return c.One(std.Elu, std.AlphaAttrs{Alpha: c.Float("alpha", 1)}, c.X(0))
	}),
	"Celu": rule.From(12, func(c *rule.Call) []op.Value {
		return c.One(std.Celu, std.AlphaAttrs{Alpha: c.Float("alpha", 1)}, c.X(0))
	}),
	"Selu": rule.From(1, selu),
	"Gelu": rule.From(20, func(c *rule.Call) []op.Value {
		a := std.GeluAttrs{}
		if c.OneOf("approximate", "none", "tanh") == "tanh" {
			a.Approximate = "tanh"
		}
		return c.One(std.Gelu, a, c.X(0))
	}),
	"Swish": rule.From(24, func(c *rule.Call) []op.Value {
		v := c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(c.Float("alpha", 1))}, c.X(0))
		return c.One(std.Mul, nil, c.X(0), c.Do(std.Sigmoid, nil, v))
	}),
	"SwiGLU": rule.From(28, func(c *rule.Call) []op.Value {
		c.Rank(0) // the sizes are asked for below
		c.NeedDims(1, c.Type(0).Dims().Slice()...)
		v := c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(c.Float("alpha", 1))}, c.X(0))
		return c.One(std.Mul, nil, c.Do(std.Mul, nil, c.X(0), c.Do(std.Sigmoid, nil, v)), c.X(1))
	}),
	"Affine": rule.From(1, func(c *rule.Call) []op.Value {
		v := c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(c.Float("alpha", 1))}, c.X(0))
		return c.One(std.Add, std.AddAttrs{Other: op.Float(c.Float("beta", 0))}, v)
	}),
	"Shrink": rule.From(9, shrink),
	"IsInf":  rule.From(10, isInf),
	"BitShift": rule.From(11, func(c *rule.Call) []op.Value {
		if c.OneOf("direction", "LEFT", "RIGHT") == "LEFT" {
			return c.One(std.BitwiseLeftShift, nil, c.X(0), c.X(1))
		}
		return c.One(std.BitwiseRightShift, nil, c.X(0), c.X(1))
	}),
	"HardSigmoid":     rule.From(1, hardSigmoid),
	"ThresholdedRelu": rule.From(10, thresholdedRelu),
}

// legacy gives the second operand of an operator of the first sets the place that
// its axis names; later sets broadcast.
func legacy(c *rule.Call) (x, y op.Value) {
	x, y = c.X(0), c.X(1)
	c.Ignore("consumed_inputs")
	if !c.Flag("broadcast", false) || !c.Given("axis") {
		c.Ignore("axis")
		return x, y
	}
	rank := c.Rank(0)
	axis := c.Axis(c.Int("axis", 0), rank)
	for range rank - axis - c.Rank(1) {
		y = c.Do(std.Unsqueeze, std.DimAttrs{Dim: -1}, y)
	}
	return x, y
}

func broadcast(o *op.Op) []rule.Rule {
	return rule.From(1, func(c *rule.Call) []op.Value {
		x, y := legacy(c)
		return c.One(o, nil, x, y)
	})
}

func divide(c *rule.Call) []op.Value {
	x, y := legacy(c)
	a := std.DivAttrs{}
	if d := c.Type(0).DType(); d.IsInt() {
		a.RoundingMode = "trunc"
	}
	return c.One(std.Div, a, x, y)
}

// power has the type of its base.
func power(c *rule.Call) []op.Value {
	x, y := legacy(c)
	d := c.Type(0).DType()
	wide := op.Promote([]shape.Type{c.Type(0), c.Type(1)})
	v := c.Do(std.Pow, nil, x, y)
	if wide != d {
		v = c.Do(std.Cast, std.CastAttrs{DType: d}, v)
	}
	return []op.Value{v}
}

func modulo(c *rule.Call) []op.Value {
	if c.Flag("fmod", false) {
		return c.One(std.Fmod, nil, c.X(0), c.X(1))
	}
	return c.One(std.Remainder, nil, c.X(0), c.X(1))
}

// moduloOfFloats takes floats without fmod, too: then a zero has the sign of the divisor.
func moduloOfFloats(c *rule.Call) []op.Value {
	if c.Flag("fmod", false) || !c.Type(0).DType().IsFloat() {
		return modulo(c)
	}
	v := c.Do(std.Remainder, nil, c.X(0), c.X(1))
	zero := c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(0)}, c.Do(std.Sign, nil, c.X(1)))
	return c.One(std.Where, nil, c.Do(std.Eq, std.BinaryAttrs{Other: op.Int(0)}, v), zero, v)
}

func variadic(o *op.Op) []rule.Rule {
	return rule.From(1, func(c *rule.Call) []op.Value {
		c.Ignore("consumed_inputs")
		v := c.X(0)
		for i := 1; i < len(c.In); i++ {
			v = c.Do(o, nil, v, c.X(i))
		}
		return []op.Value{v}
	})
}

func meanOf(c *rule.Call) []op.Value {
	v := c.X(0)
	for i := 1; i < len(c.In); i++ {
		v = c.Do(std.Add, nil, v, c.X(i))
	}
	return c.One(std.Div, std.DivAttrs{Other: op.Float(float64(len(c.In)))}, v)
}

// prelu's slope broadcasts; in the first sets it has a value for each channel.
func prelu(c *rule.Call) []op.Value {
	x, slope := c.X(0), c.X(1)
	if c.Type(1).Rank() == 1 && c.Type(0).Rank() > 2 && c.Type(0).Dim(1).Equal(c.Type(1).Dim(0)) && !c.Type(0).Dim(-1).Equal(c.Type(1).Dim(0)) {
		for range c.Type(0).Rank() - 2 {
			slope = c.Do(std.Unsqueeze, std.DimAttrs{Dim: -1}, slope)
		}
	}
	negative := c.Do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, x)
	return c.One(std.Where, nil, negative, c.Do(std.Mul, nil, x, slope), x)
}

func cast(c *rule.Call) []op.Value {
	d := c.DType("to", array.Invalid)
	if d == c.Type(0).DType() {
		c.Ignore("saturate", "round_mode")
		return []op.Value{c.X(0)} // exporters write many
	}
	return []op.Value{castTo(c, d, c.X(0))}
}

// castTo converts x as the attributes saturate and round_mode say. Floats go to integers of
// 4 and 2 bits by way of i64: the standard leaves numbers out of range undefined, and its
// reference implementation, as the cases show, keeps the low bits.
func castTo(c *rule.Call, d array.DType, x op.Value) op.Value {
	a := std.CastAttrs{DType: d}
	saturate, mode := c.Int("saturate", 1), c.OneOf("round_mode", "up", "down", "nearest")
	switch {
	case d.IsNarrowInt() && !x.Type().DType().IsInt():
		x = c.Do(std.Cast, std.CastAttrs{DType: array.I64}, x)
	case d == array.F8E8M0FNU && mode != "up":
		a.Round = mode
		fallthrough
	case d.IsNarrowFloat() && d.Bits() == 8:
		a.Unsaturated = saturate == 0
	}
	return c.Do(std.Cast, a, x)
}

// castParts keeps the known parts of a list of integers.
func castParts(c *rule.Call, outs []*rule.Datum) {
	if v := outs[0]; v.Node != nil && v.Type().DType() == array.I64 {
		v.Parts = c.In[0].Parts
	}
}

func clip(c *rule.Call, low, high op.Scalar) []op.Value {
	c.Ignore("consumed_inputs")
	if low.Present() && low.Float64() == -math.MaxFloat32 {
		low = op.Scalar{}
	}
	if high.Present() && high.Float64() == math.MaxFloat32 {
		high = op.Scalar{}
	}
	switch {
	case !low.Present() && !high.Present():
		return []op.Value{c.X(0)}
	case c.Type(0).DType().IsFloat() && low.Present() && high.Present() && low.Float64() == 0 && high.Float64() == 6:
		return c.One(std.Relu6, nil, c.X(0))
	}
	return c.One(std.Clamp, std.ClampAttrs{Min: low, Max: high}, c.X(0))
}

// clipInputs clamps to bounds that are operands: numbers where they are known.
func clipInputs(c *rule.Call) []op.Value {
	known := func(i int) bool { return !c.Has(i) || c.In[i].Arr != nil && c.In[i].Arr.Len() == 1 }
	if known(1) && known(2) {
		var low, high op.Scalar
		if c.Has(1) {
			low = c.Number(1)
		}
		if c.Has(2) {
			high = c.Number(2)
		}
		if !low.Present() || !high.Present() || low.Float64() <= high.Float64() {
			return clip(c, low, high)
		}
	}
	v := c.X(0)
	if c.Has(1) {
		v = c.Do(std.Maximum, nil, v, c.X(1))
	}
	if c.Has(2) {
		v = c.Do(std.Minimum, nil, v, c.X(2))
	}
	return []op.Value{v}
}

// sign gives NaN for NaN, as NumPy does, where ours gives 0 as PyTorch does.
func sign(c *rule.Call) []op.Value {
	x := c.X(0)
	v := c.Do(std.Sign, nil, x)
	if !c.Type(0).DType().IsFloat() {
		return []op.Value{v}
	}
	return c.One(std.Where, nil, c.Do(std.Isnan, nil, x), x, v)
}

// dropout is the identity where a model runs; its mask is all true.
func dropout(c *rule.Call) []*rule.Datum {
	c.Ignore("ratio", "seed", "is_test", "consumed_inputs")
	kind := array.Bool
	if c.Opset < 10 { // the mask has the type of the data
		kind = c.Type(0).DType()
	}
	keeps := c.Has(1) && c.In[1].Arr != nil && c.In[1].Arr.Len() == 1 && array.Float64At(c.In[1].Arr, 0) == 0
	if c.Has(2) && !keeps && (c.In[2].Arr == nil || c.In[2].Arr.Len() != 1 || array.Int64At(c.In[2].Arr, 0) != 0) {
		panic(diag.New(spec.CodeAttribute, "training_mode is not supported"))
	}
	x := *c.Value(0)
	outs := []*rule.Datum{&x}
	if c.Outputs() > 1 {
		c.Write()
		mask := c.Do(std.OnesLike, std.LikeAttrs{DType: kind}, c.X(0))
		outs = append(outs, c.Values([]op.Value{nil, mask})[1])
	}
	return outs
}

func selu(c *rule.Call) []op.Value {
	const usualAlpha, usualGamma = 1.67326319217681884765625, 1.05070102214813232421875
	alpha, gamma := c.Float("alpha", usualAlpha), c.Float("gamma", usualGamma)
	c.Ignore("consumed_inputs")
	if float32(alpha) == usualAlpha && float32(gamma) == usualGamma && c.Type(0).DType() != array.F64 {
		return c.One(std.Selu, nil, c.X(0))
	}
	v := c.Do(std.Elu, std.AlphaAttrs{Alpha: alpha}, c.X(0))
	return c.One(std.Mul, std.BinaryAttrs{Other: op.Float(gamma)}, v)
}

func hardSigmoid(c *rule.Call) []op.Value {
	alpha, beta := c.Float("alpha", 0.2), c.Float("beta", 0.5)
	c.Ignore("consumed_inputs")
	if float32(alpha) == float32(1.0/6) && beta == 0.5 && c.Type(0).DType() != array.F64 {
		return c.One(std.Hardsigmoid, nil, c.X(0))
	}
	v := c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(alpha)}, c.X(0))
	v = c.Do(std.Add, std.AddAttrs{Other: op.Float(beta)}, v)
	return c.One(std.Clamp, std.ClampAttrs{Min: op.Float(0), Max: op.Float(1)}, v)
}

func thresholdedRelu(c *rule.Call) []op.Value {
	return c.One(std.Threshold, std.ThresholdAttrs{Threshold: c.Float("alpha", 1)}, c.X(0))
}

func shrink(c *rule.Call) []op.Value {
	bias, lambda := c.Float("bias", 0), c.Float("lambd", 0.5)
	x := c.X(0)
	d := c.Type(0).DType()
	low := c.Do(std.Lt, std.BinaryAttrs{Other: op.Float(-lambda)}, x)
	high := c.Do(std.Gt, std.BinaryAttrs{Other: op.Float(lambda)}, x)
	v := c.Do(std.Where, nil, low, c.Do(std.Add, std.AddAttrs{Other: op.Float(bias)}, x),
		c.Do(std.Where, nil, high, c.Do(std.Sub, std.SubAttrs{Other: op.Float(bias)}, x), c.Do(std.ZerosLike, nil, x)))
	return c.One(std.Cast, std.CastAttrs{DType: d}, v)
}

func isInf(c *rule.Call) []op.Value {
	negative, positive := c.Flag("detect_negative", true), c.Flag("detect_positive", true)
	x := c.X(0)
	v := c.Do(std.Isinf, nil, x)
	switch {
	case negative && positive:
		return []op.Value{v}
	case negative:
		return c.One(std.LogicalAnd, nil, v, c.Do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, x))
	case positive:
		return c.One(std.LogicalAnd, nil, v, c.Do(std.Gt, std.BinaryAttrs{Other: op.Int(0)}, x))
	}
	return c.One(std.ZerosLike, std.LikeAttrs{DType: array.Bool}, x)
}
