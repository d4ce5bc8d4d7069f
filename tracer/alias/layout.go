package alias

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
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
// known of its operands. Operators that never copy give a view; for others the
// layouts along the path are followed on headers, for sample sizes where sizes
// are symbols. Sizes of 1, sizes that everything divides and such that nothing
// does are among the samples; where they differ, the answer is open.
func (r *Ref) KindOf(operator *op.Op, attrs any, types []shape.Type) Kind {
	if !operator.MayCopy {
		return View
	}
	switch {
	case r.Storage.Loose:
		return Open
	case r.IsWhole() && r.Storage.Header == nil:
		return View // any regrouping of row-major order is one
	}
	root := r.Storage.rootType()
	if !root.Ranked() {
		return Open
	}
	names := symbols(append([]shape.Type{root}, types...))
	kind, found := Open, false
	for _, env := range samples(names) {
		k, ok := r.kindAt(operator, attrs, types, root, env)
		if !ok {
			continue
		}
		if found && k != kind {
			return Open
		}
		kind, found = k, true
	}
	return kind
}

func (s *Storage) rootType() shape.Type {
	switch {
	case s.Header != nil:
		return shape.TypeOf(s.Header)
	case s.Value != nil:
		return s.Value.Type()
	}
	return shape.Type{}
}

// kindAt answers for one choice of sizes; ok is false when they are impossible.
func (r *Ref) kindAt(operator *op.Op, attrs any, types []shape.Type, root shape.Type, env func(string) shape.Dim) (k Kind, ok bool) {
	a := r.Storage.Header
	if a == nil {
		d, dims, known := root.Bind(env).Concrete()
		if _, fits := array.NumElems(dims); !known || !fits {
			return Open, false
		}
		a = &array.Array{}
		a.Reset(d, dims)
	}
	// Nothing reads or writes through these headers: any storage does.
	h := &array.Array{}
	h.SetLayout(a, a.Shape(), a.Strides(), a.Offset())
	h.SetStorage(array.WrapBytes(nil), a.Offset())
	for _, st := range r.path {
		out, view, err := st.op.View(bind(st.op, st.attrs, env), st.headers(h, env))
		if err != nil || !view || st.item >= len(out) {
			return Open, false
		}
		h = out[st.item]
	}
	s := step{op: operator, args: make([]*graph.Node, len(types)), base: operator.ViewOf - 1}
	in := s.headers(h, env)
	for i, t := range types {
		if d, dims, known := t.Bind(env).Concrete(); i != s.base && known {
			in[i] = &array.Array{}
			in[i].Reset(d, dims)
		}
	}
	_, view, err := operator.View(bind(operator, attrs, env), in)
	switch {
	case err != nil:
		return Open, false
	case view:
		return View, true
	}
	return Fresh, true
}

// headers returns the operands of the step, with h at its base.
func (s *step) headers(h *array.Array, env func(string) shape.Dim) []*array.Array {
	in := make([]*array.Array, len(s.args))
	for i, a := range s.args {
		if a == nil {
			continue
		}
		if d, dims, known := a.Type().Bind(env).Concrete(); known {
			in[i] = &array.Array{}
			in[i].Reset(d, dims)
		}
	}
	in[s.base] = h
	return in
}

func bind(o *op.Op, attrs any, env func(string) shape.Dim) any {
	if o.Codec().HasDims() {
		return o.Codec().Bind(attrs, env)
	}
	return attrs
}

func symbols(types []shape.Type) []string {
	var names []string
	seen := map[string]bool{}
	for _, t := range types {
		for _, d := range t.Dims().Slice() {
			for _, s := range d.Symbols() {
				if !seen[s] {
					seen[s] = true
					names = append(names, s)
				}
			}
		}
	}
	return names
}

// samples returns choices of sizes for symbols; one empty choice without any.
func samples(names []string) []func(string) shape.Dim {
	primes := []int{101, 211, 307, 401, 503, 601, 701, 809}
	at := map[string]int{}
	for i, s := range names {
		at[s] = i
	}
	choose := func(f func(i int) int) func(string) shape.Dim {
		return func(s string) shape.Dim {
			if i, ok := at[s]; ok {
				return shape.Const(f(i))
			}
			return shape.Sym(s)
		}
	}
	prime := func(i int) int { return primes[i%len(primes)] }
	all := []func(string) shape.Dim{choose(prime)}
	if len(names) == 0 {
		return all
	}
	all = append(all,
		choose(func(int) int { return 1 }),
		choose(func(int) int { return 2 }),
		choose(func(int) int { return 5040 }),
		choose(func(i int) int { return 5040 * (i + 1) }))
	for k := range names {
		all = append(all,
			choose(func(i int) int {
				if i == k {
					return 1
				}
				return prime(i)
			}),
			choose(func(i int) int {
				if i == k {
					return 5040
				}
				return prime(i)
			}))
	}
	return all
}
