package lazy

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/shape"
)

// Sizes of attributes are functions of symbols. A program computes them from sizes that it asked
// for, of what it reads and of values on the way, so these are what functions are of: symbols,
// sizes that type rules give, and quotients of both. What is found is a guess until the types of
// the graph are those of the calls, and each cone is compared with it before it is run by the graph.

// formula is a size as a function of terms, of which the first ones are symbols: a number times some of
// them, plus a number.
type formula struct {
	scale, plus int
	of          []int
}

func (f formula) value(terms []int) int {
	n := f.scale
	for _, i := range f.of {
		n *= terms[i]
	}
	return n + f.plus
}

// dim is the size that a formula stands for.
func (o *open) dim(f formula) shape.Dim {
	d := shape.Const(f.scale)
	for _, i := range f.of {
		d = d.Mul(o.term(i))
	}
	return d.AddInt(f.plus)
}

func (o *open) term(i int) shape.Dim {
	if i < len(o.at) {
		return shape.Sym(symbolName(i))
	}
	return o.terms[i-len(o.at)]
}

// derived are the sizes of calls that follow from symbols, as expressions, each once.
func (o *open) derived() (all []string) {
	for _, f := range o.sizes {
		d := o.dim(f)
		_, symbol := d.IsSymbol()
		if len(f.of) > 0 && !symbol && !slices.Contains(all, d.String()) {
			all = append(all, d.String())
		}
	}
	return all
}

// size is the size that a symbol has in a cone.
func (o *open) size(symbol string, sizes []int) (n int, ok bool) {
	for j, i := range o.at {
		if symbolName(j) == symbol {
			return sizes[i], true
		}
	}
	return 0, false
}

// fits reports whether the sizes of a cone are those of the program for some values of its
// symbols. 0 and 1 are none: what has such sizes may broadcast, or be nothing.
func (o *open) fits(sizes []int) bool {
	var buf [8]int
	terms := buf[:0]
	for _, i := range o.at {
		if sizes[i] < 2 {
			return false
		}
		terms = append(terms, sizes[i])
	}
	for _, d := range o.terms {
		n, ok := o.eval(d, sizes)
		if !ok {
			return false
		}
		terms = append(terms, n)
	}
	for i, f := range o.sizes {
		if f.value(terms) != sizes[i] {
			return false
		}
	}
	return true
}

func (o *open) eval(d shape.Dim, sizes []int) (n int, ok bool) {
	n, err := d.Eval(func(symbol string) (int, bool) { return o.size(symbol, sizes) })
	return n, err == nil
}

const (
	maxSeen  = 8  // cones that fit a program and are remembered
	maxFrom  = 16 // cones that the sizes of a program are made of
	maxWalks = 64 // of types, for the sizes of a family
)

// unify finds the sizes of cones of the family, of which the last is k, as functions
// of symbols; nil where there is no way. Where functions were right for some cones and are wrong for
// k, those that are right for all stand instead of them.
func (f *family) unify(k *cone) (o, instead *open) {
	for _, old := range slices.Backward(f.opens) {
		if len(old.from) < maxFrom {
			if o := f.find(k, append(slices.Clip(old.from), k.sizes), len(old.at)); o != nil {
				return o, old
			}
		}
	}
	last := len(f.loose) - 1
	for j := last - 1; j >= 0; j-- {
		for i := j - 1; i >= 0; i-- {
			if o := f.find(k, [][]int{f.loose[i], f.loose[j], f.loose[last]}, 1); o != nil {
				return o, nil
			}
		}
	}
	if len(f.loose) < together {
		return nil, nil
	}
	return f.find(k, f.loose[last-2:], len(k.sizes)), nil
}

// finder finds the sizes of cones as functions of symbols.
type finder struct {
	k     *cone
	cones [][]int // the sizes of each, those of k are the last ones
	o     *open
	terms [][]int // of the symbols and of open.terms, in each cone
}

// saw remembers a cone that fits, so that a better guess is right for it, too.
func (o *open) saw(sizes []int) {
	if len(o.from) < maxSeen && !slices.ContainsFunc(o.from, func(s []int) bool { return slices.Equal(s, sizes) }) {
		o.from = append(o.from, sizes)
	}
}

// find makes symbols of the sizes of leaves that differ, of at most a number of them; those
// that always agree are one.
func (f *family) find(k *cone, cones [][]int, most int) *open {
	s := &finder{k: k, cones: cones, o: &open{sizes: make([]formula, len(k.sizes)), from: slices.Clone(cones)}}
	if !s.symbols(most) {
		return nil
	}
	for i := range k.sizes {
		var ok bool
		if s.o.sizes[i], ok = s.plain(s.at(i)); ok {
			continue
		}
		if f.walks == maxWalks || i >= k.ofLeaves {
			return nil
		}
		f.walks++
		if !s.walk() {
			return nil
		}
		s.o.prune()
		break
	}
	return s.o
}

// at has a size in each cone.
func (s *finder) at(i int) []int {
	list := make([]int, len(s.cones))
	for k, sizes := range s.cones {
		list[k] = sizes[i]
	}
	return list
}

func (s *finder) symbols(most int) bool {
	for i := s.k.ofLeaves; i < len(s.k.sizes); i++ {
		at := s.at(i)
		if constant(at) || slices.ContainsFunc(s.terms, func(y []int) bool { return slices.Equal(y, at) }) {
			continue
		}
		if len(s.terms) == most || slices.Min(at) < 2 {
			return false
		}
		s.terms = append(s.terms, at)
		s.o.at = append(s.o.at, i)
		y := s.k.symbol(i, at)
		y.Name = symbolName(len(s.o.symbols))
		s.o.symbols = append(s.o.symbols, y)
	}
	return len(s.terms) > 0
}

func constant(at []int) bool {
	return !slices.ContainsFunc(at, func(n int) bool { return n != at[0] })
}

// plain finds a size as a number, a multiple of a term plus a number, or a product of two terms.
func (s *finder) plain(size []int) (f formula, ok bool) {
	if constant(size) {
		return formula{plus: size[0]}, true
	}
	if j := slices.IndexFunc(s.terms, func(y []int) bool { return slices.Equal(y, size) }); j >= 0 {
		return formula{scale: 1, of: []int{j}}, true
	}
	for j, y := range s.terms {
		if scale, plus, ok := line(size, y); ok && (plus == 0 || j < len(s.o.at)) {
			return formula{scale: scale, plus: plus, of: []int{j}}, true
		}
	}
	for i, x := range s.terms {
		for j := i; j < len(s.terms); j++ {
			both := make([]int, len(size))
			for k := range both {
				both[k] = x[k] * s.terms[j][k]
			}
			if scale, plus, ok := line(size, both); ok && plus == 0 {
				return formula{scale: scale, of: []int{i, j}}, true
			}
		}
	}
	return f, false
}

// line finds the numbers with which size is scale*of + plus.
func line(size, of []int) (scale, plus int, ok bool) {
	b := slices.IndexFunc(of, func(n int) bool { return n != of[0] })
	if b < 0 {
		return 0, 0, false
	}
	scale = (size[b] - size[0]) / (of[b] - of[0])
	plus = size[0] - scale*of[0]
	for k := range size {
		if scale*of[k]+plus != size[k] {
			return 0, 0, false
		}
	}
	return scale, plus, scale != 0
}

// walk finds the sizes of all calls in their order, with the sizes of the types that are known by then
// as terms.
func (s *finder) walk() bool {
	leaves := make([]shape.Type, len(s.k.leaves))
	next := s.k.ofLeaves
	for i, l := range s.k.leaves {
		leaves[i] = l.typ
		if l.slot() == nil && l.data != nil {
			dims := make([]shape.Dim, l.data.Rank())
			for axis := range dims {
				s.o.sizes[next], _ = s.plain(s.at(next))
				dims[axis] = s.o.dim(s.o.sizes[next])
				next++
			}
			leaves[i] = shape.TypeOf(l.data).WithDims(shape.Of(dims...))
		}
	}
	lifts := map[int]*operand{}
	for _, l := range s.k.lifts {
		lifts[l.call] = &operand{Lifted: l.Lifted}
	}
	calls := make([]shape.Type, len(s.k.calls))
	next = 0
	for i, q := range s.k.calls {
		types := make([]shape.Type, len(q.args()))
		for j, a := range q.args() {
			switch {
			case a == nil:
			case a.known():
				types[j] = leaves[a.number]
			default:
				types[j] = calls[a.number]
			}
		}
		if q.index > 0 {
			calls[i] = types[0].Member(q.index - 1)
			continue
		}
		r, ok := s.call(q, lifts[i], &next)
		if !ok {
			return false
		}
		t, err := q.op.Type(nil, r.attrs(q, lifts[i]), types)
		if err != nil || !s.o.same(t, q.typ, s.k.sizes) {
			return false
		}
		calls[i] = t
		s.enter(t)
	}
	return true
}

// call finds the sizes in the attributes of a call, the first of which is the next one of the cone.
func (s *finder) call(q *place, l *operand, next *int) (r *resizing, ok bool) {
	attrs := q.attrs
	if l != nil {
		attrs = l.Attrs
	}
	_, sizes := q.op.Codec().AppendSkeleton(nil, attrs, nil)
	r = &resizing{}
	for range sizes {
		f, ok := s.formula(s.at(*next))
		if !ok {
			return nil, false
		}
		s.o.sizes[*next] = f
		*next++
		r.calls = append(r.calls, s.o.dim(f))
	}
	return r, true
}

func (s *finder) formula(size []int) (f formula, ok bool) {
	if f, ok = s.plain(size); ok {
		return f, true
	}
	if d, ok := s.quotient(size); ok {
		return s.derived(d), true
	}
	for j, y := range s.terms {
		if scale, plus, ok := line(size, y); ok {
			return formula{scale: scale, plus: plus, of: []int{j}}, true
		}
	}
	if d, ok := s.difference(size); ok {
		return s.derived(d), true
	}
	return f, false
}

// derived adds a term.
func (s *finder) derived(d shape.Dim) formula {
	s.add(d)
	return formula{scale: 1, of: []int{len(s.terms) - 1}}
}

func (s *finder) add(d shape.Dim) bool {
	at := make([]int, len(s.cones))
	for k, sizes := range s.cones {
		var ok bool
		if at[k], ok = s.o.eval(d, sizes); !ok {
			return false
		}
	}
	s.o.terms = append(s.o.terms, d)
	s.terms = append(s.terms, at)
	return true
}

// enter makes terms of the sizes of a call's results that follow from symbols.
func (s *finder) enter(t shape.Type) {
	for _, m := range t.Members() {
		for _, d := range m.Dims().Slice() {
			_, known := d.Int()
			_, symbol := d.IsSymbol()
			if !known && !symbol && !d.IsUnknown() && len(s.terms) < maxTerms && !slices.ContainsFunc(s.o.terms, d.Same) {
				s.add(d)
			}
		}
	}
}

const (
	maxTerms   = 64 // sizes of types that sizes of attributes may follow from
	maxDivisor = 32
)

// quotient finds a size as a multiple of (term+shift)//divisor plus a number. Several may be right for the
// cones; a small divisor, no number and a shift that rounds down or up come first, since programs are written so.
func (s *finder) quotient(size []int) (d shape.Dim, ok bool) {
	best, q := 0, make([]int, len(size))
	for j, y := range s.terms {
		if slices.Min(y) < 0 {
			continue
		}
		for by := 2; by <= maxDivisor; by++ {
			for shift := range by {
				for k := range q {
					q[k] = (y[k] + shift) / by
				}
				scale, plus, right := line(size, q)
				if !right {
					continue
				}
				cost := 5*by + 5*max(plus, -plus) + 3*max(scale-1, 1-scale) + 2*j
				switch shift {
				case 0:
				case by - 1:
					cost++
				default:
					cost += 3
				}
				if !ok || cost < best {
					best, ok = cost, true
					d = s.o.term(j).AddInt(shift).FloorDivInt(by).MulInt(scale).AddInt(plus)
				}
			}
		}
	}
	return d, ok
}

// difference finds a size as what a division leaves, or as a term without a multiple of another.
func (s *finder) difference(size []int) (d shape.Dim, ok bool) {
	rest := make([]int, len(size))
	for j, y := range s.terms {
		for by := 2; by <= maxDivisor; by++ {
			for k := range rest {
				rest[k] = y[k] % by
			}
			if scale, plus, ok := line(size, rest); ok && slices.Min(y) >= 0 {
				x := s.o.term(j)
				return x.Sub(x.FloorDivInt(by).MulInt(by)).MulInt(scale).AddInt(plus), true
			}
		}
	}
	for i, x := range s.terms {
		for k := range rest {
			rest[k] = size[k] - x[k]
		}
		for j, y := range s.terms {
			if scale, plus, ok := line(rest, y); ok && i != j {
				return s.o.term(i).Add(s.o.term(j).MulInt(scale)).AddInt(plus), true
			}
		}
	}
	return d, false
}

// prune drops the terms that no formula is of.
func (o *open) prune() {
	number := map[int]int{}
	var kept []shape.Dim
	for i := range o.at {
		number[i] = i
	}
	for i, f := range o.sizes {
		of := make([]int, len(f.of))
		for j, t := range f.of {
			n, ok := number[t]
			if !ok {
				n = len(o.at) + len(kept)
				number[t] = n
				kept = append(kept, o.term(t))
			}
			of[j] = n
		}
		o.sizes[i].of = of
	}
	o.terms = kept
}

// same reports whether a type is another one where symbols have the sizes of a cone.
func (o *open) same(t, other shape.Type, sizes []int) bool {
	return t.Bind(func(name string) shape.Dim {
		if n, ok := o.size(name, sizes); ok {
			return shape.Const(n)
		}
		return shape.Unknown
	}).Same(other)
}

func symbolName(i int) string { return "s" + strconv.Itoa(i) }
