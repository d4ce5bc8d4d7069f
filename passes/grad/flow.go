package grad

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// flow is a call of cond, while or scan. Operand i is input i-skip of its regions. The
// first carry results of a loop are its operands of the next round.
type flow struct {
	*graph.Node
	skip, carry, seqs int
	bodies            []*graph.Graph // the regions that give the results
}

// flowOf returns nil for other nodes.
func flowOf(n *graph.Node) *flow {
	if len(n.Regions()) == 0 || n.CheckControl() != nil {
		return nil
	}
	f := &flow{Node: n, bodies: n.Regions()}
	if n.Op() == op.Cond {
		f.skip = 1
		return f
	}
	a := n.Attrs().(op.LoopAttrs)
	f.carry, f.seqs, f.bodies = a.Carry, a.Seqs, f.bodies[len(f.bodies)-1:]
	return f
}

// sequence reports whether operand i is one that a scan takes slices of.
func (f *flow) sequence(i int) bool { return i >= f.carry && i < f.carry+f.seqs }

// item is a result of a call of control flow.
type item struct {
	n *graph.Node
	i int
}

// activity finds the nodes of a graph that lie between some of its nodes and others,
// those in regions included, and which results of control flow do. A call of control
// flow that has one result and gives it bare counts as its item 0.
type activity struct {
	from, to         map[*graph.Node]bool
	fromItem, toItem map[item]bool
}

func newActivity() *activity {
	return &activity{from: map[*graph.Node]bool{}, to: map[*graph.Node]bool{}, fromItem: map[item]bool{}, toItem: map[item]bool{}}
}

// itemOf returns the result of control flow that a node is.
func itemOf(n *graph.Node) (it item, ok bool) {
	if n.Op() == op.GetItem {
		if of := n.Arg(0); of != nil && len(of.Regions()) > 0 {
			return item{of, n.Attrs().(op.GetItemAttrs).Index}, true
		}
	}
	return item{n, 0}, len(n.Regions()) > 0 && n.Type().Kind() != shape.Tuple
}

// forward marks what depends on the marked nodes by way of floats.
func (a *activity) forward(g *graph.Graph) {
	for n := range g.Nodes() {
		if !n.Opcode().IsCall() || !mayBeFloat(n.Type()) || n.Op() != nil && n.Op().StopsGrad() {
			continue
		}
		if f := flowOf(n); f != nil {
			a.forwardFlow(f)
			continue
		}
		if it, ok := itemOf(n); ok {
			a.from[n] = a.from[n] || a.fromItem[it]
			continue
		}
		for d := range n.Inputs() {
			a.from[n] = a.from[n] || a.from[d]
		}
	}
}

func (a *activity) forwardFlow(f *flow) {
	for again := true; again; {
		again = false
		for _, r := range f.bodies {
			in := r.Inputs()
			for i, p := range in {
				a.from[p] = a.from[p] || a.from[f.Arg(i+f.skip)] && mayBeFloat(p.Type())
			}
			a.forward(r)
			for i, v := range r.Output().Args() {
				yes := a.from[v]
				if i < f.carry {
					again = again || yes && !a.from[in[i]]
					a.from[in[i]] = a.from[in[i]] || yes
					yes = a.from[in[i]]
				}
				if yes {
					a.fromItem[item{f.Node, i}], a.from[f.Node] = true, true
				}
			}
		}
	}
}

// backward marks what the marked nodes depend on.
func (a *activity) backward(g *graph.Graph) {
	for n := range g.Backward() {
		if !a.to[n] || !a.from[n] || !n.Opcode().IsCall() {
			continue
		}
		it, ok := itemOf(n)
		if ok {
			a.toItem[it] = true
			a.to[it.n] = true
		}
		if f := flowOf(n); f != nil {
			a.backwardFlow(f)
			continue
		}
		for d := range n.Inputs() {
			a.to[d] = true
		}
	}
}

func (a *activity) backwardFlow(f *flow) {
	for again := true; again; {
		again = false
		for _, r := range f.bodies {
			in, out := r.Inputs(), r.Output().Args()
			for i, v := range out {
				if !a.toItem[item{f.Node, i}] {
					continue
				}
				a.to[v] = true
				if i < f.carry { // where no round runs
					a.to[in[i]] = true
				}
			}
			a.backward(r)
			for i := range f.carry {
				again = again || a.depends(in[i]) && !a.to[out[i]]
				a.to[out[i]] = a.to[out[i]] || a.depends(in[i])
			}
			for i, p := range in {
				a.to[f.Arg(i+f.skip)] = a.to[f.Arg(i+f.skip)] || a.depends(p)
			}
		}
	}
}

func (a *activity) depends(n *graph.Node) bool { return a.from[n] && a.to[n] }

// mayBeFloat tells whether a value may have a gradient.
func mayBeFloat(t shape.Type) bool {
	yes, known := isFloat(t)
	return yes || !known
}
