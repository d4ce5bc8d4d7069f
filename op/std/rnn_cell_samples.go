package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

func lstmGatesSamples(g *op.Gen) []op.Sample {
	args := func(dims ...int) (in []*array.Array) {
		for range 5 {
			in = append(in, g.Normal(dims...))
		}
		return in
	}
	strided, row, special := args(3, 4), args(3, 4), args(15)
	strided[0], row[4], special[2] = g.Strided(strided[0]), g.Normal(4), g.Special()
	return []op.Sample{
		okCall("matrix", op.None{}, args(3, 4)...), okCall("vector", op.None{}, args(5)...), okCall("0-dimensional", op.None{}, args()...),
		okCall("empty", op.None{}, args(0, 4)...), okCall("strided", op.None{}, strided...), okCall("broadcast", op.None{}, row...),
		okCall("f64", op.None{}, castAll(array.F64, args(3, 4))...), okCall("special", op.None{}, special...),
		okCall("f16", op.None{}, castAll(array.F16, args(3, 4))...), okCall("f32 gates of bf16", op.None{}, append(args(3, 4)[:4], array.Cast(g.Normal(3, 4), array.BF16))...),
		okCall("bf16", op.None{}, castAll(array.BF16, args(3, 4))...),
	}
}

func lstmGatesBad(g *op.Gen) []op.BadSample {
	x := g.Normal(3, 4)
	return []op.BadSample{
		badCall(op.ShapeMismatch, "shapes", op.None{}, x, x, x, x, g.Normal(3, 5)),
		badCall(op.DTypeMismatch, "integers", op.None{}, g.Int(9, 3), g.Int(9, 3), g.Int(9, 3), g.Int(9, 3), g.Int(9, 3)),
		badCall(op.DTypeMismatch, "types", op.None{}, x, x, x, x, array.Cast(x, array.F64)),
		badCall(op.OperandCount, "no state", op.None{}, x, x, x, x),
	}
}

func lstmCellSamples(g *op.Gen) []op.Sample { return cellSamples(g, 4, 2, op.None{}) }

func lstmCellBad(g *op.Gen) []op.BadSample { return cellBad(g, 4, 2, op.None{}) }

func gruCellSamples(g *op.Gen) []op.Sample { return cellSamples(g, 3, 1, op.None{}) }

func gruCellBad(g *op.Gen) []op.BadSample { return cellBad(g, 3, 1, op.None{}) }

func rnnCellSamples(g *op.Gen) []op.Sample {
	return append(cellSamples(g, 1, 1, RnnCellAttrs{}), cellSamples(g, 1, 1, RnnCellAttrs{Nonlinearity: "relu"})...)
}

func rnnCellBad(g *op.Gen) []op.BadSample {
	bad := cellBad(g, 1, 1, RnnCellAttrs{})
	odd := bad[0]
	odd.Name, odd.Attrs, odd.Code = "nonlinearity", RnnCellAttrs{Nonlinearity: "sin"}, op.BadAttr
	return append(bad, odd)
}

func cellSamples(g *op.Gen, gates, states int, attrs any) []op.Sample {
	plain := cellArgs(g, gates, states, 2)
	n := len(plain)
	strided := append([]*array.Array(nil), plain...)
	for i, a := range strided {
		strided[i] = g.Strided(a)
	}
	one := append(append([]*array.Array(nil), plain[:n-2]...), nil, plain[n-1])
	return []op.Sample{
		okCall("batch", attrs, plain...),
		okCall("unbatched", attrs, cellArgs(g, gates, states)...),
		okCall("no bias", attrs, plain[:n-2]...),
		okCall("one bias", attrs, plain[:n-1]...),
		okCall("the other bias", attrs, one...),
		okCall("empty batch", attrs, cellArgs(g, gates, states, 0)...),
		okCall("strided", attrs, strided...),
		okCall("f64", attrs, castAll(array.F64, plain)...),
		okCall("f16", attrs, castAll(array.F16, plain)...),
		okCall("bf16", attrs, castAll(array.BF16, plain)...),
	}
}

func cellBad(g *op.Gen, gates, states int, attrs any) []op.BadSample {
	right := cellArgs(g, gates, states, 2)
	bad := func(name string, code diag.Code, at int, a *array.Array) op.BadSample {
		in := append([]*array.Array(nil), right...)
		in[at] = a
		return op.BadSample{Name: name, Attrs: attrs, In: in, Code: code}
	}
	w := 1 + states
	return []op.BadSample{
		bad("features", op.SizeMismatch, 0, g.Normal(2, 5)),
		bad("batch", op.SizeMismatch, 1, g.Normal(3, 4)),
		bad("hidden size", op.SizeMismatch, w+1, g.Normal(4*gates, 5)),
		bad("bias", op.SizeMismatch, w+2, g.Normal(4*gates+1)),
		bad("rank of x", op.RankMismatch, 0, g.Normal(1, 2, 3)),
		bad("rank of h", op.RankMismatch, 1, g.Normal(4)),
		bad("rank of a weight", op.RankMismatch, w, g.Normal(4*gates)),
		bad("types", op.DTypeMismatch, w, array.Cast(right[w], array.F64)),
		bad("integers", op.DTypeMismatch, 0, g.Int(9, 2, 3)),
	}
}
