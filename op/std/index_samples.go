package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func gatherBad(g *op.Gen) []op.BadSample {
	return append(indexBad(g, DimAttrs{1}, DimAttrs{2}),
		badCall(op.RankMismatch, "ranks", DimAttrs{1}, g.Normal(3, 4), g.Int(4, 2)))
}

func indexSelectSamples(g *op.Gen) []op.Sample {
	var s []op.Sample
	for _, m := range moveCalls(g, DimAttrs{1}, 2, 3, 4) {
		s = append(s, okCall(m.Name, m.Attrs, m.In[0], g.Int(3, 5)))
	}
	return append(s,
		okCall("negative axis, i32 index", DimAttrs{-1}, g.Normal(2, 3), array.Cast(g.Int(3, 2), array.I32)),
		okCall("no index", DimAttrs{0}, g.Normal(2, 3), array.New(array.I64, 0)),
		okCall("zero size", DimAttrs{1}, g.Normal(0, 3), g.Int(3, 2)))
}

func indexSelectBad(g *op.Gen) []op.BadSample {
	x := g.Normal(3, 4)
	return []op.BadSample{
		badCall(op.BadAxis, "axis", DimAttrs{2}, x, g.Int(3, 2)),
		badCall(op.BadAxis, "0-dimensional", DimAttrs{0}, g.Normal(), g.Int(1, 2)),
		badCall(op.DTypeMismatch, "float index", DimAttrs{1}, x, g.Normal(2)),
		badCall(op.RankMismatch, "matrix of indices", DimAttrs{1}, x, g.Int(4, 2, 2)),
	}
}

func gatherSamples(g *op.Gen) []op.Sample {
	var s []op.Sample
	for _, m := range moveCalls(g, DimAttrs{1}, 2, 3, 4) {
		s = append(s, okCall(m.Name, m.Attrs, m.In[0], g.Int(3, 2, 5, 3)))
	}
	return append(s,
		okCall("negative axis, strided i32 index", DimAttrs{-1}, g.Normal(2, 3), g.Strided(array.Cast(g.Int(3, 2, 4), array.I32))),
		okCall("no index", DimAttrs{0}, g.Normal(2, 3), array.New(array.I64, 0, 3)),
		okCall("zero size", DimAttrs{0}, g.Normal(2, 0), array.New(array.I64, 5, 0)),
		okCall("0-dimensional", DimAttrs{0}, g.Normal(), array.New(array.I64)))
}

// indexBad are calls with a bad axis, a float index and a too large index.
func indexBad(g *op.Gen, good, noAxis any) []op.BadSample {
	x := g.Normal(3, 4)
	return []op.BadSample{
		badCall(op.BadAxis, "axis", noAxis, x, g.Int(3, 2, 4)),
		badCall(op.DTypeMismatch, "float index", good, x, x),
		badCall(op.SizeMismatch, "index beyond x", good, x, g.Int(3, 4, 4)),
	}
}

func scatterCalls(g *op.Gen, n string, a any) []op.Sample {
	return []op.Sample{
		okCall("f32 "+n, a, g.Normal(3, 3), g.Int(3, 2, 3), g.Normal(2, 3)),
		okCall("strided "+n, a, g.Strided(g.Normal(3, 4)), g.Strided(g.Int(3, 3, 4)), g.Strided(g.Normal(3, 4))),
		okCall("i64 "+n, a, g.Int(9, 3, 3), g.Int(3, 2, 2), g.Int(9, 3, 2)),
		okCall("f16 "+n, a, array.Cast(g.Int(4, 3, 3), array.F16), g.Int(3, 2, 3), array.Cast(g.Int(4, 2, 3), array.F16)),
	}
}

func scatterEdges(g *op.Gen, a any) []op.Sample {
	return []op.Sample{
		okCall("i32 index", a, g.Normal(3, 3), array.Cast(g.Int(3, 2, 3), array.I32), g.Normal(2, 3)),
		okCall("special values", a, g.Normal(1, 30), g.Int(30, 1, 15), array.Reshape(g.Special(), 1, 15)),
		okCall("no index", a, g.Normal(2, 3), array.New(array.I64, 0, 3), g.Normal(0, 3)),
		okCall("zero size", a, g.Normal(0, 3), array.New(array.I64, 0, 3), g.Normal(0, 3)),
	}
}
