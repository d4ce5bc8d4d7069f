package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

// quantised makes elements of an 8-bit type, all values of it.
func quantised(g *op.Gen, d array.DType, shape ...int) *array.Array {
	return array.Cast(g.Int(256, shape...), d)
}

// scaleOf makes a 0-dimensional scale.
func scaleOf(s float32) *array.Array { return array.Scalar(s) }

func quantizeSamples(g *op.Gen) []op.Sample {
	a := QuantizeAttrs{}
	i8 := QuantizeAttrs{DType: array.I8}
	halves := array.FromSlice([]float32{-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 1e9, -1e9})
	return []op.Sample{
		okCall("u8", a, g.Normal(3, 5), scaleOf(0.02), array.Scalar(uint8(128))),
		okCall("i8", a, g.Normal(3, 5), scaleOf(0.02), array.Scalar(int8(-3))),
		okCall("no zero", a, g.Normal(3, 5), scaleOf(0.02)),
		okCall("no zero, i8", i8, g.Normal(3, 5), scaleOf(0.02), nil),
		okCall("halves", i8, halves, scaleOf(1)),
		okCall("special", a, g.Special(), scaleOf(0.5), array.Scalar(uint8(7))),
		okCall("scale 0", a, g.Special(), scaleOf(0), array.Scalar(uint8(7))),
		okCall("scale infinite", a, g.Special(), scaleOf(float32(math.Inf(1)))),
		okCall("per channel", a, g.Normal(4, 3), g.Uniform(0.01, 0.03, 4), quantised(g, array.U8, 4)),
		okCall("axis", QuantizeAttrs{Axis: 1}, g.Normal(2, 3, 4), g.Uniform(0.01, 0.03, 3), quantised(g, array.I8, 3)),
		okCall("negative axis", QuantizeAttrs{Axis: -1, DType: array.I8}, g.Normal(2, 3, 4), g.Uniform(0.01, 0.03, 4)),
		okCall("scales, one zero", QuantizeAttrs{Axis: 1}, g.Normal(2, 3), g.Uniform(0.01, 0.03, 3), array.Scalar(uint8(9))),
		okCall("vectors of one", a, g.Normal(2, 3), g.Uniform(0.01, 0.03, 1), quantised(g, array.U8, 1)),
		okCall("strided", QuantizeAttrs{Axis: 1}, g.Strided(g.Normal(2, 3, 4)), g.Uniform(0.01, 0.03, 3)),
		okCall("0-dimensional", a, g.Normal(), scaleOf(0.02)),
		okCall("empty", QuantizeAttrs{Axis: 1}, g.Normal(0, 3), g.Uniform(0.01, 0.03, 3)),
		okCall("i16", a, g.Normal(3, 5), scaleOf(1e-4), array.Scalar(int16(-300))),
		okCall("i16, special", QuantizeAttrs{DType: array.I16}, g.Special(), scaleOf(0.5)),
		okCall("i16 per channel", QuantizeAttrs{Axis: 1}, g.Strided(g.Normal(4, 3)), g.Uniform(1e-5, 3e-5, 3), array.FromSlice([]int16{32767, -32768, 0})),
		okCall("u16", a, g.Normal(3, 5), scaleOf(1e-4), array.Scalar(uint16(40000))),
		okCall("u16, no zero", QuantizeAttrs{DType: array.U16}, g.Uniform(-1, 8, 20), scaleOf(1e-4)),
		okCall("u16, halves", QuantizeAttrs{DType: array.U16}, halves, scaleOf(1)),
		okCall("f16", a, narrow(g, array.F16, 3, 5), array.Cast(scaleOf(0.02), array.F16), array.Scalar(uint8(128))),
		okCall("f16 per channel", QuantizeAttrs{Axis: 1, DType: array.I8}, narrow(g, array.F16, 3, 5), array.Cast(g.Uniform(0.01, 0.03, 5), array.F16)),
		okCall("bf16 to i16", a, narrow(g, array.BF16, 3, 5), array.Cast(scaleOf(0.0001), array.BF16), array.Scalar(int16(7))),
		okCall("i4", QuantizeAttrs{DType: array.I4}, g.Normal(3, 5), scaleOf(0.2)),
		okCall("u4 per channel", QuantizeAttrs{Axis: 1}, g.Strided(g.Normal(3, 5)), g.Uniform(0.1, 0.3, 5), codes(g, array.U4, 5)),
		okCall("i2, special", QuantizeAttrs{DType: array.I2}, g.Special(), scaleOf(0.5)),
		okCall("u2 of f16", a, narrow(g, array.F16, 3, 5), array.Cast(scaleOf(0.5), array.F16), array.Cast(scaleOf(1), array.U2)),
		okCall("f8e4m3fn", QuantizeAttrs{DType: array.F8E4M3FN}, g.Special(), scaleOf(0.5)),
		okCall("f8e5m2 unsaturated", QuantizeAttrs{DType: array.F8E5M2, Unsaturated: true}, g.Special(), scaleOf(0.5)),
		okCall("f8e4m3fnuz per channel", QuantizeAttrs{Axis: -1}, g.Normal(3, 5), g.Uniform(0.1, 0.3, 5), array.New(array.F8E4M3FNUZ, 5)),
		okCall("f8e5m2fnuz, a zero", a, narrow(g, array.BF16, 7), array.Cast(scaleOf(0.5), array.BF16), array.Cast(scaleOf(2), array.F8E5M2FNUZ)),
		okCall("f4e2m1fn", QuantizeAttrs{Axis: 0, DType: array.F4E2M1FN}, g.Normal(3, 5), g.Uniform(0.1, 0.3, 3)),
	}
}

// narrow makes normal elements of a narrow type.
func narrow(g *op.Gen, d array.DType, shape ...int) *array.Array {
	return array.Cast(g.Normal(shape...), d)
}

func quantizeBad(g *op.Gen) []op.BadSample {
	a := QuantizeAttrs{}
	s := scaleOf(0.1)
	return []op.BadSample{
		badCall(op.DTypeMismatch, "x is f64", a, array.Cast(g.Normal(3), array.F64), s),
		badCall(op.DTypeMismatch, "scale is f64", a, g.Normal(3), array.Cast(s, array.F64)),
		badCall(op.DTypeMismatch, "scale is f16, x f32", a, g.Normal(3), array.Cast(s, array.F16)),
		badCall(op.DTypeMismatch, "zero is not of dtype, 16 bits", QuantizeAttrs{DType: array.I8}, g.Normal(3), s, array.Scalar(int16(0))),
		badCall(op.DTypeMismatch, "zero is i32", a, g.Normal(3), s, array.Scalar(int32(0))),
		badCall(op.DTypeMismatch, "zero is not of dtype", QuantizeAttrs{DType: array.I8}, g.Normal(3), s, array.Scalar(uint8(0))),
		badCall(op.BadAttr, "dtype", QuantizeAttrs{DType: array.I32}, g.Normal(3), s),
		badCall(op.BadAttr, "powers", QuantizeAttrs{DType: array.F8E8M0FNU}, g.Normal(3), s),
		badCall(op.BadAttr, "unsaturated u8", QuantizeAttrs{Unsaturated: true}, g.Normal(3), s),
		badCall(op.BadAttr, "unsaturated f4", QuantizeAttrs{DType: array.F4E2M1FN, Unsaturated: true}, g.Normal(3), s),
		badCall(op.DTypeMismatch, "x is f8", a, codes(g, array.F8E5M2, 3), s),
		badCall(op.DTypeMismatch, "scale is f8", a, g.Normal(3), codes(g, array.F8E8M0FNU)),
		badCall(op.DTypeMismatch, "zero is not of dtype, 4 bits", QuantizeAttrs{DType: array.I4}, g.Normal(3), s, codes(g, array.U4)),
		badCall(op.BadAxis, "axis", QuantizeAttrs{Axis: 2}, g.Normal(3, 4), s),
		badCall(op.SizeMismatch, "scales", QuantizeAttrs{Axis: 1}, g.Normal(3, 4), g.Uniform(1, 2, 3)),
		badCall(op.SizeMismatch, "zeros", QuantizeAttrs{Axis: 1}, g.Normal(3, 4), s, quantised(g, array.U8, 3)),
		badCall(op.RankMismatch, "matrix of scales", a, g.Normal(3, 4), g.Uniform(1, 2, 3, 4)),
		badCall(op.OperandCount, "no scale", a, g.Normal(3)),
	}
}

// words makes elements of a 16-bit type, all values of it.
func words(g *op.Gen, d array.DType, shape ...int) *array.Array {
	return array.Cast(g.Int(1<<16, shape...), d)
}

func dequantizeSamples(g *op.Gen) []op.Sample {
	a := DequantizeAttrs{}
	i32 := func(shape ...int) *array.Array { return array.Cast(g.Int(1<<32, shape...), array.I32) }
	return []op.Sample{
		okCall("u8", a, quantised(g, array.U8, 3, 5), scaleOf(0.02), array.Scalar(uint8(128))),
		okCall("i8", a, quantised(g, array.I8, 3, 5), scaleOf(0.02), array.Scalar(int8(-3))),
		okCall("i32", a, i32(3, 5), scaleOf(0.02), array.Scalar(int32(1<<30))),
		okCall("no zero", a, quantised(g, array.I8, 3, 5), scaleOf(0.02)),
		okCall("no zero, i32", a, i32(3, 5), scaleOf(0.02), nil),
		okCall("all", a, quantised(g, array.U8, 700), scaleOf(1.0/3), array.Scalar(uint8(77))),
		okCall("per channel", a, quantised(g, array.I8, 4, 3), g.Uniform(0.01, 0.03, 4), quantised(g, array.I8, 4)),
		okCall("axis", DequantizeAttrs{Axis: 1}, quantised(g, array.U8, 2, 3, 4), g.Uniform(0.01, 0.03, 3), quantised(g, array.U8, 3)),
		okCall("negative axis", DequantizeAttrs{Axis: -1}, i32(2, 3, 4), g.Uniform(0.01, 0.03, 4), i32(4)),
		okCall("one scale, zeros", a, quantised(g, array.U8, 3, 2), scaleOf(0.5), quantised(g, array.U8, 3)),
		okCall("infinite scale", a, quantised(g, array.U8, 7), scaleOf(float32(math.Inf(-1))), array.Scalar(uint8(1))),
		okCall("strided", DequantizeAttrs{Axis: 1}, g.Strided(quantised(g, array.U8, 2, 3, 4)), g.Uniform(0.01, 0.03, 3)),
		okCall("0-dimensional", a, quantised(g, array.U8), scaleOf(0.02)),
		okCall("empty", DequantizeAttrs{Axis: 1}, quantised(g, array.I8, 0, 3), g.Uniform(0.01, 0.03, 3)),
		okCall("i16", a, words(g, array.I16, 3, 5), scaleOf(1e-4), array.Scalar(int16(-300))),
		okCall("i16 per channel", DequantizeAttrs{Axis: 1}, g.Strided(words(g, array.I16, 4, 3)), g.Uniform(1e-5, 3e-5, 3), words(g, array.I16, 3)),
		okCall("u16", a, words(g, array.U16, 3, 5), scaleOf(1e-4), array.Scalar(uint16(40000))),
		okCall("u16, no zero", a, words(g, array.U16, 7), scaleOf(1e-4)),
		okCall("f16", a, quantised(g, array.U8, 3, 5), array.Cast(scaleOf(0.02), array.F16), array.Scalar(uint8(128))),
		okCall("f16 per channel", DequantizeAttrs{Axis: -1}, quantised(g, array.I8, 3, 5), array.Cast(g.Uniform(0.01, 0.03, 5), array.F16)),
		okCall("bf16 of i16", a, words(g, array.I16, 3, 5), array.Cast(scaleOf(0.0001), array.BF16), array.Scalar(int16(7))),
		okCall("f16 of i32", a, i32(3), array.Cast(scaleOf(1e-5), array.F16)),
		okCall("i4", a, codes(g, array.I4, 3, 16), scaleOf(0.2)),
		okCall("u4 per channel", DequantizeAttrs{Axis: 1}, g.Strided(codes(g, array.U4, 3, 5)), g.Uniform(0.1, 0.3, 5), codes(g, array.U4, 5)),
		okCall("i2 in f16", a, codes(g, array.I2, 8), array.Cast(scaleOf(0.5), array.F16), codes(g, array.I2)),
		okCall("u2", a, codes(g, array.U2, 8), scaleOf(0.5)),
		okCall("f8e4m3fn", a, codes(g, array.F8E4M3FN, 256), scaleOf(0.5)),
		okCall("f8e5m2 in bf16", a, codes(g, array.F8E5M2, 256), array.Cast(scaleOf(0.5), array.BF16)),
		okCall("f8e4m3fnuz, a zero", a, codes(g, array.F8E4M3FNUZ, 9), scaleOf(0.5), array.Cast(scaleOf(2), array.F8E4M3FNUZ)),
		okCall("f8e5m2fnuz per channel", DequantizeAttrs{Axis: 0}, codes(g, array.F8E5M2FNUZ, 3, 5), g.Uniform(0.1, 0.3, 3), array.New(array.F8E5M2FNUZ, 3)),
		okCall("f4e2m1fn", a, codes(g, array.F4E2M1FN, 16), scaleOf(0.5)),
	}
}

func dequantizeBad(g *op.Gen) []op.BadSample {
	a := DequantizeAttrs{}
	q, s := quantised(g, array.U8, 3, 4), scaleOf(0.1)
	return []op.BadSample{
		badCall(op.DTypeMismatch, "q is f32", a, g.Normal(3), s),
		badCall(op.DTypeMismatch, "scale is f64", a, q, array.Cast(s, array.F64)),
		badCall(op.DTypeMismatch, "q is powers", a, codes(g, array.F8E8M0FNU, 3), s),
		badCall(op.DTypeMismatch, "zero is not of q's type, 4 bits", a, codes(g, array.U4, 3), s, codes(g, array.I4)),
		badCall(op.DTypeMismatch, "zero is not of q's type", a, q, s, array.Scalar(int8(0))),
		badCall(op.BadAxis, "axis", DequantizeAttrs{Axis: -3}, q, s),
		badCall(op.SizeMismatch, "scales", a, q, g.Uniform(1, 2, 4)),
		badCall(op.RankMismatch, "matrix of zeros", a, q, s, quantised(g, array.U8, 3, 4)),
		badCall(op.OperandCount, "no scale", a, q),
	}
}

// nothingSeen is the state of an observer without elements, of a histogram with some bins.
func nothingSeen(bins int) *array.Array {
	seen := []float64{math.Inf(1), math.Inf(-1)}
	if bins > 0 {
		seen = append(append(seen, 0x1p-30), make([]float64, bins)...)
	}
	return array.FromSlice(seen)
}

func observeSamples(g *op.Gen) []op.Sample {
	a, average := ObserveAttrs{}, ObserveAttrs{Averaging: 0.25}
	counted := func(limit float64) *array.Array { return array.FromSlice([]float64{-0.5, 1, limit, 3, 0, 2, 4, 1, 5}) }
	return []op.Sample{
		okCall("first extremes", a, g.Normal(3, 5), nothingSeen(0)),
		okCall("more extremes", a, g.Normal(3, 5), array.FromSlice([]float64{-0.1, 7})),
		okCall("first average", average, g.Normal(3, 5), nothingSeen(0)),
		okCall("average", average, g.Normal(3, 5), array.FromSlice([]float64{-0.1, 7})),
		okCall("first counts", a, g.Normal(40), nothingSeen(16)),
		okCall("more counts", a, g.Normal(40), counted(4)),
		okCall("a limit that grows", a, g.Normal(40), counted(0.25)),
		okCall("averages and counts", average, g.Normal(40), counted(1)),
		okCall("an odd number of bins", a, g.Normal(7), array.FromSlice([]float64{-1, 1, 1, 2, 3, 4, 5, 6})),
		okCall("one bin", a, g.Normal(7), nothingSeen(1)),
		okCall("no limit", a, g.Normal(7), counted(math.NaN())),
		okCall("special", a, g.Special(), nothingSeen(8)),
		okCall("special, averaged", average, g.Special(), array.FromSlice([]float64{-1, 1})),
		okCall("strided", a, g.Strided(g.Normal(3, 5)), g.Strided(nothingSeen(8))),
		okCall("0-dimensional", a, g.Normal(), nothingSeen(8)),
		okCall("empty", average, g.Normal(0, 3), counted(4)),
	}
}

func observeBad(g *op.Gen) []op.BadSample {
	a, seen := ObserveAttrs{}, nothingSeen(4)
	return []op.BadSample{
		badCall(op.DTypeMismatch, "x is f64", a, array.Cast(g.Normal(3), array.F64), seen),
		badCall(op.DTypeMismatch, "seen is f32", a, g.Normal(3), array.Cast(seen, array.F32)),
		badCall(op.RankMismatch, "a matrix of counts", a, g.Normal(3), array.New(array.F64, 2, 4)),
		badCall(op.SizeMismatch, "one extreme", a, g.Normal(3), array.New(array.F64, 1)),
		badCall(op.SizeMismatch, "a limit without counts", a, g.Normal(3), array.New(array.F64, 3)),
		badCall(op.BadAttr, "averaging", ObserveAttrs{Averaging: 1.5}, g.Normal(3), seen),
		badCall(op.BadAttr, "averaging NaN", ObserveAttrs{Averaging: math.NaN()}, g.Normal(3), seen),
		badCall(op.OperandCount, "no state", a, g.Normal(3)),
	}
}

func dynamicQuantizeSamples(g *op.Gen) []op.Sample {
	return []op.Sample{
		okCall("matrix", op.None{}, g.Normal(3, 5)),
		okCall("positive", op.None{}, g.Uniform(1, 2, 7)),
		okCall("negative", op.None{}, g.Uniform(-2, -1, 7)),
		okCall("zeros", op.None{}, array.New(array.F32, 4)),
		okCall("0-dimensional", op.None{}, g.Normal()),
		okCall("empty", op.None{}, g.Normal(0, 3)),
		okCall("strided", op.None{}, g.Strided(g.Normal(3, 5))),
		okCall("special", op.None{}, g.Special()),
		okCall("many", op.None{}, g.Normal(9, 300)),
	}
}

func dynamicQuantizeBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.DTypeMismatch, "integers", op.None{}, g.Int(3, 4)),
		badCall(op.DTypeMismatch, "f64", op.None{}, array.Cast(g.Normal(4), array.F64)),
		badCall(op.OperandCount, "no operand", op.None{}),
	}
}
