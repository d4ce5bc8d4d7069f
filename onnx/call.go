package onnx

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// rule gives the meaning of an operator from one version of its operator set on.
// Exactly one of build and run is set.
type rule struct {
	since int
	// build writes the operator with those of op/std: into the graph, or computing on
	// sizes or constants.
	build func(c *call) []op.Value
	// after is told the values that build led to.
	after func(c *call, outs []*value)
	// run makes values by itself.
	run func(c *call) []*value
}

// call is the view that rules have of a node that is being imported. Its methods
// panic with *diag.Error, which becomes the refusal of the node.
type call struct {
	dr    *draft
	cur   *graph.Cursor
	opset int // of the standard operators
	depth int // of bodies inside of bodies
	// main: the node is one of the model's graph, not of a body or a function.
	main bool
	n    *pb.Node
	in   []*value // nil for absent ones
	used map[string]bool
	b    op.Builder
	// folding: every operand is a constant, or sizes, and b computes.
	folding bool
}

const mostBodies = 16 // bodies inside of bodies

// apply computes the node at once if its operands are constants or sizes, else it makes nodes.
func (c *call) apply(r *rule) (outs []*value) {
	if r.run != nil {
		return r.run(c)
	}
	if outs = c.bySizes(r); outs == nil {
		outs = c.byConstants(r)
	}
	if outs == nil {
		c.write()
		outs = c.values(r.build(c))
	}
	if r.after != nil {
		r.after(c, outs)
	}
	return outs
}

// values makes values of the nodes that a rule built.
func (c *call) values(built []op.Value) []*value {
	outs := make([]*value, len(built))
	for i, b := range built {
		switch b := b.(type) {
		case nil:
		case *graph.Node:
			outs[i] = &value{node: b}
			if i < len(c.n.Outputs) && c.n.Outputs[i] != "" && b.Opcode() != graph.Placeholder && b.Opcode() != graph.GetAttr {
				if name := readable(c.n.Outputs[i]); name != "" {
					b.Rename(name)
				}
			}
		case spec.Constants:
			outs[i] = &value{arr: b.A[0]}
		case symbols:
			outs[i] = sized(b.s[0])
		}
	}
	return outs
}

// unknownAttrs refuses attributes that the rule did not ask for.
func (c *call) unknownAttrs() {
	for _, a := range c.n.Attrs {
		// The first sets list in this attribute of every operator the operands that may be
		// overwritten.
		if !c.used[a.Name] && a.Name != "consumed_inputs" {
			panic(diag.New(CodeAttribute, "attribute "+diag.Quote(a.Name)+" is not supported"))
		}
	}
}

// has reports whether operand i is present.
func (c *call) has(i int) bool { return i < len(c.in) && c.in[i] != nil }

func (c *call) value(i int) *value {
	if !c.has(i) {
		panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" is missing"))
	}
	return c.in[i]
}

// x returns operand i for the builder.
func (c *call) x(i int) op.Value { return c.on(c.value(i)) }

// opt returns operand i, nil when it is absent.
func (c *call) opt(i int) op.Value {
	if !c.has(i) {
		return nil
	}
	return c.x(i)
}

// xs returns all operands.
func (c *call) xs() []op.Value {
	xs := make([]op.Value, len(c.in))
	for i := range c.in {
		xs[i] = c.x(i)
	}
	return xs
}

func (c *call) on(v *value) op.Value {
	if v.isSeq || v.none {
		panic(diag.New(CodeType, "the input is "+v.what()+", expected a tensor"))
	}
	if c.folding && v.sizes != nil {
		return symbols{[]*sizes{v.sizes}}
	}
	if c.folding {
		return spec.Constants{A: []*array.Array{v.arr}}
	}
	return c.dr.in(c.cur, v)
}

// typ returns the type of operand i, the zero Type when it is absent.
func (c *call) typ(i int) shape.Type {
	if !c.has(i) {
		return shape.Type{}
	}
	return c.in[i].typ()
}

// rank returns the rank of operand i, which must be known.
func (c *call) rank(i int) int {
	c.value(i)
	r := c.typ(i).Rank()
	if r < 0 {
		e := diag.New(CodeValue, "the rank of input "+strconv.Itoa(i)+" ("+diag.Quote(c.n.Inputs[i])+") is not known")
		if c.dr.undecided {
			e = e.WithHint(sizesHint)
		} else if n := c.in[i].node; n != nil && n.Opcode() != graph.Placeholder {
			e = c.dr.curable(e, n)
		}
		panic(e)
	}
	return r
}

// needDims refuses an operand of which the sizes are known to be others than those given.
// Rules that reshape need that: as many elements in other places would be taken.
func (c *call) needDims(i int, want ...shape.Dim) {
	t := c.typ(i)
	bad := c.rank(i) != len(want)
	for k := 0; !bad && k < len(want); k++ {
		bad = shape.Equality(t.Dim(k), want[k]).Truth() == shape.False
	}
	if bad {
		panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" is "+t.String()+", expected the sizes "+shape.Of(want...).String()))
	}
}

// axis normalises an axis of a tensor of the given rank.
func (c *call) axis(axis, rank int) int {
	if axis < -rank || axis >= rank {
		panic(diag.New(CodeModel, "axis "+strconv.Itoa(axis)+" is out of range for "+strconv.Itoa(rank)+" dimensions"))
	}
	if axis < 0 {
		axis += rank
	}
	return axis
}

// constant returns the value of operand i, which must be known at import.
func (c *call) constant(i int) *array.Array {
	v := c.value(i)
	if v.arr == nil {
		panic(c.notConstant(i))
	}
	return v.arr
}

// notConstant says that an operand would have to be known, and which inputs decide it.
func (c *call) notConstant(i int) *diag.Error {
	e := diag.New(CodeValue, "input "+strconv.Itoa(i)+" ("+diag.Quote(c.n.Inputs[i])+") is not known before the model runs, and sizes follow from it")
	if c.in[i] == nil || c.in[i].node == nil {
		return e
	}
	return c.dr.curable(e, c.in[i].node)
}

// ints returns the elements of an integer operand that must be known.
func (c *call) ints(i int) []int {
	a := c.constant(i)
	if !a.DType().IsInt() {
		panic(diag.New(CodeType, "input "+strconv.Itoa(i)+" is "+array.Describe(a.DType(), a.Shape())+", expected integers"))
	}
	if a.Len() > mostSizes {
		panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" has "+strconv.Itoa(a.Len())+" elements"))
	}
	if a.Rank() > 1 && a.Dim(a.Rank()-1) != a.Len() { // [1,n] is a list as well
		panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" is "+array.Describe(a.DType(), a.Shape())+", expected a list"))
	}
	n := make([]int, a.Len())
	for k := range n {
		n[k] = int(array.Int64At(a, k))
	}
	return n
}

// dims returns the elements of operand i as sizes: numbers, expressions, or symbols that a
// run finds.
func (c *call) dims(i int) []shape.Dim { return measured(c, i, c.value(i), false) }

// integers is dims for values that may be negative.
func (c *call) integers(i int) []shape.Dim { return measured(c, i, c.value(i), true) }

// dim returns the one element of operand i as a size.
func (c *call) dim(i int) shape.Dim {
	d := c.dims(i)
	if len(d) != 1 {
		panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" is "+c.typ(i).String()+", expected one element"))
	}
	return d[0]
}

// index returns the one element of operand i, an integer that must be known.
func (c *call) index(i int) int {
	n := c.ints(i)
	if len(n) != 1 {
		panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" is "+c.typ(i).String()+", expected one element"))
	}
	return n[0]
}

// number returns the one element of operand i, which must be known.
func (c *call) number(i int) op.Scalar {
	a := c.constant(i)
	if a.Len() != 1 {
		panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" is "+array.Describe(a.DType(), a.Shape())+", expected one element"))
	}
	if a.DType().IsFloat() {
		return op.Float(array.Float64At(a, 0))
	}
	return op.Int(array.Int64At(a, 0))
}

// Attributes. Asking for one makes it known; the type must be right.

func (c *call) attr(name string, t pb.AttrType) *pb.Attr {
	c.used[name] = true
	for _, a := range c.n.Attrs {
		if a.Name != name {
			continue
		}
		if a.Ref != "" {
			panic(diag.New(CodeModel, "attribute "+diag.Quote(name)+" refers to "+diag.Quote(a.Ref)+" of a function, outside of one"))
		}
		if a.Type != t && a.Type != pb.AttrUnknown {
			panic(diag.New(CodeModel, "attribute "+diag.Quote(name)+" has type "+strconv.Itoa(int(a.Type))+", expected "+strconv.Itoa(int(t))))
		}
		return a
	}
	return nil
}

// given reports whether the node has the attribute.
func (c *call) given(name string) bool {
	return slices.ContainsFunc(c.n.Attrs, func(a *pb.Attr) bool { return a.Name == name })
}

func (c *call) int(name string, def int) int {
	if a := c.attr(name, pb.AttrInt); a != nil {
		return int(a.I)
	}
	return def
}

// group is the attribute of convolutions; 0 would mean the default to operators.
func (c *call) group() int {
	n := c.int("group", 1)
	if n < 1 {
		panic(diag.New(CodeModel, "group is "+strconv.Itoa(n)+", expected 1 or more"))
	}
	return n
}

// flag is an attribute of 0 or 1; readers do not agree on the meaning of other numbers.
func (c *call) flag(name string, def bool) bool {
	n := 0
	if def {
		n = 1
	}
	if n = c.int(name, n); n != 0 && n != 1 {
		panic(diag.New(CodeModel, "attribute "+diag.Quote(name)+" is "+strconv.Itoa(n)+", expected 0 or 1"))
	}
	return n == 1
}

// float returns an attribute: the shortest number that is the f32 of the file, which the author
// wrote (1e-05), except for operands that could tell it from that f32.
func (c *call) float(name string, def float64) float64 {
	f := float32(def)
	if a := c.attr(name, pb.AttrFloat); a != nil {
		f = a.F
	}
	if c.typ(0).DType() == array.F64 || f >= math.MaxFloat32 || f <= -math.MaxFloat32 || f != f { // of which the decimals are too large, or none
		return float64(f)
	}
	v, _ := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64) // of the formatted value
	return v
}

func (c *call) text(name, def string) string {
	if a := c.attr(name, pb.AttrString); a != nil {
		return string(a.S)
	}
	return def
}

// oneOf is text for an attribute with a few values.
func (c *call) oneOf(name string, values ...string) string {
	s := c.text(name, values[0])
	if !slices.Contains(values, s) {
		panic(diag.New(CodeAttribute, "attribute "+name+" is "+diag.Quote(s)+", which is not supported"))
	}
	return s
}

// list returns an attribute of integers, nil when it is absent.
func (c *call) list(name string) []int {
	a := c.attr(name, pb.AttrInts)
	if a == nil {
		return nil
	}
	n := make([]int, len(a.Ints))
	for i, v := range a.Ints {
		n[i] = int(v)
	}
	return n
}

func (c *call) floats(name string) []float64 {
	a := c.attr(name, pb.AttrFloats)
	if a == nil {
		return nil
	}
	f := make([]float64, len(a.Floats)/4)
	for i := range f {
		f[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(a.Floats[4*i:])))
	}
	return f
}

// ignore marks attributes that do not affect the result of inference.
func (c *call) ignore(names ...string) {
	for _, n := range names {
		c.used[n] = true
	}
}

// dtype returns the element type that an integer attribute names, def when absent.
func (c *call) dtype(name string, def array.DType) array.DType {
	if !c.given(name) {
		c.used[name] = true
		return def
	}
	t := pb.Undefined
	if c.opset < 6 { // the first sets have the type's name
		want := strings.ToLower(c.text(name, ""))
		for k := pb.Undefined; k <= pb.Int2; k++ {
			if k.String() == want {
				t = k
			}
		}
	} else {
		t = pb.DataType(c.int(name, 0))
	}
	d, err := dtypeOf(t)
	if err != nil {
		panic(err)
	}
	return d
}

// Building.

// do calls an operator; absent operands at the end are left out, as capture does.
func (c *call) do(o *op.Op, attrs any, in ...op.Value) op.Value {
	for len(in) > 0 && in[len(in)-1] == nil && o.In[min(len(in), len(o.In))-1].Optional {
		in = in[:len(in)-1]
	}
	return c.b.Call(o, attrs, in...)
}

// write has b make nodes.
func (c *call) write() { c.b = builder{c.cur, c.dr} }

// region begins a body of the node.
func (c *call) region(name string) *body {
	if c.depth >= mostBodies {
		panic(diag.New(CodeModel, "bodies are nested more than "+strconv.Itoa(mostBodies)+" deep"))
	}
	return c.dr.body(c.cur, name)
}

// results takes a node's value apart, which is a tuple even of one, as in a traced graph.
func (c *call) results(n *graph.Node, count int) []*value {
	outs := make([]*value, count)
	for i := range outs {
		outs[i] = &value{node: c.cur.ItemNode(n, i)}
	}
	return outs
}

// one is do as the result of a rule.
func (c *call) one(o *op.Op, attrs any, in ...op.Value) []op.Value {
	return []op.Value{c.do(o, attrs, in...)}
}

// items are the first n members of a tuple.
func (c *call) items(tuple op.Value, n int) []op.Value {
	out := make([]op.Value, n)
	for i := range out {
		out[i] = c.b.Item(tuple, i)
	}
	return out
}

// tensor is a constant operand.
func (c *call) tensor(a *array.Array) op.Value {
	if c.folding {
		return spec.Constants{A: []*array.Array{a}}
	}
	return c.dr.in(c.cur, &value{name: "const", arr: a})
}

// outputs is the number of outputs that the node names.
func (c *call) outputs() int {
	n := len(c.n.Outputs)
	for n > 0 && c.n.Outputs[n-1] == "" {
		n--
	}
	return n
}
