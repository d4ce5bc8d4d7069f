package alias_test

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// recorder records into one graph.
type recorder struct{ c *graph.Cursor }

func (r recorder) Check(s *alias.Storage[*graph.Node]) bool       { return s.Lost() == nil }
func (r recorder) Base(s *alias.Storage[*graph.Node]) *graph.Node { return s.Value }
func (r recorder) Builder() op.Builder                            { return r.c }
func (r recorder) Item(tuple *graph.Node, i int) *graph.Node      { return r.c.ItemNode(tuple, i) }
func (r recorder) In(n *graph.Node) *graph.Node                   { return n }
func (r recorder) Reach(n *graph.Node) *graph.Node                { return n }
func (r recorder) Writes(*alias.Storage[*graph.Node])             {}
func (r recorder) Make(o *op.Op, attrs any, args []*graph.Node) *graph.Node {
	return r.c.Function(o, attrs, args...)
}

// A write through a view gives its base a new value, which other views read.
func ExampleWhole() {
	g := graph.New("f")
	rec := recorder{g.At()}
	x := rec.c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2, 3)), nil)
	v := rec.c.Placeholder("v", shape.TensorType(array.F32, shape.ConstDims(3)), nil)

	base := alias.Whole(&alias.Storage[*graph.Node]{Value: x})
	row := base.Views(std.Select, std.SelectAttrs{Index: 1}, []*graph.Node{x}, nil, 1)[0]
	turned := base.Views(std.T, op.None{}, []*graph.Node{x}, nil, 1)[0]
	if err := row.Write(rec, v, diag.Pos{}); err != nil {
		fmt.Println(err)
		return
	}
	rec.c.Output(nil, turned.Read(rec))
	fmt.Print(g)
	// Output:
	// gofx 1
	//
	// graph f(%x: f32[2,3], %v: f32[3]) {
	//   %select_scatter = call_function[select_scatter](%x, %v) {index=1} : f32[2,3]
	//   %t = call_function[t](%select_scatter) : f32[3,2]
	//   return %t
	// }
}

// What may be the same memory cannot be read after a write.
func ExampleMaybe() {
	g := graph.New("f")
	rec := recorder{g.At()}
	x := rec.c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), nil)
	a, b := &alias.Storage[*graph.Node]{Value: x}, &alias.Storage[*graph.Node]{Value: x}
	alias.Maybe(a, b)
	a.Set(rec, x, diag.Pos{File: "net.go", Line: 3})
	fmt.Println(alias.Whole(a).Read(rec), alias.Whole(b).Read(rec) == nil, b.Lost())
	// Output: %x true net.go:3
}
