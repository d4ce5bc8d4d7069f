package fxtest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// WideGraph returns a function that draws a graph over all operators that allow takes, nil for
// all: RandomGraph, in which half of the calls are samples of operators (op.Sample). Values of
// the graph, brought to the sizes and the type of the sample, stand for most of a sample's
// floats; the others, and indices, keys and whatever else has a meaning, are parameters.
// Results with steps (the index of the largest of equal values, a scale that a rounding
// changes) may differ between engines without a mistake: tests draw graphs that have been
// looked at.
func WideGraph(allow func(n *graph.Node) bool) func(t *rapid.T) *graph.Module {
	ops := wideOps()
	return func(t *rapid.T) *graph.Module {
		return randomModule(t, func(b *randomGraph) {
			if rapid.Bool().Draw(t, "sample") {
				b.sample(ops[b.draw(0, len(ops)-1, "operator")], allow)
			} else {
				b.call()
			}
		})
	}
}

// CloseWide is CloseArrays for the results of a graph, where floats are as close as the narrowest
// floats in it that hold at least 10 bits of mantissa let them be: a cast makes rounding errors of
// a narrow type ones of a wide type.
func CloseWide(g *graph.Graph, want, got []*array.Array) string {
	narrow := array.F64
	for n := range g.All() {
		switch d := n.Type().DType(); {
		case d == array.F16 || d == array.BF16:
			narrow = array.F16
		case d == array.F32 && narrow == array.F64:
			narrow = array.F32
		}
	}
	rounded := func(list []*array.Array) []*array.Array {
		out := slices.Clone(list)
		for i, a := range list {
			if a.DType() == array.F64 || a.DType() == array.F32 && narrow == array.F16 {
				out[i] = array.Cast(a, narrow)
			}
		}
		return out
	}
	return CloseArrays(rounded(want), rounded(got))
}

// wideOps are the operators of the library with samples, in the order of their names.
func wideOps() []*op.Op {
	var list []*op.Op
	for _, o := range op.All() {
		if !o.Structural() && !o.AdHoc && !o.ByValue && len(o.Mutates) == 0 && o.Path == "" && len(o.Samples()) > 0 {
			list = append(list, o)
		}
	}
	return list
}

// sample calls an operator as one of its samples does.
func (b *randomGraph) sample(o *op.Op, allow func(n *graph.Node) bool) {
	all := o.Samples()
	s := all[b.draw(0, len(all)-1, "sample")]
	in := make([]*graph.Node, len(s.In))
	types := make([]shape.Type, len(s.In))
	for i, a := range s.In {
		if a == nil {
			continue
		}
		if types[i] = shape.TypeOf(a); a.Len() > maxElements {
			return
		}
	}
	typ, err := o.Type(strict, s.Attrs, types)
	if err != nil || !small(typ) {
		return
	}
	for i, a := range s.In {
		if a == nil {
			continue
		}
		if in[i] = b.fitting(a); in[i] == nil {
			path := fmt.Sprintf("sample%d.operand", len(b.m.Params()))
			b.m.SetParam(graph.Param{Path: path, Type: types[i], Value: a})
			in[i] = b.c.GetAttr(path)
		}
	}
	n := b.c.Function(o, s.Attrs, in...)
	if allow != nil && !allow(n) {
		_ = b.m.Graph.Erase(n) // nothing uses it
		return
	}
	if count, tuple := o.NumResults(s.Attrs); tuple {
		for i := range count {
			b.pool = append(b.pool, b.c.ItemNode(n, i))
		}
		return
	}
	b.pool = append(b.pool, n)
}

// fitting makes a value of the graph one of an array's sizes and type, repeated where it is too
// small, nil where none is drawn.
func (b *randomGraph) fitting(a *array.Array) *graph.Node {
	if d := a.DType(); d != array.F32 && d != array.F64 && d != array.F16 && d != array.BF16 || a.Len() == 0 || b.draw(0, 3, "fit") == 0 {
		return nil
	}
	x := b.any()
	d, dims, known := x.Type().Concrete()
	n, _ := array.NumElems(dims)
	if !known || n == 0 {
		return nil
	}
	if rows := (a.Len() + n - 1) / n; rows > 1 {
		x = b.c.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(1, n)}, x)
		x = b.c.Function(std.Expand, std.ExpandAttrs{Shape: shape.ConstDims(rows, n)}, x)
		n *= rows
	}
	if n > a.Len() {
		x = b.c.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(n)}, x)
		from := b.draw(0, n-a.Len(), "from")
		x = b.c.Function(std.Slice, std.SliceAttrs{Start: shape.Const(from), Stop: shape.Const(from + a.Len())}, x)
	}
	if _, dims, _ := x.Type().Concrete(); !slices.Equal(dims, a.Shape()) {
		x = b.c.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(a.Shape()...)}, x)
	}
	if d != a.DType() {
		x = b.c.Function(std.Cast, std.CastAttrs{DType: a.DType()}, x)
	}
	return x
}
