package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// The operators that writes in place become where nothing is written: copy gives
// what a tensor holds after it was written, the scatters what the base of a view
// holds after the view was.

// Clone copies a tensor. It is not an identity: who writes to the result must not
// change x.
var Clone = moveOp("clone", "clone copies x to memory of its own.", op.Spec[op.None]{
	Infer:   func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
	Kernel:  func(op.None, []shape.Type) kernel.Step { return &kernel.Copy{} },
	Grad:    seedBack[op.None],
	Samples: cloneSamples,
	Bad:     cloneBad,
})

// Copy gives src the element type of x, whose shape it has: x after src was
// written to it in place.
//
//gofx:torch x.clone().copy_(src)
var Copy = op.Define("copy", op.Spec[op.None]{
	Differs: []op.Difference[op.None]{
		departs[op.None](op.Refuses, "a src of another shape than x, which PyTorch broadcasts", func(in []*array.Array) bool { return !shape.TypeOf(in[0]).Dims().Equal(shape.TypeOf(in[1]).Dims()) }),
		departs[op.None](op.Refuses, "a src of floats for an x of another kind, which PyTorch truncates", func(in []*array.Array) bool { return in[1].DType().IsFloat() && !in[0].DType().IsFloat() }),
	},
	Doc: "copy is x after src, of the same shape, was written to it: src cast to the element type of x.", In: op.Args("x", "src"),
	Infer: func(c *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return c.Written(in[0], in[1]) },
	// Each operand is read as it is.
	Promote: func(op.None, []shape.Type) array.DType { return array.Invalid },
	Expr: func(b *expr.Builder, _ op.None, x []expr.Value) []expr.Value {
		return []expr.Value{b.Cast(x[1], x[0].DType())}
	},
	Samples: copySamples,
	Bad:     copyBad,
})

// SliceScatter is x after src was written to a slice of it.
//
//gofx:torch torch.slice_scatter(x, src, dim, start, stop, min(step or 1, 1 << 40))
var SliceScatter = scatterView("slice_scatter", "slice_scatter is x with the elements that slice shows replaced by src.", viewScatter[SliceAttrs]{
	dims: sliceDims,
	lift: slicePositions(putAt),
	kernel: func(a SliceAttrs, in []shape.Type) kernel.Step {
		axis, _ := realAxis(a.Dim, in[0].Rank())
		s := &kernel.SliceScatter{Dim: axis, Step: max(a.Step, 1)}
		return op.WithSizes(s, op.Size(&s.Start, a.Start), op.Size(&s.Stop, a.Stop))
	},
	of: sliceSamples,
	bad: func(g *op.Gen) []op.BadSample {
		x, to := g.Normal(3, 4), func(stop int) SliceAttrs { return SliceAttrs{Dim: 1, Stop: shape.Const(stop)} }
		return []op.BadSample{
			badCall(op.BadAxis, "axis", SliceAttrs{Dim: 2, Stop: End}, x, x),
			badCall(op.BadAttr, "step", SliceAttrs{Stop: End, Step: -1}, x, x),
			badCall(op.ShapeMismatch, "size", to(2), x, g.Normal(3, 3)),
			badCall(op.ShapeMismatch, "no broadcasting", to(2), x, g.Normal(3, 1)),
			badCall(op.RankMismatch, "rank", to(2), x, g.Normal(2)),
			badCall(op.DTypeMismatch, "types", to(2), x, g.Int(9, 3, 2)),
		}
	},
})

// SelectScatter is x after src was written to one index of it.
//
//gofx:torch torch.select_scatter(x, src, dim, index)
var SelectScatter = scatterView("select_scatter", "select_scatter is x with the elements that select shows replaced by src.", viewScatter[SelectAttrs]{
	dims: selectDims,
	lift: selectPositions(putOne),
	kernel: func(a SelectAttrs, in []shape.Type) kernel.Step {
		axis, _ := realAxis(a.Dim, in[0].Rank())
		return &kernel.SelectScatter{Dim: axis, Index: a.Index}
	},
	of: selectSamples,
	bad: func(g *op.Gen) []op.BadSample {
		x := g.Normal(3, 4)
		return []op.BadSample{
			badCall(op.BadAxis, "axis", SelectAttrs{2, 0}, x, g.Normal(3)),
			badCall(op.BadAttr, "index", SelectAttrs{1, 4}, x, g.Normal(3)),
			badCall(op.ShapeMismatch, "size", SelectAttrs{1, 0}, x, g.Normal(4)),
			badCall(op.RankMismatch, "rank", SelectAttrs{1, 0}, x, g.Normal(3, 1)),
			badCall(op.DTypeMismatch, "types", SelectAttrs{1, 0}, x, g.Bool(3)),
		}
	},
})

// DiagonalScatter is x after src was written to a diagonal of it.
//
//gofx:torch torch.diagonal_scatter(x, src, offset, *plane(dim1, dim2))
var DiagonalScatter = scatterView("diagonal_scatter", "diagonal_scatter is x with the elements that diagonal shows replaced by src.", viewScatter[DiagonalAttrs]{
	dims: diagonalDims,
	lift: diagonalPositions(putDiagonal),
	kernel: func(a DiagonalAttrs, in []shape.Type) kernel.Step {
		d1, d2, _ := a.axes(in[0].Rank())
		return &kernel.DiagonalScatter{Offset: a.Offset, Dim1: d1, Dim2: d2}
	},
	of: diagonalSamples,
	bad: func(g *op.Gen) []op.BadSample {
		x := g.Normal(3, 4)
		return []op.BadSample{
			badCall(op.BadAxis, "vector", DiagonalAttrs{}, g.Normal(3), g.Normal(3)),
			badCall(op.BadAttr, "same axis", DiagonalAttrs{0, 1, -1}, x, g.Normal(3)),
			badCall(op.BadAttr, "offset out of range", DiagonalAttrs{Offset: math.MinInt64}, x, g.Normal(3)),
			badCall(op.ShapeMismatch, "size", DiagonalAttrs{}, x, g.Normal(4)),
			badCall(op.RankMismatch, "rank", DiagonalAttrs{}, x, g.Normal(3, 1)),
			badCall(op.DTypeMismatch, "types", DiagonalAttrs{}, x, g.Int(9, 3)),
		}
	},
})

// viewScatter is what differs between the operators that write over a view.
type viewScatter[A any] struct {
	lift   *op.Positions[A]
	dims   func(c *op.Infer, a A, d shape.Dims) (shape.Dims, error) // of the view
	kernel func(a A, in []shape.Type) kernel.Step
	of     func(g *op.Gen) []op.Sample // samples of the view
	bad    func(g *op.Gen) []op.BadSample
}

// scatterView defines an operator that writes src over a view of x.
func scatterView[A any](name, doc string, s viewScatter[A]) *op.Op {
	return op.Define(name, op.Spec[A]{
		Doc: doc, In: op.Args("x", "src"), Class: op.Movement, Quant: op.QuantShared, Narrow: true,
		Differs: []op.Difference[A]{refusesMixed[A](), extendsEmpty[A]()},
		Infer: func(c *op.Infer, a A, in []shape.Type) (shape.Type, error) {
			d, err := oneDType(in)
			if err != nil || !in[0].Ranked() {
				return shape.Unranked(d), err
			}
			view, err := s.dims(c, a, in[0].Dims())
			if err != nil {
				return shape.Type{}, err
			}
			return in[0].WithDType(d), fitsView(c, view, in[1])
		},
		Kernel: s.kernel,
		Lift:   s.lift,
		Samples: func(g *op.Gen) []op.Sample {
			all := s.of(g)
			for i := range all {
				x := all[i].In[0]
				d, _ := s.dims(nil, all[i].Attrs.(A), shape.TypeOf(x).Dims())
				dims, _ := d.Known()
				src := array.Cast(g.Int(50, dims...), x.DType())
				if !x.IsContiguous() {
					src = g.Strided(src)
				}
				all[i].In = append(all[i].In, src)
			}
			return all
		},
		Bad: s.bad,
	})
}

// fitsView requires src to have the shape of the view that it is written to.
func fitsView(c *op.Infer, view shape.Dims, src shape.Type) error {
	if !src.Ranked() {
		return nil
	}
	if err := wantRank("src", src, view.Len(), view.Len()); err != nil {
		return err
	}
	for i, d := range view.Slice() {
		if _, err := c.Equal(d, src.Dim(i), op.ShapeMismatch, func() string {
			return "src has shape " + src.Dims().String() + ", expected " + view.String() + ", that of the view"
		}); err != nil {
			return err
		}
	}
	return nil
}
