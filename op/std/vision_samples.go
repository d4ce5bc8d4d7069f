package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func roiAlignSamples(g *op.Gen) []op.Sample {
	x := g.Normal(2, 3, 7, 6)
	rois := array.FromSlice([]float32{0, 0, 5, 4, 1.5, 2.25, 3.75, 6.5, -3, -2, 9, 11, 4, 4, 4, 4, 2, 5, 1, 3}, 5, 4)
	batch := array.FromSlice([]int64{0, 1, 1, 0, 0})
	with := func(f func(a *RoiAlignAttrs)) RoiAlignAttrs {
		a := RoiAlignAttrs{OutputSize: op.IntList(2, 3), SpatialScale: 1}
		f(&a)
		return a
	}
	plain := with(func(*RoiAlignAttrs) {})
	s := []op.Sample{
		okCall("plain", plain, x, rois, batch),
		okCall("i32", plain, x, rois, array.Cast(batch, array.I32)),
		okCall("aligned", with(func(a *RoiAlignAttrs) { a.Aligned = true }), x, rois, batch),
		okCall("ratio", with(func(a *RoiAlignAttrs) { a.SamplingRatio = 2 }), x, rois, batch),
		okCall("ratio aligned", with(func(a *RoiAlignAttrs) { a.SamplingRatio, a.Aligned = 3, true }), x, rois, batch),
		okCall("scale", with(func(a *RoiAlignAttrs) { a.SpatialScale = 0.5 }), x, rois, batch),
		okCall("one size", with(func(a *RoiAlignAttrs) { a.OutputSize = op.IntList(2) }), x, rois, batch),
		okCall("strided", plain, g.Strided(x), g.Strided(rois), batch),
		okCall("f64", plain, array.Cast(x, array.F64), array.Cast(rois, array.F64), batch),
		okCall("no region", plain, x, array.New(array.F32, 0, 4), array.New(array.I64, 0)),
		okCall("max", with(func(a *RoiAlignAttrs) { a.Mode = "max" }), x, rois, batch),
		okCall("max aligned", with(func(a *RoiAlignAttrs) { a.Mode, a.Aligned, a.SamplingRatio = "max", true, 2 }), x, rois, batch),
	}
	return s
}

func roiAlignBad(g *op.Gen) []op.BadSample {
	x, rois, batch := g.Normal(2, 3, 7, 6), g.Uniform(0, 5, 4, 4), g.Int(2, 4)
	a := RoiAlignAttrs{OutputSize: op.IntList(2), SpatialScale: 1}
	return []op.BadSample{
		badCall(op.BadAttr, "size", RoiAlignAttrs{OutputSize: op.IntList(0), SpatialScale: 1}, x, rois, batch),
		badCall(op.BadAttr, "scale", RoiAlignAttrs{OutputSize: op.IntList(2)}, x, rois, batch),
		badCall(op.BadAttr, "mode", RoiAlignAttrs{OutputSize: op.IntList(2), SpatialScale: 1, Mode: "sum"}, x, rois, batch),
		badCall(op.BadAttr, "ratio", RoiAlignAttrs{OutputSize: op.IntList(2), SpatialScale: 1, SamplingRatio: -1}, x, rois, batch),
		badCall(op.RankMismatch, "rank", a, g.Normal(3, 7, 6), rois, batch),
		badCall(op.SizeMismatch, "corners", a, x, g.Normal(4, 5), batch),
		badCall(op.ShapeMismatch, "batch", a, x, rois, g.Int(2, 3)),
		badCall(op.SizeMismatch, "no elements", a, g.Normal(2, 3, 0, 6), rois, batch),
		badCall(op.DTypeMismatch, "types", a, x, array.Cast(rois, array.F64), batch),
		badCall(op.DTypeMismatch, "float batch", a, x, rois, g.Normal(4)),
	}
}
