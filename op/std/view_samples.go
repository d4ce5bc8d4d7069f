package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// okCall makes a sample.
func okCall(name string, attrs any, in ...*array.Array) op.Sample {
	return op.Sample{Name: name, Attrs: attrs, In: in}
}

// badCall makes a sample that the type rule refuses.
func badCall(code diag.Code, name string, attrs any, in ...*array.Array) op.BadSample {
	return op.BadSample{Name: name, Attrs: attrs, In: in, Code: code}
}

// specials returns an f32 array of the given shape that repeats g.Special.
func specials(g *op.Gen, dims ...int) *array.Array {
	from, to := array.Data[float32](g.Special()), array.New(array.F32, dims...)
	for i, d := 0, array.Data[float32](to); i < len(d); i++ {
		d[i] = from[i%len(from)]
	}
	return to
}

// moveCalls samples an operator that moves elements of any type: one operand of
// the given shape in several types and layouts.
func moveCalls(g *op.Gen, attrs any, dims ...int) []op.Sample {
	return []op.Sample{
		okCall("f32", attrs, g.Normal(dims...)),
		okCall("strided", attrs, g.Strided(g.Normal(dims...))),
		okCall("special values", attrs, specials(g, dims...)),
		okCall("f64", attrs, array.Cast(g.Normal(dims...), array.F64)),
		okCall("f16", attrs, array.Cast(g.Normal(dims...), array.F16)),
		okCall("i64", attrs, g.Int(100, dims...)),
		okCall("bool", attrs, g.Bool(dims...)),
	}
}

func reshapeSamples(g *op.Gen) []op.Sample {
	to := func(n ...int) ReshapeAttrs { return ReshapeAttrs{shape.ConstDims(n...)} }
	return append(moveCalls(g, to(6, -1), 2, 3, 4),
		okCall("all sizes", to(4, 6), g.Normal(2, 3, 4)),
		okCall("zero size", to(3, 0, 2), g.Normal(0, 5)),
		okCall("zero size with -1", to(-1, 5), g.Normal(0, 5)),
		okCall("to 0-dimensional", to(), g.Normal(1, 1)),
		okCall("from 0-dimensional", to(1, -1), g.Normal()))
}

func reshapeBad(g *op.Gen) []op.BadSample {
	to := func(n ...int) ReshapeAttrs { return ReshapeAttrs{shape.ConstDims(n...)} }
	return []op.BadSample{
		badCall(op.BadReshape, "count", to(5, 2), g.Normal(3, 4)),
		badCall(op.BadReshape, "no multiple", to(-1, 5), g.Normal(3, 4)),
		badCall(op.BadReshape, "-1 beside 0", to(0, -1), g.Normal(0, 4)),
		badCall(op.BadAttr, "two -1", to(-1, -1), g.Normal(3, 4)),
		badCall(op.BadAttr, "negative size", to(-3, -4), g.Normal(3, 4)),
	}
}

func viewAsSamples(g *op.Gen) []op.Sample {
	var all []op.Sample
	for _, s := range moveCalls(g, op.None{}, 2, 3, 4) {
		all = append(all, okCall(s.Name, s.Attrs, s.In[0], g.Strided(g.Int(2, 4, 6))))
	}
	return append(all,
		okCall("same shape", op.None{}, g.Normal(2, 3), g.Normal(2, 3)),
		okCall("zero size", op.None{}, g.Normal(0, 5), g.Normal(3, 0)),
		okCall("to 0-dimensional", op.None{}, g.Normal(1, 1), g.Bool()),
		okCall("from 0-dimensional", op.None{}, g.Normal(), g.Normal(1, 1)))
}

func flattenSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, FlattenAttrs{1, -1}, 2, 3, 4),
		okCall("all", FlattenAttrs{0, -1}, g.Normal(2, 3, 4)),
		okCall("one", FlattenAttrs{-2, 1}, g.Normal(2, 3, 4)),
		okCall("0-dimensional", FlattenAttrs{0, -1}, g.Normal()),
		okCall("zero size", FlattenAttrs{1, 2}, g.Normal(2, 0, 4)))
}

func unflattenSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, UnflattenAttrs{1, shape.ConstDims(2, 3)}, 2, 6, 3),
		okCall("negative axis", UnflattenAttrs{-1, shape.ConstDims(-1, 2)}, g.Normal(2, 6)),
		okCall("zero size", UnflattenAttrs{0, shape.ConstDims(0, 4)}, g.Normal(0, 6)))
}

func squeezeSamples(g *op.Gen) []op.Sample {
	dims := func(n ...int) SqueezeAttrs { return SqueezeAttrs{op.IntList(n...)} }
	return append(moveCalls(g, dims(), 1, 3, 1, 2),
		okCall("one axis", dims(0), g.Normal(1, 3, 1)),
		okCall("negative axes", dims(-1, 0), g.Normal(1, 3, 1)),
		okCall("not of size 1", dims(1), g.Normal(1, 3, 1)),
		okCall("0-dimensional", dims(-1), g.Normal()),
		okCall("zero size", dims(), g.Normal(1, 0)))
}

func unsqueezeSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, DimAttrs{1}, 2, 3),
		okCall("last", DimAttrs{-1}, g.Normal(2, 3)),
		okCall("first", DimAttrs{-3}, g.Normal(2, 3)),
		okCall("0-dimensional", DimAttrs{0}, g.Normal()),
		okCall("zero size", DimAttrs{2}, g.Normal(0, 3)))
}

func expandSamples(g *op.Gen) []op.Sample {
	to := func(n ...int) ExpandAttrs { return ExpandAttrs{shape.ConstDims(n...)} }
	return append(moveCalls(g, to(2, -1, 4), 3, 1),
		okCall("same", to(2, 3), g.Normal(2, 3)),
		okCall("from 0-dimensional", to(2, 3), g.Normal()),
		okCall("to zero size", to(0, 3), g.Normal(1, 3)),
		okCall("zero size", to(2, 0), g.Normal(0)))
}

func permuteSamples(g *op.Gen) []op.Sample {
	dims := func(n ...int) PermuteAttrs { return PermuteAttrs{op.IntList(n...)} }
	return append(moveCalls(g, dims(2, 0, 1), 2, 3, 4),
		okCall("negative axes", dims(-1, 0, -2), g.Normal(2, 3, 4)),
		okCall("channels last", dims(0, 2, 3, 1), g.Normal(2, 3, 4, 5)),
		okCall("0-dimensional", dims(), g.Normal()),
		okCall("zero size", dims(1, 0), g.Normal(0, 3)))
}

func transposeSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, TransposeAttrs{1, 2}, 2, 3, 4),
		okCall("negative axes", TransposeAttrs{-1, 0}, g.Normal(2, 3, 4)),
		okCall("same axis", TransposeAttrs{1, -1}, g.Normal(2, 3)),
		okCall("0-dimensional", TransposeAttrs{0, -1}, g.Normal()),
		okCall("zero size", TransposeAttrs{0, 1}, g.Normal(0, 3)))
}

func movedimSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, MovedimAttrs{op.IntList(0), op.IntList(2)}, 2, 3, 4),
		okCall("several", MovedimAttrs{op.IntList(3, 0), op.IntList(0, 1)}, g.Normal(2, 3, 4, 5)),
		okCall("negative axes", MovedimAttrs{op.IntList(-1), op.IntList(-3)}, g.Normal(2, 3, 4)),
		okCall("none", MovedimAttrs{}, g.Normal(2, 3)),
		okCall("zero size", MovedimAttrs{op.IntList(1), op.IntList(0)}, g.Normal(0, 3)))
}

func viewAsBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadReshape, "count", op.None{}, g.Normal(2, 3), g.Normal(4, 2)),
		badCall(op.BadReshape, "to nothing", op.None{}, g.Normal(2, 3), g.Normal(0, 3)),
		badCall(op.OperandCount, "one operand", op.None{}, g.Normal(2, 3)),
	}
}

func flattenBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "start out of range", FlattenAttrs{3, -1}, g.Normal(2, 3)),
		badCall(op.BadAxis, "end out of range", FlattenAttrs{0, 2}, g.Normal(2, 3)),
		badCall(op.BadAxis, "end before start", FlattenAttrs{2, 1}, g.Normal(2, 3, 4)),
	}
}

func unflattenBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "axis", UnflattenAttrs{2, shape.ConstDims(2, 3)}, g.Normal(2, 6)),
		badCall(op.BadReshape, "product", UnflattenAttrs{1, shape.ConstDims(2, 4)}, g.Normal(2, 6)),
		badCall(op.BadAttr, "no sizes", UnflattenAttrs{1, shape.ConstDims()}, g.Normal(2, 6)),
	}
}

func squeezeBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "axis", SqueezeAttrs{op.IntList(2)}, g.Normal(2, 1)),
		badCall(op.BadAttr, "axis twice", SqueezeAttrs{op.IntList(1, -1)}, g.Normal(2, 1)),
	}
}

func unsqueezeBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "axis too high", DimAttrs{3}, g.Normal(2, 3)),
		badCall(op.BadAxis, "axis too low", DimAttrs{-4}, g.Normal(2, 3)),
	}
}

func expandBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.ShapeMismatch, "size", ExpandAttrs{shape.ConstDims(2, 4)}, g.Normal(2, 3)),
		badCall(op.RankMismatch, "too few sizes", ExpandAttrs{shape.ConstDims(3)}, g.Normal(2, 3)),
		badCall(op.BadAttr, "-1 for a new dimension", ExpandAttrs{shape.ConstDims(-1, 2, 3)}, g.Normal(2, 3)),
		badCall(op.BadAttr, "negative size", ExpandAttrs{shape.ConstDims(-2, 3)}, g.Normal(1, 3)),
	}
}

func permuteBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.RankMismatch, "too few", PermuteAttrs{op.IntList(1, 0)}, g.Normal(2, 3, 4)),
		badCall(op.BadAxis, "axis", PermuteAttrs{op.IntList(0, 1, 3)}, g.Normal(2, 3, 4)),
		badCall(op.BadAttr, "axis twice", PermuteAttrs{op.IntList(0, 1, -2)}, g.Normal(2, 3, 4)),
	}
}

func transposeBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "first axis", TransposeAttrs{2, 0}, g.Normal(2, 3)),
		badCall(op.BadAxis, "second axis", TransposeAttrs{0, -3}, g.Normal(2, 3)),
	}
}

func tSamples(g *op.Gen) []op.Sample {
	return append(moveCalls(g, op.None{}, 3, 4),
		okCall("zero size", op.None{}, g.Normal(0, 3)),
		okCall("vector", op.None{}, g.Normal(5)),
		okCall("0-dimensional", op.None{}, g.Normal()))
}

func tBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{badCall(op.RankMismatch, "rank 3", op.None{}, g.Normal(2, 3, 4))}
}

func movedimBad(g *op.Gen) []op.BadSample {
	x := g.Normal(2, 3, 4)
	return []op.BadSample{
		badCall(op.BadAttr, "lengths", MovedimAttrs{op.IntList(0, 1), op.IntList(1)}, x),
		badCall(op.BadAxis, "source", MovedimAttrs{op.IntList(3), op.IntList(0)}, x),
		badCall(op.BadAxis, "destination", MovedimAttrs{op.IntList(0), op.IntList(-4)}, x),
		badCall(op.BadAttr, "destination twice", MovedimAttrs{op.IntList(0, 1), op.IntList(2, -1)}, x),
	}
}
