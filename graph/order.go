package graph

import (
	"cmp"
	"slices"
	"strings"
)

// MoveBefore moves n to just before at, whatever that breaks: Lint finds what it does to
// values and sizes. Prepend and Append refuse instead; Sort repairs.
func (g *Graph) MoveBefore(n, at *Node) {
	if n == at || n.next == at {
		return
	}
	g.unlink(n)
	g.insert(n, at)
	n.changed()
}

// Prepend moves m to just before n. It refuses (FX3004), and changes nothing, when an
// operand of m would come after it, a user before it, a size before the value that it
// is a size of, or two effects in another order. Inputs stay in front and the output at
// the end.
func (n *Node) Prepend(m *Node) error {
	if n == m || m.next == n {
		return nil
	}
	if err := movable(n.g, m, n); err != nil {
		return err
	}
	if n.order > m.order {
		return moveTo(n.g, m, n, n.prev)
	}
	return moveTo(n.g, m, n, n)
}

// Append moves m directly after n, and refuses as Prepend does.
func (n *Node) Append(m *Node) error {
	if n == m || n.next == m {
		return nil
	}
	if err := movable(n.g, m, n); err != nil {
		return err
	}
	if n.order < m.order {
		return moveTo(n.g, m, n.next, n.next)
	}
	return moveTo(n.g, m, n.next, n)
}

func movable(g *Graph, n, at *Node) error {
	for _, m := range []*Node{n, at} {
		if m.g != g || m.erased {
			return n.Error(ForeignNode, m.String()+" is not in the graph "+g.Name).WithHint("move nodes within their graph")
		}
	}
	return nil
}

// moveTo moves n in front of at, nil being the end. What n passes ends with edge.
func moveTo(g *Graph, n, at, edge *Node) error {
	if wrong := n.passed(edge); wrong != nil {
		return n.Error(BrokenOrder, n.String()+" cannot move past "+wrong.String()+", "+n.bond(wrong)).
			WithHint("move " + wrong.String() + " first, or let Graph.Sort find an order")
	}
	if wrong := n.misplaced(at); wrong != "" {
		return n.Error(BrokenOrder, n.String()+" cannot move there: "+wrong)
	}
	g.unlink(n)
	g.insert(n, at)
	n.changed()
	return nil
}

// misplaced says what speaks against n in front of next, nil being the end: inputs are
// first, the output is last.
func (n *Node) misplaced(next *Node) string {
	prev := n.g.last
	if next != nil {
		prev = next.prev
	}
	switch {
	case n.opcode == Placeholder && prev != nil && prev.opcode != Placeholder:
		return "inputs come first"
	case n.opcode != Placeholder && next != nil && next.opcode == Placeholder:
		return next.String() + " is an input, which come first"
	case n.opcode == Output && next != nil, n.opcode != Output && prev != nil && prev.opcode == Output:
		return "the output is the last node"
	}
	return ""
}

// passed returns a node between n and edge, edge included, that must stay on its side
// of n.
func (n *Node) passed(edge *Node) *Node {
	forward := edge.order > n.order
	if !forward {
		for d := range n.Inputs() {
			if d.g == n.g && d.order >= edge.order && d.order < n.order {
				return d
			}
		}
	} else {
		for e := n.uses; e != nil; e = e.next {
			if u := e.user; u.g == n.g && u.order > n.order && u.order <= edge.order {
				return u
			}
		}
	}
	effects, acts := (*Effects)(nil), n.acts()
	for m := n; m != edge; {
		if forward {
			m = m.next
		} else {
			m = m.prev
		}
		if forward && m.needsSizeOf(n) || !forward && n.needsSizeOf(m) {
			return m
		}
		if acts || m.acts() {
			if effects == nil {
				effects = EffectsOf(n.g)
			}
			if effects.Conflict(n, m) {
				return m
			}
		}
	}
	return nil
}

// bond says why n and m must stay on their sides.
func (n *Node) bond(m *Node) string {
	switch {
	case slices.Contains(n.Args(), m):
		return "which it uses"
	case slices.Contains(m.Args(), n):
		return "which uses it"
	case n.acts() || m.acts():
		return "their effects come in this order"
	}
	return "one has a size of the other"
}

// Sort repairs the order of the nodes after edits and returns the number of nodes that
// it moved: each node comes after its operands and after the values whose sizes it
// uses, inputs first, the output last, and calls with effects, and reads of what they
// write, in the order that they have. Nodes that are in order do not move. For one node
// that is too early the fewest nodes possible move; where most of a graph is out of
// order, each node is put just before its first user, in linear time.
//
// A cycle is an error (FX3070) that names its nodes; nothing is moved then.
func (g *Graph) Sort() (moved int, err error) {
	was := slices.Collect(g.Nodes())
	s := &sorter{g: g, at: make(map[*Node]int, len(was)), budget: 1024}
	s.order = framed(g, was)
	for i, n := range s.order {
		s.at[n] = i
		s.budget += 8 * (1 + len(n.args))
	}
	s.bonds()
	if err := s.repair(); err != nil {
		return 0, err
	}
	return rearrange(g, was, s.order), nil
}

// framed returns the nodes with the inputs first and the output last.
func framed(g *Graph, list []*Node) []*Node {
	rank := func(n *Node) int {
		switch n.opcode {
		case Placeholder:
			return 0
		case Output:
			return 2
		}
		return 1
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *Node) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// rearrange gives the nodes a new order by moving as few of them as possible: those
// outside of a longest sequence that is in both orders.
func rearrange(g *Graph, was, order []*Node) (moved int) {
	old := make(map[*Node]int, len(was))
	for i, n := range was {
		old[n] = i
	}
	stays := longestRise(order, old)
	at := g.first
	for _, n := range order {
		if stays[n] {
			for at != n {
				at = at.next // what is passed moves later
			}
			at = at.next
			continue
		}
		if n != at {
			g.unlink(n)
			g.insert(n, at)
		} else {
			at = at.next
		}
		moved++
		n.changed()
	}
	return moved
}

// longestRise returns the members of a longest sequence of nodes whose old places rise.
func longestRise(order []*Node, old map[*Node]int) map[*Node]bool {
	var tails []int // index in order of the last of the best rise of each length
	before := make([]int, len(order))
	for i, n := range order {
		k, _ := slices.BinarySearchFunc(tails, old[n], func(j, place int) int { return cmp.Compare(old[order[j]], place) })
		before[i] = -1
		if k > 0 {
			before[i] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, i)
		} else {
			tails[k] = i
		}
	}
	rise := make(map[*Node]bool, len(tails))
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = before[i] {
			rise[order[i]] = true
		}
	}
	return rise
}

// sorter finds an order. What must come before a node besides its operands is in
// more, the reverse in less.
type sorter struct {
	g          *Graph
	order      []*Node
	at         map[*Node]int // places in order
	more, less map[*Node][]*Node
	budget     int // steps left before all is sorted again
}

// bonds enters what sizes and effects demand.
func (s *sorter) bonds() {
	s.more, s.less = s.g.Bonds(), map[*Node][]*Node{}
	for then, list := range s.more {
		for _, first := range list {
			s.less[first] = append(s.less[first], then)
		}
	}
}

// Bonds returns what must come before nodes besides their operands: the values whose
// sizes a node speaks of; for a call with an effect the one before it and reads of
// what effects write, for such a read the effect before it. It takes linear time.
func (g *Graph) Bonds() map[*Node][]*Node {
	bonds := map[*Node][]*Node{}
	bind := func(first, then *Node) {
		if first != nil && first != then {
			bonds[then] = append(bonds[then], first)
		}
	}
	if g.symbols.findsSizes() {
		for n := range g.Nodes() {
			if !n.opcode.IsCall() {
				continue
			}
			for _, name := range n.symbolsUsed() {
				if s, ok := g.Symbol(name); ok && s.Node != nil && s.Node.g == g && s.Node.opcode != Placeholder && !s.Node.erased {
					bind(s.Node, n)
				}
			}
		}
	}
	// Each call with an effect comes after the one before it, and reads stay between
	// the effects that they are between.
	var last *Node
	var reads []*Node
	for _, n := range orderedNodes(g) {
		bind(last, n)
		if !n.acts() {
			reads = append(reads, n)
			continue
		}
		for _, r := range reads {
			bind(r, n)
		}
		last, reads = n, nil
	}
	return bonds
}

// before yields to f what must come before n.
func (s *sorter) before(n *Node, f func(*Node)) {
	for i := range n.args {
		if d := n.args[i].def; d != nil {
			if _, here := s.at[d]; here {
				f(d)
			}
		}
	}
	for _, d := range s.more[n] {
		f(d)
	}
}

// after yields to f what must come after n.
func (s *sorter) after(n *Node, f func(*Node)) {
	for e := n.uses; e != nil; e = e.next {
		if _, here := s.at[e.user]; here {
			f(e.user)
		}
	}
	for _, u := range s.less[n] {
		f(u)
	}
}

// repair looks for values that are used too early and puts each right.
func (s *sorter) repair() error {
	for i := 0; i < len(s.order); {
		n := s.order[i]
		var late []*Node
		s.before(n, func(d *Node) {
			if s.at[d] >= i {
				late = append(late, d)
			}
		})
		if len(late) == 0 {
			i++
			continue
		}
		if err := s.swap(n, late); err != nil {
			return err
		}
		if s.budget < 0 {
			return s.reorder()
		}
		// What stands at i now may need more.
	}
	return nil
}

// swap puts the nodes that early needs, and that are late, before it. Between them, some
// nodes need early (it among them) and some are needed by the late ones (they among
// them); all of the latter must come before the former. What is needed stays up to a place and what needs stays after it; the rest
// of both moves there. The place is the one that lets most stay.
func (s *sorter) swap(early *Node, late []*Node) error {
	lo, hi := s.at[early], 0
	for _, d := range late {
		hi = max(hi, s.at[d])
	}
	inside := func(n *Node) bool { return s.at[n] >= lo && s.at[n] <= hi }
	needed := s.reach(late, inside, s.before)
	if needed[early] {
		return s.cycle(early, late)
	}
	needing := s.reach([]*Node{early}, inside, s.after)
	window := s.order[lo : hi+1]
	place, moves := 0, len(needed)
	for i, count := 0, len(needed); i < len(window); i++ {
		switch n := window[i]; {
		case needed[n]:
			count--
		case needing[n]:
			count++
		}
		if count < moves {
			place, moves = i+1, count
		}
	}
	var head, middle, later, tail []*Node
	for i, n := range window {
		switch {
		case needed[n] && i >= place:
			middle = append(middle, n)
		case needing[n] && i < place:
			later = append(later, n)
		case i < place:
			head = append(head, n)
		default:
			tail = append(tail, n)
		}
	}
	copy(window, slices.Concat(head, middle, later, tail))
	for i, n := range window {
		s.at[n] = lo + i
	}
	s.budget -= len(window)
	return nil
}

// reach returns nodes and what can be reached from them without leaving the window.
func (s *sorter) reach(from []*Node, inside func(*Node) bool, step func(*Node, func(*Node))) map[*Node]bool {
	seen, todo := map[*Node]bool{}, slices.Clone(from)
	for _, n := range from {
		seen[n] = true
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		step(n, func(d *Node) {
			s.budget--
			if !seen[d] && inside(d) {
				seen[d] = true
				todo = append(todo, d)
			}
		})
	}
	return seen
}

// reorder orders all nodes: each as early as it stands, what it needs just before it.
func (s *sorter) reorder() error {
	const open, done = 1, 2
	state := make(map[*Node]int, len(s.order))
	order := make([]*Node, 0, len(s.order))
	for _, root := range s.order {
		for stack := []*Node{root}; len(stack) > 0; {
			n := stack[len(stack)-1]
			if state[n] != 0 {
				stack = stack[:len(stack)-1]
				if state[n] == open {
					state[n] = done
					order = append(order, n)
				}
				continue
			}
			state[n] = open
			var wait []*Node
			var back *Node
			s.before(n, func(d *Node) {
				if state[d] == open {
					back = d
				} else if state[d] == 0 {
					wait = append(wait, d)
				}
			})
			if back != nil {
				return s.cycle(n, []*Node{back})
			}
			slices.Reverse(wait)
			stack = append(stack, wait...)
		}
	}
	s.order = order
	return nil
}

// cycle is the error of nodes that need each other: from needs those of to, directly, and
// one of them needs from in some way. It names a shortest such way.
func (s *sorter) cycle(from *Node, to []*Node) error {
	came, todo := map[*Node]*Node{}, slices.Clone(to)
	for _, n := range to {
		came[n] = nil
	}
	for len(todo) > 0 {
		n := todo[0]
		todo = todo[1:]
		if n == from {
			break
		}
		s.before(n, func(d *Node) {
			if _, seen := came[d]; !seen {
				came[d] = n
				todo = append(todo, d)
			}
		})
	}
	path := []string{from.String()}
	for n := came[from]; n != nil; n = came[n] {
		path = append(path, n.String())
	}
	path = append(path, from.String())
	slices.Reverse(path)
	return from.Error(CyclicGraph, "nodes need each other: "+strings.Join(path, " needs ")).WithHint("take one of them out of the operands of the other")
}
