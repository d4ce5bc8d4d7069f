package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func scanOpSamples(g *op.Gen) []op.Sample {
	return append(reduceTypes(g, ScanAttrs{Dim: 1}, true),
		okCall("negative axis", ScanAttrs{Dim: -1}, g.Normal(2, 3, 4)),
		okCall("dtype", ScanAttrs{0, array.F64}, g.Normal(5)),
		okCall("zero size", ScanAttrs{Dim: 0}, g.Normal(0, 3)),
		okCall("0-dimensional", ScanAttrs{Dim: 0}, g.Normal()))
}

func scanOpBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "axis", ScanAttrs{Dim: 2}, g.Normal(2, 3)),
		badCall(op.DTypeMismatch, "integer dtype of floats", ScanAttrs{0, array.I64}, g.Normal(2, 3)),
	}
}
