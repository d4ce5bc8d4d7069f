package graph

import (
	"slices"

	"github.com/gofx-dev/gofx/op"
)

// state returns the nodes whose order counts: those that act on the world or write
// state, and those that read what any node of the module writes, themselves or in what
// they run.
func (g *Graph) state() (list []*Node) {
	written := map[string]bool{}
	all := g.root().All()
	if g.mod != nil {
		all = g.mod.All()
	}
	for n := range all {
		n.writesState(written)
	}
	for n := range g.Nodes() {
		if n.acts() || len(written) > 0 && n.reads(written) {
			list = append(list, n)
		}
	}
	return list
}

// acts reports whether a call acts on the world or writes state; control flow and calls
// of sub-graphs do so when what they run does. What is not known acts.
func (n *Node) acts() bool {
	if !n.onlyRuns() {
		return n.effectful()
	}
	for m := range n.Inner() {
		if !m.onlyRuns() && m.effectful() {
			return true
		}
	}
	return false
}

// onlyRuns reports whether all effects of a node are those of what it runs.
func (n *Node) onlyRuns() bool {
	o := n.Op()
	return o != nil && o.Structural() && len(o.Mutates) == 0 && len(n.Bodies()) > 0
}

// reads reports whether a node, or what it runs, reads tensors of the state that are
// among those written; nil stands for all of them. A getitem node reads nothing, whatever the
// values in its tuple lie in: it stays with the call that it takes apart.
func (n *Node) reads(written map[string]bool) bool {
	if n.Op() == op.GetItem {
		return false
	}
	if n.readsItself(written) {
		return true
	}
	for i := range n.args {
		if d := n.args[i].def; d.InState(written) || written == nil && d.Memory().anywhere() {
			return true
		}
	}
	for m := range n.Inner() {
		if m.readsItself(written) {
			return true
		}
	}
	return false
}

func (n *Node) readsItself(written map[string]bool) bool {
	hit := func(path string) bool { return path != "" && (written == nil || written[path]) }
	if n.opcode == GetAttr {
		return hit(n.target)
	}
	for i := range n.args {
		if d := n.args[i].def.Memory(); d != nil && d.opcode == GetAttr && hit(d.target) {
			return true
		}
	}
	b := n.Bound()
	return b != nil && slices.ContainsFunc(b.Params, hit)
}

// Memory returns the node whose memory n's value may share: what it is a view of,
// directly or through other views, for a call of assign the state, else n itself.
func (n *Node) Memory() *Node {
	if n == nil {
		return nil
	}
	for range n.g.count { // a broken graph may go round
		o, k := n.Op(), -1
		if o == op.Assign {
			k = 0
		} else if o != nil {
			k = o.ViewOf - 1
		}
		d := n.Arg(k)
		if d == nil {
			return n
		}
		n = d
	}
	return n
}

// Copies are the values that engines copy where they go into the bodies of control flow
// or come out of them. An operand is what it was when the node began, a result what it
// was when the body ended, whatever is written to the state meanwhile and later; a view
// of the state would not be. An engine whose results of control flow always have memory
// of their own heeds Taken alone.
type Copies struct {
	Taken   []bool   // operands: the bodies write to the state that they may lie in
	Through []bool   // carried operands, which a loop of no rounds returns
	Out     [][]bool // results, by region
}

// Copies returns what engines copy for a call of control flow. What may lie in the state
// but cannot be told, an input of a sub-graph for one, is copied.
func (n *Node) Copies() Copies {
	regions := n.Regions()
	c := Copies{Taken: make([]bool, len(n.args)), Through: make([]bool, len(n.args)), Out: make([][]bool, len(regions))}
	if n.g.mod == nil || len(n.g.mod.writes()) == 0 {
		return c
	}
	own := n.Writes()
	for i := range n.args {
		d := n.args[i].def
		c.Taken[i] = d.InState(own)
		if a, ok := n.attrs.(op.LoopAttrs); ok && i < a.Carry {
			c.Through[i] = d.InState(n.writtenBehind(i))
		}
	}
	for r, g := range regions {
		if g.Output() == nil || n.op == op.While && r == 0 {
			continue
		}
		for i, d := range g.Output().Args() {
			c.Out[r] = append(c.Out[r], d.InState(n.writtenBehind(i)))
		}
	}
	return c
}

// writtenBehind returns the paths of the state that may be written, to another value
// than result i of n, when n has run.
func (n *Node) writtenBehind(i int) map[string]bool {
	written, main := map[string]bool{}, n.g == n.g.mod.Graph
	for m := range n.g.mod.All() {
		if main && m.g == n.g {
			if m.Precedes(n) || m.op == op.Assign && m.Arg(1).isResult(n, i) {
				continue
			}
		}
		m.writesState(written)
	}
	return written
}

// isResult reports whether n is result i of a call: a member of its tuple, or itself.
func (n *Node) isResult(call *Node, i int) bool {
	if n == nil || n == call {
		return n != nil
	}
	a, ok := n.attrs.(op.GetItemAttrs)
	return ok && n.op == op.GetItem && a.Index == i && n.Arg(0) == call
}

// Writes returns the paths of the state that n writes, itself or in what it runs.
func (n *Node) Writes() map[string]bool {
	written := map[string]bool{}
	n.writesState(written)
	for m := range n.Inner() {
		m.writesState(written)
	}
	return written
}

// writesState adds the paths that a node writes by itself.
func (n *Node) writesState(written map[string]bool) {
	o := n.Op()
	if o == nil {
		return
	}
	for _, i := range o.Mutates {
		if d := n.Arg(i).Memory(); d != nil && d.opcode == GetAttr {
			written[d.target] = true
		} else if b := n.Bound(); b != nil && i >= len(n.args) && i < len(n.args)+len(b.Params) {
			written[b.Params[i-len(n.args)]] = true
		}
	}
}

// InState reports whether a value may lie in the memory of one of the tensors written,
// given by path, and so changes when these are. Inputs of sub-graphs and results of calls
// of them may lie in any.
func (n *Node) InState(written map[string]bool) bool {
	for len(written) > 0 && n != nil {
		d := n.Memory()
		switch {
		case d.opcode == GetAttr:
			return written[d.target]
		case d.anywhere():
			return true
		case d.opcode != Placeholder || d.g.parent == nil:
			return false
		}
		at := slices.Index(d.g.Inputs(), d)
		if d.g.parent.op == op.Cond {
			at++
		}
		n = d.g.parent.Arg(at)
	}
	return false
}

// anywhere reports whether a value may lie in the memory of any tensor of the state,
// which the caller of a sub-graph knows, or the sub-graph.
func (n *Node) anywhere() bool {
	if n == nil || n.Op() == op.Call {
		return n != nil
	}
	return n.opcode == Placeholder && n.g.parent == nil && n.g.mod != nil && n.g != n.g.mod.Graph
}
