package onnx

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// value is the meaning of a name in the model: a constant, sizes, or a value of
// the graph.
type value struct {
	name string
	// arr is the value of a constant.
	arr *array.Array
	// sizes are the elements of an i64, i32 or bool tensor that follow from sizes; those
	// that are all numbers are a constant instead.
	sizes *sizes
	// node computes it; for constants and sizes it is made where a graph needs them.
	node *graph.Node
	// parts are the parts of a list of integers that is a node.
	parts []*value
	// measure are the sizes that a run makes of the node; true: they may be negative.
	measure map[bool][]shape.Dim
	// seq are the members of a sequence.
	seq   []*value
	isSeq bool
	// none is an optional that holds nothing; one that holds a value is that value.
	none bool
	// claim is its statement about sizes, if it is the outcome of their comparison.
	claim *claim
	// bad is a value whose maker was refused.
	bad bool
}

// sizes is a tensor of integers over the symbols of the graph: of expressions that may be
// negative, or of the outcomes of comparisons, 0 and 1.
type sizes struct {
	dims  []shape.Dim // row by row
	shape []int
	dtype array.DType
}

// sizeList is a vector of i64, sizeNumber one element without dimensions.
func sizeList(dims ...shape.Dim) *sizes {
	return &sizes{dims: dims, shape: []int{len(dims)}, dtype: array.I64}
}

func sizeNumber(d shape.Dim, dtype array.DType) *sizes {
	return &sizes{dims: []shape.Dim{d}, dtype: dtype}
}

func (s *sizes) typ() shape.Type { return shape.TensorType(s.dtype, shape.ConstDims(s.shape...)) }

// sized returns the value of sizes: a constant where all are numbers.
func sized(s *sizes) *value {
	n, ok := shape.Of(s.dims...).Known()
	if !ok {
		return &value{sizes: s}
	}
	a := array.New(s.dtype, s.shape...)
	for i, v := range n {
		array.SetInt64At(a, i, int64(v))
	}
	return &value{arr: a}
}

// mostSizes bounds the lists of integers that are followed as sizes.
const mostSizes = 1 << 10

// asSizes returns the elements of an integer constant, of the outcomes of comparisons,
// or of sizes; ok is false for
// other values, and for large ones.
func (v *value) asSizes() (*sizes, bool) {
	switch {
	case v.sizes != nil:
		return v.sizes, true
	case v.arr == nil || v.arr.Len() > mostSizes:
		return nil, false
	}
	d := v.arr.DType()
	if d != array.I64 && d != array.I32 && d != array.Bool {
		return nil, false
	}
	s := &sizes{shape: slices.Clone(v.arr.Shape()), dtype: d}
	flat := array.Contiguous(v.arr)
	for i := range flat.Len() {
		s.dims = append(s.dims, shape.Const(int(array.Int64At(flat, i))))
	}
	return s, true
}

// typ is the known type of the value.
func (v *value) typ() shape.Type {
	switch {
	case v.arr != nil:
		return shape.TypeOf(v.arr)
	case v.sizes != nil:
		return v.sizes.typ()
	case v.node != nil:
		return v.node.Type()
	}
	return shape.Type{}
}

// in returns the value as a node of the graph that cur writes to.
func (dr *draft) in(cur *graph.Cursor, v *value) *graph.Node {
	if v.node != nil && v.node.Graph() == cur.Graph() {
		return v.node
	}
	switch {
	case v.isSeq || v.none:
		panic(diag.New(CodeType, diag.Quote(v.name)+" is "+v.what()+", expected a tensor"))
	case v.arr != nil:
		return dr.constant(cur, v)
	case v.sizes != nil && (dr.bodies[cur.Graph()] == nil || ownSymbols(cur.Graph(), v.sizes)):
		return dr.sizeNode(cur, v.sizes)
	}
	return dr.capture(cur, v)
}

// constant returns the get_attr node of a constant in a graph; there is one of each.
func (dr *draft) constant(cur *graph.Cursor, v *value) *graph.Node {
	key := placed{cur.Graph(), v}
	if n := dr.placed[key]; n != nil {
		return n
	}
	path, ok := dr.paths[v]
	if !ok {
		path = dr.mod.FreshPath(dr.pathLabel.Fresh(goname.LegalPath(v.name)))
		dr.mod.SetParam(graph.Param{Path: path, Value: v.arr, Buffer: !v.arr.DType().IsFloat()})
		dr.paths[v] = path
	}
	n := cur.GetAttr(path)
	dr.placed[key] = n
	return n
}

// placed is a constant in a graph.
type placed struct {
	g *graph.Graph
	v *value
}

// ownSymbols reports whether sizes use symbols that a node of this very graph
// discovers.
func ownSymbols(g *graph.Graph, s *sizes) bool {
	return slices.ContainsFunc(s.dims, func(d shape.Dim) bool {
		return slices.ContainsFunc(d.Symbols(), func(name string) bool {
			_, own := g.Symbol(name)
			return own
		})
	})
}

// sizeNode computes sizes as a tensor.
func (dr *draft) sizeNode(cur *graph.Cursor, s *sizes) *graph.Node {
	w := sizeWriter{dr, cur}
	parts := make([]op.Value, len(s.dims))
	for i, d := range s.dims {
		parts[i], _ = shape.Fold[op.Value](d, w)
	}
	return w.join(parts, s.shape, s.dtype)
}

// sizeWriter writes size expressions as nodes: 0-dimensional i64 tensors.
type sizeWriter struct {
	dr  *draft
	cur *graph.Cursor
}

func (w sizeWriter) Const(n int64) op.Value {
	return w.cur.Function(std.Full, std.FullAttrs{Value: op.Int(n), DType: array.I64})
}

func (w sizeWriter) Symbol(name string) op.Value {
	if s, ok := w.cur.Graph().Symbol(name); ok {
		return w.cur.Function(op.Dim, op.AxisAttrs{Axis: s.Axis}, s.Node)
	}
	if w.dr.bodies[w.cur.Graph()] == nil {
		panic(diag.New(CodeValue, "the size "+name+" is used as a value where the input that has it cannot be seen"))
	}
	v := w.dr.symbolValues[name]
	if v == nil {
		v = &value{name: name, sizes: sizeNumber(shape.Sym(name), array.I64)}
		w.dr.symbolValues[name] = v
	}
	return w.dr.capture(w.cur, v)
}

func (w sizeWriter) Neg(x op.Value) op.Value    { return w.cur.Call(std.Neg, nil, x) }
func (w sizeWriter) Add(x, y op.Value) op.Value { return w.cur.Call(std.Add, nil, x, y) }
func (w sizeWriter) Sub(x, y op.Value) op.Value { return w.cur.Call(std.Sub, nil, x, y) }
func (w sizeWriter) Mul(x, y op.Value) op.Value { return w.cur.Call(std.Mul, nil, x, y) }
func (w sizeWriter) Min(x, y op.Value) op.Value { return w.cur.Call(std.Minimum, nil, x, y) }
func (w sizeWriter) FloorDiv(x, y op.Value) op.Value {
	return w.cur.Call(std.FloorDivide, nil, x, y)
}

// join makes a tensor of 0-dimensional ones.
func (w sizeWriter) join(parts []op.Value, dims []int, d array.DType) *graph.Node {
	var n op.Value
	if len(dims) == 0 {
		n = parts[0]
	} else {
		n = w.cur.Call(std.Stack, std.DimAttrs{}, parts...)
	}
	if len(dims) > 1 {
		n = w.cur.Call(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(dims...)}, n)
	}
	if d != array.I64 {
		n = w.cur.Call(std.Cast, std.CastAttrs{DType: d}, n)
	}
	return n.(*graph.Node)
}

// dimsOf are the sizes of a type, false when one is unknown.
func dimsOf(t shape.Type) ([]shape.Dim, bool) {
	if !t.Ranked() {
		return nil, false
	}
	dims := t.Dims().Slice()
	for _, d := range dims {
		if d.IsUnknown() {
			return nil, false
		}
	}
	return dims, true
}

// size is a size as a 0-dimensional operand.
func (c *call) size(d shape.Dim, dtype array.DType) op.Value {
	if d.IsUnknown() {
		panic(diag.New(CodeValue, "a size of "+diag.Quote(c.n.Inputs[0])+" is not known, and indices count from it"))
	}
	return c.on(sized(sizeNumber(d, dtype)))
}

// what names the kind of a value for messages.
func (v *value) what() string {
	switch {
	case v.isSeq:
		return "a sequence"
	case v.none:
		return "an optional that holds nothing"
	}
	return "a tensor"
}
