package graph

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Copier copies nodes from one graph to another, with types, side data,
// positions, scopes, regions and symbols.
type Copier struct {
	dst, src *Graph
	nodes    map[*Node]*Node
}

// NewCopier returns a copier of nodes of src into dst.
func NewCopier(dst, src *Graph) *Copier { return &Copier{dst: dst, src: src, nodes: map[*Node]*Node{}} }

// At gives the cursor, of the destination, the position and scope of the old node n.
func (k *Copier) At(c *Cursor, n *Node) {
	c.static, c.pos = diag.Pos{}, 0
	if n.extra != nil {
		c.static = n.extra.static
	}
	if k.dst.pos == k.src.pos {
		c.pos = n.pos
	} else {
		c.pos = k.dst.pos.adopt(k.src.pos, n.pos)
	}
	c.scope = k.dst.Scope(n.Scope())
}

// adopt interns a stack of another graph.
func (p *positions) adopt(from *positions, id PosID) PosID {
	if id == 0 {
		return 0
	}
	f := frame{from.frames[id].pc, p.adopt(from, from.frames[id].caller)}
	if have, ok := p.ids[f]; ok {
		return have
	}
	next := PosID(len(p.frames))
	p.frames = append(p.frames, f)
	p.ids[f] = next
	return next
}

// Map records that v stands for n.
func (k *Copier) Map(n, v *Node) { k.nodes[n] = v }

// Mapped returns what stands for n, nil when nothing does.
func (k *Copier) Mapped(n *Node) *Node { return k.nodes[n] }

// Copy makes a copy of node at the cursor, on other operands. Types are kept when
// the operands' types are the same, else inferred.
func (k *Copier) Copy(cursor *Cursor, node *Node, args []*Node) *Node {
	value := cursor.add(node.opcode, node.Name(), args)
	value.op, value.attrs, value.target, value.typ = node.op, node.attrs, node.target, node.typ
	if node.extra != nil {
		x := value.more()
		x.structure, x.def, x.live = node.extra.structure, node.extra.def, node.extra.live
		x.static = cursor.static
		x.keys = append([]keyed(nil), node.extra.keys...)
		for _, r := range node.extra.regions {
			x.regions = append(x.regions, k.region(r, value))
		}
	}
	k.nodes[node] = value
	var err error
	for i := range node.args {
		a := node.args[i].def
		if a != nil && args[i] != nil && !a.typ.Same(args[i].typ) {
			err = value.g.infer(value)
			break
		}
	}
	if node.opcode == Output {
		value.typ = outputType(value)
	}
	value.created()
	cursor.fail(err)
	return value
}

// region copies a sub-graph whole.
func (k *Copier) region(r *Graph, parent *Node) *Graph {
	g := k.dst.NewRegion(r.Name)
	g.parent = parent
	sub := NewCopier(g, r)
	c := g.At()
	for n := range r.Nodes() {
		sub.At(c, n)
		args := make([]*Node, len(n.args))
		for i := range n.args {
			args[i] = sub.nodes[n.args[i].def]
		}
		sub.Copy(c, n, args)
	}
	sub.Finish()
	return g
}

// Finish copies the symbols, guards and notes of the source whose nodes have
// been mapped.
func (k *Copier) Finish() {
	for _, s := range k.src.symbols.list {
		if v := k.nodes[s.Node]; v != nil {
			k.dst.DefineSymbol(s.Name, v, s.Axis)
		}
	}
	for _, g := range k.src.symbols.guards {
		k.dst.Require(g.Relation, k.nodes[g.Node])
	}
	k.dst.symbols.notes = append(k.dst.symbols.notes, boundNotes(k.src.symbols.notes, shape.Sym, k.dst.knows)...)
}

// Extract returns the part of a graph that computes outputs from inputs, values of one
// graph, as a module of its own: a placeholder for each input, then for each input of
// the graph that the part needs besides; copies of the nodes between, which keep
// names, positions and side data; the outputs in their order. The module's tensors
// are shared, those that the part does not use are left out. Symbols are sizes of the
// new inputs, or of nodes of the part; guards that speak of them come along. Calls
// that no output needs are no part; it is an error (FX3041) when one of them writes
// state that the part reads, or a size of the part comes from outside alone.
func Extract(inputs, outputs []*Node) (*Module, error) { return extract(inputs, outputs, nil) }

// extract is Extract with a structure for the outputs.
func extract(inputs, outputs []*Node, s *Structure) (*Module, error) {
	x, err := newExtraction(inputs, outputs)
	if err != nil {
		return nil, err
	}
	if err := x.writes(); err != nil {
		return nil, err
	}
	x.enter()
	x.root()
	for n := range x.g.Nodes() {
		if x.taken[n] && x.to[n] == nil {
			if err := x.copy(n); err != nil {
				return nil, err
			}
		}
	}
	x.guards()
	out := make([]*Node, len(outputs))
	for i, n := range outputs {
		out[i] = x.to[n]
	}
	x.c.Output(s, out...)
	x.mod.DropUnused()
	if err := Lint(x.mod.Graph).Err(); err != nil {
		return nil, &diag.Error{Code: BadExtract, Msg: "the part of the graph does not stand on its own", Err: err,
			Hint: "add the values whose sizes it uses to the inputs"}
	}
	return x.mod, nil
}

// extraction is an inliner into a graph that is made of it alone.
type extraction struct {
	inliner
	g      *Graph // what is taken from
	mod    *Module
	inputs []*Node        // what becomes placeholders
	taken  map[*Node]bool // what outputs need, inputs included
	solved bool           // a symbol is now an expression of others
}

func newExtraction(inputs, outputs []*Node) (*extraction, error) {
	if len(outputs) == 0 {
		return nil, diag.New(BadExtract, "no outputs are given, expected one or more")
	}
	x := &extraction{g: outputs[0].g, taken: map[*Node]bool{}}
	given := map[*Node]bool{}
	for i, n := range append(slices.Clone(inputs), outputs...) {
		switch {
		case n.g != x.g || n.erased || n.opcode == Output:
			return nil, n.Error(BadExtract, n.String()+" is no value of the graph "+x.g.Name)
		case n.typ.Kind() == shape.Tuple:
			return nil, n.Error(BadExtract, n.String()+" is a tuple, expected tensors").WithHint("give its getitem nodes")
		case i < len(inputs) && given[n]:
			return nil, n.Error(BadExtract, n.String()+" is given twice as an input")
		}
		if i < len(inputs) {
			given[n] = true
		} else {
			x.taken[n] = true
		}
	}
	x.inputs = slices.Clone(inputs)
	var more []*Node
	for n := range x.g.Backward() {
		switch {
		case !x.taken[n] || given[n]:
		case n.opcode == Placeholder:
			more = append(more, n)
		default:
			for a := range n.Inputs() {
				x.taken[a] = true
			}
		}
	}
	slices.Reverse(more)
	x.inputs = append(x.inputs, more...)

	to := New(x.g.Name)
	if x.mod = NewModule(to); x.g.mod != nil {
		x.mod = x.g.mod.WithGraph(to)
	}
	x.inliner = inliner{c: to.At(), src: x.g, to: map[*Node]*Node{}, size: map[string]shape.Dim{}, paths: map[string]string{}}
	for _, p := range x.mod.params {
		x.paths["p "+p.Path] = p.Path
	}
	for path := range x.mod.Bounds() {
		x.paths["m "+path] = path
	}
	for _, g := range x.mod.subs {
		x.paths["s "+g.Name] = g.Name
	}
	return x, nil
}

// writes refuses a part that reads state which calls outside of it write.
func (x *extraction) writes() error {
	reads := map[string]bool{}
	note := func(n *Node) {
		if n.opcode == GetAttr {
			reads[n.target] = true
		}
	}
	for n := range x.taken {
		note(n)
		for m := range n.Inner() {
			note(m)
		}
	}
	refuse := func(n, write *Node) error {
		if write.Op() != op.Assign {
			return nil
		}
		at := write.Arg(0)
		for at != nil && at.opcode != GetAttr && at.NumArgs() > 0 {
			at = at.Arg(0) // of a view, or of an earlier write
		}
		if at != nil && reads[at.target] {
			return n.Error(BadExtract, n.String()+" writes "+at.target+", which the part of the graph reads").WithHint("add it to the outputs")
		}
		return nil
	}
	for n := range x.g.Nodes() {
		if x.taken[n] {
			continue
		}
		if err := refuse(n, n); err != nil {
			return err
		}
		for m := range n.Inner() {
			if err := refuse(n, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter makes the placeholders.
func (x *extraction) enter() {
	places := NewCopier(x.c.g, x.g)
	for _, n := range x.inputs {
		name := n.Name()
		if n.opcode == Placeholder {
			name = n.target
		}
		places.At(x.c, n)
		p := x.c.Placeholder(name, n.typ, n.Default())
		p.setName(n.Name())
		CopyMeta(p, n)
		x.to[n] = p
	}
}

// root says where the symbols of the inputs' types come from now: from an input whose
// size is the symbol, else from one whose size is a multiple of it and a constant.
func (x *extraction) root() {
	to := x.c.g
	for _, n := range x.inputs {
		for axis, d := range n.typ.Dims().Slice() {
			if name, ok := d.IsSymbol(); ok {
				x.place(name, x.to[n], axis)
			}
		}
	}
	for _, n := range x.inputs {
		p := x.to[n]
		dims := n.typ.Dims()
		for axis, d := range dims.Slice() {
			if _, ok := d.IsSymbol(); ok || len(d.Symbols()) == 0 {
				continue
			}
			size := to.NewSymbolFor(p, axis)
			dims = dims.With(axis, size)
			switch open := slices.DeleteFunc(d.Symbols(), x.known); len(open) {
			case 0:
				to.AddGuard(size, d.Bind(x.bind), p)
			case 1:
				x.solve(open[0], d, size, p)
			}
		}
		if n.typ.Ranked() {
			p.typ = p.typ.WithDims(dims)
		}
	}
}

// place defines a symbol, or demands that the size is what it stands for already.
func (x *extraction) place(name string, n *Node, axis int) {
	if to := x.c.g; x.known(name) {
		to.AddGuard(to.NewSymbolFor(n, axis), x.bind(name), n)
	} else {
		to.DefineSymbol(name, n, axis)
	}
}

func (x *extraction) known(name string) bool {
	_, defined := x.c.g.Symbol(name)
	_, solved := x.size[name]
	return defined || solved
}

// solve takes a symbol from an input's size, size = a·symbol + b, which then must be so.
func (x *extraction) solve(name string, d, size shape.Dim, p *Node) {
	at := func(v shape.Dim) shape.Dim {
		return d.Bind(func(s string) shape.Dim {
			if s == name {
				return v
			}
			return x.bind(s)
		})
	}
	b := at(shape.Const(0))
	a := at(shape.Const(1)).Sub(b)
	k, constant := a.Int()
	if !constant || k < 1 || !at(shape.Sym(name)).Equal(shape.Sym(name).Mul(a).Add(b)) {
		return
	}
	rest := size.Sub(b)
	x.size[name], x.solved = rest.FloorDiv(a), true
	x.c.g.Require(shape.Multiple(rest, a), p)
	x.c.g.Require(shape.AtLeast(rest, shape.Const(0)), p)
}

// copy takes one node over.
func (x *extraction) copy(n *Node) error {
	m := x.node(n)
	m.setName(n.Name())
	x.to[n] = m
	symbols := x.g.SymbolsOf(n)
	for _, s := range symbols {
		x.place(s.Name, m, s.Axis)
	}
	if x.solved && len(symbols) == 0 && m.opcode.IsCall() {
		return m.Infer() // sizes are written otherwise than before
	}
	return nil
}

// guards takes over what is demanded of sizes that the part knows.
func (x *extraction) guards() {
	for _, d := range x.g.symbols.guards {
		if !slices.ContainsFunc(d.Symbols(), func(s string) bool { return !x.known(s) }) {
			x.c.g.Require(d.Bind(x.bind), x.to[d.Node])
		}
	}
	x.c.g.symbols.notes = boundNotes(x.g.symbols.notes, x.bind, x.c.g.knows)
}

// Features returns the part of a graph that computes some of its values, named in its
// output, a map: the extraction of features. A name is that of a node, or the path of a
// module, which stands for the one value that leaves it. The inputs are those of the
// graph; what no value needs is cut. See Extract.
func Features(g *Graph, values ...string) (*Module, error) {
	s := &Structure{Kind: MapOf}
	nodes := make([]*Node, len(values))
	for i, name := range values {
		if slices.Contains(values[:i], name) {
			return nil, g.badName(name, "is given twice")
		}
		n, err := g.feature(name)
		if err != nil {
			return nil, err
		}
		nodes[i] = n
		s.Keys, s.Fields = append(s.Keys, name), append(s.Fields, Leaf(i))
	}
	return extract(g.Inputs(), nodes, s)
}

func (g *Graph) badName(name, msg string) error {
	return (&Node{g: g}).Error(BadExtract, strconv.Quote(name)+" "+msg)
}

// feature finds the value that a name stands for.
func (g *Graph) feature(name string) (*Node, error) {
	if n := g.Find(name); n != nil && n.opcode != Output {
		return n, nil
	}
	// The members of a tuple leave the module, not the tuple.
	var leave []*Node
	for n := range g.Nodes() {
		if !n.within(name) || n.typ.Kind() == shape.Tuple {
			continue
		}
		used := n.nuses == 0
		for u := range n.Users() {
			used = used || !u.within(name)
		}
		if used && n.opcode.IsCall() {
			leave = append(leave, n)
		}
	}
	switch {
	case len(leave) == 1:
		return leave[0], nil
	case len(leave) > 1:
		return nil, g.badName(name, "has several values that leave it, "+strings.Trim(names(leave), "()")+": expected the name of one of them")
	}
	for n := range g.All() {
		if n.g != g && n.opcode != Output && (n.Name() == name || n.within(name)) {
			return nil, g.badName(name, "is inside of a region, whose values do not leave it")
		}
	}
	return nil, g.badName(name, "is neither a node nor the path of a module")
}

// within reports whether a node was recorded in the module at path, or below it.
func (n *Node) within(path string) bool {
	at := n.Scope().Path
	if n.opcode == CallModule {
		at = n.target
	}
	rest, under := strings.CutPrefix(at, path)
	return under && path != "" && (rest == "" || rest[0] == '.')
}

// GraphCopy is Inline with values for any nodes of graph, which are not copied then;
// those of its inputs must be there, nil for absent ones. It enters the copies of the
// other nodes into values.
func (c *Cursor) GraphCopy(graph *Graph, values map[*Node]*Node) []*Node {
	in := &inliner{c: c, src: graph, to: values, size: map[string]shape.Dim{}, paths: map[string]string{}}
	inputs := graph.Inputs()
	args := make([]*Node, len(inputs))
	for i, p := range inputs {
		v, given := values[p]
		if !given {
			panic(p.Error(op.OperandCount, "no value is given for input "+strconv.Quote(p.target)))
		}
		args[i] = v
	}
	for _, s := range graph.symbols.list {
		if v := values[s.Node]; v != nil && s.Node.opcode != Placeholder {
			in.size[s.Name] = c.g.NewSymbol(v, s.Axis)
			if d := v.typ.Dim(s.Axis); !d.IsUnknown() {
				in.size[s.Name] = d
			}
		}
	}
	return in.all(inputs, args)
}
