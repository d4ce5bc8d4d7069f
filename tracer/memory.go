package tracer

import (
	"math"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// memory is what a trace knows about a storage: the Of of alias.Storage. For the
// storage of an eager tensor it is also the tensor.Holder that the storage has.
type memory struct {
	t    *trace
	home *graph.Graph // in which the storage was made
	item *item        // whose value the storage has, until it is used

	input bool // a graph's input: the caller's memory

	// Of an eager tensor:
	root     *tensor.Tensor
	param    *graph.Param // read by path
	owner    bool         // part of the model's state
	local    bool         // made while tracing
	dirty    atomic.Bool  // a write was recorded; others ask, see Dirty
	snapshot *array.Array // what the memory held when it was captured, where others can write to it
	lifted   map[*graph.Graph]*graph.Node
	pos      graph.PosID                 // of the last write
	given    diag.Pos                    // where the model\'s code took the memory
	free     func()                      // gives up a tensor.Claim
	first    *alias.Storage[*graph.Node] // with the values from before all recorded writes
	copied   bool                        // the memory of such a first
}

// Engine implements tensor.Holder.
func (m *memory) Engine() tensor.Engine { return m.t }

// Dirty implements tensor.Holder.
func (m *memory) Dirty() bool { return m.dirty.Load() }

// Local implements tensor.Holder.
func (m *memory) Local() bool { return m.local }

// Observed implements tensor.Holder: a value of the model that its code reads is
// fixed in the graph, and memory that is handed out may change.
func (m *memory) Observed(_ *tensor.Tensor, what string) {
	if m.owner {
		said := "the values of " + m.param.Path + " (" + what + ")"
		if !m.t.notes[said] {
			m.t.notes[said] = true
			m.t.mod.Graph.NoteSpecialisation(graph.Specialisation{What: said, Pos: diag.Here()})
		}
	}
	m.given = diag.Here()
	if what != "Data" && what != "Array" {
		return
	}
	if m.snapshot != nil {
		return
	}
	m.snapshot = array.Clone(m.array())
	if m.param != nil && !m.owner && m.param.Value == m.array() {
		m.param.Value = m.snapshot // what was captured stays as it was
	}
}

func (m *memory) array() *array.Array { return m.root.Value().(*array.Array) }

// changed reports whether somebody who had the memory wrote to it.
func (m *memory) changed() bool { return m.snapshot != nil && !array.Equal(m.snapshot, m.array()) }

// memoryOf returns what is known of a storage.
func memoryOf(s *alias.Storage[*graph.Node]) *memory { return s.Of.(*memory) }

// ref returns the place of a tensor; nil when it is unusable, which has been
// reported. Traced values get one only when they are viewed or written.
func (t *trace) ref(value *tensor.Tensor) *alias.Ref[*graph.Node] {
	var node *graph.Node
	switch v := value.Value().(type) {
	case *alias.Ref[*graph.Node]:
		return v
	case *array.Array:
		return t.eagerRef(value)
	case *item:
		r := alias.Whole(&alias.Storage[*graph.Node]{Value: v.node, Loose: loose(v.tuple), Of: &memory{t: t, home: v.tuple.Graph(), item: v}})
		value.SetValue(r)
		return r
	case *graph.Node:
		node = v
	}
	if node == nil {
		return nil
	}
	r := alias.Whole(&alias.Storage[*graph.Node]{Value: node, Loose: loose(node), Of: &memory{t: t, home: node.Graph(), input: node.Opcode() == graph.Placeholder && node.Graph() == t.mod.Graph}})
	value.SetValue(r)
	return r
}

// value returns what a storage holds, in the graph where that was computed.
func (t *trace) value(s *alias.Storage[*graph.Node]) *graph.Node {
	if m := memoryOf(s); s.Value == nil && m.item != nil {
		s.Value = t.itemOf(m.item)
	}
	return s.Value
}

// loose reports whether a fresh result may be laid out other than in row-major
// order: only what one kernel writes is known not to.
func loose(n *graph.Node) bool {
	o := n.Op()
	switch {
	case n.Opcode() == graph.Placeholder:
		return false // inputs are taken to be in row-major order
	case o == op.GetItem && n.NumArgs() == 1:
		return loose(n.Arg(0))
	case o == nil || o.AdHoc || len(n.Regions()) > 0:
		return true
	}
	return o.Composite() && o.Class != op.Elementwise
}

// eagerRef returns the place of an eager tensor.
func (t *trace) eagerRef(x *tensor.Tensor) *alias.Ref[*graph.Node] {
	if r := t.refs[x.ID()]; r != nil {
		return r
	}
	r := t.place(x, t.storage)
	t.refs[x.ID()] = r
	return r
}

// operandOf returns the place that a recipe's operand had when the recipe's call
// was made: before any recorded write. result is the call's.
func (t *trace) operandOf(result *memory, a *tensor.Tensor) *alias.Ref[*graph.Node] {
	return t.place(a, func(x *tensor.Tensor) *alias.Storage[*graph.Node] {
		s := t.storage(x)
		m := memoryOf(s)
		if r := t.madeIn(result); r != nil && r.loopsTo(m.home) {
			return t.atStart(r, s)
		}
		if m.dirty.Load() || t.inLoop() {
			return m.before(s)
		}
		return s
	})
}

// madeIn returns the innermost region whose code made the storage, nil for none.
func (t *trace) madeIn(m *memory) *region {
	for r := t.region; r != nil && m.local; r = r.outer {
		if m.array().Storage().Born() > r.from {
			return r
		}
	}
	return nil
}

// loopsTo reports whether the region is, or lies in, a loop inside the graph g.
func (r *region) loopsTo(g *graph.Graph) bool {
	for ; r != nil && r.g != g; r = r.outer {
		if r.loop {
			return true
		}
	}
	return false
}

// atStart returns a storage with the value that s has when the code of the region
// begins, which in a loop is another one in each iteration.
func (t *trace) atStart(r *region, s *alias.Storage[*graph.Node]) *alias.Storage[*graph.Node] {
	if e := r.entries[s]; e != nil {
		return e
	}
	m := memoryOf(s)
	if !m.dirty.Load() {
		t.at(m.home, func() { s.Value = t.initial(m) })
	}
	e := &alias.Storage[*graph.Node]{Header: s.Header, Value: t.placeholder(s, r), Of: &memory{t: t, home: r.g}}
	r.entries[s] = e
	return e
}

// place follows an eager tensor's views back to a storage.
func (t *trace) place(x *tensor.Tensor, storage func(*tensor.Tensor) *alias.Storage[*graph.Node]) *alias.Ref[*graph.Node] {
	origin := x.Origin()
	if origin == nil || t.params[x.ID()] != nil {
		return alias.Whole(storage(x))
	}
	base := t.place(origin.Base, storage)
	k := viewKey{origin.Call, base.Storage}
	pieces := t.eagerViews[k]
	if pieces == nil {
		args := make([]*graph.Node, len(origin.Call.Args))
		for i, a := range origin.Call.Args {
			if a != nil && i != origin.Call.Op.ViewOf-1 {
				args[i] = t.node(a, origin.Call.Op.Name)
			}
		}
		count, _ := origin.Call.Op.NumResults(origin.Call.Attrs)
		pieces = base.Views(origin.Call.Op, origin.Call.Attrs, args, nil, count)
		t.eagerViews[k] = pieces
	}
	return pieces[origin.Item]
}

type viewKey struct {
	call *tensor.Call
	base *alias.Storage[*graph.Node]
}

// before returns a storage that keeps the value from before all recorded writes.
func (m *memory) before(s *alias.Storage[*graph.Node]) *alias.Storage[*graph.Node] {
	if m.first == nil {
		m.first = &alias.Storage[*graph.Node]{Header: s.Header, Of: &memory{t: m.t, home: m.home, item: m.item, input: m.input,
			root: m.root, param: m.param, owner: m.owner, local: m.local, snapshot: m.snapshot, pos: m.pos, given: m.given,
			copied: true, lifted: map[*graph.Graph]*graph.Node{}}}
	}
	return m.first
}

// isTraced reports whether a tensor is a value of this trace: a proxy, or an eager
// one whose memory it has written. What other traces make of it is theirs.
func (t *trace) isTraced(x *tensor.Tensor) bool {
	a, eager := x.Value().(*array.Array)
	if !eager {
		return true
	}
	return slices.ContainsFunc(t.storages[a.Storage()], func(s *alias.Storage[*graph.Node]) bool { return memoryOf(s).dirty.Load() })
}

// storage returns the storage of an eager tensor that is no view of another one:
// it enters the trace here.
func (t *trace) storage(x *tensor.Tensor) *alias.Storage[*graph.Node] {
	a := x.Value().(*array.Array)
	st := a.Storage()
	param := t.params[x.ID()]
	for _, s := range t.storages[st] {
		if m := memoryOf(s); m.root.ID() == x.ID() || sameLayout(s.Header, a) && (param == nil || param == m.param) {
			return s
		}
	}
	m := &memory{t: t, root: x, param: param, owner: param != nil, local: param == nil && st.Born() > t.start, lifted: map[*graph.Graph]*graph.Node{}}
	m.home = t.homeOf(m)
	if st.Exposed() > 0 && param == nil {
		m.snapshot = array.Clone(a)
	}
	s := &alias.Storage[*graph.Node]{Header: a, Of: m}
	t.link(s, st, m)
	t.storages[st] = append(t.storages[st], s)
	t.held = append(t.held, m)
	st.Hold(m)
	if param == nil {
		t.unseen(m)
	} else {
		t.owners = append(t.owners, owner{s, st.Version()})
	}
	return s
}

// link finds the storages that may be the same memory.
func (t *trace) link(s *alias.Storage[*graph.Node], st *array.Storage, m *memory) {
	maybe := func(o *alias.Storage[*graph.Node]) {
		if alias.Maybe(s, o); memoryOf(o).dirty.Load() {
			s.Lose(o.Written)
		}
	}
	for _, o := range t.storages[st] {
		maybe(o)
	}
	if m.owner { // those lie beside each other in files that are read whole
		return
	}
	for other, list := range t.storages {
		if other != st && other.Overlaps(st) {
			for _, o := range list {
				maybe(o)
			}
		}
	}
}

// unseen reports a tensor that was written while tracing by calls that no traced
// value took part in, where the graph has no way to do the same.
func (t *trace) unseen(m *memory) {
	st := m.array().Storage()
	bad := !m.local && st.Version() > t.start
	for _, s := range t.spans {
		to := s.to
		if to == 0 {
			to = math.MaxUint64 // it is being recorded
		}
		bad = bad || st.Born() <= s.from && st.WrittenInRegion(s.from, to)
	}
	if bad {
		t.report(&diag.Error{Code: UnseenWrite, Msg: "the model wrote to the tensor while it was traced, by a computation that no traced value takes part in",
			Hint: "write tensor.On(x, t) for the tensor t, where x is an input, so that the trace sees the write"})
	}
}

// homeOf returns the graph in which an eager tensor is made each time it runs.
func (t *trace) homeOf(m *memory) *graph.Graph {
	if r := t.madeIn(m); r != nil {
		return r.g
	}
	return t.mod.Graph
}

func sameLayout(a, b *array.Array) bool {
	if a.DType() != b.DType() || a.Offset() != b.Offset() || a.Rank() != b.Rank() {
		return false
	}
	for i := range a.Rank() {
		if a.Dim(i) != b.Dim(i) || a.Strides()[i] != b.Strides()[i] {
			return false
		}
	}
	return true
}

// initial returns, in the current graph, what an eager storage holds before any
// recorded write: a parameter by its path, else what a recipe computes, else a
// constant.
func (t *trace) initial(m *memory) *graph.Node {
	g := t.cur.Graph()
	if n := m.lifted[g]; n != nil && !n.Erased() {
		return n
	}
	var n *graph.Node
	switch c, index, group, ok := m.root.Recipe(); {
	case m.param != nil:
		n = t.cur.GetAttr(m.param.Path)
	case ok && (len(c.Args) > 0 || c.Op.Class != op.Opaque):
		n = t.replay(m, c, index, group)
	default:
		n = t.constant(m)
	}
	m.lifted[g] = n
	return n
}

// replay records the call that made a tensor, once for all of its results.
func (t *trace) replay(m *memory, c *tensor.Call, index int, group any) *graph.Node {
	k := liftKey{t.cur.Graph(), group}
	call := t.recipes[k]
	if call == nil {
		args := make([]*graph.Node, len(c.Args))
		for i, a := range c.Args {
			if a != nil {
				if args[i] = t.operandOf(m, a).Read(t); args[i] == nil {
					return nil
				}
			}
		}
		call = t.cur.Function(c.Op, c.Attrs, args...)
		t.recipes[k] = call
		t.recorded(call, c)
	}
	if _, tuple := c.Op.NumResults(c.Attrs); tuple {
		return t.Item(call, index)
	}
	return call
}

// constant makes a tensor of the module out of an eager one.
func (t *trace) constant(m *memory) *graph.Node {
	if m.local && m.root.Baked() {
		t.report(&diag.Error{Code: UnseenWrite, Op: t.what, Msg: "the tensor was computed from the model's state together with other values, which the trace has not seen; its value would stay when the state changes",
			Hint: "write tensor.On(x, m.Weight) for the parameter or buffer, where x is an input, so that the trace sees the computation"})
		return nil
	}
	path := t.mod.FreshPath(constantPath + strconv.Itoa(t.consts))
	t.consts++
	value := m.array()
	if m.snapshot != nil {
		value = m.snapshot
	}
	t.mod.SetParam(graph.Param{Path: path, Value: value, Buffer: true})
	m.param = t.mod.Param(path)
	return t.cur.GetAttr(path)
}

// unseenWrites reports writes to the model's tensors that were done at once
// instead of being recorded.
func (t *trace) unseenWrites() {
	for _, m := range t.held {
		if !m.dirty.Load() || m.local || m.given.File == "" && m.root.LastRead() <= t.start &&
			(m.owner || m.array().Storage().Exposed() <= t.start) {
			continue
		}
		at := m.given
		if at.File == "" {
			at = t.storageOf(m).Written
		}
		t.report((&diag.Error{Code: UnseenWrite, Msg: "the model writes to a tensor whose value lasts from call to call, and uses the value of its first call in a way that the trace does not see",
			Hint: "compute with tensor.On(x, t) for the tensor t, where x is an input, and leave its data alone"}).At(at))
	}
	for _, o := range t.owners {
		m := memoryOf(o.s)
		if st := m.array().Storage(); st.Version() != o.version || m.changed() {
			t.report((&diag.Error{Code: UnseenWrite, Msg: "the model wrote to its tensor " + m.param.Path + " while it was traced, by a computation that no traced value takes part in",
				Hint: "write tensor.On(x, m.Buffer) for the buffer, where x is an input, so that the trace sees it"}).At(m.root.LastWrite()))
		}
	}
}

// letGo ends the trace's interest in eager tensors. What was written and made
// while tracing stays with it: no other value exists.
func (t *trace) letGo() {
	for _, m := range t.held {
		if !m.dirty.Load() || !m.local {
			m.array().Storage().Release(m)
		}
		if m.free != nil {
			m.free()
		}
	}
}
