package passes

import (
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
)

// pattern is a traced pattern.
type pattern struct {
	mod    *graph.Module
	inputs []*graph.Node
	roots  []*graph.Node
	parts  []*graph.Node // calls and constants, in order

	loose   map[*graph.Node]bool // calls whose attributes do not matter
	open    map[*graph.Node]bool // calls with numbers in their attributes
	numbers int                  // one more than the greatest i of a Number(i)
	total   int                  // of parts along the first spellings
}

func newPattern(m *graph.Module) (*pattern, error) {
	p := &pattern{mod: m, inputs: m.Graph.Inputs(), roots: m.Graph.Output().Args(), loose: map[*graph.Node]bool{}, open: map[*graph.Node]bool{}}
	for n := range m.Graph.Nodes() {
		switch {
		case n.Opcode() == graph.Placeholder || n.Opcode() == graph.Output:
			continue
		case len(n.Regions()) > 0 || Effect(n) == op.Effectful:
			return nil, n.Error(BadRule, "the pattern has control flow or effects, expected pure calls")
		case n.Opcode() == graph.CallModule:
			return nil, n.Error(BadRule, "the pattern calls a module, expected functions of tensors")
		case n.NumUses() == 0:
			return nil, n.Error(BadRule, "no result of the pattern is made of "+n.String())
		case n.Op() == anyOf && len(p.roots) > 1:
			return nil, n.Error(BadRule, "the pattern has several spellings and several results, expected one result")
		case n.Op() == anyOf:
			continue
		case n.Op() == loose:
			made := p.plain(n)
			if made.Op() == op.GetItem {
				made = made.Arg(0)
			}
			if !made.Opcode().IsCall() || made.Op() == anyOf {
				return nil, n.Error(BadRule, "the pattern leaves the attributes of "+made.String()+" open, which is no call")
			}
			p.loose[made] = true
			continue
		}
		if k := numbersOf(n); k > 0 {
			p.open[n], p.numbers = true, max(p.numbers, k)
		}
		p.parts = append(p.parts, n)
	}
	seen := map[*graph.Node]bool{}
	for _, r := range p.roots {
		if r == nil || !p.calls(r) {
			return nil, diag.New(BadRule, "a result of the pattern is a parameter or constant, which would match everything")
		}
		p.total += p.count(r, seen)
	}
	return p, nil
}

// plain returns what a node of the pattern stands for besides being Loose.
func (p *pattern) plain(n *graph.Node) *graph.Node {
	for n.Op() == loose {
		n = n.Arg(0)
	}
	return n
}

// calls reports whether all that n, a node of the pattern, may stand for are calls.
func (p *pattern) calls(n *graph.Node) bool {
	if n = p.plain(n); n.Op() != anyOf {
		return n.Opcode().IsCall()
	}
	return !slices.ContainsFunc(n.Args(), func(choice *graph.Node) bool { return !p.calls(choice) })
}

// count returns the number of calls and constants below n along first spellings.
func (p *pattern) count(n *graph.Node, seen map[*graph.Node]bool) int {
	if n == nil || seen[n] || n.Opcode() == graph.Placeholder {
		return 0
	}
	seen[n] = true
	args, total := n.Args(), 1
	switch n.Op() {
	case anyOf:
		args, total = args[:1], 0
	case loose:
		total = 0
	}
	for _, a := range args {
		total += p.count(a, seen)
	}
	return total
}

// begins reports whether a call of o can be what n, a node of the pattern, stands for.
func (p *pattern) begins(n *graph.Node, o *op.Op) bool {
	if n = p.plain(n); n.Op() != anyOf {
		return n.Op() == o
	}
	return slices.ContainsFunc(n.Args(), func(choice *graph.Node) bool { return p.begins(choice, o) })
}
