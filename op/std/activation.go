package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
)

// hardswishDeriv is PyTorch's: at -3 it belongs to the slope.
func hardswishDeriv(b *expr.Builder, _ op.None, x expr.Value) expr.Value {
	slope := b.Add(b.Div(x, b.Like(x, 3)), b.Like(x, 0.5))
	return b.Select(b.Lt(x, b.Like(x, -3)), b.Like(x, 0), b.Select(b.Gt(x, b.Like(x, 3)), b.Like(x, 1), slope))
}

// activation defines an activation function without attributes on floats.
func activation(name, doc, ref string, f func(b *expr.Builder, x expr.Value) expr.Value, differs ...op.Difference[op.None]) *op.Op {
	return defineUnary(name, unary[op.None]{doc: doc, ref: ref, on: onFloats, inPlace: true, f: plain(f), differs: differs})
}

// limit returns min(max(x, lo), hi).
func limit(b *expr.Builder, x expr.Value, lo, hi float64) expr.Value {
	return b.Min(b.Max(x, b.Like(x, lo)), b.Like(x, hi))
}

// Relu is max(x, 0); NaN stays NaN.
var Relu = defineUnary("relu", unary[op.None]{
	doc: "relu is max(x, 0).", on: onNumbers, inPlace: true, quant: op.QuantShared,
	f: plain(func(b *expr.Builder, x expr.Value) expr.Value { return b.Max(x, b.Like(x, 0)) }),
})

// unlikeAtNaN is of activations whose derivative at NaN depends, in PyTorch, on the place
// of an element among others.
func unlikeAtNaN[A any](what string) op.Difference[A] {
	return departs[A](op.GradAlters, "that at NaN is "+what+"; PyTorch's follows from the place of the element among others", func(in []*array.Array) bool { return hasNaN(in[0]) })
}

// Relu6 is min(max(x, 0), 6).
var Relu6 = defineUnary("relu6", unary[op.None]{
	doc: "relu6 is min(max(x, 0), 6).", on: onNumbers, inPlace: true, quant: op.QuantShared,
	f:       plain(func(b *expr.Builder, x expr.Value) expr.Value { return limit(b, x, 0, 6) }),
	differs: []op.Difference[op.None]{unlikeAtNaN[op.None]("1")},
})

// GeluAttrs are the attributes of gelu: Approximate "" is exact, "tanh" the
// approximation by tanh.
type GeluAttrs struct {
	Approximate string `fx:",enum=tanh"`
}

// Gelu is x times the normal distribution function of x.
//
//gofx:torch F.gelu(x, approximate=approximate or "none")
var Gelu = defineUnary("gelu", unary[GeluAttrs]{
	doc: "gelu is x times the standard normal distribution function of x, exact by erf or approximated by tanh.",
	ref: "Hendrycks, Gimpel: Gaussian Error Linear Units, arXiv:1606.08415",
	on:  onFloats, inPlace: true,
	check: func(a GeluAttrs, _ array.DType) {
		if a.Approximate != "" && a.Approximate != "tanh" {
			refuse(op.BadAttr, "approximate is "+a.Approximate+", expected tanh or nothing", "leave it empty for the exact function")
		}
	},
	f: func(b *expr.Builder, a GeluAttrs, x expr.Value) expr.Value {
		half, one := b.Like(x, 0.5), b.Like(x, 1)
		if a.Approximate == "tanh" {
			cubic := b.Mul(b.Mul(b.Mul(x, x), x), b.Like(x, 0.044715))
			t := b.Tanh(b.Mul(b.Add(x, cubic), b.Like(x, math.Sqrt(2/math.Pi))))
			return b.Mul(b.Mul(half, x), b.Add(one, t))
		}
		e := b.Erf(b.Mul(x, b.Like(x, math.Sqrt2/2)))
		return b.Mul(b.Mul(half, x), b.Add(one, e))
	},
	attrs: []GeluAttrs{{}, {Approximate: "tanh"}},
	wrong: []GeluAttrs{{Approximate: "erf"}},
})

// Activation functions without attributes.
var (
	Silu = activation("silu", "silu is x * sigmoid(x).", "Elfwing, Uchibe, Doya: arXiv:1702.03118",
		func(b *expr.Builder, x expr.Value) expr.Value { return b.Mul(x, b.Sigmoid(x)) })
	Hardswish = defineUnary("hardswish", unary[op.None]{
		doc: "hardswish is x * relu6(x + 3) / 6.", ref: "Howard et al.: Searching for MobileNetV3, arXiv:1905.02244", on: onFloats, inPlace: true, deriv: hardswishDeriv,
		differs: []op.Difference[op.None]{departs[op.None](op.GradAlters, "that at 3 is 1.5, and that at NaN is NaN; PyTorch's follow from the place of the element among others", func(in []*array.Array) bool {
			return hasNaN(in[0]) || hasElement(in[0], 3)
		})},
		f: plain(func(b *expr.Builder, x expr.Value) expr.Value {
			return b.Div(b.Mul(x, limit(b, b.Add(x, b.Like(x, 3)), 0, 6)), b.Like(x, 6))
		})})
	Hardsigmoid = defineUnary("hardsigmoid", unary[op.None]{
		doc: "hardsigmoid is relu6(x + 3) / 6.", on: onFloats, inPlace: true, quant: op.QuantFixed, lies: op.Range{Lo: 0, Hi: 1},
		deriv: plain(func(b *expr.Builder, x expr.Value) expr.Value {
			return b.Select(b.And(b.Gt(x, b.Like(x, -3)), b.Lt(x, b.Like(x, 3))), b.Like(x, 1.0/6), b.Like(x, 0))
		}),
		differs: []op.Difference[op.None]{departs[op.None](op.GradAlters, "that of f64 has a sixth in f64; PyTorch's has it in f32", func(in []*array.Array) bool { return in[0].DType() == array.F64 })},
		f: plain(func(b *expr.Builder, x expr.Value) expr.Value {
			return b.Div(limit(b, b.Add(x, b.Like(x, 3)), 0, 6), b.Like(x, 6))
		})})
	Sigmoid = defineUnary("sigmoid", unary[op.None]{
		doc: "sigmoid is 1 / (1 + exp(-x)).", on: onFloatMath, inPlace: true, quant: op.QuantFixed, lies: op.Range{Lo: 0, Hi: 1}, f: plain((*expr.Builder).Sigmoid)})
	Tanh = defineUnary("tanh", unary[op.None]{
		doc: "tanh is the hyperbolic tangent.", on: onFloatMath, inPlace: true, quant: op.QuantFixed, lies: op.Range{Lo: -1, Hi: 1}, f: plain((*expr.Builder).Tanh)})
	Logsigmoid = defineUnary("logsigmoid", unary[op.None]{
		doc: "logsigmoid is log(sigmoid(x)), without overflow.", on: onFloats, inPlace: true,
		f: plain(func(b *expr.Builder, x expr.Value) expr.Value {
			return b.Sub(b.Min(x, b.Like(x, 0)), b.Log1p(b.Exp(b.Neg(b.Abs(x)))))
		}),
		deriv: plain(func(b *expr.Builder, x expr.Value) expr.Value { return b.Sigmoid(b.Neg(x)) })})
	Selu = activation("selu", "selu is the self-normalising scaled exponential linear unit.",
		"Klambauer, Unterthiner, Mayr, Hochreiter: arXiv:1706.02515",
		func(b *expr.Builder, x expr.Value) expr.Value {
			const scale, alpha = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
			return b.Select(b.Gt(x, b.Like(x, 0)), b.Mul(x, b.Like(x, scale)), b.Mul(b.Expm1(x), b.Like(x, scale*alpha)))
		}, altersExpm1(func(op.None) float64 { return 1 }), unlikeAtNaN[op.None]("NaN"))
	Softsign = activation("softsign", "softsign is x / (1 + |x|).", "",
		func(b *expr.Builder, x expr.Value) expr.Value { return b.Div(x, b.Add(b.Abs(x), b.Like(x, 1))) }, refusesIntegers[op.None]())
	Mish = activation("mish", "mish is x * tanh(softplus(x)).", "Misra: arXiv:1908.08681",
		func(b *expr.Builder, x expr.Value) expr.Value { return b.Mul(x, b.Tanh(softplus(b, x, 1, 20))) })
)

// softplus is log(1+exp(beta*x))/beta, and x itself where beta*x > threshold.
func softplus(b *expr.Builder, x expr.Value, beta, threshold float64) expr.Value {
	factor := like(b, x, "beta", beta)
	s := b.Mul(x, factor)
	return b.Select(b.Gt(s, like(b, x, "threshold", threshold)), x, b.Div(b.Log1p(b.Exp(s)), factor))
}

// HardtanhAttrs are the bounds of hardtanh; PyTorch's defaults are -1 and 1.
type HardtanhAttrs struct {
	MinVal float64 `fx:",arg"`
	MaxVal float64 `fx:",arg"`
}

// Hardtanh limits to [MinVal, MaxVal].
//
//gofx:torch F.hardtanh(x, min_val, max_val)
var Hardtanh = defineUnary("hardtanh", unary[HardtanhAttrs]{
	doc: "hardtanh is min(max(x, min_val), max_val).", on: onNumbers, inPlace: true, quant: op.QuantShared,
	differs: []op.Difference[HardtanhAttrs]{
		unlikeAtNaN[HardtanhAttrs]("1"),
		{Kind: op.Refuses, Text: "a min_val above max_val and bounds that are NaN", When: func(a HardtanhAttrs, _ []*array.Array) bool { return !(a.MinVal <= a.MaxVal) }},
	},
	check: func(a HardtanhAttrs, d array.DType) {
		if !(a.MinVal <= a.MaxVal) {
			refuse(op.BadAttr, "min_val is "+op.Float(a.MinVal).String()+" and max_val "+op.Float(a.MaxVal).String()+", expected min_val <= max_val", "swap them")
		}
		requireFits(d, "min_val", op.Float(a.MinVal), "max_val", op.Float(a.MaxVal))
	},
	f: func(b *expr.Builder, a HardtanhAttrs, x expr.Value) expr.Value {
		return limit(b, x, a.MinVal, a.MaxVal)
	},
	attrs: []HardtanhAttrs{{-1, 1}, {0, 6}, {-2, 2}},
	wrong: []HardtanhAttrs{{1, -1}, {math.NaN(), 1}, {-1e39, 1}},
})

// AlphaAttrs are the attributes of elu and celu; PyTorch's default is 1.
type AlphaAttrs struct {
	Alpha float64 `fx:",arg"`
}

// Elu is the exponential linear unit.
//
//gofx:torch F.elu(x, alpha)
var Elu = defineUnary("elu", unary[AlphaAttrs]{
	differs: []op.Difference[AlphaAttrs]{
		altersExpm1(func(a AlphaAttrs) float64 { return a.Alpha }), unlikeAtNaN[AlphaAttrs]("NaN"),
	},
	doc: "elu is x where x > 0, else alpha * (exp(x) - 1).", ref: "Clevert, Unterthiner, Hochreiter: arXiv:1511.07289",
	on: onFloats, inPlace: true,
	f: func(b *expr.Builder, a AlphaAttrs, x expr.Value) expr.Value {
		return b.Select(b.Gt(x, b.Like(x, 0)), x, b.Mul(b.Expm1(x), like(b, x, "alpha", a.Alpha)))
	},
	attrs: []AlphaAttrs{{1}, {0.5}},
	wrong: []AlphaAttrs{{1e39}},
})

// Celu is the continuously differentiable exponential linear unit.
//
//gofx:torch F.celu(x, alpha)
var Celu = defineUnary("celu", unary[AlphaAttrs]{
	differs: []op.Difference[AlphaAttrs]{
		altersExpm1(func(a AlphaAttrs) float64 { return a.Alpha }), unlikeAtNaN[AlphaAttrs]("NaN"),
	},
	doc: "celu is x where x > 0, else alpha * (exp(x / alpha) - 1).", ref: "Barron: arXiv:1704.07483",
	on: onFloats, inPlace: true,
	check: func(a AlphaAttrs, _ array.DType) {
		if a.Alpha == 0 {
			refuse(op.BadAttr, "alpha is 0.0, expected another number", "use relu")
		}
	},
	f: func(b *expr.Builder, a AlphaAttrs, x expr.Value) expr.Value {
		alpha := like(b, x, "alpha", a.Alpha)
		return b.Select(b.Gt(x, b.Like(x, 0)), x, b.Mul(b.Expm1(b.Div(x, alpha)), alpha))
	},
	attrs: []AlphaAttrs{{1}, {0.5}},
	wrong: []AlphaAttrs{{0}, {-1e39}},
})

// LeakyReluAttrs are the attributes of leaky_relu; PyTorch's default is 0.01.
type LeakyReluAttrs struct {
	NegativeSlope float64 `fx:",arg"`
}

// LeakyRelu is relu with a slope for negative values.
//
//gofx:torch F.leaky_relu(x, negative_slope)
var LeakyRelu = defineUnary("leaky_relu", unary[LeakyReluAttrs]{
	doc: "leaky_relu is x where x > 0, else negative_slope * x.", on: onFloats, inPlace: true,
	f: func(b *expr.Builder, a LeakyReluAttrs, x expr.Value) expr.Value {
		return b.Select(b.Gt(x, b.Like(x, 0)), x, b.Mul(x, like(b, x, "negative_slope", a.NegativeSlope)))
	},
	attrs: []LeakyReluAttrs{{0.01}, {0.2}},
	wrong: []LeakyReluAttrs{{1e39}},
})

// SoftplusAttrs are the attributes of softplus; PyTorch's defaults are 1 and 20.
type SoftplusAttrs struct {
	Beta      float64 `fx:",arg"`
	Threshold float64 `fx:",arg"`
}

// Softplus is a smooth relu; it is linear where Beta*x > Threshold.
//
//gofx:torch F.softplus(x, beta, threshold)
var Softplus = defineUnary("softplus", unary[SoftplusAttrs]{
	doc: "softplus is log(1 + exp(beta * x)) / beta, and x where beta * x > threshold.", on: onFloats, inPlace: true,
	differs: []op.Difference[SoftplusAttrs]{
		{Kind: op.Refuses, Text: "a beta of 0, by which it divides", When: func(a SoftplusAttrs, _ []*array.Array) bool { return a.Beta == 0 }},
	},
	check: func(a SoftplusAttrs, _ array.DType) {
		if a.Beta == 0 {
			refuse(op.BadAttr, "beta is 0.0, expected another number", "PyTorch's default is 1")
		}
	},
	f: func(b *expr.Builder, a SoftplusAttrs, x expr.Value) expr.Value {
		return softplus(b, x, a.Beta, a.Threshold)
	},
	attrs: []SoftplusAttrs{{1, 20}, {2, 5}},
	wrong: []SoftplusAttrs{{0, 20}, {1, 1e39}, {1e39, 20}},
})

// ThresholdAttrs are the attributes of threshold.
type ThresholdAttrs struct {
	Threshold float64 `fx:",arg"`
	Value     float64 `fx:",arg"`
}

// Threshold replaces small values; NaN stays NaN.
//
//gofx:torch F.threshold(x, threshold, value)
var Threshold = defineUnary("threshold", unary[ThresholdAttrs]{
	doc: "threshold is x where x > threshold, else value.", on: onNumbers, inPlace: true,
	differs: []op.Difference[ThresholdAttrs]{
		{Kind: op.Refuses, Text: "negative floats for u8, which PyTorch takes modulo 256", When: func(a ThresholdAttrs, in []*array.Array) bool {
			return in[0].DType() == array.U8 && (a.Threshold < 0 || a.Value < 0)
		}},
	},
	check: func(a ThresholdAttrs, d array.DType) {
		requireFits(d, "threshold", op.Float(a.Threshold), "value", op.Float(a.Value))
	},
	f: func(b *expr.Builder, a ThresholdAttrs, x expr.Value) expr.Value {
		return b.Select(b.Le(x, b.Like(x, a.Threshold)), b.Like(x, a.Value), x)
	},
	attrs: []ThresholdAttrs{{0.1, 20}, {-1, 0}},
	wrong: []ThresholdAttrs{{1e39, 0}, {0, -1e39}},
})
