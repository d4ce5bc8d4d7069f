package rule

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
)

// builder writes into a graph.
type builder struct {
	cur *graph.Cursor
	dr  *Draft
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

// ByConstants computes a node on constants, nil where an operand is none, or something is
// too large.
func (c *Call) ByConstants(r *Rule) (outs []*Datum) {
	total := 0
	for _, v := range c.In {
		if v == nil {
			continue
		}
		if v.Arr == nil {
			return nil
		}
		total += v.Arr.Len() * v.Arr.DType().Size()
	}
	if total > spec.FoldBytes {
		return nil
	}
	defer func() {
		c.Folding = false
		if x := recover(); x != nil {
			if _, ok := x.(spec.TooLarge); !ok {
				panic(x)
			}
			clear(c.Used)
			outs = nil
		}
	}()
	c.Folding, c.Builder = true, &spec.Folder{Workspace: c.Draft.workspace}
	return c.Values(r.Build(c))
}

// Prepared computes something of the same size from operand i: at once where that is a
// constant, however large, as weights are.
func (c *Call) Prepared(i int, f func(x op.Value) op.Value) op.Value {
	v := c.Value(i)
	if c.Folding || v.Arr == nil {
		return f(c.X(i))
	}
	outer := c.Builder
	defer func() { c.Builder, c.Folding = outer, false }()
	c.Builder, c.Folding = &spec.Folder{Workspace: c.Draft.workspace, Unlimited: true}, true
	out := f(spec.Constants{A: []*array.Array{v.Arr}}).(spec.Constants)
	c.Builder, c.Folding = outer, false
	return c.On(&Datum{Name: v.Name, Arr: out.A[0]})
}
