package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func detSamples(g *op.Gen) []op.Sample {
	x := g.Normal(2, 3, 4, 4)
	return []op.Sample{
		okCall("batch", op.None{}, x),
		okCall("one matrix", op.None{}, g.Normal(5, 5)),
		okCall("one element", op.None{}, g.Normal(3, 1, 1)),
		okCall("no element", op.None{}, g.Normal(3, 0, 0)),
		okCall("no matrix", op.None{}, g.Normal(0, 3, 3)),
		okCall("strided", op.None{}, g.Strided(x)),
		okCall("f64", op.None{}, array.Cast(x, array.F64)),
		okCall("f16", op.None{}, array.Cast(g.Normal(2, 2, 2), array.F16)),
		okCall("pivots", op.None{}, array.FromSlice([]float32{0, 2, 1, 3, 0, 1, 1, 1, 0}, 3, 3)),
		okCall("singular", op.None{}, array.FromSlice([]float32{1, 2, 2, 4}, 2, 2)),
	}
}

func detBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.RankMismatch, "rank", op.None{}, g.Normal(4)),
		badCall(op.ShapeMismatch, "not square", op.None{}, g.Normal(2, 3, 4)),
		badCall(op.DTypeMismatch, "integers", op.None{}, g.Int(5, 3, 3)),
	}
}

func inverseSamples(g *op.Gen) []op.Sample {
	x := regular(g.Normal(2, 3, 4, 4))
	return []op.Sample{
		okCall("batch", op.None{}, x),
		okCall("one matrix", op.None{}, regular(g.Normal(5, 5))),
		okCall("one element", op.None{}, regular(g.Normal(3, 1, 1))),
		okCall("no element", op.None{}, g.Normal(3, 0, 0)),
		okCall("no matrix", op.None{}, g.Normal(0, 3, 3)),
		okCall("strided", op.None{}, g.Strided(x)),
		okCall("f64", op.None{}, array.Cast(x, array.F64)),
		okCall("f16", op.None{}, array.Cast(regular(g.Normal(2, 2, 2)), array.F16)),
		okCall("pivots", op.None{}, array.FromSlice([]float32{0, 2, 1, 3, 0, 1, 1, 1, 0}, 3, 3)),
		okCall("blocks", op.None{}, regular(g.Normal(40, 40))),
	}
}

func inverseBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.RankMismatch, "rank", op.None{}, g.Normal(4)),
		badCall(op.ShapeMismatch, "not square", op.None{}, g.Normal(2, 3, 4)),
		badCall(op.DTypeMismatch, "integers", op.None{}, g.Int(5, 3, 3)),
	}
}

func bitcastSamples(g *op.Gen) []op.Sample {
	call := func(name string, d array.DType, x *array.Array) op.Sample {
		return op.Sample{Name: name, Attrs: BitcastAttrs{d}, In: []*array.Array{x}}
	}
	return []op.Sample{
		call("f32 to i32", array.I32, g.Normal(3, 4)),
		call("i32 to f32", array.F32, array.Cast(g.Int(1<<30, 3), array.I32)),
		call("i64 to f64", array.F64, g.Int(1<<40, 3)),
		call("f64 to i64", array.I64, array.Cast(g.Special(), array.F64)),
		call("f16 to i16", array.I16, array.Cast(g.Normal(5), array.F16)),
		call("u8 to i8", array.I8, array.Cast(g.Int(256, 7), array.U8)),
		call("u8 to f8e4m3fn", array.F8E4M3FN, array.Cast(g.Int(256, 7), array.U8)),
		call("f8e5m2 to i8", array.I8, array.Cast(g.Normal(3, 5), array.F8E5M2)),
		call("the same", array.F32, g.Special()),
		call("strided", array.I32, g.Strided(g.Normal(3, 4))),
		call("0-dimensional", array.I32, g.Normal()),
		call("zero size", array.I32, g.Normal(0, 4)),
	}
}

func bitcastBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAttr, "no type", BitcastAttrs{}, g.Normal(3)),
		badCall(op.BadAttr, "to i4", BitcastAttrs{array.I4}, array.Cast(g.Int(2, 3), array.U8)),
		badCall(op.DTypeMismatch, "u4", BitcastAttrs{array.U8}, array.Cast(g.Int(2, 3), array.U4)),
		badCall(op.BadAttr, "to bool", BitcastAttrs{array.Bool}, array.Cast(g.Int(2, 3), array.U8)),
		badCall(op.DTypeMismatch, "size", BitcastAttrs{array.I64}, g.Normal(3)),
		badCall(op.DTypeMismatch, "bool", BitcastAttrs{array.U8}, g.Bool(3)),
	}
}
