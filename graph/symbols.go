package graph

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

// Symbol says where a symbolic dimension comes from: Name = dim(Node, Axis).
// That is a use of the node; the definition dominates every use of the symbol.
type Symbol struct {
	Name string
	Node *Node
	Axis int
}

// Guard is an equality of two dimensions that the graph relies on and that is
// checked when the graph is entered. Node is where it was assumed.
type Guard struct {
	A, B shape.Dim
	Node *Node
}

// Specialisation notes a value that was fixed while the graph was captured.
type Specialisation struct {
	What string // "x.Dim(0) = 8"
	Pos  diag.Pos
}

type symbolTable struct {
	list   []Symbol
	guards []Guard
	notes  []Specialisation
}

// Symbols returns the symbols in order of definition.
func (g *Graph) Symbols() []Symbol { return g.symbols.list }

// Symbol returns the definition of a symbol, ok false when the graph has none.
func (g *Graph) Symbol(name string) (s Symbol, ok bool) {
	for _, s := range g.symbols.list {
		if s.Name == name {
			return s, true
		}
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
// as it is, and the new place is guarded to have the same size.
func (g *Graph) DefineSymbol(name string, n *Node, axis int) {
	if _, ok := g.Symbol(name); ok {
		return
	}
	g.change()
	g.symbols.list = append(g.symbols.list, Symbol{name, n, axis})
}

// NewSymbol defines a fresh symbol for a size of n and returns it; the same size
// gives the same symbol again.
func (g *Graph) NewSymbol(n *Node, axis int) shape.Dim {
	for _, s := range g.symbols.list {
		if s.Node == n && s.Axis == axis {
			return shape.Sym(s.Name)
		}
	}
	base, num := g.names.unique("s")
	name := (&Node{base: base, num: num}).Name()
	g.DefineSymbol(name, n, axis)
	return shape.Sym(name)
}

// Guards returns the equalities checked at entry, in the order of their making.
func (g *Graph) Guards() []Guard { return g.symbols.guards }

// AddGuard enters an equality to be checked at entry, unless it is there.
func (g *Graph) AddGuard(a, b shape.Dim, n *Node) {
	for _, h := range g.symbols.guards {
		if (h.A.Equal(a) && h.B.Equal(b)) || (h.A.Equal(b) && h.B.Equal(a)) {
			return
		}
	}
	g.change()
	g.symbols.guards = append(g.symbols.guards, Guard{a, b, n})
}

// Specialisations returns the values fixed during capture.
func (g *Graph) Specialisations() []Specialisation { return g.symbols.notes }

// NoteSpecialisation adds a value fixed during capture.
func (g *Graph) NoteSpecialisation(s Specialisation) { g.symbols.notes = append(g.symbols.notes, s) }

// move lets symbols and guards of n refer to v.
func (t *symbolTable) move(n, v *Node) {
	for i := range t.list {
		if t.list[i].Node == n {
			t.list[i].Node = v
		}
	}
	for i := range t.guards {
		if t.guards[i].Node == n {
			t.guards[i].Node = v
		}
	}
}

// assume records that two symbolic dimensions are taken as equal, and refuses
// when that contradicts what was assumed before, citing both places.
func (t *symbolTable) assume(a, b shape.Dim, n *Node) error {
	var s shape.Solver
	for _, g := range t.guards {
		s.Equal(g.A, g.B, shape.Fact{Tag: g.Node, Text: g.A.String() + " = " + g.B.String()})
	}
	if c := s.Equal(a, b, shape.Fact{Tag: n, Text: a.String() + " = " + b.String()}); c != nil {
		return contradiction(c)
	}
	for _, h := range t.guards {
		if (h.A.Equal(a) && h.B.Equal(b)) || (h.A.Equal(b) && h.B.Equal(a)) {
			return nil
		}
	}
	t.guards = append(t.guards, Guard{a, b, n})
	return nil
}

// Contradiction is the code of two places that force one symbol to two sizes.
const Contradiction diag.Code = "FX2010"

// contradiction turns a solver conflict into a diagnostic citing both places.
func contradiction(c *shape.Conflict) *diag.Error {
	e := diag.New(Contradiction, c.A.String()+" must be "+c.B.String()+" here ("+c.Second.Text+")")
	if n, ok := c.First.Tag.(*Node); ok && n != nil {
		e.Related = append(e.Related, diag.Related{Pos: n.Pos(), Msg: "but " + c.First.Text + " was required by " + n.String()})
	}
	return e
}
