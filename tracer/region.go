package tracer

import (
	"iter"
	"runtime"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// region is a sub-graph being recorded. Values of enclosing graphs that its code
// uses become extra operands of the node; storages of enclosing graphs that its
// code writes become extra results, in loops carried ones.
type region struct {
	span
	g     *graph.Graph
	in    *graph.Cursor // of g
	outer *region
	cur   *graph.Cursor // of the enclosing graph
	loop  bool          // the code runs any number of times

	captured []*graph.Node
	inner    map[*graph.Node]*graph.Node
	bases    map[*alias.Storage[*graph.Node]]*graph.Node                 // placeholders for what storages hold
	read     []*alias.Storage[*graph.Node]                               // the keys of bases, in order
	entries  map[*alias.Storage[*graph.Node]]*alias.Storage[*graph.Node] // with the values at the beginning
	changed  map[*alias.Storage[*graph.Node]]*change
	wrote    []*alias.Storage[*graph.Node] // the keys of changed, in order

	args    []*tensor.Tensor // what the code was given
	results []*tensor.Tensor // what it returned
	nodes   []*graph.Node    // their values
}

// span is the time in which a region was recorded; to is 0 while it is.
type span struct{ from, to uint64 }

// change is what the code of a region does to a storage from outside.
type change struct {
	old    *graph.Node // what the storage held, in the graph that made it
	before *graph.Node // the same in the enclosing graph
	after  *graph.Node // in the region
	pos    diag.Pos
}

// inLoop reports whether code is being recorded that runs any number of times.
func (t *trace) inLoop() bool {
	for r := t.region; r != nil; r = r.outer {
		if r.loop {
			return true
		}
	}
	return false
}

// inRegion returns node if it belongs to the current graph; a value of an enclosing
// graph is captured as a placeholder of the region.
func (t *trace) inRegion(node *graph.Node) *graph.Node {
	if node.Graph() == t.cur.Graph() {
		return node
	}
	inner := t.region
	if inner == nil {
		t.outOfReach(node)
		return nil
	}
	if p := inner.inner[node]; p != nil {
		return p
	}
	// The enclosing graph may itself be a region that has to capture node first.
	var src *graph.Node
	t.around(inner, func() { src = t.inRegion(node) })
	if src == nil {
		return nil
	}
	p := inner.inner[src]
	if p == nil {
		p = inner.input(src)
		inner.captured = append(inner.captured, src)
	}
	inner.inner[node], inner.inner[src] = p, p // two nodes when the value comes through an enclosing region
	return p
}

func (t *trace) outOfReach(n *graph.Node) {
	t.report(&diag.Error{Code: RegionMismatch, Op: t.what, Msg: n.String() + " was made inside a region and is used outside of it",
		Hint: "return it from the region's function"})
}

// around records in the graph around a region.
func (t *trace) around(r *region, f func()) {
	inner, cur := t.region, t.cur
	t.region, t.cur = r.outer, r.cur
	t.cur.SetPos(t.pos)
	f()
	t.region, t.cur = inner, cur
}

// inside records in a region that was left.
func (t *trace) inside(r *region, f func()) {
	outer, cur := t.region, t.cur
	t.region, t.cur = r, r.in
	f()
	t.region, t.cur = outer, cur
}

// baseIn returns what a storage holds as the region sees it. Every storage has a
// placeholder of its own, even if two hold one value: code may write to either.
func (t *trace) baseIn(s *alias.Storage[*graph.Node], r *region) *graph.Node {
	v := t.value(s)
	switch {
	case v == nil:
		return nil
	case r == nil && v.Graph() != t.mod.Graph:
		t.outOfReach(v)
		return nil
	case r == nil || v.Graph() == r.g:
		return v
	}
	return t.placeholder(s, r)
}

// placeholder returns what a storage holds when the code of the region begins.
func (t *trace) placeholder(storage *alias.Storage[*graph.Node], inner *region) *graph.Node {
	if p := inner.bases[storage]; p != nil {
		return p
	}
	var src *graph.Node
	if c := inner.changed[storage]; c != nil {
		src = c.before
	} else {
		src = t.baseIn(storage, inner.outer)
	}
	if src == nil {
		return nil
	}
	p := inner.input(src)
	inner.bases[storage] = p
	inner.read = append(inner.read, storage)
	return p
}

// Writes implements alias.Recorder: a region remembers what it changes.
func (t *trace) Writes(s *alias.Storage[*graph.Node]) {
	r := t.region
	if r == nil || memoryOf(s).home == r.g {
		return
	}
	if r.changed[s] == nil {
		var before *graph.Node
		t.around(r, func() { before = t.baseIn(s, t.region) })
		r.changed[s] = &change{old: t.value(s), before: before}
		r.wrote = append(r.wrote, s)
	}
}

// input adds a placeholder behind the others of the region.
func (r *region) input(src *graph.Node) *graph.Node {
	p := r.in.Placeholder(src.Name(), src.Type(), nil)
	for n := range r.g.Nodes() {
		if n.Opcode() != graph.Placeholder {
			r.g.MoveBefore(p, n)
			break
		}
	}
	return p
}

// open starts a region with a placeholder for each operand; slice tells which of
// them lose their axis 0.
func (t *trace) open(name string, in []*graph.Node, slice func(i int) bool) *region {
	t.renewAll()
	g := t.cur.Graph().NewRegion(name)
	r := &region{g: g, in: g.At(), outer: t.region, cur: t.cur, inner: map[*graph.Node]*graph.Node{},
		bases: map[*alias.Storage[*graph.Node]]*graph.Node{}, entries: map[*alias.Storage[*graph.Node]]*alias.Storage[*graph.Node]{}, changed: map[*alias.Storage[*graph.Node]]*change{}}
	r.in.OnError = t.cur.OnError
	r.in.SetScope(t.scope)
	for i, n := range in {
		ty := n.Type()
		if slice != nil && slice(i) && ty.Ranked() && ty.Rank() > 0 {
			ty = ty.WithDims(shape.Of(ty.Dims().Slice()[1:]...))
		}
		p := r.in.Placeholder(n.Name(), ty, nil)
		r.args = append(r.args, tensor.NewProxy(t, p))
	}
	return r
}

// body runs the code of a region; false when a mistake was made. Outside of the
// region, storages have the values that they had.
func (t *trace) body(inner *region, f func([]*tensor.Tensor) []*tensor.Tensor) bool {
	inner.from = array.Now()
	t.spans = append(t.spans, &inner.span)
	outer, cur := t.region, t.cur
	t.region, t.cur = inner, inner.in
	unseen := tensor.InRegion()
	defer func() {
		unseen()
		t.region, t.cur = outer, cur
		inner.to = array.Now() + 1
	}()
	resume := t.free()
	func() {
		defer resume()
		inner.results = f(inner.args)
	}()
	if t.region != inner {
		// Another goroutine has begun or ended a region meanwhile: calls of both lie in
		// either.
		t.use.overlap(diag.Here())
		t.use.answer(diag.Related{Msg: "while the function of a region ran"})
		return false
	}
	inner.nodes = make([]*graph.Node, len(inner.results))
	ok := true
	for i, x := range inner.results {
		if x == nil {
			t.mismatch("region", "result "+strconv.Itoa(i)+" of the function is nil")
			ok = false
		} else if inner.nodes[i] = t.node(x, "region"); inner.nodes[i] == nil {
			ok = false
		}
	}
	for _, s := range inner.wrote {
		c := inner.changed[s]
		c.after, c.pos = t.baseIn(s, inner), s.Written
		s.Value = c.old
		s.Version++
		ok = ok && c.after != nil && c.before != nil
	}
	return ok
}

// writes returns the storages that the regions change, in the order of the first writes.
func writes(rs ...*region) []*alias.Storage[*graph.Node] {
	var all []*alias.Storage[*graph.Node]
	for i, r := range rs {
		for _, s := range r.wrote {
			if i == 0 || rs[0].changed[s] == nil {
				all = append(all, s)
			}
		}
	}
	return all
}

// settle makes ordinary captures of the placeholders for storages that the node
// does not carry.
func (r *region) settle(t *trace, carried []*alias.Storage[*graph.Node]) {
	keep := map[*alias.Storage[*graph.Node]]bool{}
	for _, s := range carried {
		keep[s] = true
	}
	for _, s := range r.read {
		if keep[s] {
			continue
		}
		var src *graph.Node
		t.around(r, func() { src = t.baseIn(s, t.region) })
		p := r.bases[s]
		if other := r.inner[src]; other != nil && other != p {
			p.ReplaceUses(other, nil)
			for i, n := range r.nodes {
				if n == p {
					r.nodes[i] = other
				}
			}
			_ = r.g.Erase(p) // nothing uses it any more
			continue
		}
		r.inner[src] = p
		r.captured = append(r.captured, src)
	}
}

// close ends the regions: every one has placeholders for all captured values, in
// one order, and an output. It returns the captured values.
func (t *trace) close(rs []*region) []*graph.Node {
	var all []*graph.Node
	seen := map[*graph.Node]bool{}
	for _, r := range rs {
		for _, n := range r.captured {
			if !seen[n] {
				seen[n] = true
				all = append(all, n)
			}
		}
	}
	for _, inner := range rs {
		s := &graph.Structure{Kind: graph.Results}
		for i := range inner.nodes {
			s.Fields = append(s.Fields, graph.Leaf(i))
		}
		inner.in.Output(s, inner.nodes...)
		first := inner.g.First()
		for first.Opcode() == graph.Placeholder {
			first = first.Next()
		}
		for _, n := range all {
			p := inner.inner[n]
			if p == nil {
				p = inner.g.Before(first).Placeholder(n.Name(), n.Type(), nil)
			}
			inner.g.MoveBefore(p, first)
		}
	}
	return all
}

// regionNode adds the node with the regions; a tensor of it is made by member.
func (t *trace) regionNode(o *op.Op, attrs any, rs []*region, args []*graph.Node) *graph.Node {
	args = append(args, t.close(rs)...)
	gs := make([]*graph.Graph, len(rs))
	for i, r := range rs {
		gs[i] = r.g
	}
	t.cur.SetPos(t.pos)
	n := t.cur.Region(o, attrs, gs, args...)
	t.recorded(n, &tensor.Call{Op: o, Attrs: attrs})
	return n
}

func (t *trace) member(n *graph.Node, i int) *tensor.Tensor {
	return tensor.NewProxy(t, &item{tuple: n, index: i})
}

// update gives storages that regions changed the values that the node returns.
func (t *trace) update(n *graph.Node, first int, changed []*alias.Storage[*graph.Node], pos func(s *alias.Storage[*graph.Node]) diag.Pos) {
	for k, s := range changed {
		memoryOf(s).pos = t.pos
		s.Set(t, t.Item(n, first+k), pos(s))
	}
}

// operands returns the nodes of tensors, nil when one is unusable.
func (t *trace) operands(what string, in []*tensor.Tensor) []*graph.Node {
	out := make([]*graph.Node, len(in))
	for i, x := range in {
		if x == nil {
			t.mismatch(what, "operand "+strconv.Itoa(i)+" is nil")
			return nil
		}
		if out[i] = t.node(x, what); out[i] == nil {
			return nil
		}
	}
	return out
}

func (t *trace) mismatch(what, msg string) {
	t.report(&diag.Error{Code: RegionMismatch, Op: what, Msg: msg})
}

func (t *trace) poisoned(n int) []*tensor.Tensor {
	out := make([]*tensor.Tensor, n)
	for i := range out {
		out[i] = tensor.NewProxy(t, (*graph.Node)(nil))
	}
	return out
}

// mayBe records that a result of a node with regions may be memory that x shows,
// if x comes from outside of the regions.
func (t *trace) mayBe(out, x *tensor.Tensor, inside *graph.Graph) {
	b := t.ref(x)
	if b == nil || memoryOf(b.Storage).home == inside {
		return
	}
	if r := t.ref(out); r != nil {
		alias.Maybe(r.Storage, b.Storage)
	}
}

// panicPos returns the innermost user frame of a panic that is being recovered.
func panicPos() diag.Pos {
	for pos := range panicFrames() {
		return pos
	}
	return diag.Pos{}
}

// panicFrames are the lines of the model's code that a deferred function is run for, the
// innermost one first.
func panicFrames() iter.Seq[diag.Pos] {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	return func(yield func(diag.Pos) bool) {
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			if diag.UserCode(f.Function, f.File) && !yield(diag.Pos{File: f.File, Line: f.Line, Func: f.Function}) {
				return
			}
		}
	}
}
