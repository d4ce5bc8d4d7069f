package tracer

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// Assign implements tensor.Engine: the write becomes a new value of the storage
// that dst is a place of, which its other views read from then on. What is
// written to the model's state is stored when the graph ends.
func (t *trace) Assign(dst, src *tensor.Tensor, what string) {
	if !t.enter() {
		return
	}
	defer t.leave()
	v := t.node(src, what)
	if v == nil {
		return
	}
	r := t.ref(dst)
	if r == nil {
		return
	}
	t.write(r, v, what, diag.Here())
}

// write makes v the value of a place, by a call at pos.
func (t *trace) write(r *alias.Ref[*graph.Node], v *graph.Node, what string, pos diag.Pos) {
	s, m := r.Storage, memoryOf(r.Storage)
	if t.what = what; !t.Check(s) {
		return
	}
	if t.outlives(s, m, what, pos) {
		return
	}
	if m.root != nil && !t.writable(s, m, what, pos) {
		return
	}
	m.pos = t.pos
	if err := r.Write(t, v, pos); err != nil {
		e := err.(*diag.Error)
		e.Op = what
		t.report(e.At(pos))
	}
}

// outlives reports a write to memory of an input, or to what may be memory of an
// input or of state: whether the caller, or the next call, would see it is not known.
func (t *trace) outlives(s *alias.Storage[*graph.Node], m *memory, what string, pos diag.Pos) bool {
	input, state := m.input, ""
	s.Others(func(o *alias.Storage[*graph.Node]) {
		other := memoryOf(o)
		input = input || other.input
		if other.root != nil && !other.local {
			state = "a tensor that lasts from call to call"
			if other.owner {
				state = "the model's tensor " + other.param.Path
			}
		}
	})
	switch {
	case input:
		t.report((&diag.Error{Code: InputWrite, Op: what, Msg: "the in-place call writes to memory of an input, which the caller would see",
			Hint: "use the ordinary method and its result, or Clone the input first"}).At(pos))
	case state != "":
		t.report((&diag.Error{Code: alias.NoInverse, Op: what, Msg: "the in-place call may write to memory of " + state + "; whether it does is not known while tracing",
			Hint: "Clone the tensor first, or let one field hold the tensor and take views of it in Forward"}).At(pos))
	default:
		return false
	}
	return true
}

// writable makes an eager storage one that the trace can write.
func (t *trace) writable(s *alias.Storage[*graph.Node], m *memory, what string, pos diag.Pos) bool {
	if m.dirty.Load() {
		return true
	}
	if array.Repeats(s.Header) {
		t.report((&diag.Error{Code: alias.NoInverse, Op: what, Msg: "the tensor shows one element of its memory several times", Hint: "write to a Clone of it"}).At(pos))
		return false
	}
	return t.own(s, m)
}

// own turns an eager storage into a traced one. A tensor that was there before
// the trace keeps what is written to it from run to run, as it does eagerly.
func (t *trace) own(storage *alias.Storage[*graph.Node], mem *memory) bool {
	t.at(mem.home, func() {
		storage.Value = t.initial(mem)
		if storage.Value == nil || mem.owner {
			return
		}
		if mem.local {
			if mem.param != nil && mem.param.Value == mem.array() {
				mem.param.Value = array.Clone(mem.array()) // the storage is the trace's from now on
			}
			return
		}
		if mem.param == nil {
			t.constant(mem)
		}
		for g, n := range mem.lifted {
			if n.Opcode() != graph.GetAttr {
				read := g.Before(n).GetAttr(mem.param.Path)
				n.ReplaceUses(read, nil)
				mem.lifted[g] = read
			}
		}
		storage.Value = mem.lifted[mem.home]
	})
	mem.dirty.Store(storage.Value != nil)
	if st := mem.array().Storage(); mem.dirty.Load() && st.Wrapped() {
		mem.free = tensor.Claim(st, mem)
	}
	return mem.dirty.Load()
}

// at records in the graph g, the current one or one around it.
func (t *trace) at(g *graph.Graph, f func()) {
	inner, cur := t.region, t.cur
	for t.region != nil && t.cur.Graph() != g {
		t.region, t.cur = t.region.outer, t.region.cur
	}
	t.cur.SetPos(t.pos)
	f()
	t.region, t.cur = inner, cur
}

// isLost reports a use of memory whose value is not known.
func (t *trace) isLost(s *alias.Storage[*graph.Node], what string) bool {
	pos := s.Lost()
	if pos == nil {
		return false
	}
	t.report(&diag.Error{Code: alias.Stale, Op: what, Msg: "the tensor may share memory with one that was written in place; whether it does is not known while tracing",
		Hint: "Clone one of the two before the in-place call, or replace that by an ordinary one", Related: []diag.Related{{Pos: *pos, Msg: "written here"}}})
	return true
}

// storeState records what the run leaves in the model's state, behind everything
// that reads it.
func (t *trace) storeState() {
	for _, mem := range t.held {
		if !mem.dirty.Load() || mem.local {
			continue
		}
		s := t.storageOf(mem)
		read := mem.lifted[t.mod.Graph]
		if s.Value == nil || s.Value == read {
			continue
		}
		mem.param.Buffer = true
		for n := range t.mod.Graph.All() {
			if n.Opcode() == graph.GetAttr && n.Target() == mem.param.Path {
				n.SetLive(true)
			}
		}
		t.cur.SetPos(mem.pos)
		t.cur.Function(op.Assign, nil, read, s.Value)
	}
}

func (t *trace) storageOf(m *memory) *alias.Storage[*graph.Node] {
	for _, s := range t.storages[m.array().Storage()] {
		if s.Of == m {
			return s
		}
	}
	return nil
}

// Lift implements tensor.Lifter.
func (t *trace) Lift(x *tensor.Tensor) *tensor.Tensor {
	if !t.enter() {
		return t.poisoned(1)[0]
	}
	defer t.leave()
	r := t.eagerRef(x)
	r.Read(t)
	return tensor.NewProxy(t, r)
}

// Check implements alias.Recorder. Memory that others can write to is compared at
// every use with what was captured of it.
func (t *trace) Check(s *alias.Storage[*graph.Node]) bool {
	m := memoryOf(s)
	switch {
	case t.isLost(s, t.what):
		return false
	case m.root == nil || m.owner || !m.changed():
		return true
	case m.dirty.Load(), t.region != nil:
		t.report(&diag.Error{Code: alias.Stale, Op: t.what, Msg: "Go code changed the memory of the tensor after an in-place call was recorded, or inside a region",
			Hint: "change the data before the tensor takes part in traced calls"})
		return false
	}
	m.renew(s)
	return true
}

// renew captures memory again that others have written to.
func (m *memory) renew(s *alias.Storage[*graph.Node]) {
	m.snapshot, m.param = array.Clone(m.array()), nil
	clear(m.lifted)
	s.Version++
}

// renewAll captures again what was changed before a region begins: its code runs
// any number of times, so that what changes in it has no one value.
func (t *trace) renewAll() {
	for _, m := range t.held {
		if !m.owner && !m.dirty.Load() && m.changed() {
			m.renew(t.storageOf(m))
		}
	}
}

// Base implements alias.Recorder.
func (t *trace) Base(s *alias.Storage[*graph.Node]) *graph.Node {
	m := memoryOf(s)
	if m.root != nil && !m.dirty.Load() {
		if m.byPath() || !t.region.loopsTo(m.home) {
			return t.initial(m)
		}
		t.at(m.home, func() { s.Value = t.initial(m) })
		if s.Value == nil {
			return nil
		}
	}
	return t.baseIn(s, t.region)
}

// byPath reports whether regions read the memory by themselves: parameters and
// what recipes compute with. Other memory comes into loops through placeholders,
// because the body may write to it yet.
func (m *memory) byPath() bool { return m.copied || m.owner && !m.param.Buffer }

// Make implements alias.Recorder.
func (t *trace) Make(o *op.Op, attrs any, args []*graph.Node) *graph.Node {
	n := t.cur.Function(o, attrs, args...)
	t.count(n)
	return n
}

// Builder implements alias.Recorder.
func (t *trace) Builder() op.Builder { return t.cur }

// Item implements alias.Recorder.
func (t *trace) Item(tuple *graph.Node, i int) *graph.Node {
	for u := range tuple.Users() {
		if u.Op() == op.GetItem && u.Attrs().(op.GetItemAttrs).Index == i && u.Graph() == tuple.Graph() {
			return u
		}
	}
	return t.itemNode(tuple, i)
}

// In implements alias.Recorder.
func (t *trace) In(n *graph.Node) *graph.Node { return t.inRegion(n) }

// Reach implements alias.Recorder. A view made outside of a loop is made again
// in it: what it shows may change from one iteration to the next.
func (t *trace) Reach(n *graph.Node) *graph.Node {
	if n.Graph() == t.cur.Graph() {
		return n
	}
	if n.Type().Kind() == shape.Tuple {
		return nil
	}
	if _, tuple := n.Op().NumResults(n.Attrs()); tuple {
		return nil
	}
	for r := t.region; r != nil && !r.loop; r = r.outer {
		if r.cur.Graph() == n.Graph() {
			return t.inRegion(n)
		}
	}
	return nil
}

// views makes the results of a view call places of the operand's storage, as far
// as it is one.
func (t *trace) views(node *graph.Node, call *tensor.Call, args []*graph.Node) []*tensor.Tensor {
	k := call.Op.ViewOf - 1
	if k < 0 || k >= len(call.Args) || call.Args[k] == nil {
		return nil
	}
	base := t.ref(call.Args[k])
	if base == nil {
		return nil
	}
	count, tuple := call.Op.NumResults(call.Attrs)
	if tuple && node.Type().Kind() != shape.Tuple {
		count = plausible(count)
	}
	out := make([]*tensor.Tensor, count)
	switch base.KindOf(call.Op, call.Attrs, typesOf(args), node.Type()) {
	case alias.Fresh:
		return nil
	case alias.View:
		for i, r := range base.Views(call.Op, call.Attrs, args, node, count) {
			out[i] = tensor.NewProxy(t, r)
		}
	case alias.Open:
		for i, x := range t.results(node, call.Op, call.Attrs) {
			out[i] = x
			if r := t.ref(x); r != nil {
				alias.Maybe(r.Storage, base.Storage)
			}
		}
	}
	return out
}

func typesOf(args []*graph.Node) []shape.Type {
	types := make([]shape.Type, len(args))
	for i, a := range args {
		if a != nil {
			types[i] = a.Type()
		}
	}
	return types
}
