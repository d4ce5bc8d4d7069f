package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func localResponseNormSamples(g *op.Gen) []op.Sample {
	a := LocalResponseNormAttrs{Size: 3, Alpha: 0.5, Beta: 0.75, K: 1}
	even := LocalResponseNormAttrs{Size: 4, Alpha: 1, Beta: 0.5, K: 2}
	return []op.Sample{
		okCall("image", a, g.Normal(2, 5, 3, 4)),
		okCall("even size", even, g.Normal(2, 5, 3, 4)),
		okCall("sequence", a, g.Normal(2, 5, 3)),
		okCall("volume", a, g.Normal(1, 4, 2, 3, 2)),
		okCall("size of 1", LocalResponseNormAttrs{Size: 1, Alpha: 1, Beta: 1, K: 1}, g.Normal(2, 3, 4)),
		okCall("more than the channels", LocalResponseNormAttrs{Size: 7, Alpha: 1, Beta: 1, K: 1}, g.Normal(2, 3, 4)),
		okCall("strided", a, g.Strided(g.Normal(2, 5, 3, 4))),
		okCall("empty batch", a, g.Normal(0, 5, 3)),
		okCall("no pixels", a, g.Normal(2, 5, 0)),
		okCall("f64", even, array.Cast(g.Normal(2, 5, 3), array.F64)),
		okCall("special", a, array.Reshape(g.Special(), 1, 5, 3)),
	}
}

func localResponseNormBad(g *op.Gen) []op.BadSample {
	a := LocalResponseNormAttrs{Size: 3, Alpha: 0.5, Beta: 0.75, K: 1}
	return []op.BadSample{
		badCall(op.BadAttr, "size", LocalResponseNormAttrs{}, g.Normal(2, 5, 3)),
		badCall(op.RankMismatch, "rank", a, g.Normal(5, 3)),
		badCall(op.DTypeMismatch, "integers", a, g.Int(9, 2, 5, 3)),
	}
}

func normalizeSamples(g *op.Gen) []op.Sample {
	two := NormalizeAttrs{P: 2, Dim: 1, Eps: 1e-12}
	zero := g.Normal(3, 4)
	for i := range 4 {
		array.SetFloat64At(zero, 4+i, 0)
	}
	return []op.Sample{
		okCall("rows", two, g.Normal(3, 5)),
		okCall("negative axis", NormalizeAttrs{P: 2, Dim: -1, Eps: 1e-12}, g.Normal(2, 3, 4)),
		okCall("p=1", NormalizeAttrs{P: 1, Dim: 0, Eps: 1e-12}, g.Normal(3, 4)),
		okCall("p=3", NormalizeAttrs{P: 3, Dim: 1, Eps: 1e-12}, g.Normal(3, 4)),
		okCall("great eps", NormalizeAttrs{P: 2, Dim: 1, Eps: 2}, g.Normal(3, 4)),
		okCall("row of zeros", two, zero),
		okCall("strided", two, g.Strided(g.Normal(2, 3, 4))),
		okCall("empty", two, g.Normal(0, 3)),
		okCall("f64", two, array.Cast(g.Normal(3, 5), array.F64)),
		okCall("special", two, array.Reshape(array.Slice(g.Special(), 0, 0, 9, 1), 3, 3)),
	}
}

func normalizeBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "axis", NormalizeAttrs{P: 2, Dim: 2, Eps: 1e-12}, g.Normal(3, 5)),
		badCall(op.BadAttr, "eps", NormalizeAttrs{P: 2, Dim: 1, Eps: -1}, g.Normal(3, 5)),
		badCall(op.DTypeMismatch, "integers", NormalizeAttrs{P: 2, Dim: 1, Eps: 1e-12}, g.Int(9, 3, 5)),
	}
}
