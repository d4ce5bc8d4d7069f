package recompute

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/shape"
)

// halves are the forward half of a graph, and what the backward half reads of it.
type halves struct {
	g     *graph.Graph
	sizes map[string]int
	nodes []*graph.Node       // of the forward half, in order, inputs and reads of parameters too
	index map[*graph.Node]int // in nodes
	first *graph.Node         // of the backward half
	back  []*graph.Node       // the backward half, in order
	read  map[*graph.Node]*graph.Node
	held  map[*graph.Node]bool   // values in memory for longer than the backward half needs them
	never map[*graph.Node]string // why a call is never computed again
}

// halves finds the halves. Nodes that depend on the backward half, and are not of it, belong to
// neither.
func (p Policy) halves(g *graph.Graph) *halves {
	h := &halves{g: g, sizes: p.Sizes, index: map[*graph.Node]int{}, read: map[*graph.Node]*graph.Node{}, never: map[*graph.Node]string{}}
	late := map[*graph.Node]bool{}
	for n := range g.Nodes() {
		_, back := grad.Backward.Get(n)
		late[n] = back || n.Opcode() == graph.Output
		for a := range n.Inputs() {
			late[n] = late[n] || late[a]
		}
		switch {
		case back:
			h.back = append(h.back, n)
		case !late[n]:
			h.index[n] = len(h.nodes)
			h.nodes = append(h.nodes, n)
		}
	}
	if len(h.back) == 0 {
		return h
	}
	h.first = h.back[0]
	for _, b := range h.back {
		for a := range b.Inputs() {
			if _, forward := h.index[a]; forward && h.read[a] == nil {
				h.read[a] = b
			}
		}
	}
	h.forbid()
	h.hold()
	return h
}

// forbid finds what is never computed again.
func (h *halves) forbid() {
	effects := graph.EffectsOf(h.g)
	for _, n := range h.nodes {
		if n.Opcode().IsCall() {
			if why := h.forbidden(n, effects); why != "" {
				h.never[n] = why
			}
		}
	}
}

func (h *halves) forbidden(n *graph.Node, effects *graph.Effects) string {
	o := n.Op()
	switch {
	case len(n.Regions()) > 0:
		return "control flow is not computed again"
	case o == op.GetItem:
		return ""
	case o == nil || o.Structural() || o.AdHoc || n.Bound() != nil && len(n.Bound().Params) > 0:
		return "it calls what is not known to give the same again"
	case n.Effect() > op.Apart || !effects.Repeatable(n) && n.Effect() != op.Apart:
		return "it acts, or what it makes is written"
	case effects.ReadsWritten(n):
		return "it reads state that the graph writes"
	case o.ByValue || len(h.g.SymbolsOf(n)) > 0:
		return "its sizes follow from values"
	}
	return ""
}

// hold finds the values that lie in memory anyway when the backward half reads them for the first
// time, because something outside of it reads them later.
func (h *halves) hold() {
	h.held = map[*graph.Node]bool{}
	read := map[*graph.Node]*graph.Node{}
	for _, n := range h.nodes {
		if b, s := h.read[n], h.store(n); b != nil && (read[s] == nil || b.Precedes(read[s])) {
			read[s] = b
		}
	}
	back := map[*graph.Node]bool{}
	for _, b := range h.back {
		back[b] = true
	}
	for n := range h.g.Nodes() {
		if back[n] {
			continue
		}
		for a := range n.Inputs() {
			if _, forward := h.index[a]; !forward {
				continue
			}
			s := h.store(a)
			at := read[s]
			if at == nil {
				at = h.first
			}
			if at.Precedes(n) {
				h.held[s] = true
			}
		}
	}
}

// view reports whether a call shows memory of its operand and takes none of its own. One of
// several views of a value is a view, too.
func (h *halves) view(n *graph.Node) bool {
	o, base := n.Op(), n.Viewed()
	switch {
	case base == nil || h.never[n] != "":
		return false
	case o == op.GetItem:
		return h.view(base)
	}
	return !o.MayCopy || !h.turned(base)
}

// turned reports whether a value may lie in another order than that of its elements.
func (h *halves) turned(n *graph.Node) bool {
	for ; n.Viewed() != nil; n = n.Viewed() {
		if n.Op() != op.GetItem && !n.Op().MayCopy {
			return true
		}
	}
	return false
}

// store returns the value whose memory a value lies in.
func (h *halves) store(n *graph.Node) *graph.Node {
	for h.view(n) {
		n = n.Viewed()
	}
	return n
}

// free reports whether a value takes no memory of its own: an input, a parameter, a view of
// one, and what is made of nothing.
func (h *halves) free(n *graph.Node) bool {
	s := h.store(n)
	return !s.Opcode().IsCall() || s.NumArgs() == 0 && len(s.Regions()) == 0
}

// tuple reports whether a call gives several values, of which getitem takes one.
func tuple(n *graph.Node) bool { return n.Type().Kind() == shape.Tuple }

// kept returns the bytes of the forward values that the backward half reads.
func (h *halves) kept() (sum int64) {
	seen := map[*graph.Node]bool{}
	for _, n := range h.nodes {
		if s := h.store(n); h.read[n] != nil && !h.free(n) && !seen[s] {
			seen[s] = true
			sum += h.bytes(s.Type())
		}
	}
	return sum
}

const openSize = 32 // counts for a size that is not known

// bytes returns the memory that a value takes.
func (h *halves) bytes(t shape.Type) (sum int64) {
	if t.Kind() == shape.Tuple {
		for i := range t.Len() {
			sum += h.bytes(t.Member(i))
		}
		return sum
	}
	sum = int64(max(t.DType().Bits(), 8)) / 8
	if !t.Ranked() {
		return sum * openSize
	}
	for _, d := range t.Dims().Slice() {
		sum *= int64(h.size(d))
	}
	return sum
}

func (h *halves) size(d shape.Dim) int {
	if d.IsUnknown() {
		return openSize
	}
	n, err := d.Eval(func(s string) (int, bool) {
		if n, ok := h.sizes[s]; ok {
			return n, true
		}
		return openSize, true
	})
	if err != nil {
		return openSize
	}
	return n
}

// open returns a symbol of a forward value without a size, "" where there is none.
func (h *halves) open(sizes map[string]int) string {
	for _, n := range h.nodes {
		for _, d := range n.Type().Dims().Slice() {
			for _, s := range d.Symbols() {
				if _, ok := sizes[s]; !ok {
					return s
				}
			}
		}
	}
	return ""
}

// scopes returns the paths of the modules of the forward half.
func (h *halves) scopes() (list []string) {
	for _, n := range h.nodes {
		if s := n.Scope().Path; s != "" && n.Opcode().IsCall() && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	slices.Sort(list)
	return list
}
