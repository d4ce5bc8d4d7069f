package graph

import (
	"cmp"
	"slices"

	"github.com/gofx-dev/gofx/diag"
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

// Linter checks a graph again and again while it is edited: each time it looks at what
// has changed, and it finds what Lint finds. Changes of symbols and guards, and of the
// module's tensors and leaves, let it look at all nodes once; sub-graphs, and calls of
// them, are looked at each time. It sees what is done through methods; what is written
// to a Param, a Bound or a Structure that the graph holds needs Forget.
type Linter struct {
	g       *Graph
	stop    func()
	dirty   map[*Node]struct{}
	faults  map[*Node]diag.List // of nodes that have some
	regions map[*Node]uint32    // nodes with regions, and how often the facts of these have changed
	all     bool                // all nodes are to be looked at

	inputs, outputs  int // nodes of these opcodes
	twins            bool
	symbols, version uint32 // of symbols and module when last looked at
	module           *Module
}

// NewLinter returns a linter of g, which listens to it until Close.
func NewLinter(g *Graph) *Linter {
	l := &Linter{g: g}
	l.Forget()
	l.stop = g.Listen(Listener{
		Created: func(n *Node) { l.count(n, 1); l.mark(n) },
		Erased:  func(n *Node) { l.count(n, -1); l.mark(n) },
		Changed: l.mark,
	})
	return l
}

// Close ends the linter.
func (l *Linter) Close() { l.stop() }

// Forget lets the next Check look at the whole graph.
func (l *Linter) Forget() { l.all = true }

// count keeps what is known of a node that has come or gone.
func (l *Linter) count(n *Node, by int) {
	if n.g != l.g {
		return
	}
	switch n.opcode {
	case Placeholder:
		l.inputs += by
	case Output:
		l.outputs += by
	}
	if n.extra != nil && len(n.extra.regions) > 0 {
		if by > 0 {
			l.regions[n] = n.factsInside()
		} else {
			delete(l.regions, n)
		}
	}
}

// mark notes that a node, and what is computed from it, is to be looked at.
func (l *Linter) mark(n *Node) {
	if l.all {
		return
	}
	for n.g != l.g { // of a region: the call that has it is looked at
		if n = n.g.parent; n == nil {
			return
		}
	}
	l.dirty[n] = struct{}{}
	for e := n.uses; e != nil; e = e.next {
		l.dirty[e.user] = struct{}{}
	}
	for _, s := range l.g.symbols.list {
		if s.Node == n {
			l.all = true // where sizes are known has changed
		}
	}
}

// factsInside counts the changes of symbols and guards in a node's regions.
func (n *Node) factsInside() uint32 {
	total := uint32(0)
	for _, r := range n.Regions() {
		if r == nil {
			continue
		}
		total += r.symbols.version
		for m := range r.All() {
			for _, s := range m.Regions() {
				total += s.symbols.version
			}
		}
	}
	return total
}

// nodeName is a name in its parts, of which there is one way to make it.
type nodeName struct {
	base string
	num  uint32
}

// Check returns what Lint returns.
func (l *Linter) Check() diag.List {
	version := uint32(0)
	if m := l.g.mod; m != nil {
		version = m.version
		l.calls(m)
	}
	if l.all || l.symbols != l.g.symbols.version || l.version != version || l.module != l.g.mod {
		l.restart()
	}
	l.symbols, l.version, l.module = l.g.symbols.version, version, l.g.mod
	for n, was := range l.regions {
		if now := n.factsInside(); now != was {
			l.regions[n] = now
			l.dirty[n] = struct{}{}
		}
	}
	for n := range l.faults {
		l.dirty[n] = struct{}{} // what its message says may have changed
	}
	for n := range l.dirty {
		delete(l.faults, n)
		if n.g != l.g || n.erased {
			continue
		}
		one := linter{g: l.g}
		one.node(n, n.held())
		if len(one.list) > 0 {
			l.faults[n] = one.list
		}
	}
	if len(l.dirty) > 64 { // a map stays as large as it once was
		l.dirty = map[*Node]struct{}{}
	}
	clear(l.dirty)
	return l.report()
}

// held counts the operand slots of the graph that hold n, from its list of uses.
func (n *Node) held() (slots int) {
	for e := n.uses; e != nil; e = e.next {
		if e.user.g == n.g && !e.user.erased {
			slots++
		}
	}
	return slots
}

// restart marks all nodes and counts again.
func (l *Linter) restart() {
	l.all, l.inputs, l.outputs = false, 0, 0
	l.dirty, l.faults, l.regions = map[*Node]struct{}{}, map[*Node]diag.List{}, map[*Node]uint32{}
	names := make(map[nodeName]struct{}, l.g.count)
	for n := range l.g.Nodes() {
		l.count(n, 1)
		l.dirty[n] = struct{}{}
		names[nodeName{n.base, n.num}] = struct{}{}
	}
	l.twins = len(names) < l.g.count // what methods name is unique
}

// report lists the faults in the order of Lint.
func (l *Linter) report() diag.List {
	out := linter{g: l.g}
	lead := 0
	for n := l.g.first; n != nil && n.opcode == Placeholder; n = n.next {
		lead++
	}
	if l.twins || lead < l.inputs {
		out.nodes(func(n *Node) { out.list = append(out.list, l.faults[n]...) })
	} else {
		faulty := make([]*Node, 0, len(l.faults))
		for n := range l.faults {
			faulty = append(faulty, n)
		}
		slices.SortFunc(faulty, func(a, b *Node) int { return cmp.Compare(a.order, b.order) })
		for _, n := range faulty {
			out.list = append(out.list, l.faults[n]...)
		}
	}
	if last := l.g.last; l.outputs == 1 && last != nil && last.opcode == Output {
		out.structure(last)
	} else {
		out.output()
	}
	out.facts()
	if m := l.g.mod; m != nil && m.Graph == l.g {
		out.subs(m)
	}
	return out.list
}

// calls marks the calls of sub-graphs, whose changes nobody tells their callers.
func (l *Linter) calls(m *Module) {
	if len(m.subs) == 0 {
		return
	}
	for n := range l.g.All() {
		if n.Callee() != nil {
			l.mark(n)
		}
	}
}

// linked reports whether use lists and operands agree, so that each node is held as often
// as it says. It gives up on what takes long to find out.
func (l *linter) linked() bool {
	listed, slots := 0, 0
	for n := l.g.first; n != nil; n = n.next {
		for i := range n.args {
			if n.args[i].def != nil {
				slots++
			}
		}
		count := 0
		for e := n.uses; e != nil; e = e.next {
			if count++; e.def != n || count > int(n.nuses) || e.user == nil || e.user.g != l.g || e.user.erased || !e.user.hasSlot(e) {
				return false
			}
		}
		if count != int(n.nuses) {
			return false
		}
		listed += count
	}
	return listed == slots // all that are listed are slots, and no two are the same
}

// hasSlot reports whether e is an operand slot of n, false where n has many.
func (n *Node) hasSlot(e *edge) bool {
	if len(n.args) > 16 {
		return false
	}
	for i := range n.args {
		if e == &n.args[i] {
			return true
		}
	}
	return false
}

// countUses counts the operand slots that hold each node.
func (l *linter) countUses() map[*Node]int {
	uses := make(map[*Node]int, l.g.count)
	for n := l.g.first; n != nil; n = n.next {
		for i := range n.args {
			if d := n.args[i].def; d != nil {
				uses[d]++
			}
		}
	}
	return uses
}

// numbers are those that follow one base in the names of nodes; there is one way to take
// a name apart.
type numbers struct {
	low  []uint64 // bits
	high map[uint32]struct{}
}

// add reports whether the number is there already. So many nodes have mostly numbers
// that are not much higher.
func (s *numbers) add(num uint32, nodes int) (twice bool) {
	word, bit := int(num/64), uint64(1)<<(num%64)
	if word > 2+nodes/16 {
		if _, twice = s.high[num]; s.high == nil {
			s.high = map[uint32]struct{}{}
		}
		s.high[num] = struct{}{}
		return twice
	}
	for word >= len(s.low) {
		s.low = append(s.low, 0)
	}
	twice = s.low[word]&bit != 0
	s.low[word] |= bit
	return twice
}
