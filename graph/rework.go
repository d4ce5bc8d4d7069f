package graph

import (
	"github.com/gofx-dev/gofx/diag"
)

// SetArgs replaces all operands; their number may change. The type is not
// inferred again.
func (n *Node) SetArgs(args ...*Node) {
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
// symbols that the node defines stay; the scope of a call_module becomes that of
// the leaf, whose path the node loses. The node must call a known operator.
func (n *Node) ToFunction(params ...*Node) {
	operator, attrs := n.Op(), n.Attrs()
	if operator == nil || !n.opcode.IsCall() {
		panic(diag.Bug(n.String() + " calls no known operator"))
	}
	if n.opcode == CallModule {
		args := append(n.Args(), params...)
		for len(args) > 0 && args[len(args)-1] == nil {
			args = args[:len(args)-1]
		}
		n.SetArgs(args...)
		leaf := Scope{Path: n.target, Type: n.Bound().Type}
		if was := n.Scope(); leaf.Type == "" && was.Path == leaf.Path {
			leaf.Type = was.Type // text may say it of the call alone
		}
		n.scope = n.g.Scope(leaf)
	}
	n.opcode, n.op, n.attrs, n.target = CallFunction, operator, attrs, ""
}

// SetModule makes a call_module node call the leaf at another path, on the same
// operands. The type is not inferred again.
func (n *Node) SetModule(path string) {
	if n.opcode != CallModule {
		panic(diag.Bug(n.String() + " calls no module"))
	}
	n.target = path
}

// Become gives m the graph, state and type of o, which must not be used
// afterwards.
func (m *Module) Become(o *Module) {
	*m = *o
	for g := range m.Graphs() {
		m.adopt(g)
	}
}

// Retype computes the node's type again: a parameter's from the module, the
// output's and a call's from the operands. A placeholder keeps its type.
func (n *Node) Retype() error {
	switch n.opcode {
	case Output:
		n.typ = outputType(n)
		return nil
	case GetAttr:
		if p := n.g.param(n.target); p != nil {
			n.typ = p.TypeOf()
		}
		return nil
	}
	return n.Infer()
}

func (g *Graph) param(path string) *Param {
	if g.mod == nil {
		return nil
	}
	return g.mod.Param(path)
}

// ResetFacts forgets the symbols and guards of the graph, for a pass that derives
// them again. What was fixed during capture stays noted.
func (g *Graph) ResetFacts() {
	g.symbols = symbolTable{notes: g.symbols.notes}
}
