package graph

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Graph is a DAG of nodes in executable order. It may be read by many
// goroutines at once, and changed by one.
type Graph struct {
	Name string

	mod         *Module
	parent      *Node // the node whose region this graph is
	first, last *Node
	count       int
	names       namespace
	pos         *positions
	scopes      *scopes
	symbols     symbolTable
	listeners   []*Listener
	slab        []Node
	edges       []edge
	typing      *typing  // nil while it is in use
	own         *answers // of a graph without a module, which is no region
}

// New returns an empty graph.
func New(name string) *Graph {
	return &Graph{Name: name, names: newNamespace(), pos: newPositions(), scopes: newScopes(), own: &answers{}}
}

// NewRegion returns an empty graph to be used as a region of a node of g; it
// shares g's module, positions and scopes.
func (g *Graph) NewRegion(name string) *Graph {
	return &Graph{Name: name, mod: g.mod, names: newNamespace(), pos: g.pos, scopes: g.scopes}
}

// Module returns the graph module that holds the graph's state, nil when none does.
func (g *Graph) Module() *Module { return g.mod }

// Parent returns the node whose region g is, nil for a top-level graph.
func (g *Graph) Parent() *Node { return g.parent }

// root returns the graph that g is a region of, however deep, g itself if none.
func (g *Graph) root() *Graph {
	for g.parent != nil {
		g = g.parent.g
	}
	return g
}

// Len returns the number of nodes, not counting those in regions.
func (g *Graph) Len() int { return g.count }

// First returns the first node, nil when there is none.
func (g *Graph) First() *Node { return g.first }

// Last returns the last node, nil when there is none.
func (g *Graph) Last() *Node { return g.last }

// Nodes yields the nodes in execution order. The current node may be erased and
// others may be erased or inserted while iterating; those inserted after the
// current one are visited.
func (g *Graph) Nodes() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for n := g.first; n != nil; {
			next := n.next
			if !yield(n) {
				return
			}
			if n.erased {
				for n = next; n != nil && n.erased; {
					n = n.next
				}
			} else {
				n = n.next
			}
		}
	}
}

// Backward yields the nodes in reverse order; the current one may be erased.
func (g *Graph) Backward() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for n := g.last; n != nil; {
			prev := n.prev
			if !yield(n) {
				return
			}
			if n.erased {
				for n = prev; n != nil && n.erased; {
					n = n.prev
				}
			} else {
				n = n.prev
			}
		}
	}
}

// All yields the nodes of g and, after each node, those of its regions.
func (g *Graph) All() iter.Seq[*Node] {
	return func(yield func(*Node) bool) { g.all(yield) }
}

func (g *Graph) all(yield func(*Node) bool) bool {
	for n := range g.Nodes() {
		if !yield(n) {
			return false
		}
		for _, r := range n.Regions() {
			if !r.all(yield) {
				return false
			}
		}
	}
	return true
}

// Inputs returns the placeholders in order.
func (g *Graph) Inputs() []*Node {
	var in []*Node
	for n := range g.Nodes() {
		if n.opcode == Placeholder {
			in = append(in, n)
		}
	}
	return in
}

// Output returns the output node, nil when the graph has none yet.
func (g *Graph) Output() *Node {
	for n := range g.Backward() {
		if n.opcode == Output {
			return n
		}
	}
	return nil
}

// Find returns the node with that name, nil when there is none.
func (g *Graph) Find(name string) *Node {
	for n := range g.Nodes() {
		if n.Name() == name {
			return n
		}
	}
	return nil
}

// Calls yields the nodes of g that call the operator, however they are spelt.
func (g *Graph) Calls(o *op.Op) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for n := range g.Nodes() {
			if n.Op() == o && !yield(n) {
				return
			}
		}
	}
}

// Erase removes a node. It refuses, naming the users, while the value is used,
// also by a symbol of the graph.
func (g *Graph) Erase(node *Node) error {
	switch {
	case node.g != g:
		return diag.Bug("erase of a node of another graph")
	case node.erased:
		return node.Error(EraseUsed, "the node has been erased already")
	case node.nuses > 0:
		users := ""
		for u := range node.Users() {
			if users != "" {
				users += ", "
			}
			users += u.String()
		}
		return node.Error(EraseUsed, node.String()+" is used "+strconv.Itoa(int(node.nuses))+" times, by "+users).
			WithHint("replace its uses first (ReplaceUses)")
	}
	if syms := g.SymbolsOf(node); len(syms) > 0 {
		return node.Error(EraseUsed, node.String()+" defines the symbol "+syms[0].Name).WithHint("replace its uses first (ReplaceUses)")
	}
	g.symbols.forget(node)
	var foreign []*Node
	for i := range node.args {
		if d := node.args[i].def; d != nil && d.g != g {
			foreign = append(foreign, d)
		}
		node.args[i].unlink()
	}
	g.unlink(node)
	g.names.free(node.base, node.num)
	node.erased = true
	g.count--
	node.wasErased()
	for _, d := range foreign {
		d.changed()
	}
	return nil
}

// Erased reports whether the node has been removed from its graph.
func (n *Node) Erased() bool { return n.erased }

func (g *Graph) unlink(n *Node) {
	if n.prev == nil {
		g.first = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		g.last = n.prev
	} else {
		n.next.prev = n.prev
	}
}

// insert puts n before at; at the end when at is nil.
func (g *Graph) insert(n, at *Node) {
	n.next = at
	if at == nil {
		n.prev = g.last
		g.last = n
	} else {
		n.prev = at.prev
		at.prev = n
	}
	if n.prev == nil {
		g.first = n
	} else {
		n.prev.next = n
	}
	g.setOrder(n)
}

const orderGap = 1 << 32

// setOrder gives node a key between its neighbours'. When there is none, the nodes
// after it are spread until the gap that they share is wide enough, which costs
// O(log n) for each insertion on average.
// Ref: Dietz, Sleator, Two algorithms for maintaining order in a list, 1987.
func (g *Graph) setOrder(node *Node) {
	lo := uint64(0)
	if node.prev != nil {
		lo = node.prev.order
	}
	if node.next == nil {
		node.order = lo + orderGap
		return
	}
	if node.order = lo + (node.next.order-lo)/2; node.order != lo {
		return
	}
	count, end := uint64(1), node.next
	for end != nil && (end.order-lo)/(count+1) <= count {
		end = end.next
		count++
	}
	gap := uint64(orderGap)
	if end != nil {
		gap = (end.order - lo) / (count + 1)
	}
	for m := node; m != end; m = m.next {
		lo += gap
		m.order = lo
	}
}

const slabSize = 64

// alloc takes a node with nargs operand slots from the slabs.
func (g *Graph) alloc(nargs int) *Node {
	if len(g.slab) == 0 {
		g.slab = make([]Node, min(slabSize, max(2, g.count)))
	}
	n := &g.slab[0]
	g.slab = g.slab[1:]
	n.g = g
	if nargs > 0 {
		if len(g.edges) < nargs {
			g.edges = make([]edge, max(nargs, min(2*slabSize, max(2, 2*g.count))))
		}
		n.args = g.edges[:nargs:nargs]
		g.edges = g.edges[nargs:]
	}
	return n
}

// Visitor computes the value of one node from its operands' values; in has the
// zero V for absent operands and must not be kept.
type Visitor[V any] func(n *Node, in []V) (V, error)

// Fold visits the nodes in order and returns the value of the output node. It is
// how engines compute something of every node from what they computed of its
// operands: interpretation is the fold over tensors, transformation over nodes of
// another graph, lowering over buffers. Values are dropped after their last use.
// An error is given the node's position. When ctx ends, so does the fold, with
// diag.Stopped. Regions are not entered; a visitor folds them itself. What looks
// at nodes alone, as printers do, ranges over Nodes or All.
func Fold[V any](ctx context.Context, graph *Graph, visit Visitor[V]) (out V, err error) {
	type held struct {
		v    V
		left int32 // uses to come
	}
	env := make(map[*Node]held, 64)
	var in []V
	for node := range graph.Nodes() {
		if err := ctx.Err(); err != nil {
			return out, node.context(diag.Stop(err))
		}
		clear(in) // a dropped value must not stay here
		in = in[:0]
		for i := range node.args {
			in = append(in, env[node.args[i].def].v)
		}
		v, err := visit(node, in)
		if err != nil {
			return out, node.context(err)
		}
		if node.opcode == Output {
			return v, nil
		}
		for i := range node.args {
			d := node.args[i].def
			if d == nil {
				continue
			}
			if d.nuses == 1 {
				delete(env, d)
			} else if h := env[d]; h.left == 1 {
				delete(env, d)
			} else {
				h.left--
				env[d] = h
			}
		}
		if node.nuses > 0 {
			env[node] = held{v, node.nuses}
		}
	}
	return out, diag.New(NoOutput, "graph "+graph.Name+" has no output node").WithHint("add one with Cursor.Output")
}

// stopped reports whether an error says that a context has ended.
func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// context adds the node to an error that does not name one, and what made it.
func (n *Node) context(err error) error {
	var list diag.List
	var coded *diag.Error
	if stopped(err) && !errors.As(err, &coded) {
		err = diag.Stop(err) // a visitor asked the context
	}
	list.Add(err)
	for i, e := range list {
		if e.Node == "" {
			c := *e
			c.Node = n.Name()
			if o := n.Op(); o != nil && c.Op == "" {
				c.Op = o.Name
			}
			e = c.At(n.Pos())
		}
		list[i] = n.withMaker(e)
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
}

// withMaker says which pass made the node, where its side data do and the error is
// about the node.
func (n *Node) withMaker(e *diag.Error) *diag.Error {
	if n.extra == nil || e.Node != n.Name() {
		return e
	}
	for _, k := range n.extra.keys {
		if m, ok := k.v.(Maker); ok {
			c := *e
			c.Related = append(slices.Clip(c.Related), diag.Related{Pos: n.Pos(), Msg: n.String() + " was made by " + m.MadeBy()})
			return &c
		}
	}
	return e
}

// typing applies type rules to one node after another, in memory of its own. Rules
// see the operands' types as long as they run.
type typing struct {
	op.Infer
	node  *Node // whose rule runs
	types []shape.Type
	// inside is asked about sizes that a region of the node finds, nil takes them as given.
	inside func(d shape.Relation, n *Node) error
}

// infer computes n's type from its operands' types.
func (g *Graph) infer(n *Node) error {
	if n.Op() == nil {
		return nil
	}
	t := g.typing
	if t == nil {
		t = &typing{}
		t.Assume = func(r shape.Relation) error { return t.node.g.symbols.assume(r, t.node) }
		t.Compare = func(a, b shape.Dim) (equal, known bool) { return t.node.g.CompareDims(a, b) }
		t.inside = func(r shape.Relation, n *Node) error { return n.g.symbols.assume(r, n) }
	}
	g.typing = nil // a rule may itself make nodes
	typ, err := t.of(n)
	if len(t.types) > slabSize {
		t.types = nil
	}
	g.typing = t
	return n.setInferred(typ, err)
}

// of applies the type rule of a call to its operands' types and changes nothing
// itself. An operand of unknown type makes the result unknown: its own mistake was
// reported.
func (t *typing) of(node *Node) (shape.Type, error) {
	operator, args := node.Op(), node.args
	types := node.operandTypes(t.types[:0])
	t.node, t.types = node, types
	for i := range args {
		if args[i].def != nil && types[i].Kind() == shape.None {
			return shape.Type{}, nil
		}
	}
	if err := present(node, operator, len(types)); err != nil {
		return shape.Type{}, err
	}
	if _, err := operator.Codec().Given(node.Attrs()); err != nil {
		return shape.Type{}, err
	}
	if operator == op.GetItem && len(types) == 1 {
		return op.ItemType(types[0], node.Attrs().(op.GetItemAttrs).Index)
	}
	if rs := node.Regions(); len(rs) > 0 {
		if err := t.demands(node, rs); err != nil {
			return shape.Type{}, err
		}
		return regionType(node, rs), nil
	}
	if operator == op.Call {
		return callType(node.g, node, types, t.Assume)
	}
	return operator.Type(&t.Infer, node.Attrs(), types)
}

// present reports required operands of a call that are absent; total counts those
// of the node and of its module. A list of operands has no gaps.
func present(n *Node, o *op.Op, total int) error {
	there := func(i int) bool { return i >= len(n.args) || n.args[i].def != nil }
	if err := o.CheckRequired(total, there); err != nil {
		return err
	}
	for i := len(o.In) - 1; o.Variadic() && !o.AdHoc && i < total; i++ {
		if !there(i) {
			return diag.New(op.OperandCount, "operand "+strconv.Itoa(i)+" of the list "+o.In[len(o.In)-1].Name+" is missing")
		}
	}
	return nil
}

func (n *Node) setInferred(t shape.Type, err error) error {
	if o := n.Op(); err != nil || t.Kind() != shape.None || !o.AdHoc {
		n.typ = t // what is said about the result of an opaque function stays
	}
	if err == nil {
		return nil
	}
	var l diag.List
	l.Add(err)
	e := *l[0]
	e.Node = n.Name()
	if o := n.Op(); o != nil {
		e.Op = o.Name
	}
	return e.At(n.Pos())
}
