package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

// qPairArgs are the operands of an addition or a multiplication.
func qPairArgs(g *op.Gen, d array.DType, shape ...int) []*array.Array {
	zero := func(v int64) *array.Array { return array.Cast(array.Scalar(v), d) }
	return []*array.Array{quantised(g, d, shape...), scaleOf(0.02), zero(100), quantised(g, d, shape...), scaleOf(0.015), zero(7), scaleOf(0.03), zero(60)}
}

func qPairSamples(g *op.Gen) []op.Sample {
	a := QPairAttrs{}
	u8 := qPairArgs(g, array.U8, 3, 5)
	return []op.Sample{
		okCall("u8", a, u8...),
		okCall("i8", a, qPairArgs(g, array.I8, 3, 5)...),
		okCall("relu", QPairAttrs{ReLU: true}, u8...),
		okCall("relu, i8", QPairAttrs{ReLU: true}, qPairArgs(g, array.I8, 2, 3, 4)...),
		okCall("no zeros", a, u8[0], u8[1], nil, u8[3], u8[4], nil, u8[6]),
		okCall("no parameters", a, u8[0], nil, nil, u8[3]),
		okCall("long", a, qPairArgs(g, array.U8, 7, 31, 5)...),
		okCall("row", a, with(u8, 3, quantised(g, array.U8, 5))...),
		okCall("column", a, with(u8, 0, quantised(g, array.U8, 3, 1))...),
		okCall("planes", QPairAttrs{ReLU: true}, with(qPairArgs(g, array.I8, 2, 3, 4, 5), 3, quantised(g, array.I8, 2, 3, 1, 1))...),
		okCall("both", a, with(with(u8, 0, quantised(g, array.U8, 4, 1, 5)), 3, quantised(g, array.U8, 3, 1))...),
		okCall("strided", a, with(with(u8, 0, g.Strided(u8[0])), 3, g.Strided(u8[3]))...),
		okCall("0-dimensional", a, qPairArgs(g, array.I8)...),
		okCall("empty", a, qPairArgs(g, array.U8, 0, 3)...),
	}
}

func qPairBad(g *op.Gen) []op.BadSample {
	a := QPairAttrs{}
	in := qPairArgs(g, array.U8, 3, 5)
	return []op.BadSample{
		badCall(op.DTypeMismatch, "a is f32", a, with(in, 0, g.Normal(3, 5))...),
		badCall(op.DTypeMismatch, "types", a, with(with(in, 3, quantised(g, array.I8, 3, 5)), 5, nil)...),
		badCall(op.DTypeMismatch, "y_zero", a, with(in, 7, array.Scalar(int8(0)))...),
		badCall(op.ShapeMismatch, "shapes", a, with(in, 3, quantised(g, array.U8, 3, 4))...),
		badCall(op.SizeMismatch, "scales", a, with(in, 1, g.Uniform(1, 2, 5))...),
		badCall(op.OperandCount, "one operand", a, in[:3]...),
	}
}

// qPoolArgs are x, its scale and zero point, and those of the result.
func qPoolArgs(g *op.Gen, d array.DType, shape ...int) []*array.Array {
	zero := func(v int64) *array.Array { return array.Cast(array.Scalar(v), d) }
	return []*array.Array{quantised(g, d, shape...), scaleOf(0.02), zero(100), scaleOf(0.015), zero(60)}
}

func qMaxPoolSamples(g *op.Gen) []op.Sample {
	three := MaxPoolAttrs{KernelSize: op.IntList(3, 3), Stride: op.IntList(2), Padding: op.IntList(1)}
	ceil := three
	ceil.CeilMode = true
	x := quantised(g, array.U8, 2, 3, 8, 7)
	return []op.Sample{
		okCall("kernel only", MaxPoolAttrs{KernelSize: op.IntList(2, 2)}, x),
		okCall("stride and padding", three, x),
		okCall("i8", three, quantised(g, array.I8, 2, 3, 8, 7)),
		okCall("ceil", ceil, x),
		okCall("per dimension", MaxPoolAttrs{KernelSize: op.IntList(3, 2), Stride: op.IntList(1, 2), Padding: op.IntList(0, 1)}, x),
		okCall("dilation", MaxPoolAttrs{KernelSize: op.IntList(2, 2), Stride: op.IntList(1), Dilation: op.IntList(3)}, x),
		okCall("one dimension", MaxPoolAttrs{KernelSize: op.IntList(3)}, quantised(g, array.U8, 2, 3, 9)),
		okCall("three dimensions", MaxPoolAttrs{KernelSize: op.IntList(2, 2, 2)}, quantised(g, array.I8, 1, 2, 4, 5, 6)),
		okCall("strided", three, g.Strided(x)),
		okCall("empty batch", three, quantised(g, array.U8, 0, 3, 8, 7)),
	}
}

func qMaxPoolBad(g *op.Gen) []op.BadSample {
	x := quantised(g, array.U8, 2, 3, 8, 7)
	two := MaxPoolAttrs{KernelSize: op.IntList(2, 2)}
	return []op.BadSample{
		badCall(op.DTypeMismatch, "floats", two, array.Cast(x, array.F32)),
		badCall(op.BadAttr, "no kernel", MaxPoolAttrs{}, x),
		badCall(op.BadAttr, "four dimensions", MaxPoolAttrs{KernelSize: op.IntList(1, 1, 1, 1)}, x),
		badCall(op.BadAttr, "padding", MaxPoolAttrs{KernelSize: op.IntList(2, 2), Padding: op.IntList(2)}, x),
		badCall(op.RankMismatch, "unbatched", two, quantised(g, array.U8, 3, 8, 7)),
		badCall(op.SizeMismatch, "kernel too large", MaxPoolAttrs{KernelSize: op.IntList(20, 20)}, x),
	}
}

func qAvgPoolSamples(g *op.Gen) []op.Sample {
	three := QAvgPoolAttrs{KernelSize: op.IntList(3, 3), Stride: op.IntList(2), Padding: op.IntList(1)}
	exclude, ceil := three, three
	exclude.CountExcludePad, ceil.CeilMode = true, true
	both := ceil
	both.CountExcludePad = true
	in := qPoolArgs(g, array.U8, 2, 3, 8, 7)
	return []op.Sample{
		okCall("kernel only", QAvgPoolAttrs{KernelSize: op.IntList(2, 2)}, in...),
		okCall("stride and padding", three, in...),
		okCall("i8", three, qPoolArgs(g, array.I8, 2, 3, 8, 7)...),
		okCall("exclude padding", exclude, in...),
		okCall("ceil", ceil, in...),
		okCall("ceil, exclude padding", both, in...),
		okCall("as x is", three, in[:3]...),
		okCall("no parameters", three, in[0]),
		okCall("no zeros", exclude, in[0], in[1], nil, in[3]),
		okCall("one dimension", QAvgPoolAttrs{KernelSize: op.IntList(3)}, qPoolArgs(g, array.U8, 2, 3, 9)...),
		okCall("three dimensions", QAvgPoolAttrs{KernelSize: op.IntList(2, 2, 2)}, qPoolArgs(g, array.I8, 1, 2, 4, 5, 6)...),
		okCall("whole", QAvgPoolAttrs{KernelSize: op.IntList(8, 7)}, in...),
		okCall("strided", three, with(in, 0, g.Strided(in[0]))...),
		okCall("empty batch", three, qPoolArgs(g, array.U8, 0, 3, 8, 7)...),
	}
}

func qAvgPoolBad(g *op.Gen) []op.BadSample {
	in := qPoolArgs(g, array.U8, 2, 3, 8, 7)
	two := QAvgPoolAttrs{KernelSize: op.IntList(2, 2)}
	return []op.BadSample{
		badCall(op.DTypeMismatch, "floats", two, array.Cast(in[0], array.F32)),
		badCall(op.DTypeMismatch, "y_zero", two, with(in, 4, array.Scalar(int8(0)))...),
		badCall(op.OperandCount, "y_zero alone", two, with(in, 3, nil)...),
		badCall(op.SizeMismatch, "scales", two, with(in, 1, g.Uniform(1, 2, 3))...),
		badCall(op.BadAttr, "no kernel", QAvgPoolAttrs{}, in...),
		badCall(op.RankMismatch, "unbatched", two, quantised(g, array.U8, 3, 8, 7)),
		badCall(op.SizeMismatch, "kernel too large", QAvgPoolAttrs{KernelSize: op.IntList(20, 20)}, in...),
	}
}

func qConcatSamples(g *op.Gen) []op.Sample {
	part := func(d array.DType, scale float32, zero int64, shape ...int) []*array.Array {
		return []*array.Array{quantised(g, d, shape...), scaleOf(scale), array.Cast(array.Scalar(zero), d)}
	}
	call := func(name string, dim int, d array.DType, parts ...[]*array.Array) op.Sample {
		in := []*array.Array{scaleOf(0.02), array.Cast(array.Scalar(int64(90)), d)}
		for _, p := range parts {
			in = append(in, p...)
		}
		return okCall(name, DimAttrs{dim}, in...)
	}
	u8, i8 := array.U8, array.I8
	same := part(u8, 0.02, 90, 2, 3, 4)
	strided := part(u8, 0.03, 3, 2, 5, 4)
	strided[0] = g.Strided(strided[0])
	return []op.Sample{
		call("two", 1, u8, part(u8, 0.03, 7, 2, 3, 4), part(u8, 0.01, 200, 2, 5, 4)),
		call("i8", 1, i8, part(i8, 0.03, 7, 2, 3, 4), part(i8, 0.01, -100, 2, 5, 4)),
		call("as the result", 1, u8, same, part(u8, 0.01, 200, 2, 2, 4), same),
		call("first axis", 0, u8, part(u8, 0.03, 7, 2, 3), part(u8, 0.01, 200, 4, 3)),
		call("negative axis", -1, i8, part(i8, 0.03, 7, 2, 3), part(i8, 0.01, 50, 2, 70)),
		call("one", 0, u8, part(u8, 0.03, 7, 5)),
		call("strided", 1, u8, strided, same),
		call("a part without elements", 1, u8, part(u8, 0.03, 7, 2, 0, 4), same),
		call("empty", 1, u8, part(u8, 0.03, 7, 0, 3), part(u8, 0.01, 9, 0, 4)),
	}
}

func qConcatBad(g *op.Gen) []op.BadSample {
	s, z := scaleOf(0.1), array.Scalar(uint8(3))
	x := quantised(g, array.U8, 2, 3)
	bad := DimAttrs{1}
	return []op.BadSample{
		badCall(op.OperandCount, "nothing", bad, s, z),
		badCall(op.OperandCount, "no zero point", bad, s, z, x, s),
		badCall(op.DTypeMismatch, "floats", bad, s, z, g.Normal(2, 3), s, z),
		badCall(op.DTypeMismatch, "types", bad, s, z, quantised(g, array.I8, 2, 3), s, array.Scalar(int8(3))),
		badCall(op.RankMismatch, "ranks", bad, s, z, x, s, z, quantised(g, array.U8, 6), s, z),
		badCall(op.ShapeMismatch, "sizes", bad, s, z, x, s, z, quantised(g, array.U8, 3, 3), s, z),
		badCall(op.SizeMismatch, "scales", bad, g.Uniform(1, 2, 3), z, x, s, z),
		badCall(op.BadAxis, "axis", DimAttrs{2}, s, z, x, s, z),
	}
}

func qTableSamples(g *op.Gen) []op.Sample {
	u8, i8 := array.U8, array.I8
	call := func(name string, x *array.Array, table array.DType) op.Sample {
		return okCall(name, op.None{}, x, tableOf(g, table))
	}
	return []op.Sample{
		call("u8", quantised(g, u8, 3, 5), u8),
		call("i8", quantised(g, i8, 3, 5), i8),
		call("u8 to i8", quantised(g, u8, 2, 3, 4), i8),
		call("i8 to u8", quantised(g, i8, 2, 3, 4), u8),
		call("long", quantised(g, u8, 7, 111), u8),
		call("0-dimensional", quantised(g, u8), u8),
		call("empty", quantised(g, u8, 0, 3), u8),
		call("strided", g.Strided(quantised(g, i8, 2, 3, 4)), i8),
	}
}

func qTableBad(g *op.Gen) []op.BadSample {
	x := quantised(g, array.U8, 3)
	return []op.BadSample{
		badCall(op.DTypeMismatch, "x is i32", op.None{}, array.Cast(x, array.I32), tableOf(g, array.U8)),
		badCall(op.DTypeMismatch, "table is f32", op.None{}, x, g.Normal(256)),
		badCall(op.SizeMismatch, "table", op.None{}, x, quantised(g, array.U8, 128)),
		badCall(op.RankMismatch, "table rank", op.None{}, x, quantised(g, array.U8, 16, 16)),
		badCall(op.OperandCount, "no table", op.None{}, x),
	}
}

func qEmbeddingSamples(g *op.Gen) []op.Sample {
	u8, i8 := quantised(g, array.U8, 7, 5), quantised(g, array.I8, 7, 5)
	s := scaleOf(0.02)
	each := g.Uniform(0.01, 0.03, 7)
	return []op.Sample{
		okCall("vector", op.None{}, g.Int(7, 4), u8, s, array.Scalar(uint8(9))),
		okCall("matrix", op.None{}, g.Int(7, 2, 3), i8, s, array.Scalar(int8(-9))),
		okCall("no zero", op.None{}, g.Int(7, 2, 3), i8, s),
		okCall("per row", op.None{}, g.Int(7, 2, 3), i8, each, quantised(g, array.I8, 7)),
		okCall("scales alone", op.None{}, g.Int(7, 2, 3), u8, each),
		okCall("one index", op.None{}, g.Int(7), u8, each),
		okCall("i32 indices", op.None{}, array.Cast(g.Int(7, 2, 3), array.I32), u8, each),
		okCall("no index", op.None{}, g.Int(7, 0, 3), u8, s),
		okCall("no columns", op.None{}, g.Int(7, 3), quantised(g, array.U8, 7, 0), s),
		okCall("strided", op.None{}, g.Strided(g.Int(7, 2, 3)), g.Strided(i8), each),
	}
}

func qEmbeddingBad(g *op.Gen) []op.BadSample {
	w, s := quantised(g, array.U8, 7, 5), scaleOf(0.1)
	return []op.BadSample{
		badCall(op.DTypeMismatch, "float indices", op.None{}, g.Normal(3), w, s),
		badCall(op.DTypeMismatch, "weight is f32", op.None{}, g.Int(7, 3), g.Normal(7, 5), s),
		badCall(op.DTypeMismatch, "scale is f64", op.None{}, g.Int(7, 3), w, array.Cast(s, array.F64)),
		badCall(op.DTypeMismatch, "zero is i8", op.None{}, g.Int(7, 3), w, s, array.Scalar(int8(0))),
		badCall(op.RankMismatch, "weight rank", op.None{}, g.Int(7, 3), quantised(g, array.U8, 7), s),
		badCall(op.SizeMismatch, "scales", op.None{}, g.Int(7, 3), w, g.Uniform(1, 2, 5)),
	}
}

func int4LinearSamples(g *op.Gen) []op.Sample {
	args := func(group, n, k int, lead ...int) []*array.Array {
		groups := (k + group - 1) / group
		return []*array.Array{g.Normal(append(lead, k)...), quantised(g, array.U8, n, (k+1)/2), g.Uniform(0.01, 0.02, n, groups),
			array.Cast(g.Int(16, n, groups), array.U8), g.Normal(n)}
	}
	a := Int4LinearAttrs{Group: 32}
	in := args(32, 5, 70, 3)
	f16 := with(with(in, 0, array.Cast(in[0], array.F16)), 4, array.Cast(in[4], array.F16))
	return []op.Sample{
		okCall("all operands", a, in...),
		okCall("no zero", a, with(in, 3, nil)...),
		okCall("no bias", a, in[:4]...),
		okCall("neither", a, in[:3]...),
		okCall("group of 64", Int4LinearAttrs{Group: 64}, args(64, 5, 130, 2, 3)...),
		okCall("odd", a, args(32, 4, 33, 2)...),
		okCall("short", a, args(32, 4, 5, 2)...),
		okCall("vector", a, args(32, 6, 64)...),
		okCall("many rows", a, args(32, 37, 96, 40)...),
		okCall("f16", a, f16...),
		okCall("strided", a, with(with(in, 0, g.Strided(in[0])), 1, g.Strided(in[1]))...),
		okCall("empty batch", a, args(32, 4, 64, 0)...),
		okCall("no features", a, args(32, 4, 0, 2)...),
	}
}

func int4LinearBad(g *op.Gen) []op.BadSample {
	x, w, s := g.Normal(3, 70), quantised(g, array.U8, 5, 35), g.Uniform(1, 2, 5, 3)
	a := Int4LinearAttrs{Group: 32}
	return []op.BadSample{
		badCall(op.BadAttr, "no group", Int4LinearAttrs{}, x, w, s),
		badCall(op.BadAttr, "group", Int4LinearAttrs{Group: 48}, x, w, s),
		badCall(op.DTypeMismatch, "x is f64", a, array.Cast(x, array.F64), w, s),
		badCall(op.DTypeMismatch, "weight is i8", a, x, quantised(g, array.I8, 5, 35), s),
		badCall(op.DTypeMismatch, "scale is f16", a, x, w, array.Cast(s, array.F16)),
		badCall(op.DTypeMismatch, "bias is f64", a, x, w, s, nil, array.Cast(g.Normal(5), array.F64)),
		badCall(op.SizeMismatch, "weight", a, x, quantised(g, array.U8, 5, 70), s),
		badCall(op.SizeMismatch, "scales", a, x, w, g.Uniform(1, 2, 5, 2)),
		badCall(op.SizeMismatch, "zeros", a, x, w, s, quantised(g, array.U8, 4, 3)),
		badCall(op.SizeMismatch, "bias", a, x, w, s, nil, g.Normal(4)),
		badCall(op.RankMismatch, "scalar", a, g.Normal(), w, s),
	}
}

func int8LinearSamples(g *op.Gen) []op.Sample {
	x, u8, i8 := g.Normal(3, 70), quantised(g, array.U8, 5, 70), quantised(g, array.I8, 5, 70)
	one, each, bias := scaleOf(0.01), g.Uniform(0.005, 0.01, 5), g.Normal(5)
	f16 := func(a *array.Array) *array.Array { return array.Cast(a, array.F16) }
	return []op.Sample{
		okCall("all operands", op.None{}, x, i8, each, quantised(g, array.I8, 5), bias),
		okCall("u8", op.None{}, x, u8, each, quantised(g, array.U8, 5), bias),
		okCall("one scale", op.None{}, x, u8, one, array.Scalar(uint8(9)), bias),
		okCall("no zero", op.None{}, x, i8, each, nil, bias),
		okCall("no bias", op.None{}, x, i8, one, array.Scalar(int8(-9))),
		okCall("neither", op.None{}, x, i8, each),
		okCall("vector", op.None{}, g.Normal(70), i8, each),
		okCall("rank 3", op.None{}, g.Normal(2, 3, 70), i8, each, nil, bias),
		okCall("many rows", op.None{}, g.Normal(40, 70), u8, each, quantised(g, array.U8, 5), bias),
		okCall("f16", op.None{}, f16(x), i8, each, nil, f16(bias)),
		okCall("strided", op.None{}, g.Strided(x), g.Strided(i8), each),
		okCall("empty batch", op.None{}, g.Normal(0, 70), i8, each),
		okCall("no features", op.None{}, g.Normal(3, 0), quantised(g, array.I8, 5, 0), each, nil, bias),
	}
}

func int8LinearBad(g *op.Gen) []op.BadSample {
	x, w, s := g.Normal(3, 70), quantised(g, array.I8, 5, 70), g.Uniform(1, 2, 5)
	return []op.BadSample{
		badCall(op.DTypeMismatch, "x is f64", op.None{}, array.Cast(x, array.F64), w, s),
		badCall(op.DTypeMismatch, "weight is f32", op.None{}, x, g.Normal(5, 70), s),
		badCall(op.DTypeMismatch, "scale is f16", op.None{}, x, w, array.Cast(s, array.F16)),
		badCall(op.DTypeMismatch, "zero is u8", op.None{}, x, w, s, quantised(g, array.U8, 5)),
		badCall(op.DTypeMismatch, "bias is f64", op.None{}, x, w, s, nil, array.Cast(g.Normal(5), array.F64)),
		badCall(op.SizeMismatch, "weight", op.None{}, x, quantised(g, array.I8, 5, 35), s),
		badCall(op.SizeMismatch, "scales", op.None{}, x, w, g.Uniform(1, 2, 4)),
		badCall(op.SizeMismatch, "zeros", op.None{}, x, w, s, quantised(g, array.I8, 4)),
		badCall(op.SizeMismatch, "bias", op.None{}, x, w, s, nil, g.Normal(4)),
		badCall(op.RankMismatch, "scalar", op.None{}, g.Normal(), w, s),
		badCall(op.RankMismatch, "weight rank", op.None{}, x, quantised(g, array.I8, 70), s),
	}
}

func int4EmbeddingSamples(g *op.Gen) []op.Sample {
	w, s, z := quantised(g, array.U8, 7, 35), g.Uniform(0.01, 0.02, 7, 3), array.Cast(g.Int(16, 7, 3), array.U8)
	a := Int4LinearAttrs{Group: 32}
	return []op.Sample{
		okCall("vector", a, g.Int(7, 4), w, s, z),
		okCall("matrix", a, g.Int(7, 2, 3), w, s),
		okCall("group of 64", Int4LinearAttrs{Group: 64}, g.Int(7, 3), w, g.Uniform(0.01, 0.02, 7, 2)),
		okCall("one index", a, g.Int(7), w, s, z),
		okCall("i32 indices", a, array.Cast(g.Int(7, 2, 3), array.I32), w, s, z),
		okCall("no index", a, g.Int(7, 0, 3), w, s),
		okCall("no columns", a, g.Int(7, 3), quantised(g, array.U8, 7, 0), g.Uniform(1, 2, 7, 0)),
		okCall("strided", a, g.Strided(g.Int(7, 2, 3)), g.Strided(w), g.Strided(s), z),
	}
}

func int4EmbeddingBad(g *op.Gen) []op.BadSample {
	x, w, s := g.Int(7, 3), quantised(g, array.U8, 7, 35), g.Uniform(1, 2, 7, 3)
	a := Int4LinearAttrs{Group: 32}
	return []op.BadSample{
		badCall(op.BadAttr, "no group", Int4LinearAttrs{}, x, w, s),
		badCall(op.DTypeMismatch, "float indices", a, g.Normal(3), w, s),
		badCall(op.DTypeMismatch, "weight is i8", a, x, quantised(g, array.I8, 7, 35), s),
		badCall(op.DTypeMismatch, "scale is f16", a, x, w, array.Cast(s, array.F16)),
		badCall(op.SizeMismatch, "scales", a, x, w, g.Uniform(1, 2, 7, 2)),
		badCall(op.SizeMismatch, "zeros", a, x, w, s, quantised(g, array.U8, 6, 3)),
		badCall(op.RankMismatch, "weight rank", a, x, quantised(g, array.U8, 7), s),
	}
}
