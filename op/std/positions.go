package std

import (
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
