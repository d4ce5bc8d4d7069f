package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

func comparison(name, doc string, f func(b *expr.Builder, l, r expr.Value) expr.Value) *op.Op {
	return defineBinary(name, binary[BinaryAttrs]{doc: doc, on: onAny, toBool: true, f: f})
}

// Comparisons: bool results of operands promoted to one type; all but ne are
// false where an operand is NaN.
var (
	Eq = comparison("eq", "eq is true where x == other.", (*expr.Builder).Eq)
	Ne = comparison("ne", "ne is true where x != other, also where either is NaN.", (*expr.Builder).Ne)
	Lt = comparison("lt", "lt is true where x < other.", (*expr.Builder).Lt)
	Le = comparison("le", "le is true where x <= other.", (*expr.Builder).Le)
	Gt = comparison("gt", "gt is true where x > other.", (*expr.Builder).Gt)
	Ge = comparison("ge", "ge is true where x >= other.", (*expr.Builder).Ge)
)

// logical defines an operator on truth values; every element that is not 0 is true.
func logical(name, doc string, f func(b *expr.Builder, l, r expr.Value) expr.Value) *op.Op {
	return op.Define(name, op.Spec[op.None]{
		Doc: doc, In: op.Args("x", "other"), Promote: uncast[op.None],
		Expr: func(b *expr.Builder, _ op.None, x []expr.Value) []expr.Value {
			return []expr.Value{f(b, b.Cast(x[0], array.Bool), b.Cast(x[1], array.Bool))}
		},
		Samples: logicalSamples,
		Bad:     logicalBad,
	})
}

// Logical operators.
var (
	LogicalAnd = logical("logical_and", "logical_and is true where both x and other are not 0.", (*expr.Builder).And)
	LogicalOr  = logical("logical_or", "logical_or is true where x or other is not 0.", (*expr.Builder).Or)
	LogicalXor = logical("logical_xor", "logical_xor is true where exactly one of x and other is not 0.", (*expr.Builder).Xor)
	LogicalNot = defineUnary("logical_not", unary[op.None]{
		doc: "logical_not is true where x is 0.", on: onAny, toBool: true,
		f: func(b *expr.Builder, _ op.None, x expr.Value) expr.Value { return b.Not(b.Cast(x, array.Bool)) },
	})
)

func bitwise(name, doc string, f func(b *expr.Builder, l, r expr.Value) expr.Value) *op.Op {
	return defineBinary(name, binary[BinaryAttrs]{doc: doc, on: onIntegral, inPlace: true, f: f})
}

func shift(name, doc string, f func(b *expr.Builder, l, r expr.Value) expr.Value) *op.Op {
	return defineReversible(name, binary[ReversibleAttrs]{doc: doc, on: onIntegers, inPlace: true, f: f, differs: []op.Difference[ReversibleAttrs]{
		{Kind: op.Alters, Text: "shifts by a negative number or by the width and more are defined, as above: PyTorch leaves them to the processor"},
	}})
}

// Bitwise operators on integers; all but the shifts take bool too.
var (
	BitwiseAnd = bitwise("bitwise_and", "bitwise_and is the conjunction of bits.", (*expr.Builder).And)
	BitwiseOr  = bitwise("bitwise_or", "bitwise_or is the disjunction of bits.", (*expr.Builder).Or)
	BitwiseXor = bitwise("bitwise_xor", "bitwise_xor is the exclusive disjunction of bits.", (*expr.Builder).Xor)
	//gofx:torch shifted(torch.bitwise_left_shift, x, other, reverse)
	BitwiseLeftShift = shift("bitwise_left_shift", "bitwise_left_shift is x << other, 0 where other is negative or too large.", (*expr.Builder).Shl)
	//gofx:torch shifted(torch.bitwise_right_shift, x, other, reverse)
	BitwiseRightShift = shift("bitwise_right_shift", "bitwise_right_shift is x >> other, filling with the sign; a negative other counts as a huge one.", (*expr.Builder).Shr)
	BitwiseNot        = defineUnary("bitwise_not", unary[op.None]{
		doc: "bitwise_not is the complement of bits.", on: onIntegral, inPlace: true, f: plain((*expr.Builder).Not),
	})
)

// WhereAttrs are the attributes of where: Other stands for the third operand.
type WhereAttrs struct {
	Other op.Scalar `fx:",lift"`
}

// Where selects by a bool condition; x and other are promoted to one type.
var Where = op.Define("where", op.Spec[WhereAttrs]{
	Differs: []op.Difference[WhereAttrs]{
		{Kind: op.Refuses, Text: "a u8 as cond", When: func(_ WhereAttrs, in []*array.Array) bool { return in[0].DType() == array.U8 }},
	},
	Doc: "where is x where cond is true, else other.", In: op.Args("cond", "x", "other?"),
	Infer: func(c *op.Infer, a WhereAttrs, in []shape.Type) (shape.Type, error) {
		if err := requireBool("cond", in[0]); err != nil {
			return shape.Type{}, err
		}
		if len(in) > 2 && in[2].Kind() == shape.Tensor && a.Other.Present() {
			return shape.Type{}, diag.New(op.OperandCount, "operand other and the number "+a.Other.String()+" are both given, expected one of them")
		}
		if len(in) < 3 && !a.Other.Present() {
			return shape.Type{}, diag.New(op.OperandCount, "neither operand other nor the number other is given, expected one of them")
		}
		given := in
		if a.Other.Present() {
			given = in[:2]
		}
		d := wherePromote(a, given)
		if err := checkFits("other", d, a.Other); err != nil {
			return shape.Type{}, err
		}
		return broadcastAs(c, d, given)
	},
	Promote: wherePromote,
	Expr: func(b *expr.Builder, a WhereAttrs, x []expr.Value) []expr.Value {
		if !has(x[2]) {
			if !a.Other.Present() {
				refuse(op.OperandCount, "neither operand other nor the number other is given, expected one of them", "give a tensor or a number")
			}
			x[2] = number(b, x[1].DType(), "other", a.Other)
		}
		return []expr.Value{b.Select(b.Input(0, array.Bool), x[1], x[2])}
	},
	Samples: whereSamples,
	Bad:     whereBad,
})

func wherePromote(a WhereAttrs, in []shape.Type) array.DType {
	for _, t := range in[1:] {
		if t.DType() == array.Invalid && (t.Kind() == shape.Tensor || !a.Other.Present()) {
			return array.Invalid
		}
	}
	return a.Other.Promote(op.Promote(in[1:]))
}

// MaskedFillAttrs are the attributes of masked_fill.
type MaskedFillAttrs struct {
	Value op.Scalar `fx:",arg,lift"`
}

// MaskedFill overwrites the elements that a bool mask selects. The result has
// x's element type, so that integers take no value with a fraction.
//
//gofx:torch x.masked_fill(mask, value)
var MaskedFill = op.Define("masked_fill", op.Spec[MaskedFillAttrs]{
	Differs: []op.Difference[MaskedFillAttrs]{
		refusesFraction("value", func(a MaskedFillAttrs) []op.Scalar { return []op.Scalar{a.Value} }),
		{Kind: op.Refuses, Text: "a mask that is not bool", When: func(_ MaskedFillAttrs, in []*array.Array) bool { return in[1].DType() != array.Bool }},
	},
	Doc: "masked_fill is value where mask is true, else x.", In: op.Args("x", "mask"), InPlace: true,
	Infer: func(c *op.Infer, a MaskedFillAttrs, in []shape.Type) (shape.Type, error) {
		if err := requireBool("mask", in[1]); err != nil {
			return shape.Type{}, err
		}
		if !a.Value.Present() {
			return shape.Type{}, diag.New(op.BadAttr, "value is not given, expected a number")
		}
		if d := in[0].DType(); d != array.Invalid && !d.IsFloat() && a.Value.Float64() != float64(a.Value.Int64()) {
			return shape.Type{}, diag.New(op.BadAttr, "value is "+a.Value.String()+" for "+d.String()+" elements, expected an integer").
				WithHint("cast x to a floating-point type")
		}
		if err := checkFits("value", in[0].DType(), a.Value); err != nil {
			return shape.Type{}, err
		}
		return broadcastAs(c, in[0].DType(), in)
	},
	Promote: func(_ MaskedFillAttrs, in []shape.Type) array.DType { return in[0].DType() },
	Expr: func(b *expr.Builder, a MaskedFillAttrs, x []expr.Value) []expr.Value {
		return []expr.Value{b.Select(b.Input(1, array.Bool), number(b, x[0].DType(), "value", a.Value), x[0])}
	},
	Samples: maskedFillSamples,
	Bad:     maskedFillBad,
})
