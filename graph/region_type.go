package graph

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// regionType derives the type of cond, while and scan from their regions.
func regionType(node *Node, rs []*Graph) shape.Type {
	body := rs[len(rs)-1]
	out := body.Output()
	if out == nil {
		return shape.Type{}
	}
	typ := outputType(out)
	if node.op == op.Cond && len(rs) == 2 && rs[0].Output() != nil {
		return node.g.join(outputType(rs[0].Output()), typ, rs)
	}
	typ = node.g.outside(typ, rs)
	a, ok := node.attrs.(op.LoopAttrs)
	if node.op != op.Scan || !ok {
		return typ
	}
	// The results behind the carried ones are stacked along a new axis 0.
	steps := shape.Unknown
	if a.Seqs > 0 && a.Carry >= 0 && a.Carry < len(node.args) && node.args[a.Carry].def != nil {
		steps = node.args[a.Carry].def.typ.Dim(0)
	}
	stack := func(t shape.Type, i int) shape.Type {
		if i >= a.Carry && t.Ranked() {
			t = t.WithDims(shape.Of(append([]shape.Dim{steps}, t.Dims().Slice()...)...))
		}
		return t
	}
	if typ.Kind() != shape.Tuple {
		return stack(typ, 0)
	}
	m := make([]shape.Type, typ.Len())
	for i := range m {
		m[i] = stack(typ.Member(i), i)
	}
	return shape.TupleType(m...)
}

// outside is the type of a region's result as the graph around it knows it.
func (g *Graph) outside(typ shape.Type, rs []*Graph) shape.Type {
	if typ.Kind() == shape.Tuple {
		m := make([]shape.Type, typ.Len())
		for i := range m {
			m[i] = g.outside(typ.Member(i), rs)
		}
		return shape.TupleType(m...)
	}
	dims := typ.Dims()
	for i := range dims.Len() {
		if g.inner(dims.At(i), rs) {
			dims = dims.With(i, shape.Unknown)
		}
	}
	if !typ.Ranked() {
		return typ
	}
	return typ.WithDims(dims)
}

// join is the type of a value that is of one type or of the other. Sizes of what is
// computed inside the regions say nothing.
func (g *Graph) join(a, b shape.Type, rs []*Graph) shape.Type {
	return shape.Join(a, b, func(x, y shape.Dim) bool { return g.symbols.equal(x, y) && !g.inner(x, rs) })
}

// inner reports whether a size is known inside of the regions alone: one of what
// is computed there, or of an input whose operand has no such size.
func (g *Graph) inner(d shape.Dim, rs []*Graph) bool {
	for _, name := range d.Symbols() {
		for _, r := range rs {
			if s, ok := r.Symbol(name); ok && (s.Node.opcode != Placeholder || !g.knows(name)) {
				return true
			}
		}
	}
	return false
}

// knows reports whether the graph, or one around it, defines the symbol.
func (g *Graph) knows(name string) bool {
	for {
		if _, ok := g.Symbol(name); ok {
			return true
		}
		if g.parent == nil {
			return false
		}
		g = g.parent.g
	}
}

// outputType returns the type of an output node's value: its operand's, or a tuple.
func outputType(out *Node) shape.Type {
	if out.Structure() == nil && len(out.args) == 1 && out.args[0].def != nil {
		return out.args[0].def.typ
	}
	m := make([]shape.Type, len(out.args))
	for i := range out.args {
		if d := out.args[i].def; d != nil {
			m[i] = d.typ
		}
	}
	return shape.TupleType(m...)
}
