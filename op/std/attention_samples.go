package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func attentionSamples(g *op.Gen) []op.Sample {
	none := AttentionAttrs{}
	args := func(l, s, e, v int, lead ...int) []*array.Array {
		dims := func(n ...int) []int { return append(append([]int(nil), lead...), n...) }
		return []*array.Array{g.Normal(dims(l, e)...), g.Normal(dims(s, e)...), g.Normal(dims(s, v)...)}
	}
	with := func(in []*array.Array, mask *array.Array) []*array.Array {
		return append(append([]*array.Array(nil), in...), mask)
	}
	heads := args(4, 5, 8, 6, 2, 3)
	strided := args(4, 5, 8, 8, 2, 3)
	for i, x := range strided {
		strided[i] = g.Strided(x)
	}
	grouped := args(4, 5, 8, 8, 2, 4)
	grouped[1], grouped[2] = g.Normal(2, 2, 5, 8), g.Normal(2, 2, 5, 8)
	mask := g.Bool(4, 5)
	for i := range 5 {
		array.SetInt64At(mask, 5+i, 0) // a row without any position
		array.SetInt64At(mask, i, 1)
	}
	return []op.Sample{
		okCall("heads", none, heads...),
		okCall("matrices", none, args(3, 3, 4, 4)...),
		okCall("causal", AttentionAttrs{IsCausal: true}, args(5, 5, 8, 8, 2, 3)...),
		okCall("causal, more queries", AttentionAttrs{IsCausal: true}, args(6, 3, 4, 4, 2)...),
		okCall("bool mask", none, with(heads, mask)...),
		okCall("padding mask", none, with(heads, array.Reshape(array.Slice(mask, 0, 0, 2, 1), 2, 1, 1, 5))...),
		okCall("float mask", none, with(heads, g.Normal(2, 1, 4, 5))...),
		okCall("row mask", none, with(heads, g.Normal(5))...),
		okCall("scale", AttentionAttrs{Scale: op.Float(0.5)}, heads...),
		okCall("grouped heads", AttentionAttrs{EnableGqa: true}, grouped...),
		okCall("broadcast", none, g.Normal(2, 3, 4, 8), g.Normal(3, 5, 8), g.Normal(1, 1, 5, 2)),
		okCall("strided", none, strided...),
		okCall("empty batch", none, args(4, 5, 8, 6, 0, 3)...),
		okCall("f64", none, castAll(array.F64, args(4, 5, 8, 6, 2))...),
		okCall("bf16", none, castAll(array.BF16, args(2, 2, 4, 2, 1))...),
	}
}

func attentionBad(g *op.Gen) []op.BadSample {
	none := AttentionAttrs{}
	q, k, v := g.Normal(2, 3, 4, 8), g.Normal(2, 3, 5, 8), g.Normal(2, 3, 5, 6)
	gqa := AttentionAttrs{EnableGqa: true}
	return []op.BadSample{
		badCall(op.ShapeMismatch, "features", none, q, g.Normal(2, 3, 5, 7), v),
		badCall(op.ShapeMismatch, "positions", none, q, k, g.Normal(2, 3, 4, 6)),
		badCall(op.ShapeMismatch, "heads", none, q, g.Normal(2, 2, 5, 8), v),
		badCall(op.ShapeMismatch, "mask", none, q, k, v, g.Bool(4, 4)),
		badCall(op.ShapeMismatch, "mask rows", none, g.Normal(2, 3, 1, 8), k, v, g.Bool(4, 5)),
		badCall(op.ShapeMismatch, "groups", gqa, q, g.Normal(2, 2, 5, 8), g.Normal(2, 2, 5, 6)),
		badCall(op.BadAttr, "groups of matrices", gqa, g.Normal(4, 8), g.Normal(5, 8), g.Normal(5, 8)),
		badCall(op.BadAttr, "causal and mask", AttentionAttrs{IsCausal: true}, q, k, v, g.Bool(4, 5)),
		badCall(op.RankMismatch, "vector", none, g.Normal(8), k, v),
		badCall(op.DTypeMismatch, "integers", none, g.Int(9, 4, 8), g.Int(9, 5, 8), g.Int(9, 5, 8)),
		badCall(op.DTypeMismatch, "mixed", none, q, array.Cast(k, array.F64), v),
		badCall(op.DTypeMismatch, "integer mask", none, q, k, v, g.Int(2, 4, 5)),
	}
}
