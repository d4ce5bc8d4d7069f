package tracer

import (
	"reflect"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/record"
)

// unseenWrites reports writes to the model's tensors that were done at once
// instead of being recorded.
func (s *sources) unseenWrites() {
	start := s.t.rec.Eager.Start()
	for _, m := range s.t.rec.Eager.Held() {
		if !m.Dirty() || m.Local() || m.Given().File == "" && m.Root().LastRead() <= start &&
			(m.Owner() || m.Array().Storage().Exposed() <= start) {
			continue
		}
		at := m.Given()
		if at.File == "" {
			at = s.t.rec.Eager.StorageOf(m).Written
		}
		s.t.report((&diag.Error{Code: UnseenWrite, Msg: "the model writes to a tensor whose value lasts from call to call, and uses the value of its first call in a way that the trace does not see",
			Hint: "compute with tensor.On(x, t) for the tensor t, where x is an input, and leave its data alone"}).At(at))
	}
	for _, m := range s.t.rec.Eager.Held() {
		s.slicesOf(m)
	}
	for _, o := range s.owners {
		if o.sum != o.m.Sum() && o.m.Array().Storage().Version() == o.version {
			s.t.report((&diag.Error{Code: UnseenWrite, Msg: "Go code of the model wrote through a slice to the memory of its tensor " + o.m.Slot().Name() + " while it was traced",
				Hint: "write to the tensor by calls of tensors, such as tensor.On(x, t).CopyInPlace(v), where x is an input"}).At(o.m.Given()))
		} else if o.m.Array().Storage().Version() != o.version || o.m.Changed() {
			s.t.report((&diag.Error{Code: UnseenWrite, Msg: "the model wrote to its tensor " + o.m.Slot().Name() + " while it was traced, by a computation that no traced value takes part in",
				Hint: "write tensor.On(x, m.Buffer) for the buffer, where x is an input, so that the trace sees it"}).At(o.m.Root().LastWrite()))
		}
	}
	for _, w := range s.unseen.writes {
		if !w.said && !slices.ContainsFunc(s.owners, func(o owner) bool { return o.m.Array().Storage() == w.to }) {
			s.t.report(unseenWrite().At(w.at))
		}
	}
}

// slicesOf reports memory that calls of the model write, or read, and Go code writes through a slice.
func (s *sources) slicesOf(m *memory) {
	st := m.Array().Storage()
	if m.Local() || !st.OfSlice() {
		return
	}
	if !m.Dirty() {
		if m.ReadAndChanged() {
			s.t.report((&diag.Error{Code: UnseenWrite, Msg: "Go code of the model writes to a slice of a tensor's memory whose values it has used before, which the next call would see and the graph does not",
				Hint: "compute the new values with calls of tensors, such as tensor.On(x, t).CopyInPlace(v), where x is an input"}).At(m.Given()))
		}
		return
	}
	if field := tensor.SliceOver(s.t.root, st); field != "" {
		s.t.report((&diag.Error{Code: UnseenWrite, Msg: "the field " + field[1:] + " of the model is a Go slice of the memory of a tensor that the model writes to here: the graph sees neither what Go code reads through the slice nor what it writes",
			Hint: "read and write the tensor by calls of tensors, and drop the field, or give it memory of its own"}).At(s.t.rec.Eager.StorageOf(m).Written))
	}
}

func unseenWrite() *diag.Error {
	return &diag.Error{Code: UnseenWrite, Msg: "the model wrote to the tensor while it was traced, by a computation that no traced value takes part in",
		Hint: "write tensor.On(x, t) for the tensor t, where x is an input, so that the trace sees the write"}
}

// unseen are the first writes, by eager code of the trace's goroutine, to memory from before the
// trace: each run of the model makes them again, a run of the graph does not.
type unseen struct {
	goroutine string
	writes    []lastingWrite
}

type lastingWrite struct {
	to   *array.Storage
	at   diag.Pos
	said bool // it was reported where the tensor entered
}

// watched is run, with the writes of the model's code followed.
func (t *trace) watched(callee *target) (results []reflect.Value, returned bool) {
	defer t.src.unseen.follow()()
	return t.run(callee)
}

// follow notes the writes of this goroutine until the returned function is called.
func (u *unseen) follow() (leave func()) {
	start := array.Now()
	u.goroutine = record.Goroutine()
	return tensor.Watch(func(st *array.Storage, how tensor.Touch) {
		if how == tensor.Written && st.Born() <= start && record.Goroutine() == u.goroutine && u.write(st) == nil {
			u.writes = append(u.writes, lastingWrite{to: st, at: diag.Here()})
		}
	})
}

func (u *unseen) write(st *array.Storage) *lastingWrite {
	for i := range u.writes {
		if u.writes[i].to == st {
			return &u.writes[i]
		}
	}
	return nil
}

// said tells that the writes to a storage have been reported.
func (u *unseen) said(st *array.Storage) {
	if w := u.write(st); w != nil {
		w.said = true
	}
}
