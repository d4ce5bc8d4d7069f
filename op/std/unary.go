package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
)

// arithmetic defines an operator on numbers that keeps the element type.
func arithmetic(name, doc string, f func(b *expr.Builder, x expr.Value) expr.Value, differs ...op.Difference[op.None]) *op.Op {
	return defineUnary(name, unary[op.None]{doc: doc, on: onNumbers, inPlace: true, f: plain(f), differs: differs})
}

// function defines a float function; integers and bool are promoted to f32. deriv is its
// derivative where that of f is wrong at a kink.
func function(name, doc string, f func(b *expr.Builder, x expr.Value) expr.Value, deriv ...func(b *expr.Builder, x expr.Value) expr.Value) *op.Op {
	u := unary[op.None]{doc: doc, on: onFloatMath, inPlace: true, f: plain(f)}
	if len(deriv) > 0 {
		u.deriv = plain(deriv[0])
	}
	return defineUnary(name, u)
}

// rounding defines a rounding operator; integers are returned as they are.
func rounding(name, doc string, f func(b *expr.Builder, x expr.Value) expr.Value) *op.Op {
	return defineUnary(name, unary[op.None]{doc: doc, on: onNumbers, keepInt: true, inPlace: true, f: plain(f)})
}

// classify defines a predicate of the value's class, false or true for all
// integers and bool.
func classify(name, doc string, ofInt bool, f func(b *expr.Builder, x expr.Value) expr.Value) *op.Op {
	return defineUnary(name, unary[op.None]{doc: doc, on: onAny, toBool: true,
		f: func(b *expr.Builder, _ op.None, x expr.Value) expr.Value {
			if !x.DType().IsFloat() {
				return b.ConstBool(ofInt)
			}
			return f(b, x)
		}})
}

// Arithmetic on one operand.
var (
	Neg    = arithmetic("neg", "neg is -x; the least integer stays as it is.", (*expr.Builder).Neg)
	Abs    = arithmetic("abs", "abs is the absolute value; the least integer stays as it is.", (*expr.Builder).Abs)
	Square = arithmetic("square", "square is x * x.", func(b *expr.Builder, x expr.Value) expr.Value { return b.Mul(x, x) },
		departs[op.None](op.Refuses, "bool", func(in []*array.Array) bool { return in[0].DType() == array.Bool }))
	Sign = defineUnary("sign", unary[op.None]{
		doc: "sign is -1, 0 or 1, and 0 for NaN.", on: onAny, inPlace: true,
		f: func(b *expr.Builder, _ op.None, x expr.Value) expr.Value {
			if x.DType() == array.Bool {
				return x
			}
			return b.Sign(x)
		},
	})
)

// Float functions.
var (
	Reciprocal = function("reciprocal", "reciprocal is 1 / x.", (*expr.Builder).Reciprocal)
	Exp        = function("exp", "exp is e to the power x.", (*expr.Builder).Exp)
	Expm1      = function("expm1", "expm1 is e to the power x, less 1, exact for small x.", (*expr.Builder).Expm1)
	Log        = function("log", "log is the natural logarithm.", (*expr.Builder).Log)
	Log1p      = function("log1p", "log1p is the natural logarithm of 1 + x, exact for small x.", (*expr.Builder).Log1p)
	Log2       = function("log2", "log2 is the logarithm to base 2.", (*expr.Builder).Log2)
	Sqrt       = function("sqrt", "sqrt is the square root.", (*expr.Builder).Sqrt)
	Rsqrt      = function("rsqrt", "rsqrt is 1 / sqrt(x).", (*expr.Builder).Rsqrt)
	Erf        = function("erf", "erf is the error function.", (*expr.Builder).Erf)
	Sin        = function("sin", "sin is the sine of x in radians.", (*expr.Builder).Sin)
	Cos        = function("cos", "cos is the cosine of x in radians.", (*expr.Builder).Cos)
	Tan        = function("tan", "tan is the tangent of x in radians.", (*expr.Builder).Tan)
	Atan       = function("atan", "atan is the arc tangent in radians.", (*expr.Builder).Atan)
)

// Rounding to integers.
var (
	Floor = rounding("floor", "floor rounds down.", (*expr.Builder).Floor)
	Ceil  = rounding("ceil", "ceil rounds up.", (*expr.Builder).Ceil)
	Round = rounding("round", "round rounds to the nearest integer, halves to even.", (*expr.Builder).Round)
	Trunc = rounding("trunc", "trunc rounds towards zero.", (*expr.Builder).Trunc)
)

// Predicates on the class of a value.
var (
	Isnan = classify("isnan", "isnan is true for NaN.", false, (*expr.Builder).IsNaN)
	Isinf = classify("isinf", "isinf is true for both infinities.", false, func(b *expr.Builder, x expr.Value) expr.Value {
		return b.Eq(b.Abs(x), b.Like(x, math.Inf(1)))
	})
	Isfinite = classify("isfinite", "isfinite is true for all but NaN and the infinities.", true, func(b *expr.Builder, x expr.Value) expr.Value {
		return b.Lt(b.Abs(x), b.Like(x, math.Inf(1)))
	})
)

// ClampAttrs are the bounds of clamp; either may be absent, not both.
type ClampAttrs struct {
	Min op.Scalar `fx:",arg,lift"`
	Max op.Scalar `fx:",arg,lift"`
}

// Clamp limits to [Min, Max]; where Min > Max the result is Max. NaN stays NaN,
// and a bound that is NaN makes every element NaN. A float bound promotes integers.
//
//gofx:torch torch.clamp(x, min, max)
var Clamp = defineUnary("clamp", unary[ClampAttrs]{
	doc: "clamp is min(max(x, min), max).", on: onAny, inPlace: true, quant: op.QuantShared,
	deriv: func(b *expr.Builder, a ClampAttrs, x expr.Value) expr.Value {
		inside := b.ConstBool(true)
		if a.Min.Present() {
			inside = b.And(inside, b.Ge(x, converted(b, x.DType(), a.Min)))
		}
		if a.Max.Present() {
			inside = b.And(inside, b.Le(x, converted(b, x.DType(), a.Max)))
		}
		return b.Select(inside, b.Like(x, 1), b.Like(x, 0)) // the bounds belong to it
	},
	differs: []op.Difference[ClampAttrs]{
		{Kind: op.Refuses, Text: "an integer bound that a float type cannot hold, which is infinity in PyTorch", When: func(a ClampAttrs, in []*array.Array) bool {
			return in[0].DType().IsFloat() && (a.Min.IsInt() || a.Max.IsInt())
		}},
		departs[ClampAttrs](op.Extends, "bool", func(in []*array.Array) bool { return in[0].DType() == array.Bool }),
		{Kind: op.Refuses, Text: "a bound that the element type cannot hold, together with one that is NaN", When: func(a ClampAttrs, _ []*array.Array) bool {
			return math.IsNaN(a.Min.Float64()) || math.IsNaN(a.Max.Float64())
		}},
		{Kind: op.Alters, Text: "a bound that is NaN makes every element NaN, also the only one, which PyTorch ignores", When: func(a ClampAttrs, _ []*array.Array) bool {
			return math.IsNaN(a.Min.Float64()) || math.IsNaN(a.Max.Float64())
		}},
	},
	promote: func(a ClampAttrs, d array.DType) array.DType { return a.Max.Promote(a.Min.Promote(d)) },
	check: func(a ClampAttrs, d array.DType) {
		if !a.Min.Present() && !a.Max.Present() {
			refuse(op.BadAttr, "neither min nor max is given, expected at least one", "give a bound")
		}
		requireFits(d, "min", a.Min, "max", a.Max)
	},
	f: func(b *expr.Builder, a ClampAttrs, x expr.Value) expr.Value {
		if a.Min.Present() {
			x = b.Max(x, converted(b, x.DType(), a.Min))
		}
		if a.Max.Present() {
			x = b.Min(x, converted(b, x.DType(), a.Max))
		}
		return x
	},
	attrs: []ClampAttrs{{Min: op.Float(-0.5), Max: op.Float(0.75)}, {Min: op.Int(1)}, {Max: op.Int(2)},
		{Min: op.Int(3), Max: op.Int(1)}, {Min: op.Float(math.NaN())}},
	wrong: []ClampAttrs{{}, {Min: op.Float(-1e39)}, {Min: op.Int(0), Max: op.Float(1e300)}},
})

// CastAttrs are the attributes of cast. Unsaturated and Round are for floats of 8 bits
// only: with Unsaturated numbers out of range become infinite, or NaN where the type has
// no infinities; Round is the direction of f8e8m0fnu, up, which "" is, too, down or nearest.
type CastAttrs struct {
	DType       array.DType `fx:"dtype,arg"`
	Unsaturated bool
	Round       string `fx:",enum=up|down|nearest"`
}

// rounding is what array.CastRounded takes.
func (a CastAttrs) rounding() (r array.Rounding) {
	switch a.Round {
	case "down":
		r = array.RoundDown
	case "nearest":
		r = array.RoundNearest
	}
	if a.Unsaturated {
		r |= array.Unsaturated
	}
	return r
}

// Cast converts the element type by the rules of array.CastRounded.
//
//gofx:torch cast(x, dtype)
var Cast = defineUnary("cast", unary[CastAttrs]{
	doc: "cast converts x to the element type dtype.", on: onAny, narrow: true, toBool: true, // the result's type is f's
	differs: []op.Difference[CastAttrs]{
		{Kind: op.Alters, Text: "floats that an integer type cannot hold become what array.Cast says: PyTorch leaves them to the processor", When: func(a CastAttrs, in []*array.Array) bool { return in[0].DType().IsFloat() && a.DType.IsInt() }},
		{Kind: op.Refuses, Text: "round and unsaturated for element types that have no choice, which PyTorch has for none", When: func(a CastAttrs, _ []*array.Array) bool { return a.Round != "" || a.Unsaturated }},
	},
	check: func(a CastAttrs, _ array.DType) {
		if a.DType.Size() == 0 {
			refuse(op.BadAttr, "dtype is not given, expected an element type", "give one")
		}
		if a.Unsaturated && (!a.DType.IsNarrowFloat() || a.DType.Bits() != 8) {
			refuse(op.BadAttr, "unsaturated is set for dtype "+a.DType.String()+", expected a float of 8 bits", "leave it out")
		}
		if a.Round != "" && a.DType != array.F8E8M0FNU {
			refuse(op.BadAttr, "round is "+a.Round+" for dtype "+a.DType.String()+", expected f8e8m0fnu", "leave it out")
		}
	},
	f: func(b *expr.Builder, a CastAttrs, x expr.Value) expr.Value {
		return b.CastRounded(x, a.DType, a.rounding())
	},
	attrs: func() (all []CastAttrs) {
		for _, d := range array.DTypes() {
			all = append(all, CastAttrs{DType: d})
		}
		return all
	}(),
	samples: narrowCasts,
	wrong:   []CastAttrs{{}, {DType: array.F16, Unsaturated: true}, {DType: array.F4E2M1FN, Unsaturated: true}, {DType: array.F8E5M2, Round: "down"}},
})

// codes makes elements of a narrow type, all codes of it.
func codes(g *op.Gen, d array.DType, shape ...int) *array.Array {
	a := array.New(d, shape...)
	for i, v := range array.Data[int64](g.Int(256, shape...)) {
		array.Bytes(a)[i] = uint8(v)
		if d.IsNarrowInt() {
			array.Bytes(a)[i] = uint8(array.NarrowInt(d, uint8(v)))
		} else if d.Bits() == 4 {
			array.Bytes(a)[i] &= 15
		}
	}
	return a
}
