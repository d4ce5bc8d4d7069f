package tracer

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
	"github.com/gofx-dev/gofx/tracer/record"
)

// sources is what a trace tells its recorder of eager tensors: which are state, what
// becomes a constant, and which writes a graph cannot do as the model did.
type sources struct {
	t      *trace
	params map[any]*graph.Param // by tensor.ID
	consts int
	owners []owner                 // of the state
	once   bool                    // values are computed as they are recorded: no run comes after
	wrote  map[*memory]graph.PosID // where eager tensors were written last
	unseen unseen
}

func memoryOf(s *alias.Storage[*graph.Node]) *memory { return s.Of.(*memory) }

// Report implements record.Source.
func (s *sources) Report(err error) { s.t.report(err) }

// Slot implements record.Source: the parameters and buffers of the module.
func (s *sources) Slot(x *tensor.Tensor) record.Slot {
	if p := s.params[x.ID()]; p != nil {
		return (*slot)(p)
	}
	return nil
}

// Load implements record.Source.
func (s *sources) Load(at record.Slot) *graph.Node { return s.t.prog.cur.GetAttr(at.Name()) }

// Reload implements record.Source: what was computed, or read as a constant, is read
// as state from now on.
func (s *sources) Reload(g *graph.Graph, n *graph.Node, at record.Slot) *graph.Node {
	if n.Opcode() == graph.GetAttr {
		return n
	}
	read := g.Before(n).GetAttr(at.Name())
	n.ReplaceUses(read, nil)
	return read
}

// Constant implements record.Source: the tensor becomes one of the module's.
func (s *sources) Constant(m *memory) record.Slot {
	if !s.once && m.Local() && m.Root().Baked() {
		s.t.report(&diag.Error{Code: UnseenWrite, Op: s.t.rec.What(), Msg: "the tensor was computed from the model's state together with other values, which the trace has not seen; its value would stay when the state changes",
			Hint: "write tensor.On(x, m.Weight) for the parameter or buffer, where x is an input, so that the trace sees the computation"})
		return nil
	}
	mod := s.t.prog.mod
	path := mod.FreshPath(constantPath + strconv.Itoa(s.consts))
	s.consts++
	mod.SetParam(graph.Param{Path: path, Value: m.Captured(), Buffer: true})
	if !m.Local() {
		s.t.reads(path, m.Root())
	}
	return (*slot)(mod.Param(path))
}

// owner is a tensor of the model's state, and the version and sum that it had when it entered.
type owner struct {
	m       *memory
	version uint64
	sum     uint64
}

// Entered implements record.Source: it reports a tensor that was written while tracing
// by calls that no traced value took part in, where the graph has no way to do the same.
func (s *sources) Entered(m *memory) {
	if m.Owner() {
		s.owners = append(s.owners, owner{m, m.Array().Storage().Version(), m.Sum()})
		return
	}
	if !s.once && s.t.rec.Eager.Unseen(m) {
		s.unseen.said(m.Array().Storage())
		s.t.report(unseenWrite())
	}
}

// Observed implements record.Source: a value of the model that its code reads is fixed
// in the graph.
func (s *sources) Observed(m *memory, what string) {
	if s.t.p.OnRead != nil && !m.Local() && what != "String" {
		s.t.p.OnRead(what)
	}
	if !m.Owner() {
		return
	}
	said := "the values of " + m.Slot().Name() + " (" + what + ")"
	if !s.t.notes[said] {
		s.t.notes[said] = true
		s.t.prog.mod.Graph.NoteSpecialisation(graph.Specialisation{What: said, Pos: diag.Here()})
	}
}

// MayWrite implements record.Source. Memory of an input, or what may be memory of an
// input or of state, is not written: whether the caller, or the next call, would see it
// is not known.
func (s *sources) MayWrite(storage *alias.Storage[*graph.Node], what string, pos diag.Pos) bool {
	m := memoryOf(storage)
	input, state := m.Input(), ""
	storage.Others(func(o *alias.Storage[*graph.Node]) {
		other := memoryOf(o)
		input = input || other.Input()
		if other.Root() != nil && !other.Local() {
			state = "a tensor that lasts from call to call"
			if other.Owner() {
				state = "the model's tensor " + other.Slot().Name()
			}
		}
	})
	switch {
	case input:
		s.t.report((&diag.Error{Code: InputWrite, Op: what, Msg: "the in-place call writes to memory of an input, which the caller would see",
			Hint: "use the ordinary method and its result, or Clone the input first"}).At(pos))
	case state != "":
		s.t.report((&diag.Error{Code: alias.NoInverse, Op: what, Msg: "the in-place call may write to memory of " + state + "; whether it does is not known while tracing",
			Hint: "Clone the tensor first, or let one field hold the tensor and take views of it in Forward"}).At(pos))
	case m.Root() != nil && m.Local() && !m.Dirty() && m.Array().Storage().Sliced():
		s.t.report((&diag.Error{Code: UnseenWrite, Op: what, Msg: "the in-place call writes to memory of which Go code has a slice (Data), and sees no traced write there",
			Hint: "write to a Clone of the tensor, or use the ordinary method and its result"}).At(pos))
	case m.Root() != nil && !m.Dirty() && array.Repeats(storage.Header):
		s.t.report((&diag.Error{Code: alias.NoInverse, Op: what, Msg: "the tensor shows one element of its memory several times", Hint: "write to a Clone of it"}).At(pos))
	default:
		return true
	}
	return false
}

// Wrote implements record.Source.
func (s *sources) Wrote(m *memory) {
	if m.Root() == nil {
		return
	}
	if s.wrote == nil {
		s.wrote = map[*memory]graph.PosID{}
	}
	s.wrote[m] = s.t.prog.pos
}

// Lost implements record.Source.
func (s *sources) Lost(what string, written diag.Pos) {
	e := &diag.Error{Code: alias.Stale, Op: what, Msg: "the tensor may share memory with one that was written in place; whether it does is not known while tracing",
		Hint: "Clone one of the two before the in-place call, or replace that by an ordinary one"}
	if written.File != "" { // by a call that was recorded
		e.Related = []diag.Related{{Pos: written, Msg: "written here"}}
	}
	s.t.report(e)
}

// Changed implements record.Source.
func (s *sources) Changed(what string, _ *memory) {
	s.t.report(&diag.Error{Code: alias.Stale, Op: what, Msg: "Go code changed the memory of the tensor after an in-place call was recorded, or inside a region",
		Hint: "change the data before the tensor takes part in traced calls"})
}

// storeState records what the run leaves in the model's state, after everything
// that reads it. Results that lie in memory of the state as it was become copies.
func (s *sources) storeState(results []*graph.Node) {
	top := s.t.prog.mod.Graph
	var all []update
	for _, m := range s.t.rec.Eager.Held() {
		if !m.Dirty() || m.Local() {
			continue
		}
		now, read := s.t.rec.Eager.StorageOf(m).Value, m.Lifted(top)
		if now == nil || now == read {
			continue
		}
		param := paramOf(m.Slot())
		param.Buffer = true
		for n := range top.All() {
			if n.Opcode() == graph.GetAttr && n.Target() == param.Path {
				n.SetLive(true)
			}
		}
		all = append(all, update{read, now, s.wrote[m]})
	}
	for i, n := range results {
		results[i] = s.apart(n, nil, all)
	}
	for i := range all {
		s.t.prog.cur.SetPos(all[i].pos)
		all[i].now = s.apart(all[i].now, all[i].read, all)
	}
	for _, u := range all {
		s.t.prog.cur.SetPos(u.pos)
		s.t.prog.cur.Function(op.Assign, nil, u.read, u.now)
	}
}

// update is what the run leaves in a tensor of the state.
type update struct {
	read, now *graph.Node
	pos       graph.PosID
}

// apart returns a value that updates do not write, except the one of the state that it is for: a copy
// where it lies in memory of another one. An assignment gave it to a tensor.
func (s *sources) apart(n, to *graph.Node, all []update) *graph.Node {
	at := n.Place()
	if at.Path == "" || to != nil && at == to.Place() || !slices.ContainsFunc(all, func(u update) bool { return at == u.read.Place() }) {
		return n
	}
	return s.t.prog.cur.Function(op.Lookup("clone"), nil, n)
}
