package std

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// LerpAttrs are the attributes of lerp: Weight stands for the operand weight.
type LerpAttrs struct {
	Weight op.Scalar `fx:",lift"`
}

// Lerp interpolates from the nearer end, so that weight 1 gives end exactly.
//
//gofx:torch torch.lerp(x, end, weight)
var Lerp = op.Define("lerp", op.Spec[LerpAttrs]{
	Differs: []op.Difference[LerpAttrs]{
		{Kind: op.Alters, Text: "a weight of -0.5 and less counts from end, too, as in PyTorch since 2.0, which shows where the operands are not finite", When: func(a LerpAttrs, in []*array.Array) bool {
			return slices.ContainsFunc(in, huge)
		}},
		departs[LerpAttrs](op.Extends, "operands of different element types, which are promoted", mixed),
	},
	Doc: "lerp is x + weight * (end - x), the linear interpolation from x to end.", In: op.Args("x", "end", "weight?"), InPlace: true,
	Expr: func(b *expr.Builder, a LerpAttrs, x []expr.Value) []expr.Value {
		d := x[0].DType()
		onFloats.require(d)
		if has(x[2]) == a.Weight.Present() {
			refuse(op.OperandCount, "operand weight and the number weight are both given or both missing, expected one of them", "give a tensor or a number")
		}
		from, to := b.Widen(x[0]), b.Widen(x[1])
		var w expr.Value
		if has(x[2]) {
			w = b.Widen(x[2])
		} else {
			w = number(b, from.DType(), "weight", a.Weight)
		}
		span := b.Sub(to, from)
		up := b.Add(from, b.Mul(w, span))
		down := b.Sub(to, b.Mul(span, b.Sub(b.Like(w, 1), w)))
		return []expr.Value{b.Cast(b.Select(b.Lt(b.Abs(w), b.Like(w, 0.5)), up, down), d)}
	},
	Samples: lerpSamples,
	Bad:     lerpBad,
})

// AddcAttrs are the attributes of addcmul and addcdiv. An absent Value is 1.
type AddcAttrs struct {
	Value op.Scalar `fx:",lift"`
}

// addc defines x + value * f(tensor1, tensor2), where value goes to tensor1 first:
// what overflows follows from that.
func addc(name, doc string, on domain, f func(b *expr.Builder, x, y expr.Value) expr.Value) *op.Op {
	return op.Define(name, op.Spec[AddcAttrs]{
		Differs: []op.Difference[AddcAttrs]{departs[AddcAttrs](op.Alters, "a product or quotient that overflows is infinite before it is added, where PyTorch's compiler may fuse the two", func(in []*array.Array) bool {
			return slices.ContainsFunc(in, huge)
		}), departs[AddcAttrs](op.Extends, "tensor1 and tensor2 of bool or integers with an x of floats", func(in []*array.Array) bool {
			return !floats(in[1:]...)
		}), refusesFraction("value", func(a AddcAttrs) []op.Scalar { return []op.Scalar{a.Value} })},
		Doc: doc, In: op.Args("x", "tensor1", "tensor2"), InPlace: true,
		Expr: func(b *expr.Builder, a AddcAttrs, x []expr.Value) []expr.Value {
			d := x[0].DType()
			on.require(d)
			l, r := b.Widen(x[1]), b.Widen(x[2])
			if a.Value.Present() {
				if a.Value.IsFloat() && !d.IsFloat() {
					refuse(op.BadAttr, "value is "+a.Value.String()+" for "+d.String()+" operands, expected an integer", "cast the operands to a floating-point type")
				}
				l = b.Mul(number(b, l.DType(), "value", a.Value), l)
			}
			return []expr.Value{b.Cast(b.Add(b.Widen(x[0]), f(b, l, r)), d)}
		},
		Samples: func(g *op.Gen) []op.Sample {
			none, half, cast := AddcAttrs{}, AddcAttrs{op.Float(0.5)}, array.Cast
			all := []op.Sample{
				{Name: "equal shapes", Attrs: none, In: []*array.Array{g.Normal(2, 3), g.Normal(2, 3), g.Uniform(1, 2, 2, 3)}},
				{Name: "value", Attrs: half, In: []*array.Array{g.Normal(2, 3), g.Normal(2, 3), g.Uniform(1, 2, 2, 3)}},
				{Name: "broadcast", Attrs: half, In: []*array.Array{g.Normal(4, 1, 1), g.Normal(3, 1), g.Uniform(1, 2, 5)}},
				{Name: "zero size", Attrs: none, In: []*array.Array{g.Normal(0, 3), g.Normal(3), g.Normal()}},
				{Name: "strided", Attrs: half, In: []*array.Array{g.Strided(g.Normal(2, 3)), g.Normal(2, 3), g.Strided(g.Uniform(1, 2, 2, 3))}},
				{Name: "special", Attrs: none, In: []*array.Array{g.Normal(15), g.Special(), g.Normal(15)}},
				{Name: "value first", Attrs: AddcAttrs{op.Float(1e-30)}, In: []*array.Array{g.Normal(3),
					array.FromSlice([]float32{1e30, 3e30, -1e38}), array.FromSlice([]float32{1e30, 1e-20, 1e-20})}},
				{Name: "f64", Attrs: half, In: []*array.Array{cast(g.Normal(5), array.F64), cast(g.Normal(5), array.F64), cast(g.Uniform(1, 2, 5), array.F64)}},
				{Name: "bf16", Attrs: half, In: []*array.Array{cast(g.Normal(5), array.BF16), cast(g.Normal(5), array.BF16), cast(g.Uniform(1, 2, 5), array.BF16)}},
			}
			if on.int {
				all = append(all, op.Sample{Name: "i64", Attrs: AddcAttrs{op.Int(3)}, In: []*array.Array{g.Int(9, 5), g.Int(9, 5), g.Int(9, 5)}})
			}
			return all
		},
		Bad: addcBad,
	})
}

// Sums with a product or a quotient.
var (
	//gofx:torch torch.addcmul(x, tensor1, tensor2, value=given(value, 1))
	Addcmul = addc("addcmul", "addcmul is x + value * tensor1 * tensor2.", onNumbers, (*expr.Builder).Mul)
	//gofx:torch torch.addcdiv(x, tensor1, tensor2, value=given(value, 1))
	Addcdiv = addc("addcdiv", "addcdiv is x + value * tensor1 / tensor2.", onFloats, (*expr.Builder).Div)
)

// NanToNumAttrs are the attributes of nan_to_num: the replacements of NaN
// (absent: 0), of infinity and of minus infinity (absent: the largest and the
// least finite number of the element type).
type NanToNumAttrs struct {
	Nan    op.Scalar
	Posinf op.Scalar
	Neginf op.Scalar
}

// NanToNum makes every element finite; integers and bool stay as they are.
//
//gofx:torch torch.nan_to_num(x, nan, posinf, neginf)
var NanToNum = op.Define("nan_to_num", op.Spec[NanToNumAttrs]{
	Doc: "nan_to_num replaces NaN and the infinities by numbers.", In: op.Args("x"), InPlace: true,
	Infer: func(_ *op.Infer, _ NanToNumAttrs, in []shape.Type) (shape.Type, error) { return in[0], nil },
	Expr: func(b *expr.Builder, a NanToNumAttrs, x []expr.Value) []expr.Value {
		v, d := x[0], x[0].DType()
		if !d.IsFloat() {
			return x
		}
		or := func(s op.Scalar, def float64) expr.Value {
			if s.Present() {
				return converted(b, d, s)
			}
			return b.Const(d, def)
		}
		y := b.Select(b.Eq(v, b.Const(d, math.Inf(-1))), or(a.Neginf, -largest(d)), v)
		y = b.Select(b.Eq(v, b.Const(d, math.Inf(1))), or(a.Posinf, largest(d)), y)
		return []expr.Value{b.Select(b.IsNaN(v), or(a.Nan, 0), y)}
	},
	Samples: nanToNumSamples,
	Bad:     nanToNumBad,
})
