package exporter

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// exportMoves are the operators that take elements from places that are known.
var exportMoves = map[*op.Op][]exportRule{
	std.Cat: by(func(c *exportCall, a std.DimAttrs) op.Value { return c.concat(a.Dim, c.in) }),
	std.Stack: by(func(c *exportCall, a std.DimAttrs) op.Value {
		parts := make([]op.Value, len(c.in))
		axis := axisOf(a.Dim, c.typ.Rank())
		for i, v := range c.in {
			parts[i] = c.do(std.Unsqueeze, std.DimAttrs{Dim: axis}, v)
		}
		return c.concat(axis, parts)
	}),
	std.Split:  by(func(c *exportCall, a std.SplitAttrs) op.Value { return c.split(a.Dim, a.Sizes.Slice()) }),
	std.Chunk:  by(func(c *exportCall, a std.ChunkAttrs) op.Value { return c.split(a.Dim, c.pieces(a.Dim)) }),
	std.Unbind: by(exportUnbind),
	std.Select: by(func(c *exportCall, a std.SelectAttrs) op.Value {
		return c.node("Gather", []op.Value{c.in[0], c.int(a.Index)}, attrInt("axis", axisOf(a.Dim, c.rank(0))))
	}),
	std.Slice: by(func(c *exportCall, a std.SliceAttrs) op.Value {
		return sliced(c, c.in[0], c.typ, axisOf(a.Dim, c.rank(0)), a.Start, a.Stop, max(a.Step, 1))
	}),
	std.Narrow: by(func(c *exportCall, a std.NarrowAttrs) op.Value {
		stop := a.Start.Add(a.Length)
		if n, ok := a.Start.Int(); ok && n < 0 && stop.Is(0) {
			stop = std.End
		}
		return sliced(c, c.in[0], c.typ, axisOf(a.Dim, c.rank(0)), a.Start, stop, 1)
	}),
	std.Flip: by(func(c *exportCall, a std.FlipAttrs) op.Value {
		axes := a.Dims.Slice()
		n := c.rank(0)
		if len(axes) == 0 || n == 0 {
			return c.in[0]
		}
		back, ends := make([]int, len(axes)), make([]int, len(axes))
		for i := range axes {
			axes[i], back[i], ends[i] = axisOf(axes[i], n), -1, -math.MaxInt64
		}
		return c.node("Slice", []op.Value{c.in[0], c.list(back...), c.list(ends...), c.list(axes...), c.list(back...)})
	}),
	std.Roll:            by(roll),
	std.Pad:             by(exportPad),
	std.Diagonal:        by(exportDiagonal),
	std.SelectScatter:   by(func(c *exportCall, a std.SelectAttrs) op.Value { return replaceSelected(c, a) }),
	std.SliceScatter:    by(func(c *exportCall, a std.SliceAttrs) op.Value { return replaceSliced(c, a) }),
	std.DiagonalScatter: by(diagonalScatter),
}

func (c *exportCall) concat(axis int, parts []op.Value) op.Value {
	d := c.typ.DType()
	cast := make([]op.Value, 0, len(parts))
	for _, v := range parts {
		if v.Type().Ranked() && c.typ.Ranked() && v.Type().Rank() != c.typ.Rank() {
			continue // an empty vector, which goes with everything
		}
		cast = append(cast, c.cast(v, d))
	}
	return c.node("Concat", cast, attrInt("axis", axisOf(axis, c.typ.Rank())))
}

// pieces are the sizes of the results along an axis.
func (c *exportCall) pieces(axis int) []shape.Dim {
	sizes := make([]shape.Dim, c.typ.Len())
	for i := range sizes {
		sizes[i] = c.typ.Member(i).Dim(axisOf(axis, c.rank(0)))
	}
	return sizes
}

func (c *exportCall) split(axis int, sizes []shape.Dim) op.Value {
	types := make([]shape.Type, len(sizes))
	for i := range types {
		types[i] = c.typ.Member(i)
	}
	outs := c.w.emitAll("Split", types, []op.Value{c.in[0], c.sizes(sizes...)}, attrInt("axis", axisOf(axis, c.rank(0))))
	items := make([]op.Value, len(outs))
	for i, v := range outs {
		items[i] = v
	}
	return c.tuple(items...)
}

func exportUnbind(c *exportCall, a std.UnbindAttrs) op.Value {
	items := make([]op.Value, a.Count)
	for i := range items {
		items[i] = c.do(std.Select, std.SelectAttrs{Dim: a.Dim, Index: i}, c.in[0])
	}
	return c.tuple(items...)
}

// sliced takes a range of an axis.
func sliced(c *exportCall, x op.Value, t shape.Type, axis int, start, stop shape.Dim, step int) op.Value {
	return c.w.emit("Slice", t, []op.Value{x, c.sizes(start), c.sizes(stop), c.list(axis), c.list(step)})
}

// roll joins the end with the start, axis by axis. Where a size is open, the model computes
// where the end begins.
func roll(c *exportCall, a std.RollAttrs) op.Value {
	shifts, axes := a.Shifts.Slice(), a.Dims.Slice()
	x := c.in[0]
	if len(axes) == 0 { // over all elements
		x = c.reshape(x, shape.Const(-1))
		axes = []int{0}
	}
	for i, axis := range axes {
		axis = axisOf(axis, rankOf(x))
		n, known := x.Type().Dim(axis).Int()
		if shifts[i] == 0 || known && (n == 0 || shifts[i]%n == 0) {
			continue
		}
		cut := cutOf(c, x.(*exported), axis, shifts[i])
		open := x.Type().WithDims(x.Type().Dims().With(axis, shape.Unknown))
		at := c.list(axis)
		end := c.w.emit("Slice", open, []op.Value{x, cut, c.list(math.MaxInt64), at})
		start := c.w.emit("Slice", open, []op.Value{x, c.list(0), cut, at})
		x = c.w.emit("Concat", x.Type(), []op.Value{end, start}, attrInt("axis", axis))
	}
	if a.Dims.Len() == 0 {
		return c.reshape(x, c.typ.Dims().Slice()...)
	}
	if x == c.in[0] {
		return c.node("Identity", c.in)
	}
	return x
}

// cutOf is where the part of an axis begins that a shift moves to its start.
func cutOf(c *exportCall, x *exported, axis, shift int) op.Value {
	if n, ok := x.typ.Dim(axis).Int(); ok {
		return c.list(n - (shift%n+n)%n)
	}
	size := c.w.emit("Max", oneSize, []op.Value{c.w.sizeOf(x, axis), c.list(1)}) // division by 0 ends a run
	return c.w.emit("Mod", oneSize, []op.Value{c.list(-shift), size})
}

// exportPad: ONNX has the counts before all axes, then the counts after them.
func exportPad(c *exportCall, a std.PadAttrs) op.Value {
	n := c.rank(0)
	if n == 0 {
		return c.node("Identity", c.in) // a number has no sides, and ONNX no Pad of one
	}
	list := a.Pad.Slice()
	counts := make([]shape.Dim, 2*n)
	for i := 0; i+1 < len(list); i += 2 {
		axis := n - 1 - i/2
		counts[axis], counts[n+axis] = list[i], list[i+1]
	}
	mode, since := map[string]string{"": "constant", "constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}[a.Mode], oldestOpset
	if mode == "wrap" {
		since = 19
	}
	c.needs(since)
	in := []op.Value{c.in[0], c.sizes(counts...)}
	var attrs []*pb.Attr
	if mode != "constant" {
		attrs = append(attrs, attrText("mode", mode))
	} else if a.Value != 0 || math.Signbit(a.Value) {
		in = append(in, c.number(c.dtype(0), op.Float(a.Value)))
	}
	return c.node("Pad", in, attrs...)
}

// diagonalMask is true on the diagonal of a matrix of the sizes.
func diagonalMask(c *exportCall, rows, columns shape.Dim, offset int) op.Value {
	at := func(n shape.Dim, dims ...shape.Dim) op.Value {
		return c.reshape(c.do(std.Arange, std.ArangeAttrs{End: n}), dims...)
	}
	row := at(rows, rows, shape.Const(1))
	if offset != 0 {
		row = c.do(std.Add, std.AddAttrs{Other: op.Int(int64(offset))}, row)
	}
	return c.do(std.Eq, nil, row, at(columns, shape.Const(1), columns))
}

// diagonalLast has the two dimensions last; back undoes it.
func diagonalLast(c *exportCall, a std.DiagonalAttrs) (x op.Value, i, j int) {
	n := c.rank(0)
	i, j = axisOf(a.Dim1, n), axisOf(a.Dim2, n)
	if a.Dim1 == 0 && a.Dim2 == 0 {
		i, j = 0, 1
	}
	return c.do(std.Movedim, std.MovedimAttrs{Source: op.IntList(i, j), Destination: op.IntList(n-2, n-1)}, c.in[0]), i, j
}

// exportDiagonal takes the diagonal out of the rows and columns that have it, by a
// sum over the elements that a mask leaves.
func exportDiagonal(c *exportCall, a std.DiagonalAttrs) op.Value {
	v, _, _ := diagonalLast(c, a)
	d := c.dtype(0)
	if d == array.Bool {
		v = c.cast(v, array.I32)
	}
	x := v.(*exported)
	n := rankOf(x)
	skip := []int{max(0, -a.Offset), max(0, a.Offset)} // rows and columns
	size := diagonalSize(c, x, skip)
	number := c.w.emit("Squeeze", shape.TensorType(array.I64, shape.Dims{}), []op.Value{size, c.list(0)})
	at := c.w.emit("Range", shape.TensorType(array.I64, shape.Of(c.typ.Dim(-1))), []op.Value{c.int(0), number, c.int(1)})
	square := x.typ.WithDims(x.typ.Dims().With(n-2, c.typ.Dim(-1)).With(n-1, c.typ.Dim(-1)))
	ends := c.w.emit("Add", shape.TensorType(array.I64, shape.ConstDims(2)), []op.Value{size, c.list(skip...)})
	cut := c.w.emit("Slice", square, []op.Value{x, c.list(skip...), ends, c.list(n-2, n-1)})
	axis := func(i int) op.Value {
		return c.w.emit("Unsqueeze", shape.TensorType(array.I64, shape.Of(shape.Unknown, shape.Unknown)), []op.Value{at, c.list(i)})
	}
	mask := c.w.emit("Equal", shape.TensorType(array.Bool, shape.Of(c.typ.Dim(-1), c.typ.Dim(-1))), []op.Value{axis(1), axis(0)})
	kept := c.w.emit("Where", square, []op.Value{mask, cut, c.number(x.typ.DType(), op.Int(0))})
	sum := c.w.emit("ReduceSum", square.WithDims(square.Dims().Sub(0, n-1)), []op.Value{kept, c.list(n - 1)}, attrInt("keepdims", 0))
	return c.cast(sum, d)
}

// diagonalSize is the length of the diagonal of the rest of the last two axes without the
// first rows and columns.
func diagonalSize(c *exportCall, x *exported, skip []int) op.Value {
	if n, ok := c.typ.Dim(-1).Int(); ok {
		return c.list(n)
	}
	n := rankOf(x)
	rows := c.w.emit("Sub", oneSize, []op.Value{c.w.sizeOf(x, n-2), c.list(skip[0])})
	columns := c.w.emit("Sub", oneSize, []op.Value{c.w.sizeOf(x, n-1), c.list(skip[1])})
	return c.w.emit("Max", oneSize, []op.Value{c.w.emit("Min", oneSize, []op.Value{rows, columns}), c.list(0)})
}

// diagonalScatter puts src where the mask is.
func diagonalScatter(c *exportCall, a std.DiagonalAttrs) op.Value {
	x, i, j := diagonalLast(c, a)
	n := rankOf(x)
	rows, columns := knownSize(x.Type().Dim(n-2), "a size"), knownSize(x.Type().Dim(n-1), "a size")
	size := knownSize(c.in[1].Type().Dim(-1), "the length of the diagonal")
	before := max(0, -a.Offset)
	src := c.do(std.Pad, std.PadAttrs{Pad: shape.ConstDims(before, rows-size-before)}, c.cast(c.in[1], c.dtype(0)))
	src = c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, src)
	v := c.do(std.Where, nil, diagonalMask(c, shape.Const(rows), shape.Const(columns), a.Offset), src, x)
	return c.do(std.Movedim, std.MovedimAttrs{Source: op.IntList(n-2, n-1), Destination: op.IntList(i, j)}, v)
}

// replaceSelected puts src in the place of one index: it joins the part before, src and the
// part after.
func replaceSelected(c *exportCall, a std.SelectAttrs) op.Value {
	axis := axisOf(a.Dim, c.rank(0))
	index := shape.Const(a.Index)
	if a.Index < 0 {
		index = c.in[0].Type().Dim(axis).AddInt(a.Index)
	}
	if index.IsUnknown() {
		decline("the size is not known")
	}
	src := c.do(std.Unsqueeze, std.DimAttrs{Dim: axis}, c.cast(c.in[1], c.dtype(0)))
	return c.between(axis, index, index.AddInt(1), src)
}

func replaceSliced(c *exportCall, a std.SliceAttrs) op.Value {
	axis := axisOf(a.Dim, c.rank(0))
	if a.Step > 1 {
		n := knownSize(c.in[0].Type().Dim(axis), "the size")
		start, stop := knownSize(a.Start, "the start"), knownSize(a.Stop, "the end")
		if start < 0 {
			start += n
		}
		if stop < 0 {
			stop += n
		}
		var at []int
		for i := max(start, 0); i < min(stop, n); i += a.Step {
			at = append(at, i)
		}
		return scatterAt(c, axis, at)
	}
	n := c.in[0].Type().Dim(axis)
	size := c.in[1].Type().Dim(axis)
	start := a.Start
	if k, ok := start.Int(); ok && k < 0 {
		start = n.AddInt(k)
	}
	if k, ok := start.Int(); ok {
		if m, known := n.Int(); known {
			start = shape.Const(min(max(k, 0), m))
		}
	}
	return c.between(axis, start, start.Add(size), c.cast(c.in[1], c.dtype(0)))
}

// scatterAt puts src at indices of an axis.
func scatterAt(c *exportCall, axis int, at []int) op.Value {
	src := c.cast(c.in[1], c.dtype(0))
	dims := make([]shape.Dim, c.rank(0))
	for i := range dims {
		dims[i] = shape.Const(1)
	}
	dims[axis] = shape.Const(len(at))
	index := c.do(std.Expand, std.ExpandAttrs{Shape: src.Type().Dims()}, c.reshape(c.list(at...), dims...))
	return c.node("ScatterElements", []op.Value{c.in[0], index, src}, attrInt("axis", axis))
}

// between replaces a range of an axis.
func (c *exportCall) between(axis int, from, to shape.Dim, src op.Value) op.Value {
	n := c.in[0].Type().Dim(axis)
	var parts []op.Value
	if !from.Is(0) {
		parts = append(parts, c.do(std.Slice, std.SliceAttrs{Dim: axis, Stop: from}, c.in[0]))
	}
	parts = append(parts, src)
	if !to.Equal(n) {
		parts = append(parts, c.do(std.Slice, std.SliceAttrs{Dim: axis, Start: to, Stop: n}, c.in[0]))
	}
	if len(parts) == 1 {
		return c.node("Identity", parts)
	}
	return c.node("Concat", parts, attrInt("axis", axis))
}
