package schedule

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/graph"
)

// Span is the time in which a resource runs a node. A wait's span is the time in which
// the host stands still.
type Span struct {
	Node       *graph.Node
	On         Resource
	Start, End time.Duration
}

// Timeline is what Simulate predicts.
type Timeline struct {
	Spans []Span // in the order of the graph
	// Makespan is when the results are there and nothing runs any more.
	Makespan time.Duration
	// Critical is the longest chain of nodes and transfers, each waiting for the one
	// before: what no order and no number of processors goes below.
	Critical time.Duration
	// Busy is how long each resource computes.
	Busy map[Resource]time.Duration
	// Bound is what no order goes below on this machine: the critical path, or what a
	// resource computes with the least that must come before and after it.
	Bound time.Duration
}

// Simulate predicts when each node of the graph runs on the machine. It reports what
// Check finds.
func Simulate(g *graph.Graph, m Machine) (*Timeline, error) {
	if err := Check(g); err != nil {
		return nil, err
	}
	return simulate(slices.Collect(g.Nodes()), depend(g), &m), nil
}

func simulate(order []*graph.Node, e *edges, m *Machine) *Timeline {
	c := newClock(e, m)
	t := &Timeline{Busy: map[Resource]time.Duration{}}
	for _, n := range order {
		s := c.run(n)
		t.Spans = append(t.Spans, s)
		if !waits(n) {
			t.Busy[s.On] += s.End - s.Start
		}
	}
	t.Makespan = c.end()
	t.bounds(order, e, m)
	return t
}

// bounds finds Critical and Bound: for each node the earliest start, and the least time
// from its end to the end of all, were there processors without number.
func (t *Timeline) bounds(order []*graph.Node, e *edges, m *Machine) {
	head, tail := map[*graph.Node]time.Duration{}, tails(order, e, m)
	first, last := map[Resource]time.Duration{}, map[Resource]time.Duration{}
	for _, n := range order {
		r, cost := resource(n), time.Duration(0)
		if !waits(n) {
			cost = m.cost(n)
		}
		for a := range n.Inputs() {
			head[n] = max(head[n], head[a]+m.crossing(a, r))
		}
		for _, a := range e.after[n] {
			head[n] = max(head[n], head[a])
		}
		t.Critical = max(t.Critical, head[n]+tail[n])
		if cost > 0 {
			least := func(in map[Resource]time.Duration, d time.Duration) {
				if old, ok := in[r]; !ok || d < old {
					in[r] = d
				}
			}
			least(first, head[n])
			least(last, tail[n]-cost)
		}
		head[n] += cost // from here on its end
	}
	t.Bound = t.Critical
	for r, busy := range t.Busy {
		t.Bound = max(t.Bound, first[r]+busy+last[r])
	}
}

// tails returns for each node the longest way from its start to the end, over costs and
// transfers.
func tails(order []*graph.Node, e *edges, m *Machine) map[*graph.Node]time.Duration {
	tail := make(map[*graph.Node]time.Duration, len(order))
	for _, n := range slices.Backward(order) {
		for u := range n.Users() {
			tail[n] = max(tail[n], tail[u]+m.crossing(n, resource(u)))
		}
		if !waits(n) {
			tail[n] += m.cost(n)
		}
		for _, a := range e.after[n] {
			tail[a] = max(tail[a], tail[n]) // a's own time is added when it comes
		}
	}
	return tail
}

// crossing is how long a value is on its way to what runs on r. State lies where it is
// read; what a wait waited for is where it was made, too.
func (m *Machine) crossing(n *graph.Node, r Resource) time.Duration {
	if n.Opcode() == graph.GetAttr {
		return 0
	}
	if waits(n) && r != Host {
		n = n.Arg(0)
	}
	if from := resource(n); from != r {
		return m.transfer(n, Way{from, r})
	}
	return 0
}

// clock runs nodes one after the other in a schedule's order.
type clock struct {
	*edges
	m    *Machine
	host time.Duration
	free map[Resource]time.Duration // when what was issued is done
	line map[Way]time.Duration      // when a link is free
	ends map[*graph.Node]time.Duration
	came map[arrival]time.Duration
}

type arrival struct {
	node *graph.Node
	at   Resource
}

func newClock(e *edges, m *Machine) *clock {
	return &clock{e, m, 0, map[Resource]time.Duration{}, map[Way]time.Duration{}, map[*graph.Node]time.Duration{}, map[arrival]time.Duration{}}
}

// at returns when n's value is at a resource; the first to ask sends it there.
func (c *clock) at(n *graph.Node, r Resource) time.Duration {
	if waits(n) && r != Host {
		n = n.Arg(0)
	}
	from := resource(n)
	if from == r || n.Opcode() == graph.GetAttr {
		return c.ends[n]
	}
	key, way := arrival{n, r}, Way{from, r}
	t, sent := c.came[key]
	if !sent {
		link := c.m.Links[way]
		starts := max(c.ends[n], c.line[way])
		t = starts + c.m.transfer(n, way)
		c.line[way] = t - link.Latency // the next one follows at once
		c.came[key] = t
	}
	return t
}

// run lets the host come to a node.
func (c *clock) run(n *graph.Node) Span {
	r := resource(n)
	if r != Host {
		c.host += c.m.Issue
	}
	start := c.host
	if r != Host {
		start = max(start, c.free[r])
	}
	ready := start
	for a := range n.Inputs() {
		ready = max(ready, c.at(a, r))
	}
	for _, a := range c.after[n] {
		ready = max(ready, c.ends[a])
	}
	s := Span{n, r, ready, ready}
	if waits(n) {
		s.Start = start
	} else {
		s.End += c.m.cost(n)
	}
	c.ends[n] = s.End
	switch {
	case r == Host:
		c.host = s.End
	default:
		c.free[r] = s.End
		if c.fixed[n] {
			c.host = max(c.host, c.at(n, Host))
		}
	}
	return s
}

func (c *clock) end() time.Duration {
	t := c.host
	for _, f := range c.free {
		t = max(t, f)
	}
	return t
}

// String draws the timeline: a line for each resource, a column for each of 64 equal
// parts of the time, # where it computes for more than half of the part, + for less.
func (t *Timeline) String() string {
	const width = 64
	names := []Resource{}
	for r := range t.Busy {
		names = append(names, r)
	}
	slices.Sort(names)
	pad := 0
	for _, r := range names {
		pad = max(pad, len(r.String()))
	}
	var b strings.Builder
	for _, r := range names {
		var load [width]float64
		for _, s := range t.Spans {
			if s.On == r && !waits(s.Node) {
				fill(load[:], float64(s.Start)/float64(t.Makespan)*width, float64(s.End)/float64(t.Makespan)*width)
			}
		}
		b.WriteString(r.String() + strings.Repeat(" ", pad-len(r.String())+1))
		for _, v := range load {
			switch {
			case v > 0.5:
				b.WriteByte('#')
			case v > 0:
				b.WriteByte('+')
			default:
				b.WriteByte('.')
			}
		}
		b.WriteString(" " + t.Busy[r].String() + "\n")
	}
	b.WriteString("makespan " + t.Makespan.String() + ", critical path " + t.Critical.String() + "\n")
	return b.String()
}

// fill adds to each cell the part of [from, to) that lies in it.
func fill(cells []float64, from, to float64) {
	for i := max(int(from), 0); i < len(cells) && float64(i) < to; i++ {
		cells[i] += math.Min(to, float64(i+1)) - math.Max(from, float64(i))
	}
}
