package shard

import (
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
)

// Kind is what partitions do together.
type Kind string

// The exchanges.
const (
	AllReduce     Kind = "all-reduce"     // all combine their values
	ReduceScatter Kind = "reduce-scatter" // all combine their values, and each keeps a part
	AllGather     Kind = "all-gather"     // each gets the parts of all
	AllToAll      Kind = "all-to-all"     // another dimension is cut
)

// Exchange is what the partitions along one axis exchange for a call.
type Exchange struct {
	Kind Kind
	Axis string
	// Node and Op are the call that the exchange is for, as the author wrote it; Pos is its line.
	Node, Op string
	Pos      diag.Pos
	What     string // the operand's name, or "result"
	// Call is the node of the plan's graph that it is for: of its operand In, or of its result
	// Out, -1 for the other. Dim is the dimension that is gathered or, of ReduceScatter, cut;
	// AllToAll gathers Dim and cuts To.
	Call    *graph.Node
	In, Out int
	Dim, To int
	Combine string // of reductions: sum, prod, mean, max or min
	// Bytes are those that each partition sends, by rings.
	Bytes int64
}

// laying is the state of one tensor on its way from one layout to another.
type laying struct {
	p     *propagation
	c     *call
	t     *tensor
	what  string
	in    int
	out   int
	split []int
	list  []Exchange
}

// add appends an exchange along an axis.
func (l *laying) add(axis int, e Exchange) {
	s := lowering.SourceOf(l.c.node)
	e.Axis, e.Node, e.Op, e.Pos = l.p.layout.Mesh[axis].Name, s.Node, s.Op, l.c.node.Pos()
	e.What, e.Call, e.In, e.Out = l.what, l.c.node, l.in, l.out
	l.list = append(l.list, e)
}

// bytes are those of the tensor as it lies now.
func (l *laying) bytes() int64 { return l.t.bytes(l.p.layout.Mesh, l.split) }

// combine makes the values of parts along an axis the whole's; where the tensor is to be cut
// along that axis, each keeps its part only.
func (l *laying) combine(axis int, how string, want []int) {
	n := int64(l.p.layout.Mesh[axis].Size)
	if n == 1 {
		return
	}
	if d := slices.Index(want, axis); d >= 0 && l.split[d] < 0 {
		l.add(axis, Exchange{Kind: ReduceScatter, Combine: how, Dim: d, Bytes: l.bytes() * (n - 1) / n})
		l.split[d] = axis
		return
	}
	l.add(axis, Exchange{Kind: AllReduce, Combine: how, Bytes: 2 * l.bytes() * (n - 1) / n})
}

// to brings the tensor into a layout. Taking a part of what a partition has costs nothing.
func (l *laying) to(want []int) {
	for d, k := range want { // parts first: what is exchanged then is less
		if k >= 0 && l.split[d] < 0 && !slices.Contains(l.split, k) {
			l.split[d] = k
		}
	}
	for d, k := range l.split {
		if k < 0 || k == want[d] {
			continue
		}
		n := int64(l.p.layout.Mesh[k].Size)
		if other := slices.Index(want, k); other >= 0 && l.split[other] < 0 {
			if n > 1 {
				l.add(k, Exchange{Kind: AllToAll, Dim: d, To: other, Bytes: l.bytes() * (n - 1) / n})
			}
			l.split[d], l.split[other] = -1, k
			continue
		}
		if n > 1 {
			l.add(k, Exchange{Kind: AllGather, Dim: d, Bytes: l.bytes() * (n - 1)})
		}
		l.split[d] = -1
	}
	for d, k := range want {
		if k >= 0 && l.split[d] < 0 {
			l.split[d] = k
		}
	}
}

// brought lists what brings weights from where they lie to where they are used, each once.
func (p *propagation) brought() (list []Exchange) {
	known := map[string]bool{}
	for n := range p.module.Graph.Nodes() {
		if n.Opcode() != graph.GetAttr || p.stored[n.Target()] == nil {
			continue
		}
		used := p.weights[n.Target()]
		Laid.Set(n, []Split{used.text(p.layout.Mesh)})
		if known[n.Target()] {
			continue
		}
		known[n.Target()] = true
		l := &laying{p: p, c: &call{node: n}, t: used, what: "weight", in: -1, split: slices.Clone(p.stored[n.Target()].split)}
		l.to(used.split)
		list = append(list, l.list...)
	}
	return list
}

// gathered is a tensor in a layout that calls need it in; it is brought there once.
type gathered struct {
	t     *tensor
	split string
}

// exchanges lists what the call needs, by the axes along which its cuts are computed.
func (p *propagation) exchanges(c *call, axes []int, done map[gathered]bool) (list []Exchange) {
	for i, t := range c.in {
		if t == nil {
			continue
		}
		want := wanted(c, axes, len(t.dims), func(cut *kernel.Cut) int { return cut.In[i] })
		l := &laying{p: p, c: c, t: t, what: c.what(i), in: i, out: -1, split: slices.Clone(t.split)}
		l.to(want)
		key := gathered{t, Split(t.at(p.layout.Mesh, want)).String()}
		if !done[key] {
			done[key] = true
			list = append(list, l.list...)
		}
	}
	for i, t := range c.out {
		l := p.made(c, i, axes)
		l.to(t.split)
		list = append(list, l.list...)
	}
	return list
}

// made is a result as it is once parts of sums are combined.
func (p *propagation) made(c *call, i int, axes []int) *laying {
	t := c.out[i]
	l := &laying{p: p, c: c, t: t, what: "result", in: -1, out: i, split: wanted(c, axes, len(t.dims), func(cut *kernel.Cut) int { return cut.Out[i] })}
	for j := range c.cuts {
		if axes[j] >= 0 && c.cuts[j].Out[i] == kernel.Whole {
			l.combine(axes[j], c.cuts[j].Combine, t.split)
		}
	}
	return l
}

// what names an operand for people.
func (c *call) what(i int) string {
	if len(c.node.Op().In) == 0 {
		return "operand"
	}
	return c.operand(i)
}

// wanted returns the layout in which the call, computed along axes, has one of its tensors.
func wanted(c *call, axes []int, rank int, dim func(cut *kernel.Cut) int) []int {
	split := make([]int, rank)
	for d := range split {
		split[d] = -1
	}
	for j := range c.cuts {
		if d := dim(&c.cuts[j]); d >= 0 && axes[j] >= 0 {
			split[d] = axes[j]
		}
	}
	return split
}
