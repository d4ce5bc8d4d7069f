package shape

// Inequality is a != b.
func Inequality(a, b Dim) Relation { return Relation{NE, a, b} }

// Not returns the relation that holds where r does not, ok false for a multiple, whose opposite is none.
func (r Relation) Not() (_ Relation, ok bool) {
	switch r.Rel {
	case EQ:
		return Inequality(r.A, r.B), true
	case NE:
		return Equality(r.A, r.B), true
	case GE:
		return AtLeast(r.B, r.A.AddInt(1)), true
	}
	return r, false
}
