package lazy

import (
	"encoding/binary"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// cone is what a flush computes: calls in an order in which operands come first, what they
// read, and the values that are kept.
type cone struct {
	calls   []*place // calls and members of their results
	leaves  []*place
	keep    []int // numbers of calls, in increasing order, each once
	lifts   []lift
	barrier bool
	updates []update // that the run may make in place
	key     []byte

	skeleton int   // bytes of the key before the sizes
	sizes    []int // of attributes of calls, then of leaves
	ofLeaves int   // of sizes, the first one of a leaf
}

// ends are the values that were recorded and used by no call.
func (s *Session) ends() (all []*place) {
	for _, p := range s.pending {
		if p.ends() {
			all = append(all, p)
		}
	}
	return all
}

// cut computes what was recorded, because it has become long. What was recorded stays
// recorded where only later calls can ask for it: see place.part.
func (s *Session) cut() {
	s.compute(Length, append(s.ends(), s.written()...))
	s.begin()
}

// begin forgets what was recorded: it is computed, or only later calls can ask for it.
func (s *Session) begin() {
	clear(s.pending) // it keeps no value
	s.pending, s.calls, s.unread = s.pending[:0], 0, 0
}

// prune takes out of pending what no barrier computes any more, so that a program that reads values and has
// no barriers keeps none of its steps. It looks at twice as many values as it has left the last time.
func (s *Session) prune() {
	if len(s.pending) <= 2*s.unread+16 {
		return
	}
	s.pending = slices.DeleteFunc(s.pending, func(p *place) bool { return !p.ends() })
	s.unread = len(s.pending)
}

// ends reports whether a barrier computes the value: it was recorded and used by no call.
func (p *place) ends() bool {
	return !p.known() && !p.used && p.err() == nil && p.typ.Kind() != shape.Tuple
}

// compute makes the values of places known, those of also at the same time. A mistake ends the
// first computation that meets it, and later ones of the same values; barriers do not repeat it.
func (s *Session) compute(why Reason, want []*place, also ...*place) {
	s.flows.outside("values are computed on the way: " + string(why))
	c := s.coneOf(append(want[:len(want):len(want)], also...))
	if why != Barrier && why != Length {
		for _, w := range want {
			if w.err() != nil {
				panic(w.mistake())
			}
		}
	}
	if len(c.calls) == 0 {
		return
	}
	if why != Length {
		refuse(s.forbid, why)
	}
	s.capture.refuse("values are computed on the way: " + string(why))
	s.stats.flushed(why, len(c.calls))
	s.capture.flushed()
	s.log.flush(why)
	s.calls = 0
	if c.barrier = why == Barrier; c.barrier && s.opts.Donate {
		c.updates = s.cache.updates(c)
	}
	s.cache.run(c)
	s.prune()
}

// refuse panics where nothing may be computed now, because it is inside something.
func refuse(inside string, why Reason) {
	if inside != "" {
		panic((&diag.Error{Code: Forbidden, Op: string(why), Msg: "data is asked for inside " + inside,
			Hint: "read it after the function has returned"}).At(diag.Here()))
	}
}

// coneOf finds the calls that values need. The search keeps a stack of its own: programs are
// as deep as they are long.
func (s *Session) coneOf(want []*place) *cone {
	s.mark++
	c := &cone{calls: make([]*place, 0, s.calls)}
	keep, stack, deepest := s.search.keep[:0], s.search.stack[:0], 0
	for _, w := range want {
		w.fetch()
		w.wanted()
		if w.mark != s.mark && !w.known() {
			w.mark = s.mark
			stack = append(stack, step{p: w})
		}
		for len(stack) > 0 {
			deepest = max(deepest, len(stack))
			f := &stack[len(stack)-1]
			if f.next < int(f.p.count) {
				a := f.p.args()[f.next]
				f.next++
				if a == nil || a.mark == s.mark {
					continue
				}
				a.mark = s.mark
				a.fetch()
				if a.known() {
					a.wanted()
					a.number = int32(len(c.leaves))
					c.leaves = append(c.leaves, a)
					continue
				}
				stack = append(stack, step{p: a})
				continue
			}
			p := f.p
			stack = stack[:len(stack)-1]
			if p.inherits(); p.err() != nil {
				continue
			}
			before := p.part()
			if before != nil { // computed before on the way to others: not a third time
				before.learn(int(p.number))
				p.apart()
			}
			p.number = int32(len(c.calls))
			c.calls, keep = append(c.calls, p), append(keep, before != nil)
		}
		if !w.known() && w.err() == nil {
			keep[w.number] = true
		}
	}
	for i, kept := range keep {
		if kept {
			c.keep = append(c.keep, i)
		}
	}
	clear(stack[:deepest]) // it keeps no value
	s.search.keep, s.search.stack = keep, stack
	s.keyOf(c)
	return c
}

// search has the lists of the last search for a cone, which the next one uses again, and types of
// operands. The key of a cone lies there, too: it is valid until then.
type search struct {
	types []shape.Type
	keep  []bool // by number of a call
	stack []step
	key   []byte
}

// typeOf returns the type of a call. Rules of operators keep no list of types.
func (l *search) typeOf(o *op.Op, attrs any, args []*place) (shape.Type, error) {
	l.types = typesOf(l.types[:0], args)
	return o.Type(nil, attrs, l.types)
}

// step is a place whose operands are being searched.
type step struct {
	p    *place
	next int
}

// inherits gives a call the mistake of its first operand that has one.
func (p *place) inherits() {
	for _, a := range p.args() {
		if a != nil && a.err() != nil && p.err() == nil {
			p.own().err = a.err()
		}
	}
}

// keyOf writes the bytes that cones have in common exactly when they are the same program:
// calls with their attributes and operands, types of what is read, and what is kept. They
// are compared as a whole, so that no two programs are taken for one.
func (s *Session) keyOf(c *cone) {
	k := s.search.key[:0]
	var sizes []int
	operands := lifter{s: s}
	for i, p := range c.calls {
		if p.index > 0 {
			k = binary.AppendVarint(k, -int64(p.index))
			k = binary.AppendVarint(k, int64(p.few[0].number))
			continue
		}
		l := operands.lifts(p)
		if l {
			c.lifts = append(c.lifts, lift{Lifted: p.lifted, call: i})
		}
		text := s.cache.piece(p.form, l)
		k, sizes = append(k, text.key...), append(sizes, text.sizes...)
		k = binary.AppendVarint(k, int64(p.count))
		for _, a := range p.args() {
			k = keyOfOperand(k, a)
		}
		if p.bodies() != nil {
			k, sizes = s.cache.keyOfBodies(p, k, sizes)
		}
	}
	c.ofLeaves = len(sizes)
	k = append(k, 0xff)
	for _, l := range c.leaves {
		if l.slot() != nil {
			kind := byte(1)
			if s.opts.Rounding && !s.cache.frozen(l.slot()) { // which is another plan at once
				kind = 2
			}
			k = binary.AppendVarint(append(k, kind), int64(s.cache.identity(l.slot())))
			continue
		}
		k = append(k, 0, byte(l.data.DType()), byte(l.data.Rank()))
		sizes = append(sizes, l.data.Shape()...)
	}
	k = append(k, 0xff)
	k = binary.AppendUvarint(k, uint64(len(c.keep)))
	for _, i := range c.keep {
		k = binary.AppendUvarint(k, uint64(i))
	}
	c.skeleton, c.sizes = len(k), sizes
	for _, n := range sizes {
		k = binary.AppendVarint(k, int64(n))
	}
	c.key, s.search.key = k, k
}

// piece returns what a call adds to keys.
func (c *cache) piece(f *form, lifted bool) piece {
	attrs, form := f.attrs, 0
	if lifted {
		attrs, form = f.lifted.Attrs, 1
	}
	if f.keys[form].key == nil {
		k := append(binary.AppendVarint(nil, int64(c.operator(f.op))), byte(form))
		k, sizes := f.op.Codec().AppendSkeleton(k, attrs, nil)
		f.keys[form] = piece{k, sizes}
	}
	return f.keys[form]
}

// interpret runs a cone call by call, as eager code does, and keeps all values that do not
// lie in memory of a model's.
func (s *Session) interpret(c *cone) {
	values := make([][]*array.Array, len(c.calls))
	owned := map[*array.Storage]bool{} // memory of models, and of data tensors, which code may be given
	for _, l := range c.leaves {
		if l.slot() != nil || s.capture.has(l) {
			owned[l.data.Storage()] = true
		}
	}
	in := make([]*array.Array, 0, 8)
	for i, p := range c.calls {
		in = in[:0]
		for _, a := range p.args() {
			in = append(in, valueOf(a, values))
		}
		if p.index > 0 {
			values[i] = values[p.args()[0].number][p.index-1 : p.index]
			continue
		}
		values[i] = s.call(p, in)
		s.stats.Runs++
	}
	kept := map[int]bool{}
	for _, i := range c.keep {
		kept[i] = true
	}
	for i, p := range c.calls {
		out := values[i]
		foreign := false
		for k, a := range out {
			if owned[a.Storage()] {
				if foreign = true; kept[i] {
					out[k] = array.Clone(a)
				}
			}
		}
		if !foreign || kept[i] {
			p.computed(out)
		}
	}
}

func valueOf(p *place, values [][]*array.Array) *array.Array {
	switch {
	case p == nil || p.typ.Kind() == shape.Tuple:
		return nil
	case p.data != nil:
		return p.data
	}
	return values[p.number][0]
}

// call runs one call. A mistake in what operands hold is one of the call's line.
func (s *Session) call(p *place, in []*array.Array) []*array.Array {
	out, err := func() (out []*array.Array, err error) {
		defer kernel.Catch(&err)
		if p.bodies() != nil {
			return s.flows.eager(p, in)
		}
		return p.op.Eval(&s.work, p.attrs, in)
	}()
	if err != nil {
		e := p.located(err)
		p.own().err = e
		panic(e)
	}
	return out
}

// located gives an error of a run the call's line.
func (p *place) located(err error) *diag.Error {
	e := located(err, opName(p.op))
	if p.pc != 0 && (p.bodies() == nil || e.Pos.Line == 0) { // that of a function has a line of its own
		at := *e
		at.Pos = diag.Resolve(p.pc)
		return &at
	}
	return e
}

func opName(o *op.Op) string {
	if o == nil {
		return ""
	}
	return o.Name
}
