package cpu

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/internal/join"
)

// prologue is what precedes a contraction in the same step: a factor and a term for each
// channel, an activation that clamps, in this order, each at most once. It is known by
// its expressions, as an epilogue is, whose scale and bias are the factor and the term.
type prologue struct {
	epilogue
	nodes []*graph.Node
	of    *graph.Node // what the step reads
}

// longestPrologue is the calls of a prologue that has everything.
const longestPrologue = 3

// precede takes the calls before a contraction that it alone reads for its prologue, as
// many as there can be. Calls before those that are elementwise, too, and read by nobody
// else would be joined with them: then all of it is a step of its own.
func (f *grouping) precede(g *group) {
	n := g.nodes[0]
	if !g.first.prologue || n.Arg(0) == nil {
		return
	}
	var run []*graph.Node
	of := []*graph.Node{n.Arg(0)}
	for v := n.Arg(0); len(run) < longestPrologue && f.isLoneElementwise(v) && f.Era[v] == f.Era[n]; {
		x := whole(v)
		if x == nil {
			break
		}
		run, of, v = append(run, v), append(of, x), x
	}
	for i := len(run); i > 0; i-- {
		p := &prologue{of: of[i], nodes: slices.Clone(run[:i])}
		slices.Reverse(p.nodes)
		if p.take(g.first.channel) && !f.isLoneElementwise(p.of) {
			g.before = p
			for _, u := range p.nodes {
				f.of[u] = g
			}
			return
		}
	}
}

// isLoneElementwise reports whether a call is elementwise, in no group, and read once.
func (f *grouping) isLoneElementwise(n *graph.Node) bool {
	return n.NumUses() == 1 && f.of[n] == nil && f.Member(n)
}

// whole returns the operand of a call that has an element for each of its own, nil for
// none.
func whole(n *graph.Node) *graph.Node {
	for a := range n.Inputs() {
		if join.Plain(a) && a.Type().DType() == array.F32 && a.Type().Dims().Same(n.Type().Dims()) {
			return a
		}
	}
	return nil
}

// take reports whether the calls are a prologue, and makes them that.
func (p *prologue) take(channel int) bool {
	p.epilogue = epilogue{channel: channel, front: true}
	v := p.of
	for _, u := range p.nodes {
		if !p.epilogue.take(u, v) {
			return false
		}
		v = u
	}
	return true
}

// all returns the calls of a group in the order of the graph.
func (g *group) all() []*graph.Node {
	if g.before == nil {
		return g.nodes
	}
	return slices.Concat(g.before.nodes, g.nodes)
}
