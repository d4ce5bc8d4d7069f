package passes

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
)

// seen is what is known of the nodes of a graph while patterns are matched to them.
type seen struct {
	effects *graph.Effects
	fits    map[fitted]bool
	// fewSteps are taken before what cannot match is looked up: none, once there are
	// enough reasons.
	fewSteps int
	depth    int
	cut      bool // something was too deep to be looked at
}

// maxDepth bounds how deep it is looked at once, for the stack. A walk that looks at
// each node comes nowhere near it.
const maxDepth = 1 << 15

// fitted asks whether a part of a pattern can stand for a node.
type fitted struct {
	p *part
	n *graph.Node
}

func newSeen(g *graph.Graph) *seen {
	return &seen{effects: graph.EffectsOf(g), fits: map[fitted]bool{}, fewSteps: fewSteps}
}

// possible reports whether p can stand for n as far as operators, attributes and
// constants tell. What is bound elsewhere, checks and uses do not count, so that the
// answer holds for all places at which the pattern is tried, until a node that is
// below n changes.
func (s *seen) possible(p *part, n *graph.Node) bool {
	if p == nil || n == nil {
		return (p == nil) == (n == nil)
	}
	key := fitted{p, n}
	fits, known := s.fits[key]
	if known {
		return fits
	}
	if s.depth == maxDepth {
		s.cut = true
		return true // as far as is known
	}
	s.depth++
	fits = s.below(p, n)
	if s.depth--; !s.cut {
		s.fits[key] = fits
	}
	s.cut = s.cut && s.depth > 0
	return fits
}

func (s *seen) below(p *part, n *graph.Node) bool {
	switch p.kind {
	case constant, filled:
		return s.differs(p, n) == ""
	case choice:
		return slices.ContainsFunc(p.args, func(c *part) bool { return s.possible(c, n) })
	case repeat:
		return s.possible(p.args[2], n) || p.min == 0 && s.possible(p.args[0], n)
	case hole:
		return s.possible(p.of.args[0], n) || s.possible(p.of.args[2], n)
	case call:
		if !n.Opcode().IsCall() || n.Op() != p.op || !p.open && !p.loose && !p.dynamic && !p.op.Codec().Equal(p.attrs, n.Attrs()) {
			return false
		}
		return s.operands(p.args, n) || p.swaps && s.operands([]*part{p.args[1], p.args[0]}, n)
	}
	return true
}

// operands looks at those that stand in the same place in the pattern: in front of a
// rest, and not after the last of n, where attributes may hold a number.
func (s *seen) operands(parts []*part, n *graph.Node) bool {
	for i, p := range parts {
		if p != nil && p.kind == rest || i >= n.NumArgs() {
			return true
		}
		if !s.possible(p, n.Arg(i)) {
			return false
		}
	}
	return true
}

// differs says why n is not the constant p.
func (s *seen) differs(p *part, n *graph.Node) string {
	q := s.constantOf(n)
	switch {
	case q == nil:
		return "is no constant"
	case p.kind == filled && !full(q, p.value):
		return "the constant is another one than " + strconv.FormatFloat(p.value, 'g', -1, 64) + " everywhere"
	case p.kind == constant && (!shape.TypeOf(q).Same(shape.TypeOf(p.array)) || !array.Equal(q, p.array)):
		return "the constant is another one than " + array.Format(p.array, 8)
	}
	return ""
}

// constantOf returns the value of a parameter that no run changes, nil for what is
// none.
func (s *seen) constantOf(n *graph.Node) *array.Array {
	if n.Opcode() != graph.GetAttr || n.Live() || s.effects.WrittenState(n.Target()) || n.Graph().Module() == nil {
		return nil
	}
	q := n.Graph().Module().Param(n.Target())
	if q == nil {
		return nil
	}
	return q.Value
}
