package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func softmaxSpecBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "axis", DimAttrs{2}, g.Normal(2, 3)),
		badCall(op.BadAxis, "negative axis", DimAttrs{-3}, g.Normal(2, 3)),
		badCall(op.DTypeMismatch, "integers", DimAttrs{0}, g.Int(9, 3)),
	}
}

func softmaxSamples(g *op.Gen) []op.Sample {
	inf := float32(math.Inf(1))
	return []op.Sample{
		okCall("last", DimAttrs{1}, g.Normal(3, 5)),
		okCall("negative axis", DimAttrs{-1}, g.Normal(2, 3, 4)),
		okCall("middle", DimAttrs{1}, g.Normal(2, 3, 4)),
		okCall("first", DimAttrs{0}, g.Normal(4, 3)),
		okCall("large values", DimAttrs{1}, g.Uniform(900, 1000, 2, 5)),
		okCall("strided", DimAttrs{-1}, g.Strided(g.Normal(2, 3, 4))),
		okCall("empty batch", DimAttrs{1}, g.Normal(0, 3)),
		okCall("empty rows", DimAttrs{1}, g.Normal(3, 0)),
		okCall("0-dimensional", DimAttrs{0}, g.Normal()),
		okCall("f64", DimAttrs{1}, array.Cast(g.Normal(3, 5), array.F64)),
		okCall("f16", DimAttrs{1}, array.Cast(g.Normal(3, 5), array.F16)),
		okCall("masked", DimAttrs{1}, array.FromSlice([]float32{1, -inf, 2, 3, 4, -inf}, 2, 3)),
		okCall("special", DimAttrs{1}, array.Reshape(g.Special(), 5, 3)),
	}
}
