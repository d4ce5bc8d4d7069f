package grad

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// piece is the derivative with respect to a range of one dimension of a value.
type piece struct {
	dim         int
	start, stop shape.Dim
	v           *graph.Node
	write       func(zeros *graph.Node) *graph.Node // v in the place of the range
}

// hole stands for zeros in the shape of a value that views are written to: it becomes a node
// where a view is no piece.
type hole struct{ t shape.Type }

// Type implements op.Value.
func (h hole) Type() shape.Type { return h.t }

// cutter is the builder that the inverse of a view is written with: it keeps what is written
// to a range of zeros as a piece.
type cutter struct {
	d    *differentiation
	base *graph.Node
}

// Call implements op.Builder.
func (k cutter) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	if len(in) == 2 {
		if h, ok := in[0].(hole); ok && k.keep(o, attrs, h, in[1]) {
			return h
		}
	}
	in = slices.Clone(in)
	for i, v := range in {
		if _, ok := v.(hole); ok {
			in[i] = k.d.zeros(k.base)
		}
	}
	return k.d.c.Call(o, attrs, in...)
}

// Item implements op.Builder.
func (k cutter) Item(tuple op.Value, i int) op.Value { return k.d.c.Item(tuple, i) }

// keep keeps a write to a range of a dimension.
func (k cutter) keep(o *op.Op, attrs any, h hole, value op.Value) bool {
	v, ok := value.(*graph.Node)
	if !ok || h.t.Rank() < 1 || !v.Type().Ranked() || v.Type().DType() != h.t.DType() {
		return false
	}
	p := piece{v: v, write: func(zeros *graph.Node) *graph.Node { return k.d.call(o, attrs, zeros, v) }}
	switch a := attrs.(type) {
	case std.SliceAttrs:
		if ok = o == std.SliceScatter && a.Step <= 1; ok {
			p.dim = (a.Dim + h.t.Rank()) % h.t.Rank()
			p.start, ok = begins(a, h.t.Dim(p.dim))
			p.stop = p.start.Add(v.Type().Dim(p.dim))
		}
	case std.SelectAttrs:
		if ok = o == std.SelectScatter; ok {
			p.dim = (a.Dim + h.t.Rank()) % h.t.Rank()
			p.start, ok = begins(std.SliceAttrs{Start: shape.Const(a.Index), Inside: true}, h.t.Dim(p.dim))
			p.stop = p.start.AddInt(1)
		}
	default:
		ok = false
	}
	if !ok || p.stop.IsUnknown() {
		return false
	}
	if o == std.SelectScatter {
		p.v = k.d.call(std.Unsqueeze, std.DimAttrs{Dim: p.dim}, v)
	}
	if k.d.pieces == nil {
		k.d.pieces = map[*graph.Node][]piece{}
	}
	if k.d.pieces[k.base] == nil {
		k.d.waiting = append(k.d.waiting, k.base)
	}
	k.d.pieces[k.base] = append(k.d.pieces[k.base], p)
	return true
}

// begins returns where a slice of a dimension of size n begins; ok is false where that is not
// known, or the slice may be cut at the ends.
func begins(a std.SliceAttrs, n shape.Dim) (start shape.Dim, ok bool) {
	at, numbered := a.Start.Int()
	size, known := n.Int()
	switch {
	case numbered && known:
		if at < 0 {
			at += size
		}
		return shape.Const(min(max(at, 0), size)), true
	case n.IsUnknown() || a.Start.IsUnknown():
		return start, false
	}
	return a.Start, a.Inside && (!numbered || at >= 0)
}

// join adds the pieces of the derivative with respect to a value to it. Those of one dimension
// that do not overlap are joined to one tensor, with zeros where none is; others are
// written to zeros and added up.
func (d *differentiation) join(n *graph.Node) {
	all := d.pieces[n]
	if all == nil {
		return
	}
	delete(d.pieces, n)
	d.c.From(n)
	for len(all) > 0 {
		var group, rest []piece
		for _, p := range all {
			if p.dim == all[0].dim {
				group = append(group, p)
			} else {
				rest = append(rest, p)
			}
		}
		all = rest
		if parts := d.inOrder(n.Type(), group); len(group) > 1 && parts != nil {
			d.give(n, 0, d.call(std.Cat, std.DimAttrs{Dim: group[0].dim}, parts...))
			continue
		}
		for _, p := range group {
			d.give(n, 0, p.write(d.zeros(n)))
		}
	}
}

// inOrder are the pieces of one dimension of a type as they lie, with zeros where none is; nil where they
// overlap, or it is not known whether they do.
func (d *differentiation) inOrder(t shape.Type, group []piece) []*graph.Node {
	dim := group[0].dim
	if !chained(group, t.Dim(dim)) {
		return nil
	}
	var parts []*graph.Node
	gap := func(from, to shape.Dim) bool {
		if from.Equal(to) {
			return true
		}
		sizes := t.Dims().With(dim, to.Sub(from))
		if slices.ContainsFunc(sizes.Slice(), shape.Dim.IsUnknown) {
			return false
		}
		parts = append(parts, d.call(std.Full, std.FullAttrs{Size: sizes, Value: op.Float(0), DType: t.DType()}))
		return true
	}
	at := shape.Const(0)
	for _, p := range group {
		if !gap(at, p.start) {
			return nil
		}
		parts, at = append(parts, p.v), p.stop
	}
	if !gap(at, t.Dim(dim)) {
		return nil
	}
	return parts
}

// chained orders pieces of a dimension of size n and reports whether none overlaps another. Where their
// places are no numbers, each has to begin where the one before it ends.
func chained(group []piece, n shape.Dim) bool {
	numbers := true
	for _, p := range group {
		_, from := p.start.Int()
		_, to := p.stop.Int()
		_, size := n.Int()
		numbers = numbers && from && to && size
	}
	if numbers {
		slices.SortStableFunc(group, func(a, b piece) int {
			x, _ := a.start.Int()
			y, _ := b.start.Int()
			return x - y
		})
		at := 0
		for _, p := range group {
			start, _ := p.start.Int()
			if start < at {
				return false
			}
			at, _ = p.stop.Int()
		}
		return true
	}
	at := shape.Const(0)
	for i := range group {
		k := slices.IndexFunc(group[i:], func(p piece) bool { return p.start.Equal(at) })
		if k < 0 {
			return false
		}
		group[i], group[i+k] = group[i+k], group[i]
		at = group[i].stop
	}
	return at.Equal(n)
}
