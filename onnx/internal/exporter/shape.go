package exporter

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// exportShapes are the operators that make constants, and give elements another shape.
var exportShapes = map[*op.Op][]exportRule{
	std.Full:     by(func(c *exportCall, a std.FullAttrs) op.Value { return full(c, a.Value) }),
	std.Zeros:    by(func(c *exportCall, _ std.SizeAttrs) op.Value { return full(c, op.Int(0)) }),
	std.Ones:     by(func(c *exportCall, _ std.SizeAttrs) op.Value { return full(c, op.Int(1)) }),
	std.FullLike: by(func(c *exportCall, a std.FullLikeAttrs) op.Value { return full(c, a.Value) }),
	std.ZerosLike: by(func(c *exportCall, _ std.LikeAttrs) op.Value {
		return full(c, op.Int(0))
	}),
	std.OnesLike: by(func(c *exportCall, _ std.LikeAttrs) op.Value { return full(c, op.Int(1)) }),
	std.Arange:   by(arange),

	std.Reshape:   by(func(c *exportCall, a std.ReshapeAttrs) op.Value { return shaped(c, a.Shape) }),
	std.View:      by(func(c *exportCall, a std.ReshapeAttrs) op.Value { return shaped(c, a.Shape) }),
	std.ViewAs:    by(func(c *exportCall, _ op.None) op.Value { return shaped(c, c.typ.Dims()) }),
	std.Unflatten: by(unflatten),
	std.Flatten:   by(exportFlatten),
	std.Squeeze:   by(exportSqueeze),
	std.Unsqueeze: by(func(c *exportCall, a std.DimAttrs) op.Value {
		if !c.in[0].Type().Ranked() { // of one axis both count alike
			return c.node("Unsqueeze", []op.Value{c.in[0], c.list(a.Dim)})
		}
		return c.node("Unsqueeze", []op.Value{c.in[0], c.list(axisOf(a.Dim, c.rank(0)+1))})
	}),
	std.Expand:           by(exportExpand),
	std.Repeat:           by(func(c *exportCall, a std.RepeatAttrs) op.Value { return tile(c, a.Repeats) }),
	std.Tile:             by(func(c *exportCall, a std.TileAttrs) op.Value { return tile(c, a.Reps) }),
	std.RepeatInterleave: by(interleave),
	std.Clone:            by(func(c *exportCall, _ op.None) op.Value { return c.node("Identity", c.in) }),
	std.Wait:             by(func(c *exportCall, _ op.None) op.Value { return c.node("Identity", c.in) }),
	std.Bitcast: {writes(26, func(c *exportCall, a std.BitcastAttrs) op.Value {
		return c.node("BitCast", c.in, attrInt("to", int(elemOf(a.DType))))
	})},

	std.Permute: by(func(c *exportCall, a std.PermuteAttrs) op.Value {
		perm := a.Dims.Slice()
		for i := range perm {
			perm[i] = axisOf(perm[i], len(perm))
		}
		return permute(c, c.in[0], perm)
	}),
	std.Transpose: by(func(c *exportCall, a std.TransposeAttrs) op.Value {
		n := c.rank(0)
		if n == 0 {
			return c.in[0]
		}
		perm := c.every(n)
		i, j := axisOf(a.Dim0, n), axisOf(a.Dim1, n)
		perm[i], perm[j] = perm[j], perm[i]
		return permute(c, c.in[0], perm)
	}),
	std.Detach:  by(func(c *exportCall, _ op.None) op.Value { return c.in[0] }),
	std.Barrier: by(func(c *exportCall, _ op.None) op.Value { return c.in[0] }),
	std.T: by(func(c *exportCall, _ op.None) op.Value {
		if c.rank(0) < 2 {
			return c.in[0]
		}
		return permute(c, c.in[0], []int{1, 0})
	}),
	std.Movedim: by(movedim),
}

func (c *exportCall) every(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// full is one number, of the sizes of the result.
func full(c *exportCall, v op.Scalar) op.Value {
	d := c.typ.DType()
	if c.typ.Rank() == 0 {
		return c.number(d, v)
	}
	return c.node("ConstantOfShape", []op.Value{c.sizes(c.typ.Dims().Slice()...)}, attrNumber("value", d, v))
}

// arange counts in its own type where that is one of Range's.
func arange(c *exportCall, a std.ArangeAttrs) op.Value {
	d := c.typ.DType()
	step := a.Step
	if step == 0 {
		step = 1
	}
	count := array.I64
	end := op.Value(nil)
	if n, ok := a.End.Int(); ok {
		if d == array.I32 || d == array.I16 {
			count = d
		}
		end = c.number(count, op.Int(int64(n)))
	} else {
		end = c.w.sizeNumber(a.End)
	}
	v := c.w.emit("Range", c.typ.WithDType(count), []op.Value{c.number(count, op.Int(int64(a.Start))), end, c.number(count, op.Int(int64(step)))})
	return c.cast(v, d)
}

// shaped is Reshape: sizes that stay where they are are 0 in ONNX, unless a size is 0 itself.
func shaped(c *exportCall, to shape.Dims) op.Value {
	from := c.in[0].Type()
	dims := to.Slice()
	if slices.ContainsFunc(dims, func(d shape.Dim) bool { return d.Is(0) }) {
		for i := range dims {
			if dims[i].Is(-1) {
				dims[i] = c.typ.Dim(i)
			}
		}
		return c.node("Reshape", []op.Value{c.in[0], c.sizes(dims...)}, attrInt("allowzero", 1))
	}
	for i, d := range dims {
		if _, known := d.Int(); !known && i < from.Rank() && d.Equal(from.Dim(i)) {
			dims[i] = shape.Const(0)
		}
	}
	return c.node("Reshape", []op.Value{c.in[0], c.sizes(dims...)})
}

func unflatten(c *exportCall, a std.UnflattenAttrs) op.Value {
	n := c.rank(0)
	axis := axisOf(a.Dim, n)
	have := c.in[0].Type().Dims()
	return shaped(c, have.Sub(0, axis).Concat(a.Sizes).Concat(have.Sub(axis+1, n)))
}

// exportFlatten is Flatten where that does it, else a Reshape in which the joined size
// follows from the others.
func exportFlatten(c *exportCall, a std.FlattenAttrs) op.Value {
	n := c.rank(0)
	from, to := axisOf(a.StartDim, n), axisOf(a.EndDim, n)
	if from == 1 && to == n-1 && n > 1 {
		return c.node("Flatten", c.in, attrInt("axis", 1))
	}
	return shaped(c, c.typ.Dims())
}

// exportSqueeze drops the dimensions that it names, of size 1.
func exportSqueeze(c *exportCall, a std.SqueezeAttrs) op.Value {
	t := c.in[0].Type()
	if _, fixed := t.Dims().Known(); a.Dim.Len() == 0 && (!t.Ranked() || !fixed) { // dimensions that are 1 when the model runs
		return c.node("Squeeze", []op.Value{c.in[0]})
	}
	n := c.rank(0)
	if n == 0 {
		return c.in[0]
	}
	var axes []int
	for _, axis := range axesOf(a.Dim, n) {
		one, known := c.w.src.CompareDims(t.Dim(axis), shape.Const(1))
		if !known {
			decline("whether " + t.Dim(axis).String() + " is 1 is not known")
		}
		if one {
			axes = append(axes, axis)
		}
	}
	if len(axes) == 0 {
		return c.in[0]
	}
	return c.node("Squeeze", []op.Value{c.in[0], c.list(axes...)})
}

// exportExpand: -1 keeps a size, which 1 does in ONNX.
func exportExpand(c *exportCall, a std.ExpandAttrs) op.Value {
	dims := a.Shape.Slice()
	for i, d := range dims {
		if d.Is(-1) {
			dims[i] = shape.Const(1)
		}
	}
	return c.node("Expand", []op.Value{c.in[0], c.sizes(dims...)})
}

// tile repeats; both may have fewer dimensions than the other.
func tile(c *exportCall, times shape.Dims) op.Value {
	x := c.in[0]
	rank := max(c.rank(0), times.Len())
	x = leading(c, x, rank)
	dims := make([]shape.Dim, rank)
	for i := range dims {
		dims[i] = times.FromEnd(rank - i)
	}
	return c.node("Tile", []op.Value{x, c.sizes(dims...)})
}

// leading gives a value dimensions of size 1 in front.
func leading(c *exportCall, x op.Value, rank int) op.Value {
	if k := rank - rankOf(x); k > 0 {
		dims := x.Type().Dims()
		for range k {
			dims = shape.Of(shape.Const(1)).Concat(dims)
		}
		return c.w.emit("Unsqueeze", x.Type().WithDims(dims), []op.Value{x, c.list(c.every(k)...)})
	}
	return x
}

// interleave repeats along a new dimension, which is joined with the one before.
func interleave(c *exportCall, a std.RepeatInterleaveAttrs) op.Value {
	n := c.rank(0)
	if n == 0 {
		decline("a number has no dimension to repeat along")
	}
	axis := axisOf(a.Dim, n)
	dims := c.in[0].Type().Dims()
	x := c.do(std.Unsqueeze, std.DimAttrs{Dim: axis + 1}, c.in[0])
	wide := dims.Sub(0, axis+1).Append(shape.Const(a.Repeats)).Concat(dims.Sub(axis+1, n))
	return c.reshape(c.do(std.Expand, std.ExpandAttrs{Shape: wide}, x), c.typ.Dims().Slice()...)
}

func permute(c *exportCall, x op.Value, perm []int) op.Value {
	dims := make([]shape.Dim, len(perm))
	for i, p := range perm {
		dims[i] = x.Type().Dim(p)
	}
	return c.w.emit("Transpose", x.Type().WithDims(shape.Of(dims...)), []op.Value{x}, attrInts("perm", perm...))
}

func movedim(c *exportCall, a std.MovedimAttrs) op.Value {
	n := c.rank(0)
	perm := make([]int, n)
	moved := make([]bool, n)
	for i := range perm {
		perm[i] = -1
	}
	from, to := a.Source.Slice(), a.Destination.Slice()
	for i := range from {
		s := axisOf(from[i], n)
		perm[axisOf(to[i], n)], moved[s] = s, true
	}
	next := 0
	for i := range perm {
		if perm[i] >= 0 {
			continue
		}
		for moved[next] {
			next++
		}
		perm[i] = next
		next++
	}
	return permute(c, c.in[0], perm)
}
