package pt2

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// rule is an operator of PyTorch. Exactly one of build and run is set.
type rule struct {
	// args are the arguments in order, with defaults as name=value; an argument before a
	// bar changes the result, one after it does not: device, layout, memory format.
	args string
	// build writes the operator with those of op/std; nil results are ones that it does not compute.
	build func(c *call) []op.Value
	// run makes values by itself: views, lists, sizes.
	run func(c *call) []*value
}

// positional are arguments that have no names, as graphs do.
const positional = "*"

// call is the view that rules have of a node that is being imported. Its methods
// panic with *diag.Error, which becomes the refusal of the node.
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
			outs, err = nil, diag.Recovered(x)
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
		if v.ref != nil && c.s.read(v) == n {
			return &value{ref: v.ref, still: v.still}
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
	free = append(free, strings.Fields(ignored)...)
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

// mostMembers bounds lists of arguments.
const mostMembers = 1 << 14

// value is an argument's value, nil for texts, types and graphs.
func (s *scope) value(a argument) *value {
	list := func(kind string, raw json.RawMessage) *value {
		var parts []json.RawMessage
		if s.decode(raw, &parts); len(parts) > mostMembers {
			panic(refuse(CodeProgram, "a list has "+strconv.Itoa(len(parts))+" members, more than "+strconv.Itoa(mostMembers)))
		}
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

// weak returns a number as an operand next to x, where it is not known: PyTorch lets numbers
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
