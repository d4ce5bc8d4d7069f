package schedule

import (
	"container/heap"
	"slices"
	"time"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

// Overlap makes a pass that puts a wait after each value made elsewhere that the host
// reads, and orders the nodes so that resources work at the same time: list scheduling
// by the length of what follows a node. Several rules are tried on the machine's
// simulation, and the order that the graph has; the best one stays, so that a graph
// never becomes slower by the prediction. Effects keep their order, and what was
// computed before a write is not moved after it.
func Overlap(m Machine) passes.Pass {
	return passes.Pass{
		Name: "overlap",
		Doc:  "Orders nodes so that work on several resources overlaps, with waits where the host needs a result.",
		Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
			if err := inBodies(g).Err(); err != nil {
				return false, err
			}
			changed := insertWaits(c, g)
			e, nodes := depend(g), slices.Collect(g.Nodes())
			before := simulate(nodes, e, &m)
			best, order := before, nodes
			p := newProblem(nodes, e, &m)
			for _, r := range []rule{{}, {patient: true}, {early: true}, {true, true}} {
				if err := c.Err(); err != nil {
					return changed, err
				}
				o := p.order(r)
				if t := simulate(o, e, &m); t.Makespan < best.Makespan {
					best, order = t, o
				}
			}
			c.Note("predicted " + best.Makespan.String() + ", " + before.Makespan.String() + " in the order it had, critical path " + best.Critical.String())
			moved, err := g.SetOrder(order)
			return changed || moved > 0, err
		},
	}
}

// insertWaits puts one wait after each value that the host reads from elsewhere.
func insertWaits(c *passes.Ctx, g *graph.Graph) (changed bool) {
	for n := range g.Nodes() {
		if resource(n) == Host {
			continue
		}
		var wait *graph.Node
		reads := false
		for u := range n.Users() {
			if waits(u) {
				wait = u
			} else if resource(u) == Host {
				reads = true
			}
		}
		if !reads {
			continue
		}
		if wait == nil {
			wait = g.After(n).Function(std.Wait, op.None{}, n)
		} else {
			g.MoveBefore(wait, n.Next())
		}
		n.ReplaceUses(wait, func(u *graph.Node) bool { return u != wait && resource(u) == Host })
		c.Rewrote(n, wait, "the host reads it")
		changed = true
	}
	return changed
}

// rule is one way to choose among nodes that could come next.
type rule struct {
	// patient lets the host stand still for a value that much depends on, where it
	// comes before other work that is ready would be done.
	patient bool
	// early gives a resource what can start first, not what most depends on.
	early bool
}

// problem is a graph to be ordered.
type problem struct {
	*edges
	m     *Machine
	nodes []*graph.Node
	place map[*graph.Node]int
	next  map[*graph.Node][]*graph.Node // effects that come after
	left  map[*graph.Node]int           // what must come before, counted
	tail  map[*graph.Node]time.Duration // the longest way from a node's start to the end
	lazy  map[*graph.Node]bool          // parameters: they are read where they are used
}

func newProblem(nodes []*graph.Node, e *edges, m *Machine) *problem {
	p := &problem{e, m, nodes, map[*graph.Node]int{}, map[*graph.Node][]*graph.Node{}, map[*graph.Node]int{}, tails(nodes, e, m), map[*graph.Node]bool{}}
	for i, n := range nodes {
		p.place[n] = i
		p.left[n] = len(e.after[n])
		for range n.Inputs() {
			p.left[n]++
		}
		for _, a := range e.after[n] {
			p.next[a] = append(p.next[a], n)
		}
	}
	for _, n := range nodes {
		if n.Opcode() == graph.GetAttr && p.left[n] == 0 && len(p.next[n]) == 0 && n.NumUses() > 0 {
			p.lazy[n] = true
		}
	}
	return p
}

// state is an order that is being made.
type state struct {
	*problem
	rule
	clock *clock
	left  map[*graph.Node]int
	out   []*graph.Node
	done  map[*graph.Node]bool
	host  queue // calls of the host
	waits queue
	away  map[Resource]*queue
	names []Resource
}

func (p *problem) order(r rule) []*graph.Node {
	s := &state{problem: p, rule: r, clock: newClock(p.edges, p.m), left: make(map[*graph.Node]int, len(p.nodes)), done: map[*graph.Node]bool{}, away: map[Resource]*queue{}}
	for n, k := range p.left {
		s.left[n] = k
	}
	for n := range p.lazy {
		s.release(n, func(*graph.Node) {})
	}
	var inputs []*graph.Node
	for _, n := range p.nodes {
		switch {
		case n.Opcode() == graph.Placeholder:
			inputs = append(inputs, n)
		case s.left[n] == 0 && !p.lazy[n]:
			s.ready(n)
		}
	}
	for _, n := range inputs {
		s.emit(n)
	}
	for n := s.choose(); n != nil; n = s.choose() {
		s.emit(n)
	}
	s.emit(p.nodes[len(p.nodes)-1]) // the output
	return s.out
}

// emit appends a node, and before it the parameters that it is the first to read.
func (s *state) emit(n *graph.Node) {
	if s.done[n] {
		return
	}
	for a := range n.Inputs() {
		if s.lazy[a] {
			s.emit(a)
		}
	}
	s.done[n] = true
	s.out = append(s.out, n)
	s.clock.run(n)
	if !s.lazy[n] {
		s.release(n, s.ready)
	}
}

// release counts a node as there for those after it, and hands on what may come now.
func (s *state) release(n *graph.Node, ready func(*graph.Node)) {
	count := func(u *graph.Node) {
		if s.left[u]--; s.left[u] == 0 {
			ready(u)
		}
	}
	for u := range n.Users() {
		count(u)
	}
	for _, u := range s.next[n] {
		count(u)
	}
}

// ready queues a node whose operands are all there or on their way.
func (s *state) ready(n *graph.Node) {
	e := entry{n, s.tail[n], s.place[n]}
	r := resource(n)
	switch {
	case n.Opcode() == graph.Output:
	case waits(n):
		// What comes first is waited for first.
		e.key = -s.clock.at(n.Arg(0), Host)
		heap.Push(&s.waits, e)
	case r == Host:
		heap.Push(&s.host, e)
	default:
		q := s.away[r]
		if q == nil {
			q = &queue{}
			s.away[r] = q
			s.names = append(s.names, r)
		}
		if s.early {
			e.key = -s.start(n, r)
		}
		heap.Push(q, e)
	}
}

// start is when the operands of a node are at its resource.
func (s *state) start(n *graph.Node, r Resource) (t time.Duration) {
	for a := range n.Inputs() {
		t = max(t, s.clock.at(a, r))
	}
	return t
}

// choose takes the node that comes next off its queue: what costs the host nothing,
// then what others run, then the host's own work, then the first value that comes.
func (s *state) choose() *graph.Node {
	if w := s.waits.first(); w != nil && s.clock.at(w.Arg(0), Host) <= s.clock.host {
		return s.waits.take()
	}
	var best *queue
	for _, r := range s.names {
		if q := s.away[r]; q.Len() > 0 && (best == nil || s.tail[best.first()] < s.tail[q.first()]) {
			best = q
		}
	}
	if best != nil {
		return best.take()
	}
	h, w := s.host.first(), s.waits.first()
	switch {
	case h == nil && w == nil:
		return nil
	case h == nil, s.patient && w != nil && s.tail[w] > s.tail[h] && s.clock.at(w.Arg(0), Host) < s.clock.host+s.m.cost(h):
		return s.waits.take()
	}
	return s.host.take()
}

// entry is a queued node: the largest key first, then the first in the graph.
type entry struct {
	node  *graph.Node
	key   time.Duration
	place int
}

type queue []entry

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	return q[i].key > q[j].key || q[i].key == q[j].key && q[i].place < q[j].place
}
func (q *queue) Push(x any) { *q = append(*q, x.(entry)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	*q = (*q)[:last]
	return e
}

func (q *queue) first() *graph.Node {
	if len(*q) == 0 {
		return nil
	}
	return (*q)[0].node
}

func (q *queue) take() *graph.Node { return heap.Pop(q).(entry).node }
