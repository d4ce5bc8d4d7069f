package graph

import (
	"iter"
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/shape"
)

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

// Entry returns what the graph takes, and what it relies on over the sizes of its inputs: engines
// check the inputs of a run with it. Guards over other sizes are asked where these are found.
func (g *Graph) Entry() *guard.Entry {
	e := &guard.Entry{}
	inputs := g.Inputs()
	for _, n := range inputs {
		e.Inputs = append(e.Inputs, guard.Input{Type: guard.Type{Input: n.Target(), Type: n.Type()}, Node: n.Name(), Pos: n.Pos()})
	}
	own := map[string]bool{}
	for _, s := range g.Symbols() {
		if i := slices.Index(inputs, s.Node); i >= 0 {
			e.Symbols = append(e.Symbols, guard.Symbol{Name: s.Name, Input: i, Axis: s.Axis})
			own[s.Name] = true
		}
	}
	for _, d := range g.Needed() {
		if !slices.ContainsFunc(d.Symbols(), func(name string) bool { return !own[name] }) {
			e.Needs = append(e.Needs, d.Need())
		}
	}
	return e
}

// Needed returns the guards that say more than the types of the inputs; see TypeSays.
func (g *Graph) Needed() []Guard {
	if !slices.ContainsFunc(g.Guards(), g.TypeSays) {
		return g.Guards()
	}
	return slices.DeleteFunc(slices.Clone(g.Guards()), g.TypeSays)
}

// RequireAll enters guards over sizes that env restates. What is not known then is left out.
func (g *Graph) RequireAll(guards []Guard, env func(symbol string) shape.Dim) {
	for _, d := range guards {
		if r := d.Bind(env); !r.IsUnknown() {
			g.Require(r, d.Node)
		}
	}
}

// Relations returns what the guards say.
func (g *Graph) Relations() guard.Relations {
	list := make(guard.Relations, len(g.symbols.guards))
	for i, d := range g.symbols.guards {
		list[i] = d.Relation
	}
	return list
}

// Need returns the guard as what an Entry checks.
func (d Guard) Need() guard.Need {
	n := guard.Need{Relation: d.Relation}
	if from := d.Node; from != nil {
		n.Text, n.Pos = "required by "+from.String(), from.Pos()
		if o := from.Op(); o != nil {
			n.Op = o.Name
		}
	}
	return n
}

// TypeSays reports whether the type of an input says what a guard does, and no call needs it: that
// one of its sizes is another size. It is compared as such.
func (g *Graph) TypeSays(d Guard) bool {
	if d.Rel != shape.EQ || d.Node != nil && d.Node.opcode != Placeholder {
		return false
	}
	for _, sides := range [2][2]shape.Dim{{d.A, d.B}, {d.B, d.A}} {
		name, plain := sides[0].IsSymbol()
		if s, ok := g.Symbol(name); plain && ok && s.Node.opcode == Placeholder && s.Node.typ.Dim(s.Axis).Equal(sides[1]) {
			return true
		}
	}
	return false
}
