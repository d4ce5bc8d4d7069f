package std

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// End is the stop of a slice that runs to the end of its dimension, as
// PyTorch's largest int64 is.
var End = shape.Const(math.MaxInt64)

// SliceAttrs are the attributes of slice. Bounds are those of Python: negative
// ones count from the end, those beyond an end are cut there, End is the end.
// Symbolic bounds must lie within the dimension, not be negative, and the start
// not come after the stop. Of a dimension of symbolic size, a single element that
// is taken must be there, so that it has size 1, and one that loses one element must not be
// empty. All that is guarded. With Inside constant bounds of such a dimension must lie
// within it, too. Step 0 means 1.
type SliceAttrs struct {
	Dim   int       `fx:",arg"`
	Start shape.Dim `fx:",arg"`
	Stop  shape.Dim `fx:",arg"`
	Step  int
	// Inside says that nothing is to be cut at the ends.
	Inside bool
}

// NarrowAttrs are the attributes of narrow: Length elements from Start on, all
// of which must be there. A negative Start counts from the end.
type NarrowAttrs struct {
	Dim    int       `fx:",arg"`
	Start  shape.Dim `fx:",arg"`
	Length shape.Dim `fx:",arg"`
}

// slice returns the same range as bounds of a slice of t.
func (a NarrowAttrs) slice(t shape.Type) SliceAttrs {
	start, stop := a.Start, a.Start.Add(a.Length)
	if n, ok := start.Int(); ok && n < 0 {
		switch {
		case t.Ranked() && !t.Dim(a.Dim).IsUnknown():
			start = t.Dim(a.Dim).Add(start)
			stop = start.Add(a.Length)
		case stop.Is(0):
			stop = End // the slice's bounds count from the end too
		}
	}
	s := SliceAttrs{Dim: a.Dim, Start: start, Stop: stop}
	if t.Ranked() {
		_, known := t.Dim(a.Dim).Int()
		_, from := start.Int()
		_, to := stop.Int()
		s.Inside = !known && (from || to)
	}
	return s
}

// SelectAttrs are the attributes of select; a negative index counts from the end.
type SelectAttrs struct {
	Dim   int `fx:",arg"`
	Index int `fx:",arg"`
}

// DiagonalAttrs are the attributes of diagonal. Both dimensions 0 means
// PyTorch's default, 0 and 1.
type DiagonalAttrs struct {
	Offset int
	Dim1   int
	Dim2   int
}

func (a DiagonalAttrs) axes(rank int) (d1, d2 int, err error) {
	if a.Dim1 == 0 && a.Dim2 == 0 {
		a.Dim2 = 1
	}
	if d1, err = realAxis(a.Dim1, rank); err != nil {
		return
	}
	if d2, err = realAxis(a.Dim2, rank); err != nil {
		return
	}
	switch {
	case a.Offset < -maxListAttr || a.Offset > maxListAttr:
		err = badAttr("offset", strconv.Itoa(a.Offset), "numbers of at most "+strconv.Itoa(maxListAttr))
	case d1 == d2:
		err = diag.New(op.BadAttr, "dim1 and dim2 are both axis "+strconv.Itoa(d1)+", expected two axes")
	}
	return
}

// RollAttrs are the attributes of roll: dimension Dims[i] shifts by Shifts[i].
// Without Dims the elements shift as if there were one dimension.
type RollAttrs struct {
	Shifts op.Ints `fx:",arg"`
	Dims   op.Ints `fx:",arg"`
}

// FlipAttrs are the attributes of flip: the dimensions to reverse.
type FlipAttrs struct {
	Dims op.Ints `fx:",arg"`
}

// Slice takes a range of one dimension.
//
//gofx:torch sliced(x, dim, start, stop, step)
var Slice = viewOp("slice", "slice takes the elements from start to stop, by step, of one dimension.", op.Spec[SliceAttrs]{
	Differs: []op.Difference[SliceAttrs]{
		{Kind: op.Extends, Text: "steps and ends beyond what PyTorch counts with", When: func(a SliceAttrs, _ []*array.Array) bool {
			start, _ := a.Start.Int()
			stop, _ := a.Stop.Int()
			return a.Step >= 1<<61 || start < -1<<61 || stop < -1<<61
		}},
	},
	Infer: dimsRule(sliceDims),
	Kernel: func(a SliceAttrs, in []shape.Type) kernel.Step {
		axis, _ := realAxis(a.Dim, in[0].Rank())
		s := &kernel.Slice{Dim: axis, Step: max(a.Step, 1)}
		return op.WithSizes(s, op.Size(&s.Start, a.Start), op.Size(&s.Stop, a.Stop))
	},
	Lift: slicePositions(takeAt),
	Scatter: func(b op.Builder, a SliceAttrs, _ int, base, v op.Value) op.Value {
		return b.Call(SliceScatter, a, base, v)
	},
	Samples: sliceSamples,
	Bad:     sliceBad,
})

// Narrow takes a range of one dimension that must lie within it.
//
//gofx:torch torch.narrow(x, dim, start, length)
var Narrow = viewOp("narrow", "narrow takes length elements of one dimension, from start on.", op.Spec[NarrowAttrs]{
	Infer: dimsRule(narrowDims),
	Decompose: func(b op.Builder, a NarrowAttrs, in []op.Value) op.Value {
		return b.Call(Slice, a.slice(in[0].Type()), in[0])
	},
	Lift: narrowPositions,
	Scatter: func(b op.Builder, a NarrowAttrs, _ int, base, v op.Value) op.Value {
		return b.Call(SliceScatter, a.slice(base.Type()), base, v)
	},
	Samples: narrowSamples,
	Bad:     narrowBad,
})

// Select takes one index of one dimension.
//
//gofx:torch x.select(dim, index)
var Select = viewOp("select", "select takes one index of one dimension, which vanishes.", op.Spec[SelectAttrs]{
	Infer: dimsRule(selectDims),
	Kernel: func(a SelectAttrs, in []shape.Type) kernel.Step {
		axis, _ := realAxis(a.Dim, in[0].Rank())
		return &kernel.Select{Dim: axis, Index: a.Index}
	},
	Lift:   selectPositions(takeOne),
	Sliced: func(a SelectAttrs) int { return a.Dim },
	Scatter: func(b op.Builder, a SelectAttrs, _ int, base, v op.Value) op.Value {
		return b.Call(SelectScatter, a, base, v)
	},
	Samples: selectSamples,
	Bad:     selectBad,
})

// Diagonal takes the diagonals of matrices.
//
//gofx:torch torch.diagonal(x, offset, *plane(dim1, dim2))
var Diagonal = viewOp("diagonal", "diagonal takes the diagonal of two dimensions, which becomes the last one.", op.Spec[DiagonalAttrs]{
	Infer: dimsRule(diagonalDims),
	Kernel: func(a DiagonalAttrs, in []shape.Type) kernel.Step {
		d1, d2, _ := a.axes(in[0].Rank())
		return &kernel.Diagonal{Offset: a.Offset, Dim1: d1, Dim2: d2}
	},
	Lift: diagonalPositions(takeDiagonal),
	Scatter: func(b op.Builder, a DiagonalAttrs, _ int, base, v op.Value) op.Value {
		return b.Call(DiagonalScatter, a, base, v)
	},
	Samples: diagonalSamples,
	Bad:     diagonalBad,
})

// Roll shifts elements around the end.
//
//gofx:torch torch.roll(x, shifts, dims)
var Roll = moveOp("roll", "roll shifts the elements along dimensions, around the end.", op.Spec[RollAttrs]{
	Differs: []op.Difference[RollAttrs]{
		{Kind: op.Refuses, Text: "a dimension named twice", When: func(a RollAttrs, _ []*array.Array) bool { return a.Dims.Len() > 1 }},
	},
	Infer: dimsRule(func(_ *op.Infer, a RollAttrs, d shape.Dims) (shape.Dims, error) {
		want := a.Dims.Len()
		if want == 0 {
			want = 1
		}
		if a.Shifts.Len() != want {
			return d, diag.New(op.BadAttr, strconv.Itoa(a.Shifts.Len())+" shifts, expected "+strconv.Itoa(want))
		}
		_, err := someAxes(a.Dims, d.Len())
		return d, err
	}),
	Kernel: func(a RollAttrs, in []shape.Type) kernel.Step {
		axes, _ := someAxes(a.Dims, in[0].Rank())
		if in[0].Rank() == 0 {
			return &kernel.Copy{}
		}
		return &kernel.Roll{Shifts: a.Shifts.Slice(), Dims: axes}
	},
	Lift:    rollPositions,
	Samples: rollSamples,
	Bad:     rollBad,
})

// Flip reverses dimensions.
//
//gofx:torch torch.flip(x, dims)
var Flip = moveOp("flip", "flip reverses the order of the elements along dimensions.", op.Spec[FlipAttrs]{
	Infer: dimsRule(func(_ *op.Infer, a FlipAttrs, d shape.Dims) (shape.Dims, error) {
		_, err := someAxes(a.Dims, d.Len())
		return d, err
	}),
	Kernel: func(a FlipAttrs, in []shape.Type) kernel.Step {
		axes, _ := someAxes(a.Dims, in[0].Rank())
		return &kernel.Flip{Dims: axes}
	},
	Grad:    flipGrad,
	Samples: flipSamples,
	Bad:     flipBad,
})

// moveOp defines an operator with one operand that copies elements.
func moveOp[A any](name, doc string, s op.Spec[A]) *op.Op {
	s.Narrow = true
	return fillOp(name, doc, s)
}

// fillOp is moveOp for operators that write numbers of their own, too.
func fillOp[A any](name, doc string, s op.Spec[A]) *op.Op {
	s.Doc, s.In, s.Class, s.Quant = doc, op.Args("x"), op.Movement, op.QuantShared
	return op.Define(name, s)
}

// someAxes is axisList for which no axes means none.
func someAxes(dims op.Ints, rank int) ([]int, error) {
	if dims.Len() == 0 {
		return nil, nil
	}
	return axisList(dims, rank)
}

func narrowDims(c *op.Infer, a NarrowAttrs, d shape.Dims) (shape.Dims, error) {
	axis, err := realAxis(a.Dim, d.Len())
	if err != nil {
		return d, err
	}
	if n, ok := a.Length.Int(); ok && n < 0 {
		return d, diag.New(op.BadAttr, "length "+strconv.Itoa(n)+", expected one that is not negative")
	}
	size, start := d.At(axis), a.Start
	if n, ok := start.Int(); ok && n < 0 {
		start = size.Add(start)
	}
	end := start.Add(a.Length)
	for _, r := range [][2]shape.Dim{{start, shape.Const(0)}, {a.Length, shape.Const(0)}, {size, end}} {
		if err := c.AtLeast(r[0], r[1], op.SizeMismatch, func() string {
			return "dimension " + strconv.Itoa(axis) + " has size " + size.String() + ", expected at least " +
				a.Length.String() + " elements from " + a.Start.String() + " on"
		}); err != nil {
			return d, err
		}
	}
	return d.With(axis, a.Length), nil
}

func selectDims(c *op.Infer, a SelectAttrs, d shape.Dims) (shape.Dims, error) {
	axis, err := realAxis(a.Dim, d.Len())
	if err != nil {
		return d, err
	}
	least := a.Index // the dimension needs more elements than that
	if least < 0 {
		least = -1 - least
	}
	size := d.At(axis)
	return without(d, axis), requireMore(c, size, shape.Const(least), func() string {
		return "index " + strconv.Itoa(a.Index) + " of dimension " + strconv.Itoa(axis) + " of size " + size.String() + ", expected one inside"
	})
}

// requireMore requires n to be more than b.
func requireMore(c *op.Infer, n, b shape.Dim, what func() string) error {
	return c.AtLeast(n, b.AddInt(1), op.BadAttr, what)
}

// without drops dimension i.
func without(d shape.Dims, i int) shape.Dims {
	return d.Sub(0, i).Concat(d.Sub(i+1, d.Len()))
}

func diagonalDims(_ *op.Infer, a DiagonalAttrs, d shape.Dims) (shape.Dims, error) {
	d1, d2, err := a.axes(d.Len())
	if err != nil {
		return d, err
	}
	rows, cols := d.At(d1), d.At(d2)
	length := rows.AddInt(-max(-a.Offset, 0)).Min(cols.AddInt(-max(a.Offset, 0))).Max(shape.Const(0))
	return without(without(d, max(d1, d2)), min(d1, d2)).Append(length), nil
}

// hasType reports whether t has one of the given element types, or none known.
func hasType(t shape.Type, of ...array.DType) bool {
	if t.DType() == array.Invalid {
		return true
	}
	for _, d := range of {
		if t.DType() == d {
			return true
		}
	}
	return false
}
