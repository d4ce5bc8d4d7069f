package graph

import (
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

// guardTable keeps what the graph relies on: equalities as they were assumed,
// and of the bounds and multiples those that do not follow from the others.
type guardTable struct {
	guards []Guard
	known  map[string]bool // the equalities, by their texts either way round

	solver shape.Solver // has the equalities but those waiting; facts are tagged by their texts
	wait   []shape.Relation
	bounds shape.Bounds // that guards give to single symbols
}

// Guards returns the relations checked at entry, in the order of their making.
func (g *Graph) Guards() []Guard { return g.symbols.guards }

// AddGuard enters an equality to be checked at entry, unless it is there.
func (g *Graph) AddGuard(a, b shape.Dim, n *Node) { g.Require(shape.Equality(a, b), n) }

// Require enters a relation to be checked at entry, unless it follows from what
// is checked already.
func (g *Graph) Require(r shape.Relation, n *Node) {
	if g.symbols.enter(Guard{r.Normal(), n}) {
		g.change()
	}
}

// enter adds a guard unless it is known to hold, and tells whether it did.
func (t *guardTable) enter(d Guard) bool {
	if d.Rel == shape.EQ {
		if d.A.Equal(d.B) || t.has(d.Relation) {
			return false
		}
		t.note(d)
		t.wait = append(t.wait, d.Relation)
	} else {
		if t.follows(d.Relation) {
			return false
		}
		t.note(d)
	}
	t.prune(d.Relation)
	return true
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
	if s, least, ok := d.Bound(); ok {
		if t.bounds == nil {
			t.bounds = shape.Bounds{}
		}
		t.bounds[s] = max(t.bounds[s], least)
	}
	t.guards = append(t.guards, d)
}

// has reports whether the equality, either way round, is among the guards.
func (t *guardTable) has(r shape.Relation) bool { return t.known[r.String()] }

// follows reports whether a bound or multiple holds wherever the guards do.
func (t *guardTable) follows(r shape.Relation) bool {
	x := t.resolve(r)
	return x.Truth(t.others(r)) == shape.True ||
		slices.ContainsFunc(t.guards, func(d Guard) bool { return d.Rel != shape.EQ && t.resolve(d.Relation).Implies(x, nil) })
}

// others returns the bounds, for relations that are none themselves.
func (t *guardTable) others(r shape.Relation) shape.Bounds {
	if _, _, ok := r.Bound(); ok {
		return nil // the one for its symbol is compared
	}
	return t.bounds
}

// resolve replaces what equalities say about symbols.
func (t *guardTable) resolve(r shape.Relation) shape.Relation {
	if len(t.known) == 0 {
		return r
	}
	t.solve()
	return r.Bind(func(name string) shape.Dim { return t.solver.Resolve(shape.Sym(name)) })
}

// prune drops the bounds and multiples that follow from a new guard.
func (t *guardTable) prune(r shape.Relation) {
	_, _, bound := r.Bound()
	follows := func(d Guard) bool {
		if d.Rel == shape.EQ || d.String() == r.String() {
			return false
		}
		x := t.resolve(d.Relation)
		return (bound || r.Rel == shape.EQ) && x.Truth(t.others(d.Relation)) == shape.True ||
			r.Rel != shape.EQ && t.resolve(r).Implies(x, nil)
	}
	if slices.ContainsFunc(t.guards, follows) {
		t.guards = slices.DeleteFunc(slices.Clone(t.guards), follows) // callers hold the old list
	}
}

// move lets guards of n refer to v.
func (t *guardTable) move(n, v *Node) {
	for i := range t.guards {
		if t.guards[i].Node == n {
			t.guards[i].Node = v
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

// Assume enters a relation to be checked at entry, unless it follows from what is
// checked already; an error when no sizes satisfy it and the others.
func (g *Graph) Assume(r shape.Relation, n *Node) error {
	g.change()
	return g.symbols.assume(r, n)
}

// assume records that a relation is taken to hold, and refuses when that
// contradicts what was assumed before, citing both places.
func (t *guardTable) assume(r shape.Relation, n *Node) error {
	if r.Rel != shape.EQ {
		if err := t.possible(r); err != nil {
			return err
		}
		t.enter(Guard{r.Normal(), n})
		return nil
	}
	if t.has(r) || slices.ContainsFunc(t.guards, func(d Guard) bool { return r.Exact(d.Relation) }) {
		return nil
	}
	t.solve()
	if c := t.solver.Equal(r.A, r.B, factOf(r)); c != nil {
		return t.contradiction(c)
	}
	t.note(Guard{r, n})
	for _, d := range t.guards {
		if d.Rel == shape.EQ {
			continue
		}
		if x := t.resolve(d.Relation); x.Truth(nil) == shape.False {
			return t.impossible(r, x, d)
		}
	}
	t.prune(r)
	return nil
}

// Contradiction is the code of two places that need what no sizes give.
const Contradiction diag.Code = "FX2010"

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

// possible refuses a bound or multiple that the equalities rule out.
func (t *guardTable) possible(r shape.Relation) error {
	x := t.resolve(r)
	if x.Truth(nil) != shape.False {
		return nil
	}
	e := diag.New(Contradiction, r.String()+" is needed here, which is "+x.String())
	for _, d := range t.guards {
		if d.Rel == shape.EQ && d.Node != nil && shares(d.Relation, r) {
			e.Related = append(e.Related, requiredBy(d.Node, d.A.String()+" = "+d.B.String()))
			break
		}
	}
	return e
}

// impossible is the error of an equality that rules out a bound or multiple.
func (t *guardTable) impossible(r, resolved shape.Relation, d Guard) error {
	e := diag.New(Contradiction, r.A.String()+" = "+r.B.String()+" is needed here, so that "+d.String()+" would be "+resolved.String())
	if d.Node != nil {
		e.Related = append(e.Related, requiredBy(d.Node, d.String()))
	}
	return e
}

func shares(a, b shape.Relation) bool {
	return slices.ContainsFunc(a.Symbols(), func(s string) bool { return slices.Contains(b.Symbols(), s) })
}
