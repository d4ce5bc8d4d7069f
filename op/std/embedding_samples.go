package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func embeddingSamples(g *op.Gen) []op.Sample {
	w := g.Normal(7, 5)
	return []op.Sample{
		okCall("vector", op.None{}, g.Int(7, 4), w),
		okCall("matrix", op.None{}, g.Int(7, 2, 3), w),
		okCall("one index", op.None{}, g.Int(7), w),
		okCall("i32 indices", op.None{}, array.Cast(g.Int(7, 2, 3), array.I32), w),
		okCall("no index", op.None{}, g.Int(7, 0, 3), w),
		okCall("no columns", op.None{}, g.Int(7, 3), g.Normal(7, 0)),
		okCall("strided", op.None{}, g.Strided(g.Int(7, 2, 3)), g.Strided(w)),
		okCall("f64", op.None{}, g.Int(7, 3), array.Cast(w, array.F64)),
		okCall("f16", op.None{}, g.Int(7, 3), array.Cast(w, array.F16)),
		okCall("i8", op.None{}, g.Int(7, 3), array.Cast(g.Int(100, 7, 5), array.I8)),
		okCall("special", op.None{}, g.Int(5, 3), array.Reshape(g.Special(), 5, 3)),
	}
}

func embeddingBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.DTypeMismatch, "float indices", op.None{}, g.Normal(3), g.Normal(7, 5)),
		badCall(op.RankMismatch, "weight rank", op.None{}, g.Int(7, 3), g.Normal(7)),
	}
}

func embeddingBagSamples(g *op.Gen) []op.Sample {
	w, idx := g.Normal(9, 4), g.Int(9, 6)
	starts := array.FromSlice([]int64{0, 2, 2, 5})
	ends := array.FromSlice([]int64{0, 3, 6})
	var out []op.Sample
	for _, mode := range []string{"", "sum", "mean", "max"} {
		out = append(out, okCall("matrix "+mode, EmbeddingBagAttrs{Mode: mode}, g.Int(9, 3, 4), w),
			okCall("offsets "+mode, EmbeddingBagAttrs{Mode: mode}, idx, w, starts))
	}
	sum := EmbeddingBagAttrs{Mode: "sum"}
	return append(out,
		okCall("last offset", EmbeddingBagAttrs{IncludeLastOffset: true}, idx, w, ends),
		okCall("per sample weights", sum, g.Int(9, 3, 4), w, nil, g.Normal(3, 4)),
		okCall("weighted offsets", sum, idx, w, starts, g.Normal(6)),
		okCall("i32", sum, array.Cast(idx, array.I32), w, array.Cast(starts, array.I32)),
		okCall("strided", sum, g.Strided(g.Int(9, 3, 4)), g.Strided(w)),
		okCall("no bags", sum, g.Int(9, 0, 4), w),
		okCall("f64", sum, idx, array.Cast(w, array.F64), starts),
		okCall("f16", EmbeddingBagAttrs{}, idx, array.Cast(w, array.F16), starts),
		okCall("special", EmbeddingBagAttrs{Mode: "max"}, g.Int(5, 3, 2), array.Reshape(g.Special(), 5, 3)))
}

func embeddingBagBad(g *op.Gen) []op.BadSample {
	w, m, sum := g.Normal(9, 4), g.Int(9, 3, 4), EmbeddingBagAttrs{Mode: "sum"}
	return []op.BadSample{
		badCall(op.BadAttr, "mode", EmbeddingBagAttrs{Mode: "median"}, m, w),
		badCall(op.BadAttr, "weights of a mean", EmbeddingBagAttrs{}, m, w, nil, g.Normal(3, 4)),
		badCall(op.DTypeMismatch, "float indices", sum, g.Normal(3, 4), w),
		badCall(op.DTypeMismatch, "float offsets", sum, g.Int(9, 6), w, g.Normal(2)),
		badCall(op.DTypeMismatch, "integer weight", sum, m, g.Int(9, 9, 4)),
		badCall(op.DTypeMismatch, "weights of another type", sum, m, w, nil, array.Cast(g.Normal(3, 4), array.F64)),
		badCall(op.RankMismatch, "rank of x", sum, g.Int(9, 1, 2, 3), w),
		badCall(op.RankMismatch, "rank of weight", sum, m, g.Normal(9)),
		badCall(op.RankMismatch, "rank of offsets", sum, g.Int(9, 6), w, g.Int(2, 1, 2)),
		badCall(op.ShapeMismatch, "shape of weights", sum, m, w, nil, g.Normal(3, 5)),
		badCall(op.OperandCount, "offsets of a matrix", sum, m, w, g.Int(1, 2)),
		badCall(op.SizeMismatch, "no last offset", EmbeddingBagAttrs{IncludeLastOffset: true}, g.Int(9, 6), w, g.Int(1, 0)),
	}
}
