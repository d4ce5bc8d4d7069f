package record

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// Eager brings eager tensors into a record: a tensor of the state by its slot, one that
// was computed from state by the calls that made it, others as constants.
type Eager[V alias.Operand, B comparable] struct {
	// Lasting tells that eager tensors go on as such next to the record, also those that are
	// made meanwhile: a session's do, those that a traced function makes end with the call.
	Lasting bool

	rec      *Recorder[V, B]
	start    uint64                // the moment at which recording began
	recipes  map[liftKey[B]]V      // by recipe group
	refs     map[any]*alias.Ref[V] // of eager tensors, by tensor.ID
	views    map[viewKey[V]][]*alias.Ref[V]
	storages map[*array.Storage][]*alias.Storage[V]
	wrapped  []*array.Storage                    // of storages, those over memory that others may lie in
	near     map[*array.Storage][]*array.Storage // of those, which have bytes in common; nil for none
	held     []*Memory[V, B]
	follow   func() // ends what the first region began, see tensor.Following
}

type liftKey[B comparable] struct {
	block B
	group any
}

type viewKey[V alias.Operand] struct {
	call *tensor.Call
	base *alias.Storage[V]
}

func newEager[V alias.Operand, B comparable](r *Recorder[V, B]) Eager[V, B] {
	return Eager[V, B]{rec: r, start: array.Now(), refs: map[any]*alias.Ref[V]{}, storages: map[*array.Storage][]*alias.Storage[V]{}}
}

// Start is the moment at which recording began.
func (e *Eager[V, B]) Start() uint64 { return e.start }

// eagerRef returns the place of an eager tensor.
func (e *Eager[V, B]) eagerRef(x *tensor.Tensor) *alias.Ref[V] {
	if p := e.refs[x.ID()]; p != nil {
		return p
	}
	p := e.place(x, e.Enter)
	e.refs[x.ID()] = p
	return p
}

// place follows an eager tensor's views back to a storage.
func (e *Eager[V, B]) place(x *tensor.Tensor, storage func(*tensor.Tensor) *alias.Storage[V]) *alias.Ref[V] {
	origin := x.Origin()
	if origin == nil || e.rec.source.Slot(x) != nil {
		return alias.Whole(storage(x))
	}
	base := e.place(origin.Base, storage)
	k := viewKey[V]{origin.Call, base.Storage}
	pieces := e.views[k]
	if pieces == nil {
		var none V
		args := make([]V, len(origin.Call.Args))
		for i, a := range origin.Call.Args {
			if a != nil && i != origin.Call.Op.ViewOf-1 {
				args[i] = e.rec.Value(a, origin.Call.Op.Name)
			}
		}
		count, _ := origin.Call.Op.NumResults(origin.Call.Attrs)
		pieces = base.Views(origin.Call.Op, origin.Call.Attrs, args, none, count)
		if e.views == nil {
			e.views = map[viewKey[V]][]*alias.Ref[V]{}
		}
		e.views[k] = pieces
	}
	return pieces[origin.Item]
}

// operandOf returns the place that a recipe's operand had when the recipe's call
// was made: before any recorded write. result is the call's.
func (e *Eager[V, B]) operandOf(result *Memory[V, B], a *tensor.Tensor) *alias.Ref[V] {
	return e.place(a, func(x *tensor.Tensor) *alias.Storage[V] {
		s := e.Enter(x)
		m := memoryOf[V, B](s)
		if in := result.region(); in != nil && in.loopsTo(m.home) {
			return e.atStart(in, s)
		}
		if m.dirty.Load() || e.rec.inLoop() {
			return m.before(s)
		}
		return s
	})
}

// atStart returns a storage with the value that s has when the code of the region
// begins, which in a loop is another one in each iteration.
func (e *Eager[V, B]) atStart(in *Region[V, B], s *alias.Storage[V]) *alias.Storage[V] {
	if s := in.entries[s]; s != nil {
		return s
	}
	m := memoryOf[V, B](s)
	if !m.dirty.Load() {
		e.rec.at(m.home, func() { s.Value = e.initial(m) })
	}
	first := &alias.Storage[V]{Header: s.Header, Value: in.placeholder(s), Of: &Memory[V, B]{rec: e.rec, home: in.block}}
	if in.entries == nil {
		in.entries = map[*alias.Storage[V]]*alias.Storage[V]{}
	}
	in.entries[s] = first
	return first
}

// Enter returns the storage of an eager tensor that is no view of another one: it
// takes part from here on.
func (e *Eager[V, B]) Enter(x *tensor.Tensor) *alias.Storage[V] {
	a := x.Value().(*array.Array)
	st := a.Storage()
	slot := e.rec.source.Slot(x)
	for _, s := range e.storages[st] {
		if m := memoryOf[V, B](s); m.root.ID() == x.ID() || sameLayout(s.Header, a) && (slot == nil || slot == m.slot) {
			return s
		}
	}
	m := &Memory[V, B]{rec: e.rec, root: x, slot: slot, owner: slot != nil, local: slot == nil && !e.Lasting && st.Born() > e.start, lifted: map[B]V{}}
	m.home = e.rec.blockOf(m.region())
	if st.Exposed() > 0 && slot == nil {
		m.snapshot = array.Clone(a)
	}
	s := &alias.Storage[V]{Header: a, Of: m}
	e.link(s, st)
	e.storages[st] = append(e.storages[st], s)
	e.held = append(e.held, m)
	st.Hold(m)
	e.rec.source.Entered(m)
	return s
}

// link finds the storages that may be the same memory.
func (e *Eager[V, B]) link(s *alias.Storage[V], st *array.Storage) {
	maybe := func(o *alias.Storage[V]) {
		switch pos := o.Lost(); {
		case memoryOf[V, B](o).dirty.Load():
			s.Lose(o.Written)
		case pos != nil: // a value that may be this memory was written
			s.Lose(*pos)
		}
		alias.Maybe(s, o)
	}
	for _, o := range e.storages[st] {
		maybe(o)
	}
	if !st.Wrapped() { // no other storage lies there
		return
	}
	if len(e.storages[st]) == 0 {
		for _, other := range e.overlapping(st) {
			e.joins(st, other)
		}
		e.wrapped = append(e.wrapped, st)
	}
	for _, other := range e.near[st] {
		for _, o := range e.storages[other] {
			maybe(o)
		}
	}
}

// overlapping finds the storages that have bytes in common with one that has not entered.
func (e *Eager[V, B]) overlapping(st *array.Storage) (all []*array.Storage) {
	if !st.Wrapped() {
		return nil
	}
	for _, other := range e.wrapped {
		if other != st && other.Overlaps(st) {
			all = append(all, other)
		}
	}
	return all
}

// joins notes that two storages have bytes in common.
func (e *Eager[V, B]) joins(a, b *array.Storage) {
	if e.near == nil {
		e.near = map[*array.Storage][]*array.Storage{}
	}
	e.near[a], e.near[b] = append(e.near[a], b), append(e.near[b], a)
}

// Unseen reports whether an eager tensor was written while recording by calls that
// were not recorded: after recording began, for one from before, or inside a region.
func (e *Eager[V, B]) Unseen(m *Memory[V, B]) bool {
	st := m.Array().Storage()
	return !m.local && st.Version() > e.start || e.writtenInRegion(m)
}

// writtenInRegion reports whether code of a region has written to memory by calls that were
// not recorded.
func (e *Eager[V, B]) writtenInRegion(m *Memory[V, B]) bool {
	st := m.Array().Storage()
	for _, s := range e.rec.spans {
		to := s.to
		if to == 0 {
			to = math.MaxUint64 // it is being recorded
		}
		if st.WrittenInRegion(s.from, to) {
			return true
		}
	}
	return false
}

func sameLayout(a, b *array.Array) bool {
	if a.DType() != b.DType() || a.Offset() != b.Offset() || a.Rank() != b.Rank() {
		return false
	}
	for i := range a.Rank() {
		if a.Dim(i) != b.Dim(i) || a.Strides()[i] != b.Strides()[i] {
			return false
		}
	}
	return true
}

// initial returns, in the current block, what an eager storage holds before any
// recorded write: what its slot holds, else what a recipe computes, else a constant.
func (e *Eager[V, B]) initial(m *Memory[V, B]) V {
	b := e.rec.block()
	var n, none V
	if n := m.lifted[b]; n != none && !n.Erased() {
		return n
	}
	switch c, index, group, ok := m.root.Recipe(); {
	case m.slot != nil:
		n = e.rec.source.Load(m.slot)
	case ok && (len(c.Args) > 0 || c.Op.Class != op.Opaque):
		n = e.replay(m, c, index, group)
	default:
		n = e.constant(m)
	}
	m.lifted[b] = n
	return n
}

// replay records the call that made a tensor, once for all of its results.
func (e *Eager[V, B]) replay(m *Memory[V, B], c *tensor.Call, index int, group any) V {
	var none V
	k := liftKey[B]{e.rec.block(), group}
	call := e.recipes[k]
	if call == none {
		args := make([]V, len(c.Args))
		for i, a := range c.Args {
			if a != nil {
				if args[i] = e.operandOf(m, a).Read(e.rec); args[i] == none {
					return none
				}
			}
		}
		call = e.rec.program.Make(c.Op, c.Attrs, args)
		if e.recipes == nil {
			e.recipes = map[liftKey[B]]V{}
		}
		e.recipes[k] = call
		e.rec.program.Recorded(call, c)
	}
	if _, tuple := c.Op.NumResults(c.Attrs); tuple {
		return e.rec.Item(call, index)
	}
	return call
}

// constant makes a slot of the program's own for an eager tensor.
func (e *Eager[V, B]) constant(m *Memory[V, B]) V {
	var none V
	if m.slot = e.rec.source.Constant(m); m.slot == nil {
		return none
	}
	return e.rec.source.Load(m.slot)
}

// Has reports whether a tensor is a value of this record: one of its engine, or an eager
// one whose memory it has written. What other engines make of it is theirs.
func (e *Eager[V, B]) Has(x *tensor.Tensor) bool {
	a, eager := x.Value().(*array.Array)
	if !eager {
		return true
	}
	return slices.ContainsFunc(e.storages[a.Storage()], func(s *alias.Storage[V]) bool { return memoryOf[V, B](s).dirty.Load() })
}

// Met reports whether an eager tensor has been used as a place.
func (e *Eager[V, B]) Met(x *tensor.Tensor) bool { return e.refs[x.ID()] != nil }

// Held returns what is known of the eager tensors that take part, in the order in
// which they entered.
func (e *Eager[V, B]) Held() []*Memory[V, B] { return e.held }

// StorageOf returns the storage of an eager tensor that takes part.
func (e *Eager[V, B]) StorageOf(m *Memory[V, B]) *alias.Storage[V] {
	for _, s := range e.storages[m.Array().Storage()] {
		if s.Of == m {
			return s
		}
	}
	return nil
}

// Release ends the interest in eager tensors. What was written and made while
// recording stays with the record: no other value exists.
func (e *Eager[V, B]) Release() {
	if e.follow != nil {
		e.follow()
		e.follow = nil
	}
	for _, m := range e.held {
		if !m.dirty.Load() || !m.local {
			m.Array().Storage().Release(m)
		}
		if m.free != nil {
			m.free()
		}
	}
}
