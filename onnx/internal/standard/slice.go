package standard

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// boundsOf are the bounds of Slice: attributes in the first sets, operands since.
type bounds struct {
	starts, ends, steps []shape.Dim
	axes                []int
}

func boundsOf(c *rule.Call) bounds {
	var b bounds
	count := 0
	if c.Given("starts") {
		b.starts, b.ends = shape.ConstDims(c.List("starts")...).Slice(), shape.ConstDims(c.List("ends")...).Slice()
		b.axes, count = c.List("axes"), len(b.starts)
		if len(b.ends) != count {
			count = -1
		}
	} else {
		var counts [3]int
		b.starts, counts[0] = boundList(c, 1)
		b.ends, counts[1] = boundList(c, 2)
		if count = counts[0]; count != counts[1] {
			count = -1
		}
		if c.Has(3) {
			b.axes = c.Ints(3)
		}
		if c.Has(4) {
			if b.steps, counts[2] = boundList(c, 4); counts[2] != count {
				count = -1
			}
		} else {
			b.steps = make([]shape.Dim, max(count, 0))
			for i := range b.steps {
				b.steps[i] = rule.One
			}
		}
	}
	if b.axes == nil {
		for i := range count {
			b.axes = append(b.axes, i)
		}
	}
	if count < 0 || len(b.axes) != count {
		panic(diag.New(spec.CodeModel, "Slice has lists of different lengths"))
	}
	return b
}

// boundList returns an operand as sizes and their number; nil where it is a value.
func boundList(c *rule.Call, i int) ([]shape.Dim, int) {
	v := c.Value(i)
	if v.Arr != nil && v.Arr.Rank() == 1 {
		n := c.Ints(i)
		for k := range n {
			n[k] = max(n[k], -math.MaxInt) // which is as far
		}
		return shape.ConstDims(n...).Slice(), len(n)
	}
	if s, ok := v.AsSizes(); ok && len(s.Shape) == 1 {
		return s.Dims, len(s.Dims)
	}
	n, known := v.Type().Dim(0).Int()
	if v.Type().Rank() != 1 || !known || n > modelfile.MostRank || v.Arr != nil {
		panic(c.NotConstant(i))
	}
	return nil, n
}

func slice(c *rule.Call) []op.Value {
	b := boundsOf(c)
	rank := c.Rank(0)
	v := c.X(0)
	for i, axis := range b.axes {
		axis = c.Axis(axis, rank)
		size := c.Type(0).Dim(axis)
		if b.starts == nil || b.ends == nil || b.steps == nil && c.Has(4) {
			v = stretch(c, v, axis, element(c, 1, i), element(c, 2, i), stepOf(c, b, i))
			continue
		}
		start, stop, step := b.starts[i], b.ends[i], 1
		if b.steps != nil {
			known := false
			if step, known = b.steps[i].Int(); !known {
				v = stretch(c, v, axis, c.Size(start, array.I64), c.Size(stop, array.I64), stepOf(c, b, i))
				continue
			}
		}
		if step == 0 {
			panic(diag.New(spec.CodeModel, "the step of Slice is 0"))
		}
		late := (c.Draft.Late(size) || size.IsUnknown()) && !wholly(start, stop, size, step) || c.Draft.Late(start) || c.Draft.Late(stop)
		if late && !start.IsUnknown() && !stop.IsUnknown() {
			v = stretch(c, v, axis, c.Size(start, array.I64), c.Size(stop, array.I64), number64(c, int64(step)))
			continue
		}
		if step < 0 {
			v = c.Do(std.Flip, std.FlipAttrs{Dims: op.IntList(axis)}, v)
			start, stop = c.Draft.Bounds(reversed, size, start, stop)
			step = -min(max(step, -math.MaxInt), -1)
		} else {
			start, stop = c.Draft.Bounds(between, size, start, stop)
		}
		if start.Is(0) && (stop.Equal(std.End) || stop.Equal(size)) && step == 1 {
			continue
		}
		v = c.Do(std.Slice, std.SliceAttrs{Dim: axis, Start: start, Stop: stop, Step: step}, v)
	}
	return []op.Value{v}
}

// stepOf is step i as a value.
func stepOf(c *rule.Call, b bounds, i int) op.Value {
	switch {
	case !c.Has(4):
		return number64(c, 1)
	case b.steps == nil:
		return element(c, 4, i)
	}
	return c.Size(b.steps[i], array.I64)
}

// isFar reports whether a bound is one that exporters write for the end (or with a minus the
// start): the greatest i32, or a number that no dimension reaches.
func isFar(d shape.Dim, least bool) bool {
	n, ok := d.Int()
	if least {
		return ok && (n <= -math.MaxInt32 && n >= math.MinInt32 || n <= -1<<62)
	}
	return ok && (n == math.MaxInt32 || n >= 1<<62)
}

// wholly reports whether all of an axis is taken, or backwards.
func wholly(start, stop, size shape.Dim, step int) bool {
	if step < 0 {
		return (start.Is(-1) || isFar(start, false)) && isFar(stop, true)
	}
	return start.Is(0) && (isFar(stop, false) || stop.Equal(size))
}

// between are the bounds for slice, which takes numbers as ONNX does, and sizes that are not
// negative. A size that may be is resolved here.
func between(size, start, stop shape.Dim) (from, to shape.Dim) {
	open := false
	resolve := func(d shape.Dim) shape.Dim {
		switch _, number := d.Int(); {
		case isFar(d, false):
			return std.End
		case isFar(d, true):
			return rule.Zero
		case number || d.IsUnknown() || size.IsUnknown() || shape.AtLeast(d, rule.Zero).Truth() == shape.True:
			return d
		}
		open = true
		return fromEnd(d, size).Max(rule.Zero).Min(size)
	}
	from, to = resolve(start), resolve(stop)
	if open { // slice takes a stop that is not before the start
		if n, ok := from.Int(); ok && n < 0 || from.Equal(std.End) {
			from = fromEnd(from, size).Max(rule.Zero).Min(size)
		}
		if n, ok := to.Int(); ok && n < 0 {
			to = size.Add(to).Max(rule.Zero)
		}
		if !to.Equal(std.End) {
			to = to.Min(size).Max(from.Min(size))
		}
	}
	return from, to
}

// fromEnd adds the size to indices that count from the end.
func fromEnd(d, size shape.Dim) shape.Dim {
	return rule.Choose(rule.Less(d, rule.Zero), size.Add(d), d)
}

// reversed turns bounds of a negative step into those of the flipped tensor: element
// i of the one is element size-1-i of the other. The specification moves a start inside.
func reversed(size, start, stop shape.Dim) (from, to shape.Dim) {
	last := size.AddInt(-1)
	switch n, number := start.Int(); {
	case start.Is(-1) || isFar(start, false):
		from = rule.Zero
	case isFar(start, true):
		from = last.Max(rule.Zero)
	case number && n < 0:
		from = shape.Const(-1 - n).Min(last).Max(rule.Zero)
	default:
		from = last.Sub(fromEnd(start, size).Max(rule.Zero).Min(last)).Max(rule.Zero)
	}
	switch n, number := stop.Int(); {
	case isFar(stop, true):
		return from, std.End
	case isFar(stop, false):
		to = rule.Zero
	case number && n < 0:
		to = shape.Const(-1 - n)
	default:
		to = last.Sub(fromEnd(stop, size).Max(shape.Const(-1)).Min(last))
	}
	_, first := from.Int()
	if _, second := to.Int(); !first || !second {
		to = to.Min(size).Max(from)
	}
	return from, to
}
