package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

func topkSamples(g *op.Gen) []op.Sample {
	return append(reduceTypes(g, TopkAttrs{K: 2, Dim: 1}, true),
		okCall("smallest, negative axis", TopkAttrs{K: 3, Dim: -1, Smallest: true}, g.Normal(2, 3, 9)),
		okCall("special values", TopkAttrs{K: 15, Dim: 0}, g.Special()),
		okCall("none", TopkAttrs{K: 0, Dim: 0}, g.Normal(3, 2)),
		okCall("unsorted", TopkAttrs{K: 2, Dim: 0, Unsorted: true}, g.Normal(7)),
		okCall("zero size", TopkAttrs{K: 2, Dim: 1}, g.Normal(0, 3)),
		okCall("0-dimensional", TopkAttrs{K: 1, Dim: 0}, g.Normal()))
}

func topkBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "axis", TopkAttrs{K: 1, Dim: 2}, g.Normal(2, 3)),
		badCall(op.BadAttr, "k beyond the size", TopkAttrs{K: 4, Dim: 1}, g.Normal(2, 3)),
		badCall(op.BadAttr, "negative k", TopkAttrs{K: -1, Dim: 1}, g.Normal(2, 3)),
	}
}

func searchsortedSamples(g *op.Gen) []op.Sample {
	seq, x := array.FromSlice([]float32{-2, -1, -1, 0, 0.5, 2, 2, 2.5}), g.Normal(3, 4)
	as := func(d array.DType) op.Sample {
		return okCall(d.String(), SearchsortedAttrs{}, array.Cast(array.FromSlice([]int64{1, 2, 2, 5, 9}), d), array.Cast(g.Int(10, 7), d))
	}
	return []op.Sample{
		okCall("one sequence", SearchsortedAttrs{}, seq, x),
		okCall("equal elements", SearchsortedAttrs{}, seq, seq),
		okCall("right", SearchsortedAttrs{Right: true}, seq, seq),
		okCall("rows", SearchsortedAttrs{}, array.FromSlice([]float32{1, 2, 3, 4, 4, 5}, 2, 3), g.Uniform(0, 6, 2, 5)),
		okCall("strided", SearchsortedAttrs{Right: true}, g.Strided(array.FromSlice([]float32{1, 2, 3, 4, 4, 5}, 3, 2)), g.Strided(g.Uniform(0, 6, 3, 4))),
		okCall("special values", SearchsortedAttrs{}, seq, g.Special()),
		okCall("0-dimensional", SearchsortedAttrs{}, seq, g.Normal()),
		okCall("empty sequence", SearchsortedAttrs{}, g.Normal(0), x),
		okCall("zero size", SearchsortedAttrs{}, seq, g.Normal(0, 2)),
		as(array.F64), as(array.F16), as(array.BF16), as(array.I64), as(array.I32), as(array.U8),
	}
}

func searchsortedBad(g *op.Gen) []op.BadSample {
	none := SearchsortedAttrs{}
	return []op.BadSample{
		badCall(op.DTypeMismatch, "types", none, g.Normal(3), g.Int(3, 2)),
		badCall(op.DTypeMismatch, "bool", none, g.Bool(3), g.Bool(2)),
		badCall(op.RankMismatch, "no sequence", none, g.Normal(), g.Normal(2)),
		badCall(op.RankMismatch, "ranks", none, g.Normal(2, 3), g.Normal(2)),
		badCall(op.ShapeMismatch, "rows", none, g.Normal(2, 3), g.Normal(3, 3)),
	}
}

func sortSamples(g *op.Gen) []op.Sample {
	return append(reduceTypes(g, SortAttrs{Dim: 1}, true),
		okCall("descending, negative axis", SortAttrs{Dim: -1, Descending: true}, g.Normal(2, 3, 9)),
		okCall("special values", SortAttrs{Dim: 0}, g.Special()),
		okCall("special values descending", SortAttrs{Dim: 0, Descending: true}, g.Special()),
		okCall("stable with equal elements", SortAttrs{Dim: 0, Stable: true}, g.Int(4, 40)),
		okCall("zero size", SortAttrs{Dim: 0}, g.Normal(0, 3)),
		okCall("0-dimensional", SortAttrs{Dim: -1}, g.Normal()))
}

func sortBad(g *op.Gen) []op.BadSample {
	return []op.BadSample{
		badCall(op.BadAxis, "axis", SortAttrs{Dim: 2}, g.Normal(2, 3)),
		badCall(op.BadAxis, "negative axis", SortAttrs{Dim: -3}, g.Normal(2, 3)),
	}
}
