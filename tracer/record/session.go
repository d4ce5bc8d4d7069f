package record

import (
	"runtime"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// What a session needs, whose eager tensors last: a trace ends before they change.

// Join makes an eager tensor one of the engine's, whose value is v and whose memory has the layout
// of a, and returns its place.
func (r *Recorder[V, B]) Join(x *tensor.Tensor, v V, a *array.Array) *alias.Ref[V] {
	p := alias.Whole(&alias.Storage[V]{Value: v, Header: a, Of: &Memory[V, B]{rec: r, home: r.top, input: true}})
	x.SetRecorded(r.engine, p)
	return p
}

// Inside returns the block in which a tensor of the engine was made.
func (r *Recorder[V, B]) Inside(x *tensor.Tensor) B {
	var none V
	switch v := x.Value().(type) {
	case *alias.Ref[V]:
		return memoryOf[V, B](v.Storage).home
	case *Item[V]:
		return r.program.Block(v.tuple)
	case V:
		if v != none {
			return r.program.Block(v)
		}
	}
	return r.top
}

// Goroutine returns the number of this goroutine.
func Goroutine() string {
	var text [40]byte
	number, _, _ := strings.Cut(strings.TrimPrefix(string(text[:runtime.Stack(text[:], false)]), "goroutine "), " ")
	return number
}

// Written tells that eager code has written to a storage. Reads from here on see what it
// holds now.
func (e *Eager[V, B]) Written(st *array.Storage) {
	e.around(st, func(s *alias.Storage[V]) {
		if m := memoryOf[V, B](s); !m.dirty.Load() {
			m.readAgain(s)
		}
	})
}

// Overwrite tells that eager code has written at pos to a storage. Recorded values that may be the same memory are not
// known from here on.
func (e *Eager[V, B]) Overwrite(st *array.Storage, pos diag.Pos) {
	e.around(st, func(s *alias.Storage[V]) {
		s.Others(func(o *alias.Storage[V]) {
			if memoryOf[V, B](o).root == nil {
				o.Lose(pos)
			}
		})
	})
	e.Written(st)
}

// around calls f for the eager storages that lie in a storage, or in one with the same bytes.
func (e *Eager[V, B]) around(st *array.Storage, f func(s *alias.Storage[V])) {
	for _, s := range e.storages[st] {
		f(s)
	}
	near := e.near[st]
	if len(e.storages[st]) == 0 {
		near = e.overlapping(st) // it has not entered
	}
	for _, other := range near {
		for _, s := range e.storages[other] {
			f(s)
		}
	}
}

// Settle tells that the memory of an eager tensor holds what was recorded for it: it is
// eager again, and read from its memory.
func (e *Eager[V, B]) Settle(m *Memory[V, B]) {
	s := e.StorageOf(m)
	m.dirty.Store(false)
	if m.free != nil {
		m.free()
		m.free = nil
	}
	m.first = nil
	var none V
	s.Value = none
	m.readAgain(s)
}

// readAgain drops what was read of the memory.
func (m *Memory[V, B]) readAgain(s *alias.Storage[V]) {
	if m.snapshot != nil {
		m.snapshot = array.Clone(m.Array())
	}
	if !m.owner {
		m.slot = nil
	}
	clear(m.lifted)
	s.Version++
	s.Find()
}

// Disown makes a tensor of the state one whose memory others may write to: it is compared at
// each use with what was captured of it.
func (m *Memory[V, B]) Disown() { m.owner = false }

// MemoryOf returns what is known of the memory of an eager tensor; all are several where
// tensors lie in one storage, or over one Go slice.
func (e *Eager[V, B]) MemoryOf(st *array.Storage) (all []*Memory[V, B]) {
	e.around(st, func(s *alias.Storage[V]) { all = append(all, memoryOf[V, B](s)) })
	return all
}

// Forget ends the interest in eager tensors that drop names, as Release does; they enter
// again at their next use. A tensor of the engine may be a place of their memory only where
// HandOut has made it so.
func (e *Eager[V, B]) Forget(drop func(m *Memory[V, B]) bool) {
	gone := map[*Memory[V, B]]bool{}
	e.held = slices.DeleteFunc(e.held, func(m *Memory[V, B]) bool {
		if m.dirty.Load() || !drop(m) {
			return false
		}
		gone[m], m.gone = true, true
		m.Array().Storage().Release(m)
		return true
	})
	if len(gone) == 0 {
		return
	}
	for st, list := range e.storages {
		list = slices.DeleteFunc(list, func(s *alias.Storage[V]) bool { return gone[memoryOf[V, B](s)] })
		if e.storages[st] = list; len(list) == 0 {
			delete(e.storages, st)
			e.parts(st)
		}
	}
	for id, r := range e.refs {
		if gone[memoryOf[V, B](r.Storage)] {
			delete(e.refs, id)
		}
	}
	for k := range e.views {
		if gone[memoryOf[V, B](k.base)] {
			delete(e.views, k)
		}
	}
	clear(e.recipes)
}

// again has memory take part: that which is handed out, and that which is written after Forget has dropped it.
func (e *Eager[V, B]) again(s *alias.Storage[V], m *Memory[V, B]) {
	st := m.Array().Storage()
	e.link(s, st)
	e.storages[st] = append(e.storages[st], s)
	e.held = append(e.held, m)
	st.Hold(m)
	m.gone = false
}

// parts ends what joins has noted of a storage.
func (e *Eager[V, B]) parts(st *array.Storage) {
	is := func(o *array.Storage) bool { return o == st }
	e.wrapped = slices.DeleteFunc(e.wrapped, is)
	for _, o := range e.near[st] {
		e.near[o] = slices.DeleteFunc(e.near[o], is)
	}
	delete(e.near, st)
}

// PlaceOf returns the memory of an eager tensor that a tensor of the engine is a place of, nil
// for others.
func (r *Recorder[V, B]) PlaceOf(x *tensor.Tensor) *Memory[V, B] {
	if p, ok := x.Value().(*alias.Ref[V]); ok {
		if m := memoryOf[V, B](p.Storage); m.root != nil {
			return m
		}
	}
	return nil
}

// HandOut gives the memory of a recorded value, which a is, to code that may write to it: the
// storage of x becomes that of an eager tensor over a. It returns the memory of x itself, as
// view evaluates the calls of its path.
func (r *Recorder[V, B]) HandOut(x *tensor.Tensor, a func(base V) *array.Array, view func(at *array.Array, s alias.Step[V]) *array.Array) *array.Array {
	p := r.ref(x)
	m := memoryOf[V, B](p.Storage)
	if m.root == nil {
		root := tensor.New(a(r.value(p.Storage)))
		e := &r.Eager
		m.root, m.item, m.lifted = root, nil, map[B]V{}
		m.snapshot = array.Clone(m.Array())
		var none V
		p.Storage.Value, p.Storage.Header = none, m.Array()
		p.Storage.Version++
		e.again(p.Storage, m)
	}
	at := m.Array()
	for s := range p.Steps {
		at = view(at, s)
	}
	return at
}
