package pt2

import (
	"encoding/json"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/torchpt"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// rule is an operator of PyTorch. Exactly one of build and run is set.
type rule struct {
	// args are the arguments in order, with defaults as name=value; an argument before a
	// bar changes what is computed, one behind it does not: device, layout, memory format.
	args string
	// build writes the operator with those of op/std; nil results are ones that it does not compute.
	build func(c *call) []op.Value
	// run makes values by itself: views, lists, sizes.
	run func(c *call) []*value
}

// positional are arguments that have no names, as graphs do.
const positional = "*"

// call is a node that is being imported: what rules see of it. Its methods panic with
// *diag.Error, which becomes the refusal of the node.
type call struct {
	im   *importer
	s    *scope
	n    *nodeJSON
	b    op.Builder
	args map[string]*value
	// raw are the arguments that are no values: texts, types, graphs.
	raw map[string]argument
	def map[string]string // defaults
}

func refuse(code diag.Code, msg string) *diag.Error { return diag.New(code, msg) }

// run applies a rule.
func (c *call) run(r *rule, write bool) (outs []*value, err *diag.Error) {
	defer func() {
		if x := recover(); x != nil {
			if _, ok := x.(stopped); ok {
				outs, err = nil, noted
				return
			}
			e, ok := x.(*diag.Error)
			if broken, isRuntime := x.(runtime.Error); isRuntime {
				e, ok = diag.Bug(broken.Error()), true // the file may be anyone's: never a crash
			}
			if !ok {
				panic(x)
			}
			copied := *e // rules may share errors
			outs, err = nil, &copied
		}
	}()
	c.read(r)
	if r.run != nil {
		outs = r.run(c)
	} else {
		for _, v := range r.build(c) {
			if v == nil {
				outs = append(outs, &value{missing: "it is no result that inference has"})
				continue
			}
			outs = append(outs, c.made(v.(*graph.Node)))
		}
	}
	if write {
		outs = c.write(outs)
	}
	return outs, nil
}

// made is the value of a node that a rule built: an operand that it passes on is the same memory.
func (c *call) made(n *graph.Node) *value {
	for _, v := range c.args {
		if v.ref != nil && v.ref.IsWhole() && v.ref.Storage.Value == n {
			return &value{ref: v.ref}
		}
	}
	return fresh(n)
}

// stopped ends a node whose errors are noted.
type stopped struct{}

// noted is the error of such a node.
var noted = diag.New(CodeProgram, "its graph is refused")

// read takes the arguments apart, of which the rule says the names.
func (c *call) read(r *rule) {
	if r.args == positional {
		return
	}
	known, ignored, _ := strings.Cut(r.args, "|")
	c.args, c.raw, c.def = map[string]*value{}, map[string]argument{}, map[string]string{}
	var required, free []string
	for _, word := range strings.Fields(known) {
		name, def, has := strings.Cut(word, "=")
		c.def[name] = def
		if !has {
			required = append(required, name)
		}
	}
	for _, name := range strings.Fields(ignored) {
		free = append(free, name)
	}
	for i := range c.n.Inputs {
		in := &c.n.Inputs[i]
		if slices.Contains(free, in.Name) {
			continue
		}
		if _, ok := c.def[in.Name]; !ok {
			panic(refuse(CodeArgument, "argument "+quote(in.Name)+" is not supported").WithHint("arguments that are: " + strings.Join(append(required, optional(known)...), ", ")))
		}
		c.argument(in.Name, in.Arg)
	}
	for _, name := range required {
		if c.args[name] == nil && c.raw[name].kind == "" {
			panic(refuse(CodeProgram, "argument "+quote(name)+" is missing"))
		}
	}
}

// optional are the names with defaults.
func optional(args string) (names []string) {
	for _, word := range strings.Fields(args) {
		if name, _, has := strings.Cut(word, "="); has {
			names = append(names, name)
		}
	}
	return names
}

// argument reads one argument.
func (c *call) argument(name string, a argument) {
	if v := c.s.value(a); v != nil {
		c.args[name] = v
		return
	}
	c.raw[name] = a
}

// value is what an argument stands for, nil for texts, types and graphs.
func (s *scope) value(a argument) *value {
	list := func(kind string, raw json.RawMessage) *value {
		var parts []json.RawMessage
		s.decode(raw, &parts)
		v := &value{isList: true}
		for _, p := range parts {
			v.list = append(v.list, s.value(argument{kind, p}))
		}
		return v
	}
	switch a.kind {
	case "as_none":
		return &value{none: true}
	case "as_tensor", "as_custom_obj":
		return s.find(a.name())
	case "as_sym_int", "as_sym_float", "as_sym_bool", "as_optional_tensor":
		kind, raw, err := union(a.raw)
		if err != nil {
			panic(refuse(CodeFormat, err.Error()))
		}
		if kind == "as_name" {
			return s.find(a.name())
		}
		return s.value(argument{kind, raw})
	case "as_int":
		var n int64
		s.decode(a.raw, &n)
		return sizeValue(shape.Const(int(n)))
	case "as_bool":
		var b bool
		s.decode(a.raw, &b)
		return &value{number: op.BoolScalar(b)}
	case "as_float":
		f, ok := float(a.raw)
		if !ok {
			panic(refuse(CodeFormat, "a float is "+quote(string(a.raw))))
		}
		return &value{number: op.Float(f)}
	case "as_tensors", "as_ints", "as_floats", "as_bools", "as_sym_ints", "as_sym_floats", "as_sym_bools":
		return list(strings.TrimSuffix(a.kind, "s"), a.raw)
	case "as_optional_tensors":
		return list("as_optional_tensor", a.raw)
	}
	return nil
}

// decode reads JSON of an argument.
func (s *scope) decode(raw json.RawMessage, to any) {
	if err := json.Unmarshal(raw, to); err != nil {
		panic(&diag.Error{Code: CodeFormat, Msg: "an argument is malformed", Err: err})
	}
}

// Arguments, by the names that the rule's schema gives them.

// get returns an argument, its default where it is absent; nil where that is None.
func (c *call) get(name string) *value {
	if v := c.args[name]; v != nil {
		if v.none {
			return nil
		}
		return v
	}
	def, ok := c.def[name]
	if !ok {
		panic(diag.Bug("pt2: " + c.n.Target + " has no argument " + name))
	}
	switch def {
	case "None", "":
		return nil
	case "True", "False":
		return &value{number: op.BoolScalar(def == "True")}
	case "[]":
		return &value{isList: true}
	}
	if n, err := strconv.Atoi(def); err == nil {
		return sizeValue(shape.Const(n))
	}
	f, err := strconv.ParseFloat(def, 64)
	if err != nil {
		panic(diag.Bug("pt2: default " + def + " of " + c.n.Target))
	}
	return &value{number: op.Float(f)}
}

// given reports whether an argument is there and not None.
func (c *call) given(name string) bool { return c.args[name] != nil && !c.args[name].none }

func (c *call) need(name string) *value {
	v := c.get(name)
	if v == nil {
		panic(refuse(CodeArgument, "argument "+name+" is None, expected a value"))
	}
	return v
}

// wrong is the error of an argument of another kind.
func (c *call) wrong(name string, v *value, want string) *diag.Error {
	return refuse(CodeProgram, "argument "+name+" is "+v.what()+", expected "+want)
}

// tensor returns an argument that is a tensor; numbers become tensors without dimensions.
func (c *call) tensor(name string) *graph.Node { return c.node(name, c.need(name)) }

func (c *call) node(name string, v *value) *graph.Node {
	if v.ref == nil {
		if v.isList {
			panic(c.wrong(name, v, "a tensor"))
		}
		return c.s.scalar(v)
	}
	return c.s.read(v)
}

// x is tensor for the builder.
func (c *call) x(name string) op.Value { return c.tensor(name) }

// opt returns an argument that may be absent.
func (c *call) opt(name string) op.Value {
	if c.get(name) == nil {
		return nil
	}
	return c.tensor(name)
}

func (c *call) typ(name string) shape.Type { return c.tensor(name).Type() }

// rank returns the number of dimensions of an argument.
func (c *call) rank(name string) int {
	r := c.typ(name).Rank()
	if r < 0 {
		panic(refuse(CodeValue, "the number of dimensions of "+name+" is not known"))
	}
	return r
}

// axis reads a dimension of x, which counts from 0 then.
func (c *call) axis(name string, x *graph.Node) int { return c.axisOf(c.int(name), x.Type().Rank()) }

func (c *call) axisOf(k, rank int) int {
	if rank == 0 {
		rank = 1 // PyTorch takes 0 and -1 for tensors without dimensions
	}
	if k < -rank || k >= rank {
		panic(refuse(CodeProgram, "dimension "+strconv.Itoa(k)+" is out of range for "+strconv.Itoa(rank)))
	}
	if k < 0 {
		k += rank
	}
	return k
}

// dim returns an argument that is a size.
func (c *call) dim(name string) shape.Dim { return c.s.sizeOf(c.need(name)) }

// int returns an argument that is a number and known.
func (c *call) int(name string) int {
	d := c.dim(name)
	n, ok := d.Int()
	if !ok {
		panic(refuse(CodeValue, "argument "+name+" is "+d.String()+", expected a number that is known"))
	}
	return n
}

// dims returns an argument that is a list of sizes; a single one is a list, too.
func (c *call) dims(name string) []shape.Dim {
	v := c.get(name)
	if v == nil {
		return nil
	}
	if !v.isList {
		return []shape.Dim{c.s.sizeOf(v)}
	}
	out := make([]shape.Dim, len(v.list))
	for i, m := range v.list {
		out[i] = c.s.sizeOf(m)
	}
	return out
}

// ints is dims of numbers that are known.
func (c *call) ints(name string) []int {
	dims := c.dims(name)
	out := make([]int, len(dims))
	for i, d := range dims {
		n, ok := d.Int()
		if !ok {
			panic(refuse(CodeValue, "argument "+name+" has "+d.String()+", expected numbers that are known"))
		}
		out[i] = n
	}
	return out
}

// spread is ints of n numbers, of which a single one stands for all, and none for none.
func (c *call) spread(name string, n int) op.Ints {
	list := c.ints(name)
	if len(list) == 1 && n > 1 {
		for len(list) < n {
			list = append(list, list[0])
		}
	}
	return op.IntList(list...)
}

// number returns an argument that is a number; ok is false where it is not known.
func (c *call) number(name string) (op.Scalar, bool) { return c.need(name).known() }

// float returns an argument that must be known.
func (c *call) float(name string) float64 {
	n, ok := c.number(name)
	if !ok {
		panic(refuse(CodeValue, "argument "+name+" is "+c.need(name).what()+", expected a number that is known"))
	}
	return n.Float64()
}

func (c *call) bool(name string) bool {
	n, ok := c.number(name)
	if !ok {
		panic(refuse(CodeValue, "argument "+name+" is "+c.need(name).what()+", expected True or False"))
	}
	return n.Float64() != 0
}

// text returns an argument that is a string, def where it is absent or None.
func (c *call) text(name, def string) string {
	a, ok := c.raw[name]
	if !ok {
		if v := c.args[name]; v != nil && !v.none {
			panic(c.wrong(name, v, "a text"))
		}
		return def
	}
	if a.kind != "as_string" {
		panic(refuse(CodeProgram, "argument "+name+" is "+quote(a.kind)+", expected a text"))
	}
	var s string
	c.s.decode(a.raw, &s)
	return s
}

// dtype returns an argument that is an element type, def where it is absent or None.
func (c *call) dtype(name string, def array.DType) array.DType {
	a, ok := c.raw[name]
	if !ok {
		return def
	}
	if a.kind != "as_scalar_type" {
		panic(refuse(CodeProgram, "argument "+name+" is "+quote(a.kind)+", expected an element type"))
	}
	var n int
	c.s.decode(a.raw, &n)
	return elementType(n)
}

// elementType is that of a number of the schema.
func elementType(n int) array.DType {
	d, name := torchpt.ScalarType(n)
	if d == array.Invalid {
		if name == "" {
			name = strconv.Itoa(n)
		}
		panic(refuse(CodeType, "element type "+name+" is not supported").WithHint("export the model with real floats, integers and bools"))
	}
	return d
}

// tensors returns a list of tensors.
func (c *call) tensors(name string) []*graph.Node {
	v := c.need(name)
	if !v.isList {
		panic(c.wrong(name, v, "a list of tensors"))
	}
	out := make([]*graph.Node, len(v.list))
	for i, m := range v.list {
		out[i] = c.node(name, m)
	}
	return out
}

// Building.

// do calls an operator; absent operands at the end are left out, as capture does.
func (c *call) do(o *op.Op, attrs any, in ...op.Value) op.Value {
	for len(in) > 0 && in[len(in)-1] == nil && o.In[min(len(in), len(o.In))-1].Optional {
		in = in[:len(in)-1]
	}
	n := c.b.Call(o, attrs, in...).(*graph.Node)
	if o.ByValue {
		c.s.discovered(n)
	}
	return n
}

// one is do as the result of a rule.
func (c *call) one(o *op.Op, attrs any, in ...op.Value) []op.Value {
	return []op.Value{c.do(o, attrs, in...)}
}

// items are the first n members of a tuple.
func (c *call) items(tuple op.Value, n int) []op.Value {
	out := make([]op.Value, n)
	for i := range out {
		m := c.b.Item(tuple, i).(*graph.Node)
		if o := tuple.(*graph.Node).Op(); o != nil && o.ByValue {
			c.s.discovered(m)
		}
		out[i] = m
	}
	return out
}

// cast converts x, which stays as it is where it has the type.
func (c *call) cast(d array.DType, x op.Value) op.Value {
	if d == array.Invalid || x.Type().DType() == d {
		return x
	}
	return c.do(std.Cast, std.CastAttrs{DType: d}, x)
}

// result converts what a rule computed to the type that an argument dtype asks for.
func (c *call) result(x op.Value) []op.Value {
	return []op.Value{c.cast(c.dtype("dtype", array.Invalid), x)}
}

// weak returns a number as an operand beside x, where it is not known: PyTorch lets numbers
// change the kind of an element type only.
func (c *call) weak(name string, x shape.Type) op.Value {
	n := c.tensor(name)
	t := n.Type()
	if t.Rank() != 0 {
		return n
	}
	switch have := x.DType(); {
	case have.IsFloat(), have.IsInt() && !t.DType().IsFloat() && t.DType() != array.Bool:
		return c.cast(have, n)
	}
	return n
}

// finiteInt is a number as an int, in the range of one.
func finiteInt(f float64) (int, bool) {
	if f != math.Trunc(f) || math.Abs(f) > wide {
		return 0, false
	}
	return int(f), true
}
