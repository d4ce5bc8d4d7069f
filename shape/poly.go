package shape

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Limits of an expression; past them the result of arithmetic is Unknown, so
// that no input makes shape arithmetic slow or large.
const (
	maxTerms  = 128
	maxDegree = 32
	maxKey    = 2048
	maxName   = 256
	maxSteps  = 256 // of an exact division
)

// expr is a canonical polynomial: terms in descending order, no zero
// coefficient, not a plain number. Equal expressions have equal keys.
type expr struct {
	key   string
	terms []term
}

// term is a coefficient times a monomial; m is sorted by key and repeats an atom
// once per power. The constant term has no m.
type term struct {
	c int64
	m []*atom
}

// atom is a variable of a polynomial: a symbol, the floor division num//den of two
// canonical expressions that does not simplify, or the smaller one of two, num and den.
type atom struct {
	key      string
	kind     atomKind
	num, den Dim
}

type atomKind uint8

const (
	symbolAtom atomKind = iota
	divAtomKind
	minAtomKind
)

func (a *atom) isSym() bool { return a.kind == symbolAtom }
func (a *atom) isDiv() bool { return a.kind == divAtomKind }
func (a *atom) isMin() bool { return a.kind == minAtomKind }

// monoCmp is the graded lexicographic order, highest monomial first. Sorted
// lists of equal length compare like their exponent vectors, so it is
// compatible with multiplication, which exact division needs.
func monoCmp(a, b []*atom) int {
	if len(a) != len(b) {
		return len(b) - len(a)
	}
	for i := range a {
		if a[i] != b[i] {
			if c := strings.Compare(a[i].key, b[i].key); c != 0 {
				return c
			}
		}
	}
	return 0
}

// terms returns the polynomial form of a known or symbolic dimension.
func (d Dim) terms() []term {
	if d.e != nil {
		return d.e.terms
	}
	if d.n == 0 {
		return nil
	}
	return []term{{c: d.n}}
}

// fromTerms makes a dimension of sorted, combined terms.
func fromTerms(t []term) Dim {
	switch {
	case len(t) == 0:
		return Dim{}
	case len(t) == 1 && len(t[0].m) == 0:
		return Dim{n: t[0].c}
	case len(t) > maxTerms:
		return Unknown
	}
	var b strings.Builder
	for i, x := range t {
		if len(x.m) > maxDegree {
			return Unknown
		}
		writeTerm(&b, x, i == 0)
		if b.Len() > maxKey {
			return Unknown
		}
	}
	return Dim{e: &expr{key: b.String(), terms: t}}
}

func writeTerm(b *strings.Builder, t term, first bool) {
	if t.c < 0 {
		b.WriteByte('-')
	} else if !first {
		b.WriteByte('+')
	}
	if mag := max(t.c, -t.c); mag != 1 || len(t.m) == 0 {
		b.WriteString(strconv.FormatInt(mag, 10))
		if len(t.m) > 0 {
			b.WriteByte('*')
		}
	}
	for i, a := range t.m {
		if i > 0 {
			b.WriteByte('*')
		}
		// -a//b would read as (-a)//b, so a bare quotient stands alone only
		// when nothing multiplies or negates it.
		bare := !a.isDiv() || (t.c == 1 && len(t.m) == 1)
		if !bare {
			b.WriteByte('(')
		}
		b.WriteString(a.key)
		if !bare {
			b.WriteByte(')')
		}
	}
}

// divAtom returns the dimension num//den as one variable.
func divAtom(num, den Dim) Dim {
	a := &atom{key: operand(num) + "//" + operand(den), kind: divAtomKind, num: num, den: den}
	return fromTerms([]term{{c: 1, m: []*atom{a}}})
}

// operand returns the text of d for use as an operand of //.
func operand(d Dim) string {
	if _, sym := d.IsSymbol(); sym || d.e == nil && d.n >= 0 {
		return d.String()
	}
	return "(" + d.String() + ")"
}

// addScaled returns a + s*b, which is Unknown if one of them is.
func addScaled(a, b Dim, s int64) Dim {
	if a.IsUnknown() || b.IsUnknown() {
		return Unknown
	}
	t, ok := mergeTerms(a.terms(), b.terms(), s, nil)
	if !ok {
		return Unknown
	}
	return fromTerms(t)
}

// mergeTerms returns x + s*m*y for sorted x and y; ok is false on overflow.
func mergeTerms(x, y []term, s int64, m []*atom) (out []term, ok bool) {
	out = make([]term, 0, len(x)+len(y))
	for len(x) > 0 || len(y) > 0 {
		if len(y) == 0 {
			out, x = append(out, x[0]), x[1:]
			continue
		}
		c, ok := mulOv(y[0].c, s)
		if !ok {
			return nil, false
		}
		next := term{c: c, m: mulMono(y[0].m, m)}
		o := 1
		if len(x) > 0 {
			o = monoCmp(x[0].m, next.m)
		}
		switch {
		case o < 0:
			out, x = append(out, x[0]), x[1:]
			continue
		case o == 0:
			if next.c, ok = addOv(x[0].c, c); !ok {
				return nil, false
			}
			x = x[1:]
		}
		y = y[1:]
		if next.c != 0 {
			out = append(out, next)
		}
	}
	return out, true
}

func mulMono(a, b []*atom) []*atom {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	m := make([]*atom, 0, len(a)+len(b))
	m = append(append(m, a...), b...)
	slices.SortStableFunc(m, func(p, q *atom) int { return strings.Compare(p.key, q.key) })
	return m
}

// divMono returns a/b when b divides a.
func divMono(a, b []*atom) (q []*atom, ok bool) {
	if len(b) > len(a) {
		return nil, false
	}
	for _, x := range a {
		if len(b) > 0 && b[0].key == x.key {
			b = b[1:]
			continue
		}
		q = append(q, x)
	}
	return q, len(b) == 0
}

func mulPoly(a, b Dim) Dim {
	var sum []term
	ta, tb := a.terms(), b.terms()
	if len(ta) > len(tb) {
		ta, tb = tb, ta
	}
	for _, t := range ta {
		if len(t.m)+degree(tb) > maxDegree {
			return Unknown
		}
		var ok bool
		if sum, ok = mergeTerms(sum, tb, t.c, t.m); !ok || len(sum) > maxTerms {
			return Unknown
		}
	}
	return fromTerms(sum)
}

func degree(t []term) int {
	if len(t) == 0 {
		return 0
	}
	return len(t[0].m) // terms are sorted by degree
}

// divExact is polynomial long division that gives up on any remainder.
func divExact(a, b Dim) (Dim, bool) {
	rem, div := a.terms(), b.terms()
	lead := div[0]
	var q []term
	for steps := 0; len(rem) > 0; steps++ {
		m, ok := divMono(rem[0].m, lead.m)
		if !ok || steps == maxSteps {
			return Unknown, false
		}
		c, ok := floorDivOv(rem[0].c, lead.c)
		if !ok || rem[0].c%lead.c != 0 {
			return Unknown, false
		}
		q = append(q, term{c: c, m: m})
		if rem, ok = mergeTerms(rem, div, -c, m); !ok || len(rem) > maxTerms {
			return Unknown, false
		}
	}
	d := fromTerms(q)
	return d, !d.IsUnknown()
}

func fold(n int64, ok bool) Dim {
	if !ok {
		return Unknown
	}
	return Dim{n: n}
}

// The checked operations treat the least int64 as out of range too: it has no
// counterpart of the other sign, and no text that the grammar could read back.

func addOv(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0) && s != math.MinInt64
}

func subOv(a, b int64) (int64, bool) {
	s := a - b
	return s, (s < a) == (b > 0) && s != math.MinInt64
}

func mulOv(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// The signed high word is the unsigned one less a correction per negative
	// factor; the product fits when it is the sign extension of the low word.
	h := int64(hi) - (a>>63)&b - (b>>63)&a
	return int64(lo), h == int64(lo)>>63 && int64(lo) != math.MinInt64
}

// floorDivOv rounds towards minus infinity; ok is false for a zero divisor.
func floorDivOv(a, b int64) (int64, bool) {
	if b == 0 || a == math.MinInt64 {
		return 0, false
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q, true
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}
