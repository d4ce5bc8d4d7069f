package capturefuzz

import (
	"fmt"
	"strings"
)

// state chooses values that outlive a call: fields of the module, package variables.
func (g *gen) state() {
	n := g.IntN(3)
	if g.p.Func {
		if g.chance(50) {
			n = 0
		}
		for range min(n, 1) {
			g.global()
		}
		return
	}
	for range n {
		g.field()
	}
	if g.chance(10) {
		g.global()
	}
	for i := range g.p.Fields {
		if f := &g.p.Fields[i]; f.Type == "*tensor.Tensor" && g.chance(12) {
			g.tied(f)
		}
	}
	if g.chance(15) {
		g.leaf()
	}
}

// stored makes the tensor of a field or variable.
func (g *gen) stored() (code string, v *value) {
	dtype := pick(g, "f32", "f32", "f32", "f32", "f64", "i64", "bool")
	dims := g.shape(true)
	n := product(dims).at[0]
	if n > 24 || len(dims) == 0 {
		dims, n = []dim{fixed(4)}, 4
	}
	return fmt.Sprintf("tensor.FromSlice(%s, %s)", g.elements(dtype, n), goSizes(dims)), &value{dtype: dtype, dims: dims, mem: g.fresh()}
}

func (g *gen) global() {
	code, v := g.stored()
	name := fmt.Sprintf("global%d", g.p.ID)
	if len(g.p.Global) > 0 {
		return
	}
	g.p.Global = append(g.p.Global, Field{Name: name, Type: "*tensor.Tensor", Make: name + " = " + code})
	v.name, v.eager = name, true
	g.add(v)
}

// field makes a buffer or parameter, exported, unexported or in a slice or map.
func (g *gen) field() {
	code, v := g.stored()
	letter := pick(g, "B", "B", "b")
	f := Field{Name: g.name(letter), Type: "*tensor.Tensor", Tag: pick(g, "", ",buffer", ",buffer", "named_"+letter+",buffer")}
	if strings.HasPrefix(f.Tag, "named") {
		f.Tag = fmt.Sprintf("named%d,buffer", g.next)
	}
	v.name = "m." + f.Name
	switch g.IntN(8) {
	case 0:
		f.Type = "[]*tensor.Tensor"
		f.Make = fmt.Sprintf("%s = []*tensor.Tensor{%s}", v.name, code)
		v.name += "[0]"
	case 1:
		f.Type = "map[string]*tensor.Tensor"
		f.Make = fmt.Sprintf("%s = map[string]*tensor.Tensor{\"k\": %s}", v.name, code)
		v.name += `["k"]`
	default:
		f.Make = v.name + " = " + code
	}
	v.eager = true // Data reaches the memory; the trace has to notice
	g.p.Fields = append(g.p.Fields, f)
	g.add(v)
	if g.chance(50) {
		g.hot = v.mem
	}
}

// tied makes a field that shares the memory of another: the same tensor, or a view.
func (g *gen) tied(f *Field) {
	var of *value
	for _, v := range g.vals {
		if v.name == "m."+f.Name {
			of = v
		}
	}
	if of == nil {
		return
	}
	name := g.name("B")
	code, w := of.name, held(of, "")
	if g.chance(60) {
		if c, u := g.view(of); u != nil {
			code, w = c, u
		}
	}
	w.name = "m." + name
	g.p.Fields = append(g.p.Fields, Field{Name: name, Type: "*tensor.Tensor", Tag: pick(g, "", ",buffer"), Make: "m." + name + " = " + code})
	g.place(w)
	g.add(w)
}

// leaf makes a module of package nn with weights that the program may write.
func (g *gen) leaf() {
	in, out := pick(g, 3, 4, 6), pick(g, 2, 4)
	name := g.name("L")
	g.p.Fields = append(g.p.Fields, Field{Name: name, Type: "*nn.Linear", Make: fmt.Sprintf("m.%s = nn.NewLinear(%d, %d)\n\tcopy(tensor.Data[float32](m.%s.Weight), %s)",
		name, in, out, name, g.elements("f32", in*out))})
	w := g.add(&value{name: "m." + name + ".Weight", dtype: "f32", dims: []dim{fixed(out), fixed(in)}, eager: true, mem: g.fresh()})
	g.add(&value{name: "m." + name + ".Bias", dtype: "f32", dims: []dim{fixed(out)}, eager: true, mem: g.fresh()})
	g.leaves = append(g.leaves, leafModule{"m." + name, in, out})
	g.hot = w.mem
}

type leafModule struct {
	name    string
	in, out int
}

// callLeaf calls a module of package nn.
func callLeaf(g *gen) bool {
	if len(g.leaves) == 0 {
		return false
	}
	l := pick(g, g.leaves...)
	v := g.choose(func(v *value) bool { return v.dtype == "f32" && v.rank() > 0 && v.dims[v.rank()-1].is(l.in) })
	if v == nil {
		return false
	}
	g.let("leaf", fmt.Sprintf("%s.Forward(%s)", l.name, v.name),
		&value{dtype: "f32", dims: with(v.dims, v.rank()-1, fixed(l.out)), mem: g.fresh()})
	return true
}

// keep stores a value in a field of the module: the next call finds it there.
func keep(g *gen) bool {
	f := g.choose(func(v *value) bool { return strings.HasPrefix(v.name, "m.B") && !strings.Contains(v.name, "[") })
	if f == nil || g.depth > 0 {
		return false
	}
	v := g.choose(func(v *value) bool { return v != f && v.dtype == f.dtype && same(v.dims, f.dims) })
	if v == nil {
		return false
	}
	g.do("keep", f.name+" = "+v.name)
	f.mem, f.eager = v.mem, v.eager
	return true
}
