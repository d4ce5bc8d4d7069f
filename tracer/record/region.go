package record

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// Region is a block being recorded. Values of blocks around it that its code uses
// become extra operands of the node; storages of blocks around it that its code
// writes become extra results, in loops carried ones.
type Region[V alias.Operand, B comparable] struct {
	span
	rec   *Recorder[V, B]
	block B
	outer *Region[V, B] // nil in the whole
	loop  bool          // the code runs any number of times
	depth int           // regions around it

	captured []V
	inner    map[V]V
	bases    map[*alias.Storage[V]]V                 // parameters for what storages hold
	read     []*alias.Storage[V]                     // the keys of bases, in order
	entries  map[*alias.Storage[V]]*alias.Storage[V] // with the values at the beginning; nil for none
	changed  map[*alias.Storage[V]]*change[V]        // nil for none
	wrote    []*alias.Storage[V]                     // the keys of changed, in order
	looked   map[*array.Storage]diag.Pos             // memory that eager code has read, and where first; nil for none

	fixed []fixture[V] // what its code must not write

	params   []V              // that the node passes in first
	operands []V              // the values around it that they stand for
	args     []*tensor.Tensor // what the code was given
	results  []*tensor.Tensor // what it returned
	fault    string           // why its results are refused, "" if they are not
	values   []V              // their values
}

// span is the time in which a region was recorded; to is 0 while it is.
type span struct{ from, to uint64 }

// change is what the code of a region does to a storage from outside.
type change[V alias.Operand] struct {
	old    V // what the storage held, in the block that made it
	before V // the same in the block around the region
	after  V // in the region
	pos    diag.Pos
}

// fixture is a storage that a region must not write, and the mistake if it does.
type fixture[V alias.Operand] struct {
	storage *alias.Storage[V]
	mistake *diag.Error
}

func itoa(i int) string { return strconv.Itoa(i) }

// inLoop reports whether code is being recorded that runs any number of times.
func (r *Recorder[V, B]) inLoop() bool {
	for in := r.region; in != nil; in = in.outer {
		if in.loop {
			return true
		}
	}
	return false
}

// loopsTo reports whether the region is, or lies in, a loop inside the block b.
func (in *Region[V, B]) loopsTo(b B) bool {
	for ; in != nil && in.block != b; in = in.outer {
		if in.loop {
			return true
		}
	}
	return false
}

// In implements alias.Recorder: it returns a value if it belongs to the current
// block; one of a block around it is captured as a parameter of the region.
func (r *Recorder[V, B]) In(v V) V {
	if r.program.Block(v) == r.block() {
		return v
	}
	var none V
	in := r.region
	if in == nil {
		r.outOfReach(v)
		return none
	}
	if p := in.inner[v]; p != none {
		return p
	}
	// The block around it may itself be a region that has to capture v first.
	var src V
	in.around(func() { src = r.In(v) })
	if src == none {
		return none
	}
	p := in.inner[src]
	if p == none {
		p = in.param(src)
		in.captured = append(in.captured, src)
	}
	in.inner[v], in.inner[src] = p, p // two values when it comes through a region around this one
	return p
}

func (r *Recorder[V, B]) outOfReach(v V) {
	r.source.Report(&diag.Error{Code: RegionMismatch, Op: r.what, Msg: v.String() + " was made inside a region and is used outside of it",
		Hint: "return it from the region's function"})
}

// around records in the block around the region.
func (in *Region[V, B]) around(f func()) {
	r := in.rec
	was := r.region
	r.enter(in.outer)
	r.program.Mark()
	f()
	r.enter(was)
}

// inside records in a region that was left.
func (in *Region[V, B]) inside(f func()) {
	r := in.rec
	was := r.region
	r.enter(in)
	f()
	r.enter(was)
}

// baseIn returns what a storage holds as the region sees it. Every storage has a
// parameter of its own, even if two hold one value: code may write to either.
func (r *Recorder[V, B]) baseIn(s *alias.Storage[V], in *Region[V, B]) V {
	var none V
	v := r.value(s)
	if v == none {
		return none
	}
	switch b := r.program.Block(v); {
	case in == nil && b != r.top:
		r.outOfReach(v)
		return none
	case in == nil || b == in.block:
		return v
	}
	return in.placeholder(s)
}

// placeholder returns what a storage holds when the code of the region begins.
func (in *Region[V, B]) placeholder(storage *alias.Storage[V]) V {
	var src, none V
	if p := in.bases[storage]; p != none {
		return p
	}
	if c := in.changed[storage]; c != nil {
		src = c.before
	} else {
		src = in.rec.baseIn(storage, in.outer)
	}
	if src == none {
		return none
	}
	p := in.param(src)
	in.bases[storage] = p
	in.read = append(in.read, storage)
	return p
}

// param adds a parameter for a value after the others of the region.
func (in *Region[V, B]) param(src V) V { return in.rec.regions.Param(in.block, src, src.Type()) }

// Regions within one another: so many may lie around one without a bound, and so many regions may have more.
const (
	flatRegions = 8
	deepRegions = 500
)

// nested returns how many regions lie around the next one. A function that calls itself in a branch is recorded in that branch again, and so on, whatever
// the data say: it ends here.
func nested[V alias.Operand, B comparable](r *Recorder[V, B]) int {
	if r.region == nil {
		r.deep = 0
		return 0
	}
	depth := r.region.depth + 1
	if depth > flatRegions {
		r.deep++
	}
	if r.deep > deepRegions {
		panic((&diag.Error{Code: RegionMismatch, Op: r.what, Msg: "control flow lies in control flow, " + itoa(depth) + " calls deep, and goes on: a function that calls itself in a branch has no end where both branches are recorded",
			Hint: "repeat the function by While"}).At(diag.Here()))
	}
	return depth
}

// open starts a region with a parameter for each operand; slice tells which of
// them lose their axis 0.
func (r *Recorder[V, B]) open(name string, operands []V, slice func(i int) bool) *Region[V, B] {
	r.renewAll()
	depth := nested(r)
	in := &Region[V, B]{rec: r, block: r.regions.Open(name), outer: r.region, inner: map[V]V{},
		bases: map[*alias.Storage[V]]V{}, depth: depth}
	for i, v := range operands {
		ty := v.Type()
		if slice != nil && slice(i) && ty.Ranked() && ty.Rank() > 0 {
			ty = ty.WithDims(shape.Of(ty.Dims().Slice()[1:]...))
		}
		p := r.regions.Param(in.block, v, ty)
		in.params, in.operands = append(in.params, p), append(in.operands, v)
		in.args = append(in.args, r.Proxy(p))
	}
	return in
}

// body runs the code of a region; false when a mistake was made. Outside of the
// region, storages have the values that they had.
func (in *Region[V, B]) body(what string, f func([]*tensor.Tensor) []*tensor.Tensor) bool {
	r := in.rec
	in.from = array.Now()
	r.spans = append(r.spans, &in.span)
	was := r.region
	r.enter(in)
	if r.Eager.follow == nil {
		r.Eager.follow = tensor.Following()
	}
	unseen, unwatched := tensor.InRegion(), in.watch()
	defer func() {
		unseen()
		unwatched()
		r.enter(was)
		in.to = array.Now() + 1
		if r.Eager.Lasting && was == nil { // whose engine lets no code of a region write to what was there before
			r.spans = nil
		}
	}()
	r.regions.Run(func() { in.results = f(in.args) })
	r.mixAll()
	if in.fault != "" {
		r.mismatch(what, in.fault, nextOfEach)
	}
	if r.region != in {
		// Another goroutine has begun or ended a region meanwhile: calls of both lie in
		// either.
		r.regions.Clash()
		return false
	}
	var none V
	in.values = make([]V, len(in.results))
	ok := true
	for i, x := range in.results {
		if x == nil {
			r.mismatch("region", "result "+itoa(i)+" of the function is nil",
				"return a tensor in its place, such as zeros, or leave the result out everywhere")
			ok = false
		} else if in.values[i] = r.Value(x, "region"); in.values[i] == none {
			ok = false
		}
	}
	for _, f := range in.fixed {
		if in.changed[f.storage] != nil {
			r.source.Report(f.mistake)
			ok = false
		}
	}
	for _, s := range in.wrote {
		c := in.changed[s]
		c.after, c.pos = r.baseIn(s, in), s.Written
		s.Value = c.old
		s.Version++
		ok = ok && c.after != none && c.before != none
	}
	return ok
}

// watch notes what eager code of this goroutine reads, until the returned function is called.
func (in *Region[V, B]) watch() (leave func()) {
	if !in.loop {
		return func() {}
	}
	goroutine := Goroutine()
	return tensor.Watch(func(st *array.Storage, how tensor.Touch) {
		if how != tensor.Read || Goroutine() != goroutine {
			return
		}
		if in.looked == nil {
			in.looked = map[*array.Storage]diag.Pos{}
		}
		if _, known := in.looked[st]; !known {
			in.looked[st] = diag.Here()
		}
	})
}

// looks returns where eager code has read memory of an eager storage first; ok is false where it has not.
func (in *Region[V, B]) looks(s *alias.Storage[V]) (pos diag.Pos, ok bool) {
	m := memoryOf[V, B](s)
	if m.root == nil {
		return pos, false
	}
	at := m.Array().Storage()
	for st, where := range in.looked {
		if st == at || st.Wrapped() && at.Wrapped() && st.Overlaps(at) {
			return where, true
		}
	}
	return pos, false
}

// writes returns the storages that the regions change, in the order of the first writes.
func writes[V alias.Operand, B comparable](rs ...*Region[V, B]) []*alias.Storage[V] {
	var all []*alias.Storage[V]
	for i, in := range rs {
		for _, s := range in.wrote {
			if i == 0 || rs[0].changed[s] == nil {
				all = append(all, s)
			}
		}
	}
	return all
}

// settle makes ordinary captures of the parameters for storages that the node
// does not carry.
func (in *Region[V, B]) settle(carried []*alias.Storage[V]) {
	r := in.rec
	var none V
	keep := map[*alias.Storage[V]]bool{}
	for _, s := range carried {
		keep[s] = true
	}
	for _, s := range in.read {
		if keep[s] {
			continue
		}
		var src V
		in.around(func() { src = r.baseIn(s, r.region) })
		p := in.bases[s]
		if other := in.inner[src]; other != none && other != p {
			r.regions.Replace(p, other)
			for i, v := range in.values {
				if v == p {
					in.values[i] = other
				}
			}
			r.regions.Drop(p)
			continue
		}
		in.inner[src] = p
		in.captured = append(in.captured, src)
	}
}

// close ends the regions: every one has parameters for all captured values, in
// one order, and its results. It returns the captured values.
func (r *Recorder[V, B]) close(rs []*Region[V, B]) []V {
	var all []V
	seen := map[V]bool{}
	for _, in := range rs {
		for _, v := range in.captured {
			if !seen[v] {
				seen[v] = true
				all = append(all, v)
			}
		}
	}
	for _, in := range rs {
		r.regions.Close(in.block, in.values, all, in.inner)
	}
	return all
}

// node adds the node with the regions; a tensor of it is made by member.
func (r *Recorder[V, B]) node(o *op.Op, attrs any, rs []*Region[V, B], args []V) V {
	args = append(args, r.close(rs)...)
	blocks := make([]B, len(rs))
	for i, in := range rs {
		blocks[i] = in.block
	}
	r.program.Mark()
	n := r.regions.Node(o, attrs, blocks, args)
	r.program.Recorded(n, &tensor.Call{Op: o, Attrs: attrs})
	return n
}

// update gives storages that regions changed the values that the node returns.
func (r *Recorder[V, B]) update(n V, first int, changed []*alias.Storage[V], pos func(s *alias.Storage[V]) diag.Pos) {
	for k, s := range changed {
		r.source.Wrote(memoryOf[V, B](s))
		s.Set(r, r.Item(n, first+k), pos(s))
	}
}

// outer calls f for the storage of x, and for those that may be the same memory, that come from outside of a block.
func outer[V alias.Operand, B comparable](r *Recorder[V, B], x *tensor.Tensor, inside B, f func(*alias.Storage[V])) {
	p := r.ref(x)
	if p == nil {
		return
	}
	one := func(s *alias.Storage[V]) {
		if !r.regions.Within(memoryOf[V, B](s).home, inside) {
			f(s)
		}
	}
	one(p.Storage)
	p.Storage.Others(one)
}

// mayBe records that a result of a node with regions may be memory that x shows, as far as that comes
// from outside of the regions.
func (r *Recorder[V, B]) mayBe(out, x *tensor.Tensor, inside B) {
	if p := r.ref(out); p != nil {
		outer(r, x, inside, func(s *alias.Storage[V]) { alias.Maybe(p.Storage, s) })
	}
}

// returned tells the engine of memory from outside of the block that a result may be, as x is.
func (r *Recorder[V, B]) returned(x *tensor.Tensor, inside B) {
	outer(r, x, inside, r.regions.Returns)
}

// after returns the value of a storage at the end of the region.
func (in *Region[V, B]) after(s *alias.Storage[V]) (v V) {
	if c := in.changed[s]; c != nil {
		return c.after
	}
	in.inside(func() { v = in.rec.baseIn(s, in) })
	return v
}

// outside reports whether a tensor was made outside of the regions.
func (r *Recorder[V, B]) outside(x *tensor.Tensor, rs ...*Region[V, B]) bool {
	p := r.ref(x)
	if p == nil {
		return false
	}
	for _, in := range rs {
		if memoryOf[V, B](p.Storage).home == in.block {
			return false
		}
	}
	return true
}

// mayShare records which results of a region may be one memory.
func (r *Recorder[V, B]) mayShare(in *Region[V, B], out []*tensor.Tensor) {
	for i := range out {
		for k := range i {
			p, q := r.ref(in.results[i]), r.ref(in.results[k])
			if p == nil || q == nil || !same(p.Storage, q.Storage) {
				continue
			}
			if a, b := r.ref(out[i]), r.ref(out[k]); a != nil && b != nil {
				alias.Maybe(a.Storage, b.Storage)
			}
		}
	}
}
