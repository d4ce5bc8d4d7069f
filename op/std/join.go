package std

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// TileAttrs are the attributes of tile. Missing repetitions, on the left, are 1.
type TileAttrs struct {
	Reps shape.Dims `fx:",arg"`
}

// RepeatAttrs are the attributes of repeat: one count for each dimension of the
// result, which may have more dimensions than the operand.
type RepeatAttrs struct {
	Repeats shape.Dims `fx:",arg"`
}

// RepeatInterleaveAttrs are the attributes of repeat_interleave.
type RepeatInterleaveAttrs struct {
	Repeats int `fx:",arg"`
	Dim     int `fx:",arg"`
}

// Cat joins tensors along a dimension that they have.
//
//gofx:torch torch.cat(tensors, dim)
var Cat = op.Define("cat", op.Spec[DimAttrs]{
	Differs: []op.Difference[DimAttrs]{
		refusesMixed[DimAttrs](),
	},
	Doc: "cat joins tensors along a dimension; all other sizes agree.", In: op.Args("tensors..."),
	Class: op.Movement, Quant: op.QuantShared, Narrow: true,
	Infer: catRule,
	Kernel: func(a DimAttrs, in []shape.Type) kernel.Step {
		rank := 1 // a vector among operands of another rank is empty
		for _, t := range in {
			rank = max(rank, t.Rank())
		}
		axis, _ := realAxis(a.Dim, rank)
		return &kernel.Concat{Dim: axis}
	},
	Rows: func(b op.Builder, a DimAttrs, rows op.Value) op.Value {
		axis, _ := realAxis(a.Dim, rows.Type().Rank()-1)
		return later(b, "flatten", FlattenAttrs{axis, axis + 1}, rowsAt(b, axis, rows))
	},
	Grad:    catGrad,
	Samples: catSamples, Bad: catBad,
})

// Stack joins tensors along a new dimension.
//
//gofx:torch torch.stack(tensors, dim)
var Stack = op.Define("stack", op.Spec[DimAttrs]{
	Differs: []op.Difference[DimAttrs]{
		refusesMixed[DimAttrs](),
	},
	Doc: "stack joins tensors of one shape along a new dimension.", In: op.Args("tensors..."),
	Class: op.Movement, Quant: op.QuantShared, Narrow: true,
	Infer: stackRule,
	Rows: func(b op.Builder, a DimAttrs, rows op.Value) op.Value {
		axis, _ := realAxis(a.Dim, rows.Type().Rank())
		return rowsAt(b, axis, rows)
	},
	Decompose: func(b op.Builder, a DimAttrs, in []op.Value) op.Value {
		rows := make([]op.Value, len(in))
		for i, v := range in {
			rows[i] = b.Call(Unsqueeze, a, v)
		}
		return b.Call(Cat, a, rows...)
	},
	Samples: stackSamples,
	Bad:     stackBad,
})

// rowsAt moves axis 0.
func rowsAt(b op.Builder, axis int, rows op.Value) op.Value {
	if axis == 0 {
		return rows
	}
	return later(b, "movedim", MovedimAttrs{op.IntList(0), op.IntList(axis)}, rows)
}

// Tile repeats a tensor along its dimensions.
//
//gofx:torch torch.tile(x, reps)
var Tile = moveOp("tile", "tile repeats a tensor along its dimensions; missing counts on the left are 1.", op.Spec[TileAttrs]{
	Infer: dimsRule(func(c *op.Infer, a TileAttrs, d shape.Dims) (shape.Dims, error) {
		return tiled(c, d, a.Reps)
	}),
	Kernel:  func(TileAttrs, []shape.Type) kernel.Step { return &kernel.Tile{} },
	Samples: tileSamples,
	Bad:     tileBad,
})

// Repeat repeats a tensor along its and new dimensions.
//
//gofx:torch x.repeat(repeats)
var Repeat = moveOp("repeat", "repeat repeats a tensor along its dimensions and new leading ones.", op.Spec[RepeatAttrs]{
	Infer: dimsRule(func(c *op.Infer, a RepeatAttrs, d shape.Dims) (shape.Dims, error) {
		if a.Repeats.Len() < d.Len() {
			return d, diag.New(op.BadAttr, "repeats "+a.Repeats.String()+" has "+strconv.Itoa(a.Repeats.Len())+" counts, expected at least "+strconv.Itoa(d.Len()))
		}
		return tiled(c, d, a.Repeats)
	}),
	Kernel:  func(RepeatAttrs, []shape.Type) kernel.Step { return &kernel.Tile{} },
	Samples: repeatSamples,
	Bad:     repeatBad,
})

// RepeatInterleave repeats every index of a dimension in place.
//
//gofx:torch torch.repeat_interleave(x, repeats, dim)
var RepeatInterleave = moveOp("repeat_interleave", "repeat_interleave repeats every index of a dimension in place.", op.Spec[RepeatInterleaveAttrs]{
	Differs: []op.Difference[RepeatInterleaveAttrs]{
		{Kind: op.Refuses, Text: "negative repeats of nothing", When: func(a RepeatInterleaveAttrs, in []*array.Array) bool { return a.Repeats < 0 && empty(in) }},
	},
	Infer: dimsRule(func(_ *op.Infer, a RepeatInterleaveAttrs, d shape.Dims) (shape.Dims, error) {
		axis, err := realAxis(a.Dim, d.Len())
		if err != nil {
			return d, err
		}
		if a.Repeats < 0 {
			return d, diag.New(op.BadAttr, "repeats "+strconv.Itoa(a.Repeats)+", expected a count that is not negative")
		}
		return d.With(axis, d.At(axis).MulInt(a.Repeats)), nil
	}),
	Kernel: func(a RepeatInterleaveAttrs, in []shape.Type) kernel.Step {
		axis, _ := realAxis(a.Dim, in[0].Rank())
		return &kernel.RepeatInterleave{Repeats: a.Repeats, Dim: axis}
	},
	Samples: repeatInterleaveSamples,
	Bad:     repeatInterleaveBad,
})

// tiled returns d repeated, with both lists filled up with 1 on the left.
func tiled(c *op.Infer, d, reps shape.Dims) (shape.Dims, error) {
	n := max(d.Len(), reps.Len())
	out := make([]shape.Dim, n)
	for i := 1; i <= n; i++ {
		size, times := d.FromEnd(i), reps.FromEnd(i)
		if err := c.AtLeast(times, shape.Const(0), op.BadAttr, func() string {
			return "count " + times.String() + " in " + reps.String() + ", expected counts that are not negative"
		}); err != nil {
			return d, err
		}
		out[n-i] = size.Mul(times)
	}
	return shape.Of(out...), nil
}

// skippable reports whether t is the empty vector that cat leaves out.
func skippable(t shape.Type) bool { return t.Rank() == 1 && t.Dim(0).Is(0) }

func catRule(c *op.Infer, a DimAttrs, in []shape.Type) (shape.Type, error) {
	d, err := oneDType(in)
	if err != nil {
		return shape.Type{}, err
	}
	var out shape.Dims
	first, axis := -1, 0
	rank := 1
	for _, t := range in {
		if !t.Ranked() {
			return shape.Unranked(d), nil
		}
		if rank == 1 {
			rank = t.Rank()
		}
	}
	for i, t := range in {
		if _, known := t.Dim(0).Int(); rank != 1 && t.Rank() == 1 && !known {
			// Of another rank it can only be the empty vector.
			if _, err := c.Equal(t.Dim(0), shape.Const(0), op.RankMismatch, nil); err != nil {
				return shape.Type{}, err
			}
			continue
		}
		switch {
		case skippable(t):
			continue
		case first < 0:
			if axis, err = realAxis(a.Dim, t.Rank()); err != nil {
				return shape.Type{}, err
			}
			first, out = i, t.Dims()
			continue
		case t.Rank() != out.Len():
			return shape.Type{}, rankError(i, t, first, out)
		}
		for k := range t.Rank() {
			if k == axis {
				out = out.With(k, out.At(k).Add(t.Dim(k)))
				continue
			}
			size, err := equalTo(c, i, t, k, first, out)
			if err != nil {
				return shape.Type{}, err
			}
			out = out.With(k, size)
		}
	}
	if first < 0 {
		_, err = realAxis(a.Dim, 1)
		return shape.TensorType(d, shape.ConstDims(0)), err
	}
	return shape.TensorType(d, out), nil
}

func stackRule(c *op.Infer, a DimAttrs, in []shape.Type) (shape.Type, error) {
	d, err := oneDType(in)
	if err != nil {
		return shape.Type{}, err
	}
	if !in[0].Ranked() {
		return shape.Unranked(d), nil
	}
	out := in[0].Dims()
	for i, t := range in[1:] {
		if !t.Ranked() {
			return shape.Unranked(d), nil
		}
		if t.Rank() != out.Len() {
			return shape.Type{}, rankError(i+1, t, 0, out)
		}
		for k := range t.Rank() {
			size, err := equalTo(c, i+1, t, k, 0, out)
			if err != nil {
				return shape.Type{}, err
			}
			out = out.With(k, size)
		}
	}
	axis, err := op.Axis(a.Dim, out.Len()+1)
	if err != nil {
		return shape.Type{}, err
	}
	return shape.TensorType(d, out.Sub(0, axis).Append(shape.Const(len(in))).Concat(out.Sub(axis, out.Len()))), nil
}

// oneDType requires at least one operand and that all have one element type.
func oneDType(in []shape.Type) (array.DType, error) {
	if len(in) == 0 {
		return array.Invalid, diag.New(op.OperandCount, "no tensors, expected at least one")
	}
	d := array.Invalid
	for i, t := range in {
		switch {
		case d == array.Invalid:
			d = t.DType()
		case t.DType() != array.Invalid && t.DType() != d:
			return d, diag.New(op.DTypeMismatch, "tensor "+strconv.Itoa(i)+" has element type "+t.DType().String()+", expected "+d.String()).
				WithHint("cast the tensors to one type first")
		}
	}
	return d, nil
}

func rankError(i int, t shape.Type, first int, want shape.Dims) error {
	return diag.New(op.RankMismatch, "tensor "+strconv.Itoa(i)+" has "+strconv.Itoa(t.Rank())+" dimensions, expected "+
		strconv.Itoa(want.Len())+" as tensor "+strconv.Itoa(first)+" has")
}

// equalTo requires dimension k of tensor i to be that of out.
func equalTo(c *op.Infer, i int, t shape.Type, k, first int, out shape.Dims) (shape.Dim, error) {
	return c.Equal(out.At(k), t.Dim(k), op.ShapeMismatch, func() string {
		return "dimension " + strconv.Itoa(k) + " of tensor " + strconv.Itoa(i) + " has size " + t.Dim(k).String() +
			", expected " + out.At(k).String() + " as in tensor " + strconv.Itoa(first)
	})
}
