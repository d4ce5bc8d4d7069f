package graph

import (
	"iter"
	"slices"

	"github.com/gofx-dev/gofx/op"
)

// This file alone says what nodes do to memory and to the world. Operators declare it
// (op.Spec: Effect, Mutates, ViewOf); here it is put together over views, bodies, sub-graphs
// and leaf modules. What one node does is asked of the node (Effect, Reads, Writes, Place),
// what follows from all that a program writes of Effects.

// Effect returns what may be done with a node: op.Effectful ones act on the world or write
// memory and stay where they are, op.Random ones may be removed when unused but not merged,
// op.Pure ones may be merged. Control flow has the effect of its bodies, a call of a sub-graph
// that of the sub-graph. A call of which nothing is known is effectful.
func (n *Node) Effect() op.Effect {
	if !n.onlyRuns() {
		return ownEffect(n)
	}
	worst := op.Pure
	for m := range n.Inner() {
		if !m.onlyRuns() {
			worst = max(worst, ownEffect(m))
		}
	}
	return worst
}

// Removable reports whether the node may be erased when nothing uses it.
func (n *Node) Removable() bool {
	return n.opcode != Placeholder && n.opcode != Output && n.Effect() != op.Effectful
}

func (n *Node) acts() bool { return n.Effect() == op.Effectful }

func ownEffect(n *Node) op.Effect {
	if !n.opcode.IsCall() {
		return op.Pure
	}
	o := n.Op()
	if o == nil || len(o.Mutates) > 0 {
		return op.Effectful
	}
	return o.Effect
}

// onlyRuns reports whether all effects of a node are those of what it runs.
func (n *Node) onlyRuns() bool {
	o := n.Op()
	return o != nil && o.Structural() && len(o.Mutates) == 0 && len(n.Bodies()) > 0
}

// Viewed returns the operand whose memory the results of a call may show, nil where they
// have memory of their own.
func (n *Node) Viewed() *Node {
	o := n.Op()
	if o == nil {
		return nil
	}
	return n.Arg(o.ViewOf - 1)
}

// Memory returns the node whose memory n's value may share: what it is a view of,
// directly or through other views, for a call of assign the state, else n itself.
func (n *Node) Memory() *Node {
	if n == nil {
		return nil
	}
	for range n.g.count { // a broken graph may go round
		d := n.Viewed()
		if n.Op() == op.Assign {
			d = n.Arg(0)
		}
		if d == nil {
			return n
		}
		n = d
	}
	return n
}

// Place is memory: a tensor of the state, by its path, else what a call has made or an input
// of the program was given, by its node. The zero Place may be any memory: that of an input of
// a sub-graph, which its callers know, and of what a call of one returns.
type Place struct {
	Path string
	Node *Node
}

// String names the memory for messages.
func (p Place) String() string {
	switch {
	case p.Path != "":
		return p.Path
	case p.Node != nil:
		return p.Node.String()
	}
	return "memory that the graph does not tell"
}

// Overlaps reports whether two places may be the same memory.
func (p Place) Overlaps(q Place) bool { return p == q || p == Place{} || q == Place{} }

// Place returns the memory that n's value lies in. An input of a body lies where the operand
// does that it stands for.
func (n *Node) Place() Place {
	for n != nil {
		d := n.Memory()
		switch {
		case d.opcode == GetAttr:
			return Place{Path: d.target}
		case d.opcode == CallModule && d.Op() != nil && d.Op().ViewOf > 0:
			return Place{Path: boundParam(d, d.Op().ViewOf-1)}
		case d.Op() == op.Call:
			return Place{}
		case d.opcode != Placeholder || d.g.parent == nil && !isSub(d.g):
			return Place{Node: d}
		}
		n = stands(d)
	}
	return Place{}
}

// isSub reports whether g is a sub-graph of its module.
func isSub(g *Graph) bool { return g.parent == nil && g.mod != nil && g != g.mod.Graph }

// stands returns the operand that an input of a body stands for, nil for other inputs.
func stands(n *Node) *Node {
	by := n.g.parent
	if by == nil {
		return nil
	}
	at := slices.Index(n.g.Inputs(), n)
	if by.op == op.Cond {
		at++
	}
	return by.Arg(at)
}

// boundParam returns the path of the parameter that is operand i of a call of a leaf module,
// "" where that is none.
func boundParam(n *Node, i int) string {
	if b := n.Bound(); b != nil && i >= len(n.args) && i < len(n.args)+len(b.Params) {
		return b.Params[i-len(n.args)]
	}
	return ""
}

// Reads yields the memory that a node reads, itself or in what it runs: of its operands, the
// state that a get_attr or a leaf module reads, and so on inside of it. A view counts as a
// read of what it shows. A getitem node reads nothing, whatever the values in its tuple lie
// in: it stays with the call that it takes apart.
func (n *Node) Reads() iter.Seq[Place] {
	return func(yield func(Place) bool) {
		if n.Op() == op.GetItem || !readsState(n, yield) {
			return
		}
		for i := range n.args {
			if d := n.args[i].def; d != nil && !yield(d.Place()) {
				return
			}
		}
		// What is inside reads operands of n, tensors of the state, and what it makes.
		for m := range n.Inner() {
			if !readsState(m, yield) {
				return
			}
		}
	}
}

// readsState yields the tensors of the state that a node reads by itself.
func readsState(n *Node, yield func(Place) bool) bool {
	if n.opcode == GetAttr {
		return yield(Place{Path: n.target})
	}
	if b := n.Bound(); b != nil {
		for _, path := range b.Params {
			if path != "" && !yield(Place{Path: path}) {
				return false
			}
		}
	}
	return true
}

// Writes yields the memory that a node may write, itself or in what it runs, as far as
// operators declare it. A Go function of which nothing is known is said to write nothing: it
// acts, and stays between the nodes that it is between.
func (n *Node) Writes() iter.Seq[Place] {
	return func(yield func(Place) bool) {
		w := &places{}
		w.written(n)
		for m := range n.Inner() {
			w.written(m)
		}
		for _, p := range w.list {
			if !yield(p) {
				return
			}
		}
	}
}

// places is a set of places, in the order in which they were found.
type places struct {
	list []Place
	in   map[Place]bool
}

func (w *places) add(p Place) {
	if w.in[p] {
		return
	}
	if w.in == nil {
		w.in = map[Place]bool{}
	}
	w.in[p] = true
	w.list = append(w.list, p)
}

// overlap reports whether one of the places may be p.
func (w *places) overlap(p Place) bool {
	return len(w.list) > 0 && (w.in[p] || w.in[Place{}] || p == Place{})
}

// written adds what a node writes by itself.
func (w *places) written(n *Node) {
	o := n.Op()
	if o == nil {
		return
	}
	for _, i := range o.Mutates {
		if d := n.Arg(i); d != nil {
			w.owners(d, map[*Node]bool{})
		} else if path := boundParam(n, i); path != "" {
			w.add(Place{Path: path})
		}
	}
}

// owners adds all memory that a value may lie in which is written: what a loop carries is in
// its first round the operand and then what the body returns, a result of control flow is what
// a body returns.
func (w *places) owners(n *Node, seen map[*Node]bool) {
	d := n.Memory()
	if d == nil || seen[d] {
		return
	}
	seen[d] = true
	if d.opcode != Placeholder || d.g.parent == nil {
		w.add(d.Place())
		for _, r := range d.Regions() {
			if out := r.Output(); out != nil {
				for _, a := range out.Args() {
					w.owners(a, seen)
				}
			}
		}
		return
	}
	w.owners(stands(d), seen)
	by := d.g.parent
	if a, ok := by.attrs.(op.LoopAttrs); ok {
		if i, body := slices.Index(d.g.Inputs(), d), by.Regions()[len(by.Regions())-1]; i < a.Carry && body.Output() != nil {
			w.owners(body.Output().Arg(i), seen)
		}
	}
}

// Effects says what follows for the nodes of a program from all that it writes. A program is
// a module with its graph and sub-graphs, or a graph that has no module; bodies belong to the
// graphs around them. It does not see later edits.
type Effects struct{ written places }

var effects = NewAnalysis("effects", func(g *Graph) *Effects {
	e := &Effects{}
	all := g.All()
	if g.mod != nil {
		all = g.mod.All()
	}
	for n := range all {
		e.written.written(n)
	}
	return e
})

// EffectsOf returns the effects of the program that g belongs to. They are kept until an edit.
func EffectsOf(g *Graph) *Effects {
	if g = g.root(); g.mod != nil && g.mod.Graph != nil {
		g = g.mod.Graph
	}
	return effects.Of(g)
}

// Writes reports whether the program writes any memory.
func (e *Effects) Writes() bool { return len(e.written.list) > 0 }

// Paths returns the tensors of the state that the program writes, sorted.
func (e *Effects) Paths() (list []string) {
	for _, p := range e.written.list {
		if p.Path != "" {
			list = append(list, p.Path)
		}
	}
	slices.Sort(list)
	return list
}

// Written reports whether the program may write a place: whether reads of it on two sides of
// a call may give two values.
func (e *Effects) Written(p Place) bool { return e.written.overlap(p) }

// WrittenState is Written of the tensor of the state at path.
func (e *Effects) WrittenState(path string) bool { return e.written.overlap(Place{Path: path}) }

// Overwritten reports whether what n's value is may change after n: it lies in memory that
// the program may write. A read of it must not move over the write.
func (e *Effects) Overwritten(n *Node) bool { return e.written.hold(n) }

// Repeatable reports whether n may be computed twice, or once for two that are alike: it has
// no effect, is not random, and what it makes is not written. What n reads may be written in
// between; see Reads.
func (e *Effects) Repeatable(n *Node) bool {
	switch n.opcode {
	case GetAttr:
		return true
	case Placeholder, Output:
		return false
	}
	return n.Effect() == op.Pure && !e.written.overlap(Place{Node: n})
}

// Conflict reports whether two nodes of a graph must keep the order that they have: one acts,
// and the other acts, too, or reads what the program writes. Operands and sizes are not
// looked at; Graph.Bonds has the sizes.
func (e *Effects) Conflict(a, b *Node) bool {
	return a.acts() && e.Ordered(b) || b.acts() && e.Ordered(a)
}

// Ordered reports whether the order of n counts: it acts, or reads what the program writes.
func (e *Effects) Ordered(n *Node) bool { return n.acts() || e.ReadsWritten(n) }

// ReadsWritten reports whether n reads memory that the program may write, itself or in what it
// runs: what it gives depends on the writes before it.
func (e *Effects) ReadsWritten(n *Node) bool {
	if !e.Writes() {
		return false
	}
	for p := range n.Reads() {
		if e.written.overlap(p) {
			return true
		}
	}
	return false
}

// orderedNodes returns the nodes of g whose order counts.
func orderedNodes(g *Graph) (list []*Node) {
	e := EffectsOf(g)
	for n := range g.Nodes() {
		if e.Ordered(n) {
			list = append(list, n)
		}
	}
	return list
}

// orderedAlone returns the nodes of a graph whose order counts for what it computes by itself: those
// that act, those that read what it writes, and the output.
func orderedAlone(g *Graph) (list []*Node) {
	e := &Effects{}
	for n := range runs(g) {
		e.written.written(n)
	}
	for n := range g.Nodes() {
		if n.opcode == Output || e.Ordered(n) {
			list = append(list, n)
		}
	}
	return list
}

// runs yields the nodes of g and what they run.
func runs(g *Graph) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for n := range g.Nodes() {
			if !yield(n) {
				return
			}
			for m := range n.Inner() {
				if !yield(m) {
					return
				}
			}
		}
	}
}

// writtenPaths returns the paths of the tensors that nodes of g, or of what they run, write.
func writtenPaths(g *Graph) map[string]bool {
	w := &places{}
	for n := range runs(g) {
		w.written(n)
	}
	paths := map[string]bool{}
	for _, p := range w.list {
		if p.Path != "" {
			paths[p.Path] = true
		}
	}
	return paths
}

// hold reports whether a value may lie in one of the places.
func (w *places) hold(n *Node) bool { return n != nil && len(w.list) > 0 && w.overlap(n.Place()) }

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
	if n.g.mod == nil || !EffectsOf(n.g).Writes() {
		return c
	}
	own := &places{}
	for m := range n.Inner() {
		own.reached(m)
	}
	for i := range n.args {
		d := n.args[i].def
		c.Taken[i] = own.hold(d)
		if a, ok := n.attrs.(op.LoopAttrs); ok && i < a.Carry {
			c.Through[i] = n.writtenBehind(i).hold(d)
		}
	}
	for r, g := range regions {
		if g.Output() == nil || n.op == op.While && r == 0 {
			continue
		}
		for i, d := range g.Output().Args() {
			c.Out[r] = append(c.Out[r], n.writtenBehind(i).hold(d))
		}
	}
	return c
}

// reached adds the state that a node of a body writes other than through what the body is
// given: a body may write that, too, for its caller to see.
func (w *places) reached(n *Node) {
	o := n.Op()
	for i := 0; o != nil && i < len(o.Mutates); i++ {
		if d := n.Arg(o.Mutates[i]).Memory(); d == nil || d.opcode == GetAttr {
			w.written(n)
		}
	}
}

// writtenBehind returns what may be written, other than with result i of n, when n has run.
func (n *Node) writtenBehind(i int) *places {
	w, main := &places{}, n.g == n.g.mod.Graph
	for m := range n.g.mod.All() {
		if main && m.g == n.g {
			if m.Precedes(n) || m.op == op.Assign && m.Arg(1).isResult(n, i) {
				continue
			}
		}
		w.written(m)
	}
	return w
}

// isResult reports whether n is result i of a call: a member of its tuple, or itself.
func (n *Node) isResult(call *Node, i int) bool {
	if n == nil || n == call {
		return n != nil
	}
	a, ok := n.attrs.(op.GetItemAttrs)
	return ok && n.op == op.GetItem && a.Index == i && n.Arg(0) == call
}
