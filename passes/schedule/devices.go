package schedule

import (
	"slices"
	"strconv"
	"time"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Device is a resource with a memory.
type Device struct {
	On     Resource
	Memory int64 // bytes; 0 is without bound
}

// Fleet is what a graph is placed on.
type Fleet struct {
	Devices []Device
	Sizes   map[string]int // what symbols of the graph are taken to be
}

// Placement says which device runs each call.
type Placement struct {
	where map[string]Resource // by name: passes work on copies
	// Memory is what the nodes of each device take in any order: the state that they read,
	// once, and every value that they make or are given.
	Memory map[Resource]int64
	// Makespan is what ByCost predicts; 0 by size.
	Makespan time.Duration
}

// Where returns the device of a call, for Place.
func (p *Placement) Where(n *graph.Node) Resource { return p.where[n.Name()] }

// BySize fills one device after the other in the order of the graph, so that values go
// forward only. It is an error (FX3061) when the memory does not suffice.
func (f Fleet) BySize(g *graph.Graph) (*Placement, error) {
	p, err := f.placer(g)
	if err != nil {
		return nil, err
	}
	k := 0
	for _, n := range p.calls() {
		for ; k < len(f.Devices) && !p.fits(n, k); k++ {
			if p.used[k] == 0 {
				return nil, p.tooLarge(n, k)
			}
		}
		if k == len(f.Devices) {
			return nil, p.full(n)
		}
		p.put(n, k)
	}
	return p.placement(), nil
}

// maxMoved bounds the calls of graphs in which ByCost moves one after the other.
const maxMoved = 128

// ByCost places calls so that the graph is done early on the machine, by Simulate's clock:
// each call, the one with the longest way to the end first, on the device with room that
// is done with it first (heterogeneous earliest finish time); or all on one device, or by
// size, where that comes out earlier. In a graph of up to 128 calls, calls are then moved
// one by one while that helps. It is an error (FX3061) when the memory does not suffice.
//
// Ref: Topcuoglu, Hariri, Wu: Performance-Effective and Low-Complexity Task Scheduling for
// Heterogeneous Computing, 2002.
func (f Fleet) ByCost(g *graph.Graph, m Machine) (*Placement, error) {
	if _, err := f.placer(g); err != nil {
		return nil, err
	}
	c := newCandidates(g, &m)
	c.try(f.BySize(g))
	for _, d := range f.Devices {
		c.try(Fleet{[]Device{d}, f.Sizes}.BySize(g))
	}
	c.try(f.earliest(g, &m))
	if c.best == nil {
		return nil, c.err
	}
	for helps := c.best.Len() <= maxMoved; helps; {
		before := c.best.Makespan
		for n := range g.Nodes() {
			if _, placed := c.best.where[n.Name()]; !placed {
				continue
			}
			for _, d := range f.Devices {
				if d.On != c.best.Where(n) {
					c.try(f.moved(g, c.best, n, d.On))
				}
			}
		}
		helps = c.best.Makespan < before
	}
	return c.best, nil
}

// Len returns the number of calls that are placed.
func (p *Placement) Len() int { return len(p.where) }

// moved is a placement with one call elsewhere.
func (f Fleet) moved(g *graph.Graph, from *Placement, call *graph.Node, to Resource) (*Placement, error) {
	p, err := f.placer(g)
	if err != nil {
		return nil, err
	}
	for _, n := range p.calls() {
		on := from.Where(n)
		if n == call {
			on = to
		}
		k := slices.IndexFunc(f.Devices, func(d Device) bool { return d.On == on })
		if !p.fits(n, k) {
			return nil, p.full(n)
		}
		p.put(n, k)
	}
	return p.placement(), nil
}

// candidates keeps the placement that is done first, on a copy of the graph.
type candidates struct {
	m     *Machine
	order []*graph.Node
	edges *edges
	best  *Placement
	err   error // of the first that was none
}

func newCandidates(g *graph.Graph, m *Machine) *candidates {
	c, _ := copyOf(g)
	return &candidates{m: m, order: slices.Collect(c.Nodes()), edges: depend(c)}
}

func (c *candidates) try(p *Placement, err error) {
	if err != nil {
		if c.err == nil {
			c.err = err
		}
		return
	}
	for _, n := range c.order {
		assign(n, p.Where(n))
	}
	p.Makespan = simulate(c.order, c.edges, c.m).Makespan
	if c.best == nil || p.Makespan < c.best.Makespan {
		c.best = p
	}
}

// copyOf returns a copy of g and its nodes by g's.
func copyOf(g *graph.Graph) (*graph.Graph, map[*graph.Node]*graph.Node) {
	c := g.Clone()
	if m := g.Module(); m != nil && m.Graph == g {
		c = m.WithGraph(c).Graph // calls of sub-graphs have their effects
	}
	same, at := make(map[*graph.Node]*graph.Node, g.Len()), c.First()
	for n := range g.Nodes() {
		same[n], at = at, at.Next()
	}
	return c, same
}

func assign(n *graph.Node, r Resource) {
	if On.Delete(n); r != Host {
		On.Set(n, r)
	}
}

// placer is a placement that grows.
type placer struct {
	Fleet
	g     *graph.Graph
	bytes map[*graph.Node]int64
	where map[*graph.Node]int
	holds []map[any]bool // values, and paths of the state, by device
	used  []int64
}

func (f Fleet) placer(g *graph.Graph) (*placer, error) {
	if len(f.Devices) == 0 {
		return nil, diag.New(NoPlacement, "there are no devices, expected one or more")
	}
	p := &placer{Fleet: f, g: g, bytes: map[*graph.Node]int64{}, where: map[*graph.Node]int{},
		holds: make([]map[any]bool, len(f.Devices)), used: make([]int64, len(f.Devices))}
	for k := range p.holds {
		p.holds[k] = map[any]bool{}
	}
	env := func(s string) shape.Dim {
		if n, ok := f.Sizes[s]; ok {
			return shape.Const(n)
		}
		return shape.Sym(s)
	}
	var errs diag.List
	listed := map[Resource]bool{}
	for _, d := range f.Devices {
		if listed[d.On] {
			errs.Add(diag.New(NoPlacement, "device "+d.On.String()+" is listed twice, expected each once"))
		}
		listed[d.On] = true
	}
	for n := range g.Nodes() {
		if n.Opcode() == graph.Output {
			continue
		}
		size, known := n.Type().Bind(env).Bytes().Int()
		if !known {
			errs.Add(n.Error(NoPlacement, n.String()+" is "+n.Type().String()+", expected a size in bytes").WithHint("give Sizes for the symbols of the graph"))
		}
		p.bytes[n] = int64(size)
	}
	return p, errs.Err()
}

// calls returns what is placed, in the order of the graph: getitem goes with its call,
// what writes state stays with the host.
func (p *placer) calls() (list []*graph.Node) {
	for n := range p.g.Nodes() {
		if n.Opcode().IsCall() && n.Op() != op.GetItem && n.Op() != op.Assign && !waits(n) {
			list = append(list, n)
		}
	}
	return list
}

// taken yields what a call holds on device k: its result, its operands, and its
// parameters.
func (p *placer) taken(n *graph.Node, k int) func(yield func(any, int64) bool) {
	return func(yield func(any, int64) bool) {
		if !yield(n, p.bytes[n]) {
			return
		}
		for a := range n.Inputs() {
			key := any(a)
			if at, ok := p.where[owner(a)]; ok && at == k {
				key = owner(a) // a member of what is there
			} else if a.Opcode() == graph.GetAttr {
				key = a.Target()
			}
			if !yield(key, p.bytes[a]) {
				return
			}
		}
		if b := n.Bound(); b != nil {
			types := n.OperandTypes()[n.NumArgs():]
			for i, path := range b.Params {
				if size, known := types[i].Bytes().Int(); path != "" && known && !yield(path, int64(size)) {
					return
				}
			}
		}
	}
}

// owner returns the call that makes a value which getitem takes or wait waits for.
func owner(n *graph.Node) *graph.Node {
	for (n.Op() == op.GetItem || waits(n)) && n.Arg(0) != nil {
		n = n.Arg(0)
	}
	return n
}

// adds is what a call would take on device k beyond what is there.
func (p *placer) adds(n *graph.Node, k int) (sum int64) {
	seen := map[any]bool{}
	for key, size := range p.taken(n, k) {
		if !p.holds[k][key] && !seen[key] {
			seen[key] = true
			sum += size
		}
	}
	return sum
}

func (p *placer) fits(n *graph.Node, k int) bool {
	d := p.Devices[k]
	return d.Memory == 0 || p.used[k]+p.adds(n, k) <= d.Memory
}

func (p *placer) put(n *graph.Node, k int) {
	p.used[k] += p.adds(n, k)
	for key := range p.taken(n, k) {
		p.holds[k][key] = true
	}
	p.where[n] = k
}

func (p *placer) placement() *Placement {
	out := &Placement{where: map[string]Resource{}, Memory: map[Resource]int64{}}
	for n, k := range p.where {
		out.where[n.Name()] = p.Devices[k].On
	}
	for k, d := range p.Devices {
		out.Memory[d.On] += p.used[k]
	}
	return out
}

func (p *placer) tooLarge(n *graph.Node, k int) error {
	return n.Error(NoPlacement, n.String()+" takes "+strconv.FormatInt(p.adds(n, k), 10)+" bytes with its operands, device "+
		p.Devices[k].On.String()+" has "+strconv.FormatInt(p.Devices[k].Memory, 10)).
		WithHint("put a larger device first, or cut the call")
}

func (p *placer) full(n *graph.Node) error {
	text := ""
	for k, d := range p.Devices {
		text += ", " + d.On.String() + " " + strconv.FormatInt(p.used[k], 10) + " of " + strconv.FormatInt(d.Memory, 10)
	}
	return n.Error(NoPlacement, n.String()+" finds no room on any device: of their memory is used"+text[1:]).
		WithHint("add a device, or make sizes smaller")
}

// earliest is the list scheduling of ByCost.
func (f Fleet) earliest(g *graph.Graph, m *Machine) (*Placement, error) {
	p, err := f.placer(g)
	if err != nil {
		return nil, err
	}
	s := &earliest{placer: p, m: m, free: make([]time.Duration, len(f.Devices)), ends: map[*graph.Node]time.Duration{}}
	var copied *graph.Graph
	copied, s.same = copyOf(g)
	s.after = depend(copied)
	s.average()
	calls := p.calls()
	slices.SortStableFunc(calls, func(a, b *graph.Node) int { return int(min(max(s.rank[b]-s.rank[a], -1), 1)) })
	for _, n := range calls {
		if err := s.place(n); err != nil {
			return nil, err
		}
	}
	return p.placement(), nil
}

// earliest is a placement by time. Costs are asked of a copy of each node, which says
// where it is to run.
type earliest struct {
	*placer
	m     *Machine
	same  map[*graph.Node]*graph.Node
	after *edges
	cost  map[*graph.Node][]time.Duration
	rank  map[*graph.Node]time.Duration // the longest way from the start of a node to the end
	free  []time.Duration
	ends  map[*graph.Node]time.Duration
}

// average finds ranks, over the mean cost of a node and the mean time on its way.
func (s *earliest) average() {
	s.cost, s.rank = map[*graph.Node][]time.Duration{}, map[*graph.Node]time.Duration{}
	mean := map[*graph.Node]time.Duration{}
	for _, n := range s.calls() {
		costs := make([]time.Duration, len(s.Devices))
		for k, d := range s.Devices {
			assign(s.same[n], d.On)
			costs[k] = s.m.cost(s.same[n])
			mean[n] += costs[k] / time.Duration(len(costs))
		}
		s.cost[n] = costs
	}
	back := make(map[*graph.Node]*graph.Node, len(s.same))
	for n, c := range s.same {
		back[c] = n
	}
	for n := range s.g.Backward() {
		way := time.Duration(0)
		if n.Opcode().IsCall() {
			way = s.way(n)
		}
		for u := range n.Users() {
			s.rank[n] = max(s.rank[n], s.rank[u]+way)
		}
		s.rank[n] += mean[n]
		for _, a := range s.after.after[s.same[n]] {
			s.rank[back[a]] = max(s.rank[back[a]], s.rank[n])
		}
	}
}

// way is the mean time of n's value between two devices.
func (s *earliest) way(n *graph.Node) (sum time.Duration) {
	pairs := 0
	for _, a := range s.Devices {
		for _, b := range s.Devices {
			if a.On != b.On {
				sum += s.m.transfer(n, Way{a.On, b.On})
				pairs++
			}
		}
	}
	return sum / time.Duration(max(pairs, 1))
}

// place puts a call on the device that is done with it first.
func (s *earliest) place(n *graph.Node) error {
	best, end := -1, time.Duration(0)
	for k := range s.Devices {
		if !s.fits(n, k) {
			continue
		}
		if t := max(s.free[k], s.ready(n, k)) + s.cost[n][k]; best < 0 || t < end {
			best, end = k, t
		}
	}
	if best < 0 {
		return s.full(n)
	}
	s.put(n, best)
	s.free[best], s.ends[n] = end, end
	return nil
}

// ready is when the operands of a call have come to a device.
func (s *earliest) ready(n *graph.Node, k int) (t time.Duration) {
	for a := range n.Inputs() {
		from, by := Host, owner(a)
		if at, ok := s.where[by]; ok {
			from = s.Devices[at].On
		}
		come := s.ends[by]
		if to := s.Devices[k].On; from != to && a.Opcode() != graph.GetAttr {
			come += s.m.transfer(a, Way{from, to})
		}
		t = max(t, come)
	}
	return t
}
