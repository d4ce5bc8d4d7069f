package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func blockQuantizeSamples(g *op.Gen) []op.Sample {
	a := BlockAttrs{"Q8_0"}
	x := g.Normal(3, 96)
	small := array.Contiguous(x) // sizes whose scale f16 has few digits of
	for i := range small.Len() {
		array.SetFloat64At(small, i, array.Float64At(x, i)*1e-5)
	}
	mixed := g.Normal(2, 64) // a block of zeros, and one whose elements are halves of its scale
	for i := range 32 {
		array.SetFloat64At(mixed, i, 0)
		array.SetFloat64At(mixed, 32+i, float64(i)+0.5)
	}
	array.SetFloat64At(mixed, 32, 127)
	return []op.Sample{
		okCall("rows", a, x),
		okCall("heads", a, g.Normal(2, 3, 4, 64)),
		okCall("vector", a, g.Normal(64)),
		okCall("small", a, small),
		okCall("zeros and halves", a, mixed),
		okCall("strided", a, g.Strided(x)),
		okCall("f16", a, array.Cast(x, array.F16)),
		okCall("bf16", a, array.Cast(x, array.BF16)),
		okCall("empty batch", a, g.Normal(0, 64)),
		okCall("no elements", a, g.Normal(2, 0)),
	}
}

func blockQuantizeBad(g *op.Gen) []op.BadSample {
	x := g.Normal(3, 64)
	return []op.BadSample{
		badCall(op.BadAttr, "no format", BlockAttrs{}, x),
		badCall(op.BadAttr, "format", BlockAttrs{"Q4_0"}, x),
		badCall(op.DTypeMismatch, "f64", BlockAttrs{"Q8_0"}, array.Cast(x, array.F64)),
		badCall(op.DTypeMismatch, "integers", BlockAttrs{"Q8_0"}, g.Int(9, 3, 64)),
		badCall(op.SizeMismatch, "part of a block", BlockAttrs{"Q8_0"}, g.Normal(3, 65)),
		badCall(op.RankMismatch, "scalar", BlockAttrs{"Q8_0"}, g.Normal()),
	}
}

func blockAttentionSamples(g *op.Gen) []op.Sample {
	none := BlockAttentionAttrs{Format: "Q8_0"}
	cache := func(keys, elements int, lead ...int) *array.Array {
		n := 1
		for _, d := range lead {
			n *= d
		}
		return array.Reshape(blocked(g, "Q8_0", n*keys, elements), append(append([]int(nil), lead...), keys, elements/32*34)...)
	}
	args := func(l, s, e, v int, lead ...int) []*array.Array {
		return []*array.Array{g.Normal(append(append([]int(nil), lead...), l, e)...), cache(s, e, lead...), cache(s, v, lead...)}
	}
	with := func(in []*array.Array, mask *array.Array) []*array.Array {
		return append(append([]*array.Array(nil), in...), mask)
	}
	as := func(d array.DType, in []*array.Array) []*array.Array {
		return append([]*array.Array{array.Cast(in[0], d)}, in[1:]...)
	}
	heads := args(4, 5, 64, 32, 2, 3)
	grouped := []*array.Array{g.Normal(2, 4, 4, 64), cache(5, 64, 2, 2), cache(5, 64, 2, 2)}
	mask := g.Bool(4, 5)
	for i := range 5 {
		array.SetInt64At(mask, 5+i, 0) // a row without any position
		array.SetInt64At(mask, i, 1)
	}
	return []op.Sample{
		okCall("heads", none, heads...),
		okCall("matrices", none, args(3, 3, 32, 32)...),
		okCall("one query of many keys", none, args(1, 70, 64, 64, 2)...),
		okCall("causal", BlockAttentionAttrs{Format: "Q8_0", IsCausal: true}, args(5, 5, 32, 64, 2, 3)...),
		okCall("bool mask", none, with(heads, mask)...),
		okCall("padding mask", none, with(heads, array.Reshape(array.Slice(mask, 0, 0, 2, 1), 2, 1, 1, 5))...),
		okCall("float mask", none, with(heads, g.Normal(2, 1, 4, 5))...),
		okCall("scale", BlockAttentionAttrs{Format: "Q8_0", Scale: op.Float(0.05)}, heads...),
		okCall("grouped heads", BlockAttentionAttrs{Format: "Q8_0", EnableGqa: true}, grouped...),
		okCall("broadcast", none, g.Normal(2, 3, 4, 32), cache(5, 32, 3), cache(5, 64, 1, 1)),
		okCall("strided", none, g.Strided(heads[0]), g.Strided(heads[1]), g.Strided(heads[2])),
		okCall("empty batch", none, args(4, 5, 32, 64, 0, 3)...),
		okCall("f16", none, as(array.F16, heads)...),
		okCall("bf16", none, as(array.BF16, args(2, 2, 32, 32, 1))...),
	}
}

func blockAttentionBad(g *op.Gen) []op.BadSample {
	none := BlockAttentionAttrs{Format: "Q8_0"}
	q := g.Normal(4, 64)
	k, v := blocked(g, "Q8_0", 5, 64), blocked(g, "Q8_0", 5, 32)
	return []op.BadSample{
		badCall(op.BadAttr, "no format", BlockAttentionAttrs{}, q, k, v),
		badCall(op.BadAttr, "format", BlockAttentionAttrs{Format: "Q4_0"}, q, k, v),
		badCall(op.BadAttr, "causal and mask", BlockAttentionAttrs{Format: "Q8_0", IsCausal: true}, q, k, v, g.Bool(4, 5)),
		badCall(op.BadAttr, "groups of matrices", BlockAttentionAttrs{Format: "Q8_0", EnableGqa: true}, q, k, v),
		badCall(op.DTypeMismatch, "f64", none, array.Cast(q, array.F64), k, v),
		badCall(op.DTypeMismatch, "keys of i8", none, q, array.Cast(k, array.I8), v),
		badCall(op.DTypeMismatch, "integer mask", none, q, k, v, g.Int(2, 4, 5)),
		badCall(op.SizeMismatch, "part of a block", none, q, quantised(g, array.U8, 5, 67), v),
		badCall(op.ShapeMismatch, "features", none, q, v, v),
		badCall(op.ShapeMismatch, "positions", none, q, k, blocked(g, "Q8_0", 4, 32)),
		badCall(op.ShapeMismatch, "mask", none, q, k, v, g.Bool(4, 4)),
		badCall(op.RankMismatch, "vector", none, g.Normal(64), k, v),
	}
}
