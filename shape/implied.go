package shape

// Implied reports whether a and b are equal wherever the equalities among the relations hold: as
// expressions, or because their difference is a multiple of a term that one of them makes 0.
// Consequences of several relations together are not searched for.
func Implied(a, b Dim, by func(yield func(Relation) bool)) bool {
	d := a.Sub(b)
	if d.IsUnknown() {
		return false
	}
	if d.Is(0) {
		return true
	}
	for r := range by {
		if r.Rel != EQ {
			continue
		}
		zero := r.A.Sub(r.B)
		if _, known := zero.Int(); known || zero.IsUnknown() {
			continue
		}
		if _, ok := d.DivExact(zero); ok {
			return true
		}
	}
	return false
}
