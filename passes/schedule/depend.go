package schedule

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
)

// edges are what must have run before a node, besides its operands.
type edges struct {
	after map[*graph.Node][]*graph.Node // effects and writes, in the graph's order
	// fixed are nodes that the host itself must see made at once, because sizes that
	// later nodes name are read off them.
	fixed map[*graph.Node]bool
}

// depend finds the order that any schedule of g must keep: operands before users,
// effects in their order, reads of written memory on their side of the write, and
// sizes before what names them.
func depend(g *graph.Graph) *edges {
	e := &edges{after: map[*graph.Node][]*graph.Node{}, fixed: map[*graph.Node]bool{}}
	symbols := map[string]*graph.Node{}
	for _, s := range g.Symbols() {
		if s.Node != nil {
			symbols[s.Name] = s.Node
			e.fixed[s.Node] = true
		}
	}
	effects := graph.EffectsOf(g)
	var last *graph.Node
	var since []*graph.Node // reads after the last effect
	for n := range g.Nodes() {
		e.sizes(n, symbols)
		switch {
		case acts(n):
			e.add(n, last)
			for _, r := range since {
				e.add(n, r)
			}
			last, since = n, since[:0]
		case effects.ReadsWritten(n):
			e.add(n, last)
			since = append(since, n)
		}
	}
	return e
}

func (e *edges) add(n, before *graph.Node) {
	if before != nil && before != n && !slices.Contains(e.after[n], before) {
		e.after[n] = append(e.after[n], before)
	}
}

// sizes adds the nodes whose sizes n names in its type or attributes.
func (e *edges) sizes(n *graph.Node, symbols map[string]*graph.Node) {
	if len(symbols) == 0 {
		return
	}
	each := func(d shape.Dim) {
		for _, s := range d.Symbols() {
			if by := symbols[s]; by != nil && (by.Precedes(n) || by.Opcode() == graph.Placeholder) {
				e.add(n, by)
			}
		}
	}
	eachDim(n.Type(), each)
	for m := range within(n) {
		if o := m.Op(); o != nil && m.Opcode().IsCall() {
			o.Codec().Symbols(m.Attrs(), each)
		}
		eachDim(m.Type(), each)
	}
}

func eachDim(t shape.Type, f func(shape.Dim)) {
	for i := range t.Dims().Len() {
		f(t.Dim(i))
	}
	for i := range t.Len() {
		eachDim(t.Member(i), f)
	}
}

// within yields a node and those of its regions.
func within(n *graph.Node) func(func(*graph.Node) bool) {
	return func(yield func(*graph.Node) bool) {
		if !yield(n) {
			return
		}
		for _, r := range n.Regions() {
			for m := range r.All() {
				if !yield(m) {
					return
				}
			}
		}
	}
}
