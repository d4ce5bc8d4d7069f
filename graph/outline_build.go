package graph

import (
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// boundary finds the inputs and the results.
func (o *outliner) boundary() error {
	used := map[string]bool{} // symbols that the outside speaks of
	if o.g.findsSizes() {
		for n := range o.g.Nodes() {
			if o.in[n] {
				continue
			}
			for _, s := range n.symbolsUsed() {
				used[s] = true
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
		exported := false
		for u := range n.Users() {
			exported = exported || !o.in[u]
		}
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
	read := func(n *Node) int {
		if n.opcode == GetAttr {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(o.args, func(a, b *Node) int { return read(a) - read(b) })
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
		for _, name := range n.symbolsUsed() {
			if !slices.Contains(o.needs, name) {
				o.needs = append(o.needs, name)
			}
		}
	}
	for i := 0; i < len(o.needs); i++ { // grows with the values that are added
		name := o.needs[i]
		s, here := o.g.Symbol(name)
		switch {
		case here && o.in[s.Node] || o.sized(name).Node != nil:
		case here && s.Node != nil && s.Node.g == o.g:
			o.needed(s.Node)
		default:
			v, made := o.g.captureSize(name)
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
	for _, more := range v.symbolsUsed() {
		if !slices.Contains(o.needs, more) {
			o.needs = append(o.needs, more)
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
	outs := make([]*Node, len(o.outs))
	var packed *Structure
	if len(outs) != 1 {
		packed = &Structure{Kind: Results}
	}
	for i, n := range o.outs {
		outs[i] = k.to[n]
		if packed != nil {
			packed.Fields = append(packed.Fields, Leaf(i))
		}
	}
	o.sub.At().Output(packed, outs...)
	return o.call(o.rebase())
}

// facts takes over what is demanded of sizes: by the nodes, and equalities that their
// types rest on. What the rules of the nodes demand is asked again, because a guard
// that follows from one outside is not among those of the nodes.
func (o *outliner) facts(to map[*Node]*Node) {
	known := func(name string) bool { _, ok := o.sub.Symbol(name); return ok }
	for g := o.g; ; g = g.parent.g {
		for _, d := range g.symbols.guards {
			unknown := slices.ContainsFunc(d.Symbols(), func(s string) bool { return !known(s) })
			if !unknown && (d.Rel == shape.EQ || o.in[d.Node]) {
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
	anchor := call.next
	if k := len(values) - 1; k >= 0 {
		anchor = values[k].next
	}
	for _, n := range o.behind {
		if anchor == nil {
			panic(diag.Bug("nothing stands after the nodes of " + o.g.Name))
		}
		o.g.MoveBefore(n, anchor)
	}
	o.g.symbols.leave(o.inner)
	names := make([]string, len(o.outs))
	for i, n := range o.outs {
		names[i] = n.Name()
		values[i].typ = n.typ
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
	old := *t
	*t = symbolTable{notes: boundNotes(old.notes, shape.Sym, func(s string) bool { return !names[s] })}
	for _, s := range old.list {
		if !names[s.Name] {
			if t.byName == nil {
				t.byName = map[string]int{}
			}
			t.byName[s.Name] = len(t.list)
			t.list = append(t.list, s)
		}
	}
	for _, d := range old.guards {
		if !slices.ContainsFunc(d.Symbols(), func(s string) bool { return names[s] }) {
			t.enter(d)
		}
	}
}
