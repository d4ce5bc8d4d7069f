package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func lerpSamples(g *op.Gen) []op.Sample {
	none := LerpAttrs{}
	cast := array.Cast
	return []op.Sample{
		{Name: "number", Attrs: LerpAttrs{op.Float(0.25)}, In: []*array.Array{g.Normal(2, 3), g.Normal(3)}},
		{Name: "near end", Attrs: LerpAttrs{op.Float(0.9)}, In: []*array.Array{g.Normal(2, 3), g.Normal(2, 3)}},
		{Name: "tensor", Attrs: none, In: []*array.Array{g.Normal(2, 3), g.Normal(2, 3), g.Uniform(0, 1, 3)}},
		{Name: "broadcast", Attrs: none, In: []*array.Array{g.Normal(4, 1, 1), g.Normal(3, 1), g.Uniform(-1, 2, 5)}},
		{Name: "zero size", Attrs: none, In: []*array.Array{g.Normal(0, 3), g.Normal(3), g.Normal()}},
		{Name: "strided", Attrs: LerpAttrs{op.Int(1)}, In: []*array.Array{g.Strided(g.Normal(2, 3)), g.Strided(g.Normal(2, 3))}},
		{Name: "special", Attrs: LerpAttrs{op.Float(0.5)}, In: []*array.Array{g.Special(), g.Normal(15)}},
		{Name: "f64", Attrs: LerpAttrs{op.Float(0.3)}, In: []*array.Array{cast(g.Normal(5), array.F64), cast(g.Normal(5), array.F64)}},
		{Name: "f16", Attrs: LerpAttrs{op.Float(0.3)}, In: []*array.Array{cast(g.Normal(5), array.F16), cast(g.Normal(5), array.F16)}},
	}
}

func lerpBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		{Name: "no weight", Attrs: LerpAttrs{}, In: []*array.Array{g.Normal(3), g.Normal(3)}, Code: op.OperandCount},
		{Name: "two weights", Attrs: LerpAttrs{op.Int(1)}, In: []*array.Array{g.Normal(3), g.Normal(3), g.Normal(3)}, Code: op.OperandCount},
		{Name: "weight beyond f32", Attrs: LerpAttrs{op.Float(1e39)}, In: []*array.Array{g.Normal(3), g.Normal(3)}, Code: op.BadAttr},
		{Name: "i64", Attrs: LerpAttrs{op.Int(1)}, In: []*array.Array{g.Int(3, 3), g.Int(3, 3)}, Code: op.DTypeMismatch},
		{Name: "shapes", Attrs: LerpAttrs{op.Int(1)}, In: []*array.Array{g.Normal(3), g.Normal(4)}, Code: op.ShapeMismatch},
	}
}

func addcBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		{Name: "bool", Attrs: AddcAttrs{}, In: []*array.Array{g.Bool(3), g.Bool(3), g.Bool(3)}, Code: op.DTypeMismatch},
		{Name: "shapes", Attrs: AddcAttrs{}, In: []*array.Array{g.Normal(3), g.Normal(4), g.Normal(3)}, Code: op.ShapeMismatch},
		{Name: "value beyond f32", Attrs: AddcAttrs{op.Float(1e300)}, In: []*array.Array{g.Normal(3), g.Normal(3), g.Normal(3)}, Code: op.BadAttr},
		{Name: "two operands", Attrs: AddcAttrs{}, In: []*array.Array{g.Normal(3), g.Normal(3)}, Code: op.OperandCount},
	}
}

func nanToNumSamples(g *op.Gen) []op.Sample {
	return unarySamples(g, onAny, []NanToNumAttrs{{}, {Nan: op.Float(7)}, {op.Int(-1), op.Int(10), op.Float(-10.5)}})
}

func nanToNumBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{{Name: "two operands", Attrs: NanToNumAttrs{}, In: []*array.Array{g.Normal(2), g.Normal(2)}, Code: op.OperandCount}}
}
