package graph

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/shape"
)

// Symbol says where a symbolic dimension comes from: Name = dim(Node, Axis).
// That is a use of the node; the definition dominates every use of the symbol.
type Symbol struct {
	Name string
	Node *Node
	Axis int
}

// Open reports whether the type of the node has the symbol for its size still, not a size that it was given.
func (s Symbol) Open() bool { return s.Node.Type().Dim(s.Axis).Equal(shape.Sym(s.Name)) }

type symbolTable struct {
	list   []Symbol
	byName map[string]int // index in list
	notes  []Specialisation
	guardTable
}

// Symbols returns the symbols in order of definition.
func (g *Graph) Symbols() []Symbol { return g.symbols.list }

// Symbol returns the definition of a symbol, ok false when the graph has none.
func (g *Graph) Symbol(name string) (s Symbol, ok bool) {
	if i, ok := g.symbols.byName[name]; ok {
		return g.symbols.list[i], true
	}
	return Symbol{}, false
}

// SymbolsOf returns the symbols that are defined by sizes of n.
func (g *Graph) SymbolsOf(n *Node) []Symbol {
	var out []Symbol
	for _, s := range g.symbols.list {
		if s.Node == n {
			out = append(out, s)
		}
	}
	return out
}

// DefineSymbol enters name = dim(n, axis). A name that is defined already is left
// as it is, and the new place is guarded to have the same size. It panics with a
// *diag.Error for what is no name of a symbol, as shape.Sym does.
func (g *Graph) DefineSymbol(name string, n *Node, axis int) {
	if !shape.ValidSymbol(name) {
		shape.Sym(name)
	}
	if _, ok := g.Symbol(name); ok {
		return
	}
	edited(g)
	t := &g.symbols
	if t.byName == nil {
		t.byName = map[string]int{}
	}
	t.version++
	t.byName[name] = len(t.list)
	t.list = append(t.list, Symbol{name, n, axis})
}

// NewSymbol defines a fresh symbol for a size of n and returns it; the same size
// gives the same symbol again.
func (g *Graph) NewSymbol(n *Node, axis int) shape.Dim {
	for _, s := range g.symbols.list {
		if s.Node == n && s.Axis == axis {
			return shape.Sym(s.Name)
		}
	}
	return g.NewSymbolFor(n, axis)
}

// NewSymbolFor defines a fresh symbol for a size of n, even if the size has one.
func (g *Graph) NewSymbolFor(n *Node, axis int) shape.Dim {
	name := ""
	for i := 0; ; i++ {
		name = "s" + itoa(i)
		if _, used := g.Symbol(name); !used {
			break
		}
	}
	g.DefineSymbol(name, n, axis)
	return shape.Sym(name)
}

// move lets symbols and guards of n refer to v.
func (t *symbolTable) move(n, v *Node) {
	for i := range t.list {
		if t.list[i].Node == n {
			t.list[i].Node = v
			t.version++
		}
	}
	t.guardTable.move(n, v)
}

// needsSizeOf reports whether a symbol in n's type or attributes, or in its regions,
// is a size of d.
func (n *Node) needsSizeOf(d *Node) bool {
	if n.opcode == Placeholder {
		return false // sizes of inputs are known before all nodes
	}
	for _, s := range n.g.symbols.list {
		if s.Node == d && d.opcode != Placeholder && n.mentions(s.Name) {
			return true
		}
	}
	return false
}

// mentions reports whether the symbol stands in n's type, attributes or regions.
func (n *Node) mentions(symbol string) (found bool) {
	check := func(d shape.Dim) { found = found || slices.Contains(d.Symbols(), symbol) }
	eachDim(n.typ, check)
	if n.attrsFit() {
		n.op.Codec().Symbols(n.attrs, check)
	}
	for _, r := range n.Regions() {
		for m := range r.Nodes() {
			found = found || m.mentions(symbol)
		}
	}
	return found
}

// Specialisation notes a value that was fixed while the graph was captured.
type Specialisation struct {
	What string // "x.Dim(0) = 8"
	// Guard holds for the inputs that the graph was captured for. nil where no input of the graph decides
	// it: a Go argument is no input, and the values of a parameter are state.
	Guard guard.Guard
	Pos   diag.Pos
}

// Specialisations returns the values fixed during capture.
func (g *Graph) Specialisations() []Specialisation { return g.symbols.notes }

// NoteSpecialisation adds a value fixed during capture.
func (g *Graph) NoteSpecialisation(s Specialisation) {
	g.symbols.notes = append(g.symbols.notes, s)
	edited(g)
}

// BindSpecialisations restates the guards of specialisations over the symbols of the graph, for a pass that
// has renamed these. A guard that speaks of others then is dropped; what it was is still noted.
func (g *Graph) BindSpecialisations(env func(symbol string) shape.Dim) {
	g.symbols.notes = boundNotes(g.symbols.notes, env, g.knows)
	edited(g)
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

// notes checks that the guards of specialisations speak of symbols that are there.
func (l *linter) notes() {
	for _, s := range l.g.Specialisations() {
		if s.Guard != nil {
			l.unknown(nil, "note "+strconv.Quote(s.What), s.Guard.Symbols())
		}
	}
}

// unknown reports symbols that nothing defines.
func (l *linter) unknown(n *Node, text string, symbols []string) {
	for _, s := range symbols {
		if !l.defined(s, nil) {
			l.fact(n, text+" needs the symbol "+s+", which is not defined")
		}
	}
}
