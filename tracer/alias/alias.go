package alias

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Operand is what a record computes with: nodes of a graph, or places in an arena. The zero
// operand is none.
type Operand interface {
	comparable
	op.Value
	Erased() bool
	String() string // for messages
}

// Recorder is where reads and writes are recorded.
type Recorder[V Operand] interface {
	// Check is called before a storage is read or written: the engine reports what
	// makes its value unknown, and returns false, or brings it up to date.
	Check(s *Storage[V]) bool
	// Base returns the value of a storage as the graph that is being recorded sees
	// it, nil when it is unusable, which has been reported.
	Base(s *Storage[V]) V
	// Make records a call of a view.
	Make(o *op.Op, attrs any, args []V) V
	// Builder records what inverses of views are made of.
	Builder() op.Builder
	// Item returns a member of a tuple.
	Item(tuple V, i int) V
	// In returns a value as the graph that is being recorded sees it, nil when it
	// is out of reach, which has been reported.
	In(n V) V
	// Reach is In for a call that was recorded on the way to a view: nil when it
	// has to be recorded again from the storage's base.
	Reach(n V) V
	// Writes is called before the value of a storage changes.
	Writes(s *Storage[V])
}

// Storage is one storage as a record sees it.
type Storage[V Operand] struct {
	// Of is what the engine knows about it.
	Of any
	// Value is the current value of the base; nil while the engine's Base has to
	// bring it in.
	Value V
	// Header is the layout of the base; nil means row-major order, unless Loose.
	Header *array.Array
	// Loose tells that the layout of the base is not known.
	Loose bool
	// Version counts the writes.
	Version uint64
	// Written is where the last write was.
	Written diag.Pos

	maybe []*Storage[V] // which may be the same memory
	lost  *diag.Pos     // written through one of those
}

// Ref is a tensor: a place in a storage.
type Ref[V Operand] struct {
	Storage *Storage[V]
	path    []*step[V]
}

// step is one view call of a path. Refs of one path share its beginning.
type step[V Operand] struct {
	op    *op.Op
	attrs any
	args  []V // the other operands; nil at base
	base  int
	item  int
	call  *memo[V]  // what the call gave, shared by its results
	got   member[V] // what the tuple gave that was read last
}

// member is one result of a call, so that all who read the place have the same value of it.
type member[V Operand] struct{ of, node V }

// memo holds the calls of a step that are recorded: in the graph where the tensor
// is at home, and in the region that was recorded last.
type memo[V Operand] struct{ home, inner entry[V] }

type entry[V Operand] struct {
	node    V
	version uint64
}

// Whole returns the place of the whole storage.
func Whole[V Operand](s *Storage[V]) *Ref[V] { return &Ref[V]{Storage: s} }

// IsWhole reports whether the place is the whole storage.
func (r *Ref[V]) IsWhole() bool { return len(r.path) == 0 }

// Views returns the places of the results of a view call; n is the node of the
// call, nil when it is yet to be recorded.
func (r *Ref[V]) Views(o *op.Op, attrs any, args []V, n V, count int) []*Ref[V] {
	m := &memo[V]{}
	var none V
	if n != none {
		m.home = entry[V]{n, r.Storage.Version}
	}
	out := make([]*Ref[V], count)
	for i := range out {
		out[i] = r.view(step[V]{op: o, attrs: attrs, base: o.ViewOf - 1, item: i, call: m}, args)
	}
	return out
}

// view returns the place after another step. It is made in one piece with what short paths need.
func (r *Ref[V]) view(s step[V], args []V) *Ref[V] {
	p := &struct {
		Ref[V]
		step step[V]
		path [2]*step[V]
		args [2]V
	}{step: s}
	var none V
	p.step.args = append(p.args[:0], args...)
	p.step.args[s.base] = none
	p.Ref = Ref[V]{Storage: r.Storage, path: append(append(p.path[:0], r.path...), &p.step)}
	return &p.Ref
}

// Read returns the value of a place, recording what it takes; nil when that is
// unusable, which has been reported.
func (r *Ref[V]) Read(rec Recorder[V]) V {
	var none V
	if !rec.Check(r.Storage) {
		return none
	}
	return r.at(rec, len(r.path))
}

// Type returns the type of the place, which no write changes; ok is false when
// nothing of it has been recorded yet.
func (r *Ref[V]) Type() (typ shape.Type, ok bool) {
	if r.IsWhole() {
		var none V
		if r.Storage.Value == none {
			return shape.Type{}, false
		}
		return r.Storage.Value.Type(), true
	}
	s := r.path[len(r.path)-1]
	n := s.call.home.node
	var none V
	if n == none || n.Erased() {
		return shape.Type{}, false
	}
	if typ = n.Type(); typ.Kind() == shape.Tuple && s.item < typ.Len() {
		typ = typ.Member(s.item)
	}
	return typ, true
}

// at returns the value after the first k steps.
func (r *Ref[V]) at(rec Recorder[V], k int) V {
	if k == 0 {
		return rec.Base(r.Storage)
	}
	s := r.path[k-1]
	n := s.recorded(rec, r.Storage.Version)
	var none V
	if n == none {
		base := r.at(rec, k-1)
		if base == none {
			return none
		}
		if n = s.replay(rec, base); n == none {
			return none
		}
		s.remember(rec, n, r.Storage.Version)
	}
	if _, tuple := s.op.NumResults(s.attrs); tuple {
		if s.got.of != n || s.got.node == none || s.got.node.Erased() {
			s.got = member[V]{n, rec.Item(n, s.item)}
		}
		return s.got.node
	}
	return n
}

// recorded returns the call of the step as far as it is there already.
func (s *step[V]) recorded(rec Recorder[V], version uint64) V {
	var none V
	for _, e := range []entry[V]{s.call.home, s.call.inner} {
		if e.node == none || e.version != version || e.node.Erased() {
			continue
		}
		if n := rec.Reach(e.node); n != none {
			return n
		}
	}
	return none
}

// remember keeps a call. The home is taken by the first one of a version.
func (s *step[V]) remember(rec Recorder[V], n V, version uint64) {
	e := entry[V]{n, version}
	var none V
	if h := s.call.home; h.node == none || h.version != version {
		s.call.home = e
		return
	}
	s.call.inner = e
}

func (s *step[V]) replay(rec Recorder[V], base V) V {
	args := append([]V(nil), s.args...)
	var none V
	for i, a := range args {
		if a == none {
			continue
		}
		if args[i] = rec.In(a); args[i] == none {
			return none
		}
	}
	args[s.base] = base
	return rec.Make(s.op, s.attrs, args)
}

// Write makes value, of the place's type, its value: the base gets a new value by the
// inverses of the path. An error says why that cannot be.
func (r *Ref[V]) Write(rec Recorder[V], value V, pos diag.Pos) error {
	storage := r.Storage
	for k, st := range r.path {
		if !st.op.Scatters() && !r.whole(rec, k, value.Type()) {
			return diag.New(NoInverse, "the tensor is a view made by "+st.op.Name+", through which nothing can be written").
				WithHint("write to a Clone of it, or use the ordinary method and its result")
		}
	}
	if !rec.Check(storage) {
		return nil
	}
	var none V
	bases := make([]V, len(r.path))
	for k := range r.path {
		if bases[k] = r.at(rec, k); bases[k] == none {
			return nil
		}
	}
	last := value
	for k := len(r.path) - 1; k >= 0; k-- {
		st := r.path[k]
		if !st.op.Scatters() { // it shows the whole, in its order
			continue
		}
		next := st.op.Scatter(rec.Builder(), st.attrs, st.item, bases[k], value)
		if value, _ = next.(V); value == none {
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

// whole reports whether step k shows all elements of its operand in their order, once each, as an expansion to the size
// that is there does. last is the type of the place.
func (r *Ref[V]) whole(rec Recorder[V], k int, last shape.Type) bool {
	var none V
	if r.path[k].op.StopsGrad() || !rec.Check(r.Storage) { // whether what is written is a constant would be said of all
		return false
	}
	base := r.at(rec, k)
	if base == none {
		return false
	}
	if k+1 < len(r.path) {
		next := r.at(rec, k+1)
		if next == none {
			return false
		}
		last = next.Type()
	}
	st, t := r.path[k], base.Type()
	if t.Kind() != shape.Tensor || !t.Ranked() || !t.Same(last) {
		return false
	}
	in := make([]shape.Type, len(st.args))
	in[st.base] = t
	out, truth := st.op.Layout(st.attrs, in, []shape.Dims{t.Dims()}, op.InOrder(t.Dims()))
	return truth == shape.True && len(out) == 1 && out[0].IsInOrder()
}

// Set gives the base a new value.
func (s *Storage[V]) Set(rec Recorder[V], v V, pos diag.Pos) {
	rec.Writes(s)
	s.Value, s.Written = v, pos
	s.Version++
	for _, o := range s.others() {
		o.lost = &pos
	}
}

// Lost returns where memory was written that the storage may share, nil when it was not.
func (s *Storage[V]) Lost() *diag.Pos { return s.lost }

// Lose makes the value of a storage unknown, because what may be the same memory was
// written at pos.
func (s *Storage[V]) Lose(pos diag.Pos) { s.lost = &pos }

// Find makes the value known: the memory was read again.
func (s *Storage[V]) Find() { s.lost = nil }

// Maybe records that two storages may be the same memory: after a write to one,
// the other one's value is not known.
func Maybe[V Operand](a, b *Storage[V]) {
	if a != b {
		a.maybe, b.maybe = append(a.maybe, b), append(b.maybe, a)
	}
}

// Others calls f for every storage that may be the same memory as s.
func (s *Storage[V]) Others(f func(*Storage[V])) {
	for _, o := range s.others() {
		f(o)
	}
}

func (s *Storage[V]) others() []*Storage[V] {
	if s.maybe == nil {
		return nil
	}
	seen := map[*Storage[V]]bool{s: true}
	all := []*Storage[V]{s}
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

// Step is one view call on the way from a storage to a place.
type Step[V Operand] struct {
	Op    *op.Op
	Attrs any
	Args  []V // the other operands; none at Base
	Base  int // the operand that is viewed
	Item  int // the result that the path goes on with
}

// Steps yields the view calls of the path, from the storage on.
func (r *Ref[V]) Steps(yield func(Step[V]) bool) {
	for _, s := range r.path {
		if !yield(Step[V]{Op: s.op, Attrs: s.attrs, Args: s.args, Base: s.base, Item: s.item}) {
			return
		}
	}
}
