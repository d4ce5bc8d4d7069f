package passes

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
)

// KeepType gives n what t knows of its value and n's own type does not.
func KeepType(n *graph.Node, t shape.Type) { n.SetType(MergeTypes(n.Type(), t)) }

// MergeTypes returns t with its unknown parts filled in from u, a second
// description of the same value. Where both are known t stands.
func MergeTypes(t, u shape.Type) shape.Type {
	switch {
	case t.Kind() == shape.None:
		return u
	case t.Kind() != u.Kind():
		return t
	case t.Kind() == shape.Tuple:
		if t.Len() != u.Len() {
			return t
		}
		m := make([]shape.Type, t.Len())
		for i := range m {
			m[i] = MergeTypes(t.Member(i), u.Member(i))
		}
		return shape.TupleType(m...)
	}
	if t.DType() == array.Invalid {
		t = t.WithDType(u.DType())
	}
	switch {
	case !u.Ranked():
		return t
	case !t.Ranked():
		return t.WithDims(u.Dims())
	case t.Rank() != u.Rank():
		return t
	}
	dims := t.Dims().Slice()
	for i, d := range dims {
		if d.IsUnknown() {
			dims[i] = u.Dim(i)
		}
	}
	return t.WithDims(shape.Of(dims...))
}

// DescribeConflict says how two descriptions of one value contradict each other, "" when
// they do not: symbols may turn out to be equal.
func DescribeConflict(t, u shape.Type) string {
	if t.Kind() == shape.None || u.Kind() == shape.None {
		return ""
	}
	bad := t.Kind() != u.Kind() || t.Kind() == shape.Tuple && t.Len() != u.Len() ||
		t.DType() != u.DType() && t.DType() != array.Invalid && u.DType() != array.Invalid ||
		t.Ranked() && u.Ranked() && t.Rank() != u.Rank()
	if !bad && t.Kind() == shape.Tuple {
		for i := range t.Len() {
			if s := DescribeConflict(t.Member(i), u.Member(i)); s != "" {
				return s
			}
		}
	}
	if !bad && t.Ranked() && u.Ranked() {
		for i := range t.Rank() {
			a, aok := t.Dim(i).Int()
			b, bok := u.Dim(i).Int()
			bad = bad || aok && bok && a != b
		}
	}
	if !bad {
		return ""
	}
	return t.String() + " instead of " + u.String()
}
