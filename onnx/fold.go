package onnx

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
)

// builder writes into a graph.
type builder struct {
	cur *graph.Cursor
	dr  *draft
}

func (b builder) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	v := b.cur.Call(o, attrs, in...)
	if o.ByValue {
		b.dr.discovered(v.(*graph.Node))
	}
	return v
}

func (b builder) Item(tuple op.Value, i int) op.Value {
	v := b.cur.Item(tuple, i)
	if n, ok := tuple.(*graph.Node); ok && n.Op() != nil && n.Op().ByValue {
		b.dr.discovered(v.(*graph.Node))
	}
	return v
}

// byConstants computes a node on constants, nil where an operand is none, or something is
// too large.
func (c *call) byConstants(r *rule) (outs []*value) {
	total := 0
	for _, v := range c.in {
		if v == nil {
			continue
		}
		if v.arr == nil {
			return nil
		}
		total += v.arr.Len() * v.arr.DType().Size()
	}
	if total > spec.FoldBytes {
		return nil
	}
	defer func() {
		c.folding = false
		if x := recover(); x != nil {
			if _, ok := x.(spec.TooLarge); !ok {
				panic(x)
			}
			clear(c.used)
			outs = nil
		}
	}()
	c.folding, c.b = true, &spec.Folder{Workspace: c.dr.workspace}
	return c.values(r.build(c))
}

// prepared computes something of the same size from operand i: at once where that is a
// constant, however large, as weights are.
func (c *call) prepared(i int, f func(x op.Value) op.Value) op.Value {
	v := c.value(i)
	if c.folding || v.arr == nil {
		return f(c.x(i))
	}
	outer := c.b
	defer func() { c.b, c.folding = outer, false }()
	c.b, c.folding = &spec.Folder{Workspace: c.dr.workspace, Unlimited: true}, true
	out := f(spec.Constants{A: []*array.Array{v.arr}}).(spec.Constants)
	c.b, c.folding = outer, false
	return c.on(&value{name: v.name, arr: out.A[0]})
}
