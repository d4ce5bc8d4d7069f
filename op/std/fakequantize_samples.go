package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func fakeQuantizeSamples(g *op.Gen) []op.Sample {
	a, i8 := FakeQuantizeAttrs{}, FakeQuantizeAttrs{DType: array.I8}
	halves := array.FromSlice([]float32{-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 1e9, -1e9})
	wide := func(x *array.Array) *array.Array { return array.Cast(x, array.F64) }
	return []op.Sample{
		okCall("u8", a, g.Normal(3, 5), scaleOf(0.02), array.Scalar(uint8(128))),
		okCall("i8, no zero", i8, g.Normal(3, 5), scaleOf(0.01), nil),
		okCall("halves", i8, halves, scaleOf(1), nil),
		okCall("zero of floats", i8, g.Normal(3, 5), scaleOf(0.02), scaleOf(-3.5)),
		okCall("zero out of range", i8, g.Normal(3, 5), scaleOf(0.02), scaleOf(300)),
		okCall("channels", i8, g.Normal(4, 3), g.Uniform(0.01, 0.03, 4, 1), nil),
		okCall("channels, zeros", a, g.Normal(2, 3, 4), g.Uniform(0.01, 0.03, 3, 1), quantised(g, array.U8, 3, 1)),
		okCall("special", a, g.Special(), scaleOf(0.5), array.Scalar(uint8(7))),
		okCall("scale 0", a, g.Special(), scaleOf(0), array.Scalar(uint8(7))),
		okCall("scale infinite", a, g.Special(), scaleOf(float32(math.Inf(1)))),
		okCall("strided", i8, g.Strided(g.Normal(2, 3, 4)), g.Uniform(0.01, 0.03, 3, 1), nil),
		okCall("0-dimensional", a, g.Normal(), scaleOf(0.02), nil),
		okCall("empty", a, g.Normal(0, 3), g.Uniform(0.01, 0.03, 3), nil),
		okCall("i16", FakeQuantizeAttrs{DType: array.I16}, g.Normal(3, 5), scaleOf(1e-4), array.Scalar(int16(-300))),
		okCall("u4", FakeQuantizeAttrs{DType: array.U4}, g.Normal(3, 5), scaleOf(0.2), scaleOf(8)),
		okCall("f16", a, narrow(g, array.F16, 3, 5), array.Cast(scaleOf(0.02), array.F16), array.Scalar(uint8(128))),
		okCall("f64", i8, wide(g.Normal(3, 5)), wide(scaleOf(0.02)), wide(scaleOf(2))),
	}
}

func fakeQuantizeBad(g *op.Gen) []op.BadSample {
	s := scaleOf(0.1)
	return []op.BadSample{
		badCall(op.DTypeMismatch, "integers", FakeQuantizeAttrs{}, g.Int(3, 3), array.Scalar(int64(1))),
		badCall(op.BadAttr, "dtype", FakeQuantizeAttrs{DType: array.I32}, g.Normal(3), s),
		badCall(op.BadAttr, "a type of floats", FakeQuantizeAttrs{DType: array.F8E5M2}, g.Normal(3), s),
		badCall(op.ShapeMismatch, "scales that do not broadcast", FakeQuantizeAttrs{}, g.Normal(3), g.Uniform(1, 2, 4)),
	}
}
