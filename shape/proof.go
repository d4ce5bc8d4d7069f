package shape

// Lower bounds that hold for all sizes.

// maxProof bounds how deep a proof goes, maxProofCost the expressions that it looks at in
// all (Dim.Cost): one from outside may have many parts.
const (
	maxProof     = 4
	maxProofCost = 1 << 12
)

// provenAtLeast reports whether d can be shown to be at least low for all sizes.
func provenAtLeast(d Dim, low int64) bool {
	budget := maxProofCost
	return atLeast(d, low, maxProof, &budget)
}

// plainlyAtLeast is the part of a bound that shows without a proof; proofs use it, so that
// one does not lead to others.
func plainlyAtLeast(d Dim, low int64) bool {
	lo, ok := least(d)
	return ok && !d.IsUnknown() && lo >= low
}

func atLeast(d Dim, low int64, steps int, budget *int) bool {
	if d.IsUnknown() {
		return false
	}
	if lo, ok := least(d); ok && lo >= low {
		return true
	}
	if *budget -= d.Cost(); steps == 0 || *budget < 0 {
		return false
	}
	for _, t := range d.terms() {
		for _, a := range t.m {
			switch {
			case a.isMin():
				if byCases(d, a, low, steps, budget) {
					return true
				}
			case a.isDiv() && a.den.e == nil && a.den.n >= 2:
				// d >= low follows from den*d >= low*den-(den-1), d being an integer.
				if r, ok := relaxed(d, a); ok && atLeast(r.Sub(fold(mulOv(low, a.den.n))).Add(fold(a.den.n-1, true)), 0, steps-1, budget) {
					return true
				}
			}
		}
	}
	return false
}

// byCases shows a bound of d, in which a stands for one of two sizes: whichever it is, the
// bound must hold. Where a is subtracted, alone or times sizes, it is enough that it holds
// for one of them, since a is no more than either.
func byCases(d Dim, a *atom, low int64, steps int, budget *int) bool {
	put := func(v Dim) bool {
		r := d.substitute(a, v)
		return atLeast(r, low, steps-1, budget)
	}
	if subtracted(d, a) {
		return put(a.num) || put(a.den)
	}
	return put(a.num) && put(a.den)
}

// subtracted reports whether a stands in d only where d gets smaller as a grows.
func subtracted(d Dim, a *atom) bool {
	for _, t := range d.terms() {
		for i, x := range t.m {
			switch {
			case !x.isSym() && x.key != a.key && (x.num.contains(a) || x.den.contains(a)):
				return false
			case x.key != a.key:
				continue
			case t.c > 0:
				return false
			}
			for k, y := range t.m {
				if k != i && !y.isSym() {
					return false
				}
			}
		}
	}
	return true
}

// contains reports whether a is a part of d.
func (d Dim) contains(a *atom) bool {
	for _, t := range d.terms() {
		for _, x := range t.m {
			if x.key == a.key || !x.isSym() && (x.num.contains(a) || x.den.contains(a)) {
				return true
			}
		}
	}
	return false
}

// substitute puts v where a stands in d.
func (d Dim) substitute(a *atom, v Dim) Dim {
	if d.e == nil || d.IsUnknown() {
		return d
	}
	sum := Dim{}
	for _, t := range d.e.terms {
		p := Dim{n: t.c}
		for _, x := range t.m {
			f := v
			switch {
			case x.key == a.key:
			case x.isDiv():
				f = x.num.substitute(a, v).FloorDiv(x.den.substitute(a, v))
			case x.isMin():
				f = x.num.substitute(a, v).min(x.den.substitute(a, v), plainlyAtLeast)
			default:
				f = fromTerms([]term{{c: 1, m: []*atom{x}}})
			}
			p = p.Mul(f)
		}
		sum = sum.Add(p)
	}
	return sum
}

// least returns a number that d is never below.
func least(d Dim) (int64, bool) {
	var sum int64
	for _, t := range d.terms() {
		if len(t.m) > 0 && t.c < 0 {
			return 0, false // sizes have no greatest value
		}
		lo, ok := t.c, true
		for _, a := range t.m {
			v, known := leastAtom(a)
			if !known || v < 0 && len(t.m) > 1 {
				return 0, false
			}
			if lo, ok = mulOv(lo, v); !ok {
				return 0, false
			}
		}
		if sum, ok = addOv(sum, lo); !ok {
			return 0, false
		}
	}
	return sum, true
}

func leastAtom(a *atom) (int64, bool) {
	if a.isSym() {
		return 0, true
	}
	num, ok := least(a.num)
	if a.isMin() {
		den, also := least(a.den)
		return min(num, den), ok && also
	}
	switch {
	case !ok:
		return 0, false
	case a.den.e == nil && a.den.n > 0:
		return floorDivOv(num, a.den.n)
	case num >= 0 && positive(a.den):
		return 0, true
	}
	return 0, false
}
