package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

func comparison(name, doc string, f func(b *expr.Builder, l, r expr.Value) expr.Value) *op.Op {
	return defineBinary(name, binary{doc: doc, on: anyType, toBool: true, f: f})
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
		Samples: func(g *op.Gen) []op.Sample {
			all := binarySamples(g, anyType, func(op.Scalar, bool) any { return op.None{} })
			return tensorPairs(all)
		},
		Bad: func(g *op.Gen) []op.BadSample {
			return []op.BadSample{
				{Name: "shapes", Attrs: op.None{}, In: []*array.Array{g.Bool(2, 3), g.Bool(4)}, Code: op.ShapeMismatch},
				{Name: "one operand", Attrs: op.None{}, In: []*array.Array{g.Bool(2)}, Code: op.OperandCount},
			}
		},
	})
}

// tensorPairs keeps the samples with two tensors.
func tensorPairs(all []op.Sample) []op.Sample {
	var keep []op.Sample
	for _, s := range all {
		if len(s.In) == 2 {
			keep = append(keep, s)
		}
	}
	return keep
}

// Logical operators.
var (
	LogicalAnd = logical("logical_and", "logical_and is true where both x and other are not 0.", (*expr.Builder).And)
	LogicalOr  = logical("logical_or", "logical_or is true where x or other is not 0.", (*expr.Builder).Or)
	LogicalXor = logical("logical_xor", "logical_xor is true where exactly one of x and other is not 0.", (*expr.Builder).Xor)
	LogicalNot = defineUnary("logical_not", unary[op.None]{
		doc: "logical_not is true where x is 0.", on: anyType, toBool: true,
		f: func(b *expr.Builder, _ op.None, x expr.Value) expr.Value { return b.Not(b.Cast(x, array.Bool)) },
	})
)

func bitwise(name, doc string, on domain, f func(b *expr.Builder, l, r expr.Value) expr.Value) *op.Op {
	return defineBinary(name, binary{doc: doc, on: on, inPlace: true, f: f})
}

// Bitwise operators on integers; all but the shifts take bool too.
var (
	BitwiseAnd        = bitwise("bitwise_and", "bitwise_and is the conjunction of bits.", integral, (*expr.Builder).And)
	BitwiseOr         = bitwise("bitwise_or", "bitwise_or is the disjunction of bits.", integral, (*expr.Builder).Or)
	BitwiseXor        = bitwise("bitwise_xor", "bitwise_xor is the exclusive disjunction of bits.", integral, (*expr.Builder).Xor)
	BitwiseLeftShift  = bitwise("bitwise_left_shift", "bitwise_left_shift is x << other, 0 where other is negative or too large.", integers, (*expr.Builder).Shl)
	BitwiseRightShift = bitwise("bitwise_right_shift", "bitwise_right_shift is x >> other, filling with the sign; a negative other counts as a huge one.", integers, (*expr.Builder).Shr)
	BitwiseNot        = defineUnary("bitwise_not", unary[op.None]{
		doc: "bitwise_not is the complement of bits.", on: integral, inPlace: true, f: plain((*expr.Builder).Not),
	})
)

// WhereAttrs are the attributes of where: Other stands for the third operand.
type WhereAttrs struct {
	Other op.Scalar
}

// Where selects by a bool condition; x and other are promoted to one type.
var Where = op.Define("where", op.Spec[WhereAttrs]{
	Doc: "where is x where cond is true, else other.", In: op.Args("cond", "x", "other?"),
	Promote: func(a WhereAttrs, in []shape.Type) array.DType {
		if in[0].DType() != array.Bool {
			return array.Invalid // refused by Expr
		}
		return a.Other.Promote(op.Promote(in[1:]))
	},
	Expr: func(b *expr.Builder, a WhereAttrs, x []expr.Value) []expr.Value {
		d := x[1].DType()
		if x[0].DType() == d && d != array.Bool || !has(x[0]) {
			d = array.Invalid
		}
		cond := condition(b, 0, x[0], d)
		if has(x[2]) == a.Other.Present() {
			refuse(op.OperandCount, "operand other and a number other are both given or both missing, expected one of them", "give a tensor or a number")
		}
		if has(x[2]) {
			return []expr.Value{b.Select(cond, x[1], x[2])}
		}
		return []expr.Value{b.Select(cond, x[1], number(b, x[1].DType(), a.Other))}
	},
	Samples: whereSamples,
	Bad: func(g *op.Gen) []op.BadSample {
		none := WhereAttrs{}
		return []op.BadSample{
			{Name: "condition", Attrs: none, In: []*array.Array{g.Int(2, 3), g.Normal(3), g.Normal(3)}, Code: op.DTypeMismatch},
			{Name: "float condition", Attrs: none, In: []*array.Array{g.Normal(3), g.Normal(3), g.Normal(3)}, Code: op.DTypeMismatch},
			{Name: "no other", Attrs: none, In: []*array.Array{g.Bool(3), g.Normal(3)}, Code: op.OperandCount},
			{Name: "two others", Attrs: WhereAttrs{op.Int(1)}, In: []*array.Array{g.Bool(3), g.Normal(3), g.Normal(3)}, Code: op.OperandCount},
			{Name: "shapes", Attrs: none, In: []*array.Array{g.Bool(3), g.Normal(3), g.Normal(4)}, Code: op.ShapeMismatch},
		}
	},
})
