package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// SortAttrs are the attributes of sort and argsort. Equal elements keep their
// order also without Stable.
type SortAttrs struct {
	Dim        int `fx:",arg"`
	Descending bool
	Stable     bool
}

// TopkAttrs are the attributes of topk. Results come in order also with Unsorted.
type TopkAttrs struct {
	K        int `fx:",arg"`
	Dim      int `fx:",arg"`
	Smallest bool
	Unsorted bool
}

// Sort orders the elements along a dimension.
//
//gofx:torch torch.sort(x, dim=dim, descending=descending, stable=True)
var Sort = op.Define("sort", op.Spec[SortAttrs]{
	Doc: "sort orders the elements along a dimension and gives their indices; NaN counts as the greatest.", In: op.Args("x"),
	Results: []string{"values", "indices"},
	Infer: func(_ *op.Infer, a SortAttrs, in []shape.Type) (shape.Type, error) {
		if in[0].Ranked() {
			if _, err := op.Axis(a.Dim, in[0].Rank()); err != nil {
				return shape.Type{}, err
			}
		}
		return withIndices(typeOf(in[0].DType(), in[0].Ranked(), in[0].Dims().Slice()...)), nil
	},
	Kernel: func(a SortAttrs, in []shape.Type) kernel.Step {
		axis, _ := op.Axis(a.Dim, in[0].Rank())
		return &kernel.Sort{Dim: axis, Descending: a.Descending, Stable: a.Stable}
	},
	Samples: sortSamples, Bad: sortBad,
})

// Argsort gives the indices that sort.
//
//gofx:torch torch.sort(x, dim=dim, descending=descending, stable=True)[1]
var Argsort = op.Define("argsort", op.Spec[SortAttrs]{
	Doc: "argsort gives the i64 indices that sort a dimension.", In: op.Args("x"),
	Infer: func(_ *op.Infer, a SortAttrs, in []shape.Type) (shape.Type, error) {
		if in[0].Ranked() {
			if _, err := op.Axis(a.Dim, in[0].Rank()); err != nil {
				return shape.Type{}, err
			}
		}
		return typeOf(array.I64, in[0].Ranked(), in[0].Dims().Slice()...), nil
	},
	Decompose: func(b op.Builder, a SortAttrs, in []op.Value) op.Value {
		return b.Item(b.Call(Sort, a, in[0]), 1)
	},
	Samples: sortSamples, Bad: sortBad,
})

// Topk takes the greatest or least elements along a dimension.
//
//gofx:torch topk(x, k, dim, smallest)
var Topk = op.Define("topk", op.Spec[TopkAttrs]{
	Doc: "topk takes the k greatest elements along a dimension, in order, and their indices; NaN counts as the greatest.", In: op.Args("x"),
	Results: []string{"values", "indices"},
	Infer:   topkRule,
	Kernel: func(a TopkAttrs, in []shape.Type) kernel.Step {
		axis, _ := op.Axis(a.Dim, in[0].Rank())
		return &kernel.TopK{K: a.K, Dim: axis, Largest: !a.Smallest, Sorted: !a.Unsorted}
	},
	Samples: func(g *op.Gen) []op.Sample {
		return append(reduceTypes(g, TopkAttrs{K: 2, Dim: 1}, true),
			okCall("smallest, negative axis", TopkAttrs{K: 3, Dim: -1, Smallest: true}, g.Normal(2, 3, 9)),
			okCall("special values", TopkAttrs{K: 15, Dim: 0}, g.Special()),
			okCall("none", TopkAttrs{K: 0, Dim: 0}, g.Normal(3, 2)),
			okCall("unsorted", TopkAttrs{K: 2, Dim: 0, Unsorted: true}, g.Normal(7)),
			okCall("zero size", TopkAttrs{K: 2, Dim: 1}, g.Normal(0, 3)),
			okCall("0-dimensional", TopkAttrs{K: 1, Dim: 0}, g.Normal()))
	},
	Bad: func(g *op.Gen) []op.BadSample {
		return []op.BadSample{
			badCall(op.BadAxis, "axis", TopkAttrs{K: 1, Dim: 2}, g.Normal(2, 3)),
			badCall(op.BadAttr, "k beyond the size", TopkAttrs{K: 4, Dim: 1}, g.Normal(2, 3)),
			badCall(op.BadAttr, "negative k", TopkAttrs{K: -1, Dim: 1}, g.Normal(2, 3)),
		}
	},
})

// withIndices is the type of values and their indices.
func withIndices(t shape.Type) shape.Type {
	return shape.TupleType(t, t.WithDType(array.I64))
}

func topkRule(c *op.Infer, a TopkAttrs, in []shape.Type) (shape.Type, error) {
	t := in[0]
	if a.K < 0 {
		return t, diag.New(op.BadAttr, "k "+strconv.Itoa(a.K)+", expected one that is not negative")
	}
	if !t.Ranked() {
		return withIndices(shape.Unranked(t.DType())), nil
	}
	axis, err := op.Axis(a.Dim, t.Rank())
	if err != nil {
		return t, err
	}
	size := shape.Const(1)
	if t.Rank() > 0 {
		size = t.Dim(axis)
	}
	if err := c.AtLeast(size, shape.Const(a.K), op.BadAttr, func() string {
		return "k " + strconv.Itoa(a.K) + " of dimension " + strconv.Itoa(axis) + " of size " + size.String() + ", expected at most the size"
	}); err != nil {
		return t, err
	}
	if t.Rank() == 0 {
		if a.K == 0 {
			return t, diag.New(op.BadAttr, "k 0 of a 0-dimensional tensor, expected 1")
		}
		return withIndices(t), nil
	}
	return withIndices(t.WithDims(t.Dims().With(axis, shape.Const(a.K)))), nil
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
