package std

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// DimAttrs are the attributes of operators that work along one dimension;
// negative ones count from the end.
type DimAttrs struct {
	Dim int `fx:",arg"`
}

// ReshapeAttrs are the attributes of reshape and view. One size may be -1: it
// follows from the number of elements.
type ReshapeAttrs struct {
	Shape shape.Dims `fx:",arg"`
}

// FlattenAttrs are the attributes of flatten: the first and the last dimension
// that become one.
type FlattenAttrs struct {
	StartDim int `fx:",arg"`
	EndDim   int `fx:",arg"`
}

// UnflattenAttrs are the attributes of unflatten. One size may be -1.
type UnflattenAttrs struct {
	Dim   int        `fx:",arg"`
	Sizes shape.Dims `fx:",arg"`
}

// SqueezeAttrs are the attributes of squeeze: the dimensions to drop where
// their size is 1, all when empty.
type SqueezeAttrs struct {
	Dim op.Ints `fx:",arg"`
}

// ExpandAttrs are the attributes of expand: the new sizes, -1 for dimensions
// that stay as they are.
type ExpandAttrs struct {
	Shape shape.Dims `fx:",arg"`
}

// PermuteAttrs are the attributes of permute: dimension i of the result is
// dimension Dims[i] of the operand.
type PermuteAttrs struct {
	Dims op.Ints `fx:",arg"`
}

// TransposeAttrs are the attributes of transpose: the dimensions to swap.
type TransposeAttrs struct {
	Dim0 int `fx:",arg"`
	Dim1 int `fx:",arg"`
}

// MovedimAttrs are the attributes of movedim: dimension Source[i] goes to
// Destination[i], the others keep their order.
type MovedimAttrs struct {
	Source      op.Ints `fx:",arg"`
	Destination op.Ints `fx:",arg"`
}

var reshapeSpec = op.Spec[ReshapeAttrs]{
	Infer:   reshapeRule,
	Kernel:  reshapeStep[ReshapeAttrs],
	Scatter: regroup[ReshapeAttrs],
	MayCopy: true,
	Samples: reshapeSamples,
	Bad:     reshapeBad,
}

// Reshape gives the elements, in row-major order, other sizes.
//
//gofx:torch x.reshape(shape)
var Reshape = viewOp("reshape", "reshape gives the elements, in row-major order, another shape; one size may be -1.", reshapeSpec)

// View is reshape under the name that code which never copies uses. An operand
// whose layout has no such view is copied.
//
//gofx:torch x.reshape(shape)
var View = viewOp("view", "view gives the elements, in row-major order, another shape; one size may be -1.", reshapeSpec)

// ViewAs is view to the shape that another tensor has.
//
//gofx:torch x.reshape(other.shape)
var ViewAs = op.Define("view_as", op.Spec[op.None]{
	Doc: "view_as gives the elements of x, in row-major order, the shape of other.", In: op.Args("x", "other"),
	Class: op.Movement, ViewOf: 1, MayCopy: true, Quant: op.QuantShared, Narrow: true,
	Infer:   viewAsRule,
	Kernel:  reshapeStep[op.None],
	Scatter: regroup[op.None],
	Samples: viewAsSamples,
	Bad:     viewAsBad,
})

// Flatten joins neighbouring dimensions.
//
//gofx:torch torch.flatten(x, start_dim, end_dim)
var Flatten = viewOp("flatten", "flatten joins the dimensions from start_dim to end_dim into one.", op.Spec[FlattenAttrs]{
	Infer:   dimsRule(flattenDims),
	Kernel:  reshapeStep[FlattenAttrs],
	Scatter: regroup[FlattenAttrs],
	MayCopy: true,
	Samples: flattenSamples,
	Bad:     flattenBad,
})

// Unflatten splits one dimension into several.
//
//gofx:torch x.unflatten(dim, sizes)
var Unflatten = viewOp("unflatten", "unflatten splits one dimension into several; one size may be -1.", op.Spec[UnflattenAttrs]{
	Infer:   dimsRule(unflattenDims),
	Kernel:  reshapeStep[UnflattenAttrs],
	Scatter: regroup[UnflattenAttrs],
	Samples: unflattenSamples,
	Bad:     unflattenBad,
})

// Squeeze drops dimensions of size 1.
//
//gofx:torch squeeze(x, dim)
var Squeeze = viewOp("squeeze", "squeeze drops dimensions of size 1.", op.Spec[SqueezeAttrs]{
	Infer: squeezeRule, Kernel: reshapeStep[SqueezeAttrs], Scatter: regroup[SqueezeAttrs], Samples: squeezeSamples,
	Bad: squeezeBad,
})

// Unsqueeze inserts a dimension of size 1.
//
//gofx:torch x.unsqueeze(dim)
var Unsqueeze = viewOp("unsqueeze", "unsqueeze inserts a dimension of size 1.", op.Spec[DimAttrs]{
	Infer: dimsRule(unsqueezeDims), Kernel: reshapeStep[DimAttrs], Scatter: regroup[DimAttrs], Samples: unsqueezeSamples,
	Bad: unsqueezeBad,
})

// Detach is x for everything but gradients, which stop at it. Optimising a graph removes
// it, so that gradients come before. Writes do not go through it where code is recorded:
// whether what is written is a constant, too, would be said of all of x.
//
//gofx:torch x.detach()
var Detach = viewOp("detach", "detach is x, as a constant for gradients, which do not go back through it.", op.Spec[op.None]{
	Infer:   func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
	Kernel:  sameView,
	Stops:   true,
	Samples: cloneSamples,
	Bad:     cloneBad,
})

// Barrier is x, which no pass takes it for: what is computed of it is not merged with what
// is computed of x, and it is not folded. What passes/checkpoint has computed again begins with
// it. It shows the memory of x and costs nothing.
// Ref: OpenXLA, StableHLO specification, optimization_barrier.
//
//gofx:torch x.view_as(x)
var Barrier = viewOp("barrier", "barrier is x, which no pass takes it for, so that what is computed of both stays apart.", op.Spec[op.None]{
	Effect:  op.Apart,
	Infer:   func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
	Kernel:  sameView,
	Scatter: func(_ op.Builder, _ op.None, _ int, _, v op.Value) op.Value { return v },
	Samples: cloneSamples,
	Bad:     cloneBad,
})

// Expand repeats dimensions of size 1 without copying. Writes do not go through
// it, as in PyTorch: an element would be written several times.
//
//gofx:torch x.expand(shape)
var Expand = viewOp("expand", "expand repeats dimensions of size 1 and adds leading ones, without copying.", op.Spec[ExpandAttrs]{
	Infer:   expandRule,
	Kernel:  func(ExpandAttrs, []shape.Type) kernel.Step { return &kernel.Expand{} },
	Grad:    seedBack[ExpandAttrs],
	Samples: expandSamples,
	Bad:     expandBad,
})

// Permute reorders the dimensions.
//
//gofx:torch x.permute(dims)
var Permute = viewOp("permute", "permute reorders the dimensions.", op.Spec[PermuteAttrs]{
	Infer: dimsRule(func(_ *op.Infer, a PermuteAttrs, d shape.Dims) (shape.Dims, error) {
		perm, err := permutation(a.Dims, d.Len())
		return pick(d, perm), err
	}),
	Kernel: func(a PermuteAttrs, in []shape.Type) kernel.Step {
		perm, _ := permutation(a.Dims, in[0].Rank())
		return &kernel.Permute{Dims: perm}
	},
	Scatter: func(b op.Builder, a PermuteAttrs, _ int, _, v op.Value) op.Value {
		perm, _ := permutation(a.Dims, a.Dims.Len())
		back := make([]int, len(perm))
		for i, d := range perm {
			back[d] = i
		}
		return later(b, "permute", PermuteAttrs{op.IntList(back...)}, v)
	},
	Samples: permuteSamples,
	Bad:     permuteBad,
})

// Transpose swaps two dimensions.
//
//gofx:torch x.transpose(dim0, dim1)
var Transpose = viewOp("transpose", "transpose swaps two dimensions.", op.Spec[TransposeAttrs]{
	Infer: dimsRule(func(_ *op.Infer, a TransposeAttrs, d shape.Dims) (shape.Dims, error) {
		perm, err := swap(a.Dim0, a.Dim1, d.Len())
		return pick(d, perm), err
	}),
	Kernel: func(a TransposeAttrs, in []shape.Type) kernel.Step {
		perm, _ := swap(a.Dim0, a.Dim1, in[0].Rank())
		return &kernel.Permute{Dims: perm}
	},
	Scatter: func(b op.Builder, a TransposeAttrs, _ int, _, v op.Value) op.Value {
		return later(b, "transpose", a, v)
	},
	Samples: transposeSamples,
	Bad:     transposeBad,
})

// T transposes a matrix.
var T = viewOp("t", "t transposes a matrix; vectors and 0-dimensional tensors stay as they are.", op.Spec[op.None]{
	Infer: dimsRule(func(_ *op.Infer, _ op.None, d shape.Dims) (shape.Dims, error) {
		if d.Len() > 2 {
			return d, diag.New(op.RankMismatch, "x has "+strconv.Itoa(d.Len())+" dimensions, expected at most 2").
				WithHint("transpose(dim0, dim1) swaps two dimensions of any tensor")
		}
		return pick(d, reversed(d.Len())), nil
	}),
	Kernel: func(_ op.None, in []shape.Type) kernel.Step {
		return &kernel.Permute{Dims: reversed(in[0].Rank())}
	},
	Scatter: func(b op.Builder, a op.None, _ int, _, v op.Value) op.Value { return later(b, "t", a, v) },
	Samples: tSamples,
	Bad:     tBad,
})

// Movedim moves dimensions to other places.
//
//gofx:torch torch.movedim(x, source, destination)
var Movedim = viewOp("movedim", "movedim moves dimensions to other places; the others keep their order.", op.Spec[MovedimAttrs]{
	Infer: dimsRule(func(_ *op.Infer, a MovedimAttrs, d shape.Dims) (shape.Dims, error) {
		perm, err := moved(a, d.Len())
		return pick(d, perm), err
	}),
	Kernel: func(a MovedimAttrs, in []shape.Type) kernel.Step {
		perm, _ := moved(a, in[0].Rank())
		return &kernel.Permute{Dims: perm}
	},
	Scatter: func(b op.Builder, a MovedimAttrs, _ int, _, v op.Value) op.Value {
		return later(b, "movedim", MovedimAttrs{a.Destination, a.Source}, v)
	},
	Samples: movedimSamples,
	Bad:     movedimBad,
})

// viewOp defines an operator whose result shows the data of its one operand.
func viewOp[A any](name, doc string, s op.Spec[A]) *op.Op {
	s.Doc, s.In, s.Class, s.ViewOf, s.Quant, s.Narrow = doc, op.Args("x"), op.Movement, 1, op.QuantShared, true
	return op.Define(name, s)
}

// sameView shows all of an operand as it lies.
func sameView(_ op.None, in []shape.Type) kernel.Step {
	all := make([]int, in[0].Rank())
	for i := range all {
		all[i] = i
	}
	return &kernel.Permute{Dims: all}
}

// regroup is the way back through operators that only regroup dimensions: what
// was written takes the shape of base.
func regroup[A any](b op.Builder, _ A, _ int, base, v op.Value) op.Value {
	t := base.Type()
	if !t.Ranked() || slices.ContainsFunc(t.Dims().Slice(), shape.Dim.IsUnknown) {
		return later(b, "view_as", op.None{}, v, base)
	}
	return later(b, "reshape", ReshapeAttrs{t.Dims()}, v)
}

// later calls an operator by name, since no variable may name itself in what it is
// set to.
func later(b op.Builder, name string, attrs any, in ...op.Value) op.Value {
	return b.Call(op.Lookup(name), attrs, in...)
}

// reshapeStep is the step of operators that only regroup dimensions.
func reshapeStep[A any](A, []shape.Type) kernel.Step { return &kernel.Reshape{} }

// dimsRule makes a type rule that keeps the element type of a rule for the
// dimensions of the first operand. Of unknown rank comes unknown rank.
func dimsRule[A any](f func(c *op.Infer, a A, d shape.Dims) (shape.Dims, error)) func(*op.Infer, A, []shape.Type) (shape.Type, error) {
	return func(c *op.Infer, a A, in []shape.Type) (shape.Type, error) {
		if !in[0].Ranked() {
			return shape.Unranked(in[0].DType()), nil
		}
		d, err := f(c, a, in[0].Dims())
		if err != nil {
			return shape.Type{}, err
		}
		return shape.TensorType(in[0].DType(), d), nil
	}
}
