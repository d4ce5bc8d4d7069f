package graph

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/gofx-dev/gofx/internal/kept"
	"github.com/gofx-dev/gofx/op"
)

// Listener is told what happens to the nodes of a graph and of its regions, after
// each change. Any of the functions may be nil. They may read the graph; what they
// change themselves is told as well.
type Listener struct {
	// Created is called when n is complete: it has operands, type, position.
	Created func(n *Node)
	// Erased is called when n has left the graph; it still knows what it was.
	Erased func(n *Node)
	// Replaced is called once when uses of old have become uses of by (ReplaceUses).
	Replaced func(old, by *Node)
	// Changed is called when n has other operands, another operator, target,
	// attributes, type, name or place. Side data do not count.
	Changed func(n *Node)
}

// Listen lets l hear of changes until stop is called. An Edit that fails tells the
// reverse of what it told before.
func (g *Graph) Listen(l Listener) (stop func()) {
	p := &l
	g.listeners = append(slices.Clip(g.listeners), p)
	return func() {
		g.listeners = slices.DeleteFunc(slices.Clone(g.listeners), func(q *Listener) bool { return q == p })
	}
}

// heard reports whether somebody listens to g or to a graph around it.
func (g *Graph) heard() bool { return len(g.listeners) > 0 || g.parent != nil }

// each calls f for those who listen to g, from the inside outwards.
func (g *Graph) each(f func(l *Listener)) {
	for {
		for _, l := range g.listeners {
			f(l)
		}
		if g.parent == nil {
			return
		}
		g = g.parent.g
	}
}

func (n *Node) created() {
	edited(n.g)
	if n.g.heard() {
		n.g.each(func(l *Listener) {
			if l.Created != nil {
				l.Created(n)
			}
		})
	}
}

func (n *Node) wasErased() {
	edited(n.g)
	if n.g.heard() {
		n.g.each(func(l *Listener) {
			if l.Erased != nil {
				l.Erased(n)
			}
		})
	}
}

func (n *Node) replaced(by *Node) {
	edited(n.g)
	if n.g.heard() {
		n.g.each(func(l *Listener) {
			if l.Replaced != nil {
				l.Replaced(n, by)
			}
		})
	}
}

func (n *Node) changed() {
	edited(n.g)
	if n.g.heard() {
		n.g.each(func(l *Listener) {
			if l.Changed != nil {
				l.Changed(n)
			}
		})
	}
}

// relinked tells of new operands of n, also the graph of a value of another graph,
// whose list of uses has changed; was and is may be nil.
func (n *Node) relinked(was, is *Node) {
	n.changed()
	for _, d := range []*Node{was, is} {
		if d != nil && d.g != n.g {
			d.changed()
		}
	}
}

// Index finds the nodes of a graph by operator, target or name without a walk, and
// stays right while the graph is edited. Nodes of regions are not in it.
type Index struct {
	g     *Graph
	stop  func()
	keys  map[*Node]nodeKey
	ops   map[*op.Op]map[*Node]struct{}
	goals map[goal]map[*Node]struct{}
	names map[string]*Node

	mod     *Module // what leaf modules do is known of this version
	version uint32
}

// nodeKey is under what a node is entered.
type nodeKey struct {
	op   *op.Op
	goal goal
	name string
}

type goal struct {
	opcode Opcode
	target string
}

// NewIndex returns an index of g's nodes, which listens to g until Close.
func NewIndex(g *Graph) *Index {
	x := &Index{g: g, keys: make(map[*Node]nodeKey, g.count), ops: map[*op.Op]map[*Node]struct{}{},
		goals: map[goal]map[*Node]struct{}{}, names: make(map[string]*Node, g.count)}
	for n := range g.Nodes() {
		x.enter(n)
	}
	x.stop = g.Listen(Listener{Created: x.enter, Erased: x.leave, Changed: x.enter})
	return x
}

// Close ends the index.
func (x *Index) Close() { x.stop() }

// Calls returns the nodes that call the operator, however they are spelt, in execution
// order.
func (x *Index) Calls(o *op.Op) []*Node {
	if m := x.g.mod; m != x.mod || m != nil && m.version != x.version { // modules may do something else now
		for n := range x.keys {
			if n.opcode == CallModule {
				x.enter(n)
			}
		}
		if x.mod = m; m != nil {
			x.version = m.version
		}
	}
	return inOrder(x.ops[o])
}

// Targets returns the nodes with that opcode and target, in execution order: reads of a
// parameter, calls of a module.
func (x *Index) Targets(opcode Opcode, target string) []*Node {
	return inOrder(x.goals[goal{opcode, target}])
}

// Named returns the node with that name, nil when there is none.
func (x *Index) Named(name string) *Node { return x.names[name] }

func inOrder(set map[*Node]struct{}) []*Node {
	list := make([]*Node, 0, len(set))
	for n := range set {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b *Node) int { return cmp.Compare(a.order, b.order) })
	return list
}

func (x *Index) enter(n *Node) {
	if n.g != x.g || n.erased {
		return
	}
	now := nodeKey{n.Op(), goal{n.opcode, n.Target()}, n.Name()}
	if was, here := x.keys[n]; here && was == now {
		return
	}
	x.leave(n)
	x.keys[n] = now
	if now.op != nil {
		add(x.ops, now.op, n)
	}
	add(x.goals, now.goal, n)
	x.names[now.name] = n
}

func (x *Index) leave(n *Node) {
	was, here := x.keys[n]
	if !here {
		return
	}
	delete(x.keys, n)
	delete(x.ops[was.op], n)
	delete(x.goals[was.goal], n)
	if x.names[was.name] == n {
		delete(x.names, was.name)
	}
}

func add[K comparable](to map[K]map[*Node]struct{}, k K, n *Node) {
	set := to[k]
	if set == nil {
		set = map[*Node]struct{}{}
		to[k] = set
	}
	set[n] = struct{}{}
}

// Analysis is a question about a graph whose answer is kept: it is computed when somebody
// asks first, and again after the next edit. Make one with NewAnalysis, in a variable of a
// package; it is compared by identity.
type Analysis[T any] struct {
	name string
	of   func(g *Graph) T
}

// NewAnalysis returns the analysis that of computes; the name is for people. of may ask
// other analyses and must change nothing. Answers are shared by all who ask, which may be
// many goroutines at once, so that nobody may change one.
func NewAnalysis[T any](name string, of func(g *Graph) T) *Analysis[T] { return &Analysis[T]{name, of} }

// Name returns the name.
func (a *Analysis[T]) Name() string { return a.name }

// Of returns the answer for g. Any edit of the program that g belongs to ends it: of g, of a
// body in it, of a graph around it, of another graph of its module, of the state, of what leaf
// modules do, of symbols, guards or side data. What changes without a method of this package
// being called (an element of an array, a field of a Param) is not seen. An answer that somebody
// holds stays what it was.
func (a *Analysis[T]) Of(g *Graph) T {
	r := answersOf(g)
	if r == nil {
		kept.Count(a.name)
		return a.of(g)
	}
	v := r.Get(asked{a, g}, a.name, func() stamp { return stampOf(g) }, func() any { return a.of(g) })
	t, _ := v.(T) // not where T is an interface and the answer nil
	return t
}

// asked is the key of an answer.
type asked struct {
	analysis any
	g        *Graph
}

// answers are those about the graphs of one program: those of a module, or a graph
// that has none with its bodies.
type answers struct {
	edits atomic.Uint64 // several goroutines may give side data to nodes
	kept.Store[stamp]
}

// stamp tells two states of a program apart.
type stamp struct {
	edits   uint64
	mod     *Module
	main    *Graph
	version uint32 // of mod
}

// answersOf returns where answers about g are kept, nil where nothing keeps them.
func answersOf(g *Graph) *answers {
	if g = g.root(); g.mod != nil {
		return g.mod.answers
	}
	return g.own
}

func stampOf(g *Graph) stamp {
	r := answersOf(g)
	s := stamp{edits: r.edits.Load()}
	if s.mod = g.root().mod; s.mod != nil {
		s.main, s.version = s.mod.Graph, s.mod.version
	}
	return s
}

// edited ends the answers about the program of g.
func edited(g *Graph) {
	if r := answersOf(g); r != nil {
		r.edits.Add(1)
	}
}
