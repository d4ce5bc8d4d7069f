package alias

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Kind says what a call of an operator with ViewOf gives.
type Kind uint8

// The kinds.
const (
	View  Kind = iota // the operand's memory
	Fresh             // a copy
	Open              // either, as sizes turn out
)

// KindOf returns what a view call on the place gives, where types is what is
// known of its operands and result that of its results. Operators that never copy give a
// view; for others the layouts along the path are followed, as expressions of the sizes:
// where it cannot be shown that all sizes give a view, or that all give a copy, the answer
// is open.
func (r *Ref[V]) KindOf(operator *op.Op, attrs any, types []shape.Type, result shape.Type) Kind {
	if !operator.MayCopy {
		return View
	}
	switch {
	case r.Storage.Loose:
		return Open
	case r.IsWhole() && r.Storage.Header == nil:
		return View // any regrouping of row-major order is one
	}
	at, ok := r.layout()
	dims, ranked := dimsOf(result)
	if !ok || !ranked {
		return Open
	}
	switch _, truth := operator.Layout(attrs, types, dims, at); truth {
	case shape.True:
		return View
	case shape.False:
		return Fresh
	}
	return Open
}

// layout returns where the elements of the place lie; ok is false where that is not known
// for all sizes.
func (r *Ref[V]) layout() (at op.Layout, ok bool) {
	root := r.Storage.rootType()
	if !root.Ranked() {
		return at, false
	}
	at = op.InOrder(root.Dims())
	if r.Storage.Header != nil {
		at = op.LayoutOf(r.Storage.Header)
	}
	t := root
	var none V
	for _, st := range r.path {
		in := make([]shape.Type, len(st.args))
		for i, a := range st.args {
			if a != none {
				in[i] = a.Type()
			}
		}
		in[st.base] = t
		result, err := st.op.Type(nil, st.attrs, in)
		dims, ranked := dimsOf(result)
		if err != nil || !ranked || st.item >= len(dims) {
			return at, false
		}
		out, truth := st.op.Layout(st.attrs, in, dims, at)
		if truth != shape.True || st.item >= len(out) {
			return at, false
		}
		at, t = out[st.item], result
		if result.Kind() == shape.Tuple {
			t = result.Member(st.item)
		}
	}
	return at, true
}

// dimsOf returns those of all results, false where a rank is not known.
func dimsOf(result shape.Type) (dims []shape.Dims, ranked bool) {
	members := []shape.Type{result}
	if result.Kind() == shape.Tuple {
		members = make([]shape.Type, result.Len())
		for i := range members {
			members[i] = result.Member(i)
		}
	}
	for _, t := range members {
		if t.Kind() != shape.Tensor || !t.Ranked() {
			return nil, false
		}
		dims = append(dims, t.Dims())
	}
	return dims, true
}

func (s *Storage[V]) rootType() shape.Type {
	var none V
	switch {
	case s.Header != nil:
		return shape.TypeOf(s.Header)
	case s.Value != none:
		return s.Value.Type()
	}
	return shape.Type{}
}
