package onnx

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Sizes that follow from values: the symbols that runs give them.

// discovered names the sizes of a node that no rule says, so that what follows from the
// node can speak of them.
func (im *importer) discovered(n *graph.Node) {
	t := n.Type()
	if t.Kind() != shape.Tensor || !t.Ranked() {
		return
	}
	dims := t.Dims()
	for i, d := range dims.Slice() {
		if !d.IsUnknown() {
			continue
		}
		name := im.symbolLabels.fresh("k")
		n.Graph().DefineSymbol(name, n, i)
		im.late[name] = true
		dims = dims.With(i, shape.Sym(name))
	}
	if !dims.Equal(t.Dims()) {
		n.SetType(t.WithDims(dims))
	}
}

// isLate reports whether a size follows from values: whether something fits into it is
// known when it has run only, and nothing may be required of it before.
func (im *importer) isLate(d shape.Dim) bool {
	return slices.ContainsFunc(d.Symbols(), func(s string) bool { return im.late[s] })
}

// measured returns the elements of operand i, which the model computes, as sizes. The
// operands that files give for sizes are integers in a list, or alone: those are to be
// bound (Options.Values), as compilers know them then.
func (c *call) measured(i int, v *value) []shape.Dim {
	if s, ok := v.asSizes(); ok {
		return s.dims
	}
	if v.parts != nil {
		var dims []shape.Dim
		for _, p := range v.parts {
			dims = append(dims, c.measured(i, p)...)
		}
		return dims
	}
	if v.measure == nil && v.node != nil && !c.im.bindable(v) {
		v.measure = c.measure(v.node)
	}
	if v.measure == nil {
		panic(c.notConstant(i))
	}
	return v.measure
}

// measure makes symbols of the elements of a vector or scalar of integers, in the graph
// that has it; nil where it is something else.
func (c *call) measure(n *graph.Node) []shape.Dim {
	t := n.Type()
	if d := t.DType(); d != array.I64 && d != array.I32 || t.Rank() != 0 && t.Rank() != 1 {
		return nil
	}
	cur := c.cursorOf(n)
	if t.Rank() == 0 {
		n = cur.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.Ints(1)}, n)
	} else if _, known := t.Dim(0).Int(); !known {
		return nil
	}
	n = cur.Function(std.Sized, nil, n)
	c.im.discovered(n)
	dims := n.Type().Dims()
	return dims.Sub(0, dims.Len()-1).Slice()
}

// cursorOf writes behind what there is of the graph that has a node.
func (c *call) cursorOf(n *graph.Node) *graph.Cursor {
	for s := c.scope; s != nil; s = s.outer {
		if s.cur.Graph() == n.Graph() {
			return s.cur
		}
	}
	return c.scope.cur
}

// bindable reports whether a value is computed from nothing but inputs that are lists
// of integers.
func (im *importer) bindable(v *value) bool {
	if v.node == nil {
		return false
	}
	n := 0
	for in := range im.sources(v.node) {
		if t := in.Type(); im.inputs[in] == "" || !t.DType().IsInt() || t.Rank() > 1 {
			return false
		}
		n++
	}
	return n > 0
}

// stretch takes the elements of an axis from start to stop, by step, as ONNX counts: the
// bounds are numbers, sizes or values, and the run looks where they lie.
func (c *call) stretch(x op.Value, axis int, start, stop op.Value, step int) op.Value {
	size := c.do(op.Dim, op.AxisAttrs{Axis: axis}, x)
	low, high := 0, 0 // beside 0 and the size
	if step < 0 {
		low, high = -1, -1
	}
	bound := func(v op.Value, low, high int) op.Value {
		v = c.fromEndOf(v, size)
		v = c.do(std.Maximum, std.BinaryAttrs{Other: op.Int(int64(low))}, v)
		last := size
		if high != 0 {
			last = c.do(std.Add, std.AddAttrs{Other: op.Int(int64(high))}, size)
		}
		return c.do(std.Minimum, nil, v, last)
	}
	from, to := bound(start, 0, high), bound(stop, low, high)
	by := c.do(std.Full, std.FullAttrs{Value: op.Int(int64(step)), DType: array.I64})
	return c.do(std.IndexSelect, std.DimAttrs{Dim: axis}, x, c.do(std.Range, nil, from, to, by))
}

// fromEndOf adds a size to what counts from the end.
func (c *call) fromEndOf(v, size op.Value) op.Value {
	below := c.do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, v)
	return c.do(std.Where, nil, below, c.do(std.Add, nil, v, size), v)
}

// first takes as many elements from the start of an axis as a value says.
func (c *call) first(x op.Value, axis int, n op.Value) op.Value {
	number := func(n int64) op.Value { return c.do(std.Full, std.FullAttrs{Value: op.Int(n), DType: array.I64}) }
	return c.do(std.IndexSelect, std.DimAttrs{Dim: axis}, x, c.do(std.Range, nil, number(0), n, number(1)))
}

// element returns element k of operand i, integers, as a value of rank 0 and of type i64.
func (c *call) element(i, k int) op.Value {
	v := c.x(i)
	if t := v.Type(); t.Rank() > 0 {
		v = c.do(std.Select, std.SelectAttrs{Dim: 0, Index: k}, v)
	}
	if v.Type().DType() != array.I64 {
		v = c.do(std.Cast, std.CastAttrs{DType: array.I64}, v)
	}
	return v
}
