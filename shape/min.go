package shape

// Min returns the smaller one of d and o; see Add. Minima have one form: common
// terms, and a common factor, stand before them, as in 2*min(M,N)+1.
func (d Dim) Min(o Dim) Dim { return d.min(o, provenAtLeast) }

// min is Min for code that proves bounds.
func (d Dim) min(o Dim, atLeast func(d Dim, low int64) bool) Dim {
	if d.e == nil && o.e == nil {
		return Dim{n: min(d.n, o.n)}
	}
	diff := d.Sub(o)
	switch {
	case diff.IsUnknown():
		return Unknown
	case atLeast(diff, 0):
		return o
	case atLeast(Dim{}.Sub(diff), 0):
		return d
	}
	var more, less []term // diff is more-less, without a negative coefficient in either
	var g int64
	for _, t := range diff.terms() {
		g = gcd(g, t.c)
		if t.c > 0 {
			more = append(more, t)
		} else {
			less = append(less, term{c: -t.c, m: t.m})
		}
	}
	a, b := fromTerms(more), fromTerms(less)
	common := d.Sub(a)
	if g > 1 {
		a, b = fromTerms(divTerms(a.terms(), g, nil)), fromTerms(divTerms(b.terms(), g, nil))
	}
	return minOf(a, b, atLeast).Mul(Dim{n: g}).Add(common)
}

// Max returns the greater one of d and o: d+o-min(d,o).
func (d Dim) Max(o Dim) Dim { return d.Add(o).Sub(d.Min(o)) }

// minOf is the minimum of terms that have nothing in common.
func minOf(a, b Dim, atLeast func(d Dim, low int64) bool) Dim {
	for _, p := range [][2]Dim{{a, b}, {b, a}} {
		x := p[0].loneMin()
		if x == nil {
			continue
		}
		for _, q := range [][2]Dim{{x.num, x.den}, {x.den, x.num}} {
			if atLeast(q[0].Sub(p[1]), 0) { // min(min(q0,q1),p1), and q0 is no less than p1
				return q[1].min(p[1], atLeast)
			}
		}
	}
	if b.e != nil && (a.e == nil || b.e.key < a.e.key) {
		a, b = b, a
	}
	m := &atom{key: "min(" + a.String() + "," + b.String() + ")", kind: minAtomKind, num: a, den: b}
	return fromTerms([]term{{c: 1, m: []*atom{m}}})
}

// loneMin is the minimum that d is, nil where it is something else.
func (d Dim) loneMin() *atom {
	if d.e == nil || len(d.e.terms) != 1 {
		return nil
	}
	t := d.e.terms[0]
	if t.c != 1 || len(t.m) != 1 || !t.m[0].isMin() {
		return nil
	}
	return t.m[0]
}
