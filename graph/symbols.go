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
	byName map[string]int // index in list
	guards []Guard
	known  map[[2]string]bool // the guards, by their texts
	notes  []Specialisation

	solver shape.Solver // has the first solved guards; facts are tagged by index
	solved int
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
// as it is, and the new place is guarded to have the same size.
func (g *Graph) DefineSymbol(name string, n *Node, axis int) {
	if _, ok := g.Symbol(name); ok {
		return
	}
	g.change()
	t := &g.symbols
	if t.byName == nil {
		t.byName = map[string]int{}
	}
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

// Guards returns the equalities checked at entry, in the order of their making.
func (g *Graph) Guards() []Guard { return g.symbols.guards }

// AddGuard enters an equality to be checked at entry, unless it is there.
func (g *Graph) AddGuard(a, b shape.Dim, n *Node) {
	if !g.symbols.has(a, b) {
		g.change()
		g.symbols.enter(Guard{a, b, n})
	}
}

// has reports whether the equality, either way round, is among the guards.
func (t *symbolTable) has(a, b shape.Dim) bool {
	return t.known[[2]string{a.String(), b.String()}] || t.known[[2]string{b.String(), a.String()}]
}

func (t *symbolTable) enter(d Guard) {
	if t.known == nil {
		t.known = map[[2]string]bool{}
	}
	t.known[[2]string{d.A.String(), d.B.String()}] = true
	t.guards = append(t.guards, d)
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

// forget keeps the guards that came from n, without the node.
func (t *symbolTable) forget(n *Node) {
	for i := range t.guards {
		if t.guards[i].Node == n {
			t.guards[i].Node = nil
		}
	}
}

// solve gives the solver the guards that it does not have.
func (t *symbolTable) solve() {
	for ; t.solved < len(t.guards); t.solved++ {
		d := t.guards[t.solved]
		t.solver.Equal(d.A, d.B, shape.Fact{Tag: t.solved, Text: d.A.String() + " = " + d.B.String()})
	}
}

// equal reports whether two dimensions are equal, given the guards.
func (t *symbolTable) equal(a, b shape.Dim) bool {
	if a.Equal(b) {
		return true
	}
	t.solve()
	return t.solver.Resolve(a).Equal(t.solver.Resolve(b))
}

// CompareDims tells what the graph knows about the equality of two sizes, given
// its guards and those of the graphs around it: that they are equal, that they
// differ, or neither (known is false).
func (g *Graph) CompareDims(a, b shape.Dim) (equal, known bool) {
	for h := g; ; h = h.Parent().Graph() {
		h.symbols.solve()
		a, b = h.symbols.solver.Resolve(a), h.symbols.solver.Resolve(b)
		if h.Parent() == nil {
			break
		}
	}
	if a.Equal(b) {
		return true, true
	}
	return false, shape.Differ(a, b)
}

// assume records that two symbolic dimensions are taken as equal, and refuses
// when that contradicts what was assumed before, citing both places.
func (t *symbolTable) assume(a, b shape.Dim, n *Node) error {
	if t.has(a, b) {
		return nil
	}
	t.solve()
	fact := shape.Fact{Tag: t.solved, Text: a.String() + " = " + b.String()}
	if c := t.solver.Equal(a, b, fact); c != nil {
		return t.contradiction(c)
	}
	t.enter(Guard{a, b, n})
	t.solved++
	return nil
}

// Contradiction is the code of two places that force one symbol to two sizes.
const Contradiction diag.Code = "FX2010"

// contradiction turns a solver conflict into a diagnostic citing both places.
func (t *symbolTable) contradiction(c *shape.Conflict) *diag.Error {
	e := diag.New(Contradiction, c.A.String()+" must be "+c.B.String()+" here ("+c.Second.Text+")")
	if i, ok := c.First.Tag.(int); ok && i < len(t.guards) && t.guards[i].Node != nil {
		n := t.guards[i].Node
		e.Related = append(e.Related, diag.Related{Pos: n.Pos(), Msg: "but " + c.First.Text + " was required by " + n.String()})
	}
	return e
}
