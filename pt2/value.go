package pt2

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// value is the meaning of a name in the file: a tensor, a number, a truth, or a list of tensors.
type value struct {
	name string
	// ref is the place of a tensor: PyTorch's operators write to memory that others look at.
	ref *alias.Ref[*graph.Node]
	// still is true of a tensor that counts as constant for gradients: each read is a detach. The memory is
	// that of the tensor itself, for reads and for writes.
	still bool
	// node computes a number or truth that follows from values: a tensor without dimensions.
	node *graph.Node
	// size is an integer that is known, or follows from sizes.
	size *shape.Dim
	// number is a float or truth that is known.
	number op.Scalar
	// claims are relations of sizes that all hold where a truth is true.
	claims []shape.Relation
	// list are the members of a list; none is true for None.
	list   []*value
	isList bool
	none   bool
	// measure is the size that a run makes of the node.
	measure *shape.Dim
	// bad is a value whose maker was refused, missing why a rule does not compute it.
	bad     bool
	missing string
}

func sizeValue(d shape.Dim) *value { return &value{size: &d} }

// truth is a value of relations: known where these are.
func truth(claims ...shape.Relation) *value {
	var open []shape.Relation
	for _, c := range claims {
		switch c.Truth() {
		case shape.False:
			return &value{number: op.BoolScalar(false)}
		case shape.True:
		default:
			open = append(open, c)
		}
	}
	if open == nil {
		return &value{number: op.BoolScalar(true)}
	}
	return &value{claims: open}
}

// what names the kind of a value in messages.
func (v *value) what() string {
	switch {
	case v.none:
		return "None"
	case v.isList:
		return "a list of " + strconv.Itoa(len(v.list))
	case v.ref != nil:
		return "a tensor"
	case v.size != nil:
		return "the size " + v.size.String()
	case v.number.Present():
		return "the number " + v.number.String()
	case v.claims != nil:
		return "a relation of sizes"
	}
	return "a number that follows from values"
}

// Recording of reads and writes: package alias does it, for one graph at a time.

// recorder records into the graph of a scope.
type recorder struct{ s *scope }

// Check reports a use of memory whose value is not known.
func (r recorder) Check(s *alias.Storage[*graph.Node]) bool {
	pos := s.Lost()
	if pos == nil {
		return true
	}
	panic(&diag.Error{Code: CodeWrite, Msg: "the tensor may share memory with one that was written, and whether it does is not known",
		Hint: "export the program after run_decompositions(), which writes in no place", Related: []diag.Related{{Pos: *pos, Msg: "written here"}}})
}

// Base returns the value of a storage. State is read where it is used first.
func (r recorder) Base(s *alias.Storage[*graph.Node]) *graph.Node {
	if s.Value == nil {
		o := s.Of.(*origin)
		o.read = r.s.cur.GetAttr(o.path)
		s.Value = o.read
	}
	return s.Value
}

// Make records a call of a view.
func (r recorder) Make(o *op.Op, attrs any, args []*graph.Node) *graph.Node {
	return r.s.cur.Function(o, attrs, args...)
}

// Builder records the parts of inverses of views.
func (r recorder) Builder() op.Builder { return r.s.cur }

// Item returns a member of a tuple; there is one node of each.
func (r recorder) Item(tuple *graph.Node, i int) *graph.Node {
	for u := range tuple.Users() {
		if u.Op() == op.GetItem && u.Attrs().(op.GetItemAttrs).Index == i && u.Graph() == tuple.Graph() {
			return u
		}
	}
	return r.s.cur.ItemNode(tuple, i)
}

// In returns a value, which is one of this graph.
func (r recorder) In(n *graph.Node) *graph.Node { return n }

// Reach returns a value, which is one of this graph.
func (r recorder) Reach(n *graph.Node) *graph.Node { return n }

// Writes refuses writes to the operands of a region: the graphs around it would have to
// see them.
func (r recorder) Writes(s *alias.Storage[*graph.Node]) {
	if o, ok := s.Of.(*origin); ok && o.inner {
		panic(refuse(CodeWrite, "a branch or body writes to what it is given"))
	}
}

// origin is where a storage comes from that lasts longer than a call.
type origin struct {
	path string // of state
	read *graph.Node
	// storage is the tensor that holds its value.
	storage *alias.Storage[*graph.Node]
	input   *input // that the caller gives
	inner   bool   // operands of a region
	pos     diag.Pos
}

// fresh is a tensor in memory of its own.
func fresh(n *graph.Node) *value {
	return &value{ref: alias.Whole(&alias.Storage[*graph.Node]{Value: n})}
}

// read returns the value of a tensor as a node.
func (s *scope) read(v *value) *graph.Node {
	n := v.ref.Read(recorder{s})
	if !v.still || !s.im.varies(n) {
		return n
	}
	if s.detached[n] == nil {
		if s.detached == nil {
			s.detached = map[*graph.Node]*graph.Node{}
		}
		s.detached[n] = s.cur.Function(std.Detach, nil, n)
	}
	return s.detached[n]
}

// varies reports whether a value may have a gradient: it holds floats and is computed of inputs or parameters.
// Constants of the program, which the exporter detaches, are none.
func (im *importer) varies(n *graph.Node) bool {
	if known, ok := im.varying[n]; ok {
		return known
	}
	t := n.Type()
	v := t.Kind() == shape.Tuple || t.Kind() == shape.Tensor && t.DType().IsFloat()
	switch n.Opcode() {
	case graph.GetAttr:
		p := im.mod.Param(n.Target())
		v = v && !(p != nil && p.Buffer)
	case graph.CallFunction:
		v = v && n.Op() != std.Detach && slices.ContainsFunc(n.Args(), func(a *graph.Node) bool { return a != nil && im.varies(a) })
	}
	im.varying[n] = v
	return v
}

// views makes the results of an operator of views of v. always says that PyTorch gives a view for all sizes;
// else layouts decide.
func (s *scope) views(v *value, always bool, o *op.Op, attrs any) []*value {
	base := v.ref.Read(recorder{s}) // of the memory: what looks at it is as constant as v
	n := s.cur.Function(o, attrs, base)
	attrs = n.Attrs()
	count, tuple := o.NumResults(attrs)
	if tuple && n.Type().Kind() == shape.Tuple {
		count = n.Type().Len()
	}
	out := make([]*value, count)
	kind := alias.View
	if !always {
		kind = v.ref.KindOf(o, attrs, []shape.Type{base.Type()}, n.Type())
	}
	if kind == alias.View {
		for i, r := range v.ref.Views(o, attrs, []*graph.Node{base}, n, count) {
			out[i] = &value{ref: r, still: v.still}
		}
		return out
	}
	for i := range out {
		m := n
		if tuple {
			m = s.cur.ItemNode(n, i)
		}
		out[i] = fresh(m)
		if kind == alias.Open {
			alias.Maybe(v.ref.Storage, out[i].ref.Storage)
		}
	}
	return out
}

// sizeWriter writes size expressions as nodes: tensors of i64 without dimensions.
type sizeWriter struct{ s *scope }

func (w sizeWriter) Const(n int64) op.Value {
	return w.s.cur.Function(std.Full, std.FullAttrs{Value: op.Int(n), DType: array.I64})
}

func (w sizeWriter) Symbol(name string) op.Value {
	for s := w.s; s != nil; s = s.outer {
		sym, ok := s.cur.Graph().Symbol(name)
		if !ok || sym.Node == nil {
			continue
		}
		return w.s.cur.Function(op.Dim, op.AxisAttrs{Axis: sym.Axis}, w.s.captured(s, sym.Node))
	}
	panic(refuse(CodeValue, "the size "+name+" is used as a value where no tensor with it can be seen"))
}

func (w sizeWriter) Neg(x op.Value) op.Value    { return w.s.cur.Call(std.Neg, nil, x) }
func (w sizeWriter) Add(x, y op.Value) op.Value { return w.s.cur.Call(std.Add, nil, x, y) }
func (w sizeWriter) Sub(x, y op.Value) op.Value { return w.s.cur.Call(std.Sub, nil, x, y) }
func (w sizeWriter) Mul(x, y op.Value) op.Value { return w.s.cur.Call(std.Mul, nil, x, y) }
func (w sizeWriter) Min(x, y op.Value) op.Value { return w.s.cur.Call(std.Minimum, nil, x, y) }
func (w sizeWriter) FloorDiv(x, y op.Value) op.Value {
	return w.s.cur.Call(std.FloorDivide, nil, x, y)
}

// scalar returns a number or truth as a tensor without dimensions.
func (s *scope) scalar(v *value) *graph.Node {
	full := func(n op.Scalar, d array.DType) *graph.Node {
		return s.cur.Function(std.Full, std.FullAttrs{Value: n, DType: d})
	}
	switch {
	case v.node != nil:
		return v.node
	case v.ref != nil:
		return s.read(v)
	case v.size != nil:
		if n, ok := v.size.Int(); ok {
			return full(op.Int(int64(n)), array.I64)
		}
		n, ok := shape.Fold[op.Value](*v.size, sizeWriter{s})
		if !ok {
			panic(refuse(CodeValue, "a size that is not known is used as a value"))
		}
		return n.(*graph.Node)
	case v.number.IsFloat():
		return full(v.number, array.F32)
	case v.number.Present():
		return full(v.number, array.Bool)
	case v.claims != nil:
		return s.claimed(v.claims)
	}
	panic(refuse(CodeProgram, v.what()+" is used as a number"))
}

// claimed computes whether relations of sizes hold.
func (s *scope) claimed(list []shape.Relation) *graph.Node {
	var all *graph.Node
	for _, c := range list {
		a, b := s.scalar(sizeValue(c.A)), s.scalar(sizeValue(c.B))
		var n *graph.Node
		switch c.Rel {
		case shape.EQ:
			n = s.cur.Function(std.Eq, nil, a, b)
		case shape.NE:
			n = s.cur.Function(std.Ne, nil, a, b)
		case shape.GE:
			n = s.cur.Function(std.Ge, nil, a, b)
		default: // a multiple
			n = s.cur.Function(std.Eq, std.BinaryAttrs{Other: op.Int(0)}, s.cur.Function(std.Remainder, nil, a, b))
		}
		if all != nil {
			n = s.cur.Function(std.LogicalAnd, nil, all, n)
		}
		all = n
	}
	return all
}

// known returns a number that is known.
func (v *value) known() (op.Scalar, bool) {
	if v.size != nil {
		n, ok := v.size.Int()
		return op.Int(int64(n)), ok
	}
	return v.number, v.number.Present()
}

// discovered names the sizes of a node that no rule says, so that types that follow
// from the node can use them.
func (s *scope) discovered(n *graph.Node) {
	n.NameSizes(func() string {
		name := s.im.symbolLabels.Fresh("k")
		s.im.late[name] = true
		return name
	})
}

// sizeOf returns an integer as a size: one that depends on values is found by the run.
func (s *scope) sizeOf(v *value) shape.Dim {
	switch {
	case v.size != nil:
		return *v.size
	case v.measure != nil:
		return *v.measure
	case v.node == nil && v.ref == nil:
		panic(refuse(CodeProgram, v.what()+" is used as a size"))
	}
	n := s.scalar(v)
	if t := n.Type(); t.DType() != array.I64 && t.DType() != array.I32 {
		panic(refuse(CodeProgram, "a number of type "+t.DType().String()+" is used as a size"))
	}
	// Sizes are not negative: a possibly negative one is the difference of two, one of
	// which is 0.
	n = s.cur.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(1)}, n)
	over := s.cur.Function(std.Maximum, std.BinaryAttrs{Other: op.Int(0)}, n)
	n = s.cur.Function(std.Cat, std.DimAttrs{}, over, s.cur.Function(std.Sub, nil, over, n))
	n = s.cur.Function(std.Sized, nil, n)
	s.discovered(n)
	d := n.Type().Dim(0).Sub(n.Type().Dim(1))
	v.measure = &d
	return d
}
