package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func logsumexpSamples(g *op.Gen) []op.Sample {
	over := func(keep bool, n ...int) LogsumexpAttrs { return LogsumexpAttrs{op.IntList(n...), keep} }
	inf := float32(math.Inf(1))
	return append(reduceTypes(g, over(false, 1), true),
		okCall("all dimensions", over(false), g.Normal(2, 3)),
		okCall("negative axes, kept", over(true, -1, 0), g.Normal(2, 3, 4)),
		okCall("large values", over(false, 1), g.Uniform(900, 1000, 2, 5)),
		okCall("infinities", over(false, 1), array.FromSlice([]float32{inf, 1, -inf, -inf, -inf, 2, inf, -inf}, 4, 2)),
		okCall("zero size kept", over(false, 1), g.Normal(0, 3)),
		okCall("zero size reduced", over(false, 0), g.Normal(0, 3)),
		okCall("0-dimensional", over(false, 0), g.Normal()))
}

func logsumexpBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "axis", LogsumexpAttrs{Dim: op.IntList(2)}, g.Normal(2, 3)),
		badCall(op.BadAttr, "axis twice", LogsumexpAttrs{Dim: op.IntList(0, -2)}, g.Normal(2, 3)),
	}
}

func normSamples(g *op.Gen) []op.Sample {
	p := func(p float64, n ...int) NormAttrs { return NormAttrs{P: op.Float(p), Dim: op.IntList(n...)} }
	s := append(reduceTypes(g, NormAttrs{Dim: op.IntList(1)}, false),
		okCall("all dimensions", NormAttrs{}, g.Normal(2, 3)),
		okCall("negative axes, kept", NormAttrs{Dim: op.IntList(-1, 0), KeepDim: true}, g.Normal(2, 3, 4)),
		okCall("zero size reduced", NormAttrs{Dim: op.IntList(0)}, g.Normal(0, 3)))
	for _, order := range []float64{0, 1, 2, 3, -1, 0.5, math.Inf(1), math.Inf(-1)} {
		s = append(s, okCall("p="+op.Float(order).String(), p(order, 1), g.Normal(2, 5)))
	}
	return append(s, okCall("p=0 of zeros", p(0), array.New(array.F32, 3)))
}

func normBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "axis", NormAttrs{Dim: op.IntList(2)}, g.Normal(2, 3)),
		badCall(op.DTypeMismatch, "integers", NormAttrs{}, g.Int(9, 2, 3)),
		badCall(op.SizeMismatch, "greatest of nothing", NormAttrs{P: op.Float(math.Inf(1))}, g.Normal(0)),
	}
}
