package graph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Outline makes a sub-graph of nodes of one graph, and puts a call of it in their
// place. name is a hint; the call's attributes have the name that it got.
//
// The inputs of the sub-graph are the values from outside in the order of their
// first use, then those that only give sizes, then tensors of the state that are read
// outside (as a module's parameters follow its operands); its results are the values that others
// use, in the order of the nodes: one is the value of the call, several are taken
// apart by getitem nodes with the old names. A getitem node goes with the call that
// it takes apart. get_attr nodes among the nodes are read inside, others are inputs.
//
// Nothing may lie on the way from one of the nodes to another and be left out; the
// error (FX3044) names the way. What stood between the nodes and depends on them
// stands after the call now; it is an error when effects would change their order.
// The graph is as it was when there is an error. Inline is the inverse.
func Outline(name string, nodes []*Node) (call *Node, err error) {
	o, err := newOutliner(nodes)
	if err != nil {
		return nil, err
	}
	if err := o.arrange(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			o.release()
		}
	}()
	if err := o.boundary(); err != nil {
		return nil, err
	}
	o.sub = o.g.mod.NewSub(name)
	call, err = o.build()
	if err != nil {
		o.g.mod.dropSubs(func(g *Graph) bool { return g == o.sub })
		return nil, err
	}
	o.replace(call)
	return call, nil
}

// outliner turns nodes of g into sub.
type outliner struct {
	g, sub   *Graph
	in       map[*Node]bool  // the nodes
	nodes    []*Node         // in order
	after    []*Node         // others among them that come to stand after the call
	needs    []string        // symbols of g that the nodes speak of
	args     []*Node         // inputs, as values of g
	captured []*Node         // those of args that were captured for their sizes
	outs     []*Node         // results
	inner    map[string]bool // symbols that nothing outside speaks of
}

func newOutliner(nodes []*Node) (*outliner, error) {
	if len(nodes) == 0 {
		return nil, diag.New(BadOutline, "no nodes are given, expected one or more")
	}
	o := &outliner{g: nodes[0].g, in: make(map[*Node]bool, len(nodes)), inner: map[string]bool{}}
	for _, n := range nodes {
		switch {
		case n.g != o.g || n.erased:
			return nil, n.Error(BadOutline, n.String()+" is no node of the graph "+o.g.Name)
		case n.opcode == Placeholder || n.opcode == Output:
			return nil, n.Error(BadOutline, n.String()+" is an input or the output, which stay where they are")
		}
		o.in[n] = true
	}
	if o.g.mod == nil {
		return nil, diag.New(BadOutline, "graph "+o.g.Name+" belongs to no module, expected one that can hold sub-graphs")
	}
	o.collect(nodes)
	if len(o.nodes) == 0 {
		return nil, nodes[0].Error(BadOutline, "there are only getitem nodes, which go with the call that they take apart")
	}
	return o, nil
}

// collect orders the nodes, with the getitem nodes of the calls among them and without
// those of others. It looks at nothing else, so that many parts of one graph take the
// time of all their nodes.
func (o *outliner) collect(nodes []*Node) {
	for _, n := range nodes {
		if n.op == op.GetItem {
			delete(o.in, n) // unless its call brings it along
		}
	}
	for _, n := range nodes {
		if n.op != op.GetItem || n.Arg(0) == nil {
			o.in[n] = true
			o.nodes = append(o.nodes, n)
		}
	}
	for i := 0; i < len(o.nodes); i++ { // grows
		for u := range o.nodes[i].Users() {
			if u.op == op.GetItem && u.Arg(0) == o.nodes[i] && !o.in[u] {
				o.in[u] = true
				o.nodes = append(o.nodes, u)
			}
		}
	}
	slices.SortFunc(o.nodes, func(a, b *Node) int { return cmp.Compare(a.order, b.order) })
	o.nodes = slices.Compact(o.nodes)
}

// arrange finds what must stand after the call, and refuses what would have to
// stand before and after it, and effects that would change places.
func (o *outliner) arrange() error {
	via := map[*Node]*Node{} // of those after: the operand that makes it so
	last := o.nodes[len(o.nodes)-1]
	var before []*Node
	for n := o.nodes[0]; n != last.next; n = n.next {
		var from *Node
		for a := range o.uses(n) {
			if via[a] != nil || !o.in[n] && o.in[a] {
				from = a
				break
			}
		}
		switch {
		case from != nil && o.in[n]:
			return o.wayOut(n, from, via)
		case from != nil:
			via[n] = from
			o.after = append(o.after, n)
		case !o.in[n]:
			before = append(before, n)
		}
	}
	if len(before)+len(o.after) == 0 {
		return nil // nothing changes places
	}
	return o.effects(slices.Concat(before, o.nodes, o.after))
}

// uses yields the nodes of g that n needs: its operands, and those that define the
// symbols that it speaks of.
func (o *outliner) uses(n *Node) func(yield func(*Node) bool) {
	return func(yield func(*Node) bool) {
		for a := range n.Inputs() {
			if !yield(a) {
				return
			}
		}
		if !o.g.symbols.findsSizes() {
			return
		}
		for _, name := range n.symbolsUsed() {
			if s, ok := o.g.Symbol(name); ok && s.Node != nil && s.Node != n && s.Node.g == o.g && !yield(s.Node) {
				return
			}
		}
	}
}

// wayOut is the error of a value that leaves the nodes and comes back to n.
func (o *outliner) wayOut(n, from *Node, via map[*Node]*Node) error {
	way := []string{n.String()}
	at := from
	for ; at != nil && !o.in[at]; at = via[at] {
		way = append(way, at.String())
	}
	way = append(way, at.String())
	slices.Reverse(way)
	return from.Error(BadOutline, "the way "+strings.Join(way, " -> ")+" leaves the nodes and comes back").
		WithHint("add " + from.String() + " to the nodes, or leave " + n.String() + " out")
}

// effects refuses an order in which effects, and reads of what they write, are not
// in the order that they have.
func (o *outliner) effects(order []*Node) error {
	ordered := map[*Node]bool{}
	for _, n := range orderedNodes(o.g) {
		ordered[n] = true
	}
	at := o.nodes[0]
	for _, n := range order {
		if !ordered[n] {
			continue
		}
		for at != n && !ordered[at] {
			at = at.next
		}
		if at != n {
			return at.Error(BadOutline, at.String()+" has an effect, or reads what an effect writes, and would have to run after "+n.String()).
				WithHint("add it to the nodes, or leave out those after it")
		}
		at = at.next
	}
	return nil
}

// boundary finds the inputs and the results.
func (o *outliner) boundary() error {
	used := map[string]bool{} // symbols that the outside speaks of
	if o.g.symbols.findsSizes() {
		for n := range o.g.Nodes() {
			for _, s := range n.symbolsUsed() {
				used[s] = used[s] || !o.in[n]
			}
		}
	}
	taken := map[*Node]bool{}
	for _, n := range o.nodes {
		if err := o.writes(n); err != nil {
			return err
		}
		for a := range n.Inputs() {
			if o.in[a] || taken[a] {
				continue
			}
			taken[a] = true
			if a.typ.Kind() == shape.Tuple {
				return n.Error(BadOutline, n.String()+" uses the tuple "+a.String()+" as a whole, expected getitem of it")
			}
			o.args = append(o.args, a)
		}
		exported := slices.ContainsFunc(slices.Collect(n.Users()), func(u *Node) bool { return !o.in[u] })
		for _, s := range o.g.SymbolsOf(n) {
			o.inner[s.Name] = !used[s.Name]
			exported = exported || used[s.Name]
		}
		if !exported {
			continue
		}
		if n.typ.Kind() == shape.Tuple {
			return n.Error(BadOutline, "the tuple "+n.String()+" is used as a whole outside of the nodes, expected getitem of it")
		}
		o.outs = append(o.outs, n)
	}
	if err := o.sizes(); err != nil {
		return err
	}
	rank := map[Opcode]int{GetAttr: 1} // state comes last
	slices.SortStableFunc(o.args, func(a, b *Node) int { return rank[a.opcode] - rank[b.opcode] })
	return nil
}

// writes refuses to part a write from the node that reads what it writes.
func (o *outliner) writes(n *Node) error {
	part := func(write, read *Node) error {
		return write.Error(BadOutline, write.String()+" writes what "+read.String()+" reads, only one of which is among the nodes").
			WithHint("add the other one, or leave both out")
	}
	if n.Op() == op.Assign {
		if to, err := n.Assigned(); err != nil {
			return err
		} else if !o.in[to] {
			return part(n, to)
		}
	}
	for u := range n.Users() {
		if u.Op() == op.Assign && u.Arg(0) == n && !o.in[u] {
			return part(u, n)
		}
	}
	return nil
}

// sizes finds the symbols that the nodes speak of, and adds the values whose sizes
// they are where no input has that size.
func (o *outliner) sizes() error {
	for _, n := range slices.Concat(o.args, o.nodes) {
		o.speaks(n)
	}
	for i := 0; i < len(o.needs); i++ { // grows with the values that are added
		name := o.needs[i]
		s, here := o.g.Symbol(name)
		switch {
		case here && o.in[s.Node] || o.sized(name).Node != nil:
		case here && s.Node != nil && s.Node.g == o.g:
			o.needed(s.Node)
		default:
			v, made := captureSize(o.g, name)
			if made {
				o.captured = append(o.captured, v)
			}
			if v == nil {
				return o.nodes[0].Error(BadOutline, "the nodes speak of the size "+name+", which no value of graph "+o.g.Name+" or around it has")
			}
			o.needed(v)
		}
	}
	return nil
}

// needed makes a value an input because of its sizes.
func (o *outliner) needed(v *Node) {
	o.args = append(o.args, v)
	o.speaks(v)
}

// speaks notes the symbols that a node speaks of.
func (o *outliner) speaks(n *Node) {
	for _, name := range n.symbolsUsed() {
		if !slices.Contains(o.needs, name) {
			o.needs = append(o.needs, name)
		}
	}
}

// release undoes what sizes has captured.
func (o *outliner) release() {
	for _, v := range slices.Backward(o.captured) {
		for v.g.parent != nil && v.nuses == 0 { // in all regions on the way
			node, at := v.g.parent, slices.Index(v.g.Inputs(), v)
			if node.op == op.Cond {
				at++
			}
			v = node.Arg(at)
			if node.DropOperand(at) != nil {
				break
			}
		}
	}
}

// sized returns the input with an axis of the given size; its Node is nil when there is none.
func (o *outliner) sized(name string) (s Symbol) {
	for _, a := range o.args {
		if axis := slices.IndexFunc(a.typ.Dims().Slice(), shape.Sym(name).Equal); axis >= 0 {
			return Symbol{name, a, axis}
		}
		for _, s := range o.g.SymbolsOf(a) {
			if s.Name == name {
				return s
			}
		}
	}
	return Symbol{}
}

// build makes the sub-graph and the call, which nothing uses yet.
func (o *outliner) build() (*Node, error) {
	k := &Copier{c: o.sub.At(), src: o.g, to: map[*Node]*Node{}, names: sameName}
	for _, a := range o.args {
		k.input(a)
	}
	for _, name := range o.needs {
		if s := o.sized(name); s.Node != nil { // else it is found inside
			o.sub.DefineSymbol(name, k.to[s.Node], s.Axis)
		}
	}
	for _, n := range o.nodes {
		m := k.carry(n)
		for _, s := range o.g.SymbolsOf(n) {
			o.sub.DefineSymbol(s.Name, m, s.Axis)
		}
	}
	o.facts(k.to)
	outs, packed := make([]*Node, len(o.outs)), &Structure{Kind: Results}
	for i, n := range o.outs {
		outs[i] = k.to[n]
		packed.Fields = append(packed.Fields, Leaf(i))
	}
	if len(outs) == 1 {
		packed = nil
	}
	o.sub.At().Output(packed, outs...)
	return o.call(o.rebase())
}

// facts takes over what is demanded of sizes: by the nodes, and equalities that their
// types rest on. What the rules of the nodes demand is asked again, because a guard
// that follows from one outside is not among those of the nodes.
func (o *outliner) facts(to map[*Node]*Node) {
	unknown := func(name string) bool { _, ok := o.sub.Symbol(name); return !ok }
	for g := o.g; ; g = g.parent.g {
		for _, d := range g.symbols.guards {
			if (d.Rel == shape.EQ || o.in[d.Node]) && !slices.ContainsFunc(d.Symbols(), unknown) {
				o.sub.Require(d.Relation, to[d.Node])
			}
		}
		if g.parent == nil {
			break
		}
	}
	t := &typing{}
	t.Assume = func(r shape.Relation) error { o.sub.Require(r, t.node); return nil }
	for n := range o.sub.Nodes() {
		if n.Op() != nil {
			_, _ = t.of(n) // what is wrong with a node was wrong before
		}
	}
}

// rebase makes the scopes of the sub-graph relative to their common part, and
// returns that.
func (o *outliner) rebase() Scope {
	base := o.nodes[0].Scope()
	for _, n := range o.nodes {
		path := n.Scope().Path
		for base.Path != "" && path != base.Path && !strings.HasPrefix(path, base.Path+".") {
			base = Scope{Path: base.Path[:max(strings.LastIndexByte(base.Path, '.'), 0)]}
		}
	}
	for n := range o.sub.All() {
		s := n.Scope()
		switch {
		case n.opcode == Placeholder && n.g == o.sub:
			n.scope = 0
		case s.Path == base.Path:
			if base.Type == "" {
				base.Type = s.Type
			}
			n.scope = 0
		case base.Path != "":
			s.Path = strings.TrimPrefix(s.Path, base.Path+".")
			n.scope = o.sub.Scope(s)
		}
	}
	return base
}

// call makes the call after the nodes.
func (o *outliner) call(scope Scope) (*Node, error) {
	c := o.g.After(o.nodes[len(o.nodes)-1])
	c.From(o.nodes[0]).scope = o.g.Scope(scope)
	var errs diag.List
	c.OnError = func(err error) { errs.Add(err) }
	call := c.Function(op.Call, op.CallAttrs{Graph: o.sub.Name}, o.args...)
	if err := errs.Err(); err != nil {
		errs.Add(o.g.Erase(call))
		return nil, &diag.Error{Code: BadOutline, Pos: call.Pos(), Msg: "the nodes do not stand on their own", Err: err}
	}
	call.Rename(o.sub.Name)
	return call, nil
}

// replace puts the call in the place of the nodes.
func (o *outliner) replace(call *Node) {
	values := []*Node{call}
	if len(o.outs) != 1 {
		c := o.g.After(call)
		values = make([]*Node, len(o.outs))
		for i, n := range o.outs {
			values[i] = c.From(n).ItemNode(call, i)
		}
	}
	anchor := append([]*Node{call}, values...)[len(values)].next
	for _, n := range o.after {
		if anchor == nil {
			panic(diag.Bug("nothing stands after the nodes of " + o.g.Name))
		}
		o.g.MoveBefore(n, anchor)
	}
	o.g.symbols.leave(o.inner)
	names := make([]string, len(o.outs))
	for i, n := range o.outs {
		names[i], values[i].typ = n.Name(), n.typ
		n.ReplaceUses(values[i], func(u *Node) bool { return !o.in[u] })
		o.g.symbols.move(n, values[i])
	}
	for _, n := range o.nodes {
		o.g.symbols.guardTable.move(n, call)
	}
	for i := len(o.nodes) - 1; i >= 0; i-- {
		if err := o.g.Erase(o.nodes[i]); err != nil {
			panic(err) // nothing outside uses it
		}
	}
	for i, v := range values {
		if v != call {
			v.Rename(names[i])
		}
	}
}

// leave forgets symbols, and the guards that speak of them.
func (t *symbolTable) leave(names map[string]bool) {
	if !slices.ContainsFunc(t.list, func(s Symbol) bool { return names[s.Name] }) {
		return
	}
	old, left := *t, func(s string) bool { return names[s] }
	*t = symbolTable{notes: boundNotes(old.notes, shape.Sym, func(s string) bool { return !left(s) })}
	t.version = old.version + 1
	for _, s := range old.list {
		if !left(s.Name) {
			t.define(s)
		}
	}
	for _, d := range old.guards {
		if !slices.ContainsFunc(d.Symbols(), left) {
			t.enter(d)
		}
	}
}
