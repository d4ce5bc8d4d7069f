package onnx

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// builder writes into a graph.
type builder struct {
	cur *graph.Cursor
	im  *importer
}

func (b builder) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	v := b.cur.Call(o, attrs, in...)
	if o.ByValue {
		b.im.discovered(v.(*graph.Node))
	}
	return v
}

func (b builder) Item(tuple op.Value, i int) op.Value {
	v := b.cur.Item(tuple, i)
	if n, ok := tuple.(*graph.Node); ok && n.Op() != nil && n.Op().ByValue {
		b.im.discovered(v.(*graph.Node))
	}
	return v
}

// foldBytes is how much memory an operator on constants may read and write to be
// computed at import: sizes, tables, masks. What is larger (weights) stays in the graph, where
// passes see it.
const foldBytes = 1 << 20

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
	if total > foldBytes {
		return nil
	}
	defer func() {
		c.folding = false
		if x := recover(); x != nil {
			if _, ok := x.(tooLarge); !ok {
				panic(x)
			}
			clear(c.used)
			outs = nil
		}
	}()
	c.folding, c.b = true, &folder{w: c.im.workspace}
	return c.values(r.build(c))
}

// constants is a Value that is known, or a tuple of them.
type constants struct {
	a     []*array.Array
	tuple bool
}

func (v constants) Type() shape.Type {
	if !v.tuple {
		return shape.TypeOf(v.a[0])
	}
	m := make([]shape.Type, len(v.a))
	for i, a := range v.a {
		m[i] = shape.TypeOf(a)
	}
	return shape.TupleType(m...)
}

// tooLarge ends a computation on constants.
type tooLarge struct{}

// folder computes.
type folder struct {
	w         *kernel.Workspace
	unlimited bool // what is computed is no larger than what it is computed from
}

func (f *folder) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	args := make([]*array.Array, len(in))
	for i, v := range in {
		if v != nil {
			args[i] = v.(constants).a[0]
		}
	}
	attrs, err := o.Codec().Given(attrs)
	if err == nil {
		var t shape.Type
		if t, err = o.TypeFor(attrs, args); err == nil {
			if n, ok := t.Bytes().Int(); (!ok && known(t) || n > foldBytes) && !f.unlimited {
				panic(tooLarge{})
			}
			var out []*array.Array
			if out, err = o.Eval(f.w, attrs, args); err == nil {
				_, tuple := o.NumResults(attrs)
				return constants{out, tuple}
			}
		}
	}
	if e, ok := err.(*diag.Error); ok {
		panic(e)
	}
	panic(diag.Bug(err.Error()))
}

func (f *folder) Item(tuple op.Value, i int) op.Value {
	return constants{a: []*array.Array{tuple.(constants).a[i]}}
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
	c.b, c.folding = &folder{w: c.im.workspace, unlimited: true}, true
	out := f(constants{a: []*array.Array{v.arr}}).(constants)
	c.b, c.folding = outer, false
	return c.on(&value{name: v.name, arr: out.a[0]})
}

// known reports whether all sizes of a type, or of its members, are numbers: their product
// may be none even then, when it is too large for one.
func known(t shape.Type) bool {
	for i := range t.Len() {
		if !known(t.Member(i)) {
			return false
		}
	}
	if t.Kind() != shape.Tensor {
		return true
	}
	_, ok := t.Dims().Known()
	return t.Ranked() && ok
}
