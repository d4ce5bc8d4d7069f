package shape

import "slices"

// Fact says where an equality comes from.
type Fact struct {
	Tag  any    // the caller's, a node for instance
	Text string // for people: "linear: x has 32 features"
}

// Conflict is a contradiction between two facts. A and B are the sizes that
// would have to be equal, written with the earlier knowledge.
type Conflict struct {
	A, B   Dim
	First  Fact   // the earlier fact; the same as Second when Second contradicts itself
	Second Fact   // the fact that contradicts it
	Others []Fact // further facts that A and B rest on, in the order they came
}

// Guard is an equality that is neither proved nor refuted.
type Guard struct {
	A, B Dim
	Why  Fact
	id   int // its place among all facts
}

// Solver collects equalities between sizes, derives the values of symbols, and
// finds contradictions together with the two facts that cause them. It works
// over the integers: a symbol stands for a size, which is never negative. It
// solves each equality for a symbol that stands in it linearly; an equality
// that cannot be solved waits and is looked at again when more is known. The
// zero value is ready to use.
type Solver struct {
	bound  map[string]*binding
	seen   map[string]int        // order in which symbols came up
	uses   map[string][]*binding // whose values mention, or once did, the symbol
	guards []Guard
	facts  int
}

// binding is the value found for a symbol, by an equality that why gave.
type binding struct {
	value Dim
	from  []string // other symbols of the equality it was solved from
	why   Fact
	order int
}

// Equal adds the equality of a and b. It returns nil when the equality is new
// knowledge, is known already, or cannot be decided yet (see Residual); Unknown
// says nothing. On a conflict the solver keeps its earlier knowledge, except
// that a waiting guard which the equality refutes is given up.
func (s *Solver) Equal(a, b Dim, why Fact) *Conflict {
	if a.IsUnknown() || b.IsUnknown() {
		return nil
	}
	s.note(a)
	s.note(b)
	s.facts++
	bound, c := s.add(Guard{a, b, why, s.facts}, nil)
	if c != nil || !bound {
		return c
	}
	return s.recheck(why)
}

func (s *Solver) note(d Dim) {
	if s.seen == nil {
		s.seen = map[string]int{}
	}
	d.eachSymbol(func(n string) {
		if _, ok := s.seen[n]; !ok {
			s.seen[n] = len(s.seen)
		}
	})
}

// recheck looks at the waiting guards until none of them gives anything new.
func (s *Solver) recheck(why Fact) (first *Conflict) {
	for again := true; again; {
		again = false
		waiting := s.guards
		s.guards = nil
		for _, g := range waiting {
			bound, c := s.add(g, &why)
			again = again || bound
			if first == nil {
				first = c
			}
		}
	}
	return first
}

// add uses one equality: it is dropped when it holds, kept as a guard when
// nothing follows from it, or solved for a symbol (bound). now is the fact that
// made a waiting guard worth another look.
func (s *Solver) add(g Guard, now *Fact) (bound bool, c *Conflict) {
	a, b := s.Resolve(g.A), s.Resolve(g.B)
	diff := a.Sub(b)
	if diff.IsUnknown() {
		s.guards = append(s.guards, g)
		return false, nil
	}
	if diff.Is(0) {
		return false, nil
	}
	if diff.e == nil || refuted(diff.e.terms) {
		return false, s.conflict(g, a, b, now)
	}
	name, value, ok := s.solve(diff.e.terms)
	if !ok {
		s.guards = append(s.guards, g)
		return false, nil
	}
	if n, known := value.Int(); known && n < 0 {
		return false, s.conflict(g, a, b, now)
	}
	s.bind(name, value, g)
	return true, nil
}

// Differ reports whether a and b are provably different: their difference is a
// number other than 0, is at least or at most such a number because sizes are
// never negative, or is not divisible as 0 is. Both may yet differ without it.
func Differ(a, b Dim) bool {
	diff := a.Sub(b)
	switch {
	case diff.IsUnknown():
		return false
	case diff.e == nil:
		return diff.n != 0
	}
	return refuted(diff.e.terms) || oneSign(diff.e.terms)
}

// oneSign reports whether the terms are all positive or all negative, the
// constant among them, so that sizes, which are never negative, cannot make
// their sum 0.
func oneSign(t []term) bool {
	last := t[len(t)-1]
	if len(last.m) != 0 {
		return false
	}
	for _, x := range t[:len(t)-1] {
		if (x.c > 0) != (last.c > 0) || slices.ContainsFunc(x.m, func(a *atom) bool { return !a.isSym() }) {
			return false
		}
	}
	return true
}

// refuted reports whether the terms cannot sum to 0: the constant is not
// divisible by the common divisor of all other coefficients (2*N+4*M = 7).
func refuted(t []term) bool {
	last := t[len(t)-1]
	if len(last.m) != 0 {
		return false
	}
	var g int64
	for _, x := range t[:len(t)-1] {
		g = gcd(g, x.c)
	}
	return last.c%g != 0
}

// solve finds a symbol that the equality "sum of t is 0" determines: it stands
// alone in one term, nowhere else, and its coefficient divides all others. Of
// several the one seen last goes, so that the symbols of inputs stay.
func (s *Solver) solve(t []term) (name string, value Dim, ok bool) {
	best := -1
	for i, x := range t {
		if len(x.m) != 1 || !x.m[0].isSym() || !dividesAll(x.c, t) || usedElsewhere(x.m[0].key, t, i) {
			continue
		}
		if best < 0 || s.seen[x.m[0].key] > s.seen[t[best].m[0].key] {
			best = i
		}
	}
	if best < 0 {
		return "", Dim{}, false
	}
	c := t[best].c
	var rest []term
	for i, x := range t {
		if i != best {
			rest = append(rest, term{c: -(x.c / c), m: x.m})
		}
	}
	value = fromTerms(rest)
	return t[best].m[0].key, value, !value.IsUnknown()
}

func dividesAll(c int64, t []term) bool {
	for _, x := range t {
		if x.c%c != 0 {
			return false
		}
	}
	return true
}

func usedElsewhere(name string, t []term, except int) bool {
	for i, x := range t {
		if i != except && fromTerms([]term{x}).Uses(name) {
			return true
		}
	}
	return false
}

func (s *Solver) bind(name string, value Dim, g Guard) {
	b := &binding{value: value, why: g.Why, order: g.id}
	for _, d := range []Dim{g.A, g.B} {
		for _, n := range d.Symbols() {
			if n != name {
				b.from = append(b.from, n)
			}
		}
	}
	if s.bound == nil {
		s.bound, s.uses = map[string]*binding{}, map[string][]*binding{}
	}
	s.bound[name] = b
	s.index(b)
	// Values never mention bound symbols, so that resolving takes one step.
	for _, o := range s.uses[name] {
		if v := o.value.Bind(s.replace(name, value)); !v.IsUnknown() {
			o.value = v
			s.index(o)
		}
	}
	delete(s.uses, name)
}

// index enters b under the symbols of its value.
func (s *Solver) index(b *binding) {
	b.value.eachSymbol(func(n string) {
		if l := s.uses[n]; len(l) == 0 || l[len(l)-1] != b {
			s.uses[n] = append(l, b)
		}
	})
}

func (s *Solver) replace(name string, value Dim) func(string) Dim {
	return func(n string) Dim {
		if n == name {
			return value
		}
		return Sym(n)
	}
}

// Resolve returns d with every symbol replaced by its known value.
func (s *Solver) Resolve(d Dim) Dim {
	if len(s.bound) == 0 {
		return d
	}
	return d.Bind(func(n string) Dim {
		if b, ok := s.bound[n]; ok {
			return b.value
		}
		return Sym(n)
	})
}

// conflict names the facts that refute an equality. A waiting guard is the
// earlier fact, and the new fact contradicts it. Otherwise the earlier fact is
// the latest one that the symbols of the equality depend on.
func (s *Solver) conflict(g Guard, a, b Dim, now *Fact) *Conflict {
	c := &Conflict{A: a, B: b, First: g.Why, Second: g.Why}
	basis := s.basis(append(g.A.Symbols(), g.B.Symbols()...))
	switch {
	case now != nil:
		c.Second = *now
	case len(basis) > 0:
		c.First = basis[len(basis)-1].why
		basis = basis[:len(basis)-1]
	}
	for _, x := range basis {
		if x.order != s.facts { // the current fact is Second
			c.Others = append(c.Others, x.why)
		}
	}
	return c
}

// basis returns the bindings that the symbols rest on, in the order they came.
func (s *Solver) basis(names []string) []*binding {
	var out []*binding
	done := map[string]bool{}
	for len(names) > 0 {
		n := names[len(names)-1]
		names = names[:len(names)-1]
		if b, ok := s.bound[n]; ok && !done[n] {
			out = append(out, b)
			names = append(names, b.from...)
		}
		done[n] = true
	}
	slices.SortStableFunc(out, func(x, y *binding) int { return x.order - y.order })
	return out
}
