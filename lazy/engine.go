package lazy

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// Call implements tensor.Engine: it records the call, or runs it where its result has no type
// yet or code is called that may do anything.
func (s *Session) Call(c *tensor.Call) []*tensor.Tensor {
	c, sizes := s.follow.numbers(c)
	if s.follow != nil {
		before := s.follow.asleep
		s.follow.asleep = true
		defer func() { s.follow.asleep = before }()
	}
	if s.follow.outside(c, sizes) {
		s.follow.look(c.Op.Name)
		return tensor.Apply(c.Op, c.Attrs, c.Args...)
	}
	defer s.enter(c.Op.Name)()
	if len(c.Op.Mutates) > 0 {
		s.follow.look(c.Op.Name)
		s.flows.outside(c.Op.Name + " writes in place")
	}
	args := s.operands(c)
	if c.Op.AdHoc || c.Op.Effect == op.Effectful || c.Op.Effect == op.Random { // a second run would differ
		return s.foreign(c, args)
	}
	p := s.add(s.form(c.Op, c.Attrs, args), args)
	if sizes != nil {
		s.follow.given[p] = sizes
	}
	switch {
	case p.open:
		s.atOnce(p)
	case s.flows.block != nil:
	case s.log.alone < s.opts.OneByOne:
		s.alone(p)
	}
	out := s.rec.Results(p, c, args)
	clear(s.args)
	if s.flows.block != nil {
		return out
	}
	s.calls++
	if s.calls >= s.opts.MaxTrace || s.unread >= s.opts.MaxTrace { // or as many that nobody has read
		s.cut()
	}
	return out
}

// operands returns the operands of a call, in a list that the next call uses again if no code keeps
// this one: views have theirs, and so has code that may use the session meanwhile.
func (s *Session) operands(c *tensor.Call) []*place {
	args, kept := s.args[:0], c.Op.ViewOf > 0 || c.Op.AdHoc || c.Op.Effect != op.Pure
	if kept {
		args = make([]*place, 0, len(c.Args))
	}
	for _, a := range c.Args {
		var p *place
		if a != nil {
			p = s.rec.Value(a, c.Op.Name)
		}
		args = append(args, p)
	}
	if !kept {
		s.args = args
	}
	return args
}

// concrete reports whether all sizes are numbers.
func concrete(t shape.Type) bool {
	if t.Kind() == shape.Tuple {
		for i := range t.Len() {
			if !concrete(t.Member(i)) {
				return false
			}
		}
		return true
	}
	_, _, ok := t.Concrete()
	return ok
}

// form returns the form of a call, whose operands and attributes have the types that the operator
// takes: the one of before where the line has made the call before.
func (s *Session) form(o *op.Op, attrs any, args []*place) *form {
	at := s.log.lines.here()
	if f := at.find(o, attrs, args); f != nil {
		return f
	}
	t, err := s.search.typeOf(o, attrs, args)
	if err != nil {
		panic(located(err, o.Name))
	}
	return s.log.lines.enter(at, newForm(at.pc, o, attrs, args, t))
}

// typed is form for a call whose type is known.
func (s *Session) typed(o *op.Op, attrs any, args []*place, t shape.Type) *form {
	at := s.log.lines.here()
	if f := at.find(o, attrs, args); f != nil && f.typ.Same(t) {
		return f
	}
	return s.log.lines.enter(at, newForm(at.pc, o, attrs, args, t))
}

// add records a call. It keeps no list of the caller's.
func (s *Session) add(f *form, args []*place) *place {
	p := s.past.room(len(args))
	p.form = f
	if len(args) > len(p.few) {
		args = append(p.rare.args, args...)
	}
	p.take(args)
	if b := s.flows.block; b != nil {
		b.add(p)
		return p
	}
	s.capture.marked(p, s.opts.Mark)
	for _, a := range args {
		if a != nil {
			a.used = true
		}
	}
	s.pending = append(s.pending, p)
	s.stats.Calls++
	s.past.remember(p)
	return p
}

// atOnce computes a call whose result has sizes that its operands' elements say.
func (s *Session) atOnce(p *place) {
	s.flows.outside(p.op.Name + " makes a tensor whose size depends on data")
	s.stats.AtOnce[p.op.Name]++
	s.capture.refuse(p.op.Name + " makes a tensor whose size depends on data")
	s.compute(Shape, present(p.args()))
	out := s.call(p, arraysOf(p.args()))
	p.form = p.of(typeOfRun(out, p.typ.Kind() == shape.Tuple))
	out = s.own(p.args(), out)
	s.past.entered(p, sized, p.varies).computed(out)
}

func present(list []*place) (all []*place) {
	for _, p := range list {
		if p != nil {
			all = append(all, p)
		}
	}
	return all
}

func arraysOf(list []*place) []*array.Array {
	out := make([]*array.Array, len(list))
	for i, p := range list {
		if p != nil {
			out[i] = p.data
		}
	}
	return out
}

// foreign runs a call of code that is not an operator's: once, now, in order.
func (s *Session) foreign(c *tensor.Call, args []*place) []*tensor.Tensor {
	s.flows.outside(c.Op.Name + " runs code that may do anything")
	s.stats.AtOnce[c.Op.Name]++
	s.capture.refuse(c.Op.Name + " runs code that may do anything")
	s.compute(Foreign, present(args))
	in := arraysOf(args)
	versions := make([]uint64, len(in))
	for i, a := range in {
		if a != nil {
			versions[i] = a.Storage().Version()
		}
	}
	p := (&place{form: &form{op: c.Op, attrs: c.Attrs}}).take(args)
	s.busy.Unlock() // its code may use the session
	out := func() []*array.Array {
		defer s.busy.Lock()
		return s.call(p, in)
	}()
	for i, a := range in {
		if a != nil && a.Storage().Version() != versions[i] {
			panic((&diag.Error{Code: Unseen, Op: c.Op.Name, Msg: "the function writes to operand " + itoa(i) + " in place",
				Hint: "return the new value, and assign it in the caller"}).At(diag.Here()))
		}
	}
	_, tuple := c.Op.NumResults(c.Attrs)
	p.form = p.of(typeOfRun(out, tuple))
	s.past.remember(p)
	s.past.entered(p, foreign, p.varies).computed(s.own(args, out))
	return s.rec.Results(p, c, args)
}

// own returns results with memory of their own: code may return its operands.
func (s *Session) own(args []*place, out []*array.Array) []*array.Array {
	list := make([]*array.Array, len(out))
	for i, a := range out {
		list[i] = a
		for _, p := range args {
			if p != nil && p.data != nil && p.data.Storage() == a.Storage() {
				list[i] = array.Clone(a)
			}
		}
	}
	return list
}

// Type implements tensor.Engine.
func (s *Session) Type(x *tensor.Tensor) shape.Type { return s.rec.TypeOf(x) }

// Observe implements tensor.Engine: it computes the value of a tensor.
func (s *Session) Observe(x *tensor.Tensor, what string) *array.Array {
	if s.closed {
		return leftOf(s, x, what)
	}
	defer s.enter(what)()
	why := reasonOf(what)
	s.flows.outside(what + " looks at data")
	s.capture.refuse(what + " looks at data")
	if s.forbid == inProgram {
		refuse(s.forbid, why)
	}
	if a, ok := x.Value().(*array.Array); ok { // of an eager tensor that was written
		s.settle(a.Storage(), why)
		if handsOut(what) {
			for _, m := range s.rec.Eager.MemoryOf(a.Storage()) {
				m.Observed(x, what)
			}
		}
		return a
	}
	if m := s.rec.PlaceOf(x); m != nil {
		s.settle(m.Array().Storage(), why)
	}
	p := s.rec.Value(x, what)
	s.compute(why, []*place{p}, s.past.unread(p)...)
	if handsOut(what) {
		return s.handOut(x, p)
	}
	return p.data
}

// leftOf returns what a closed session has computed of a tensor.
func leftOf(s *Session, x *tensor.Tensor, what string) *array.Array {
	if p := s.rec.Value(x, what); p != nil && p.data != nil {
		return p.data
	}
	s.enter(what)
	return nil
}

// handsOut reports whether the code that asked gets memory that it may write to.
func handsOut(what string) bool { return what == "Data" || what == "Array" }

// handOut gives the memory of a value to the program, which may write to it: the tensor is
// an eager one from here on.
func (s *Session) handOut(x *tensor.Tensor, p *place) *array.Array {
	at, view := x.Value().(*alias.Ref[*place])
	if !view {
		a := p.data
		if p.used || p.past || p.lent { // calls that are recorded, gradients, and models have the value of now
			a = array.Clone(a)
		}
		x.SetComputed(s, a)
		s.past.gave(x, p)
		return a
	}
	at.Storage.Others(func(o *alias.Storage[*place]) {
		if at.Storage.Of.(*memory).Root() == nil && o.Of.(*memory).Root() != nil {
			panic((&diag.Error{Code: Stale, Op: "Data", Msg: "the tensor may be memory that code has already, as what Cond and While return may be what they are given",
				Hint: "ask for the data of a Clone of it"}).At(diag.Here()))
		}
	})
	var whole *place
	a := s.rec.HandOut(x, func(base *place) *array.Array {
		whole = base
		s.compute(reasonOf("Data"), []*place{base})
		if own := s.capture.memory(x); own != nil {
			return s.ownMemory(base, own)
		}
		return array.Clone(base.data)
	}, func(at *array.Array, step alias.Step[*place]) *array.Array {
		s.compute(reasonOf("Data"), present(step.Args))
		in := arraysOf(step.Args)
		in[step.Base] = at
		return s.call(&place{form: &form{op: step.Op, attrs: step.Attrs}}, in)[step.Item]
	})
	if whole != nil {
		s.past.gave(s.rec.PlaceOf(x).Root(), whole)
	}
	return a
}

// Assign implements tensor.Engine.
func (s *Session) Assign(dst, src *tensor.Tensor, what string) {
	defer s.enter(what)()
	s.follow.look(what) // which tensors share memory may depend on sizes
	to, eager := dst.Value().(*array.Array)
	lies := to
	if r, ok := dst.Value().(*alias.Ref[*place]); ok && r.IsWhole() {
		lies = s.capture.memory(dst)
	}
	if lies != nil && array.Repeats(lies) { // as eager code does
		panic((&diag.Error{Code: tensor.SharedElement, Op: what, Msg: "the tensor " + dst.Type().String() + " shows one element of its memory several times",
			Hint: "write to a Clone of it"}).At(diag.Here()))
	}
	if from, ok := src.Value().(*array.Array); eager && ok && !s.dirty(to.Storage()) && !s.dirty(from.Storage()) {
		s.flows.writes(to.Storage())
		s.write(to, from)
		return
	}
	s.rec.Assign(dst, src, what, diag.Here())
	if p := s.rec.Value(src, what); p != nil && p.slot() != nil {
		p.lent = true // dst has the value of now
	}
	var st *array.Storage
	if m := s.rec.PlaceOf(dst); m != nil {
		st = m.Array().Storage()
	} else if eager {
		st = to.Storage()
	}
	if st == nil {
		return
	}
	if all := s.rec.Eager.MemoryOf(st); len(all) > 1 || slices.ContainsFunc(all, (*memory).Shared) {
		s.past.refuseOutside(st, what)
		s.settle(st, Write) // whoever has the memory sees the write
	}
}
