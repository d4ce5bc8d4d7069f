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
	Grad:    sortGrad,
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
	Differs: []op.Difference[TopkAttrs]{
		{Kind: op.Refuses, Text: "a k of 0 for a tensor without dimensions, of which PyTorch returns the element", When: func(a TopkAttrs, in []*array.Array) bool { return a.K == 0 && in[0].Rank() == 0 }},
	},
	Kernel: func(a TopkAttrs, in []shape.Type) kernel.Step {
		axis, _ := op.Axis(a.Dim, in[0].Rank())
		return &kernel.TopK{K: a.K, Dim: axis, Largest: !a.Smallest, Sorted: !a.Unsorted}
	},
	Samples: topkSamples,
	Bad:     topkBad,
})

// SearchsortedAttrs are the attributes of searchsorted.
type SearchsortedAttrs struct {
	Right bool
}

// Searchsorted finds the places of values in sorted sequences.
//
//gofx:torch torch.searchsorted(sorted_sequence, values, right=right)
var Searchsorted = op.Define("searchsorted", op.Spec[SearchsortedAttrs]{
	Doc: "searchsorted gives the i64 indices at which values belong in the last dimension of sorted_sequence, before equal elements, or after them if right is set; " +
		"a sequence of one dimension is for all values, else each row of values has its own.",
	In: op.Args("sorted_sequence", "values"), Differs: []op.Difference[SearchsortedAttrs]{refusesMixed[SearchsortedAttrs]()},
	Infer: func(c *op.Infer, _ SearchsortedAttrs, in []shape.Type) (shape.Type, error) {
		seq, x := in[0], in[1]
		if _, err := sameNumber([]string{"sorted_sequence", "values"}, in); err != nil {
			return shape.Type{}, err
		}
		if err := wantRank("sorted_sequence", seq, 1, anyRank); err != nil {
			return shape.Type{}, err
		}
		if rank := seq.Rank(); seq.Ranked() && x.Ranked() && rank > 1 {
			if err := wantRank("values", x, rank, rank); err != nil {
				return shape.Type{}, err
			}
			rows := func(t shape.Type) shape.Type { return t.WithDims(t.Dims().Sub(0, rank-1)) }
			if err := sameDims(c, "the outside of values", rows(x), "that of sorted_sequence", rows(seq)); err != nil {
				return shape.Type{}, err
			}
		}
		return x.WithDType(array.I64), nil
	},
	Kernel:  func(a SearchsortedAttrs, _ []shape.Type) kernel.Step { return &kernel.SearchSorted{Right: a.Right} },
	Samples: searchsortedSamples,
	Bad:     searchsortedBad,
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
