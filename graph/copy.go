package graph

import (
	"maps"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/shape"
)

// Copier copies nodes of one graph into another, or to another place of the same one: with types, side
// data, positions, scopes, regions and symbols. Clone, Inline, GraphCopy, Extract, Outline and
// interp.Transformer are Copiers with other fields; nothing else makes nodes of nodes.
//
// The one that NewCopier returns rebuilds a graph node by node, with changes. Tensors, leaf modules and
// sub-graphs keep their names: the module of the destination has to have them.
type Copier struct {
	c   *Cursor         // where copies go; what has no position, or no scope, gets the cursor's
	src *Graph          // what they are copies of
	to  map[*Node]*Node // what stands for a node of src

	names  naming
	size   map[string]shape.Dim // what symbols of src are now; others keep their names
	keeps  bool                 // symbols that src finds keep their names where these are free
	base   string               // the scope that those of src are relative to
	state  *state               // where tensors, leaves and sub-graphs are now; nil: where they were
	twin   bool                 // the tables of positions and scopes are copies of src's
	retype bool                 // types are inferred again where those of operands are others now
	args   []*Node              // memory of operands
}

// naming says what a copy is called.
type naming uint8

const (
	likeName naming = iota // like the node
	likeBase               // like the node without its number
	sameName               // as the node; no other node of the destination has that name
)

// NewCopier returns a copier of nodes of src into dst.
func NewCopier(dst, src *Graph) *Copier {
	return &Copier{c: dst.At(), src: src, to: map[*Node]*Node{}, retype: true}
}

// At gives the cursor, of the destination, what it hands on from the old node n: position, scope and the
// side data of inherited keys.
func (k *Copier) At(c *Cursor, n *Node) {
	c.static = diag.Pos{}
	n.inherit(c)
	c.pos, c.scope = k.position(n.pos), k.scope(n)
}

// Map records that v stands for n.
func (k *Copier) Map(n, v *Node) { k.to[n] = v }

// Mapped returns what stands for n, nil when nothing does.
func (k *Copier) Mapped(n *Node) *Node { return k.to[n] }

// Copy makes a copy of n at the cursor, on other operands. Types are kept when
// the operands' types are the same, else inferred.
func (k *Copier) Copy(c *Cursor, n *Node, args []*Node) *Node {
	k.c.before = c.Next()
	m := k.node(n, len(args))
	c.fail(k.link(n, args))
	return m
}

// Finish copies the symbols, guards and notes of the source, as far as they speak of nodes that have been
// mapped.
func (k *Copier) Finish() {
	for _, s := range k.src.symbols.list {
		v := k.to[s.Node]
		if v == nil {
			continue
		}
		if s.Node.opcode == Placeholder && v.opcode != Placeholder && k.c.g.parent == nil {
			defineInputSymbols(k.c.g) // v is made of an input, which has the size first
		}
		k.c.g.DefineSymbol(k.symbol(s.Name), v, s.Axis)
	}
	k.facts(func(name string) bool {
		_, own := k.src.Symbol(name)
		_, here := k.c.g.Symbol(k.symbol(name))
		_, given := k.size[name]
		return !own || here || given
	})
}

// facts copies the guards and notes of the source that speak of known symbols alone.
func (k *Copier) facts(known func(symbol string) bool) {
	g := k.c.g
	for _, d := range k.src.symbols.guards {
		r := d.Relation
		if len(k.size) > 0 {
			r = d.Bind(k.bind)
		}
		if !r.IsUnknown() && !slices.ContainsFunc(d.Symbols(), func(s string) bool { return !known(s) }) {
			g.Require(r, k.to[d.Node])
		}
	}
	if g != k.src {
		edited(g)
		g.symbols.notes = append(g.symbols.notes, boundNotes(k.src.symbols.notes, k.bind, g.knows)...)
	}
}

// symbol is what a symbol is called by the copies.
func (k *Copier) symbol(name string) string {
	if now, plain := k.bind(name).IsSymbol(); plain {
		return now
	}
	return name
}

// bind keeps symbols that src does not define, or has not yet.
func (k *Copier) bind(symbol string) shape.Dim {
	if d, ok := k.size[symbol]; ok {
		return d
	}
	return shape.Sym(symbol)
}

// all copies src whole into the cursor's graph, which is empty, and returns that.
func (k *Copier) all() *Graph {
	g := k.c.g
	g.names, k.names = namespace{maps.Clone(k.src.names.next)}, sameName
	k.to = make(map[*Node]*Node, k.src.count)
	for n := k.src.first; n != nil; n = n.next {
		k.node(n, len(n.args))
	}
	for n := k.src.first; n != nil; n = n.next { // operands may be made later where the order is wrong
		_ = k.link(n, k.operands(n)) // no type is inferred
	}
	k.Finish()
	return g
}

// carry copies a node under its name, on what stands for its operands.
func (k *Copier) carry(n *Node) *Node {
	m := k.node(n, len(n.args))
	m.g.names.take(n.Name())
	_ = k.link(n, k.operands(n)) // no type is inferred
	return m
}

// input makes a placeholder that stands for a value.
func (k *Copier) input(n *Node) *Node {
	c, name := *k.c, n.Name()
	if n.opcode == Placeholder {
		name = n.target
	}
	k.At(&c, n)
	p := c.Placeholder(name, n.typ, nil)
	p.setName(n.Name())
	k.to[n] = p
	return p
}

// operands are what stands for those of n, until the next call.
func (k *Copier) operands(n *Node) []*Node {
	k.args = k.args[:0]
	for i := range n.args {
		k.args = append(k.args, k.to[n.args[i].def])
	}
	return k.args
}

// node makes a copy of n that has neither operands nor regions yet.
func (k *Copier) node(n *Node, operands int) *Node {
	g := k.c.g
	m := g.alloc(operands)
	m.opcode, m.op, m.attrs, m.target, m.typ = n.opcode, n.op, n.attrs, n.target, n.typ
	switch k.names {
	case likeName:
		m.base, m.num = g.names.unique(n.Name())
	case likeBase:
		m.base, m.num = g.names.unique(n.base)
	case sameName:
		m.base, m.num = n.base, n.num
	}
	if len(k.size) > 0 {
		m.typ = n.typ.Bind(k.bind)
		if n.attrsFit() {
			m.attrs = n.op.Codec().Bind(n.attrs, k.bind)
		}
	}
	if k.state != nil {
		k.state.rename(m)
	}
	k.meta(m, n)
	g.insert(m, k.c.Next())
	g.count++
	k.to[n] = m
	return m
}

// meta copies position, scope and side data. Those of inherited keys that the node does not have come from
// the cursor.
func (k *Copier) meta(m, n *Node) {
	m.pos, m.scope = k.c.pos, k.c.scope
	static := k.c.static
	if n.pos != 0 || n.extra != nil && n.extra.static.File != "" {
		m.pos, static = k.position(n.pos), diag.Pos{}
	}
	if n.scope != 0 {
		m.scope = k.scope(n)
	}
	if n.extra == nil && static.File == "" && len(k.c.keys) == 0 {
		return
	}
	x := m.more()
	if n.extra != nil {
		*x = n.extra.clone()
	}
	if static.File != "" {
		x.static = static
	}
	x.fill(k.c.keys)
}

// position interns a stack of src.
func (k *Copier) position(id PosID) PosID {
	if from, to := k.src.pos, k.c.g.pos; from != to && !k.twin {
		return to.adopt(from, id)
	}
	return id
}

// scope interns the scope of a node of src.
func (k *Copier) scope(n *Node) ScopeID {
	if k.base == "" && (k.twin || k.src.scopes == k.c.g.scopes) {
		return n.scope
	}
	s := n.Scope()
	if k.base != "" {
		s.Path = strings.TrimSuffix(k.base+"."+s.Path, ".")
	}
	return k.c.g.Scope(s)
}

// link gives the copy of n its operands and regions, and tells listeners of it.
func (k *Copier) link(n *Node, args []*Node) (err error) {
	m := k.to[n]
	m.hold(args)
	for _, r := range n.Regions() {
		if r != nil {
			m.extra.regions = append(m.extra.regions, k.region(m, r))
		}
	}
	if k.retype {
		err = k.infer(n, m)
	}
	m.created()
	return err
}

// infer types a copy again when its operands are of other types than those of n.
func (k *Copier) infer(n, m *Node) (err error) {
	if n.opcode == Output {
		m.typ = outputType(m)
	}
	for i := range min(len(n.args), len(m.args)) {
		was, is := n.args[i].def, m.args[i].def
		if was == nil || is == nil || was.typ.Same(is.typ) {
			continue
		}
		err = m.g.infer(m)
		for _, s := range k.src.SymbolsOf(n) { // what a run finds has no other size
			if m.typ.Ranked() && m.typ.Dim(s.Axis).IsUnknown() {
				m.typ = m.typ.WithDims(m.typ.Dims().With(s.Axis, shape.Sym(s.Name)))
			}
		}
		break
	}
	return err
}

// region copies a region whole.
func (k *Copier) region(parent *Node, r *Graph) *Graph {
	c := *k.c
	c.g, c.before = k.c.g.NewRegion(r.Name), nil
	c.g.parent = parent
	return (&Copier{c: &c, src: r, size: k.inside(r), base: k.base, state: k.state, twin: k.twin}).all()
}

// inside returns what symbols are in a region: its own hide those around, and get another name where a size
// of the new graph has theirs.
func (k *Copier) inside(r *Graph) map[string]shape.Dim {
	if len(k.size) == 0 {
		return nil
	}
	size, taken := maps.Clone(k.size), map[string]bool{}
	for _, s := range r.symbols.list {
		delete(size, s.Name)
	}
	for _, d := range size {
		for _, name := range d.Symbols() {
			taken[name] = true
		}
	}
	for _, s := range r.symbols.list {
		if !taken[s.Name] {
			continue
		}
		name := s.Name
		for i := 1; taken[name] || r.knows(name); i++ {
			name = s.Name + "_" + itoa(i)
		}
		taken[name], size[s.Name] = true, shape.Sym(name)
	}
	return size
}

// Clone returns a copy of the module that shares nothing that an edit or a run
// changes: nodes, names, symbols, positions, leaf modules and buffers are its
// own. The values of parameters that are no buffers are shared, because they are
// large; writing to one in place shows in both.
func Clone(m *Module) *Module {
	c := m.WithGraph(m.Graph.Clone())
	for _, p := range c.params {
		if p.Buffer && p.Value != nil {
			p.Value = array.Clone(p.Value)
		}
	}
	return c
}

// Clone returns a copy of the graph, its regions included, that belongs to no
// module. What Lint refuses is not copied: operands that are erased or of another
// graph are absent, regions that are nil and sizes of what is not there are left out.
func (g *Graph) Clone() *Graph {
	c := &Graph{Name: g.Name, pos: g.pos.clone(), scopes: g.scopes.clone()}
	return (&Copier{c: c.At(), src: g, twin: true}).all()
}

// WithGraph returns a module of g, which has none, with the type, the state, the
// leaf modules and copies of the sub-graphs of m. The arrays are shared.
func (m *Module) WithGraph(g *Graph) *Module {
	c := NewModule(g)
	c.Type = m.Type
	c.params, c.byPath = make([]*Param, 0, len(m.params)), make(map[string]*Param, len(m.params))
	for _, p := range m.params {
		c.SetParam(*p)
	}
	for path, b := range m.Bounds() {
		c.SetBound(path, b.clone())
	}
	for _, sub := range m.subs {
		c.addSub(sub.Clone())
	}
	return c
}

func (b *Bound) clone() Bound {
	c := *b
	c.Params, c.Names = slices.Clone(b.Params), slices.Clone(b.Names)
	return c
}

// clone copies all but the regions.
func (x *extra) clone() extra {
	c := *x
	c.structure, c.keys, c.regions = x.structure.clone(), slices.Clone(x.keys), nil
	return c
}

func (s *Structure) clone() *Structure {
	if s == nil {
		return nil
	}
	c := *s
	c.Keys, c.Fields = slices.Clone(s.Keys), slices.Clone(s.Fields)
	for i, f := range c.Fields {
		c.Fields[i] = f.clone()
	}
	return &c
}

// boundNotes are notes whose guards speak of known symbols alone.
func boundNotes(notes []Specialisation, env func(symbol string) shape.Dim, known func(symbol string) bool) []Specialisation {
	notes = slices.Clone(notes)
	for i, s := range notes {
		if s.Guard == nil {
			continue
		}
		notes[i].Guard = s.Guard.Bind(env)
		if g, size := notes[i].Guard.(guard.Size); size && g.IsUnknown() || slices.ContainsFunc(notes[i].Guard.Symbols(), func(name string) bool { return !known(name) }) {
			notes[i].Guard = nil
		}
	}
	return notes
}
