package alias

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Recorder is where reads and writes are recorded.
type Recorder interface {
	// Check is called before a storage is read or written: the engine reports what
	// makes its value unknown, and returns false, or brings it up to date.
	Check(s *Storage) bool
	// Base returns the value of a storage as the graph that is being recorded sees
	// it, nil when it is unusable, which has been reported.
	Base(s *Storage) *graph.Node
	// Make records a call of a view.
	Make(o *op.Op, attrs any, args []*graph.Node) *graph.Node
	// Builder records what inverses of views are made of.
	Builder() op.Builder
	// Item returns a member of a tuple.
	Item(tuple *graph.Node, i int) *graph.Node
	// In returns a value as the graph that is being recorded sees it, nil when it
	// is out of reach, which has been reported.
	In(n *graph.Node) *graph.Node
	// Reach is In for a call that was recorded on the way to a view: nil when it
	// has to be recorded again from the storage's base.
	Reach(n *graph.Node) *graph.Node
	// Writes is called before the value of a storage changes.
	Writes(s *Storage)
}

// Storage is one storage as a record sees it.
type Storage struct {
	// Of is what the engine knows about it.
	Of any
	// Value is the current value of the base; nil while the engine's Base has to
	// bring it in.
	Value *graph.Node
	// Header is the layout of the base; nil means row-major order, unless Loose.
	Header *array.Array
	// Loose tells that the layout of the base is not known.
	Loose bool
	// Version counts the writes.
	Version uint64
	// Written is where the last write was.
	Written diag.Pos

	maybe []*Storage // which may be the same memory
	lost  *diag.Pos  // written through one of those
}

// Ref is a tensor: a place in a storage.
type Ref struct {
	Storage *Storage
	path    []*step
}

// step is one view call of a path. Refs of one path share its beginning.
type step struct {
	op    *op.Op
	attrs any
	args  []*graph.Node // the other operands; nil at base
	base  int
	item  int
	call  *memo // what the call gave, shared by its results
}

// memo holds the calls of a step that are recorded: in the graph where the tensor
// is at home, and in the region that was recorded last.
type memo struct{ home, inner entry }

type entry struct {
	node    *graph.Node
	version uint64
}

// Whole returns the place of the whole storage.
func Whole(s *Storage) *Ref { return &Ref{Storage: s} }

// IsWhole reports whether the place is the whole storage.
func (r *Ref) IsWhole() bool { return len(r.path) == 0 }

// Views returns the places of the results of a view call; n is the node of the
// call, nil when it is yet to be recorded.
func (r *Ref) Views(o *op.Op, attrs any, args []*graph.Node, n *graph.Node, count int) []*Ref {
	m := &memo{}
	if n != nil {
		m.home = entry{n, r.Storage.Version}
	}
	out := make([]*Ref, count)
	for i := range out {
		s := &step{op: o, attrs: attrs, base: o.ViewOf - 1, item: i, call: m}
		s.args = append([]*graph.Node(nil), args...)
		s.args[s.base] = nil
		out[i] = &Ref{Storage: r.Storage, path: append(r.path[:len(r.path):len(r.path)], s)}
	}
	return out
}

// Read returns the value of a place, recording what it takes; nil when that is
// unusable, which has been reported.
func (r *Ref) Read(rec Recorder) *graph.Node {
	if !rec.Check(r.Storage) {
		return nil
	}
	return r.at(rec, len(r.path))
}

// Type returns the type of the place, which no write changes; ok is false when
// nothing of it has been recorded yet.
func (r *Ref) Type() (typ shape.Type, ok bool) {
	if r.IsWhole() {
		if r.Storage.Value == nil {
			return shape.Type{}, false
		}
		return r.Storage.Value.Type(), true
	}
	s := r.path[len(r.path)-1]
	n := s.call.home.node
	if n == nil || n.Erased() {
		return shape.Type{}, false
	}
	if typ = n.Type(); typ.Kind() == shape.Tuple && s.item < typ.Len() {
		typ = typ.Member(s.item)
	}
	return typ, true
}

// at returns the value behind the first k steps.
func (r *Ref) at(rec Recorder, k int) *graph.Node {
	if k == 0 {
		return rec.Base(r.Storage)
	}
	s := r.path[k-1]
	n := s.recorded(rec, r.Storage.Version)
	if n == nil {
		base := r.at(rec, k-1)
		if base == nil {
			return nil
		}
		if n = s.replay(rec, base); n == nil {
			return nil
		}
		s.remember(rec, n, r.Storage.Version)
	}
	if _, tuple := s.op.NumResults(s.attrs); tuple {
		return rec.Item(n, s.item)
	}
	return n
}

// recorded returns the call of the step as far as it is there already.
func (s *step) recorded(rec Recorder, version uint64) *graph.Node {
	for _, e := range []entry{s.call.home, s.call.inner} {
		if e.node == nil || e.version != version || e.node.Erased() {
			continue
		}
		if n := rec.Reach(e.node); n != nil {
			return n
		}
	}
	return nil
}

// remember keeps a call. The home is taken by the first one of a version.
func (s *step) remember(rec Recorder, n *graph.Node, version uint64) {
	e := entry{n, version}
	if h := s.call.home; h.node == nil || h.version != version {
		s.call.home = e
		return
	}
	s.call.inner = e
}

func (s *step) replay(rec Recorder, base *graph.Node) *graph.Node {
	args := append([]*graph.Node(nil), s.args...)
	for i, a := range args {
		if a == nil {
			continue
		}
		if args[i] = rec.In(a); args[i] == nil {
			return nil
		}
	}
	args[s.base] = base
	return rec.Make(s.op, s.attrs, args)
}

// Write makes value, of the place's type, its value: the base gets a new value by the
// inverses of the path. An error says why that cannot be.
func (r *Ref) Write(rec Recorder, value *graph.Node, pos diag.Pos) error {
	storage := r.Storage
	for _, st := range r.path {
		if !st.op.Scatters() {
			return diag.New(NoInverse, "the tensor is a view made by "+st.op.Name+", through which nothing can be written").
				WithHint("write to a Clone of it, or use the ordinary method and its result")
		}
	}
	if !rec.Check(storage) {
		return nil
	}
	bases := make([]*graph.Node, len(r.path))
	for k := range r.path {
		if bases[k] = r.at(rec, k); bases[k] == nil {
			return nil
		}
	}
	last := value
	for k := len(r.path) - 1; k >= 0; k-- {
		st := r.path[k]
		next := st.op.Scatter(rec.Builder(), st.attrs, st.item, bases[k], value)
		if value, _ = next.(*graph.Node); value == nil {
			return diag.Bug("the inverse of " + st.op.Name + " is no value of the graph")
		}
	}
	storage.Set(rec, value, pos)
	if n := len(r.path); n > 0 {
		if _, tuple := r.path[n-1].op.NumResults(r.path[n-1].attrs); !tuple {
			r.path[n-1].remember(rec, last, storage.Version)
		}
	}
	return nil
}

// Set gives the base a new value.
func (s *Storage) Set(rec Recorder, v *graph.Node, pos diag.Pos) {
	rec.Writes(s)
	s.Value, s.Written = v, pos
	s.Version++
	for _, o := range s.others() {
		o.lost = &pos
	}
}

// Lost returns where memory was written that the storage may share, nil when it was not.
func (s *Storage) Lost() *diag.Pos { return s.lost }

// Lose makes the value of a storage unknown, because what may be the same memory was
// written at pos.
func (s *Storage) Lose(pos diag.Pos) { s.lost = &pos }

// Maybe records that two storages may be the same memory: after a write to one,
// the other one's value is not known.
func Maybe(a, b *Storage) {
	if a != b {
		a.maybe, b.maybe = append(a.maybe, b), append(b.maybe, a)
	}
}

// Others calls f for every storage that may be the same memory as s.
func (s *Storage) Others(f func(*Storage)) {
	for _, o := range s.others() {
		f(o)
	}
}

func (s *Storage) others() []*Storage {
	if s.maybe == nil {
		return nil
	}
	seen := map[*Storage]bool{s: true}
	all := []*Storage{s}
	for i := 0; i < len(all); i++ {
		for _, o := range all[i].maybe {
			if !seen[o] {
				seen[o] = true
				all = append(all, o)
			}
		}
	}
	return all[1:]
}
