package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func cloneSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, op.None{}, 2, 3, 4),
		okCall("expanded", op.None{}, array.Expand(g.Normal(3, 1), 2, 3, 4)),
		okCall("zero size", op.None{}, g.Normal(0, 3)),
		okCall("0-dimensional", op.None{}, g.Normal()))
}

func cloneBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.OperandCount, "nothing", op.None{}),
		badCall(op.OperandCount, "two operands", op.None{}, g.Normal(2), g.Normal(2)),
	}
}

func copyBad(g *op.Gen) []op.BadSample {
	none := op.None{}
	return []op.BadSample{
		badCall(op.InPlaceType, "shape", none, g.Normal(2, 3), g.Normal(3, 2)),
		badCall(op.InPlaceType, "rank", none, g.Normal(2, 3), g.Normal(3)),
		badCall(op.InPlaceType, "no broadcasting", none, g.Normal(2, 3), g.Normal(2, 1)),
		badCall(op.InPlaceType, "f32 to i64", none, g.Int(9, 2), g.Normal(2)),
		badCall(op.InPlaceType, "f16 to bool", none, g.Bool(2), array.Cast(g.Normal(2), array.F16)),
	}
}

func copySamples(g *op.Gen) []op.Sample {
	none, cast := op.None{}, array.Cast
	var all []op.Sample
	for _, s := range moveCalls(g, none, 2, 3, 4) {
		all = append(all, okCall(s.Name, none, cast(g.Int(2, 2, 3, 4), s.In[0].DType()), s.In[0]))
	}
	return append(all,
		okCall("f32 to f64", none, cast(g.Normal(2, 3), array.F64), g.Normal(2, 3)),
		okCall("f64 to f16", none, cast(g.Normal(2, 3), array.F16), cast(g.Normal(2, 3), array.F64)),
		okCall("i64 to f32", none, g.Normal(2, 3), g.Int(1000, 2, 3)),
		okCall("i64 to u8", none, cast(g.Int(9, 40), array.U8), g.Int(1000, 40)),
		okCall("i64 to bool", none, g.Bool(2, 3), g.Int(3, 2, 3)),
		okCall("bool to f32", none, g.Normal(2, 3), g.Bool(2, 3)),
		okCall("expanded", none, g.Strided(g.Normal(2, 3)), array.Expand(g.Normal(3), 2, 3)),
		okCall("zero size", none, g.Normal(0, 3), g.Int(2, 0, 3)),
		okCall("0-dimensional", none, g.Normal(), g.Normal()))
}
