package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func nonzeroSamples(g *op.Gen) []op.Sample {
	return append(reduceTypes(g, nil, true),
		okCall("bool", nil, g.Bool(3, 4)), okCall("special values", nil, g.Special()),
		okCall("none", nil, array.New(array.F32, 2, 3)), okCall("strided", nil, g.Strided(g.Int(2, 3, 4))),
		okCall("zero size", nil, g.Normal(0, 3)), okCall("0-dimensional", nil, g.Normal()))
}

func nonzeroBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{badCall(op.OperandCount, "two operands", nil, g.Normal(2), g.Normal(2))}
}

func uniqueSamples(g *op.Gen) []op.Sample {
	flat := UniqueAttrs{Flat: true}
	rows := array.FromSlice([]float32{2, 1, 0, 3, 2, 1, 0, 3, 1, 1}, 5, 2)
	return []op.Sample{
		okCall("elements", flat, g.Int(4, 3, 5)), okCall("first appearance", UniqueAttrs{Flat: true, Unsorted: true}, g.Int(4, 12)),
		okCall("rows", UniqueAttrs{}, rows), okCall("rows by appearance", UniqueAttrs{Unsorted: true}, rows),
		okCall("negative axis", UniqueAttrs{Dim: -1}, g.Int(2, 2, 3, 6)),
		okCall("strided", flat, g.Strided(g.Int(3, 3, 4))), okCall("bool", flat, g.Bool(7)),
		okCall("zero size", flat, g.Normal(0, 3)), okCall("0-dimensional", flat, g.Normal()), okCall("f16", flat, array.Cast(g.Int(3, 9), array.F16)),
	}
}

func uniqueBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{badCall(op.BadAxis, "axis", UniqueAttrs{Dim: 2}, g.Normal(2, 3)), badCall(op.BadAxis, "0-dimensional", UniqueAttrs{}, g.Normal())}
}

func nonMaxSuppressionSamples(g *op.Gen) []op.Sample {
	boxes, scores := g.Uniform(0, 1, 2, 9, 4), g.Uniform(0, 1, 2, 3, 9)
	at := func(most int, overlap float64) NonMaxSuppressionAttrs {
		return NonMaxSuppressionAttrs{Most: most, Overlap: overlap}
	}
	scored := at(9, 0.2)
	scored.Score, scored.Center = op.Float(0.4), true
	return []op.Sample{
		okCall("few", at(2, 0.1), boxes, scores), okCall("all", at(9, 1), boxes, scores), okCall("apart", at(9, 0), boxes, scores),
		okCall("scores, middles", scored, boxes, scores), okCall("none", at(0, 0.5), boxes, scores),
		okCall("strided", at(3, 0.3), g.Strided(boxes), g.Strided(scores)), okCall("equal scores", at(3, 0.3), boxes, array.New(array.F32, 2, 1, 9)),
		okCall("no boxes", at(3, 0.3), array.New(array.F32, 2, 0, 4), array.New(array.F32, 2, 3, 0)),
		okCall("f16", at(3, 0.3), array.Cast(boxes, array.F16), array.Cast(scores, array.F16)),
		okCall("no number", at(9, 1), boxes, withNaN(scores)),
	}
}

func nonMaxSuppressionBad(g *op.Gen) []op.BadSample {
	a := NonMaxSuppressionAttrs{Most: 1}
	return []op.BadSample{
		badCall(op.RankMismatch, "rank", a, g.Normal(9, 4), g.Normal(1, 1, 9)), badCall(op.ShapeMismatch, "corners", a, g.Normal(1, 9, 3), g.Normal(1, 1, 9)),
		badCall(op.ShapeMismatch, "boxes", a, g.Normal(1, 9, 4), g.Normal(1, 1, 8)), badCall(op.DTypeMismatch, "integers", a, g.Int(3, 1, 9, 4), g.Normal(1, 1, 9)),
		badCall(op.BadAttr, "most", NonMaxSuppressionAttrs{Most: -1}, g.Normal(1, 9, 4), g.Normal(1, 1, 9)),
	}
}

func nonMaxSuppressionLimitsSamples(g *op.Gen) []op.Sample {
	boxes, scores := g.Uniform(0, 1, 2, 9, 4), g.Uniform(0, 1, 2, 3, 9)
	i64 := func(n int64) *array.Array { return array.FromSlice([]int64{n}, 1) }
	f32 := func(f float32) *array.Array { return array.FromSlice([]float32{f}, 1) }
	a, middles := NonMaxSuppressionLimitsAttrs{}, NonMaxSuppressionLimitsAttrs{Center: true}
	return []op.Sample{
		okCall("few", a, boxes, scores, i64(2), f32(0.1)), okCall("all", a, boxes, scores, i64(9), f32(1)),
		okCall("scores", a, boxes, scores, i64(9), f32(0.2), f32(0.4)), okCall("middles", middles, boxes, scores, i64(9), f32(0.2), f32(0.4)),
		okCall("none", a, boxes, scores, i64(0), f32(0.5)), okCall("below none", a, boxes, scores, i64(-3), f32(0.5), f32(0)),
		okCall("scalars", a, boxes, scores, array.Scalar(int32(3)), array.Scalar(float32(0.3)), array.Scalar(float32(0.1))),
		okCall("strided", a, g.Strided(boxes), g.Strided(scores), i64(3), f32(0.3)),
		okCall("no boxes", a, array.New(array.F32, 2, 0, 4), array.New(array.F32, 2, 3, 0), i64(3), f32(0.3), f32(0)),
		okCall("f16", a, array.Cast(boxes, array.F16), array.Cast(scores, array.F16), i64(3), f32(0.3)),
		okCall("no number", a, boxes, withNaN(scores), i64(9), f32(1), f32(0)),
	}
}

func nonMaxSuppressionLimitsBad(g *op.Gen) []op.BadSample {
	a, boxes, scores, n, f := NonMaxSuppressionLimitsAttrs{}, g.Normal(1, 9, 4), g.Normal(1, 1, 9), g.Int(3, 1), g.Normal(1)
	return []op.BadSample{
		badCall(op.RankMismatch, "rank", a, g.Normal(9, 4), scores, n, f), badCall(op.ShapeMismatch, "boxes", a, boxes, g.Normal(1, 1, 8), n, f),
		badCall(op.DTypeMismatch, "most", a, boxes, scores, f, f), badCall(op.DTypeMismatch, "overlap", a, boxes, scores, n, n), badCall(op.DTypeMismatch, "score", a, boxes, scores, n, f, n),
		badCall(op.ShapeMismatch, "two overlaps", a, boxes, scores, n, g.Normal(2)), badCall(op.RankMismatch, "matrix", a, boxes, scores, g.Int(3, 1, 1), f),
	}
}

func sizedSamples(g *op.Gen) []op.Sample {
	of := func(name string, n ...int64) op.Sample { return okCall(name, nil, array.FromSlice(n, len(n))) }
	return []op.Sample{
		of("one", 3), of("two", 2, 5), of("zero", 0), of("zero among others", 4, 0, 1), of("equal", 7, 7), of("many", 1, 2, 3, 4, 5, 6),
		okCall("i32", nil, array.FromSlice([]int32{6, 1}, 2)), okCall("strided", nil, g.Strided(array.FromSlice([]int64{3, 1, 2}, 3))), okCall("no size", nil, array.New(array.I64, 0)),
	}
}

func sizedBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.RankMismatch, "scalar", nil, array.Scalar(int64(3))), badCall(op.DTypeMismatch, "floats", nil, g.Normal(3)),
		badCall(op.BadAttr, "many", nil, array.New(array.I64, mostSizedAxes+1)),
	}
}

func rangeSamples(g *op.Gen) []op.Sample {
	as := func(name string, d array.DType, v ...float64) op.Sample {
		in := make([]*array.Array, 3)
		for i := range in {
			in[i] = array.Cast(array.Scalar(v[i]), d)
		}
		return okCall(name, nil, in...)
	}
	return []op.Sample{
		as("up", array.I64, 2, 11, 3), as("down", array.I32, 10, -3, -4), as("up to a step", array.I64, 0, 9, 3), as("one", array.I64, 4, 5, 9),
		as("none", array.I64, 5, 5, 1), as("other way", array.I64, 5, 9, -1), as("floats", array.F32, 1, 2.5, 0.25), as("floats down", array.F64, 1, -1, -0.3), as("other way of floats", array.F32, 1, 0, 1),
	}
}

func rangeBad(g *op.Gen) []op.BadSample {
	one, two := g.Normal(), array.Scalar(int64(2))
	return []op.BadSample{badCall(op.DTypeMismatch, "types", nil, one, two, two), badCall(op.RankMismatch, "vector", nil, one, one, g.Normal(2)), badCall(op.OperandCount, "two operands", nil, one, one)}
}
