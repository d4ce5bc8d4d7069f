package graph

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// regionType derives the type of cond, while and scan from their regions.
func regionType(n *Node, rs []*Graph) shape.Type {
	body := rs[len(rs)-1]
	out := body.Output()
	if out == nil {
		return shape.Type{}
	}
	t := outputType(out)
	if n.op == op.Cond && len(rs) == 2 && rs[0].Output() != nil {
		return n.g.join(outputType(rs[0].Output()), t, rs)
	}
	if n.op != op.Scan || t.Kind() != shape.Tuple {
		return t
	}
	// The results behind the carried ones are stacked along a new axis 0.
	a := n.attrs.(op.LoopAttrs)
	steps := shape.Unknown
	if a.Seqs > 0 && a.Carry >= 0 && a.Carry < len(n.args) && n.args[a.Carry].def != nil {
		steps = n.args[a.Carry].def.typ.Dim(0)
	}
	m := make([]shape.Type, t.Len())
	for i := range m {
		m[i] = t.Member(i)
		if i >= a.Carry && m[i].Ranked() {
			m[i] = m[i].WithDims(shape.Of(append([]shape.Dim{steps}, m[i].Dims().Slice()...)...))
		}
	}
	return shape.TupleType(m...)
}

// join is the type of a value that is of one type or of the other: what the two
// have in common. Sizes of what is computed inside the regions say nothing.
func (g *Graph) join(a, b shape.Type, rs []*Graph) shape.Type {
	switch {
	case a.Kind() != b.Kind() || a.Kind() == shape.None:
		return shape.Type{}
	case a.Kind() == shape.Tuple:
		if a.Len() != b.Len() {
			return shape.Type{}
		}
		m := make([]shape.Type, a.Len())
		for i := range m {
			m[i] = g.join(a.Member(i), b.Member(i), rs)
		}
		return shape.TupleType(m...)
	}
	d := a.DType()
	if d != b.DType() {
		d = array.Invalid
	}
	if !a.Ranked() || a.Rank() != b.Rank() {
		return shape.Unranked(d)
	}
	dims := a.Dims()
	for i := range dims.Len() {
		if !g.symbols.equal(dims.At(i), b.Dim(i)) || inner(dims.At(i), rs) {
			dims = dims.With(i, shape.Unknown)
		}
	}
	return shape.TensorType(d, dims)
}

// joinable reports whether one value can be of either type, for some sizes.
func joinable(a, b shape.Type) bool {
	switch {
	case a.Kind() == shape.None || b.Kind() == shape.None:
		return true
	case a.Kind() != b.Kind():
		return false
	case a.Kind() == shape.Tuple:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !joinable(a.Member(i), b.Member(i)) {
				return false
			}
		}
		return true
	case a.DType() != b.DType() && a.DType() != array.Invalid && b.DType() != array.Invalid:
		return false
	case a.Ranked() && b.Ranked() && a.Rank() != b.Rank():
		return false
	}
	for i := range min(a.Rank(), b.Rank()) {
		x, xk := a.Dim(i).Int()
		y, yk := b.Dim(i).Int()
		if xk && yk && x != y {
			return false
		}
	}
	return true
}

// inner reports whether a size is one of what is computed inside of the regions.
func inner(d shape.Dim, rs []*Graph) bool {
	for _, name := range d.Symbols() {
		for _, r := range rs {
			if s, ok := r.Symbol(name); ok && s.Node.opcode != Placeholder {
				return true
			}
		}
	}
	return false
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
