package rule

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Sizes that follow from values: the symbols that runs give them.

// discovered names the sizes of a node that no rule says, so that types that follow
// from the node can use them.
func (dr *Draft) discovered(n *graph.Node) {
	n.NameSizes(func() string {
		name := dr.SymbolLabels.Fresh("k")
		dr.lateSizes[name] = true
		return name
	})
}

// Late reports whether a size follows from values: whether something fits into it is
// known when it has run only, and nothing may be required of it before.
func (dr *Draft) Late(d shape.Dim) bool {
	return slices.ContainsFunc(d.Symbols(), func(s string) bool { return dr.lateSizes[s] })
}

// Measured returns the elements of operand i, which the model computes, as sizes; signed
// ones may be negative.
func Measured(c *Call, i int, v *Datum, signed bool) []shape.Dim {
	if s, ok := v.AsSizes(); ok {
		return s.Dims
	}
	if v.Parts != nil {
		var dims []shape.Dim
		for _, p := range v.Parts {
			dims = append(dims, Measured(c, i, p, signed)...)
		}
		return dims
	}
	if v.measure == nil && v.Node != nil {
		v.measure = map[bool][]shape.Dim{}
	}
	if v.measure[signed] == nil && v.Node != nil {
		v.measure[signed] = Measure(c, v.Node, signed)
	}
	if v.measure[signed] == nil {
		panic(c.NotConstant(i))
	}
	return v.measure[signed]
}

// Measure makes symbols of the elements of a vector or scalar of integers, in the graph
// that has it; nil where it is something else. Sizes are not negative: a possibly
// negative one is the difference of two, one of which is 0.
func Measure(c *Call, n *graph.Node, signed bool) []shape.Dim {
	t := n.Type()
	if d := t.DType(); d != array.I64 && d != array.I32 || t.Rank() != 0 && t.Rank() != 1 {
		return nil
	}
	cur := cursorOf(c, n)
	count := 1
	if t.Rank() == 0 {
		n = cur.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(1)}, n)
	} else if k, known := t.Dim(0).Int(); known {
		count = k
	} else {
		return nil
	}
	if signed {
		over := cur.Function(std.Maximum, std.BinaryAttrs{Other: op.Int(0)}, n)
		n = cur.Function(std.Cat, std.DimAttrs{}, over, cur.Function(std.Sub, nil, over, n))
	}
	n = cur.Function(std.Sized, nil, n)
	c.Draft.discovered(n)
	dims := n.Type().Dims().Slice()
	for i := range count {
		if signed {
			dims[i] = dims[i].Sub(dims[count+i])
		}
	}
	return dims[:count]
}

// cursorOf writes after the existing nodes of the graph that has a node.
func cursorOf(c *Call, n *graph.Node) *graph.Cursor {
	for cur := c.Cursor; ; {
		if cur.Graph() == n.Graph() {
			return cur
		}
		b := c.Draft.Bodies[cur.Graph()]
		if b == nil {
			return c.Cursor
		}
		cur = b.Outer
	}
}

// Condition has rank 0.
func Condition(c *Call, v op.Value) *graph.Node {
	n := v.(*graph.Node)
	if n.Type().Rank() > 0 {
		n = c.Cursor.Function(std.Reshape, std.ReshapeAttrs{}, n)
	}
	return n
}
