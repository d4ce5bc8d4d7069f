package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func gridSampleSamples(g *op.Gen) []op.Sample {
	x, grid := g.Normal(2, 3, 4, 5), g.Uniform(-1.3, 1.3, 2, 3, 4, 2)
	s := []op.Sample{
		okCall("strided", GridSampleAttrs{}, g.Strided(x), g.Strided(grid)),
		okCall("f64", GridSampleAttrs{}, array.Cast(x, array.F64), array.Cast(grid, array.F64)),
		okCall("volume", GridSampleAttrs{}, g.Normal(1, 2, 3, 4, 5), g.Uniform(-1, 1, 1, 2, 2, 2, 3)),
		okCall("zero size", GridSampleAttrs{}, g.Normal(2, 3, 4, 5), g.Uniform(-1, 1, 2, 0, 4, 2)),
	}
	for _, mode := range []string{"bilinear", "nearest", "bicubic"} {
		for _, pad := range []string{"zeros", "border", "reflection"} {
			s = append(s, okCall(mode+" "+pad, GridSampleAttrs{Mode: mode, PaddingMode: pad}, x, grid),
				okCall(mode+" "+pad+" align_corners", GridSampleAttrs{mode, pad, true}, x, grid))
		}
	}
	return s
}

func gridSampleBad(g *op.Gen) []op.BadSample {
	x, grid := g.Normal(2, 3, 4, 5), g.Uniform(-1, 1, 2, 3, 4, 2)
	return []op.BadSample{
		badCall(op.RankMismatch, "rank", GridSampleAttrs{}, g.Normal(3, 4, 5), grid),
		badCall(op.RankMismatch, "rank of grid", GridSampleAttrs{}, x, g.Normal(2, 3, 2)),
		badCall(op.ShapeMismatch, "batch", GridSampleAttrs{}, x, g.Normal(1, 3, 4, 2)),
		badCall(op.SizeMismatch, "coordinates", GridSampleAttrs{}, x, g.Normal(2, 3, 4, 3)),
		badCall(op.SizeMismatch, "no elements", GridSampleAttrs{}, g.Normal(2, 3, 0, 5), grid),
		badCall(op.DTypeMismatch, "integers", GridSampleAttrs{}, g.Int(3, 2, 3, 4, 5), grid),
		badCall(op.DTypeMismatch, "types", GridSampleAttrs{}, x, array.Cast(grid, array.F64)),
		badCall(op.BadAttr, "bicubic volume", GridSampleAttrs{Mode: "bicubic"}, g.Normal(1, 2, 3, 4, 5), g.Normal(1, 2, 2, 2, 3)),
		badCall(op.BadAttr, "mode", GridSampleAttrs{Mode: "cubic"}, x, grid),
		badCall(op.BadAttr, "padding mode", GridSampleAttrs{PaddingMode: "wrap"}, x, grid),
	}
}

func interpolateSamples(g *op.Gen) []op.Sample {
	size := func(mode string, align bool, n ...int) InterpolateAttrs {
		return InterpolateAttrs{Size: shape.ConstDims(n...), Mode: mode, AlignCorners: align}
	}
	scale := func(mode string, align bool, f ...float64) InterpolateAttrs {
		return InterpolateAttrs{ScaleFactor: op.FloatList(f...), Mode: mode, AlignCorners: align}
	}
	x := g.Normal(2, 3, 4, 5)
	s := []op.Sample{
		okCall("nearest i64", size("", false, 3), g.Int(9, 2, 3, 4, 5)),
		okCall("nearest special values", size("", false, 7), specials(g, 1, 3, 5)),
		okCall("nearest strided", scale("", false, 2), g.Strided(x)),
		okCall("nearest volume", scale("nearest", false, 2, 0.5, 1.5), g.Normal(1, 2, 2, 4, 3)),
		okCall("linear", size("linear", false, 9), g.Normal(2, 3, 4)),
		okCall("linear align_corners", size("linear", true, 9), g.Normal(2, 3, 4)),
		okCall("trilinear", size("trilinear", false, 3, 2, 5), g.Normal(1, 2, 2, 3, 4)),
		okCall("bilinear strided f64", size("bilinear", false, 6, 3), array.Cast(g.Strided(x), array.F64)),
		okCall("bilinear u8", size("bilinear", false, 8, 2), array.Cast(g.Int(256, 1, 2, 4, 4), array.U8)),
		okCall("zero size", size("bilinear", false, 6, 3), g.Normal(0, 3, 4, 5)),
	}
	for _, mode := range []string{"nearest", "nearest-exact", "bilinear", "bicubic"} {
		s = append(s, okCall(mode+" up", size(mode, false, 7, 11), x), okCall(mode+" down", size(mode, false, 3, 2), x),
			okCall(mode+" scale", scale(mode, false, 1.6), x))
		if mode[0] == 'b' {
			s = append(s, okCall(mode+" align_corners", size(mode, true, 7, 2), x), okCall(mode+" scale align_corners", scale(mode, true, 2, 0.5), x))
		}
	}
	return s
}

func interpolateBad(g *op.Gen) []op.BadSample {
	x, two := g.Normal(2, 3, 4, 5), shape.ConstDims(2, 2)
	return []op.BadSample{
		badCall(op.BadAttr, "neither", InterpolateAttrs{}, x),
		badCall(op.BadAttr, "both", InterpolateAttrs{Size: two, ScaleFactor: op.FloatList(2)}, x),
		badCall(op.BadAttr, "mode", InterpolateAttrs{Size: two, Mode: "cubic"}, x),
		badCall(op.BadAttr, "number of sizes", InterpolateAttrs{Size: shape.ConstDims(1, 2, 3)}, x),
		badCall(op.BadAttr, "factor", InterpolateAttrs{ScaleFactor: op.FloatList(math.NaN())}, x),
		badCall(op.BadAttr, "align_corners of nearest", InterpolateAttrs{Size: two, AlignCorners: true}, x),
		badCall(op.RankMismatch, "rank of nearest", InterpolateAttrs{Size: two}, g.Normal(2, 3)),
		badCall(op.RankMismatch, "rank of linear", InterpolateAttrs{Size: two, Mode: "linear"}, x),
		badCall(op.SizeMismatch, "size 0", InterpolateAttrs{Size: shape.ConstDims(0, 2)}, x),
		badCall(op.SizeMismatch, "nothing left", InterpolateAttrs{ScaleFactor: op.FloatList(0.1)}, x),
		badCall(op.SizeMismatch, "no elements", InterpolateAttrs{Size: two}, g.Normal(2, 3, 0, 5)),
		badCall(op.DTypeMismatch, "integers", InterpolateAttrs{Size: two, Mode: "bilinear"}, g.Int(9, 2, 3, 4, 5)),
	}
}
