package graph

import (
	"github.com/gofx-dev/gofx/diag"
)

// SetArgs replaces all operands; their number may change. The type is not
// inferred again.
func (n *Node) SetArgs(args ...*Node) {
	n.g.change()
	for i := range n.args {
		n.args[i].unlink()
	}
	n.args = make([]edge, len(args))
	for i, a := range args {
		if a != nil && a.g != n.g {
			panic(diag.Bug("operand " + a.String() + " of " + n.String() + " belongs to another graph"))
		}
		n.args[i].user = n
		n.args[i].link(a)
	}
}

// ToFunction turns a call in any spelling into the call_function of the same
// operator, params being the values of a module's tensors, in the order of
// Bound.Params (nil for absent ones). Name, position, type, side data and the
// symbols that the node defines stay. The node must call a known operator.
func (n *Node) ToFunction(params ...*Node) {
	o, attrs := n.Op(), n.Attrs()
	if o == nil || !n.opcode.IsCall() {
		panic(diag.Bug(n.String() + " calls no known operator"))
	}
	n.g.change()
	if n.opcode == CallModule {
		args := append(n.Args(), params...)
		for len(args) > 0 && args[len(args)-1] == nil {
			args = args[:len(args)-1]
		}
		n.SetArgs(args...)
	}
	n.opcode, n.op, n.attrs, n.target = CallFunction, o, attrs, ""
}

// SetModule makes a call_module node call the leaf at another path, on the same
// operands. The type is not inferred again.
func (n *Node) SetModule(path string) {
	if n.opcode != CallModule {
		panic(diag.Bug(n.String() + " calls no module"))
	}
	n.g.change()
	n.target = path
}

// Clone returns a copy of the module whose graph can be changed independently.
// Node names, types, positions, scopes, side data, symbols and guards are those
// of m; parameters share their arrays.
func (m *Module) Clone() *Module {
	out := NewModule(New(m.Graph.Name))
	out.Type = m.Type
	for _, p := range m.params {
		out.SetParam(*p)
	}
	for _, b := range m.bounds {
		out.SetBound(b.path, *b.bound)
	}
	cloneInto(out.Graph, m.Graph)
	return out
}

// cloneInto copies every node of src into the empty graph dst.
func cloneInto(dst, src *Graph) {
	k := NewCopier(dst, src)
	c := dst.At()
	for n := range src.Nodes() {
		k.At(c, n)
		v := c.add(n.opcode, n.base, nil)
		v.setName(n.Name())
		v.op, v.attrs, v.target, v.typ = n.op, n.attrs, n.target, n.typ
		if len(n.args) > 0 {
			args := make([]*Node, len(n.args))
			for i := range n.args {
				args[i] = k.nodes[n.args[i].def]
			}
			v.SetArgs(args...)
		}
		if n.extra != nil {
			x := v.more()
			x.structure, x.def, x.live = n.extra.structure, n.extra.def, n.extra.live
			x.keys = append([]keyed(nil), n.extra.keys...)
			for _, r := range n.extra.regions {
				sub := dst.NewRegion(r.Name)
				sub.parent = v
				cloneInto(sub, r)
				x.regions = append(x.regions, sub)
			}
		}
		k.nodes[n] = v
	}
	k.Finish()
}

// Become gives m the graph, state and type of o, which must not be used
// afterwards.
func (m *Module) Become(o *Module) {
	*m = *o
	m.adopt(m.Graph)
}
