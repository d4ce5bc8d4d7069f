package graph

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Inline copies the nodes of graph to the cursor's place, with args for graph's inputs
// (nil for absent ones), and returns what graph's output returns, unpacked: one node
// for each operand of the output. graph does not change.
//
// Types, attributes, regions, positions, scopes, side data and notes are copied; nodes
// without a position get the cursor's. The symbols of graph's inputs become the
// sizes of args, its other symbols get fresh names. Parameters, leaf modules and sub-graphs
// of another module are entered into this one under the prefix graph.Name, unless it
// has the same tensor there, or at the same path, already. Types are not inferred again, also where
// args are known better than graph's inputs; shapeprop.Infer(nil) does that. It
// panics with *diag.Error when the number of args is not that of graph's inputs.
func (c *Cursor) Inline(graph *Graph, args []*Node) []*Node {
	inputs := graph.Inputs()
	if len(inputs) != len(args) {
		panic((&Node{g: c.g, base: graph.Name}).Error(op.OperandCount, itoa(len(args))+" operands, expected "+itoa(len(inputs))))
	}
	values := make(map[*Node]*Node, graph.count)
	for i, p := range inputs {
		values[p] = args[i]
	}
	return c.inliner(graph, values).inline()
}

// GraphCopy is Inline with values for any nodes of graph, which are not copied then;
// those of its inputs must be there, nil for absent ones. It enters the copies of the
// other nodes into values.
func (c *Cursor) GraphCopy(graph *Graph, values map[*Node]*Node) []*Node {
	for _, p := range graph.Inputs() {
		if _, given := values[p]; !given {
			panic(p.Error(op.OperandCount, "no value is given for input "+strconv.Quote(p.target)))
		}
	}
	return c.inliner(graph, values).inline()
}

func (c *Cursor) inliner(graph *Graph, values map[*Node]*Node) *Copier {
	return &Copier{c: c, src: graph, to: values, names: likeBase, size: map[string]shape.Dim{}, state: newState(graph, c.g)}
}

// inline copies what has no value yet and returns the results.
func (k *Copier) inline() (results []*Node) {
	for _, p := range k.src.Inputs() {
		k.sizes(p, true)
	}
	var made []*Node
	for _, n := range slices.Collect(k.src.Nodes()) { // src may be the cursor's graph
		_, given := k.to[n]
		if n.opcode == Output || given && n.opcode == Placeholder {
			continue
		}
		if !given {
			k.node(n, len(n.args))
			made = append(made, n)
		}
		k.sizes(n, given)
	}
	out := k.src.Output()
	for _, n := range made { // operands may be made later where the order is wrong
		_ = k.link(n, k.operands(n)) // no type is inferred
	}
	g := k.c.g
	had := slices.Clip(g.symbols.notes)
	k.facts(func(string) bool { return true })
	g.symbols.notes = append(had, slices.DeleteFunc(slices.Clone(g.symbols.notes[len(had):]), func(s Specialisation) bool {
		return slices.ContainsFunc(had, s.same) // of another call of the same sub-graph
	})...)
	if out == nil {
		return nil
	}
	return slices.Clone(k.operands(out))
}

// same reports whether two notes say the same.
func (s Specialisation) same(o Specialisation) bool {
	return s.What == o.What && s.Pos == o.Pos && (s.Guard == nil) == (o.Guard == nil) && (s.Guard == nil || s.Guard.String() == o.Guard.String())
}

// sizes finds out what the symbols that n defines are now; given tells that what stands for n is no copy.
func (k *Copier) sizes(n *Node, given bool) {
	symbols := k.src.SymbolsOf(n)
	m := k.to[n]
	for _, s := range symbols {
		if _, known := k.size[s.Name]; known {
			continue
		}
		if m == nil {
			k.size[s.Name] = shape.Unknown
			continue
		}
		d := m.typ.Dim(s.Axis)
		if name, plain := d.IsSymbol(); d.IsUnknown() || !given && plain && name == s.Name {
			d = k.fresh(m, s)
		}
		k.size[s.Name] = d
	}
	if len(symbols) > 0 && !given {
		m.typ = m.typ.Bind(k.bind)
	}
}

// fresh makes a symbol of the new graph for a size that is found inside of src.
func (k *Copier) fresh(m *Node, s Symbol) shape.Dim {
	if k.keeps && !m.g.knows(s.Name) {
		m.g.DefineSymbol(s.Name, m, s.Axis)
		return shape.Sym(s.Name)
	}
	return m.g.NewSymbol(m, s.Axis)
}

// Inline replaces a call of a sub-graph by the nodes of that, and returns what now
// gives its results; the call and the getitem nodes that take it apart are erased.
// It is the inverse of Outline: the sub-graph stays, for other calls
// (Module.DropUnused). Positions are kept, scopes are put below that of the call,
// and symbols that the sub-graph finds itself keep their names where these are free.
func Inline(call *Node) (results []*Node, err error) {
	if call.Op() != op.Call {
		return nil, call.Error(BadCall, call.String()+" is no call of a sub-graph")
	}
	if e := call.CheckCall(); e != nil {
		return nil, e
	}
	sub, g := call.Callee(), call.g
	if sub == nil {
		return nil, call.Error(BadCall, "the graph belongs to no module, expected one with the sub-graph")
	}
	outs := sub.Output().Args()
	given := [][]*Node{{call}} // what gives result i so far
	if sub.Output().typ.Kind() == shape.Tuple {
		if given, err = call.items(len(outs)); err != nil {
			return nil, err
		}
	}
	defer diag.Catch(&err)
	c := g.Before(call)
	args := call.Args()
	if b := call.Bound(); b != nil {
		written := g.mod.writes()
		for _, path := range b.Params {
			read := c.GetAttr(path)
			read.SetLive(written[path])
			args = append(args, read)
		}
	}
	k := c.inliner(sub, make(map[*Node]*Node, sub.count))
	k.keeps, k.base = true, call.Scope().Path
	for i, p := range sub.Inputs() {
		k.to[p] = args[i]
	}
	for i, r := range outs {
		k.export(r, given[i])
	}
	results = k.inline()
	for i, old := range given {
		for _, n := range old {
			results[i].keep(n)
			n.ReplaceUses(results[i], nil)
			if n != call {
				if err := g.Erase(n); err != nil {
					return nil, err
				}
			}
		}
	}
	g.symbols.guardTable.move(call, nil)
	return results, g.Erase(call)
}

// writes returns the paths of the tensors that any node of the module writes.
func (m *Module) writes() map[string]bool {
	written := map[string]bool{}
	for g := range m.Graphs() {
		for path := range writtenPaths(g) {
			written[path] = true
		}
	}
	return written
}

// items returns the getitem nodes of a call by result.
func (n *Node) items(count int) ([][]*Node, error) {
	items := make([][]*Node, count)
	for u := range n.Users() {
		a, ok := u.attrs.(op.GetItemAttrs)
		if u.op != op.GetItem || !ok || a.Index < 0 || a.Index >= count {
			return nil, u.Error(BadCall, u.String()+" uses "+n.String()+" as a whole, expected getitem of one of its "+strconv.Itoa(count)+" results")
		}
		items[a.Index] = append(items[a.Index], u)
	}
	return items, nil
}

// export says what the symbols that are sizes of result r are called by the caller,
// who may have defined them by the nodes that give the result.
func (k *Copier) export(r *Node, given []*Node) {
	if r.opcode == Placeholder {
		return
	}
	for _, s := range k.src.SymbolsOf(r) {
		for _, n := range given {
			for _, t := range k.c.g.SymbolsOf(n) {
				if _, known := k.size[s.Name]; !known && t.Axis == s.Axis {
					k.size[s.Name] = shape.Sym(t.Name)
				}
			}
		}
	}
}

// keep gives n what the type of old says beyond its own.
func (n *Node) keep(old *Node) {
	if t, ok := agree(n.g, old.typ, n.typ); ok {
		n.typ = t
	}
}

// state enters what nodes of one module refer to into another.
type state struct {
	from, to *Module
	prefix   string            // of what the other module does not have
	now      map[string]string // by "p", "m" or "s" and the old name, of a tensor, leaf or sub-graph
}

// newState returns nil where the modules are one, or a graph has none: names stay.
func newState(src, dst *Graph) *state {
	top := src.root()
	s := &state{from: top.mod, to: dst.mod, now: map[string]string{}}
	if s.from == s.to || s.from == nil || s.to == nil {
		return nil
	}
	if top.Name != "" {
		s.prefix = top.Name + "."
	}
	return s
}

// rename makes a copied node refer to what the new module has.
func (s *state) rename(m *Node) {
	switch m.opcode {
	case GetAttr:
		m.target = s.once("p", m.target, s.param)
	case CallModule:
		m.target = s.once("m", m.target, s.leaf)
	case CallFunction, CallMethod:
		m.attrs = s.called(m.attrs)
	}
}

// once enters what has not been entered yet.
func (s *state) once(kind, name string, enter func(name string) string) string {
	now, done := s.now[kind+name]
	if !done {
		now = enter(name)
		s.now[kind+name] = now
	}
	return now
}

// called returns the attributes of an operator, which name a sub-graph of the new module
// where they named one of the old one.
func (s *state) called(attrs any) any {
	if a, ok := attrs.(op.CallAttrs); ok {
		return op.CallAttrs{Graph: s.once("s", a.Graph, s.sub)}
	}
	return attrs
}

// sub enters a sub-graph, unless the new module has the same.
func (s *state) sub(name string) string {
	src := s.from.Sub(name)
	if src == nil {
		return name
	}
	g := s.to.NewSub(name)
	s.now["s"+name] = g.Name // for one that calls itself
	(&Copier{c: g.At(), src: src, state: s}).all()
	for _, have := range s.to.subs {
		if same, _ := Equal(have, g); same && have != g {
			s.to.dropSubs(func(h *Graph) bool { return h == g })
			return have.Name
		}
	}
	return g.Name
}

// param enters a tensor, unless the new module has the same.
func (s *state) param(path string) string {
	src := s.from.Param(path)
	if src == nil {
		return path
	}
	same := func(old *Param) bool { return old != nil && src.Value != nil && old.Value == src.Value }
	now := s.prefix + path
	switch {
	case same(s.to.Param(path)):
		return path // the graphs are of one model
	case same(s.to.Param(now)):
		return now
	}
	p := *src
	p.Path = s.to.FreshPath(now)
	s.to.SetParam(p)
	return p.Path
}

// leaf enters a leaf module, unless the new module has the same.
func (s *state) leaf(path string) string {
	src := s.from.Bound(path)
	if src == nil {
		return path
	}
	b := src.clone()
	b.Attrs = s.called(b.Attrs)
	for i, p := range b.Params {
		if p != "" {
			b.Params[i] = s.once("p", p, s.param)
		}
	}
	same := func(old *Bound) bool {
		return old != nil && old.Op == b.Op && b.Op != nil && b.Op.Codec().Equal(old.Attrs, b.Attrs) && slices.Equal(old.Params, b.Params)
	}
	if len(b.Params) > 0 && same(s.to.Bound(path)) {
		return path
	}
	now := s.prefix + path
	for i := 1; s.to.Bound(now) != nil && !same(s.to.Bound(now)); i++ {
		now = s.prefix + path + "_" + itoa(i)
	}
	if s.to.Bound(now) == nil {
		s.to.SetBound(now, b)
	}
	return now
}
