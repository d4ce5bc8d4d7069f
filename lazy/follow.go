package lazy

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// A capture follows the sizes that are symbols: code that asks for one gets an expression, and what
// code does with it arrives in attributes as code wrote it. Nothing is guessed from the numbers of two
// runs. Where code is told such a size as a number, it may do anything with it: no size is a symbol then.

// follow is what a capture knows of sizes that are symbols.
type follow struct {
	symbols   [][]int                // by data tensor and axis, from 1
	at        []int                  // what each symbol is in this run
	given     map[*place][]shape.Dim // sizes in attributes of calls that were given symbols
	types     map[*place]shape.Type
	relations []shape.Relation // that the types, and the code, rely on
	sides     []shape.Relation // that code has asked for, as they are in this run
	ints      Ints             // nil where nobody knows what code does with ints
	unsure    bool             // an int that a call was given may be several sizes
	asleep    bool             // the session itself makes calls
	looked    string           // what has told code a size as a number, "" for nothing
	line      diag.Pos
	over      bool
}

var _ tensor.Follower = (*Session)(nil)

// Ints sees what becomes of sizes that code is told as ints. It knows the code.
type Ints interface {
	// Here reports whether the caller is code of the run: other goroutines may have eager tensors meanwhile. They may call it at any time.
	Here() bool
	// Told is told of such a size, which is n in this run. It reports whether all that code does with it is known.
	Told(d shape.Dim, n int) bool
	// Given returns the sizes of attributes, with symbols for the ints among them that code has made of sizes. ok is false where one may be several.
	Given(o *op.Op, dims []shape.Dim) (now []shape.Dim, ok bool)
	// Sides returns the relations of sizes on which code may have branched, as they are in this run. ok is false where these are not known.
	Sides() (list []shape.Relation, ok bool)
}

// newFollow follows the sizes of data tensors; symbols is nil for none.
func newFollow(symbols [][]int, data []*tensor.Tensor, ints Ints) *follow {
	if symbols == nil {
		return nil
	}
	f := &follow{symbols: symbols, ints: ints, given: map[*place][]shape.Dim{}, types: map[*place]shape.Type{}}
	for i, x := range data {
		for axis, y := range symbols[i] {
			for len(f.at) < y {
				f.at = append(f.at, 0)
			}
			if y > 0 {
				f.at[y-1] = x.Value().(*array.Array).Shape()[axis]
			}
		}
	}
	return f
}

// Following implements tensor.Follower.
func (s *Session) Following() bool { return s.follow != nil && !s.follow.over }

// FollowSize implements tensor.Follower.
func (s *Session) FollowSize(x *tensor.Tensor, axis int) shape.Dim {
	defer s.enter("Size")()
	n, _ := s.rec.TypeOf(x).Dim(axis).Int()
	f := s.follow
	p := s.rec.Origin(x) // a size is known in functions, too
	if p == nil {
		p = s.rec.Value(x, "Size")
	}
	t, ok := f.typeOf(s.capture, p)
	if ok && axis < t.Rank() {
		d := t.Dim(axis)
		if m, err := d.Eval(f.value); err == nil && m == n {
			return d
		}
	}
	f.look("Size")
	return shape.Const(n)
}

// LookAt implements tensor.Follower, also for sizes that were kept longer than the session.
func (s *Session) LookAt(d shape.Dim, what string) int {
	f := s.follow
	n, err := d.Eval(f.value)
	if err != nil {
		panic(located(err, "Size"))
	}
	if told := what == "Dim" || what == "Size.Int"; told && f.tells(d, n) {
		return n
	}
	if _, known := d.Int(); !known && what != "" {
		f.look(what)
	}
	return n
}

// tells reports whether all is known that code does with an int.
func (f *follow) tells(d shape.Dim, n int) bool {
	return f.ints != nil && !f.over && !f.asleep && f.ints.Told(d, n)
}

// Branch implements tensor.Follower.
func (s *Session) Branch(r shape.Relation) {
	if s.Following() {
		s.follow.side(r)
	}
}

// side notes a relation that is true in this run, and may not be in others.
func (f *follow) side(r shape.Relation) {
	if r = r.Normal(); r.Truth() != shape.True && !slices.ContainsFunc(f.sides, func(o shape.Relation) bool { return sameRelation(o, r) }) {
		f.sides = append(f.sides, r)
	}
}

// branches notes on which relations code may have branched by ints.
func (f *follow) branches() {
	if f == nil || f.ints == nil {
		return
	}
	list, ok := f.ints.Sides()
	f.unsure = f.unsure || !ok
	for _, r := range list {
		f.side(r)
	}
}

// asker implements tensor.Asker for a session.
type asker struct{ s *Session }

func (a asker) Asked(n int) {
	if f := a.s.follow; f.ints.Here() {
		f.tells(shape.Const(n), n)
	}
}

func (a asker) Takes(o *op.Op, attrs any) tensor.Engine {
	f := a.s.follow
	if !f.ints.Here() || f.over || f.asleep {
		return nil
	}
	var dims []shape.Dim
	o.Codec().Symbols(attrs, func(d shape.Dim) { dims = append(dims, d) })
	if dims, ok := f.ints.Given(o, dims); ok && !slices.ContainsFunc(dims, symbolic) {
		return nil
	}
	return a.s
}

// symbolic reports whether a size is no number.
func symbolic(d shape.Dim) bool {
	_, known := d.Int()
	return !known
}

func sameRelation(a, b shape.Relation) bool { return a.Rel == b.Rel && a.A.Same(b.A) && a.B.Same(b.B) }

// Guard implements tensor.Follower.
func (s *Session) Guard(_ *tensor.Tensor, r shape.Relation) {
	if s.Following() {
		s.follow.rely(r)
	}
}

// look notes that code was told a size, or has done what depends on one. It does nothing where none is followed.
func (f *follow) look(what string) {
	if f != nil && !f.over && f.looked == "" {
		f.looked, f.line = what, diag.Here()
	}
}

func (f *follow) value(symbol string) (int, bool) { return sizeOf(symbol, f.at) }

func (f *follow) bind(symbol string) shape.Dim {
	if n, ok := f.value(symbol); ok {
		return shape.Const(n)
	}
	return shape.Unknown
}

func (f *follow) rely(r shape.Relation) {
	if r = r.Normal(); !r.IsUnknown() && r.Truth() != shape.True && !slices.ContainsFunc(f.relations, func(o shape.Relation) bool { return sameRelation(o, r) }) {
		f.relations = append(f.relations, r)
	}
}

// typeOf is the type of a value with symbols. ok is false where it is not known.
func (f *follow) typeOf(k *capture, p *place) (t shape.Type, ok bool) {
	if t, ok = f.types[p]; ok {
		return t, true
	}
	if p.parameter() {
		t, ok = f.parameter(k, p)
	} else if p.known() {
		t, ok = f.leaf(k, p)
	} else {
		t, ok = f.callOf(k, p)
	}
	if ok {
		f.types[p] = t
	}
	return t, ok
}

func (f *follow) leaf(k *capture, p *place) (t shape.Type, ok bool) {
	n, data := k.number[p]
	if !data {
		return p.typ, p.op == nil
	}
	dims := p.typ.Dims().Slice()
	for axis, y := range f.symbols[n] {
		if y > 0 {
			dims[axis] = shape.Sym(symbolName(y - 1))
		}
	}
	return p.typ.WithDims(shape.Of(dims...)), true
}

// parameter is the type of a parameter: a loop hands on values of one type, which flowType makes sure of.
func (f *follow) parameter(k *capture, p *place) (t shape.Type, ok bool) {
	like, sliced := p.block().of(p)
	if t, ok = f.typeOf(k, like); ok && sliced {
		t = t.WithDims(shape.Of(t.Dims().Slice()[1:]...))
	}
	return t, ok
}

func (f *follow) callOf(k *capture, p *place) (t shape.Type, ok bool) {
	in := make([]shape.Type, len(p.args()))
	for i, a := range p.args() {
		if a == nil {
			continue
		}
		if in[i], ok = f.typeOf(k, a); !ok {
			return t, false
		}
	}
	if p.index > 0 {
		return in[0].Member(p.index - 1), true
	}
	if blocks := p.bodies(); blocks != nil {
		t, why := flowType(p.op, p.attrs, in, blocks, func(r *place) shape.Type {
			of, known := f.typeOf(k, r)
			ok = ok && known
			return of
		})
		return t, ok && why == "" && t.Bind(f.bind).Same(p.typ)
	}
	t, err := p.op.Type(&op.Infer{Assume: func(r shape.Relation) error { f.rely(r); return nil }}, f.attrs(p), in)
	return t, err == nil && t.Bind(f.bind).Same(p.typ)
}

// of are the sizes that code gave to a call, nil for numbers alone.
func (f *follow) of(p *place) []shape.Dim {
	if f == nil {
		return nil
	}
	return f.given[p]
}

// attrs are the attributes of a call as code gave them.
func (f *follow) attrs(p *place) any {
	if f.of(p) == nil {
		return p.attrs
	}
	attrs, _ := p.op.Codec().Resized(p.attrs, f.given[p])
	return attrs
}

// numbers returns a call with numbers for the symbols in its attributes, and the sizes that it was given, nil for numbers alone.
func (f *follow) numbers(c *tensor.Call) (*tensor.Call, []shape.Dim) {
	if f == nil || !c.Op.Codec().HasDims() {
		return c, nil
	}
	var dims []shape.Dim
	c.Op.Codec().Symbols(c.Attrs, func(d shape.Dim) { dims = append(dims, d) })
	if f.ints != nil && !f.over && !f.asleep {
		now, ok := f.ints.Given(c.Op, dims)
		if !ok {
			f.unsure = true
		}
		dims = now
	}
	if !slices.ContainsFunc(dims, symbolic) {
		return c, nil
	}
	for _, d := range dims {
		if _, err := d.Eval(f.value); err != nil { // as eager code, which divides at once
			panic(located(err, c.Op.Name))
		}
	}
	n := *c
	n.Attrs = c.Op.Codec().Bind(c.Attrs, f.bind)
	return &n, dims
}

// outside reports whether a call shows memory of a tensor that is none of the session's, of sizes that are followed: eager code
// makes the view.
func (f *follow) outside(c *tensor.Call, dims []shape.Dim) bool {
	return dims != nil && c.Op.ViewOf > 0 && !slices.ContainsFunc(c.Args, func(x *tensor.Tensor) bool { return x != nil && x.Engine() != nil })
}

// rest looks at the calls that the graph does without: they fail for the sizes for which they fail in the function.
func (f *follow) rest(s *Session, cone *cone) {
	if f == nil {
		return
	}
	in := map[*place]bool{}
	for _, p := range cone.calls {
		in[p] = true
	}
	check := func(p *place) bool {
		if _, ok := f.typeOf(s.capture, p); !ok {
			f.look(opName(p.op))
		}
		return true
	}
	for _, p := range s.pending {
		if !in[p] && !p.known() {
			check(p)
		}
		f.unused(p, check)
	}
}

// unused calls check for the calls in functions of a call that no result needs.
func (f *follow) unused(p *place, check func(*place) bool) {
	for _, b := range p.bodies() {
		for _, q := range b.rest {
			check(q)
		}
		for _, q := range slices.Concat(b.calls, b.rest) {
			f.unused(q, check)
		}
	}
}

// assume has a graph check what the sizes rely on.
func (f *follow) assume(g *graph.Graph) {
	if f == nil {
		return
	}
	for _, r := range slices.Concat(f.sides, f.relations) {
		if err := g.Assume(r, nil); err != nil {
			panic(err)
		}
	}
}
