package shape

import "slices"

// floorDiv returns the canonical form of a//b; b is not the number 0 and neither
// is Unknown. Every rule below is an identity of integers, given that divisors
// are not zero and symbols not negative.
func floorDiv(a, b Dim) Dim {
	if q, ok := divExact(a, b); ok {
		return q
	}
	if b.terms()[0].c < 0 { // a//b = (-a)//(-b): divisors have a positive lead
		a, b = Dim{}.Sub(a), Dim{}.Sub(b)
	}
	a, b = cancel(a, b)
	if len(b.terms()) == 1 {
		return floorDivMono(a, b.terms()[0])
	}
	return divAtom(a, b)
}

// cancel divides both by their common content: the greatest common divisor of
// all coefficients and the monomial that divides every term.
func cancel(a, b Dim) (Dim, Dim) {
	ta, tb := a.terms(), b.terms()
	all := append(slices.Clip(ta), tb...)
	g, m := int64(0), all[0].m
	for _, t := range all {
		g = gcd(g, t.c)
		m = commonMono(m, t.m)
	}
	if g <= 1 && len(m) == 0 {
		return a, b
	}
	return fromTerms(divTerms(ta, g, m)), fromTerms(divTerms(tb, g, m))
}

func divTerms(t []term, g int64, m []*atom) []term {
	out := make([]term, len(t))
	for i, x := range t {
		q, _ := divMono(x.m, m)
		out[i] = term{c: x.c / g, m: q}
	}
	return out
}

func commonMono(a, b []*atom) []*atom {
	var m []*atom
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].key == b[j].key:
			m = append(m, a[i])
			i++
			j++
		case a[i].key < b[j].key:
			i++
		default:
			j++
		}
	}
	return m
}

// floorDivMono divides by a single term with positive coefficient (a number, or
// a number times symbols). Terms that the divisor divides are taken out of the
// quotient; coefficients that stay lie in [0,k), the constant in (-k,0], so that
// the usual (H-1)//2+1 of strided windows is its own canonical form.
func floorDivMono(a Dim, b term) Dim {
	var out, rest []term
	for _, t := range a.terms() {
		m, ok := divMono(t.m, b.m)
		if !ok {
			rest = append(rest, t)
			continue
		}
		q, _ := floorDivOv(t.c, b.c)
		r := t.c - q*b.c
		if len(t.m) == 0 && r > 0 {
			q, r = q+1, r-b.c
		}
		if q != 0 {
			out = append(out, term{c: q, m: m})
		}
		if r != 0 {
			rest = append(rest, term{c: r, m: t.m})
		}
	}
	// Dividing all by one monomial keeps the order of the terms.
	return fromTerms(out).Add(reduced(fromTerms(rest), fromTerms([]term{b})))
}

// reduced divides a, from which nothing more can be taken out, by the term b.
func reduced(a, b Dim) Dim {
	if a.IsUnknown() || b.IsUnknown() {
		return Unknown
	}
	if a.e == nil && (a.n == 0 || b.e == nil) {
		return fold(floorDivOv(a.n, max(b.n, 1)))
	}
	if b.Is(1) {
		return a
	}
	if q, ok := divExact(a, b); ok {
		return q
	}
	if na, nb := cancel(a, b); nb.e != b.e || nb.n != b.n {
		return floorDivMono(na, nb.terms()[0])
	}
	if b.e == nil {
		if na, nb, ok := gcdNonConst(a, b.n); ok {
			return floorDivMono(na, nb.terms()[0])
		}
	}
	if num, den, ok := mergeNested(a, b); ok {
		return floorDiv(num, den)
	}
	return divAtom(a, b)
}

// gcdNonConst uses (g*A+c)//(g*k) = (A+c//g)//k: the constant need not be
// divisible.
func gcdNonConst(a Dim, k int64) (num, den Dim, ok bool) {
	g := k
	for _, t := range a.terms() {
		if len(t.m) > 0 {
			g = gcd(g, t.c)
		}
	}
	if g <= 1 {
		return Dim{}, Dim{}, false
	}
	var out []term
	for _, t := range a.terms() {
		if c, _ := floorDivOv(t.c, g); c != 0 {
			out = append(out, term{c: c, m: t.m})
		}
	}
	return fromTerms(out), Dim{n: k / g}, true
}

// mergeNested uses (x//p+c)//q = (x+p*c)//(p*q) for positive p and q, where the
// numerator is one quotient and a constant.
func mergeNested(a, b Dim) (num, den Dim, ok bool) {
	t := a.terms()
	if len(t) > 2 || len(t[0].m) != 1 || t[0].c != 1 || !t[0].m[0].isDiv() || !positive(b) {
		return Dim{}, Dim{}, false
	}
	var c Dim
	if len(t) == 2 {
		if len(t[1].m) != 0 {
			return Dim{}, Dim{}, false
		}
		c.n = t[1].c
	}
	inner := t[0].m[0]
	if !positive(inner.den) {
		return Dim{}, Dim{}, false
	}
	num, den = inner.num.Add(inner.den.Mul(c)), inner.den.Mul(b)
	return num, den, !num.IsUnknown() && !den.IsUnknown()
}

// positive reports whether d, used as a divisor, is known to be above zero: a
// positive number times symbols.
func positive(d Dim) bool {
	t := d.terms()
	if len(t) != 1 || t[0].c <= 0 {
		return false
	}
	for _, a := range t[0].m {
		if !a.isSym() {
			return false
		}
	}
	return true
}
