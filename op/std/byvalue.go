package std

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Operators whose results have sizes that follow from values (op.Spec.ByValue).

// UniqueAttrs are the attributes of unique: the dimension whose slices are compared, or
// with Flat the elements of the whole tensor.
type UniqueAttrs struct {
	Dim      int
	Flat     bool
	Unsorted bool
}

// NonMaxSuppressionAttrs are the attributes of non_max_suppression.
type NonMaxSuppressionAttrs struct {
	Most    int       `fx:",arg"` // boxes of a class
	Overlap float64   // common part of two boxes beyond which one is left out
	Score   op.Scalar // least score, exclusive; absent: none
	Center  bool      // boxes are middles and sizes
}

// Nonzero finds the elements that are not zero.
//
//gofx:torch torch.nonzero(x)
var Nonzero = op.Define("nonzero", op.Spec[op.None]{
	Doc: "nonzero gives the i64 indices of the elements that are not zero, a row for each.", In: op.Args("x"), ByValue: true, NoGrad: indicesOnly,
	Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		rank := shape.Unknown
		if in[0].Ranked() {
			rank = shape.Const(in[0].Rank())
		}
		return shape.TensorType(array.I64, shape.Of(shape.Unknown, rank)), nil
	},
	AtMost: func(_ op.None, in []shape.Type) []shape.Dims {
		rank := shape.Unknown
		if in[0].Ranked() {
			rank = shape.Const(in[0].Rank())
		}
		return []shape.Dims{shape.Of(elementCount(in[0]), rank)}
	},
	Kernel:  func(op.None, []shape.Type) kernel.Step { return &kernel.NonZero{} },
	Samples: nonzeroSamples,
	Bad:     nonzeroBad,
})

// Unique takes what differs out of a tensor.
//
//gofx:torch unique(x, dim, flat, unsorted)
var Unique = op.Define("unique", op.Spec[UniqueAttrs]{
	Doc: "unique takes the slices of a dimension that differ, in rising order or in that of their appearance, and gives where each appears first, " +
		"for every slice the place of its equal, and how often each is there; NaN is equal to NaN.",
	In: op.Args("x"), ByValue: true, Ref: "ONNX Unique", Results: []string{"values", "indices", "inverse", "counts"},
	NoGrad: "which elements are taken jumps where two become equal, and PyTorch has none",
	Differs: []op.Difference[UniqueAttrs]{
		extendsEmpty[UniqueAttrs](),
		departs[UniqueAttrs](op.Alters, "NaN is equal to NaN, as in ONNX and NumPy; in PyTorch each is another", func(in []*array.Array) bool { return hasNaN(in[0]) }),
	},
	Infer: func(_ *op.Infer, a UniqueAttrs, in []shape.Type) (shape.Type, error) {
		t, n := in[0], shape.Unknown
		values := shape.TensorType(t.DType(), shape.Of(shape.Unknown))
		switch {
		case a.Flat:
			n = elementCount(t)
		case !t.Ranked():
			values = shape.Unranked(t.DType())
		default:
			axis, err := realAxis(a.Dim, t.Rank())
			if err != nil {
				return t, err
			}
			n = t.Dim(axis)
			values = t.WithDims(t.Dims().With(axis, shape.Unknown))
		}
		list := shape.TensorType(array.I64, shape.Of(shape.Unknown))
		return shape.TupleType(values, list, shape.TensorType(array.I64, shape.Of(n)), list), nil
	},
	AtMost: func(a UniqueAttrs, in []shape.Type) []shape.Dims {
		n := elementCount(in[0])
		values := shape.Of(n)
		if !a.Flat && in[0].Ranked() {
			axis, _ := realAxis(a.Dim, in[0].Rank())
			n, values = in[0].Dim(axis), in[0].Dims()
		}
		list := shape.Of(n)
		return []shape.Dims{values, list, list, list}
	},
	Kernel: func(a UniqueAttrs, in []shape.Type) kernel.Step {
		u := &kernel.Unique{Flat: a.Flat, Unsorted: a.Unsorted}
		if !a.Flat {
			u.Dim, _ = realAxis(a.Dim, in[0].Rank())
		}
		return u
	},
	Samples: uniqueSamples,
	Bad:     uniqueBad,
})

// withNaN returns the operand with every fifth element no number.
func withNaN(a *array.Array) *array.Array {
	a = array.Clone(a)
	for i := 0; i < a.Len(); i += 5 {
		array.SetFloat64At(a, i, math.NaN())
	}
	return a
}

// manyBoxes is a limit that says no more than that all boxes may be taken.
const manyBoxes = 1 << 20

// NonMaxSuppression takes boxes that do not overlap.
//
//gofx:torch suppress(boxes, scores, most, overlap, score, center)
var NonMaxSuppression = op.Define("non_max_suppression", op.Spec[NonMaxSuppressionAttrs]{
	Doc: "non_max_suppression takes for each batch and class the boxes of the greatest scores that do not overlap one taken before, as rows of batch, class and box; none whose score is NaN.",
	In:  op.Args("boxes", "scores"), ByValue: true, NoGrad: indicesOnly, Ref: "ONNX NonMaxSuppression",
	Differs: []op.Difference[NonMaxSuppressionAttrs]{
		{Kind: op.Alters, Text: "boxes that are NaN, infinite or beyond 2^16: whether they overlap is not defined", When: func(_ NonMaxSuppressionAttrs, in []*array.Array) bool { return far(in[0]) }},
	},
	Infer: func(c *op.Infer, a NonMaxSuppressionAttrs, in []shape.Type) (shape.Type, error) {
		if a.Most < 0 {
			return shape.Type{}, diag.New(op.BadAttr, "most "+strconv.Itoa(a.Most)+", expected a count that is not negative")
		}
		return suppressed(c, in)
	},
	AtMost: func(a NonMaxSuppressionAttrs, in []shape.Type) []shape.Dims {
		if !in[1].Ranked() {
			return []shape.Dims{shape.Of(shape.Unknown, shape.Const(3))}
		}
		each := in[1].Dim(2)
		if n, known := each.Int(); known && a.Most < n || !known && a.Most < manyBoxes {
			each = shape.Const(a.Most)
		}
		return []shape.Dims{shape.Of(in[1].Dim(0).Mul(in[1].Dim(1)).Mul(each), shape.Const(3))}
	},
	Kernel: func(a NonMaxSuppressionAttrs, _ []shape.Type) kernel.Step {
		s := &kernel.Suppress{Most: a.Most, IoU: float32(a.Overlap), Center: a.Center, Scored: a.Score.Present()}
		if s.Scored {
			s.Score = float32(a.Score.Float64())
		}
		return s
	},
	Samples: nonMaxSuppressionSamples,
	Bad:     nonMaxSuppressionBad,
})

// suppressed is the type rule of boxes that do not overlap.
func suppressed(c *op.Infer, in []shape.Type) (shape.Type, error) {
	none := shape.Type{}
	for i, name := range []string{"boxes", "scores"} {
		if err := wantRank(name, in[i], 3, 3); err != nil {
			return none, err
		}
		if d := in[i].DType(); d != array.Invalid && !d.IsFloat() {
			return none, diag.New(op.DTypeMismatch, name+" are "+in[i].String()+", expected floats")
		}
	}
	if in[0].Ranked() && in[1].Ranked() {
		what := func() string {
			return "boxes are " + in[0].String() + ", scores " + in[1].String() + ", expected [batch, box, 4] and [batch, class, box]"
		}
		for _, d := range [][2]shape.Dim{{in[0].Dim(0), in[1].Dim(0)}, {in[0].Dim(1), in[1].Dim(2)}, {in[0].Dim(2), shape.Const(4)}} {
			if _, err := c.Equal(d[0], d[1], op.ShapeMismatch, what); err != nil {
				return none, err
			}
		}
	}
	return shape.TensorType(array.I64, shape.Of(shape.Unknown, shape.Const(3))), nil
}

// NonMaxSuppressionLimitsAttrs are the attributes of non_max_suppression_limits.
type NonMaxSuppressionLimitsAttrs struct {
	Center bool // boxes are middles and sizes
}

// NonMaxSuppressionLimits is NonMaxSuppression for limits that a run computes, of one element
// each; a count below 0 is 0, and without a score none is too low.
//
//gofx:torch suppress(boxes, scores, max(int(most), 0), float(overlap), None if score is None else float(score), center)
var NonMaxSuppressionLimits = op.Define("non_max_suppression_limits", op.Spec[NonMaxSuppressionLimitsAttrs]{
	Doc: "non_max_suppression_limits is non_max_suppression with limits that are tensors of one element: how many boxes of a class, the overlap and the least score.",
	In:  op.Args("boxes", "scores", "most", "overlap", "score?"), ByValue: true, NoGrad: indicesOnly, Ref: "ONNX NonMaxSuppression",
	Differs: []op.Difference[NonMaxSuppressionLimitsAttrs]{
		{Kind: op.Alters, Text: "boxes that are NaN, infinite or beyond 2^16: whether they overlap is not defined", When: func(_ NonMaxSuppressionLimitsAttrs, in []*array.Array) bool { return far(in[0]) }},
		{Kind: op.Refuses, Text: "a count that is a float, and an overlap or a score that is an integer", When: func(_ NonMaxSuppressionLimitsAttrs, in []*array.Array) bool {
			return in[2].DType().IsFloat() || !in[3].DType().IsFloat() || in[4] != nil && !in[4].DType().IsFloat()
		}},
	},
	Infer: func(c *op.Infer, _ NonMaxSuppressionLimitsAttrs, in []shape.Type) (shape.Type, error) {
		for i, name := range []string{"most", "overlap", "score"} {
			if i+2 == len(in) {
				break
			}
			t := in[i+2]
			if err := wantRank(name, t, 0, 1); err != nil {
				return shape.Type{}, err
			}
			if t.Rank() == 1 {
				if _, err := c.Equal(t.Dim(0), shape.Const(1), op.ShapeMismatch, func() string { return name + " is " + t.String() + ", expected one element" }); err != nil {
					return shape.Type{}, err
				}
			}
			if d := t.DType(); d != array.Invalid && d.IsFloat() != (i > 0) {
				return shape.Type{}, diag.New(op.DTypeMismatch, name+" is "+t.String()+", expected "+[]string{"an integer", "a float"}[min(i, 1)])
			}
		}
		return suppressed(c, in)
	},
	AtMost: func(_ NonMaxSuppressionLimitsAttrs, in []shape.Type) []shape.Dims {
		if !in[1].Ranked() {
			return []shape.Dims{shape.Of(shape.Unknown, shape.Const(3))}
		}
		return []shape.Dims{shape.Of(in[1].Dims().Prod(), shape.Const(3))}
	},
	Kernel: func(a NonMaxSuppressionLimitsAttrs, _ []shape.Type) kernel.Step {
		return &kernel.Suppress{Center: a.Center}
	},
	Samples: nonMaxSuppressionLimitsSamples,
	Bad:     nonMaxSuppressionLimitsBad,
})

// Sized makes sizes of values: those of its result are symbols that attributes may use.
//
//gofx:torch sized(n)
var Sized = op.Define("sized", op.Spec[op.None]{
	Doc: "sized makes sizes of the numbers in a vector: its result has them as its sizes, and a last one of 0, so that it holds nothing.",
	In:  op.Args("n"), ByValue: true,
	Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		t := in[0]
		if err := wantRank("n", t, 1, 1); err != nil {
			return shape.Type{}, err
		}
		if d := t.DType(); d != array.Invalid && d != array.I64 && d != array.I32 {
			return shape.Type{}, diag.New(op.DTypeMismatch, "n is "+t.String()+", expected i64 or i32")
		}
		count, ok := t.Dim(0).Int()
		if !ok {
			return shape.Unranked(array.Bool), nil
		}
		if count > mostSizedAxes {
			return shape.Type{}, diag.New(op.BadAttr, "n has "+strconv.Itoa(count)+" elements, expected at most "+strconv.Itoa(mostSizedAxes))
		}
		dims := slices.Repeat([]shape.Dim{shape.Unknown}, count+1)
		dims[count] = shape.Const(0)
		return shape.TensorType(array.Bool, shape.Of(dims...)), nil
	},
	Kernel:  func(op.None, []shape.Type) kernel.Step { return &kernel.Sized{} },
	Samples: sizedSamples,
	Bad:     sizedBad,
})

// mostSizedAxes is the number of sizes that one value gives at most.
const mostSizedAxes = 32

// Range counts; arange does so between numbers that are known.
//
//gofx:torch counted(start, limit, delta)
var Range = op.Define("range", op.Spec[op.None]{
	Doc: "range counts from start by delta and stays on this side of limit, which are three 0-dimensional tensors.",
	In:  op.Args("start", "limit", "delta"), ByValue: true, Ref: "ONNX Range", Grad: rangeGrad,
	Differs: []op.Difference[op.None]{
		{Kind: op.GradAlters, Text: "that by start and delta is not 0, as that of PyTorch's arange is, which takes numbers"},
	},
	Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		names := []string{"start", "limit", "delta"}
		d, err := sameNumber(names, in)
		if err != nil {
			return shape.Type{}, err
		}
		for i, name := range names {
			if err := wantRank(name, in[i], 0, 0); err != nil {
				return shape.Type{}, err
			}
		}
		return shape.TensorType(d, shape.Of(shape.Unknown)), nil
	},
	Kernel:  func(op.None, []shape.Type) kernel.Step { return &kernel.Range{} },
	Samples: rangeSamples,
	Bad:     rangeBad,
})
