package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Where engines make operands of positions, a view at a position is a gather and the
// inverse of one a scatter, whose indices are the position plus a count.

// axisSize is the size of an axis that a position is of; ok is false where it is not
// known, or where the elements only hold values, which gather and scatter do not move all.
func axisSize(dim int, x shape.Type) (axis, size int, ok bool) {
	if x.Rank() == 0 || x.DType().IsNarrow() {
		return 0, 0, false
	}
	axis, err := realAxis(dim, x.Rank())
	if err != nil {
		return 0, 0, false
	}
	size, ok = x.Dim(axis).Int()
	return axis, size, ok
}

// fromStart is a position counted from the start of an axis.
func fromStart(n, size int) int {
	if n < 0 {
		n += size
	}
	return n
}

// selectPositions lifts the index of select and of its inverse.
func selectPositions(call func(b op.Builder, a SelectAttrs, in []op.Value, at op.Value) op.Value) *op.Positions[SelectAttrs] {
	return &op.Positions[SelectAttrs]{
		Split: func(a SelectAttrs, in []shape.Type) (SelectAttrs, []int, bool) {
			axis, size, ok := axisSize(a.Dim, in[0])
			return SelectAttrs{Dim: axis}, []int{fromStart(a.Index, size)}, ok
		},
		Join: func(rest SelectAttrs, at []int) SelectAttrs { return SelectAttrs{rest.Dim, at[0]} },
		Call: func(b op.Builder, rest SelectAttrs, in, at []op.Value) op.Value { return call(b, rest, in, at[0]) },
	}
}

// takeOne is select at an operand.
func takeOne(b op.Builder, a SelectAttrs, in []op.Value, at op.Value) op.Value {
	row := later(b, "index_select", DimAttrs{a.Dim}, in[0], later(b, "unsqueeze", DimAttrs{}, at))
	return later(b, "squeeze", SqueezeAttrs{op.IntList(a.Dim)}, row)
}

// putOne is select_scatter at an operand.
func putOne(b op.Builder, a SelectAttrs, in []op.Value, at op.Value) op.Value {
	src := later(b, "unsqueeze", DimAttrs{a.Dim}, in[1])
	return placed(b, a.Dim, in[0], src, later(b, "unsqueeze", DimAttrs{}, at))
}

// slicePositions lifts the start of slice and of its inverse. What is left is a slice from
// 0 on of as many elements.
func slicePositions(call func(b op.Builder, a SliceAttrs, in []op.Value, at op.Value) op.Value) *op.Positions[SliceAttrs] {
	return &op.Positions[SliceAttrs]{
		Split: func(a SliceAttrs, in []shape.Type) (SliceAttrs, []int, bool) {
			axis, size, ok := axisSize(a.Dim, in[0])
			start, known := a.Start.Int()
			stop, ends := a.Stop.Int()
			if !ok || !known || !ends {
				return a, nil, false
			}
			start = min(max(fromStart(start, size), 0), size)
			stop = min(max(fromStart(stop, size), start), size)
			step := max(a.Step, 1)
			count := (stop-start-1)/step + 1
			if stop == start || count == size { // nothing or everything is at one position
				return a, nil, false
			}
			return SliceAttrs{Dim: axis, Stop: shape.Const(count), Step: step}, []int{start}, true
		},
		Join: func(rest SliceAttrs, at []int) SliceAttrs {
			last := rest.Stop.AddInt(-1).MulInt(rest.Step)
			return SliceAttrs{Dim: rest.Dim, Start: shape.Const(at[0]), Stop: last.AddInt(at[0] + 1), Step: rest.Step, Inside: true}
		},
		Call: func(b op.Builder, rest SliceAttrs, in, at []op.Value) op.Value { return call(b, rest, in, at[0]) },
	}
}

// consecutive are the indices of a slice that begins at an operand.
func consecutive(b op.Builder, count shape.Dim, step int, at op.Value) op.Value {
	n := later(b, "arange", ArangeAttrs{End: count})
	if step > 1 {
		n = later(b, "mul", BinaryAttrs{Other: op.Int(int64(step))}, n)
	}
	return later(b, "add", nil, n, at)
}

// takeAt is slice from an operand on.
func takeAt(b op.Builder, a SliceAttrs, in []op.Value, at op.Value) op.Value {
	return later(b, "index_select", DimAttrs{a.Dim}, in[0], consecutive(b, a.Stop, a.Step, at))
}

// putAt is slice_scatter from an operand on.
func putAt(b op.Builder, a SliceAttrs, in []op.Value, at op.Value) op.Value {
	return placed(b, a.Dim, in[0], in[1], consecutive(b, a.Stop, a.Step, at))
}

// placed writes the slices src to positions of axis dim that a vector names.
func placed(b op.Builder, dim int, x, src, index op.Value) op.Value {
	sizes := src.Type().Dims()
	along := make([]shape.Dim, sizes.Len())
	for i := range along {
		along[i] = shape.Const(1)
	}
	along[dim] = sizes.At(dim)
	index = later(b, "reshape", ReshapeAttrs{shape.Of(along...)}, index)
	return later(b, "scatter", ScatterAttrs{Dim: dim}, x, later(b, "expand", ExpandAttrs{sizes}, index), src)
}

// narrowPositions lifts the start of narrow.
var narrowPositions = &op.Positions[NarrowAttrs]{
	Split: func(a NarrowAttrs, in []shape.Type) (NarrowAttrs, []int, bool) {
		axis, size, ok := axisSize(a.Dim, in[0])
		start, known := a.Start.Int()
		count, counts := a.Length.Int()
		if !ok || !known || !counts || count == 0 || count == size {
			return a, nil, false
		}
		return NarrowAttrs{Dim: axis, Length: a.Length}, []int{fromStart(start, size)}, true
	},
	Join: func(rest NarrowAttrs, at []int) NarrowAttrs {
		return NarrowAttrs{rest.Dim, shape.Const(at[0]), rest.Length}
	},
	Call: func(b op.Builder, rest NarrowAttrs, in, at []op.Value) op.Value {
		return takeAt(b, SliceAttrs{Dim: rest.Dim, Stop: rest.Length, Step: 1}, in, at[0])
	},
}

// arangePositions lifts the start and the step of arange. What is left counts from 0 on as far.
var arangePositions = &op.Positions[ArangeAttrs]{
	Split: func(a ArangeAttrs, _ []shape.Type) (ArangeAttrs, []int, bool) {
		count, err := a.length(nil)
		if _, known := count.Int(); !known || err != nil {
			return a, nil, false
		}
		return ArangeAttrs{End: count, DType: a.DType}, []int{a.Start, a.step()}, true
	},
	Join: func(rest ArangeAttrs, at []int) ArangeAttrs {
		return ArangeAttrs{Start: at[0], Step: at[1], End: rest.End.MulInt(at[1]).AddInt(at[0]), DType: rest.DType}
	},
	Call: func(b op.Builder, rest ArangeAttrs, _, at []op.Value) op.Value {
		n := later(b, "add", nil, later(b, "mul", nil, later(b, "arange", ArangeAttrs{End: rest.End}), at[1]), at[0])
		if d := orElse(rest.DType, array.I64); d != array.I64 {
			n = later(b, "cast", CastAttrs{DType: d}, n)
		}
		return n
	},
}

// rollPositions lifts the shifts of roll. One that goes around more than once counts as what is left of
// it. The elements come from their index less the shift, modulo the size.
var rollPositions = &op.Positions[RollAttrs]{
	Split: func(a RollAttrs, in []shape.Type) (RollAttrs, []int, bool) {
		axes, err := someAxes(a.Dims, in[0].Rank())
		if err != nil || len(axes) == 0 {
			return a, nil, false
		}
		at := a.Shifts.Slice()
		for i, axis := range axes {
			_, size, ok := axisSize(axis, in[0])
			if !ok || size == 0 {
				return a, nil, false
			}
			at[i] %= size
		}
		return RollAttrs{Shifts: op.IntList(make([]int, len(at))...), Dims: op.IntList(axes...)}, at, true
	},
	Join: func(rest RollAttrs, at []int) RollAttrs { return RollAttrs{op.IntList(at...), rest.Dims} },
	Call: func(b op.Builder, rest RollAttrs, in, at []op.Value) op.Value {
		x := in[0]
		for i, axis := range rest.Dims.Slice() {
			n := x.Type().Dim(axis)
			size := later(b, "slice", SliceAttrs{Start: n, Stop: n.AddInt(1)}, later(b, "arange", ArangeAttrs{End: n.AddInt(1)}))
			index := later(b, "remainder", nil, later(b, "sub", nil, later(b, "arange", ArangeAttrs{End: n}), at[i]), size)
			x = later(b, "index_select", DimAttrs{axis}, x, index)
		}
		return x
	},
}

// diagonalPositions lifts the offset of diagonal and of its inverse where the diagonal is as long as one of the
// two dimensions, so that its length does not follow from the offset. What is left has the offset 1
// where rows end first, -1 where columns do, with both axes.
func diagonalPositions(call func(b op.Builder, a DiagonalAttrs, in []op.Value, at op.Value) op.Value) *op.Positions[DiagonalAttrs] {
	return &op.Positions[DiagonalAttrs]{
		Split: func(a DiagonalAttrs, in []shape.Type) (DiagonalAttrs, []int, bool) {
			d1, d2, err := a.axes(in[0].Rank())
			if err != nil {
				return a, nil, false
			}
			_, rows, ok := axisSize(d1, in[0])
			_, cols, known := axisSize(d2, in[0])
			switch {
			case !ok || !known || rows == cols:
				return a, nil, false
			case a.Offset >= 0 && rows+a.Offset <= cols:
				return DiagonalAttrs{1, d1, d2}, []int{a.Offset}, true
			case a.Offset <= 0 && cols-a.Offset <= rows:
				return DiagonalAttrs{-1, d1, d2}, []int{a.Offset}, true
			}
			return a, nil, false
		},
		Join: func(rest DiagonalAttrs, at []int) DiagonalAttrs { return DiagonalAttrs{at[0], rest.Dim1, rest.Dim2} },
		Call: func(b op.Builder, rest DiagonalAttrs, in, at []op.Value) op.Value { return call(b, rest, in, at[0]) },
	}
}

// onDiagonal are the indices along the longer dimension of x at which the elements of a diagonal lie, one for each
// index of the shorter dimension, and the two dimensions.
func onDiagonal(b op.Builder, a DiagonalAttrs, x, at op.Value) (index op.Value, short, long int) {
	short, long = a.Dim1, a.Dim2
	if a.Offset < 0 {
		short, long = long, short
		at = later(b, "neg", nil, at)
	}
	sizes := x.Type().Dims()
	n := sizes.At(short)
	along := make([]shape.Dim, sizes.Len())
	for i := range along {
		along[i] = shape.Const(1)
	}
	along[short] = n
	index = later(b, "reshape", ReshapeAttrs{shape.Of(along...)}, consecutive(b, n, 1, at))
	return later(b, "expand", ExpandAttrs{sizes.With(long, shape.Const(1))}, index), short, long
}

// takeDiagonal is diagonal at an operand.
func takeDiagonal(b op.Builder, a DiagonalAttrs, in []op.Value, at op.Value) op.Value {
	index, short, long := onDiagonal(b, a, in[0], at)
	x := later(b, "movedim", MovedimAttrs{op.IntList(short), op.IntList(-1)}, later(b, "gather", DimAttrs{long}, in[0], index))
	if long > short {
		long-- // short went to the end
	}
	return later(b, "squeeze", SqueezeAttrs{op.IntList(long)}, x)
}

// putDiagonal is diagonal_scatter at an operand.
func putDiagonal(b op.Builder, a DiagonalAttrs, in []op.Value, at op.Value) op.Value {
	index, short, long := onDiagonal(b, a, in[0], at)
	to := short
	if long < short {
		to-- // long is not there yet
	}
	src := later(b, "movedim", MovedimAttrs{op.IntList(-1), op.IntList(to)}, in[1])
	return later(b, "scatter", ScatterAttrs{Dim: long}, in[0], index, later(b, "unsqueeze", DimAttrs{long}, src))
}
