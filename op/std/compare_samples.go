package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func logicalSamples(g *op.Gen) []op.Sample {
	all := binarySamples(g, onAny, func(op.Scalar, bool) any { return op.None{} })
	return tensorPairs(all)
}

func logicalBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		{Name: "shapes", Attrs: op.None{}, In: []*array.Array{g.Bool(2, 3), g.Bool(4)}, Code: op.ShapeMismatch},
		{Name: "one operand", Attrs: op.None{}, In: []*array.Array{g.Bool(2)}, Code: op.OperandCount},
	}
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

func whereBad(g *op.Gen) []op.BadSample {
	none := WhereAttrs{}
	return []op.BadSample{
		{Name: "integer condition", Attrs: none, In: []*array.Array{g.Int(2, 3), g.Normal(3), g.Normal(3)}, Code: op.DTypeMismatch},
		{Name: "float condition", Attrs: none, In: []*array.Array{g.Normal(3), g.Normal(3), g.Normal(3)}, Code: op.DTypeMismatch},
		{Name: "no other", Attrs: none, In: []*array.Array{g.Bool(3), g.Normal(3)}, Code: op.OperandCount},
		{Name: "two others", Attrs: WhereAttrs{op.Int(1)}, In: []*array.Array{g.Bool(3), g.Normal(3), g.Normal(3)}, Code: op.OperandCount},
		{Name: "number beyond i8", Attrs: WhereAttrs{op.Int(300)}, In: []*array.Array{g.Bool(3), array.New(array.I8, 3)}, Code: op.BadAttr},
		{Name: "shapes", Attrs: none, In: []*array.Array{g.Bool(3), g.Normal(3), g.Normal(4)}, Code: op.ShapeMismatch},
	}
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

func maskedFillSamples(g *op.Gen) []op.Sample {
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
}

func maskedFillBad(g *op.Gen) []op.BadSample {
	one := MaskedFillAttrs{op.Int(1)}
	return []op.BadSample{
		{Name: "mask", Attrs: one, In: []*array.Array{g.Normal(3), g.Int(2, 3)}, Code: op.DTypeMismatch},
		{Name: "beyond u8", Attrs: MaskedFillAttrs{op.Int(300)}, In: []*array.Array{array.New(array.U8, 3), g.Bool(3)}, Code: op.BadAttr},
		{Name: "beyond f32", Attrs: MaskedFillAttrs{op.Float(-1e300)}, In: []*array.Array{g.Normal(3), g.Bool(3)}, Code: op.BadAttr},
		{Name: "shapes", Attrs: one, In: []*array.Array{g.Normal(3), g.Bool(4)}, Code: op.ShapeMismatch},
		{Name: "no value", Attrs: MaskedFillAttrs{}, In: []*array.Array{g.Normal(3), g.Bool(3)}, Code: op.BadAttr},
		{Name: "fraction of i64", Attrs: MaskedFillAttrs{op.Float(0.5)}, In: []*array.Array{g.Int(9, 3), g.Bool(3)}, Code: op.BadAttr},
	}
}
