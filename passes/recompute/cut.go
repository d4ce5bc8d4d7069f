package recompute

import (
	"math"

	"github.com/gofx-dev/gofx/graph"
)

// cut returns what is computed again when calls that are fixed are not, and as few bytes as
// possible are kept. Of cuts with as many bytes it takes the one with the fewest calls
// after it.
func (h *halves) cut(fixed map[*graph.Node]bool) map[*graph.Node]bool {
	f := newFlow(2 + 2*len(h.nodes))
	in := func(n *graph.Node) int { return 2 + 2*h.index[n] }
	out := func(n *graph.Node) int { return 3 + 2*h.index[n] }
	for _, n := range h.nodes {
		if h.free(n) {
			continue
		}
		if (fixed[n] || h.never[n] != "") && !h.view(n) {
			f.edge(source, in(n), endless)
		}
		f.edge(in(n), out(n), h.price(n))
		if h.read[n] != nil {
			f.edge(out(n), sink, endless)
		}
		for a := range n.Inputs() {
			if !h.free(a) {
				f.edge(out(a), in(n), endless)
			}
		}
	}
	f.saturate()
	after := f.toSink()
	again := map[*graph.Node]bool{}
	for _, n := range h.nodes {
		// A view of what is kept is there, too.
		if !h.free(n) && after[in(n)] && (!h.view(n) || again[n.Viewed()]) {
			again[n] = true
		}
	}
	return again
}

// price is what it takes to keep a value.
func (h *halves) price(n *graph.Node) int64 {
	switch {
	case h.held[n]:
		return 0
	case h.view(n), tuple(n) && h.read[n] == nil: // its operand is kept, or what is taken out of it
		return endless
	}
	return h.bytes(n.Type())
}

// The nodes of a flow that are no ends of values.
const (
	source  = 0
	sink    = 1
	endless = math.MaxInt64 / 4
)

// flow is a network with capacities, in which the most that flows from source to sink is found.
// Ref: Dinitz, "Algorithm for solution of a problem of maximum flow in a network with power
// estimation", 1970.
type flow struct {
	from  [][]int // edges that leave a node; edge i^1 is edge i backwards
	to    []int
	left  []int64 // capacity that is left
	level []int
	next  []int
}

func newFlow(nodes int) *flow {
	return &flow{from: make([][]int, nodes), level: make([]int, nodes), next: make([]int, nodes)}
}

func (f *flow) edge(a, b int, capacity int64) {
	f.from[a] = append(f.from[a], len(f.to))
	f.from[b] = append(f.from[b], len(f.to)+1)
	f.to, f.left = append(f.to, b, a), append(f.left, capacity, 0)
}

// saturate sends as much as possible.
func (f *flow) saturate() {
	for f.levels() {
		clear(f.next)
		for f.send(source, endless) > 0 {
		}
	}
}

// levels numbers the nodes by their distance from the source, and reports whether the sink is
// reached.
func (f *flow) levels() bool {
	for i := range f.level {
		f.level[i] = -1
	}
	f.level[source] = 0
	for queue := []int{source}; len(queue) > 0; queue = queue[1:] {
		for _, e := range f.from[queue[0]] {
			if b := f.to[e]; f.left[e] > 0 && f.level[b] < 0 {
				f.level[b] = f.level[queue[0]] + 1
				queue = append(queue, b)
			}
		}
	}
	return f.level[sink] >= 0
}

// send sends at most some along one path from a to the sink.
func (f *flow) send(a int, most int64) int64 {
	if a == sink {
		return most
	}
	for ; f.next[a] < len(f.from[a]); f.next[a]++ {
		e := f.from[a][f.next[a]]
		b := f.to[e]
		if f.left[e] <= 0 || f.level[b] != f.level[a]+1 {
			continue
		}
		if sent := f.send(b, min(most, f.left[e])); sent > 0 {
			f.left[e] -= sent
			f.left[e^1] += sent
			return sent
		}
	}
	return 0
}

// toSink returns the nodes from which more could still flow to the sink.
func (f *flow) toSink() []bool {
	reach := make([]bool, len(f.from))
	reach[sink] = true
	for queue := []int{sink}; len(queue) > 0; queue = queue[1:] {
		for _, e := range f.from[queue[0]] {
			if a := f.to[e]; f.left[e^1] > 0 && !reach[a] {
				reach[a] = true
				queue = append(queue, a)
			}
		}
	}
	return reach
}
