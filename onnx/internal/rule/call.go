package rule

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
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Rule gives the meaning of an operator from one version of its operator set on.
// Exactly one of Build and Run is set.
type Rule struct {
	Since int
	// Build writes the operator with those of op/std: into the graph, or computing on
	// sizes or constants.
	Build func(c *Call) []op.Value
	// After is told what Build led to.
	After func(c *Call, outs []*Datum)
	// Run makes values by itself.
	Run func(c *Call) []*Datum
}

// Call is the view that rules have of a node that is being imported. Its methods
// panic with *diag.Error, which becomes the refusal of the node.
type Call struct {
	Draft  *Draft
	Cursor *graph.Cursor
	Opset  int // of the standard operators
	Depth  int // of bodies inside of bodies
	// Main: the node is one of the model's graph, not of a body or a function.
	Main    bool
	Node    *pb.Node
	In      []*Datum // nil for absent ones
	Used    map[string]bool
	Builder op.Builder
	// Folding: every operand is a constant, or sizes, and Builder computes.
	Folding bool
}

const MostBodies = 16 // bodies inside of bodies

// Apply computes the node at once if its operands are constants or sizes, else it makes nodes.
func (c *Call) Apply(r *Rule) (outs []*Datum) {
	if r.Run != nil {
		return r.Run(c)
	}
	if outs = c.bySizes(r); outs == nil {
		outs = c.ByConstants(r)
	}
	if outs == nil {
		c.Write()
		outs = c.Values(r.Build(c))
	}
	if r.After != nil {
		r.After(c, outs)
	}
	return outs
}

// Values makes values of the nodes that a rule built.
func (c *Call) Values(built []op.Value) []*Datum {
	outs := make([]*Datum, len(built))
	for i, b := range built {
		switch b := b.(type) {
		case nil:
		case *graph.Node:
			outs[i] = &Datum{Node: b}
			if i < len(c.Node.Outputs) && c.Node.Outputs[i] != "" && b.Opcode() != graph.Placeholder && b.Opcode() != graph.GetAttr {
				if name := modelfile.Readable(c.Node.Outputs[i]); name != "" {
					b.Rename(name)
				}
			}
		case spec.Constants:
			outs[i] = &Datum{Arr: b.A[0]}
		case symbols:
			outs[i] = Sized(b.s[0])
		}
	}
	return outs
}

// UnknownAttrs refuses attributes that the rule did not ask for.
func (c *Call) UnknownAttrs() {
	for _, a := range c.Node.Attrs {
		// The first sets list in this attribute of every operator the operands that may be
		// overwritten.
		if !c.Used[a.Name] && a.Name != "consumed_inputs" {
			panic(diag.New(spec.CodeAttribute, "attribute "+diag.Quote(a.Name)+" is not supported"))
		}
	}
}

// Has reports whether operand i is present.
func (c *Call) Has(i int) bool { return i < len(c.In) && c.In[i] != nil }

// Value returns operand i, which must be present.
func (c *Call) Value(i int) *Datum {
	if !c.Has(i) {
		panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is missing"))
	}
	return c.In[i]
}

// X returns operand i for the builder.
func (c *Call) X(i int) op.Value { return c.On(c.Value(i)) }

// Opt returns operand i, nil when it is absent.
func (c *Call) Opt(i int) op.Value {
	if !c.Has(i) {
		return nil
	}
	return c.X(i)
}

// Xs returns all operands.
func (c *Call) Xs() []op.Value {
	xs := make([]op.Value, len(c.In))
	for i := range c.In {
		xs[i] = c.X(i)
	}
	return xs
}

// On returns a datum for the builder.
func (c *Call) On(v *Datum) op.Value {
	if v.IsSeq || v.None {
		panic(diag.New(spec.CodeType, "the input is "+v.What()+", expected a tensor"))
	}
	if c.Folding && v.Sizes != nil {
		return symbols{[]*Sizes{v.Sizes}}
	}
	if c.Folding {
		return spec.Constants{A: []*array.Array{v.Arr}}
	}
	return c.Draft.Node(c.Cursor, v)
}

// Type returns the type of operand i, the zero Type when it is absent.
func (c *Call) Type(i int) shape.Type {
	if !c.Has(i) {
		return shape.Type{}
	}
	return c.In[i].Type()
}

// Rank returns the rank of operand i, which must be known.
func (c *Call) Rank(i int) int {
	c.Value(i)
	r := c.Type(i).Rank()
	if r < 0 {
		e := diag.New(spec.CodeValue, "the rank of input "+strconv.Itoa(i)+" ("+diag.Quote(c.Node.Inputs[i])+") is not known")
		if c.Draft.undecided {
			e = e.WithHint(SizesHint)
		} else if n := c.In[i].Node; n != nil && n.Opcode() != graph.Placeholder {
			e = c.Draft.Curable(e, n)
		}
		panic(e)
	}
	return r
}

// NeedDims refuses an operand of which the sizes are known to be others than those given.
// Rules that reshape need that: as many elements in other places would be taken.
func (c *Call) NeedDims(i int, want ...shape.Dim) {
	t := c.Type(i)
	bad := c.Rank(i) != len(want)
	for k := 0; !bad && k < len(want); k++ {
		bad = shape.Equality(t.Dim(k), want[k]).Truth() == shape.False
	}
	if bad {
		panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is "+t.String()+", expected the sizes "+shape.Of(want...).String()))
	}
}

// Axis normalises an axis of a tensor of the given rank.
func (c *Call) Axis(axis, rank int) int {
	if axis < -rank || axis >= rank {
		panic(diag.New(spec.CodeModel, "axis "+strconv.Itoa(axis)+" is out of range for "+strconv.Itoa(rank)+" dimensions"))
	}
	if axis < 0 {
		axis += rank
	}
	return axis
}

// Constant returns the value of operand i, which must be known at import.
func (c *Call) Constant(i int) *array.Array {
	v := c.Value(i)
	if v.Arr == nil {
		panic(c.NotConstant(i))
	}
	return v.Arr
}

// NotConstant says that an operand would have to be known, and which inputs decide it.
func (c *Call) NotConstant(i int) *diag.Error {
	e := diag.New(spec.CodeValue, "input "+strconv.Itoa(i)+" ("+diag.Quote(c.Node.Inputs[i])+") is not known before the model runs, and sizes follow from it")
	if c.In[i] == nil || c.In[i].Node == nil {
		return e
	}
	return c.Draft.Curable(e, c.In[i].Node)
}

// Ints returns the elements of an integer operand that must be known.
func (c *Call) Ints(i int) []int {
	a := c.Constant(i)
	if !a.DType().IsInt() {
		panic(diag.New(spec.CodeType, "input "+strconv.Itoa(i)+" is "+array.Describe(a.DType(), a.Shape())+", expected integers"))
	}
	if a.Len() > MostSizes {
		panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" has "+strconv.Itoa(a.Len())+" elements"))
	}
	if a.Rank() > 1 && a.Dim(a.Rank()-1) != a.Len() { // [1,n] is a list as well
		panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is "+array.Describe(a.DType(), a.Shape())+", expected a list"))
	}
	n := make([]int, a.Len())
	for k := range n {
		n[k] = int(array.Int64At(a, k))
	}
	return n
}

// Dims returns the elements of operand i as sizes: numbers, expressions, or symbols that a
// run finds.
func (c *Call) Dims(i int) []shape.Dim { return Measured(c, i, c.Value(i), false) }

// Integers is dims for values that may be negative.
func (c *Call) Integers(i int) []shape.Dim { return Measured(c, i, c.Value(i), true) }

// Dim returns the one element of operand i as a size.
func (c *Call) Dim(i int) shape.Dim {
	d := c.Dims(i)
	if len(d) != 1 {
		panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is "+c.Type(i).String()+", expected one element"))
	}
	return d[0]
}

// Index returns the one element of operand i, an integer that must be known.
func (c *Call) Index(i int) int {
	n := c.Ints(i)
	if len(n) != 1 {
		panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is "+c.Type(i).String()+", expected one element"))
	}
	return n[0]
}

// Number returns the one element of operand i, which must be known.
func (c *Call) Number(i int) op.Scalar {
	a := c.Constant(i)
	if a.Len() != 1 {
		panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is "+array.Describe(a.DType(), a.Shape())+", expected one element"))
	}
	if a.DType().IsFloat() {
		return op.Float(array.Float64At(a, 0))
	}
	return op.Int(array.Int64At(a, 0))
}

// Attributes. Asking for one makes it known; the type must be right.

// Attr returns an attribute of type t, nil when it is absent.
func (c *Call) Attr(name string, t pb.AttrType) *pb.Attr {
	c.Used[name] = true
	for _, a := range c.Node.Attrs {
		if a.Name != name {
			continue
		}
		if a.Ref != "" {
			panic(diag.New(spec.CodeModel, "attribute "+diag.Quote(name)+" refers to "+diag.Quote(a.Ref)+" of a function, outside of one"))
		}
		if a.Type != t && a.Type != pb.AttrUnknown {
			panic(diag.New(spec.CodeModel, "attribute "+diag.Quote(name)+" has type "+strconv.Itoa(int(a.Type))+", expected "+strconv.Itoa(int(t))))
		}
		return a
	}
	return nil
}

// Given reports whether the node has the attribute.
func (c *Call) Given(name string) bool {
	return slices.ContainsFunc(c.Node.Attrs, func(a *pb.Attr) bool { return a.Name == name })
}

// Int returns an integer attribute, def when it is absent.
func (c *Call) Int(name string, def int) int {
	if a := c.Attr(name, pb.AttrInt); a != nil {
		return int(a.I)
	}
	return def
}

// Group is the attribute of convolutions; 0 would mean the default to operators.
func (c *Call) Group() int {
	n := c.Int("group", 1)
	if n < 1 {
		panic(diag.New(spec.CodeModel, "group is "+strconv.Itoa(n)+", expected 1 or more"))
	}
	return n
}

// Flag is an attribute of 0 or 1; readers do not agree on the meaning of other numbers.
func (c *Call) Flag(name string, def bool) bool {
	n := 0
	if def {
		n = 1
	}
	if n = c.Int(name, n); n != 0 && n != 1 {
		panic(diag.New(spec.CodeModel, "attribute "+diag.Quote(name)+" is "+strconv.Itoa(n)+", expected 0 or 1"))
	}
	return n == 1
}

// Float returns an attribute: the shortest number that is the f32 of the file, which the author
// wrote (1e-05), except for operands that could tell it from that f32.
func (c *Call) Float(name string, def float64) float64 {
	f := float32(def)
	if a := c.Attr(name, pb.AttrFloat); a != nil {
		f = a.F
	}
	if c.Type(0).DType() == array.F64 || f >= math.MaxFloat32 || f <= -math.MaxFloat32 || f != f { // of which the decimals are too large, or none
		return float64(f)
	}
	v, _ := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64) // of the formatted value
	return v
}

// Text returns an attribute of text, def when it is absent.
func (c *Call) Text(name, def string) string {
	if a := c.Attr(name, pb.AttrString); a != nil {
		return string(a.S)
	}
	return def
}

// OneOf is text for an attribute with a few values.
func (c *Call) OneOf(name string, values ...string) string {
	s := c.Text(name, values[0])
	if !slices.Contains(values, s) {
		panic(diag.New(spec.CodeAttribute, "attribute "+name+" is "+diag.Quote(s)+", which is not supported"))
	}
	return s
}

// List returns an attribute of integers, nil when it is absent.
func (c *Call) List(name string) []int {
	a := c.Attr(name, pb.AttrInts)
	if a == nil {
		return nil
	}
	n := make([]int, len(a.Ints))
	for i, v := range a.Ints {
		n[i] = int(v)
	}
	return n
}

// Floats returns an attribute of numbers, nil when it is absent.
func (c *Call) Floats(name string) []float64 {
	a := c.Attr(name, pb.AttrFloats)
	if a == nil {
		return nil
	}
	f := make([]float64, len(a.Floats)/4)
	for i := range f {
		f[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(a.Floats[4*i:])))
	}
	return f
}

// Ignore marks attributes that do not affect the result of inference.
func (c *Call) Ignore(names ...string) {
	for _, n := range names {
		c.Used[n] = true
	}
}

// DType returns the element type that an integer attribute names, def when absent.
func (c *Call) DType(name string, def array.DType) array.DType {
	if !c.Given(name) {
		c.Used[name] = true
		return def
	}
	t := pb.Undefined
	if c.Opset < 6 { // the first sets have the type's name
		want := strings.ToLower(c.Text(name, ""))
		for k := pb.Undefined; k <= pb.Int2; k++ {
			if k.String() == want {
				t = k
			}
		}
	} else {
		t = pb.DataType(c.Int(name, 0))
	}
	d, err := modelfile.DTypeOf(t)
	if err != nil {
		panic(err)
	}
	return d
}

// Building.

// Do calls an operator; absent operands at the end are left out, as capture does.
func (c *Call) Do(o *op.Op, attrs any, in ...op.Value) op.Value {
	for len(in) > 0 && in[len(in)-1] == nil && o.In[min(len(in), len(o.In))-1].Optional {
		in = in[:len(in)-1]
	}
	return c.Builder.Call(o, attrs, in...)
}

// Write has Builder make nodes.
func (c *Call) Write() { c.Builder = builder{c.Cursor, c.Draft} }

// Region begins a body of the node.
func (c *Call) Region(name string) *body {
	if c.Depth >= MostBodies {
		panic(diag.New(spec.CodeModel, "bodies are nested more than "+strconv.Itoa(MostBodies)+" deep"))
	}
	return c.Draft.body(c.Cursor, name)
}

// Results takes a node's value apart, which is a tuple even of one, as in a traced graph.
func (c *Call) Results(n *graph.Node, count int) []*Datum {
	outs := make([]*Datum, count)
	for i := range outs {
		outs[i] = &Datum{Node: c.Cursor.ItemNode(n, i)}
	}
	return outs
}

// One is do as the result of a rule.
func (c *Call) One(o *op.Op, attrs any, in ...op.Value) []op.Value {
	return []op.Value{c.Do(o, attrs, in...)}
}

// Items are the first n members of a tuple.
func (c *Call) Items(tuple op.Value, n int) []op.Value {
	out := make([]op.Value, n)
	for i := range out {
		out[i] = c.Builder.Item(tuple, i)
	}
	return out
}

// Tensor is a constant operand.
func (c *Call) Tensor(a *array.Array) op.Value {
	if c.Folding {
		return spec.Constants{A: []*array.Array{a}}
	}
	return c.Draft.Node(c.Cursor, &Datum{Name: "const", Arr: a})
}

// Outputs is the number of outputs that the node names.
func (c *Call) Outputs() int {
	n := len(c.Node.Outputs)
	for n > 0 && c.Node.Outputs[n-1] == "" {
		n--
	}
	return n
}
