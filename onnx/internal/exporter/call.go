package exporter

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/expand"
	"github.com/gofx-dev/gofx/shape"
)

// exportRule writes a call of one operator with those of ONNX.
type exportRule struct {
	since int // the operator set that it needs
	write func(c *exportCall) op.Value
}

// exportRules are the rules of the operators, of which the first that can is taken. Without one an
// elementwise operator is written by its expression, a composite one by its decomposition, a
// quantised one by its equivalent on floats.
var exportRules map[*op.Op][]exportRule

func init() { // rules write with operators that have rules
	exportRules = map[*op.Op][]exportRule{}
	for _, t := range []map[*op.Op][]exportRule{exportActivations, exportShapes, exportMoves, exportIndices, exportLinear, exportPools, exportNorms, exportReductions, exportQuant, exportRecurrent, exportImages, exportML} {
		for o, r := range t {
			exportRules[o] = r
		}
	}
}

// writes is the rule of an operator with the attributes A.
func writes[A any](since int, f func(c *exportCall, a A) op.Value) exportRule {
	return exportRule{since, func(c *exportCall) op.Value { return f(c, c.attrs.(A)) }}
}

// by is a list of one rule.
func by[A any](f func(c *exportCall, a A) op.Value) []exportRule {
	return []exportRule{writes(oldestOpset, f)}
}

// expanded writes a call as the table of expansions does.
func expanded(c *exportCall) op.Value {
	out, why := expand.Table()[c.o](c.w, c.attrs, c.in)
	switch {
	case out == nil:
		decline(why)
	case c.typ.Kind() != shape.Tuple:
		return out[0]
	}
	return c.tuple(out...)
}

// expansion is the rule of an operator that ONNX lacks and the table of expansions has.
var expansion = []exportRule{{oldestOpset, expanded}}

// exportCall is the view that rules have of a call that is being written.
type exportCall struct {
	w     *graphWriter
	o     *op.Op
	attrs any
	in    []op.Value
	typ   shape.Type // of the result
}

// declined ends a rule that cannot write a call; another way is tried.
type declined struct{ why string }

func decline(why string) { panic(declined{why}) }

// Call implements op.Builder.
func (w *graphWriter) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	attrs, err := o.Codec().Given(attrs)
	if err != nil {
		panic(asError(err))
	}
	types := make([]shape.Type, len(in))
	for i, v := range in {
		if v != nil {
			types[i] = v.Type()
		}
	}
	t, err := o.Type(nil, attrs, types)
	if err != nil {
		panic(asError(err))
	}
	return w.apply(o, attrs, in, t)
}

// Item implements op.Builder.
func (w *graphWriter) Item(tuple op.Value, i int) op.Value { return tuple.(*exported).items[i] }

// apply writes a call in the first way that works.
func (w *graphWriter) apply(o *op.Op, attrs any, in []op.Value, t shape.Type) *exported {
	c := &exportCall{w, o, attrs, in, t}
	var why []string
	for _, r := range exportRules[o] {
		if r.since > w.x.target && w.x.options.Opset != 0 {
			why = append(why, "operator set "+itoa(r.since)+" is needed")
			continue
		}
		v, reason := c.try(r.write)
		if v != nil {
			w.x.need = max(w.x.need, r.since)
			return v
		}
		why = append(why, reason)
	}
	var v *exported
	reason := ""
	switch {
	case o.Scalar():
		v, reason = c.try(byExpression)
	case o.Composite():
		v, reason = c.try(func(c *exportCall) op.Value { return c.o.Expand(c.w, c.attrs, c.in) })
	case o.HasReference() && t.Kind() != shape.Tuple:
		v, reason = c.try(func(c *exportCall) op.Value { return c.o.Reference(c.w, c.attrs, c.in) })
	default:
		reason = "ONNX has no operator for it"
	}
	if v != nil {
		return v
	}
	if reason != "" && (len(why) == 0 || o.Scalar()) {
		why = append(why, reason)
	}
	panic(diag.New(spec.CodeExport, o.Name+" cannot be written: "+strings.Join(why, "; ")))
}

// try runs a rule; the nodes that it has written are removed when it gives up.
func (c *exportCall) try(write func(*exportCall) op.Value) (v *exported, why string) {
	w := c.w
	start, need := len(w.g.Nodes), w.x.need
	defer func() {
		if r := recover(); r != nil {
			d, ok := r.(declined)
			if !ok {
				panic(r)
			}
			for _, n := range w.g.Nodes[start:] {
				w.forget(n)
			}
			w.g.Nodes, w.x.need = w.g.Nodes[:start], need
			v, why = nil, d.why
		}
	}()
	return write(c).(*exported), ""
}

// forget drops sizes that a node computed.
func (w *graphWriter) forget(n *pb.Node) {
	for k, v := range w.sizes {
		if v.made == n {
			delete(w.sizes, k)
		}
	}
}

// Reading the call.

// has reports whether operand i is present.
func (c *exportCall) has(i int) bool { return i < len(c.in) && c.in[i] != nil }

// opt is operand i as ONNX has absent ones.
func (c *exportCall) opt(i int) op.Value {
	if c.has(i) {
		return c.in[i]
	}
	return nil
}

func (c *exportCall) dtype(i int) array.DType { return c.in[i].Type().DType() }

// rank of an operand, which must be known.
func (c *exportCall) rank(i int) int { return rankOf(c.in[i]) }

func rankOf(v op.Value) int {
	needRank(v.Type())
	return v.Type().Rank()
}

// needRank declines values whose rank is unknown before a run.
func needRank(t shape.Type) {
	if !t.Ranked() {
		decline("the rank of an operand is not known")
	}
}

// axis counts from the front.
func axisOf(axis, rank int) int {
	if axis < 0 {
		axis += rank
	}
	return axis
}

// axesOf are the axes that a reduction names, all for none.
func axesOf(l op.Ints, rank int) []int {
	var axes []int
	for _, a := range l.Slice() {
		axes = append(axes, axisOf(a, rank))
	}
	if axes == nil {
		for i := range rank {
			axes = append(axes, i)
		}
	}
	return axes
}

// known is a size that must be a number.
func knownSize(d shape.Dim, what string) int {
	n, ok := d.Int()
	if !ok {
		decline(what + " is " + d.String() + ", which must be a number")
	}
	return n
}

// Writing.

// do calls an operator of the graph.
func (c *exportCall) do(o *op.Op, attrs any, in ...op.Value) op.Value {
	return c.w.Call(o, attrs, in...)
}

// node writes the operator of ONNX that computes the call.
func (c *exportCall) node(name string, in []op.Value, attrs ...*pb.Attr) op.Value {
	return c.w.emit(name, c.typ, in, attrs...)
}

// emit writes a node with one output.
func (w *graphWriter) emit(name string, t shape.Type, in []op.Value, attrs ...*pb.Attr) *exported {
	return w.emitAll(name, []shape.Type{t}, in, attrs...)[0]
}

// emitAll writes a node with an output for each type; those of no type are left out.
func (w *graphWriter) emitAll(name string, types []shape.Type, in []op.Value, attrs ...*pb.Attr) []*exported {
	if slices.ContainsFunc(types, isNarrow) || slices.ContainsFunc(in, func(v op.Value) bool { return v != nil && isNarrow(v.Type()) }) {
		since, takes := takesNarrow[name]
		if !takes {
			return w.carried(name, types, in, attrs)
		}
		w.needs(since)
	}
	if d, as := w.takenAs(name, in); d != as {
		return w.around(name, types, in, attrs, d, as)
	}
	n := &pb.Node{Op: name, Domain: spec.Contributed[name]}
	for _, v := range in {
		s := ""
		if v != nil {
			s = v.(*exported).name
		}
		n.Inputs = append(n.Inputs, s)
	}
	for len(n.Inputs) > 0 && n.Inputs[len(n.Inputs)-1] == "" {
		n.Inputs = n.Inputs[:len(n.Inputs)-1]
	}
	for _, a := range attrs {
		if a != nil {
			n.Attrs = append(n.Attrs, a)
		}
	}
	outs := make([]*exported, len(types))
	for i, t := range types {
		if t.Kind() == shape.None {
			n.Outputs = append(n.Outputs, "")
			continue
		}
		outs[i] = &exported{name: w.x.names.Fresh(w.temporary(name)), typ: t, made: n}
		n.Outputs = append(n.Outputs, outs[i].name)
	}
	w.g.Nodes = append(w.g.Nodes, n)
	return outs
}

// temporary names a value within a node: the last one gets the node's name.
func (w *graphWriter) temporary(name string) string {
	if w.node == nil {
		return strings.ToLower(name)
	}
	return w.node.Name() + "." + strings.ToLower(name)
}

// tupleOf is a value of several.
func (c *exportCall) tuple(items ...op.Value) op.Value {
	t := &exported{typ: c.typ}
	for _, v := range items {
		t.items = append(t.items, v.(*exported))
	}
	return t
}

// like is a type of the same sizes and another element type.
func like(v op.Value, d array.DType) shape.Type { return v.Type().WithDType(d) }

// cast converts where it has to.
func (c *exportCall) cast(v op.Value, d array.DType) op.Value {
	if v.Type().DType() == d {
		return v
	}
	return c.do(std.Cast, std.CastAttrs{DType: d}, v)
}

// reshape gives a value other sizes.
func (c *exportCall) reshape(v op.Value, dims ...shape.Dim) op.Value {
	return c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(dims...)}, v)
}

// Constants.

// list is a vector of i64.
func (c *exportCall) list(n ...int) op.Value { return c.w.x.small(spec.IntArray(n, false, array.I64)) }

// int is one i64 without dimensions.
func (c *exportCall) int(n int) op.Value {
	return c.w.x.small(spec.IntArray([]int{n}, true, array.I64))
}

// number is a constant without dimensions.
func (c *exportCall) number(d array.DType, s op.Scalar) op.Value {
	a := array.New(d)
	if s.IsFloat() {
		array.SetFloat64At(a, 0, s.Float64())
	} else {
		array.SetInt64At(a, 0, s.Int64())
	}
	return c.w.x.small(a)
}

// array is a constant that the call needs.
func (c *exportCall) array(name string, a *array.Array) op.Value {
	return c.w.x.constant(c.w.node.Name()+"."+name, a)
}

// filled is a vector of n equal numbers.
func (c *exportCall) filled(d array.DType, n int, value float64) op.Value {
	a := array.New(d, n)
	for i := range n {
		array.SetFloat64At(a, i, value)
	}
	return c.w.x.small(a)
}

// Attributes.

func attrInt(name string, v int) *pb.Attr {
	return &pb.Attr{Name: name, Type: pb.AttrInt, I: int64(v)}
}

func attrFlag(name string, v bool) *pb.Attr {
	if !v {
		return attrInt(name, 0)
	}
	return attrInt(name, 1)
}

func attrFloat(name string, v float64) *pb.Attr {
	return &pb.Attr{Name: name, Type: pb.AttrFloat, F: float32(v)}
}

func attrText(name, v string) *pb.Attr {
	return &pb.Attr{Name: name, Type: pb.AttrString, S: []byte(v)}
}

func attrInts(name string, v ...int) *pb.Attr {
	a := &pb.Attr{Name: name, Type: pb.AttrInts, Ints: make([]int64, len(v))}
	for i, n := range v {
		a.Ints[i] = int64(n)
	}
	return a
}

func attrTexts(name string, v []string) *pb.Attr {
	a := &pb.Attr{Name: name, Type: pb.AttrStrings}
	for _, s := range v {
		a.Strings = append(a.Strings, []byte(s))
	}
	return a
}

func attrFloats(name string, v []float64) *pb.Attr {
	a := &pb.Attr{Name: name, Type: pb.AttrFloats}
	for _, f := range v {
		a.Floats = binary.LittleEndian.AppendUint32(a.Floats, math.Float32bits(float32(f)))
	}
	return a
}

// attrTensor is a tensor in an attribute.
func attrTensor(name string, v *array.Array) *pb.Attr {
	t := &pb.Tensor{Type: elemOf(v.DType())}
	for _, n := range v.Shape() {
		t.Dims = append(t.Dims, int64(n))
	}
	t.Raw = append([]byte{}, array.Bytes(array.Contiguous(v))...)
	if !spec.LittleEndian {
		swapBytes(t.Raw, v.DType().Size())
	}
	return &pb.Attr{Name: name, Type: pb.AttrTensor, T: t}
}

func attrGraph(name string, g *pb.Graph) *pb.Attr {
	return &pb.Attr{Name: name, Type: pb.AttrGraph, G: g}
}

// attrNumber is a tensor of one element.
func attrNumber(name string, d array.DType, s op.Scalar) *pb.Attr {
	a := array.New(d, 1)
	if s.IsFloat() {
		array.SetFloat64At(a, 0, s.Float64())
	} else {
		array.SetInt64At(a, 0, s.Int64())
	}
	return attrTensor(name, a)
}

// exactly reports whether a float attribute holds the number: it is of 32 bits.
func exactly(v float64) bool { return float64(float32(v)) == v || math.IsNaN(v) }

// ExportedBy is onnx.ExportedBy.
func ExportedBy(o *op.Op) string {
	switch {
	case len(exportRules[o]) > 0 && !o.HasReference() || structural[o] != nil && o != op.Assign || o == op.GetItem || o == op.Call:
		return "rule"
	case o.Scalar():
		return "expression"
	case o.Composite():
		return "decomposition"
	case o.HasReference() && len(o.Results) == 0:
		return "reference"
	}
	return ""
}
