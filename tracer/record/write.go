package record

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// Assign makes the tensor dst have the value of src: a new value of the storage that
// dst is a place of, which its other views read from then on. pos is the call's.
func (r *Recorder[V, B]) Assign(dst, src *tensor.Tensor, what string, pos diag.Pos) {
	var none V
	v := r.Value(src, what)
	if v == none {
		return
	}
	p := r.ref(dst)
	if p == nil {
		return
	}
	r.write(p, v, what, pos)
}

// write makes v the value of a place, by a call at pos.
func (r *Recorder[V, B]) write(p *alias.Ref[V], v V, what string, pos diag.Pos) {
	s, m := p.Storage, memoryOf[V, B](p.Storage)
	if r.what = what; !r.Check(s) {
		return
	}
	if !r.source.MayWrite(s, what, pos) {
		return
	}
	if m.root != nil && !m.dirty.Load() && !r.own(s, m) || m.root == nil && !r.ownOthers(s) {
		return
	}
	r.source.Wrote(m)
	if err := p.Write(r, v, pos); err != nil {
		e := err.(*diag.Error)
		e.Op = what
		r.source.Report(e.At(pos))
	}
}

// own turns an eager storage into a recorded one. A tensor from before the record
// keeps what is written to it from run to run, as it does eagerly.
func (r *Recorder[V, B]) own(storage *alias.Storage[V], mem *Memory[V, B]) bool {
	var none V
	r.at(mem.home, func() {
		storage.Value = r.Eager.initial(mem)
		if storage.Value == none || mem.owner {
			return
		}
		if mem.local {
			if mem.slot != nil && mem.slot.Array() == mem.Array() {
				mem.slot.SetArray(array.Clone(mem.Array())) // the storage is the record's from now on
			}
			return
		}
		if mem.slot == nil {
			r.Eager.constant(mem)
		}
		for b, v := range mem.lifted {
			mem.lifted[b] = r.source.Reload(b, v, mem.slot)
		}
		storage.Value = mem.lifted[mem.home]
	})
	mem.dirty.Store(storage.Value != none)
	if mem.dirty.Load() && r.Eager.Lasting {
		mem.sum = mem.Sum()
	}
	if mem.gone && mem.dirty.Load() {
		r.Eager.again(storage, mem)
	}
	if st := mem.Array().Storage(); mem.dirty.Load() && st.Wrapped() {
		mem.free = tensor.Claim(st, mem)
	}
	return mem.dirty.Load()
}

// ownOthers is own for the eager storages that a recorded value may be, which is written: calls of
// eager code on them must be recorded from now on, where their value is not known.
func (r *Recorder[V, B]) ownOthers(s *alias.Storage[V]) bool {
	ok := true
	s.Others(func(o *alias.Storage[V]) {
		if m := memoryOf[V, B](o); ok && m.root != nil && !m.dirty.Load() {
			ok = r.own(o, m)
		}
	})
	return ok
}

// Check implements alias.Recorder. Memory that others can write to is compared at
// every use with what was captured of it.
func (r *Recorder[V, B]) Check(s *alias.Storage[V]) bool {
	s.Others(r.loseChanged)
	if pos := s.Lost(); pos != nil {
		r.source.Lost(r.what, *pos)
		return false
	}
	m := memoryOf[V, B](s)
	switch {
	case m.root == nil || m.owner || !m.Changed():
		return true
	case m.dirty.Load(), r.region != nil, m.mixed, r.Eager.writtenInRegion(m): // code that runs once here, and any number of times in the graph
		r.source.Changed(r.what, m)
		return false
	}
	r.loseChanged(s)
	m.renew(s)
	return true
}

// loseChanged makes recorded values that may be memory of an eager tensor unknown, where Go code has
// written to that.
func (r *Recorder[V, B]) loseChanged(s *alias.Storage[V]) {
	if m := memoryOf[V, B](s); m.root == nil || m.owner || !m.Changed() {
		return
	}
	s.Others(func(o *alias.Storage[V]) {
		if memoryOf[V, B](o).root == nil && o.Lost() == nil {
			o.Lose(diag.Pos{})
		}
	})
}

// renewAll captures again what was changed before a region begins: its code runs
// any number of times, so that what changes in it has no one value.
func (r *Recorder[V, B]) renewAll() {
	for _, m := range r.Eager.held {
		if !m.owner && !m.dirty.Load() && m.Changed() {
			s := r.Eager.StorageOf(m)
			r.loseChanged(s)
			m.renew(s)
		}
	}
}

// mixAll notes what Go code has changed while a region was recorded.
func (r *Recorder[V, B]) mixAll() {
	for _, m := range r.Eager.held {
		m.mixed = m.mixed || !m.owner && !m.dirty.Load() && m.Changed()
	}
}

// Base implements alias.Recorder.
func (r *Recorder[V, B]) Base(s *alias.Storage[V]) V {
	m := memoryOf[V, B](s)
	if m.root != nil && !m.dirty.Load() {
		if m.byName() || !r.region.loopsTo(m.home) {
			return r.Eager.initial(m)
		}
		r.at(m.home, func() { s.Value = r.Eager.initial(m) })
		var none V
		if s.Value == none {
			return none
		}
	}
	return r.baseIn(s, r.region)
}

// Make implements alias.Recorder.
func (r *Recorder[V, B]) Make(o *op.Op, attrs any, args []V) V {
	v := r.program.Make(o, attrs, args)
	r.program.Recorded(v, nil)
	return v
}

// Builder implements alias.Recorder.
func (r *Recorder[V, B]) Builder() op.Builder { return r.program.Builder() }

// Item implements alias.Recorder.
func (r *Recorder[V, B]) Item(tuple V, i int) V { return r.program.Item(tuple, i) }

// Reach implements alias.Recorder. A view made outside of a loop is made again
// in it: what it shows may change from one iteration to the next.
func (r *Recorder[V, B]) Reach(v V) V {
	b := r.program.Block(v)
	if b == r.block() {
		return v
	}
	var none V
	if r.program.Tuple(v) {
		return none
	}
	for in := r.region; in != nil && !in.loop; in = in.outer {
		if r.blockOf(in.outer) == b {
			return r.In(v)
		}
	}
	return none
}

// Writes implements alias.Recorder: a region remembers what it changes.
func (r *Recorder[V, B]) Writes(s *alias.Storage[V]) {
	in := r.region
	r.rounds.writes(s)
	if in == nil || memoryOf[V, B](s).home == in.block {
		return
	}
	if in.changed[s] == nil {
		var before V
		in.around(func() { before = r.baseIn(s, r.region) })
		if in.changed == nil {
			in.changed = map[*alias.Storage[V]]*change[V]{}
		}
		in.changed[s] = &change[V]{old: r.value(s), before: before}
		in.wrote = append(in.wrote, s)
	}
}

// Lift returns an eager tensor as one of the engine's.
func (r *Recorder[V, B]) Lift(x *tensor.Tensor) *tensor.Tensor {
	p := r.Eager.eagerRef(x)
	p.Read(r)
	return r.Proxy(p)
}
