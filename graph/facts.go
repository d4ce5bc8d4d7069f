package graph

import (
	"iter"
	"maps"
	"slices"

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
// as it is; AddGuard demands that the new place has the same size. It panics with a
// *diag.Error for what is no name of a symbol, as shape.Sym does.
func (g *Graph) DefineSymbol(name string, n *Node, axis int) {
	if !shape.ValidSymbol(name) {
		shape.Sym(name)
	}
	if _, ok := g.Symbol(name); !ok {
		edited(g)
		g.symbols.version++
		g.symbols.define(Symbol{name, n, axis})
	}
}

func (t *symbolTable) define(s Symbol) {
	if t.byName == nil {
		t.byName = map[string]int{}
	}
	t.byName[s.Name] = len(t.list)
	t.list = append(t.list, s)
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

// NewSymbolFor defines a fresh symbol for a size of n, even if the size has one. Neither the
// graph nor one around it has a symbol of that name.
func (g *Graph) NewSymbolFor(n *Node, axis int) shape.Dim {
	name := "s0"
	for i := 1; g.knows(name); i++ {
		name = "s" + itoa(i)
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
func (n *Node) mentions(symbol string) bool { return slices.Contains(n.symbolsUsed(), symbol) }

// findsSizes reports whether a symbol is a size of a value that is no input.
func (t *symbolTable) findsSizes() bool {
	return slices.ContainsFunc(t.list, func(s Symbol) bool { return s.Node != nil && s.Node.opcode != Placeholder })
}

// symbolsUsed returns the symbols of the graph around that n speaks of: in its type,
// its attributes and its regions.
func (n *Node) symbolsUsed() []string {
	var names []string
	add := func(d shape.Dim) {
		for _, s := range d.Symbols() {
			if !slices.Contains(names, s) {
				names = append(names, s)
			}
		}
	}
	var enter func(n *Node)
	enter = func(n *Node) {
		eachDim(n.typ, add)
		if n.attrsFit() && n.op.Codec().HasDims() {
			n.op.Codec().Symbols(n.attrs, add)
		}
		for _, r := range n.Regions() {
			for m := range r.Nodes() {
				enter(m)
			}
			for _, d := range r.symbols.guards {
				for _, s := range d.Symbols() {
					add(shape.Sym(s))
				}
			}
			names = slices.DeleteFunc(names, func(s string) bool { _, own := r.Symbol(s); return own && !n.g.knows(s) })
		}
	}
	enter(n)
	return names
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
	edited(g)
	g.symbols.notes = boundNotes(g.symbols.notes, env, g.knows)
}

// clone copies the table; the solver learns the equalities again when it is asked.
func (t *symbolTable) clone() symbolTable {
	c := symbolTable{list: slices.Clone(t.list), byName: maps.Clone(t.byName), notes: slices.Clone(t.notes)}
	c.guards, c.known, c.version = slices.Clone(t.guards), maps.Clone(t.known), t.version
	for _, d := range t.guards {
		if d.Rel == shape.EQ {
			c.wait = append(c.wait, d.Relation)
		}
	}
	return c
}

// Guard is a relation of sizes that the graph relies on and that is checked when
// the graph is entered. Node is where it was assumed.
type Guard struct {
	shape.Relation
	Node *Node
}

// guardTable keeps what the graph relies on: equalities as they were assumed,
// and of the bounds and multiples those that do not follow from the others.
type guardTable struct {
	guards []Guard
	known  map[string]bool // the equalities, by their texts either way round

	solver shape.Solver // has the equalities but those waiting; facts are tagged by their texts
	wait   []shape.Relation

	version uint32 // counts the changes of guards, and of symbols where there are some
}

// Guards returns the relations checked at entry, in the order of their making.
func (g *Graph) Guards() []Guard { return g.symbols.guards }

// AddGuard enters an equality to be checked at entry, unless it is there.
func (g *Graph) AddGuard(a, b shape.Dim, n *Node) { g.Require(shape.Equality(a, b), n) }

// Require enters a relation to be checked at entry, unless it follows from what
// is checked already.
func (g *Graph) Require(r shape.Relation, n *Node) {
	g.symbols.enter(Guard{r.Normal(), n})
	edited(g)
}

// enter adds a guard unless it is known to hold.
func (t *guardTable) enter(d Guard) {
	if d.Rel == shape.EQ {
		if d.A.Equal(d.B) || t.has(d.Relation) {
			return
		}
		t.note(d)
		t.wait = append(t.wait, d.Relation)
	} else {
		if t.follows(d.Relation) {
			return
		}
		t.note(d)
	}
	t.prune(d.Relation)
}

// note lists a guard.
func (t *guardTable) note(d Guard) {
	if d.Rel == shape.EQ {
		if t.known == nil {
			t.known = map[string]bool{}
		}
		t.known[d.String()] = true
		t.known[shape.Equality(d.B, d.A).String()] = true
	}
	t.version++
	t.guards = append(t.guards, d)
}

// has reports whether the equality, either way round, is among the guards.
func (t *guardTable) has(r shape.Relation) bool { return t.known[r.String()] }

// follows reports whether a bound or multiple holds wherever the guards do.
func (t *guardTable) follows(r shape.Relation) bool {
	return t.resolve(r).Truth() == shape.True ||
		slices.ContainsFunc(t.guards, func(d Guard) bool { return alike(d.Relation, r) && d.Implies(r) })
}

// alike reports whether two relations bound the same, or are multiples alike: one
// may imply the other.
func alike(d, r shape.Relation) bool {
	if d.Rel == shape.EQ || d.Rel != r.Rel && (d.Rel != shape.GE || r.Rel != shape.NE) {
		return false
	}
	_, number := d.A.Int()
	return d.A.Same(r.A) || number && d.B.Same(r.B)
}

// resolve replaces what equalities say about symbols.
func (t *guardTable) resolve(r shape.Relation) shape.Relation {
	if len(t.known) == 0 {
		return r
	}
	t.solve()
	return r.Bind(func(name string) shape.Dim { return t.solver.Resolve(shape.Sym(name)) })
}

// maxResolved bounds the guards that a new equality lets look at again.
const maxResolved = 64

// prune drops the bounds and multiples that follow from a new guard.
func (t *guardTable) prune(r shape.Relation) {
	drop := map[shape.Relation]bool{}
	if r.Rel == shape.EQ {
		for d, x := range t.touched(r) {
			if x.Truth() == shape.True {
				drop[d.Relation] = true
			}
		}
	} else {
		text := r.String()
		for _, d := range t.guards {
			if alike(d.Relation, r) && r.Implies(d.Relation) && d.String() != text {
				drop[d.Relation] = true
			}
		}
	}
	if len(drop) > 0 { // callers hold the old list
		t.guards = slices.DeleteFunc(slices.Clone(t.guards), func(d Guard) bool { return drop[d.Relation] })
	}
}

// touched are the bounds and multiples that a new guard changes, itself or those
// with a symbol of an equality, and what the equalities make of them.
func (t *guardTable) touched(r shape.Relation) iter.Seq2[Guard, shape.Relation] {
	return func(yield func(Guard, shape.Relation) bool) {
		if r.Rel != shape.EQ { // others are as they were
			yield(Guard{Relation: r}, t.resolve(r))
			return
		}
		n := 0
		for _, d := range t.guards {
			if d.Rel == shape.EQ || !d.Touches(r) {
				continue
			}
			if n++; n > maxResolved || !yield(d, t.resolve(d.Relation)) {
				return
			}
		}
	}
}

// move lets guards of n refer to v.
func (t *guardTable) move(n, v *Node) {
	for i := range t.guards {
		if t.guards[i].Node == n {
			t.guards[i].Node = v
			t.version++
		}
	}
}

// forget keeps the guards that came from n, without the node.
func (t *guardTable) forget(n *Node) { t.move(n, nil) }

// solve gives the solver the equalities that it does not have.
func (t *guardTable) solve() {
	for _, r := range t.wait {
		t.solver.Equal(r.A, r.B, factOf(r))
	}
	t.wait = nil
}

// factOf is what the solver cites for an equality.
func factOf(r shape.Relation) shape.Fact {
	return shape.Fact{Tag: r.String(), Text: r.A.String() + " = " + r.B.String()}
}

// equal reports whether two dimensions are equal, given the guards.
func (t *guardTable) equal(a, b shape.Dim) bool {
	if a.Equal(b) {
		return true
	}
	t.solve()
	if t.solver.Resolve(a).Equal(t.solver.Resolve(b)) {
		return true
	}
	r := shape.Equality(a, b).Normal() // min(N,4) is 4 where N is at least 4
	return r.Rel == shape.GE && t.follows(r)
}

// CompareDims tells what the graph knows about the equality of two sizes, given
// its guards and those of the graphs around it: that they are equal, that they
// differ, or neither (known is false).
func (g *Graph) CompareDims(a, b shape.Dim) (equal, known bool) {
	for h := g; ; h = h.Parent().Graph() {
		h.symbols.solve()
		a, b = h.symbols.solver.Resolve(a), h.symbols.solver.Resolve(b)
		if !a.IsUnknown() && !b.IsUnknown() && !a.Equal(b) && h.symbols.follows(shape.Inequality(a, b)) {
			return false, true
		}
		if h.Parent() == nil {
			break
		}
	}
	if a.Equal(b) {
		return true, true
	}
	return false, shape.Differ(a, b)
}

// Assume enters a relation to be checked at entry, unless it follows from what is
// checked already; an error when no sizes satisfy it and the others.
func (g *Graph) Assume(r shape.Relation, n *Node) error {
	edited(g)
	if err := g.symbols.assume(r, n); err != nil {
		return err
	}
	return g.symbols.impossible(r)
}

// assume records that a relation is taken to hold, and refuses an equality that
// contradicts those assumed before, citing both places. A bound that equalities
// rule out is no mistake yet: it may follow from one that has been reported. It
// stays, and nothing runs; see impossible.
func (t *guardTable) assume(r shape.Relation, n *Node) error {
	if r = r.Normal(); r.Rel != shape.EQ {
		t.enter(Guard{r, n})
		return nil
	}
	if t.has(r) || slices.ContainsFunc(t.guards, func(d Guard) bool { return d.Rel == shape.MOD && d.Touches(r) && r.Exact(d.Relation) }) {
		return nil
	}
	t.solve()
	if c := t.solver.Equal(r.A, r.B, factOf(r)); c != nil {
		return t.contradiction(c)
	}
	t.note(Guard{r, n})
	t.prune(r)
	return nil
}

// contradiction turns a solver conflict into a diagnostic citing both places.
func (t *guardTable) contradiction(c *shape.Conflict) *diag.Error {
	e := diag.New(Contradiction, c.A.String()+" must be "+c.B.String()+" here ("+c.Second.Text+")")
	return t.cite(e, c.First)
}

// cite adds the place of an equality to an error.
func (t *guardTable) cite(e *diag.Error, f shape.Fact) *diag.Error {
	for _, d := range t.guards {
		if d.Node != nil && d.Rel == shape.EQ && d.String() == f.Tag {
			e.Related = append(e.Related, requiredBy(d.Node, f.Text))
			break
		}
	}
	return e
}

func requiredBy(n *Node, text string) diag.Related {
	return diag.Related{Pos: n.Pos(), Msg: "but " + text + " was required by " + n.String()}
}

// impossible is the error of a bound or multiple that the equalities, or another
// bound, rule out, of those that r has to do with; nil when there is none.
func (t *guardTable) impossible(r shape.Relation) error {
	for d, x := range t.touched(r) {
		if x.Truth() != shape.False {
			continue
		}
		e := diag.New(Contradiction, d.String()+" is needed, which is "+x.String())
		if d.Node != nil {
			e.Related = append(e.Related, requiredBy(d.Node, d.String()))
		}
		for _, q := range t.guards {
			if q.Rel == shape.EQ && q.Node != nil && q.Touches(d.Relation) {
				e.Related = append(e.Related, requiredBy(q.Node, q.A.String()+" = "+q.B.String()))
				break
			}
		}
		return e
	}
	return t.opposed(r.Normal())
}

// opposed is the error of two bounds that no sizes satisfy both: N >= 6, N <= 4.
func (t *guardTable) opposed(r shape.Relation) error {
	for _, d := range t.guards {
		if !crossed(d.Relation, r) && !crossed(r, d.Relation) {
			continue
		}
		e := diag.New(Contradiction, r.String()+" is needed, which "+d.String()+" rules out")
		if d.Node != nil {
			e.Related = append(e.Related, requiredBy(d.Node, d.String()))
		}
		return e
	}
	return nil
}

// crossed reports whether low bounds a size from below by a number that is larger than
// the one by which high bounds it from above.
func crossed(low, high shape.Relation) bool {
	if low.Rel != shape.GE || high.Rel != shape.GE || !low.A.Same(high.B) {
		return false
	}
	least, known := low.B.Int()
	most, too := high.A.Int()
	return known && too && least > most
}
