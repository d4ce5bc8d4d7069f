package std

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// AddAttrs are the attributes of add: x + Alpha*other. An absent Alpha is 1.
type AddAttrs struct {
	Other op.Scalar `fx:",lift"`
	Alpha op.Scalar `fx:",lift"`
}

// SubAttrs are the attributes of sub: x - Alpha*other, or Other - Alpha*x when
// Reverse is set. An absent Alpha is 1.
type SubAttrs struct {
	Other   op.Scalar `fx:",lift"`
	Alpha   op.Scalar `fx:",lift"`
	Reverse bool
}

// DivAttrs are the attributes of div. RoundingMode "" is true division, "trunc"
// rounds the quotient towards zero, "floor" down.
type DivAttrs struct {
	Other        op.Scalar `fx:",lift"`
	Reverse      bool
	RoundingMode string `fx:",enum=trunc|floor"`
}

// Add adds. Two bool operands give their disjunction.
//
//gofx:torch torch.add(x, other, alpha=given(alpha, 1))
var Add = op.Define("add", op.Spec[AddAttrs]{
	Differs: []op.Difference[AddAttrs]{
		{Kind: op.Refuses, Text: "a number as alpha for bool", When: func(a AddAttrs, in []*array.Array) bool { return a.Alpha.Present() && in[0].DType() == array.Bool }},
		{Kind: op.Extends, Text: "a float as alpha for bool", When: func(a AddAttrs, in []*array.Array) bool { return a.Alpha.IsFloat() && in[0].DType() == array.Bool }},
		{Kind: op.Extends, Text: "a bool as alpha, which counts as 0 or 1", When: func(a AddAttrs, _ []*array.Array) bool {
			return a.Alpha.Present() && !a.Alpha.IsFloat() && !a.Alpha.IsInt()
		}},
	},
	Doc: "add is x + alpha*other.", In: op.Args("x", "other?"), InPlace: true,
	Promote: func(a AddAttrs, in []shape.Type) array.DType { return a.Other.Promote(op.Promote(in)) },
	Expr: func(b *expr.Builder, a AddAttrs, x []expr.Value) []expr.Value {
		l, r := twoOperands(b, x, a.Other, false)
		d := x[0].DType()
		if d == array.Bool {
			requireNoAlpha(a.Alpha)
			return []expr.Value{b.Or(l, r)}
		}
		return []expr.Value{b.Cast(scaled(b, d, (*expr.Builder).Add, l, r, a.Alpha), d)}
	},
	Samples: addSamples,
	Bad:     addBad,
})

func addAttrs(n op.Scalar, _ bool) any { return AddAttrs{Other: n} }

func requireNoAlpha(alpha op.Scalar) {
	if alpha.Present() && alpha.Float64() != 1 {
		refuse(op.BadAttr, "alpha is "+alpha.String()+" for bool operands, expected none", "cast the operands to an integer type")
	}
}

// scaled returns f(l, alpha*r) for an alpha of type d; f16 and bf16 are computed
// in f32 when alpha is given.
func scaled(b *expr.Builder, d array.DType, f func(b *expr.Builder, x, y expr.Value) expr.Value, l, r expr.Value, alpha op.Scalar) expr.Value {
	if !alpha.Present() {
		return f(b, l, r)
	}
	if alpha.IsFloat() && !l.DType().IsFloat() {
		refuse(op.BadAttr, "alpha is "+alpha.String()+" for "+l.DType().String()+" operands, expected an integer", "cast the operands to a floating-point type")
	}
	if err := checkFits("alpha", d, alpha); err != nil {
		panic(err)
	}
	l, r = b.Widen(l), b.Widen(r)
	return f(b, l, b.Mul(r, converted(b, r.DType(), alpha)))
}

// Sub subtracts.
//
//gofx:torch torch.sub(*two(x, other, reverse), alpha=given(alpha, 1))
var Sub = op.Define("sub", op.Spec[SubAttrs]{
	Differs: []op.Difference[SubAttrs]{
		{Kind: op.Alters, Text: "the least i64 as alpha counts as it is, where PyTorch's negation overflows", When: func(a SubAttrs, _ []*array.Array) bool { return a.Alpha.IsInt() && a.Alpha.Int64() == math.MinInt64 }},
		{Kind: op.Extends, Text: "a bool as alpha, which counts as 0 or 1", When: func(a SubAttrs, _ []*array.Array) bool {
			return a.Alpha.Present() && !a.Alpha.IsFloat() && !a.Alpha.IsInt()
		}},
		{Kind: op.Extends, Text: "bool with another type", When: func(a SubAttrs, in []*array.Array) bool {
			return a.Other.Present() && !a.Other.IsFloat() && !a.Other.IsInt() || slices.ContainsFunc(in, func(x *array.Array) bool { return x != nil && x.DType() == array.Bool })
		}},
	},
	Doc: "sub is x - alpha*other.", In: op.Args("x", "other?"), InPlace: true,
	Promote: func(a SubAttrs, in []shape.Type) array.DType { return a.Other.Promote(op.Promote(in)) },
	Expr: func(b *expr.Builder, a SubAttrs, x []expr.Value) []expr.Value {
		d := x[0].DType()
		if d == array.Bool {
			refuse(op.DTypeMismatch, "element type bool, expected "+onNumbers.text, "use logical_xor or bitwise_xor")
		}
		l, r := twoOperands(b, x, a.Other, a.Reverse)
		return []expr.Value{b.Cast(scaled(b, d, (*expr.Builder).Sub, l, r, a.Alpha), d)}
	},
	Samples: subSamples,
	Bad:     subBad,
})

func subAttrs(n op.Scalar, reverse bool) any { return SubAttrs{Other: n, Reverse: reverse} }

// Mul multiplies. Two bool operands give their conjunction.
var Mul = defineBinary("mul", binary[BinaryAttrs]{
	doc: "mul is x * other.", on: onAny, inPlace: true,
	f: func(b *expr.Builder, l, r expr.Value) expr.Value {
		if l.DType() == array.Bool {
			return b.And(l, r)
		}
		return b.Mul(l, r)
	},
})

func (a DivAttrs) number() (op.Scalar, bool) { return a.Other, a.Reverse }

// Div divides: integers and bool are promoted to f32 unless a rounding mode is
// given.
//
//gofx:torch divide(x, other, reverse, rounding_mode)
var Div = op.Define("div", op.Spec[DivAttrs]{
	Differs: []op.Difference[DivAttrs]{
		extendsZero(DivAttrs.number),
		refusesZero(DivAttrs.number),
	},
	Doc: "div is the true quotient x / other, or the quotient rounded by rounding_mode; rounded, integers by a zero in a tensor give 0, where PyTorch fails.", In: op.Args("x", "other?"), InPlace: true,
	Promote: func(a DivAttrs, in []shape.Type) array.DType {
		d := a.Other.Promote(op.Promote(in))
		if a.RoundingMode == "" {
			return onFloatMath.compute(d)
		}
		return d
	},
	Expr: func(b *expr.Builder, a DivAttrs, x []expr.Value) []expr.Value {
		d := x[0].DType()
		onNumbers.require(d)
		divisor(ReversibleAttrs{Other: a.Other, Reverse: a.Reverse}, d)
		l, r := twoOperands(b, x, a.Other, a.Reverse)
		var y expr.Value
		switch a.RoundingMode {
		case "":
			y = b.Div(l, r)
		case "trunc":
			if y = b.Div(l, r); d.IsFloat() {
				y = b.Trunc(y)
			}
		case "floor":
			y = b.FloorDiv(l, r)
		default:
			refuse(op.BadAttr, "rounding_mode is "+a.RoundingMode+", expected trunc or floor", "leave it empty for true division")
		}
		return []expr.Value{b.Cast(y, d)}
	},
	Samples: divSamples,
	Bad:     divBad,
})

func divAttrs(mode string) func(op.Scalar, bool) any {
	return func(n op.Scalar, reverse bool) any { return DivAttrs{Other: n, Reverse: reverse, RoundingMode: mode} }
}

// Integers divided by a zero in a tensor give 0, in every engine: an operator has
// a result for all elements, so that where may choose between them and passes may
// drop, merge and reorder. A divisor that is the number 0 is refused. The least
// integer by -1 is itself, with remainder 0.

// FloorDivide divides and rounds down.
//
//gofx:torch divide(x, other, reverse, "floor")
var FloorDivide = defineReversible("floor_divide", binary[ReversibleAttrs]{
	doc: "floor_divide is the quotient x / other rounded down; integers by a zero in a tensor give 0, where PyTorch fails.",
	differs: []op.Difference[ReversibleAttrs]{
		extendsZero(ReversibleAttrs.number),
		refusesZero(ReversibleAttrs.number),
	},
	on: onNumbers, inPlace: true, f: (*expr.Builder).FloorDiv, check: divisor, bad: zeroDivisors,
})

// Remainder is Python's x % other.
//
//gofx:torch torch.remainder(*two(x, other, reverse))
var Remainder = defineReversible("remainder", binary[ReversibleAttrs]{
	doc: "remainder is the remainder of floored division, with the sign of other; integers by a zero in a tensor give 0, where PyTorch fails.",
	differs: []op.Difference[ReversibleAttrs]{
		extendsZero(ReversibleAttrs.number),
		altersRemainder[ReversibleAttrs](),
		refusesZero(ReversibleAttrs.number),
	},
	on: onNumbers, inPlace: true, f: (*expr.Builder).Mod, check: divisor, bad: zeroDivisors,
})

// Fmod is C's fmod.
//
//gofx:torch torch.fmod(*two(x, other, reverse))
var Fmod = defineReversible("fmod", binary[ReversibleAttrs]{
	doc: "fmod is the remainder of truncated division, with the sign of x; integers by a zero in a tensor give 0, where PyTorch fails.",
	differs: []op.Difference[ReversibleAttrs]{
		extendsZero(ReversibleAttrs.number),
		altersRemainder[ReversibleAttrs](),
		refusesZero(ReversibleAttrs.number),
	},
	on: onNumbers, inPlace: true, f: (*expr.Builder).Rem, check: divisor, bad: zeroDivisors,
})

func (a ReversibleAttrs) number() (op.Scalar, bool) { return a.Other, a.Reverse }

// divisor refuses to divide integers by a number that is 0 in their type.
func divisor(a ReversibleAttrs, d array.DType) {
	if a.Other.Present() && !a.Reverse && d.IsInt() && uint64(a.Other.Int64())<<(64-8*d.Size()) == 0 {
		refuse(op.BadAttr, "other is "+a.Other.String()+", which is 0 as "+d.String()+", expected another number to divide integers by",
			"cast x to a floating-point type")
	}
}

// Pow raises to a power. A negative exponent of integers is an error when it is
// a number; in a tensor it gives 0 unless the base is 1 or -1.
//
//gofx:torch torch.pow(other, x) if reverse and not torch.is_tensor(other) else torch.pow(*two(x, other, reverse))
var Pow = defineReversible("pow", binary[ReversibleAttrs]{
	doc: "pow is x to the power other.", on: onNumbers, inPlace: true, f: power,
	differs: []op.Difference[ReversibleAttrs]{
		departs[ReversibleAttrs](op.GradAlters, "that by an exponent of f64 has the logarithm of an integer base in f64; PyTorch's has it in f32", func(in []*array.Array) bool {
			return mixed(in) && in[0].DType().IsInt()
		}),
		{Kind: op.GradAlters, Text: "that of the power 0.5, given as a number, is that of the square root at -0: -inf", When: func(a ReversibleAttrs, in []*array.Array) bool {
			return !a.Reverse && a.Other.Present() && a.Other.Float64() == 0.5 && hasElement(in[0], 0)
		}},
		{Kind: op.Refuses, Text: "a number as the base that the integer type of the exponent cannot hold", When: func(a ReversibleAttrs, in []*array.Array) bool {
			return a.Reverse && in[0].DType().IsInt()
		}},
		{Kind: op.Alters, Text: "an exponent is rounded to the element type first, which makes odd numbers beyond 2^24 even for f32", When: func(a ReversibleAttrs, _ []*array.Array) bool {
			return math.Abs(a.Other.Float64()) > 1<<24
		}},
		{Kind: op.Alters, Text: "-inf to the powers 0.5 and -0.5, given as numbers, is +inf and 0 as for all other powers that are no integers: PyTorch takes the square root", When: func(a ReversibleAttrs, _ []*array.Array) bool {
			return !a.Reverse && math.Abs(a.Other.Float64()) == 0.5
		}},
	},
	check: func(a ReversibleAttrs, d array.DType) {
		if a.Other.IsInt() && !a.Reverse && d.IsInt() && a.Other.Int64() < 0 {
			refuse(op.BadAttr, "integers to the negative power "+a.Other.String()+", expected a power of 0 or more", "cast x to a floating-point type")
		}
		// PyTorch takes infinity for a number beyond f32 or f64 here, not for one beyond f16.
		if d.IsInt() || d.Size() == 2 && !a.Reverse {
			if err := checkFits("other", d, a.Other); err != nil {
				panic(err)
			}
		}
	},
	samples: func(g *op.Gen) []op.Sample {
		var all []op.Sample
		for _, p := range []op.Scalar{op.Int(0), op.Int(1), op.Int(2), op.Int(3), op.Int(-1), op.Float(0.5), op.Float(-0.5), op.Float(2)} {
			all = append(all, op.Sample{Name: "power " + p.String(), Attrs: ReversibleAttrs{Other: p}, In: []*array.Array{g.Special()}})
		}
		return append(all, op.Sample{Name: "square of i32", Attrs: ReversibleAttrs{Other: op.Int(2)},
			In: []*array.Array{array.FromSlice([]int32{-3, 0, 5, 70000})}})
	},
	bad: func(g *op.Gen) []op.BadSample {
		return []op.BadSample{
			{Name: "negative power of i64", Attrs: ReversibleAttrs{Other: op.Int(-1)}, In: []*array.Array{g.Int(5, 2)}, Code: op.BadAttr},
			{Name: "power beyond i8", Attrs: ReversibleAttrs{Other: op.Int(300)}, In: []*array.Array{array.New(array.I8, 2)}, Code: op.BadAttr},
			{Name: "base beyond i8", Attrs: ReversibleAttrs{Other: op.Int(300), Reverse: true}, In: []*array.Array{array.New(array.I8, 2)}, Code: op.BadAttr},
			{Name: "power beyond bf16", Attrs: ReversibleAttrs{Other: op.Float(3.4e38)}, In: []*array.Array{array.New(array.BF16, 2)}, Code: op.BadAttr},
		}
	},
})

// power multiplies for the constant powers 2 and 3 and divides for -1, as
// PyTorch does.
func power(b *expr.Builder, l, r expr.Value) expr.Value {
	if !has(r) {
		panic(diag.Bug("pow without an exponent"))
	}
	if _, ok := r.ConstBits(); ok {
		switch r {
		case b.Like(l, 2):
			return b.Mul(l, l)
		case b.Like(l, 3):
			return b.Mul(b.Mul(l, l), l)
		}
		if l.DType().IsFloat() && r == b.Like(l, -1) {
			return b.Reciprocal(l)
		}
	}
	return b.Pow(l, r)
}

// Maximum is the larger operand; NaN if either is.
//
//gofx:torch torch.maximum(x, tensor_of(other, x))
var Maximum = defineBinary("maximum", binary[BinaryAttrs]{
	doc: "maximum is the larger of x and other, NaN if either is.", on: onAny, f: (*expr.Builder).Max,
	differs: []op.Difference[BinaryAttrs]{
		{Kind: op.Extends, Text: "a number as other", When: func(a BinaryAttrs, _ []*array.Array) bool { return a.Other.Present() }},
		{Kind: op.GradAlters, Text: "that of elements that equal a number as other is 0, as relu's is", When: func(a BinaryAttrs, _ []*array.Array) bool { return a.Other.Present() }},
	},
})

// Minimum is the smaller operand; NaN if either is.
//
//gofx:torch torch.minimum(x, tensor_of(other, x))
var Minimum = defineBinary("minimum", binary[BinaryAttrs]{
	doc: "minimum is the smaller of x and other, NaN if either is.", on: onAny, f: (*expr.Builder).Min,
	differs: []op.Difference[BinaryAttrs]{
		{Kind: op.Extends, Text: "a number as other", When: func(a BinaryAttrs, _ []*array.Array) bool { return a.Other.Present() }},
		{Kind: op.GradAlters, Text: "that of elements that equal a number as other is 0, as relu's is", When: func(a BinaryAttrs, _ []*array.Array) bool { return a.Other.Present() }},
	},
})

// Logaddexp adds in the space of logarithms.
//
//gofx:torch logaddexp(x, other)
var Logaddexp = op.Define("logaddexp", op.Spec[op.None]{
	Doc: "logaddexp is log(exp(x) + exp(other)), without overflow.", In: op.Args("x", "other"),
	Differs: []op.Difference[op.None]{departs[op.None](op.GradAlters, "that by each of two equal infinities is a half; PyTorch's is NaN", func(in []*array.Array) bool { return hasInf(in[0]) && hasInf(in[1]) })},
	Expr: func(b *expr.Builder, _ op.None, x []expr.Value) []expr.Value {
		d := x[0].DType()
		onFloats.require(d)
		l, r := b.Widen(x[0]), b.Widen(x[1])
		most := b.Max(l, r)
		sum := b.Add(most, b.Log1p(b.Exp(b.Neg(b.Abs(b.Sub(l, r))))))
		return []expr.Value{b.Cast(b.Select(b.Eq(l, r), b.Add(l, b.Like(l, math.Ln2)), sum), d)} // two equal infinities have no difference
	},
	Deriv: func(b *expr.Builder, _ op.None, x []expr.Value) []expr.Value {
		l, r := b.Widen(x[0]), b.Widen(x[1])
		equal, half := b.Eq(l, r), b.Like(l, 0.5)
		share := func(x, y expr.Value) expr.Value { return b.Select(equal, half, b.Sigmoid(b.Sub(x, y))) }
		return []expr.Value{share(l, r), share(r, l)}
	},
	Samples: logaddexpSamples,
	Bad:     logaddexpBad,
})
