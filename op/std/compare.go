package std

import (
	"math"

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
		Samples: func(g *op.Gen) []op.Sample {
			all := binarySamples(g, onAny, func(op.Scalar, bool) any { return op.None{} })
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
	Other op.Scalar
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
	Bad: func(g *op.Gen) []op.BadSample {
		none := WhereAttrs{}
		return []op.BadSample{
			{Name: "integer condition", Attrs: none, In: []*array.Array{g.Int(2, 3), g.Normal(3), g.Normal(3)}, Code: op.DTypeMismatch},
			{Name: "float condition", Attrs: none, In: []*array.Array{g.Normal(3), g.Normal(3), g.Normal(3)}, Code: op.DTypeMismatch},
			{Name: "no other", Attrs: none, In: []*array.Array{g.Bool(3), g.Normal(3)}, Code: op.OperandCount},
			{Name: "two others", Attrs: WhereAttrs{op.Int(1)}, In: []*array.Array{g.Bool(3), g.Normal(3), g.Normal(3)}, Code: op.OperandCount},
			{Name: "number beyond i8", Attrs: WhereAttrs{op.Int(300)}, In: []*array.Array{g.Bool(3), array.New(array.I8, 3)}, Code: op.BadAttr},
			{Name: "shapes", Attrs: none, In: []*array.Array{g.Bool(3), g.Normal(3), g.Normal(4)}, Code: op.ShapeMismatch},
		}
	},
})

func wherePromote(a WhereAttrs, in []shape.Type) array.DType {
	for _, t := range in[1:] {
		if t.DType() == array.Invalid && (t.Kind() == shape.Tensor || !a.Other.Present()) {
			return array.Invalid
		}
	}
	return a.Other.Promote(op.Promote(in[1:]))
}

func whereSamples(g *op.Gen) []op.Sample {
	none := WhereAttrs{}
	cast := array.Cast
	return []op.Sample{
		{Name: "equal shapes", Attrs: none, In: []*array.Array{g.Bool(2, 3), g.Normal(2, 3), g.Normal(2, 3)}},
		{Name: "broadcast", Attrs: none, In: []*array.Array{g.Bool(4, 1, 1), g.Normal(3, 1), g.Normal(5)}},
		{Name: "zero size", Attrs: none, In: []*array.Array{g.Bool(0, 3), g.Normal(3), g.Normal()}},
		{Name: "strided", Attrs: none, In: []*array.Array{g.Strided(g.Bool(3, 4)), g.Strided(g.Normal(3, 4)), g.Normal(4)}},
		{Name: "NaN of the other side", Attrs: none, In: []*array.Array{g.Bool(15), g.Special(), g.Normal(15)}},
		{Name: "number", Attrs: WhereAttrs{op.Float(math.Inf(-1))}, In: []*array.Array{g.Bool(2, 3), g.Normal(3)}},
		{Name: "integer number of f16", Attrs: WhereAttrs{op.Int(0)}, In: []*array.Array{g.Bool(3), cast(g.Normal(3), array.F16)}},
		{Name: "float number of i64", Attrs: WhereAttrs{op.Float(0.5)}, In: []*array.Array{g.Bool(3), g.Int(9, 3)}},
		{Name: "i64 and f32", Attrs: none, In: []*array.Array{g.Bool(3), g.Int(9, 3), g.Normal(3)}},
		{Name: "bool", Attrs: none, In: []*array.Array{g.Bool(6), g.Bool(6), g.Bool(6)}},
		{Name: "f64", Attrs: none, In: []*array.Array{g.Bool(), cast(g.Normal(6), array.F64), cast(g.Normal(6), array.F64)}},
	}
}

// MaskedFillAttrs are the attributes of masked_fill.
type MaskedFillAttrs struct {
	Value op.Scalar `fx:",arg"`
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
	Samples: func(g *op.Gen) []op.Sample {
		inf := MaskedFillAttrs{op.Float(math.Inf(-1))}
		return []op.Sample{
			{Name: "minus infinity", Attrs: inf, In: []*array.Array{g.Normal(2, 3), g.Bool(2, 3)}},
			{Name: "broadcast mask", Attrs: inf, In: []*array.Array{g.Normal(2, 4, 3), g.Bool(4, 1)}},
			{Name: "broadcast x", Attrs: inf, In: []*array.Array{g.Normal(3), g.Bool(2, 3)}},
			{Name: "zero size", Attrs: inf, In: []*array.Array{g.Normal(0, 3), g.Bool(3)}},
			{Name: "strided", Attrs: inf, In: []*array.Array{g.Strided(g.Normal(3, 4)), g.Strided(g.Bool(3, 4))}},
			{Name: "special", Attrs: MaskedFillAttrs{op.Float(math.NaN())}, In: []*array.Array{g.Special(), g.Bool(15)}},
			{Name: "f16", Attrs: MaskedFillAttrs{op.Float(-1e4)}, In: []*array.Array{array.Cast(g.Normal(5), array.F16), g.Bool(5)}},
			{Name: "i64", Attrs: MaskedFillAttrs{op.Int(-1)}, In: []*array.Array{g.Int(9, 5), g.Bool(5)}},
			{Name: "bool", Attrs: MaskedFillAttrs{op.BoolScalar(true)}, In: []*array.Array{g.Bool(5), g.Bool(5)}},
		}
	},
	Bad: func(g *op.Gen) []op.BadSample {
		one := MaskedFillAttrs{op.Int(1)}
		return []op.BadSample{
			{Name: "mask", Attrs: one, In: []*array.Array{g.Normal(3), g.Int(2, 3)}, Code: op.DTypeMismatch},
			{Name: "beyond u8", Attrs: MaskedFillAttrs{op.Int(300)}, In: []*array.Array{array.New(array.U8, 3), g.Bool(3)}, Code: op.BadAttr},
			{Name: "beyond f32", Attrs: MaskedFillAttrs{op.Float(-1e300)}, In: []*array.Array{g.Normal(3), g.Bool(3)}, Code: op.BadAttr},
			{Name: "shapes", Attrs: one, In: []*array.Array{g.Normal(3), g.Bool(4)}, Code: op.ShapeMismatch},
			{Name: "no value", Attrs: MaskedFillAttrs{}, In: []*array.Array{g.Normal(3), g.Bool(3)}, Code: op.BadAttr},
			{Name: "fraction of i64", Attrs: MaskedFillAttrs{op.Float(0.5)}, In: []*array.Array{g.Int(9, 3), g.Bool(3)}, Code: op.BadAttr},
		}
	},
})
