package graph

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

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
	for n := range x.src.Nodes() {
		if x.taken[n] && x.to[n] == nil {
			if err := x.take(n); err != nil {
				return nil, err
			}
		}
	}
	x.facts(x.known)
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

// extraction copies a part of a graph into one that is made of it alone.
type extraction struct {
	*Copier
	mod    *Module
	inputs []*Node        // what becomes placeholders
	taken  map[*Node]bool // what outputs need, inputs included
	solved bool           // a symbol is now an expression of others
}

func newExtraction(inputs, outputs []*Node) (*extraction, error) {
	if len(outputs) == 0 {
		return nil, diag.New(BadExtract, "no outputs are given, expected one or more")
	}
	g := outputs[0].g
	to := New(g.Name)
	x := &extraction{mod: NewModule(to), taken: map[*Node]bool{}}
	if g.mod != nil {
		x.mod = g.mod.WithGraph(to)
	}
	x.Copier = &Copier{c: to.At(), src: g, to: map[*Node]*Node{}, names: sameName, size: map[string]shape.Dim{}}
	given := map[*Node]bool{}
	for i, n := range append(slices.Clone(inputs), outputs...) {
		switch {
		case n.g != g || n.erased || n.opcode == Output:
			return nil, n.Error(BadExtract, n.String()+" is no value of the graph "+g.Name)
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
	for n := range g.Backward() {
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
	return x, nil
}

// writes refuses a part that reads memory which calls outside of it write.
func (x *extraction) writes() error {
	read := &places{}
	for n := range x.taken {
		for p := range n.Reads() {
			read.add(p)
		}
	}
	for n := range x.src.Nodes() {
		if x.taken[n] {
			continue
		}
		for p := range n.Writes() {
			if read.overlap(p) {
				return n.Error(BadExtract, n.String()+" writes "+p.String()+", which the part of the graph reads").WithHint("add it to the outputs")
			}
		}
	}
	return nil
}

// enter makes the placeholders.
func (x *extraction) enter() {
	for _, n := range x.inputs {
		p := x.input(n)
		if def := n.Default(); def != nil {
			p.more().def = def
		}
		CopyMeta(p, n)
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

// take copies one node.
func (x *extraction) take(n *Node) error {
	m := x.carry(n)
	symbols := x.src.SymbolsOf(n)
	for _, s := range symbols {
		x.place(s.Name, m, s.Axis)
	}
	if x.solved && len(symbols) == 0 && m.opcode.IsCall() {
		return m.Infer() // sizes are written otherwise than before
	}
	return nil
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
			return nil, badFeature(g, name, "is given twice")
		}
		n, err := feature(g, name)
		if err != nil {
			return nil, err
		}
		nodes[i] = n
		s.Keys, s.Fields = append(s.Keys, name), append(s.Fields, Leaf(i))
	}
	return extract(g.Inputs(), nodes, s)
}

func badFeature(g *Graph, name, msg string) error {
	return (&Node{g: g}).Error(BadExtract, strconv.Quote(name)+" "+msg)
}

// feature finds the value that a name stands for.
func feature(g *Graph, name string) (*Node, error) {
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
		return nil, badFeature(g, name, "has several values that leave it, "+strings.Trim(names(leave), "()")+": expected the name of one of them")
	}
	for n := range g.All() {
		if n.g != g && n.opcode != Output && (n.Name() == name || n.within(name)) {
			return nil, badFeature(g, name, "is inside of a region, whose values do not leave it")
		}
	}
	return nil, badFeature(g, name, "is neither a node nor the path of a module")
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
