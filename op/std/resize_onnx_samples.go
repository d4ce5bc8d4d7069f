package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func resizeSamples(g *op.Gen) []op.Sample {
	x := g.Normal(1, 2, 4, 5)
	sized := func(n ...int) ResizeAttrs { return ResizeAttrs{Size: shape.ConstDims(n...)} }
	region := ResizeAttrs{Size: shape.ConstDims(3, 6), Mode: "linear", CoordinateTransformationMode: cropAndResize,
		Roi: op.FloatList(0.4, -0.2, 0.6, 1.3), ExtrapolationValue: 10}
	s := []op.Sample{
		okCall("i64", sized(3, 7), g.Int(9, 2, 4, 5)),
		okCall("bool", sized(7), g.Bool(3, 4)),
		okCall("special values", sized(8), specials(g, 2, 5)),
		okCall("region", region, x),
		okCall("region of i64", ResizeAttrs{Size: shape.ConstDims(5), CoordinateTransformationMode: cropAndResize, Roi: op.FloatList(-0.5, 0.9), ExtrapolationValue: 7}, g.Int(9, 2, 6)),
		okCall("region of one", ResizeAttrs{Size: shape.ConstDims(1, 1), Mode: "linear", CoordinateTransformationMode: cropAndResize, Roi: op.FloatList(0.1, 0.2, 0.7, 0.9)}, x),
		okCall("zero size", ResizeAttrs{Size: shape.ConstDims(6, 3), Mode: "linear"}, g.Normal(0, 4, 5)),
		okCall("f64 strided", ResizeAttrs{Size: shape.ConstDims(6, 3), Mode: "cubic"}, array.Cast(g.Strided(x), array.F64)),
		okCall("f16", ResizeAttrs{Size: shape.ConstDims(6, 3), Mode: "linear"}, array.Cast(x, array.F16)),
		okCall("coefficient", ResizeAttrs{Size: shape.ConstDims(6, 3), Mode: "cubic", CubicCoeffA: op.Float(-0.5)}, x),
	}
	for _, mode := range []string{"nearest", "linear", "cubic"} {
		for _, at := range []string{"", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"} {
			a := ResizeAttrs{Size: shape.ConstDims(7, 3), ScaleFactor: op.FloatList(1.8, 0.7), Mode: mode, CoordinateTransformationMode: at}
			s = append(s, okCall(mode+" "+at, a, x))
			a.Size, a.ScaleFactor = shape.ConstDims(1, 8, 1), op.Floats{}
			s = append(s, okCall(mode+" of three "+at, a, x))
		}
		if mode == "nearest" {
			continue
		}
		for _, way := range []struct{ anti, exclude bool }{{true, false}, {false, true}, {true, true}} {
			a := ResizeAttrs{Size: shape.ConstDims(2, 8), Mode: mode, Antialias: way.anti, ExcludeOutside: way.exclude}
			s = append(s, okCall(mode+" at the ends", a, g.Normal(2, 9, 5)))
		}
	}
	for _, r := range []string{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"} {
		s = append(s, okCall(r, ResizeAttrs{Size: shape.ConstDims(6, 3), NearestMode: r}, g.Normal(2, 4, 9)),
			okCall(r+" asymmetric", ResizeAttrs{Size: shape.ConstDims(7, 3), NearestMode: r, CoordinateTransformationMode: "asymmetric"}, g.Normal(2, 4, 8)))
	}
	return s
}

func resizeBad(g *op.Gen) []op.BadSample {
	x, two := g.Normal(2, 3, 4, 5), shape.ConstDims(2, 2)
	with := func(f func(a *ResizeAttrs)) ResizeAttrs {
		a := ResizeAttrs{Size: two}
		f(&a)
		return a
	}
	return []op.BadSample{
		badCall(op.BadAttr, "no sizes", ResizeAttrs{}, x),
		badCall(op.BadAttr, "four sizes", ResizeAttrs{Size: shape.ConstDims(1, 2, 3, 4)}, x),
		badCall(op.BadAttr, "mode", with(func(a *ResizeAttrs) { a.Mode = "bilinear" }), x),
		badCall(op.BadAttr, "coordinates", with(func(a *ResizeAttrs) { a.CoordinateTransformationMode = "corners" }), x),
		badCall(op.BadAttr, "rounding", with(func(a *ResizeAttrs) { a.NearestMode = "even" }), x),
		badCall(op.BadAttr, "number of factors", with(func(a *ResizeAttrs) { a.ScaleFactor = op.FloatList(0.5) }), x),
		badCall(op.BadAttr, "factor", with(func(a *ResizeAttrs) { a.ScaleFactor = op.FloatList(0.5, math.NaN()) }), x),
		badCall(op.BadAttr, "factor of other sizes", with(func(a *ResizeAttrs) { a.ScaleFactor = op.FloatList(0.5, 1e-9) }), x),
		badCall(op.BadAttr, "no region", with(func(a *ResizeAttrs) { a.CoordinateTransformationMode = cropAndResize }), x),
		badCall(op.BadAttr, "region", with(func(a *ResizeAttrs) { a.Roi = op.FloatList(0, 0, 1, 1) }), x),
		badCall(op.BadAttr, "infinite region", with(func(a *ResizeAttrs) {
			a.CoordinateTransformationMode, a.Roi = cropAndResize, op.FloatList(0, 0, 1, math.Inf(1))
		}), x),
		badCall(op.BadAttr, "antialias of nearest", with(func(a *ResizeAttrs) { a.Antialias = true }), x),
		badCall(op.RankMismatch, "rank", ResizeAttrs{Size: two}, g.Normal(3)),
		badCall(op.SizeMismatch, "size 0", ResizeAttrs{Size: shape.ConstDims(0, 2)}, x),
		badCall(op.SizeMismatch, "no elements", ResizeAttrs{Size: two}, g.Normal(2, 3, 0, 5)),
		badCall(op.DTypeMismatch, "integers", with(func(a *ResizeAttrs) { a.Mode = "linear" }), g.Int(9, 2, 3, 4, 5)),
	}
}
