package record

import (
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// While records a loop that runs as long as its condition holds, so many trips at most
// where that is not 0.
func (r *Recorder[V, B]) While(trips int, cond func([]*tensor.Tensor) *tensor.Tensor, body func([]*tensor.Tensor) []*tensor.Tensor, in []*tensor.Tensor) []*tensor.Tensor {
	args := r.Values("while", in)
	if args == nil {
		return r.Poisoned(len(in))
	}
	if len(in) == 0 {
		r.source.Report(&diag.Error{Code: RegionMismatch, Op: "while", Msg: "the loop carries no tensor, expected one or more",
			Hint: "pass what changes from round to round, and return it from the body"})
		return nil
	}
	l := &loop[V, B]{r: r, o: op.While, in: in, carry: len(in), trips: trips, test: r.open("cond", args, nil), body: r.open("body", args, nil)}
	l.test.loop, l.body.loop = true, true
	test := func(x []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{cond(x)} }
	if !l.test.body("while", test) || !l.untouched() || !l.round("while", body) {
		return r.Poisoned(len(in))
	}
	last, _ := l.finish(args)
	return last
}

// Scan records a loop over axis 0 of sequences.
func (r *Recorder[V, B]) Scan(body func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor), carry, seqs []*tensor.Tensor) (last, stacked []*tensor.Tensor) {
	k := len(carry)
	in := append(slices.Clone(carry), seqs...)
	args := r.Values("scan", in)
	if args == nil {
		return r.Poisoned(k), nil
	}
	l := &loop[V, B]{r: r, o: op.Scan, in: in, carry: k, seqs: len(seqs), body: r.open("body", args, func(i int) bool { return i >= k })}
	l.body.loop = true
	ok := l.round("scan", func(x []*tensor.Tensor) []*tensor.Tensor {
		next, out := body(x[:k:k], x[k:])
		if len(next) != k {
			l.body.fault = "the body returns " + itoa(len(next)) + " carried tensors, expected " + itoa(k)
		}
		return append(slices.Clone(next), out...)
	})
	if !ok {
		return r.Poisoned(k), nil
	}
	return l.finish(args)
}

// loop is a while or scan that has been recorded. Its body is given tensors that
// stand for another value in each iteration, where eager code is given the
// operands first and then what the body returned. In-place calls on them are
// those of the operands as long as the body returns the same tensors.
type loop[V alias.Operand, B comparable] struct {
	r     *Recorder[V, B]
	o     *op.Op
	in    []*tensor.Tensor
	carry int // of in
	seqs  int // of in, after the carried ones
	trips int // op.LoopAttrs.MaxTrips

	test  *Region[V, B] // nil for scan
	body  *Region[V, B]
	order *rounds[V] // of the body's reads and writes
}

// round records the body.
func (l *loop[V, B]) round(what string, f func([]*tensor.Tensor) []*tensor.Tensor) bool {
	around := l.r.rounds
	l.order = around.within(l.body.params[:l.carry])
	l.r.rounds = l.order
	defer func() { l.r.rounds = around }()
	return l.body.body(what, f)
}

func (l *loop[V, B]) regions() []*Region[V, B] {
	if l.test == nil {
		return []*Region[V, B]{l.body}
	}
	return []*Region[V, B]{l.test, l.body}
}

// untouched reports a condition that writes.
func (l *loop[V, B]) untouched() bool {
	for _, s := range l.test.wrote {
		l.refuse(l.test.changed[s].pos, "the condition of a loop writes in place")
		return false
	}
	for _, x := range l.test.args {
		if pos := touched(l.r.ref(x).Storage); pos != nil {
			l.refuse(*pos, "the condition of a loop writes in place")
			return false
		}
	}
	return true
}

// touched returns where the memory of an argument was written, through itself or what may be the same
// memory, nil when it was not.
func touched[V alias.Operand](s *alias.Storage[V]) *diag.Pos {
	if s.Version > 0 {
		return &s.Written
	}
	return s.Lost()
}

func (l *loop[V, B]) refuse(pos diag.Pos, msg string) {
	l.r.source.Report((&diag.Error{Code: RegionMismatch, Op: l.o.Name, Msg: msg,
		Hint: "use the ordinary method and return its result, or Clone the tensor first"}).At(pos))
}

// finish makes the node and returns its results.
func (l *loop[V, B]) finish(args []V) (last, stacked []*tensor.Tensor) {
	r, inner, k := l.r, l.body, l.carry
	if !l.returnsCarried(args) || !l.knows() {
		return l.poisoned()
	}
	rs := l.regions()
	changed := writes(inner)
	if !l.aliases(changed) || !l.sees(changed) || !l.returns(l.order) {
		return l.poisoned()
	}
	// Storages that the body writes without being given them are carried after the operands.
	extra, stack := len(changed), len(inner.values)-k
	values := slices.Clone(inner.values[:k])
	args = slices.Clone(args)
	for i, s := range changed {
		values = append(values, inner.changed[s].after)
		args = slices.Insert(args, k+i, inner.changed[s].before)
		if !l.carries(s, i) {
			return l.poisoned()
		}
	}
	values = append(values, inner.values[k:]...)
	// Slices that the body writes in place come back stacked.
	var written []int
	for i := k; i < k+l.seqs; i++ {
		if p := r.ref(inner.args[i]); p.Storage.Version > 0 {
			written = append(written, i)
			values = append(values, r.value(p.Storage))
		}
	}
	inner.values = values
	for _, in := range rs {
		in.settle(changed)
	}
	n := r.node(l.o, op.LoopAttrs{Carry: k + extra, Seqs: l.seqs, MaxTrips: l.trips}, rs, args)
	last = l.results(n)
	for i := range stack {
		stacked = append(stacked, r.member(n, k+extra+i))
	}
	for i, at := range written {
		l.update(at, r.Item(n, k+extra+stack+i))
	}
	r.update(n, k, changed, func(s *alias.Storage[V]) diag.Pos { return inner.changed[s].pos })
	return last, stacked
}

// poisoned are the results of a loop that is refused: as many as the body says, so that code after it goes on.
func (l *loop[V, B]) poisoned() (last, stacked []*tensor.Tensor) {
	return l.r.Poisoned(l.carry), l.r.Poisoned(max(0, len(l.body.values)-l.carry))
}

const nextOfEach = "return the next value of each carried tensor, in their order"

// returnsCarried checks that the body returns at least the carried values, of
// their types.
func (l *loop[V, B]) returnsCarried(args []V) bool {
	values := l.body.values
	if len(values) < l.carry || l.o == op.While && len(values) > l.carry {
		l.r.mismatch(l.o.Name, "the body returns "+itoa(len(values))+" tensors, expected the "+itoa(l.carry)+" carried ones",
			nextOfEach)
		return false
	}
	for i := range l.carry {
		if x, y := args[i].Type(), values[i].Type(); !x.Compatible(y) || sizesDiffer(x, y) {
			l.r.source.Report(&diag.Error{Code: RegionMismatch, Op: l.o.Name,
				Msg:  "carried value " + itoa(i) + " is " + x.String() + " before and " + y.String() + " after the body",
				Hint: "a loop is captured for values that keep their type: carry one of the final size, such as zeros that rounds fill"})
			return false
		}
		l.keeps(args[i].Type(), values[i])
	}
	return true
}

// knows reports memory that the code reads and then writes through what may be the same memory: the
// next round reads what is not known.
func (l *loop[V, B]) knows() bool {
	for _, in := range l.regions() {
		read := slices.Clone(in.read)
		for _, m := range l.r.Eager.held {
			if s := l.r.Eager.StorageOf(m); len(l.lifts(s, in)) > 0 {
				read = append(read, s)
			}
		}
		for _, s := range read {
			if pos := s.Lost(); pos != nil {
				l.refuse(*pos, "the body writes in place to what may be memory that it reads")
				return false
			}
		}
	}
	return true
}

// sizesDiffer reports whether types of one rank have sizes that are never equal.
func sizesDiffer(x, y shape.Type) bool {
	for i := range min(x.Rank(), y.Rank()) {
		if shape.Differ(x.Dim(i), y.Dim(i)) {
			return true
		}
	}
	return false
}

// keeps demands of sizes that the body finds while it runs that they are those of the carried value; of
// other sizes the node's type rule does.
func (l *loop[V, B]) keeps(before shape.Type, after V) {
	y := after.Type()
	for i := range min(before.Rank(), y.Rank()) {
		if !before.Dim(i).IsUnknown() && y.Dim(i).IsUnknown() {
			l.r.regions.Keeps(l.o, after, i, before.Dim(i))
		}
	}
}

// aliases reports what is reached in two ways when one of them writes.
func (l *loop[V, B]) aliases(changed []*alias.Storage[V]) bool {
	r, ok := l.r, true
	for i, x := range l.in {
		inner, place := r.ref(l.body.args[i]).Storage, r.ref(x)
		if place == nil {
			return false
		}
		outer := place.Storage
		for _, s := range changed {
			if same(s, outer) {
				l.refuse(l.body.changed[s].pos, "the body writes in place to memory of operand "+itoa(i)+", which it is also given")
				ok = false
			}
		}
		if pos := inner.Lost(); pos != nil {
			l.refuse(*pos, "the body writes in place to what may be memory of operand "+itoa(i))
			ok = false
		}
		if inner.Version == 0 {
			continue
		}
		if i < l.carry && l.body.results[i] != l.body.args[i] {
			l.refuse(inner.Written, "the body writes in place to carried value "+itoa(i)+" and then carries another tensor")
			ok = false
		}
		for k, y := range l.in {
			if o := r.ref(y); k != i && o != nil && same(o.Storage, outer) {
				l.refuse(inner.Written, "the body writes in place to operand "+itoa(i)+", whose memory operand "+itoa(k)+" may share")
				ok = false
			}
		}
		if l.reads(outer) {
			l.refuse(inner.Written, "the body writes in place to operand "+itoa(i)+" and reads its memory from outside too")
			ok = false
		}
	}
	return ok
}

// sees reports memory that rounds write, and that eager code of a round reads: what it has read is no value of the graph, and
// would be that of the first round in all of them.
func (l *loop[V, B]) sees(changed []*alias.Storage[V]) bool {
	written := slices.Clone(changed)
	for i, x := range l.body.args {
		if l.r.ref(x).Storage.Version > 0 {
			written = append(written, l.r.ref(l.in[i]).Storage)
		}
	}
	ok := true
	for _, s := range written {
		look := func(s *alias.Storage[V]) {
			for _, in := range l.regions() {
				if pos, looks := in.looks(s); ok && looks {
					l.r.source.Report((&diag.Error{Code: RegionMismatch, Op: l.o.Name,
						Msg:  "a round of the loop looks at a tensor, or computes with it where no operand leads to the record, and writes to it in place",
						Hint: "write tensor.On(x, t) for the tensor t, where x is an argument of the function, so that each round reads what it holds then"}).At(pos))
					ok = false
				}
			}
		}
		look(s)
		s.Others(look)
	}
	return ok
}

func same[V alias.Operand](a, b *alias.Storage[V]) bool {
	found := a == b
	a.Others(func(o *alias.Storage[V]) { found = found || o == b })
	return found
}

// reads reports whether the regions use the storage, or one that may be the same
// memory, other than through their arguments.
func (l *loop[V, B]) reads(s *alias.Storage[V]) bool {
	found := l.readsOne(s)
	s.Others(func(o *alias.Storage[V]) { found = found || l.readsOne(o) })
	return found
}

func (l *loop[V, B]) readsOne(s *alias.Storage[V]) bool {
	var none V
	for _, in := range l.regions() {
		if in.bases[s] != none || len(l.lifts(s, in)) > 0 {
			return true
		}
	}
	return false
}

// lifts returns the blocks of the region, inner ones included, that read an eager
// storage by themselves.
func (l *loop[V, B]) lifts(s *alias.Storage[V], in *Region[V, B]) []B {
	var all []B
	for b := range memoryOf[V, B](s).lifted {
		if l.r.regions.Within(b, in.block) {
			all = append(all, b)
		}
	}
	return all
}

// carries makes a storage, which the body changes, carried value k+i of the
// regions: what they read of it comes through the parameter.
func (l *loop[V, B]) carries(storage *alias.Storage[V], i int) bool {
	mem := memoryOf[V, B](storage)
	var none V
	for _, in := range l.regions() {
		want := in.bases[storage]
		if want == none {
			want = in.param(l.body.changed[storage].before)
			in.bases[storage] = want
		}
		l.r.regions.Place(in.block, want, l.carry+i)
		for _, b := range l.lifts(storage, in) {
			if b != in.block {
				l.refuse(l.body.changed[storage].pos, "the body writes in place to a tensor that it reads in a region of its own")
				return false
			}
			l.r.regions.Replace(mem.lifted[b], want)
			delete(mem.lifted, b)
		}
		if mem.slot != nil && l.r.regions.Calls(in.block, mem.slot) {
			l.refuse(l.body.changed[storage].pos, "the body writes in place to "+mem.slot.Name()+", which a module called in it reads")
			return false
		}
	}
	return true
}

// results makes the carried tensors. The eager ones are the operands themselves
// when the body returns what it is given, or never runs.
func (l *loop[V, B]) results(n V) []*tensor.Tensor {
	r, inner := l.r, l.body
	last := make([]*tensor.Tensor, l.carry)
	for i := range last {
		l.returned(i)
	}
	for i := range last {
		if inner.results[i] == inner.args[i] {
			last[i] = l.in[i]
			if r.ref(inner.args[i]).Storage.Version > 0 {
				l.update(i, r.Item(n, i))
			}
			continue
		}
		last[i] = r.member(n, i)
		if !l.runs() {
			r.mayBe(last[i], l.in[i], inner.block)
		}
		r.mayBe(last[i], inner.results[i], inner.block)
		for k, x := range inner.args {
			if p, q := r.ref(inner.results[i]), r.ref(x); p != nil && q != nil && same(p.Storage, q.Storage) {
				r.mayBe(last[i], l.in[k], inner.block)
			}
		}
	}
	r.mayShare(inner, last)
	return last
}

// returned tells the engine what a result may be.
func (l *loop[V, B]) returned(i int) {
	r, inner := l.r, l.body
	if inner.results[i] == inner.args[i] {
		return
	}
	if !l.runs() {
		r.returned(l.in[i], inner.block)
	}
	r.returned(inner.results[i], inner.block)
	for k, x := range inner.args {
		if p, q := r.ref(inner.results[i]), r.ref(x); p != nil && q != nil && same(p.Storage, q.Storage) {
			r.returned(l.in[k], inner.block)
		}
	}
}

// runs reports whether there is a round for certain.
func (l *loop[V, B]) runs() bool {
	if l.seqs == 0 {
		return false
	}
	t := l.r.TypeOf(l.in[l.carry])
	if !t.Ranked() || t.Rank() == 0 {
		return false
	}
	n, known := t.Dim(0).Int()
	return known && n > 0
}

// update writes what the loop did in place to an operand.
func (l *loop[V, B]) update(i int, v V) {
	written := l.r.ref(l.body.args[i]).Storage.Written
	l.r.write(l.r.ref(l.in[i]), v, l.o.Name, written)
}
