package shape

import (
	"slices"

	"github.com/gofx-dev/gofx/diag"
)

// Rel is how two sizes A and B stand to each other.
type Rel = diag.Rel

// The relations.
const (
	EQ  = diag.EQ  // A == B
	GE  = diag.GE  // A >= B
	MOD = diag.MOD // A % B == 0: A is a multiple of B
	NE  = diag.NE  // A != B
)

// Relation is a statement about two sizes, such as N >= 5. The zero value says
// that 0 == 0. Compare texts; two ways to write the same have one Normal form.
type Relation struct {
	Rel  Rel
	A, B Dim
}

// Equality, AtLeast and Multiple make relations in normal form.
func Equality(a, b Dim) Relation { return Relation{EQ, a, b} }

// AtLeast is n >= least.
func AtLeast(n, least Dim) Relation { return Relation{GE, n, least}.Normal() }

// Multiple is n % of == 0.
func Multiple(n, of Dim) Relation { return Relation{MOD, n, of}.Normal() }

// String returns the text that ParseRelation reads back: "N == 2*M", "N >= 5",
// "N <= M+1", "C % 4 == 0".
func (r Relation) String() string {
	switch r.Rel {
	case GE:
		if r.falls() {
			return r.B.String() + " <= " + r.A.String()
		}
		return r.A.String() + " >= " + r.B.String()
	case MOD:
		return operand(r.A) + " % " + operand(r.B) + " == 0"
	case NE:
		return r.A.String() + " != " + r.B.String()
	}
	return r.A.String() + " == " + r.B.String()
}

// falls reports whether a bound reads better from the other side: N <= 10.
func (r Relation) falls() bool { return r.Rel == GE && r.A.e == nil && r.B.e != nil }

// ParseRelation reads the form of Relation.String. The error is a *diag.Error
// with CodeText whose message names the column.
func ParseRelation(s string) (Relation, error) {
	p, err := newParser(s)
	if err != nil {
		return Relation{}, err
	}
	r := Relation{A: p.dim()}
	switch c := p.Peek(); {
	case c == '=':
		p.I++
		p.Need('=')
		r.B = p.dim()
	case c == '>' || c == '<':
		p.I++
		p.Need('=')
		r.Rel, r.B = GE, p.dim()
		if c == '<' {
			r.A, r.B = r.B, r.A
		}
	case c == '!':
		p.I++
		p.Need('=')
		r.Rel, r.B = NE, p.dim()
	case p.Accept('%'):
		r.Rel, r.B = MOD, p.factor()
		p.Need('=')
		p.Need('=')
		if at := p.I; !p.dim().Is(0) {
			p.Fail(at, "a remainder is compared, expected 0")
		}
	default:
		p.Expected("'==', '!=', '>=', '<=' or '%'")
	}
	return r, p.finish()
}

// Symbols returns the names of the symbols on both sides, sorted, each once.
func (r Relation) Symbols() []string {
	list := append(r.A.Symbols(), r.B.Symbols()...)
	slices.Sort(list)
	return slices.Compact(list)
}

// Touches reports whether the relations have a symbol in common.
func (r Relation) Touches(o Relation) bool {
	found := false
	for _, d := range [2]Dim{r.A, r.B} {
		d.eachSymbol(func(s string) { found = found || o.A.Uses(s) || o.B.Uses(s) })
	}
	return found
}

// IsUnknown reports whether a side is Unknown, so that nothing is said.
func (r Relation) IsUnknown() bool { return r.A.IsUnknown() || r.B.IsUnknown() }

// Bind replaces symbols on both sides; see Dim.Bind.
func (r Relation) Bind(env func(symbol string) Dim) Relation {
	return Relation{r.Rel, r.A.Bind(env), r.B.Bind(env)}.Normal()
}

// Eval returns the values of both sides and whether the relation is true of
// them. Errors are those of Dim.Eval.
func (r Relation) Eval(env func(symbol string) (int, bool)) (a, b int, ok bool, err error) {
	if a, err = r.A.Eval(env); err != nil {
		return
	}
	if b, err = r.B.Eval(env); err != nil {
		return
	}
	return a, b, r.Rel.Holds(a, b), nil
}

// Truth is the known truth of a relation for all values of its symbols.
type Truth int8

// The truths. Open means that it depends on the symbols, or cannot be shown.
const (
	False Truth = iota - 1
	Open
	True
)

// Truth decides the relation where that is possible for all sizes.
func (r Relation) Truth() Truth {
	if r.IsUnknown() {
		return Open
	}
	d := r.A.Sub(r.B)
	switch r.Rel {
	case GE:
		switch {
		case provenAtLeast(d, 0):
			return True
		case provenAtLeast(Dim{}.Sub(d).AddInt(-1), 0):
			return False
		}
	case MOD:
		return r.divides()
	case NE:
		return -Equality(r.A, r.B).Truth()
	default:
		switch {
		case d.Is(0):
			return True
		case d.e == nil || !d.IsUnknown() && refuted(d.terms()):
			return False
		case provenAtLeast(d.AddInt(-1), 0), provenAtLeast(Dim{}.Sub(d).AddInt(-1), 0):
			return False
		}
	}
	return Open
}

// divides decides a MOD relation.
func (r Relation) divides() Truth {
	n := r.Normal()
	k, known := n.B.Int()
	switch {
	case known && k <= 0:
		return False
	case n.A.Is(0):
		return True
	case !known:
		return Open
	case n.A.e == nil:
		return False // Normal leaves no multiple of k
	}
	// g*X + c is no multiple of k when g and k have a factor that c lacks.
	t := n.A.terms()
	g, c := int64(k), int64(0)
	for _, x := range t {
		if len(x.m) == 0 {
			c = x.c
			continue
		}
		g = gcd(g, x.c)
	}
	if c%g != 0 {
		return False
	}
	return Open
}

// Implies reports whether o holds wherever r does. Equalities imply the facts
// that a Solver derives from them.
func (r Relation) Implies(o Relation) bool {
	if r.IsUnknown() || o.IsUnknown() {
		return false
	}
	switch {
	case r.Rel == GE && o.Rel == GE:
		return provenAtLeast(o.A.Sub(o.B).Sub(r.A.Sub(r.B)), 0)
	case r.Rel == GE && o.Rel == NE: // an expression that is at least 1 is not 0
		d, e := o.A.Sub(o.B), r.A.Sub(r.B).AddInt(1)
		return provenAtLeast(d.Sub(e), 0) || provenAtLeast(Dim{}.Sub(d).Sub(e), 0)
	case r.Rel == MOD && o.Rel == MOD && r.A.Equal(o.A):
		_, ok := r.B.DivExact(o.B)
		return ok
	}
	return r.String() == o.String()
}

// Exact reports whether the equality r follows from a multiple m: with
// N % 4 == 0, 4*(N//4) is N.
func (r Relation) Exact(m Relation) bool {
	if r.Rel != EQ || m.Rel != MOD || r.IsUnknown() || m.B.e != nil || m.B.n <= 0 {
		return false
	}
	d := r.A.Sub(r.B)
	for _, t := range d.terms() {
		for _, a := range t.m {
			if !a.isDiv() || !a.den.Equal(m.B) || !a.num.Equal(m.A) {
				continue
			}
			if scaled, ok := replaced(d, a, func(int64) Dim { return a.num }); ok && scaled.Is(0) {
				return true
			}
		}
	}
	return false
}

// Normal returns the relation in the form that all ways to write it share as far as that is
// known: bounds solved for the bounded term, common factors taken out. An equality stays as
// it is written, unless it says that a quotient is 0, or that a minimum is one of its sides:
// 5//(N+1) is 0 where N >= 5, and min(N,7) is N where N <= 7.
func (r Relation) Normal() Relation {
	if r.IsUnknown() {
		return r
	}
	n := r
	switch r.Rel {
	case GE:
		d := r.A.Sub(r.B)
		if d.IsUnknown() {
			return r
		}
		n = normalBound(d)
	case MOD:
		n = normalMultiple(r.A, r.B)
	case NE:
		return r
	default:
		d := r.A.Sub(r.B)
		if v, ok := vanishing(d); ok {
			n = normalBound(v)
		} else if v, ok := uncut(d); ok {
			n = normalBound(v)
		}
	}
	if n.IsUnknown() {
		return r
	}
	return n
}

// normalBound is d >= 0 with the added terms on the left, and the subtracted
// terms and the number on the right.
func normalBound(d Dim) Relation {
	for range maxProof {
		next := boundStep(d)
		if next.IsUnknown() || next.Same(d) {
			break
		}
		d = next
	}
	var left, right []term
	for _, t := range d.terms() {
		if len(t.m) > 0 && t.c > 0 {
			left = append(left, t)
		} else {
			right = append(right, term{c: -t.c, m: t.m})
		}
	}
	r := Relation{GE, fromTerms(left), fromTerms(right)}
	if r.A.Is(0) && len(right) > 0 { // the number goes to the other side of a term that is bounded from above
		if last := right[len(right)-1]; len(right) > 1 && len(last.m) == 0 {
			r = Relation{GE, Dim{n: -last.c}, fromTerms(right[:len(right)-1])}
		}
	}
	return r
}

// boundStep simplifies d >= 0 once: it divides by the common divisor of all
// symbols, and solves for a lone floor division.
func boundStep(d Dim) Dim {
	t := d.terms()
	var g, c int64
	var alone *term
	count := 0
	for i := range t {
		if len(t[i].m) == 0 {
			c = t[i].c
			continue
		}
		g = gcd(g, t[i].c)
		count++
		alone = &t[i]
	}
	if count == 0 {
		return d
	}
	if g > 1 {
		rest, _ := floorDivOv(c, g)
		var out []term
		for _, x := range t {
			if len(x.m) > 0 {
				out = append(out, term{c: x.c / g, m: x.m})
			}
		}
		return fromTerms(out).Add(fold(rest, true))
	}
	if count != 1 || len(alone.m) != 1 || !alone.m[0].isDiv() {
		return d
	}
	num, den := alone.m[0].num, alone.m[0].den
	if den.e != nil || den.n <= 0 {
		return d
	}
	if alone.c > 0 { // num//den >= -c
		return num.Add(fold(mulOv(c, den.n)))
	}
	return fold(mulOv(c, den.n)).Add(fold(den.n-1, true)).Sub(num) // num//den <= c
}

// vanishing returns an expression that is at least 0 where d, a multiple of one quotient,
// is 0: a//b is where a < b, if a is no negative number, and b none where a may be 0.
func vanishing(d Dim) (Dim, bool) {
	t := d.terms()
	if len(t) != 1 || len(t[0].m) != 1 || !t[0].m[0].isDiv() {
		return Dim{}, false
	}
	num, den := t[0].m[0].num, t[0].m[0].den
	if lo, ok := least(num); !ok || lo < 0 || lo == 0 && !positive(den) && !provenAtLeast(den, 1) {
		return Dim{}, false
	}
	return den.Sub(num).AddInt(-1), true
}

// uncut returns an expression that is at least 0 where d, a multiple of a minimum less one of
// its sides, is 0.
func uncut(d Dim) (Dim, bool) {
	for _, t := range d.terms() {
		if len(t.m) != 1 || !t.m[0].isMin() {
			continue
		}
		m, rest := t.m[0], d.Sub(fromTerms([]term{t}))
		for _, p := range [2][2]Dim{{m.num, m.den}, {m.den, m.num}} {
			if rest.Add(p[0].Mul(Dim{n: t.c})).Is(0) {
				return p[1].Sub(p[0]), true
			}
		}
	}
	return Dim{}, false
}

// normalMultiple drops from a the terms that b divides anyway, and common factors.
func normalMultiple(a, b Dim) Relation {
	if b.Is(0) {
		return Relation{MOD, a, b}
	}
	if b.e == nil && b.n < 0 {
		return Relation{MOD, a, b}
	}
	if _, ok := a.DivExact(b); ok {
		return Relation{MOD, Dim{}, b}
	}
	if a.e != nil && b.e != nil {
		a, b = cancel(a, b)
	}
	if b.e != nil {
		return Relation{MOD, a, b}
	}
	k := b.n
	g := k
	var left []term
	for _, t := range a.terms() {
		if c := t.c - k*(t.c/k); c != 0 {
			left = append(left, term{c: c, m: t.m})
			g = gcd(g, c)
		}
	}
	for i := range left {
		left[i].c /= g
	}
	k /= g
	if len(left) == 1 && len(left[0].m) > 0 && gcd(left[0].c, k) == 1 {
		left[0].c = 1
	}
	if k == 1 {
		left = nil
	}
	return Relation{MOD, fromTerms(left), Dim{n: k}}
}

// relaxed returns a lower bound of den*d, in which the quotient a = num//den is
// replaced by its lower and upper bounds: (num-den+1)/den and num/den.
func relaxed(d Dim, a *atom) (Dim, bool) {
	return replaced(d, a, func(c int64) Dim {
		if c > 0 {
			return a.num.Sub(a.den).AddInt(1)
		}
		return a.num
	})
}

// replaced returns den*d with den*a replaced; the replacement may depend on the
// sign of the coefficient. ok is false if a occurs together with other
// quotients or with itself.
func replaced(d Dim, a *atom, by func(c int64) Dim) (_ Dim, ok bool) {
	out := Dim{}
	for _, t := range d.terms() {
		var rest []*atom
		n := 0
		for _, x := range t.m {
			if x.key == a.key {
				n++
			} else {
				rest = append(rest, x)
			}
		}
		switch {
		case n == 0:
			out = out.Add(fromTerms([]term{t}).Mul(a.den))
			continue
		case n > 1 || slices.ContainsFunc(rest, func(x *atom) bool { return !x.isSym() }):
			return Dim{}, false
		}
		out = out.Add(fromTerms([]term{{c: t.c, m: rest}}).Mul(by(t.c)))
	}
	return out, !out.IsUnknown()
}
