package passes

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
)

// seen is what is known of the nodes of a graph while patterns are matched to them.
type seen struct {
	written map[string]bool // paths of buffers that the graph writes
	fits    map[fitted]bool
	depth   int
}

// maxDepth bounds how deep it is looked at once.
const maxDepth = 1 << 17

// fitted asks whether a part of a pattern can stand for a node.
type fitted struct {
	p *part
	n *graph.Node
}

func newSeen(g *graph.Graph) *seen { return &seen{written: Written(g), fits: map[fitted]bool{}} }

// possible reports whether p can stand for n as far as operators, attributes and
// constants tell. What is bound elsewhere, checks and uses do not count, so that the
// answer holds for all places at which the pattern is tried, until a node that is
// below n changes.
func (s *seen) possible(a *attempt, p *part, n *graph.Node) bool {
	if p == nil || n == nil {
		return (p == nil) == (n == nil)
	}
	key := fitted{p, n}
	fits, known := s.fits[key]
	if !known {
		if s.depth == maxDepth {
			return true // as far as is known
		}
		s.depth++
		fits = s.below(a, p, n)
		s.depth--
		s.fits[key] = fits
	}
	return fits
}

func (s *seen) below(a *attempt, p *part, n *graph.Node) bool {
	switch p.kind {
	case constant, filled:
		return a.differs(p, n) == ""
	case choice:
		return slices.ContainsFunc(p.args, func(c *part) bool { return s.possible(a, c, n) })
	case repeat:
		return s.possible(a, p.args[2], n) || p.min == 0 && s.possible(a, p.args[0], n)
	case hole:
		return s.possible(a, p.of.args[0], n) || s.possible(a, p.of.args[2], n)
	case call:
		if !n.Opcode().IsCall() || n.Op() != p.op || !p.open && !p.loose && !p.dynamic && !p.op.Codec().Equal(p.attrs, n.Attrs()) {
			return false
		}
		return s.operands(a, p.args, n) || p.swaps && s.operands(a, []*part{p.args[1], p.args[0]}, n)
	}
	return true
}

// operands looks at those that stand in the same place in the pattern: in front of a
// rest, and not behind the last of n, where attributes may hold a number.
func (s *seen) operands(a *attempt, parts []*part, n *graph.Node) bool {
	for i, p := range parts {
		if p != nil && p.kind == rest || i >= n.NumArgs() {
			return true
		}
		if !s.possible(a, p, n.Arg(i)) {
			return false
		}
	}
	return true
}
