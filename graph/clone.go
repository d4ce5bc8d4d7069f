package graph

import (
	"maps"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Clone returns a copy of the module that shares nothing that an edit or a run
// changes: nodes, names, symbols, positions, leaf modules and buffers are its
// own. The values of parameters that are no buffers are shared, because they are
// large; writing to one in place shows in both.
func Clone(m *Module) *Module {
	c := m.WithGraph(m.Graph.Clone())
	for _, p := range c.params {
		if p.Buffer && p.Value != nil {
			p.Value = copyArray(p.Value)
		}
	}
	return c
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
		d := *b
		d.Params, d.Names = slices.Clone(b.Params), slices.Clone(b.Names)
		c.SetBound(path, d)
	}
	for _, sub := range m.subs {
		c.addSub(sub.Clone())
	}
	return c
}

func copyArray(a *array.Array) *array.Array {
	c := array.New(a.DType(), a.Shape()...)
	copy(array.Bytes(c), array.Bytes(array.Contiguous(a)))
	return c
}

// Clone returns a copy of the graph, its regions included, that belongs to no
// module. What Lint refuses is not copied: operands that are erased or of another
// graph are absent, regions that are nil are left out.
func (g *Graph) Clone() *Graph {
	pos := &positions{frames: slices.Clone(g.pos.frames), ids: maps.Clone(g.pos.ids), sites: map[siteKey]PosID{}}
	sc := &scopes{list: slices.Clone(g.scopes.list), ids: maps.Clone(g.scopes.ids)}
	return g.clone(pos, sc, nil)
}

func (g *Graph) clone(pos *positions, sc *scopes, mod *Module) *Graph {
	graph := &Graph{Name: g.Name, mod: mod, names: namespace{maps.Clone(g.names.next)}, pos: pos, scopes: sc}
	to := make(map[*Node]*Node, g.count)
	for node := g.first; node != nil; node = node.next {
		m := graph.alloc(len(node.args))
		m.opcode, m.op, m.attrs, m.target, m.typ = node.opcode, node.op, node.attrs, node.target, node.typ
		m.base, m.num, m.pos, m.scope = node.base, node.num, node.pos, node.scope
		if node.extra != nil {
			m.extra = node.extra.clone()
			m.extra.regions = nil
			for _, r := range node.extra.regions {
				if r == nil {
					continue
				}
				s := r.clone(pos, sc, mod)
				s.parent = m
				m.extra.regions = append(m.extra.regions, s)
			}
		}
		to[node] = m
		graph.insert(m, nil)
		graph.count++
	}
	for n := g.first; n != nil; n = n.next {
		m := to[n]
		for i := range n.args {
			m.args[i].user = m
			m.args[i].link(to[n.args[i].def])
		}
	}
	for _, s := range g.symbols.list {
		graph.DefineSymbol(s.Name, to[s.Node], s.Axis)
	}
	for _, d := range g.symbols.guards {
		graph.Require(d.Relation, to[d.Node])
	}
	graph.symbols.notes = slices.Clone(g.symbols.notes)
	return graph
}

// clone copies all but the regions.
func (x *extra) clone() *extra {
	c := *x
	c.structure = x.structure.clone()
	c.keys = slices.Clone(x.keys)
	return &c
}

func (s *Structure) clone() *Structure {
	if s == nil {
		return nil
	}
	c := *s
	c.Keys = slices.Clone(s.Keys)
	c.Fields = slices.Clone(s.Fields)
	for i, f := range c.Fields {
		c.Fields[i] = f.clone()
	}
	return &c
}

// Inline copies the nodes of graph to the cursor's place, with args for graph's inputs
// (nil for absent ones), and returns what graph's output returns, unpacked: one node
// for each operand of the output. graph does not change.
//
// Types, attributes, regions, positions, scopes and side data are copied; nodes
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
	in := &inliner{c: c, src: graph, to: make(map[*Node]*Node, graph.count), size: map[string]shape.Dim{}, paths: map[string]string{}}
	return in.all(inputs, args)
}

// all copies the nodes of src, with args for its inputs, and returns its results.
func (in *inliner) all(inputs, args []*Node) []*Node {
	graph := in.src
	for i, p := range inputs {
		in.to[p] = args[i]
		in.symbols(p)
	}
	var out []*Node
	for _, n := range slices.Collect(graph.Nodes()) { // graph may be the cursor's graph
		switch n.opcode {
		case Placeholder:
		case Output:
			for i := range n.args {
				out = append(out, in.to[n.args[i].def])
			}
		default:
			if _, given := in.to[n]; given {
				continue
			}
			in.to[n] = in.node(n)
			in.symbols(n)
		}
	}
	for _, d := range graph.symbols.guards {
		in.c.g.Require(d.Bind(in.bind), in.to[d.Node])
	}
	return out
}

// inliner copies the nodes of src.
type inliner struct {
	c     *Cursor
	src   *Graph
	to    map[*Node]*Node
	size  map[string]shape.Dim // what src's symbols are in the new graph
	paths map[string]string    // where src's parameters and modules are now
	base  string               // the scope that src's are relative to
	named bool                 // src's symbols keep their names where these are free
}

// symbols finds out what the symbols that n defines are now.
func (in *inliner) symbols(n *Node) {
	for _, s := range in.src.SymbolsOf(n) {
		m := in.to[n]
		if _, given := in.size[s.Name]; given {
			continue
		}
		if m == nil {
			in.size[s.Name] = shape.Unknown
			continue
		}
		d := m.typ.Dim(s.Axis)
		if sym, is := d.IsSymbol(); d.IsUnknown() || is && n.opcode != Placeholder && sym == s.Name {
			d = in.fresh(m, s)
		}
		in.size[s.Name] = d
		if n.opcode != Placeholder {
			m.typ = m.typ.Bind(in.bind)
			m.changed()
		}
	}
}

// fresh makes a symbol of the new graph for a size that is found inside of src.
func (in *inliner) fresh(m *Node, s Symbol) shape.Dim {
	if in.named && !in.c.g.knows(s.Name) {
		in.c.g.DefineSymbol(s.Name, m, s.Axis)
		return shape.Sym(s.Name)
	}
	return in.c.g.NewSymbol(m, s.Axis)
}

// bind keeps symbols that src does not define, or has not yet.
func (in *inliner) bind(symbol string) shape.Dim {
	if d, ok := in.size[symbol]; ok {
		return d
	}
	return shape.Sym(symbol)
}

func (in *inliner) node(n *Node) *Node {
	args := make([]*Node, len(n.args))
	for i := range n.args {
		args[i] = in.to[n.args[i].def]
	}
	m := in.c.add(n.opcode, n.base, args)
	m.op, m.target, m.typ = n.op, n.target, n.typ.Bind(in.bind)
	m.attrs = n.attrs
	if n.attrsFit() {
		m.attrs = n.op.Codec().Bind(n.attrs, in.bind)
	}
	switch n.opcode {
	case GetAttr:
		m.target = in.param(n.target)
	case CallModule:
		m.target = in.module(n.target)
	case CallFunction, CallMethod:
		m.attrs = in.called(n.op, m.attrs)
	}
	if n.scope != 0 {
		s := n.Scope()
		if in.base != "" {
			s.Path = in.base + "." + s.Path
		}
		m.scope = in.c.g.Scope(s)
	}
	switch {
	case n.pos == 0:
	case n.g.pos == in.c.g.pos:
		m.pos = n.pos
	default:
		m.pos = in.c.g.pos.adopt(n.g.pos, n.pos)
	}
	in.extras(m, n)
	m.created()
	return m
}

func (in *inliner) extras(m, n *Node) {
	if n.extra == nil {
		return
	}
	static := in.c.static
	m.extra = n.extra.clone()
	m.extra.regions = nil
	if m.extra.static.File == "" && n.pos == 0 {
		m.extra.static = static
	}
	for _, r := range n.extra.regions {
		m.extra.regions = append(m.extra.regions, in.region(m, r))
	}
}

// region copies a region: by inlining it into an empty graph, whose inputs are
// the copies of its own.
func (in *inliner) region(parent *Node, graph *Graph) *Graph {
	s := in.c.g.NewRegion(graph.Name)
	s.parent = parent
	cur := s.At()
	inner := &inliner{c: cur, src: graph, to: make(map[*Node]*Node, graph.count), size: maps.Clone(in.size), paths: in.paths, base: in.base}
	for _, sym := range graph.symbols.list {
		delete(inner.size, sym.Name) // graph's own symbol hides the outer one
	}
	inner.fill()
	return s
}

// fill copies src, its inputs and output included, into the empty graph of the cursor.
func (in *inliner) fill() {
	g := in.c.g
	for n := in.src.first; n != nil; n = n.next {
		m := in.node(n)
		m.setName(n.Name())
		in.to[n] = m
	}
	for _, s := range in.src.symbols.list {
		g.DefineSymbol(s.Name, in.to[s.Node], s.Axis)
	}
	for _, d := range in.src.symbols.guards {
		g.Require(d.Bind(in.bind), in.to[d.Node])
	}
}

// called returns the attributes of an operator, which name a sub-graph of the new module
// where they named one of the old one.
func (in *inliner) called(o *op.Op, attrs any) any {
	a, ok := attrs.(op.CallAttrs)
	if o != op.Call || !ok {
		return attrs
	}
	return op.CallAttrs{Graph: in.sub(a.Graph)}
}

// sub enters a sub-graph of the old module into the new one, unless that has the same,
// and returns its name there.
func (in *inliner) sub(name string) string {
	from, to := in.src.root().mod, in.c.g.mod
	if from == to || from == nil || to == nil {
		return name
	}
	if now, ok := in.paths["s "+name]; ok {
		return now
	}
	src := from.Sub(name)
	if src == nil {
		return name
	}
	g := to.NewSub(name)
	in.paths["s "+name] = g.Name
	inner := &inliner{c: g.At(), src: src, to: make(map[*Node]*Node, src.count), size: map[string]shape.Dim{}, paths: in.paths}
	inner.fill()
	for _, have := range to.subs {
		if same, _ := Equal(have, g); same && have != g {
			to.dropSubs(func(h *Graph) bool { return h == g })
			in.paths["s "+name] = have.Name
			break
		}
	}
	return in.paths["s "+name]
}

// param returns the path in the new module of a parameter of the old one.
func (in *inliner) param(path string) string {
	from, to := in.src.root().mod, in.c.g.mod
	if from == to || from == nil || to == nil || path == "" {
		return path
	}
	if p, ok := in.paths["p "+path]; ok {
		return p
	}
	src := from.Param(path)
	if src == nil {
		return path
	}
	now := in.prefix() + path
	if old := to.Param(path); old != nil && src.Value != nil && old.Value == src.Value {
		now = path // the graphs are of one model
	} else if old := to.Param(now); old == nil || src.Value == nil || old.Value != src.Value {
		now = to.FreshPath(now)
		p := *src
		p.Path = now
		to.SetParam(p)
	}
	in.paths["p "+path] = now
	return now
}

// module returns the path in the new module of a leaf of the old one.
func (in *inliner) module(path string) string {
	from, to := in.src.root().mod, in.c.g.mod
	if from == to || from == nil || to == nil {
		return path
	}
	if p, ok := in.paths["m "+path]; ok {
		return p
	}
	src := from.Bound(path)
	if src == nil {
		return path
	}
	b := *src
	b.Names, b.Params, b.Attrs = slices.Clone(src.Names), slices.Clone(src.Params), in.called(src.Op, src.Attrs)
	for i := range b.Params {
		b.Params[i] = in.param(b.Params[i])
	}
	same := func(old *Bound) bool {
		return old.Op == b.Op && b.Op != nil && b.Op.Codec().Equal(old.Attrs, b.Attrs) && slices.Equal(old.Params, b.Params)
	}
	now := in.prefix() + path
	if old := to.Bound(path); old != nil && len(b.Params) > 0 && same(old) {
		now = path
	}
	for i := 1; ; i++ {
		old := to.Bound(now)
		if old == nil {
			to.SetBound(now, b)
			break
		}
		if same(old) {
			break
		}
		now = in.prefix() + path + "_" + itoa(i)
	}
	in.paths["m "+path] = now
	return now
}

func (in *inliner) prefix() string {
	if name := in.src.root().Name; name != "" {
		return name + "."
	}
	return ""
}

// root returns the graph that g is a region of, however deep, g itself if none.
func (g *Graph) root() *Graph {
	for g.parent != nil {
		g = g.parent.g
	}
	return g
}
