package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func catSamples(g *op.Gen) []op.Sample {
	x := g.Normal(2, 3)
	return []op.Sample{
		okCall("two", DimAttrs{1}, x, g.Normal(2, 4)),
		okCall("one", DimAttrs{0}, x),
		okCall("three, negative axis", DimAttrs{-2}, x, g.Normal(1, 3), g.Normal(4, 3)),
		okCall("strided", DimAttrs{1}, g.Strided(x), g.Strided(g.Normal(2, 5))),
		okCall("special values", DimAttrs{0}, g.Special(), g.Special()),
		okCall("same operand twice", DimAttrs{0}, x, x),
		okCall("i64", DimAttrs{1}, g.Int(9, 2, 3, 4), g.Int(9, 2, 1, 4)),
		okCall("bool", DimAttrs{0}, g.Bool(3), g.Bool(2)),
		okCall("f64", DimAttrs{0}, array.Cast(x, array.F64), array.Cast(x, array.F64)),
		okCall("f16", DimAttrs{0}, array.Cast(x, array.F16), array.Cast(x, array.F16)),
		okCall("zero size", DimAttrs{0}, g.Normal(0, 3), x),
		okCall("empty vector beside a matrix", DimAttrs{0}, g.Normal(0), x),
		okCall("empty vectors", DimAttrs{0}, g.Normal(0), g.Normal(0)),
	}
}

func catBad(g *op.Gen) []op.BadSample {
	x := g.Normal(2, 3)
	return []op.BadSample{
		badCall(op.OperandCount, "nothing", DimAttrs{0}),
		badCall(op.ShapeMismatch, "sizes", DimAttrs{0}, x, g.Normal(2, 4)),
		badCall(op.RankMismatch, "ranks", DimAttrs{0}, x, g.Normal(3)),
		badCall(op.DTypeMismatch, "types", DimAttrs{0}, x, g.Int(3, 2, 3)),
		badCall(op.BadAxis, "axis", DimAttrs{2}, x, x),
		badCall(op.BadAxis, "0-dimensional", DimAttrs{0}, g.Normal(), g.Normal()),
	}
}

func stackSamples(g *op.Gen) []op.Sample {
	x := g.Normal(2, 3)
	return []op.Sample{
		okCall("two", DimAttrs{0}, x, g.Normal(2, 3)),
		okCall("one", DimAttrs{1}, x),
		okCall("last axis", DimAttrs{-1}, x, g.Normal(2, 3), g.Normal(2, 3)),
		okCall("strided", DimAttrs{1}, g.Strided(x), x),
		okCall("0-dimensional", DimAttrs{0}, g.Normal(), g.Normal()),
		okCall("special values", DimAttrs{1}, g.Special(), g.Special()),
		okCall("i64", DimAttrs{2}, g.Int(9, 2, 3), g.Int(9, 2, 3)),
		okCall("f16", DimAttrs{0}, array.Cast(x, array.F16), array.Cast(x, array.F16)),
		okCall("zero size", DimAttrs{0}, g.Normal(0, 3), g.Normal(0, 3)),
		okCall("empty vectors", DimAttrs{0}, g.Normal(0), g.Normal(0)),
	}
}

func stackBad(g *op.Gen) []op.BadSample {
	x := g.Normal(2, 3)
	return []op.BadSample{
		badCall(op.OperandCount, "nothing", DimAttrs{0}),
		badCall(op.ShapeMismatch, "sizes", DimAttrs{0}, x, g.Normal(2, 4)),
		badCall(op.RankMismatch, "ranks", DimAttrs{0}, x, g.Normal(2)),
		badCall(op.DTypeMismatch, "types", DimAttrs{0}, x, g.Int(3, 2, 3)),
		badCall(op.BadAxis, "axis", DimAttrs{3}, x, x),
	}
}

func tileSamples(g *op.Gen) []op.Sample {
	r := func(n ...int) TileAttrs { return TileAttrs{shape.ConstDims(n...)} }
	return append(moveCalls(g, r(2, 3), 2, 3, 4),
		okCall("new dimensions", r(2, 1, 2), g.Normal(3)),
		okCall("zero times", r(0, 2), g.Normal(2, 3)),
		okCall("zero size", r(2, 2), g.Normal(0, 3)),
		okCall("0-dimensional", r(3), g.Normal()))
}

func tileBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{badCall(op.BadAttr, "negative", TileAttrs{shape.ConstDims(-1)}, g.Normal(2))}
}

func repeatSamples(g *op.Gen) []op.Sample {
	r := func(n ...int) RepeatAttrs { return RepeatAttrs{shape.ConstDims(n...)} }
	return append(moveCalls(g, r(1, 2, 3), 2, 3, 4),
		okCall("new dimensions", r(2, 1, 2), g.Normal(3)),
		okCall("zero times", r(0, 2), g.Normal(2, 3)),
		okCall("zero size", r(2, 2), g.Normal(0, 3)),
		okCall("0-dimensional", r(3), g.Normal()))
}

func repeatBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAttr, "negative", RepeatAttrs{shape.ConstDims(-1)}, g.Normal(2)),
		badCall(op.BadAttr, "too few", RepeatAttrs{shape.ConstDims(2)}, g.Normal(2, 3)),
	}
}

func repeatInterleaveSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, RepeatInterleaveAttrs{2, 1}, 2, 3, 4),
		okCall("negative axis", RepeatInterleaveAttrs{3, -1}, g.Normal(2, 3)),
		okCall("zero times", RepeatInterleaveAttrs{0, 0}, g.Normal(2, 3)),
		okCall("zero size", RepeatInterleaveAttrs{2, 1}, g.Normal(0, 3)))
}

func repeatInterleaveBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAttr, "negative", RepeatInterleaveAttrs{-1, 0}, g.Normal(2)),
		badCall(op.BadAxis, "axis", RepeatInterleaveAttrs{2, 1}, g.Normal(2)),
	}
}
