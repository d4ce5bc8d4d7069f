package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func preluSamples(g *op.Gen) []op.Sample {
	none := op.None{}
	cast := array.Cast
	return []op.Sample{
		{Name: "images", Attrs: none, In: []*array.Array{g.Normal(2, 3, 4, 4), g.Uniform(0, 1, 3)}},
		{Name: "matrix", Attrs: none, In: []*array.Array{g.Normal(5, 3), g.Uniform(0, 1, 3)}},
		{Name: "one weight", Attrs: none, In: []*array.Array{g.Normal(5, 3), g.Uniform(0, 1, 1)}},
		{Name: "0-dimensional weight", Attrs: none, In: []*array.Array{g.Normal(5, 3), g.Uniform(0, 1)}},
		{Name: "0-dimensional", Attrs: none, In: []*array.Array{array.Scalar(float32(-2)), g.Uniform(0, 1, 1)}},
		{Name: "vector", Attrs: none, In: []*array.Array{g.Special(), g.Uniform(0, 1, 1)}},
		{Name: "zero size", Attrs: none, In: []*array.Array{g.Normal(0, 3, 2), g.Uniform(0, 1, 3)}},
		{Name: "strided", Attrs: none, In: []*array.Array{g.Strided(g.Normal(2, 3, 4)), g.Uniform(0, 1, 3)}},
		{Name: "f64", Attrs: none, In: []*array.Array{cast(g.Normal(2, 3, 4), array.F64), cast(g.Normal(3), array.F64)}},
		{Name: "f16", Attrs: none, In: []*array.Array{cast(g.Normal(2, 3), array.F16), cast(g.Uniform(0, 1, 3), array.F16)}},
	}
}

func preluBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		{Name: "channels", Attrs: op.None{}, In: []*array.Array{g.Normal(2, 3, 4), g.Normal(4)}, Code: op.SizeMismatch},
		{Name: "vector", Attrs: op.None{}, In: []*array.Array{g.Normal(4), g.Normal(4)}, Code: op.SizeMismatch},
		{Name: "matrix weight", Attrs: op.None{}, In: []*array.Array{g.Normal(2, 3), g.Normal(3, 1)}, Code: op.RankMismatch},
		{Name: "i64", Attrs: op.None{}, In: []*array.Array{g.Int(9, 2, 3), g.Normal(3)}, Code: op.DTypeMismatch},
		{Name: "mixed types", Attrs: op.None{}, In: []*array.Array{g.Normal(2, 3), array.Cast(g.Normal(3), array.F64)}, Code: op.DTypeMismatch},
	}
}

func gluSamples(g *op.Gen) []op.Sample {
	return []op.Sample{
		{Name: "last", Attrs: DimAttrs{-1}, In: []*array.Array{g.Normal(3, 6)}},
		{Name: "channels", Attrs: DimAttrs{1}, In: []*array.Array{g.Normal(2, 4, 5)}},
		{Name: "first", Attrs: DimAttrs{0}, In: []*array.Array{g.Normal(2, 3)}},
		{Name: "vector", Attrs: DimAttrs{0}, In: []*array.Array{array.Slice(g.Special(), 0, 0, 14, 1)}},
		{Name: "zero size", Attrs: DimAttrs{-2}, In: []*array.Array{g.Normal(3, 0, 2)}},
		{Name: "strided", Attrs: DimAttrs{-1}, In: []*array.Array{g.Strided(g.Normal(3, 8))}},
		{Name: "f64", Attrs: DimAttrs{-1}, In: []*array.Array{array.Cast(g.Normal(3, 2), array.F64)}},
		{Name: "f16", Attrs: DimAttrs{-1}, In: []*array.Array{array.Cast(g.Normal(3, 2), array.F16)}},
	}
}

func gluBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		{Name: "odd", Attrs: DimAttrs{1}, In: []*array.Array{g.Normal(2, 3)}, Code: op.SizeMismatch},
		{Name: "axis", Attrs: DimAttrs{2}, In: []*array.Array{g.Normal(2, 2)}, Code: op.BadAxis},
		{Name: "scalar", Attrs: DimAttrs{0}, In: []*array.Array{g.Normal()}, Code: op.RankMismatch},
		{Name: "i64", Attrs: DimAttrs{0}, In: []*array.Array{g.Int(9, 2)}, Code: op.DTypeMismatch},
	}
}

func oneHotSamples(g *op.Gen) []op.Sample {
	n := func(k int) OneHotAttrs { return OneHotAttrs{shape.Const(k)} }
	return []op.Sample{
		{Name: "vector", Attrs: n(5), In: []*array.Array{g.Int(5, 4)}},
		{Name: "matrix", Attrs: n(3), In: []*array.Array{g.Int(3, 2, 4)}},
		{Name: "0-dimensional", Attrs: n(4), In: []*array.Array{g.Int(4)}},
		{Name: "one class", Attrs: n(1), In: []*array.Array{g.Int(1, 3)}},
		{Name: "zero size", Attrs: n(3), In: []*array.Array{g.Int(3, 0, 2)}},
		{Name: "strided", Attrs: n(6), In: []*array.Array{g.Strided(g.Int(6, 3, 4))}},
		{Name: "out of range", Attrs: n(3), In: []*array.Array{array.FromSlice([]int64{-1, 3, 0, 2})}},
		{Name: "u8", Attrs: n(9), In: []*array.Array{array.Cast(g.Int(9, 5), array.U8)}},
	}
}

func oneHotBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		{Name: "float", Attrs: OneHotAttrs{shape.Const(3)}, In: []*array.Array{g.Normal(3)}, Code: op.DTypeMismatch},
		{Name: "no classes", Attrs: OneHotAttrs{}, In: []*array.Array{g.Int(3, 2)}, Code: op.BadAttr},
	}
}
