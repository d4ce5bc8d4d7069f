package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

// reduceTypes samples a reduction of a [2, 3, 4] operand in several layouts and
// types; integers only where the operator takes them.
func reduceTypes(g *op.Gen, attrs any, ints bool) []op.Sample {
	s := []op.Sample{
		okCall("f32", attrs, g.Normal(2, 3, 4)),
		okCall("strided", attrs, g.Strided(g.Normal(2, 3, 4))),
		okCall("special values", attrs, specials(g, 2, 3, 4)),
		okCall("f64", attrs, array.Cast(g.Normal(2, 3, 4), array.F64)),
		okCall("f16", attrs, array.Cast(g.Uniform(0.5, 1.5, 2, 3, 4), array.F16)),
		okCall("bf16", attrs, array.Cast(g.Uniform(0.5, 1.5, 2, 3, 4), array.BF16)),
	}
	if ints {
		s = append(s,
			okCall("i64", attrs, g.Int(9, 2, 3, 4)),
			okCall("u8", attrs, array.Cast(g.Int(200, 2, 3, 4), array.U8)),
			okCall("bool", attrs, g.Bool(2, 3, 4)))
	}
	return s
}

func reduceSamples(g *op.Gen, name string) []op.Sample {
	over := func(keep bool, n ...int) ReduceAttrs { return ReduceAttrs{Dim: op.IntList(n...), KeepDim: keep} }
	s := append(reduceTypes(g, over(false, 1), name != "mean"),
		okCall("all dimensions", over(false), g.Normal(2, 3, 4)),
		okCall("all dimensions, kept", over(true), g.Normal(2, 3, 4)),
		okCall("negative axes, kept", over(true, -1, 0), g.Strided(g.Normal(2, 3, 4))),
		okCall("last axis", over(false, -1), g.Normal(3, 700)),
		okCall("zero size kept", over(false, 1), g.Normal(0, 3)),
		okCall("0-dimensional", over(false), g.Normal()),
		okCall("0-dimensional, named axis", over(false, -1), g.Normal()))
	if name != "amax" && name != "amin" {
		s = append(s, okCall("zero size reduced", over(false, 0), g.Normal(0, 3)))
	}
	switch name {
	case "sum", "prod":
		s = append(s, okCall("dtype", ReduceAttrs{DType: array.F64}, g.Normal(2, 3)),
			okCall("integer dtype", ReduceAttrs{DType: array.I32}, g.Int(5, 2, 3)))
	case "mean":
		s = append(s, okCall("dtype", ReduceAttrs{DType: array.F32}, g.Int(9, 2, 3)))
	}
	return s
}

func reduceBad(g *op.Gen, name string) []op.BadSample {
	x := g.Normal(2, 3)
	bad := []op.BadSample{
		badCall(op.BadAxis, "axis", ReduceAttrs{Dim: op.IntList(2)}, x),
		badCall(op.BadAttr, "axis twice", ReduceAttrs{Dim: op.IntList(1, -1)}, x),
	}
	switch name {
	case "sum", "prod":
		return append(bad, badCall(op.DTypeMismatch, "integer dtype of floats", ReduceAttrs{DType: array.I64}, x))
	case "mean":
		return append(bad, badCall(op.DTypeMismatch, "integers", ReduceAttrs{}, g.Int(9, 2, 3)),
			badCall(op.DTypeMismatch, "integer dtype", ReduceAttrs{DType: array.I64}, x))
	case "amax", "amin":
		bad = append(bad, badCall(op.SizeMismatch, "no elements", ReduceAttrs{Dim: op.IntList(0)}, g.Normal(0, 3)))
	}
	return append(bad, badCall(op.BadAttr, "dtype", ReduceAttrs{DType: array.F64}, x))
}

// varSamples are valid for std too.
func varSamples(g *op.Gen) []op.Sample {
	over := func(n ...int) VarAttrs { return VarAttrs{Dim: op.IntList(n...)} }
	return append(reduceTypes(g, over(1), false),
		okCall("all dimensions", over(), g.Normal(2, 3, 4)),
		okCall("uncorrected", VarAttrs{Correction: op.Int(0)}, g.Normal(2, 3, 4)),
		okCall("negative axes, kept", VarAttrs{Dim: op.IntList(-1, 0), KeepDim: true}, g.Normal(2, 3, 4)),
		okCall("one element", over(0), g.Normal(1, 3)),
		okCall("zero size", over(1), g.Normal(0, 3)),
		okCall("variance beyond f32", over(1), array.FromSlice([]float32{1e20, 2e20, 4e20, 1e-30, 2e-30, 4e-30}, 2, 3)),
		okCall("variance beyond f16", over(1), array.Cast(array.FromSlice([]float32{30000, 60000, 10000, 1e-6, 2e-6, 4e-6}, 2, 3), array.F16)),
		okCall("far from zero", over(), g.Uniform(1000, 1001, 50)))
}

func varBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "axis", VarAttrs{Dim: op.IntList(-3)}, g.Normal(2, 3)),
		badCall(op.DTypeMismatch, "integers", VarAttrs{}, g.Int(9, 2, 3)),
	}
}

func extremeOpSamples(g *op.Gen) []op.Sample {
	return append(reduceTypes(g, op.None{}, true),
		okCall("0-dimensional", op.None{}, g.Normal()), okCall("vector", op.None{}, g.Normal(300)))
}

func extremeOpBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{badCall(op.SizeMismatch, "no elements", op.None{}, g.Normal(0, 3))}
}

func minMaxOpSamples(g *op.Gen) []op.Sample {
	return append(reduceTypes(g, MinMaxAttrs{Dim: 1}, true),
		okCall("negative axis, kept", MinMaxAttrs{-1, true}, g.Normal(2, 3, 4)),
		okCall("zero size", MinMaxAttrs{Dim: 1}, g.Normal(0, 3)),
		okCall("0-dimensional", MinMaxAttrs{}, g.Normal()))
}

func minMaxOpBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "axis", MinMaxAttrs{Dim: 2}, g.Normal(2, 3)),
		badCall(op.SizeMismatch, "no elements", MinMaxAttrs{Dim: 0}, g.Normal(0, 3)),
	}
}

func argOpSamples(g *op.Gen) []op.Sample {
	dim := func(n ...int) ArgAttrs { return ArgAttrs{Dim: op.IntList(n...)} }
	return append(reduceTypes(g, dim(1), true),
		okCall("flat", dim(), g.Strided(g.Normal(3, 4))),
		okCall("flat, kept", ArgAttrs{KeepDim: true}, g.Normal(3, 4)),
		okCall("negative axis, kept", ArgAttrs{op.IntList(-2), true}, g.Normal(2, 3, 4)),
		okCall("zero size", dim(1), g.Normal(0, 3)),
		okCall("0-dimensional", dim(0), g.Normal()))
}

func argOpBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "axis", ArgAttrs{Dim: op.IntList(2)}, g.Normal(2, 3)),
		badCall(op.BadAttr, "two axes", ArgAttrs{Dim: op.IntList(0, 1)}, g.Normal(2, 3)),
		badCall(op.SizeMismatch, "no elements", ArgAttrs{}, g.Normal(0, 3)),
	}
}
