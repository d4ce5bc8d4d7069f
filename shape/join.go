package shape

import "github.com/gofx-dev/gofx/array"

// Join returns the type of a value that is of one type or of the other: the common
// part of the two, by position in tuples. Sizes that same does not accept are
// unknown.
func Join(a, b Type, same func(a, b Dim) bool) Type {
	switch {
	case a.Kind() != b.Kind() || a.Kind() == None:
		return Type{}
	case a.Kind() == Tuple:
		if a.Len() != b.Len() {
			return Type{}
		}
		m := make([]Type, a.Len())
		for i := range m {
			m[i] = Join(a.Member(i), b.Member(i), same)
		}
		return TupleType(m...)
	}
	d := a.DType()
	if d != b.DType() {
		d = array.Invalid
	}
	if !a.Ranked() || a.Rank() != b.Rank() {
		return Unranked(d)
	}
	dims := a.Dims()
	for i := range dims.Len() {
		if !same(dims.At(i), b.Dim(i)) {
			dims = dims.With(i, Unknown)
		}
	}
	return TensorType(d, dims)
}

// Joinable reports whether a value may be of one type or of the other: element types, where both
// are known, and the numbers of members are the same. Ranks and sizes are found by a run.
func Joinable(a, b Type) bool {
	switch {
	case a.Kind() == None || b.Kind() == None:
		return true
	case a.Kind() != b.Kind():
		return false
	case a.Kind() == Tuple:
		ok := a.Len() == b.Len()
		for i := 0; ok && i < a.Len(); i++ {
			ok = Joinable(a.Member(i), b.Member(i))
		}
		return ok
	}
	return a.DType() == b.DType() || a.DType() == array.Invalid || b.DType() == array.Invalid
}
