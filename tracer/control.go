package tracer

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// Cond implements tensor.Regioner. The branches are given the very operands, as
// they are eagerly; what either writes is a result of the node.
func (t *trace) Cond(pred *tensor.Tensor, then, els func([]*tensor.Tensor) []*tensor.Tensor, in []*tensor.Tensor) []*tensor.Tensor {
	if !t.enter() {
		return then(in)
	}
	defer t.leave()
	args := t.operands("cond", append([]*tensor.Tensor{pred}, in...))
	if args == nil {
		return t.poisoned(1)
	}
	rs := []*region{t.open("then", args[1:], nil), t.open("else", args[1:], nil)}
	for i, f := range []func([]*tensor.Tensor) []*tensor.Tensor{then, els} {
		inner := rs[i]
		for k, n := range args[1:] {
			p := inner.args[k].Value().(*graph.Node)
			if inner.inner[n] == nil {
				inner.inner[n] = p
			}
			// A tensor of the state comes in as the operand that it is.
			if x := in[k]; !t.isTraced(x) {
				if place := t.ref(x); place.IsWhole() && memoryOf(place.Storage).lifted[inner.g] == nil {
					memoryOf(place.Storage).lifted[inner.g] = p
				}
			}
		}
		inner.args = slices.Clone(in)
		if !t.body(inner, f) {
			return t.poisoned(max(1, len(inner.results)))
		}
	}
	first, second := rs[0], rs[1]
	if len(first.nodes) != len(second.nodes) {
		t.mismatch("cond", "the branches return "+strconv.Itoa(len(first.nodes))+" and "+strconv.Itoa(len(second.nodes))+" tensors")
		return t.poisoned(len(first.nodes))
	}
	for i := range first.nodes {
		if x, y := first.nodes[i].Type(), second.nodes[i].Type(); !shape.Joinable(x, y) {
			t.mismatch("cond", "result "+strconv.Itoa(i)+" is "+x.String()+" in one branch and "+y.String()+" in the other")
		}
	}
	count := len(first.nodes)
	changed := writes(first, second)
	for _, s := range changed {
		for _, r := range rs {
			v := r.after(t, s)
			if v == nil {
				return t.poisoned(count)
			}
			r.nodes = append(r.nodes, v)
		}
	}
	first.settle(t, nil)
	second.settle(t, nil)
	n := t.regionNode(op.Cond, nil, rs, args)
	out := make([]*tensor.Tensor, count)
	for i := range out {
		if first.results[i] == second.results[i] && t.outside(first.results[i], first, second) {
			out[i] = first.results[i] // one tensor from outside, whichever branch runs
			continue
		}
		out[i] = t.member(n, i)
		t.mayBe(out[i], first.results[i], first.g)
		t.mayBe(out[i], second.results[i], second.g)
	}
	t.mayShare(first, out)
	t.mayShare(second, out)
	t.update(n, count, changed, func(s *alias.Storage[*graph.Node]) diag.Pos {
		if c := first.changed[s]; c != nil {
			return c.pos
		}
		return second.changed[s].pos
	})
	return out
}

// after returns the value of a storage at the end of the region.
func (r *region) after(t *trace, s *alias.Storage[*graph.Node]) (v *graph.Node) {
	if c := r.changed[s]; c != nil {
		return c.after
	}
	t.inside(r, func() { v = t.baseIn(s, r) })
	return v
}

// outside reports whether a tensor was made outside of the regions.
func (t *trace) outside(x *tensor.Tensor, rs ...*region) bool {
	p := t.ref(x)
	return p != nil && !slices.ContainsFunc(rs, func(r *region) bool { return memoryOf(p.Storage).home == r.g })
}

// mayShare records which results of a region may be one memory.
func (t *trace) mayShare(r *region, out []*tensor.Tensor) {
	for i := range out {
		for k := range i {
			p, q := t.ref(r.results[i]), t.ref(r.results[k])
			if p == nil || q == nil || p.Storage != q.Storage {
				continue
			}
			if a, b := t.ref(out[i]), t.ref(out[k]); a != nil && b != nil {
				alias.Maybe(a.Storage, b.Storage)
			}
		}
	}
}

// While implements tensor.Regioner.
func (t *trace) While(cond func([]*tensor.Tensor) *tensor.Tensor, body func([]*tensor.Tensor) []*tensor.Tensor, in []*tensor.Tensor) []*tensor.Tensor {
	if !t.enter() {
		return t.poisoned(len(in))
	}
	defer t.leave()
	args := t.operands("while", in)
	if args == nil {
		return t.poisoned(len(in))
	}
	if len(in) == 0 {
		t.report(&diag.Error{Code: RegionMismatch, Op: "while", Msg: "the loop carries no tensor, expected one or more",
			Hint: "pass what changes from round to round, and return it from the body"})
		return nil
	}
	l := &loop{t: t, o: op.While, in: in, carry: len(in), test: t.open("cond", args, nil), body: t.open("body", args, nil)}
	l.test.loop, l.body.loop = true, true
	if !t.body(l.test, func(x []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{cond(x)} }) ||
		!l.untouched() || !t.body(l.body, body) {
		return t.poisoned(len(in))
	}
	last, _ := l.finish(args)
	return last
}

// Scan implements tensor.Regioner.
func (t *trace) Scan(body func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor), carry, seqs []*tensor.Tensor) (last, stacked []*tensor.Tensor) {
	if !t.enter() {
		return body(carry, seqs)
	}
	defer t.leave()
	k := len(carry)
	in := append(slices.Clone(carry), seqs...)
	args := t.operands("scan", in)
	if args == nil {
		return t.poisoned(k), nil
	}
	l := &loop{t: t, o: op.Scan, in: in, carry: k, seqs: len(seqs), body: t.open("body", args, func(i int) bool { return i >= k })}
	l.body.loop = true
	ok := t.body(l.body, func(x []*tensor.Tensor) []*tensor.Tensor {
		next, out := body(x[:k:k], x[k:])
		if len(next) != k && t.take() {
			defer t.leave()
			t.mismatch("scan", "the body returns "+strconv.Itoa(len(next))+" carried tensors, expected "+strconv.Itoa(k))
		}
		return append(slices.Clone(next), out...)
	})
	if !ok {
		return t.poisoned(k), nil
	}
	return l.finish(args)
}

// loop is a while or scan that has been recorded. Its body is given tensors that
// stand for another value in each iteration, where eager code is given the
// operands first and then what the body returned. In-place calls on them are
// those of the operands as long as the body returns the same tensors.
type loop struct {
	t     *trace
	o     *op.Op
	in    []*tensor.Tensor
	carry int // of in
	seqs  int // of in, behind the carried ones

	test *region // nil for scan
	body *region
}

func (l *loop) regions() []*region {
	if l.test == nil {
		return []*region{l.body}
	}
	return []*region{l.test, l.body}
}

// untouched reports a condition that writes.
func (l *loop) untouched() bool {
	for _, s := range l.test.wrote {
		l.refuse(l.test.changed[s].pos, "the condition of a loop writes in place")
		return false
	}
	for _, x := range l.test.args {
		if r := l.t.ref(x); r.Storage.Version > 0 {
			l.refuse(r.Storage.Written, "the condition of a loop writes in place")
			return false
		}
	}
	return true
}

func (l *loop) refuse(pos diag.Pos, msg string) {
	l.t.report((&diag.Error{Code: RegionMismatch, Op: l.o.Name, Msg: msg,
		Hint: "use the ordinary method and return its result, or Clone the tensor first"}).At(pos))
}

// finish makes the node and returns its results.
func (l *loop) finish(args []*graph.Node) (last, stacked []*tensor.Tensor) {
	tr, inner, k := l.t, l.body, l.carry
	if !l.returnsCarried(args) {
		return tr.poisoned(k), nil
	}
	rs := l.regions()
	changed := writes(inner)
	if !l.aliases(changed) {
		return tr.poisoned(k), nil
	}
	// What is written behind the operands' back is carried behind them.
	extra, stack := len(changed), len(inner.nodes)-k
	nodes := slices.Clone(inner.nodes[:k])
	args = slices.Clone(args)
	for i, s := range changed {
		nodes = append(nodes, inner.changed[s].after)
		args = slices.Insert(args, k+i, inner.changed[s].before)
		if !l.carries(s, i) {
			return tr.poisoned(k), nil
		}
	}
	nodes = append(nodes, inner.nodes[k:]...)
	// Slices that the body writes in place come back stacked.
	var written []int
	for i := k; i < k+l.seqs; i++ {
		if r := tr.ref(inner.args[i]); r.Storage.Version > 0 {
			written = append(written, i)
			nodes = append(nodes, tr.value(r.Storage))
		}
	}
	inner.nodes = nodes
	for _, r := range rs {
		r.settle(tr, changed)
	}
	n := tr.regionNode(l.o, op.LoopAttrs{Carry: k + extra, Seqs: l.seqs}, rs, args)
	last = l.results(n)
	for i := range stack {
		stacked = append(stacked, tr.member(n, k+extra+i))
	}
	for i, at := range written {
		l.update(at, tr.Item(n, k+extra+stack+i))
	}
	tr.update(n, k, changed, func(s *alias.Storage[*graph.Node]) diag.Pos { return inner.changed[s].pos })
	return last, stacked
}

// returnsCarried checks that the body returns at least the carried values, of
// their types.
func (l *loop) returnsCarried(args []*graph.Node) bool {
	nodes := l.body.nodes
	if len(nodes) < l.carry {
		l.t.mismatch(l.o.Name, "the body returns "+strconv.Itoa(len(nodes))+" tensors, expected the "+strconv.Itoa(l.carry)+" carried ones")
		return false
	}
	if l.o == op.While && len(nodes) > l.carry {
		l.t.mismatch(l.o.Name, "the body returns "+strconv.Itoa(len(nodes))+" tensors, expected the "+strconv.Itoa(l.carry)+" carried ones")
		return false
	}
	for i := range l.carry {
		if x, y := args[i].Type(), nodes[i].Type(); !x.Compatible(y) || sizesDiffer(x, y) {
			l.t.report(&diag.Error{Code: RegionMismatch, Op: l.o.Name,
				Msg:  "carried value " + strconv.Itoa(i) + " is " + x.String() + " before and " + y.String() + " after the body",
				Hint: "a loop is captured for values that keep their type: carry one of the final size, such as zeros that rounds fill"})
			return false
		}
		l.keeps(args[i], nodes[i])
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
func (l *loop) keeps(before, after *graph.Node) {
	x, y := before.Type(), after.Type()
	for i := range min(x.Rank(), y.Rank()) {
		if x.Dim(i).IsUnknown() || !y.Dim(i).IsUnknown() {
			continue
		}
		r := shape.Equality(l.body.g.NewSymbol(after, i), x.Dim(i))
		if err := l.body.g.Assume(r, after); err != nil {
			l.t.report(&diag.Error{Code: graph.Contradiction, Op: l.o.Name, Msg: "the loop relies on " + r.String() + ", which no sizes here satisfy", Err: err})
		}
	}
}

// aliases reports what is reached in two ways when one of them writes.
func (l *loop) aliases(changed []*alias.Storage[*graph.Node]) bool {
	tr, ok := l.t, true
	for i, x := range l.in {
		inner, outer := tr.ref(l.body.args[i]).Storage, tr.ref(x)
		if outer == nil {
			return false
		}
		for _, s := range changed {
			if same(s, outer.Storage) {
				l.refuse(l.body.changed[s].pos, "the body writes in place to memory of operand "+strconv.Itoa(i)+", which it is also given")
				ok = false
			}
		}
		if inner.Version == 0 {
			continue
		}
		if i < l.carry && l.body.results[i] != l.body.args[i] {
			l.refuse(inner.Written, "the body writes in place to carried value "+strconv.Itoa(i)+" and then carries another tensor")
			ok = false
		}
		for k, y := range l.in {
			if o := tr.ref(y); k != i && o != nil && same(o.Storage, outer.Storage) {
				l.refuse(inner.Written, "the body writes in place to operand "+strconv.Itoa(i)+", whose memory operand "+strconv.Itoa(k)+" may share")
				ok = false
			}
		}
		if l.reads(outer.Storage) {
			l.refuse(inner.Written, "the body writes in place to operand "+strconv.Itoa(i)+" and reads its memory from outside too")
			ok = false
		}
	}
	return ok
}

func same(a, b *alias.Storage[*graph.Node]) bool {
	found := a == b
	a.Others(func(o *alias.Storage[*graph.Node]) { found = found || o == b })
	return found
}

// reads reports whether the regions use the storage, or one that may be the same
// memory, other than through their arguments.
func (l *loop) reads(s *alias.Storage[*graph.Node]) bool {
	found := l.readsOne(s)
	s.Others(func(o *alias.Storage[*graph.Node]) { found = found || l.readsOne(o) })
	return found
}

func (l *loop) readsOne(s *alias.Storage[*graph.Node]) bool {
	for _, r := range l.regions() {
		if r.bases[s] != nil || len(l.lifts(s, r)) > 0 {
			return true
		}
	}
	return false
}

// lifts returns the graphs of the region, inner ones included, that read an eager
// storage by themselves.
func (l *loop) lifts(s *alias.Storage[*graph.Node], r *region) []*graph.Graph {
	var in []*graph.Graph
	for g := range memoryOf(s).lifted {
		for h := g; h != nil; {
			if h == r.g {
				in = append(in, g)
			}
			if h.Parent() == nil {
				break
			}
			h = h.Parent().Graph()
		}
	}
	return in
}

// carries makes a storage, which the body changes, carried value k+i of the
// regions: what they read of it comes through the placeholder.
func (l *loop) carries(storage *alias.Storage[*graph.Node], i int) bool {
	mem := memoryOf(storage)
	for _, inner := range l.regions() {
		want := inner.bases[storage]
		if want == nil {
			want = inner.input(l.body.changed[storage].before)
			inner.bases[storage] = want
		}
		at := inner.g.First()
		for range l.carry + i {
			at = at.Next()
		}
		inner.g.MoveBefore(want, at)
		for _, g := range l.lifts(storage, inner) {
			if g != inner.g {
				l.refuse(l.body.changed[storage].pos, "the body writes in place to a tensor that it reads in a region of its own")
				return false
			}
			mem.lifted[g].ReplaceUses(want, nil)
			delete(mem.lifted, g)
		}
		if mem.param != nil && callsWith(inner.g, mem.param.Path) {
			l.refuse(l.body.changed[storage].pos, "the body writes in place to "+mem.param.Path+", which a module called in it reads")
			return false
		}
	}
	return true
}

// callsWith reports whether a called module of g has the parameter.
func callsWith(g *graph.Graph, path string) bool {
	for n := range g.All() {
		if b := n.Bound(); b != nil && slices.Contains(b.Params, path) {
			return true
		}
	}
	return false
}

// results makes the carried tensors. The eager ones are the operands themselves
// when the body returns what it is given, or never runs.
func (l *loop) results(n *graph.Node) []*tensor.Tensor {
	tr, inner := l.t, l.body
	last := make([]*tensor.Tensor, l.carry)
	for i := range last {
		if inner.results[i] == inner.args[i] {
			last[i] = l.in[i]
			if tr.ref(inner.args[i]).Storage.Version > 0 {
				l.update(i, tr.Item(n, i))
			}
			continue
		}
		last[i] = tr.member(n, i)
		tr.mayBe(last[i], l.in[i], inner.g)
		tr.mayBe(last[i], inner.results[i], inner.g)
		for k, x := range inner.args {
			if p, q := tr.ref(inner.results[i]), tr.ref(x); p != nil && q != nil && p.Storage == q.Storage {
				tr.mayBe(last[i], l.in[k], inner.g)
			}
		}
	}
	tr.mayShare(inner, last)
	return last
}

// update writes what the loop did in place to an operand.
func (l *loop) update(i int, v *graph.Node) {
	written := l.t.ref(l.body.args[i]).Storage.Written
	l.t.write(l.t.ref(l.in[i]), v, l.o.Name, written)
}
