package join

import (
	"maps"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Group is elementwise calls that one step computes, in the order of the graph. The step
// stands where the last call does: nothing outside uses the value of another one before.
type Group struct {
	Nodes []*graph.Node
	// Results are the calls whose values are used outside, in the order of the graph: the
	// last, and those before it that are stored (Rules.Stores).
	Results []*graph.Node

	operands map[*graph.Node]bool // what the calls read that is none of them
	size     int                  // of their expressions, without operands
}

// Last returns the last call of the group.
func (g *Group) Last() *graph.Node { return g.Nodes[len(g.Nodes)-1] }

// Rules are what targets differ in.
type Rules struct {
	// Era is what Eras counts for the graph.
	Era map[*graph.Node]int
	// Taken reports whether a call is computed by a step of another kind, Same whether it
	// gives what its first operand is; nil for none.
	Taken, Same func(n *graph.Node) bool
	// Stores reports whether a call writes its second operand to a tensor of the state and does
	// nothing else, so that a step may compute that value with others; nil: a step computes
	// one value.
	Stores func(u *graph.Node) bool
	// Operands and Calls are the most of a group, Nodes the most that its expression may
	// have, operands counted; 0 for no limit. One call may be beyond them.
	Operands, Calls, Nodes int
}

// Eras counts, for each node of a graph, the calls before it that write, or may write,
// something: a step must not read later what is written in between.
func Eras(g *graph.Graph) map[*graph.Node]int {
	eras, era := map[*graph.Node]int{}, 0
	for n := range g.Nodes() {
		eras[n] = era
		if o := n.Op(); o != nil && o.Effect != op.Pure {
			era++
		}
	}
	return eras
}

// Find joins each elementwise call with the one group that uses it, from the last call of a
// graph to the first, so that all users of a call are known when it is looked at. Every such
// call is in a group, some alone. Groups that share a call become one if all but the last
// of their values are stored.
func Find(g *graph.Graph, r Rules) map[*graph.Node]*Group {
	of := map[*graph.Node]*Group{}
	at := map[*graph.Node]int{} // counted from the end
	for n := range g.Backward() {
		at[n] = len(at)
		if r.Taken != nil && r.Taken(n) || !r.Member(n) {
			continue
		}
		size := r.size(n)
		own := r.group(n, of, at)
		if own == nil || !r.fits(n, size, own) {
			own = &Group{operands: map[*graph.Node]bool{}}
		}
		own.add(n, size)
		of[n] = own
	}
	finish(g, of)
	return of
}

// finish brings the calls of each group into the order of the graph and finds its results.
func finish(g *graph.Graph, of map[*graph.Node]*Group) {
	for _, own := range of {
		own.Nodes = own.Nodes[:0]
	}
	for n := range g.Nodes() {
		if own := of[n]; own != nil {
			own.Nodes = append(own.Nodes, n)
		}
	}
	for n := range g.Nodes() {
		own := of[n]
		if own == nil {
			continue
		}
		outside := n == own.Last()
		for u := range n.Users() {
			outside = outside || of[u] != own
		}
		if outside {
			own.Results = append(own.Results, n)
		}
	}
}

// group returns the group of all users of n, except those that store it, nil for none. Groups
// that share n become one where that is allowed.
func (r Rules) group(n *graph.Node, of map[*graph.Node]*Group, at map[*graph.Node]int) *Group {
	var groups []*Group
	for u := range n.Users() {
		switch g := of[u]; {
		case r.stores(u):
		case g == nil:
			return nil
		case !slices.Contains(groups, g):
			groups = append(groups, g)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	own := slices.MinFunc(groups, func(g, h *Group) int { return at[g.Nodes[0]] - at[h.Nodes[0]] })
	for _, g := range groups {
		if g == own {
			continue
		}
		if !r.joins(g, own) {
			return nil
		}
		for _, m := range g.Nodes {
			of[m] = own
		}
		own.Nodes, own.size = append(own.Nodes, g.Nodes...), own.size+g.size
		slices.SortFunc(own.Nodes, func(n, m *graph.Node) int { return at[n] - at[m] })
		maps.Copy(own.operands, g.operands)
	}
	return own
}

// joins reports whether group g may be computed with a later one: its value is only stored, and
// the step does not get too long.
func (r Rules) joins(g, own *Group) bool {
	value, last := g.Nodes[0], own.Nodes[0]
	if !value.Type().Dims().Same(last.Type().Dims()) || r.Era[value] != r.Era[last] {
		return false
	}
	for u := range value.Users() {
		if !r.stores(u) {
			return false
		}
	}
	operands := len(own.operands)
	for a := range g.operands {
		if !own.operands[a] {
			operands++
		}
	}
	return value.NumUses() > 0 && within(len(own.Nodes)+len(g.Nodes), r.Calls) && within(operands, r.Operands) && within(own.size+g.size+operands, r.Nodes)
}

// stores reports whether a call only writes its operand to the state.
func (r Rules) stores(u *graph.Node) bool { return r.Stores != nil && r.Stores(u) }

// Only returns what all users of n are in, by of; the zero C where that is none, or not one.
func Only[C comparable](n *graph.Node, of func(u *graph.Node) C) (own C) {
	var none C
	for u := range n.Users() {
		c := of(u)
		if c == none || own != none && own != c {
			return none
		}
		own = c
	}
	return own
}

// Member reports whether a call can be computed element by element with others.
func (r Rules) Member(n *graph.Node) bool {
	o := n.Op()
	if o == nil || o.Effect != op.Pure || !Plain(n) || len(n.Regions()) > 0 {
		return false
	}
	for a := range n.Inputs() {
		if !Plain(a) {
			return false
		}
	}
	if r.same(n) {
		return true
	}
	symbolic := false
	o.Codec().Symbols(n.Attrs(), func(shape.Dim) { symbolic = true })
	return o.Scalar() && !symbolic
}

func (r Rules) same(n *graph.Node) bool { return r.Same != nil && r.Same(n) }

// Plain reports whether a value is a tensor of known element type and rank.
func Plain(n *graph.Node) bool {
	t := n.Type()
	return t.Kind() == shape.Tensor && t.Ranked() && t.DType() != array.Invalid
}

// size is how many operations and constants a call adds to an expression, if these are
// limited.
func (r Rules) size(n *graph.Node) (count int) {
	if r.Nodes == 0 || r.same(n) {
		return 0
	}
	g, err := n.Op().Expression(n.Attrs(), n.OperandTypes())
	if err != nil {
		return r.Nodes // alone: reported when its step is made
	}
	for _, e := range g.Nodes {
		if e.Code != kernel.OpInput {
			count++
		}
	}
	return count
}

// fits reports whether n, of that size, can join a group whose nodes are in backward order:
// its elements are those of the group, and the step does not get too long.
func (r Rules) fits(n *graph.Node, size int, own *Group) bool {
	last := own.Nodes[0]
	if !n.Type().Dims().Same(last.Type().Dims()) || r.Era[n] != r.Era[last] {
		return false
	}
	operands := len(own.operands) - 1 // n is one of them
	for a := range n.Inputs() {
		if !own.operands[a] {
			operands++
		}
	}
	return within(len(own.Nodes)+1, r.Calls) && within(operands, r.Operands) && within(own.size+size+operands, r.Nodes)
}

func within(count, limit int) bool { return limit == 0 || count <= limit }

func (g *Group) add(n *graph.Node, size int) {
	g.Nodes = append(g.Nodes, n)
	g.size += size
	delete(g.operands, n)
	for a := range n.Inputs() {
		g.operands[a] = true
	}
}
