package onnx

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// bounds are what Slice takes: attributes in the first sets, operands since. starts and
// ends are nil where the model computes them.
func bounds(c *call) (starts, ends []shape.Dim, axes, steps []int) {
	count := 0
	if c.given("starts") {
		starts, ends = shape.Ints(c.list("starts")...).Slice(), shape.Ints(c.list("ends")...).Slice()
		axes, count = c.list("axes"), len(starts)
		if len(ends) != count {
			count = -1
		}
	} else {
		starts, ends, count = c.boundsOf(1, 2)
		if c.has(3) {
			axes = c.ints(3)
		}
		if c.has(4) {
			steps = c.ints(4)
		}
	}
	if axes == nil {
		for i := range count {
			axes = append(axes, i)
		}
	}
	if count < 0 || len(axes) != count || steps != nil && len(steps) != count {
		panic(refuse(CodeModel, "Slice has lists of different lengths"))
	}
	return starts, ends, axes, steps
}

// boundsOf returns two operands as sizes, both nil where one is a value, and their
// length, -1 where they have different ones.
func (c *call) boundsOf(starts, ends int) (from, to []shape.Dim, count int) {
	lengths := [2]int{}
	values := false
	for k, i := range []int{starts, ends} {
		v := c.value(i)
		if s, ok := v.asSizes(); ok {
			lengths[k] = len(s.dims)
			continue
		}
		n, known := v.typ().Dim(0).Int()
		if v.typ().Rank() != 1 || !known || n > mostRank || v.arr != nil || c.im.bindable(v) {
			panic(c.notConstant(i))
		}
		lengths[k], values = n, true
	}
	switch {
	case lengths[0] != lengths[1]:
		return nil, nil, -1
	case values:
		return nil, nil, lengths[0]
	}
	return c.dims(starts), c.dims(ends), lengths[0]
}

func slice(c *call) []op.Value {
	starts, ends, axes, steps := bounds(c)
	rank := c.rank(0)
	v := c.x(0)
	for i, axis := range axes {
		axis = c.axis(axis, rank)
		step := 1
		if steps != nil {
			step = steps[i]
		}
		if step == 0 {
			panic(refuse(CodeModel, "the step of Slice is 0"))
		}
		size := c.typ(0).Dim(axis)
		if starts == nil {
			v = c.stretch(v, axis, c.element(1, i), c.element(2, i), step)
			continue
		}
		start, stop := starts[i], ends[i]
		late := (c.im.isLate(size) || size.IsUnknown()) && !wholly(start, stop, size, step) || c.im.isLate(start) || c.im.isLate(stop)
		if late && !start.IsUnknown() && !stop.IsUnknown() {
			v = c.stretch(v, axis, c.size(start, array.I64), c.size(stop, array.I64), step)
			continue
		}
		if step < 0 {
			v, start, stop = reversed(c, v, axis, size, start, stop)
			step = -step
		}
		if n, ok := stop.Int(); ok && n >= 1<<30 {
			stop = std.End
		}
		if start.Is(0) && (stop.Equal(std.End) || stop.Equal(size)) && step == 1 {
			continue
		}
		v = c.do(std.Slice, std.SliceAttrs{Dim: axis, Start: start, Stop: stop, Step: step}, v)
	}
	return []op.Value{v}
}

// wholly reports whether all of an axis is taken, or backwards.
func wholly(start, stop, size shape.Dim, step int) bool {
	far := func(d shape.Dim, least bool) bool {
		n, ok := d.Int()
		return ok && (least && n <= -1<<30 || !least && n >= 1<<30)
	}
	if step < 0 {
		return (start.Is(-1) || far(start, false)) && far(stop, true)
	}
	return start.Is(0) && (far(stop, false) || stop.Equal(size))
}

// reversed turns bounds of a negative step into those of the flipped tensor: element
// i of the one is element size-1-i of the other.
func reversed(c *call, v op.Value, axis int, size, start, stop shape.Dim) (op.Value, shape.Dim, shape.Dim) {
	flip := func(d shape.Dim, first bool) shape.Dim {
		n, ok := d.Int()
		if !ok {
			panic(refuse(CodeValue, "a bound of Slice with a negative step is "+d.String()+", expected a number"))
		}
		if n < 0 { // from the end: -1 is the last, the first of the flipped one
			total, known := size.Int()
			if !known {
				if n == -1 {
					return shape.Const(0)
				}
				if first {
					panic(refuse(CodeValue, "Slice from "+d.String()+" on with a negative step needs a size that is known, "+size.String()+" is not"))
				}
				if n <= -1<<30 {
					return std.End
				}
				return shape.Const(-n - 1)
			}
			if n += total; n < 0 && !first {
				return std.End
			}
			n = max(n, 0) // the specification moves a start inside
		}
		if total, known := size.Int(); known {
			return shape.Const(max(total-1-n, 0))
		}
		if n >= 1<<30 {
			return shape.Const(0)
		}
		return size.AddInt(-1 - n)
	}
	v = c.do(std.Flip, std.FlipAttrs{Dims: op.IntList(axis)}, v)
	return v, flip(start, true), flip(stop, false)
}
