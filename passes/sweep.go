package passes

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// apply runs rules on a graph and its regions. Each node is looked at once, by those
// rules alone whose patterns begin with its operator, in the order of the rules. Where
// rules have other patterns, all of the first ones come before all of the second ones.
func apply(c *Ctx, g *graph.Graph, rules []*rule) (changed bool, err error) {
	s := &sweep{c: c, seen: newSeen(g), retyped: map[*graph.Node]bool{}}
	stages := 0
	for _, r := range rules {
		k, err := r.compile()
		if err != nil {
			return false, err
		}
		s.rules = append(s.rules, &ruleRun{c: c, k: k, constants: map[*graph.Node]string{}, at: map[*graph.Node]int{}})
		stages = max(stages, len(k.patterns))
	}
	before := c.matches
	for i := range stages {
		for _, behind := range []bool{false, true} {
			if s.index(i, behind); len(s.starts) > 0 && err == nil {
				err = s.graph(g, behind)
			}
		}
	}
	for _, r := range s.rules {
		r.reportMisses()
	}
	return c.matches > before, err
}

// sweep is one walk of rules over a graph.
type sweep struct {
	c       *Ctx
	seen    *seen
	rules   []*ruleRun
	starts  map[*op.Op][]candidate
	retyped map[*graph.Node]bool // nodes of which more is known than before
}

// candidate is a pattern that begins with an operator.
type candidate struct {
	r *ruleRun
	p *pattern
}

// index finds the patterns of a stage by what they begin with. Those that begin with
// a repetition are matched from the end, so that they do not end with its first part.
func (s *sweep) index(stage int, behind bool) {
	s.starts = map[*op.Op][]candidate{}
	for _, r := range s.rules {
		if stage >= len(r.k.patterns) || r.k.patterns[stage].grows != behind {
			continue
		}
		for o := range r.k.patterns[stage].starts {
			s.starts[o] = append(s.starts[o], candidate{r, r.k.patterns[stage]})
		}
	}
}

// graph walks over a graph and its regions.
func (s *sweep) graph(g *graph.Graph, behind bool) error {
	if !behind {
		for n := range g.Nodes() {
			if err := s.node(n, behind); err != nil {
				return err
			}
		}
		return nil
	}
	nodes := slices.Collect(g.Nodes())
	for _, n := range nodes { // in this order what is below has been looked at
		for _, try := range s.starts[n.Op()] {
			s.seen.possible(try.p.roots[0], n)
		}
	}
	for _, n := range slices.Backward(nodes) {
		if n.Erased() {
			continue
		}
		if err := s.node(n, behind); err != nil {
			return err
		}
	}
	if len(s.retyped) > 0 {
		for n := range g.Nodes() {
			if err := s.retype(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// node tries the rules at a node.
func (s *sweep) node(n *graph.Node, behind bool) error {
	if err := s.c.Err(); err != nil {
		return err
	}
	if err := s.retype(n); err != nil {
		return err
	}
	for _, sub := range n.Regions() {
		if err := s.graph(sub, behind); err != nil {
			return err
		}
	}
	if n.Op() == nil {
		return nil
	}
	for _, try := range s.starts[n.Op()] {
		if s.seen.fewSteps = fewSteps; len(try.r.misses) >= maxRefused {
			s.seen.fewSteps = 0
		}
		m, why := try.r.k.match(try.p, n, s.seen)
		if m != nil {
			return s.rewrite(try, m)
		}
		if why.matched > 0 {
			try.r.missed(n, why)
		}
	}
	return nil
}

// retype infers the type of n again where more is known of an operand than before.
func (s *sweep) retype(n *graph.Node) error {
	if len(s.retyped) == 0 || !slices.ContainsFunc(n.Args(), func(a *graph.Node) bool { return s.retyped[a] }) {
		return nil
	}
	if len(n.Graph().SymbolsOf(n)) > 0 {
		return nil // its type names sizes that only the run tells
	}
	old := n.Type()
	if err := n.Retype(); err != nil {
		return err
	}
	KeepType(n, old)
	if !n.Type().Same(old) {
		s.retyped[n] = true
	}
	return nil
}

// rewrite puts a replacement in the place of a match, and takes note of new types.
func (s *sweep) rewrite(try candidate, m *Match) error {
	old := make([]shape.Type, len(m.Roots))
	for i, n := range m.Roots {
		old[i] = n.Type()
	}
	if len(m.Roots) > 1 || try.r.k.Build != nil { // later calls have been looked at, or Build may change others
		clear(s.seen.fits)
	}
	out, err := try.r.rewrite(m)
	for i, n := range out {
		if !n.Type().Same(old[i]) {
			s.retyped[n] = true
		}
	}
	return err
}
