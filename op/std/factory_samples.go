package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func fullSamples(*op.Gen) []op.Sample {
	return calls(FullAttrs{shape.ConstDims(2, 3), op.Float(1.5), 0}, FullAttrs{shape.ConstDims(), op.Int(7), 0}, FullAttrs{shape.ConstDims(4), op.BoolScalar(true), 0},
		FullAttrs{shape.ConstDims(0, 3), op.Float(1), 0}, FullAttrs{shape.ConstDims(3), op.Float(-2.75), array.I32}, FullAttrs{shape.ConstDims(3), op.Int(3), array.F16},
		FullAttrs{shape.ConstDims(1, 1, 2), op.Float(0.1), array.F64}, FullAttrs{shape.ConstDims(3), op.Int(-3), array.U8}, FullAttrs{shape.ConstDims(600), op.Float(2), array.BF16})
}

func fullBad(*op.Gen) []op.BadSample {
	return []op.BadSample{
		{Name: "negative size", Attrs: FullAttrs{shape.ConstDims(2, -1), op.Int(1), 0}, Code: op.BadAttr},
		{Name: "no value", Attrs: FullAttrs{Size: shape.ConstDims(2)}, Code: op.BadAttr},
		{Name: "beyond u8", Attrs: FullAttrs{shape.ConstDims(2), op.Int(300), array.U8}, Code: op.BadAttr},
		{Name: "NaN of i8", Attrs: FullAttrs{shape.ConstDims(2), op.Float(math.NaN()), array.I8}, Code: op.BadAttr},
		{Name: "beyond f16", Attrs: FullAttrs{shape.ConstDims(2), op.Float(65505), array.F16}, Code: op.BadAttr},
	}
}

func filledSamples(*op.Gen) []op.Sample { return calls(sizeAttrs(array.DTypes()...)...) }

func filledBad(*op.Gen) []op.BadSample {
	return []op.BadSample{{Name: "negative size", Attrs: SizeAttrs{Size: shape.ConstDims(-2)}, Code: op.BadAttr}}
}

func arangeSamples(*op.Gen) []op.Sample {
	c := shape.Const
	return calls(ArangeAttrs{End: c(5)}, ArangeAttrs{End: c(0)}, ArangeAttrs{End: c(10), Start: 1, Step: 3}, ArangeAttrs{End: c(-4), Start: 5, Step: -2},
		ArangeAttrs{End: c(4), DType: array.F32}, ArangeAttrs{End: c(600), DType: array.F16}, ArangeAttrs{End: c(9), Start: 2, DType: array.I32},
		ArangeAttrs{End: c(300), DType: array.U8}, ArangeAttrs{End: c(3), Start: 3, Step: 7}, ArangeAttrs{End: c(7), Step: 2, DType: array.F64})
}

func arangeBad(*op.Gen) []op.BadSample {
	return []op.BadSample{
		{Name: "away from end", Attrs: ArangeAttrs{End: shape.Const(2), Start: 5}, Code: op.BadAttr},
		{Name: "bool", Attrs: ArangeAttrs{End: shape.Const(2), DType: array.Bool}, Code: op.BadAttr},
	}
}

func linspaceSamples(*op.Gen) []op.Sample {
	return calls(LinspaceAttrs{0, 1, 5, 0}, LinspaceAttrs{-1, 1, 11, 0}, LinspaceAttrs{3, 3, 4, 0}, LinspaceAttrs{2, -2, 6, array.F64},
		LinspaceAttrs{0, 1, 0, 0}, LinspaceAttrs{4, 9, 1, 0}, LinspaceAttrs{0, 10, 7, array.I64}, LinspaceAttrs{0, 7.5, 7, array.I64}, LinspaceAttrs{-2.5, 2.5, 4, array.I16}, LinspaceAttrs{0, 1, 33, array.F16}, LinspaceAttrs{0, 1, 600, array.BF16})
}

func linspaceBad(*op.Gen) []op.BadSample {
	return []op.BadSample{
		{Name: "end beyond i8", Attrs: LinspaceAttrs{0, 300, 3, array.I8}, Code: op.BadAttr},
		{Name: "start beyond f32", Attrs: LinspaceAttrs{1e39, 3, 3, 0}, Code: op.BadAttr},
		{Name: "negative steps", Attrs: LinspaceAttrs{0, 1, -1, 0}, Code: op.BadAttr},
		{Name: "bool", Attrs: LinspaceAttrs{0, 1, 2, array.Bool}, Code: op.BadAttr},
	}
}

func eyeSamples(*op.Gen) []op.Sample {
	c := shape.Const
	return calls(EyeAttrs{N: c(3)}, EyeAttrs{N: c(2), M: c(4)}, EyeAttrs{N: c(4), M: c(2)}, EyeAttrs{N: c(0)}, EyeAttrs{N: c(1)},
		EyeAttrs{c(3), c(3), array.I64}, EyeAttrs{c(3), c(2), array.Bool}, EyeAttrs{c(30), c(0), array.F16})
}

func eyeBad(*op.Gen) []op.BadSample {
	return []op.BadSample{{Name: "negative size", Attrs: EyeAttrs{N: shape.Const(-1)}, Code: op.BadAttr}}
}

func triangleSamples(g *op.Gen) []op.Sample {
	in := func(a *array.Array) []*array.Array { return []*array.Array{a} }
	return []op.Sample{
		{Name: "square", Attrs: TriAttrs{}, In: in(g.Normal(4, 4))},
		{Name: "above", Attrs: TriAttrs{1}, In: in(g.Normal(3, 5))},
		{Name: "below", Attrs: TriAttrs{-2}, In: in(g.Normal(5, 3))},
		{Name: "batch", Attrs: TriAttrs{}, In: in(g.Normal(2, 3, 4, 4))},
		{Name: "far off", Attrs: TriAttrs{9}, In: in(g.Normal(2, 2))},
		{Name: "zero size", Attrs: TriAttrs{}, In: in(g.Normal(0, 3))},
		{Name: "strided", Attrs: TriAttrs{}, In: in(g.Strided(g.Normal(3, 4)))},
		{Name: "special", Attrs: TriAttrs{}, In: in(array.Reshape(g.Special(), 3, 5))},
		{Name: "i64", Attrs: TriAttrs{-1}, In: in(g.Int(9, 3, 3))},
		{Name: "bool", Attrs: TriAttrs{}, In: in(g.Bool(3, 3))},
		{Name: "f16", Attrs: TriAttrs{}, In: in(array.Cast(g.Normal(3, 3), array.F16))},
	}
}

func triangleBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{{Name: "vector", Attrs: TriAttrs{}, In: []*array.Array{g.Normal(3)}, Code: op.RankMismatch}}
}
