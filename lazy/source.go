package lazy

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
	"github.com/gofx-dev/gofx/tracer/record"
)

// memory is what the recorder knows of an eager tensor's.
type memory = record.Memory[*place, *block]

// slot is a tensor of a model, or the captured value of another eager tensor.
type slot struct {
	name  string
	array *array.Array
	own   bool   // a copy that nobody else has
	given bool   // Go code was given the memory
	of    any    // the identity of a model's tensor
	value *place // what is read of it, nil before it is read and after a write
	runs  int    // programs that have read it since it was written
	wrote bool   // it was written after it was read
}

// Name implements record.Slot.
func (s *slot) Name() string { return s.name }

// Fixed implements record.Slot.
func (s *slot) Fixed() bool { return false }

// Array implements record.Slot.
func (s *slot) Array() *array.Array { return s.array }

// SetArray implements record.Slot.
func (s *slot) SetArray(a *array.Array) { s.array = a }

// source is what the recorder of a session asks, and where it writes the program.
type source struct{ *Session }

// Slot implements record.Source: parameters and buffers of models are read where they lie.
func (s source) Slot(x *tensor.Tensor) record.Slot {
	k := s.slots[x.ID()]
	switch {
	case k != nil && k.given, x.Value().(*array.Array).Storage().Sliced(): // it is compared at each use, as other memory that Go code has
		return nil
	case k != nil:
		return k
	case s.capture != nil && !s.capture.frozen[x.ID()], s.capture == nil && !x.IsParam():
		return nil
	}
	k = &slot{name: "p" + strconv.Itoa(len(s.slots)), array: x.Value().(*array.Array), of: x.ID()}
	s.slots[x.ID()] = k
	return k
}

// Load implements record.Source.
func (s source) Load(at record.Slot) *place {
	k := at.(*slot)
	if k.value == nil {
		k.value = s.past.loaded(k)
		if !k.own {
			k.value.own().slot = k
		}
	}
	return s.rec.In(k.value)
}

// Constant implements record.Source: a copy of the tensor as it is now.
func (s source) Constant(m *memory) record.Slot {
	return &slot{array: array.Clone(m.Captured()), own: true, value: s.past.given(m)}
}

// Reload implements record.Source.
func (s source) Reload(_ *block, p *place, _ record.Slot) *place { return p }

// Report implements record.Source: as eager code does, a session ends a program at its first
// mistake.
func (s source) Report(err error) { panic(located(err, s.rec.What())) }

// Entered implements record.Source. What was recorded for another tensor in the same memory is
// written there first.
func (s source) Entered(m *memory) {
	s.settle(m.Array().Storage(), Write)
	s.capture.met(m)
}

// Observed implements record.Source: code that has the memory of a parameter may write to it
// without a word.
func (s source) Observed(m *memory, what string) {
	if handsOut(what) && m.Owner() {
		if k := s.slots[m.Root().ID()]; k != nil {
			k.given = k.given || what == "Data" // arrays are for libraries, such as those that save
			if k.value != nil {
				s.past.gave(m.Root(), k.value)
			}
		}
		s.protect(m.Array().Storage())
		m.Disown()
		s.rec.Eager.Written(m.Array().Storage())
	}
}

// MayWrite implements record.Source. Memory that a tensor of a model shows several times has no value
// that a write of some of its elements gives: the last of them would hold.
func (s source) MayWrite(of *alias.Storage[*place], what string, pos diag.Pos) bool {
	if of.Of.(*memory).Home() != s.flows.block {
		s.flows.outside(what + " writes to a tensor that the function has not made")
	}
	of.Others(func(o *alias.Storage[*place]) {
		if of.Of.(*memory).Root() == nil && (o.Of.(*memory).Root() != nil || s.capture.isData(o)) {
			panic((&diag.Error{Code: Stale, Op: what, Msg: "the tensor may be memory that was there before, as what Cond and While return may be what they are given",
				Hint: "write to a Clone of it"}).At(pos))
		}
	})
	if of.Of.(*memory).Root() != nil && array.Repeats(of.Header) {
		panic((&diag.Error{Code: alias.NoInverse, Op: what, Msg: "the tensor shows one element of its memory several times", Hint: "write to a Clone of it"}).At(pos))
	}
	return true
}

// Wrote implements record.Source.
func (s source) Wrote(*memory) {}

// Lost implements record.Source.
func (s source) Lost(what string, written diag.Pos) {
	panic((&diag.Error{Code: Stale, Op: what, Msg: "memory that the tensor may share was written since, and its value is not known",
		Hint:    "clone one of the two before the in-place call",
		Related: []diag.Related{{Pos: written, Msg: "the write"}}}).At(diag.Here()))
}

// Changed implements record.Source.
func (s source) Changed(what string, m *memory) {
	panic((&diag.Error{Code: Unseen, Op: what, Msg: "Go code wrote to memory of the tensor after the session had recorded a write to it",
		Hint: "write through the tensor, or call Barrier before"}).At(diag.Here()))
}

// protect gives values that were read of a storage memory of their own, before it is written.
func (s *Session) protect(st *array.Storage) {
	for _, k := range s.slots {
		if k.value == nil || k.array.Storage() != st && !k.array.Storage().Overlaps(st) {
			continue
		}
		s.cache.wait() // what is being compiled reads the memory
		if k.value.used || k.value.lent {
			k.value.data, k.value.lent = array.Clone(k.value.data), false
			s.stats.Copied++
			s.log.copied()
		}
		k.value.own().slot, k.value.gone = nil, true
		k.value, k.runs, k.wrote = nil, 0, true
	}
}

// write is a write of eager code to a tensor that the session has read.
func (s *Session) write(to, from *array.Array) {
	s.protect(to.Storage())
	if from.DType() != to.DType() {
		from = array.Cast(from, to.DType())
	}
	if from.Storage() == to.Storage() {
		from = array.Clone(from)
	}
	array.Copy(to, from)
	to.Storage().Bump()
	s.rec.Eager.Overwrite(to.Storage(), diag.Here())
}

// dirty reports whether the session has a value for memory that was not written to it yet.
func (s *Session) dirty(st *array.Storage) bool {
	for _, m := range s.rec.Eager.MemoryOf(st) {
		if m.Dirty() {
			return true
		}
	}
	return false
}

// settle writes what was recorded for the memory of eager tensors, where there is something.
func (s *Session) settle(st *array.Storage, why Reason) {
	for _, m := range s.rec.Eager.MemoryOf(st) {
		if !m.Dirty() {
			continue
		}
		v := s.rec.Eager.StorageOf(m).Value
		if s.compute(why, []*place{v}); v.err() != nil {
			panic(v.mistake())
		}
		at := m.Array().Storage()
		if m.Overwritten() {
			source{s}.Changed("settle", m)
		}
		s.protect(at)
		array.Copy(m.Array(), v.data)
		s.past.gave(m.Root(), v)
		at.Bump()
		s.rec.Eager.Settle(m)
		s.rec.Eager.Written(at)
	}
}

// written are the values of all memory that is to be written.
func (s *Session) written() (all []*place) {
	for _, m := range s.rec.Eager.Held() {
		if m.Dirty() {
			all = append(all, s.rec.Eager.StorageOf(m).Value)
		}
	}
	return all
}

func (s *Session) settleAll(why Reason) {
	for _, m := range s.rec.Eager.Held() {
		if m.Dirty() {
			s.settle(m.Array().Storage(), why)
		}
	}
}

// The program of the recorder.

// Block implements record.Program.
func (s source) Block(p *place) *block { return p.block() }

// At implements record.Program.
func (s source) At(b *block) { s.flows.block = b }

// Mark implements record.Program.
func (s source) Mark() {}

// Make implements record.Program.
func (s source) Make(o *op.Op, attrs any, args []*place) *place {
	attrs, err := o.Codec().Given(attrs)
	if err != nil {
		panic(located(err, o.Name))
	}
	return s.add(s.form(o, attrs, args), args)
}

// Recorded implements record.Program.
func (s source) Recorded(*place, *tensor.Call) {}

// Loose implements record.Program: results of operators lie in row-major order, what functions return and are given may not.
func (s source) Loose(p *place) bool {
	return p.bodies() != nil || p.parameter() || p.index > 0 && p.count > 0 && p.few[0].bodies() != nil
}

// Input implements record.Program.
func (s source) Input(*place) bool { return false }

// Tuple implements record.Program.
func (s source) Tuple(p *place) bool { return p.typ.Kind() == shape.Tuple }

// Item implements record.Program.
func (s source) Item(tuple *place, i int) *place { return s.NewItem(tuple, i) }

// NewItem implements record.Program.
func (s source) NewItem(tuple *place, i int) *place {
	p := &place{form: tuple.member(i)}
	if b := tuple.block(); b != nil {
		b.add(p.take([]*place{tuple}))
		return p
	}
	if all := tuple.many(); all != nil {
		tuple.wanted()
		p.data = all[i]
		if !tuple.past {
			return s.past.entered(p, tuple.cut, tuple.varies)
		}
	} else {
		s.pending = append(s.pending, p)
	}
	p.take([]*place{tuple})
	tuple.used = true
	s.past.remember(p)
	return p
}

// Builder implements record.Program.
func (s source) Builder() op.Builder { return builder{s} }

type builder struct{ s source }

func (b builder) Item(tuple op.Value, i int) op.Value { return b.s.NewItem(tuple.(*place), i) }

func (b builder) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	args := make([]*place, len(in))
	for i, x := range in {
		if x != nil {
			args[i] = x.(*place)
		}
	}
	return b.s.Make(o, attrs, args)
}

// located gives an error the operator and the line of the program.
func located(err error, what string) *diag.Error {
	var l diag.List
	l.Add(err)
	e := *l[0]
	if e.Op == "" {
		e.Op = what
	}
	if e.Pos.Line == 0 {
		return e.At(diag.Here())
	}
	return &e
}

func itoa(n int) string { return strconv.Itoa(n) }
