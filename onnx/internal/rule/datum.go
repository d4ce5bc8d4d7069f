package rule

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Datum is the meaning of a name in the model: a constant, sizes, or a value of
// the graph.
type Datum struct {
	Name string
	// Arr is the value of a constant.
	Arr *array.Array
	// Sizes are the elements of an i64, i32 or bool tensor that follow from sizes; those
	// that are all numbers are a constant instead.
	Sizes *Sizes
	// Node computes it; for constants and sizes it is made where a graph needs them.
	Node *graph.Node
	// Parts are the parts of a list of integers that is a node.
	Parts []*Datum
	// measure are the sizes that a run makes of the node; true: they may be negative.
	measure map[bool][]shape.Dim
	// Seq are the members of a sequence.
	Seq   []*Datum
	IsSeq bool
	// None is an optional that holds nothing; one that holds a value is that value.
	None bool
	// Claim is its statement about sizes, if it is the outcome of their comparison.
	Claim *Claim
	// Bad is a value whose maker was refused.
	Bad bool
}

// Sizes is a tensor of integers over the symbols of the graph: of expressions that may be
// negative, or of the outcomes of comparisons, 0 and 1.
type Sizes struct {
	Dims  []shape.Dim // row by row
	Shape []int
	DType array.DType
}

// SizeList is a vector of i64.
func SizeList(dims ...shape.Dim) *Sizes {
	return &Sizes{Dims: dims, Shape: []int{len(dims)}, DType: array.I64}
}

// SizeNumber is one size without dimensions.
func SizeNumber(d shape.Dim, dtype array.DType) *Sizes {
	return &Sizes{Dims: []shape.Dim{d}, DType: dtype}
}

// Type is the type of the tensor.
func (s *Sizes) Type() shape.Type { return shape.TensorType(s.DType, shape.ConstDims(s.Shape...)) }

// Sized returns the value of sizes: a constant where all are numbers.
func Sized(s *Sizes) *Datum {
	n, ok := shape.Of(s.Dims...).Known()
	if !ok {
		return &Datum{Sizes: s}
	}
	a := array.New(s.DType, s.Shape...)
	for i, v := range n {
		array.SetInt64At(a, i, int64(v))
	}
	return &Datum{Arr: a}
}

// MostSizes bounds the lists of integers that are followed as sizes.
const MostSizes = 1 << 10

// AsSizes returns the elements of an integer constant, of the outcomes of comparisons,
// or of sizes; ok is false for
// other values, and for large ones.
func (v *Datum) AsSizes() (*Sizes, bool) {
	switch {
	case v.Sizes != nil:
		return v.Sizes, true
	case v.Arr == nil || v.Arr.Len() > MostSizes:
		return nil, false
	}
	d := v.Arr.DType()
	if d != array.I64 && d != array.I32 && d != array.Bool {
		return nil, false
	}
	s := &Sizes{Shape: slices.Clone(v.Arr.Shape()), DType: d}
	flat := array.Contiguous(v.Arr)
	for i := range flat.Len() {
		s.Dims = append(s.Dims, shape.Const(int(array.Int64At(flat, i))))
	}
	return s, true
}

// Type is the known type of the value.
func (v *Datum) Type() shape.Type {
	switch {
	case v.Arr != nil:
		return shape.TypeOf(v.Arr)
	case v.Sizes != nil:
		return v.Sizes.Type()
	case v.Node != nil:
		return v.Node.Type()
	}
	return shape.Type{}
}

// Node returns the value as a node of the graph that cur writes to.
func (dr *Draft) Node(cur *graph.Cursor, v *Datum) *graph.Node {
	if v.Node != nil && v.Node.Graph() == cur.Graph() {
		return v.Node
	}
	switch {
	case v.IsSeq || v.None:
		panic(diag.New(spec.CodeType, diag.Quote(v.Name)+" is "+v.What()+", expected a tensor"))
	case v.Arr != nil:
		return dr.constant(cur, v)
	case v.Sizes != nil && (dr.Bodies[cur.Graph()] == nil || OwnSymbols(cur.Graph(), v.Sizes)):
		return dr.SizeNode(cur, v.Sizes)
	}
	return dr.capture(cur, v)
}

// constant returns the get_attr node of a constant in a graph; there is one of each.
func (dr *Draft) constant(cur *graph.Cursor, v *Datum) *graph.Node {
	key := placed{cur.Graph(), v}
	if n := dr.placed[key]; n != nil {
		return n
	}
	path, ok := dr.paths[v]
	if !ok {
		path = dr.Module.FreshPath(dr.pathLabel.Fresh(goname.LegalPath(v.Name)))
		dr.Module.SetParam(graph.Param{Path: path, Value: v.Arr, Buffer: !v.Arr.DType().IsFloat()})
		dr.paths[v] = path
	}
	n := cur.GetAttr(path)
	dr.placed[key] = n
	return n
}

// placed is a constant in a graph.
type placed struct {
	g *graph.Graph
	v *Datum
}

// OwnSymbols reports whether sizes use symbols that a node of this very graph
// discovers.
func OwnSymbols(g *graph.Graph, s *Sizes) bool {
	return slices.ContainsFunc(s.Dims, func(d shape.Dim) bool {
		return slices.ContainsFunc(d.Symbols(), func(name string) bool {
			_, own := g.Symbol(name)
			return own
		})
	})
}

// SizeNode computes sizes as a tensor.
func (dr *Draft) SizeNode(cur *graph.Cursor, s *Sizes) *graph.Node {
	w := sizeWriter{dr, cur}
	parts := make([]op.Value, len(s.Dims))
	for i, d := range s.Dims {
		parts[i], _ = shape.Fold[op.Value](d, w)
	}
	return w.join(parts, s.Shape, s.DType)
}

// sizeWriter writes size expressions as nodes: 0-dimensional i64 tensors.
type sizeWriter struct {
	dr  *Draft
	cur *graph.Cursor
}

func (w sizeWriter) Const(n int64) op.Value {
	return w.cur.Function(std.Full, std.FullAttrs{Value: op.Int(n), DType: array.I64})
}

func (w sizeWriter) Symbol(name string) op.Value {
	if s, ok := w.cur.Graph().Symbol(name); ok {
		return w.cur.Function(op.Dim, op.AxisAttrs{Axis: s.Axis}, s.Node)
	}
	if w.dr.Bodies[w.cur.Graph()] == nil {
		panic(diag.New(spec.CodeValue, "the size "+name+" is used as a value where the input that has it cannot be seen"))
	}
	v := w.dr.symbolValues[name]
	if v == nil {
		v = &Datum{Name: name, Sizes: SizeNumber(shape.Sym(name), array.I64)}
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

// DimsOf are the sizes of a type, false when one is unknown.
func DimsOf(t shape.Type) ([]shape.Dim, bool) {
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

// Size is a size as a 0-dimensional operand.
func (c *Call) Size(d shape.Dim, dtype array.DType) op.Value {
	if d.IsUnknown() {
		panic(diag.New(spec.CodeValue, "a size of "+diag.Quote(c.Node.Inputs[0])+" is not known, and indices count from it"))
	}
	return c.On(Sized(SizeNumber(d, dtype)))
}

// What names the kind of a value for messages.
func (v *Datum) What() string {
	switch {
	case v.IsSeq:
		return "a sequence"
	case v.None:
		return "an optional that holds nothing"
	}
	return "a tensor"
}
