package schedule

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
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
	reads := reader(g)
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
		case reads(n):
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

// reader returns whether a node, or what it runs, reads memory that some node of the
// module writes.
func reader(g *graph.Graph) func(*graph.Node) bool {
	memory, paths := passes.WrittenMemory(g), passes.Written(g)
	if len(memory) == 0 {
		return func(*graph.Node) bool { return false }
	}
	written := func(n *graph.Node) bool {
		m := n.Memory()
		return memory[m] || m.Opcode() == graph.GetAttr && paths[m.Target()]
	}
	itself := func(n *graph.Node) bool {
		if n.Opcode() == graph.GetAttr && paths[n.Target()] {
			return true
		}
		for a := range n.Inputs() {
			if written(a) {
				return true
			}
		}
		b := n.Bound()
		return b != nil && slices.ContainsFunc(b.Params, func(p string) bool { return paths[p] })
	}
	return func(n *graph.Node) bool {
		if itself(n) {
			return true
		}
		for a := range n.Inputs() {
			if a.InState(paths) {
				return true
			}
		}
		for m := range n.Inner() {
			if itself(m) {
				return true
			}
		}
		return false
	}
}
