package pt2

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/torchpt"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

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

// given reports whether an argument is present and not None.
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
