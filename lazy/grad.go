package lazy

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// history is what a session with Options.Gradients remembers of values that were computed.
type history struct {
	s      *Session
	on     bool           // Options.Gradients
	made   []*place       // since the last barrier: they keep their operands
	handed map[any]*place // values of tensors whose memory the program was given since then
	since  uint64         // the moment of the last barrier

	grads map[*place][]*place // to the gradients that were asked for together, before one of them is read
}

// room returns the place of a new call with so many operands, in one piece with what else it has.
func (h *history) room(operands int) *place {
	switch {
	case operands > 2:
		q := &struct {
			place
			rare
			list [4]*place
		}{}
		q.place.rare, q.rare.args = &q.rare, q.list[:0]
		return &q.place
	case h.on:
		q := &struct {
			place
			rare
		}{}
		q.place.rare = &q.rare
		return &q.place
	}
	return &place{}
}

// remember notes a new call, so that it keeps its operands until the next barrier.
func (h *history) remember(p *place) {
	if !h.on {
		return
	}
	p.past = true
	p.own().serial = h.s.stats.Calls
	for _, a := range p.args() {
		p.varies = p.varies || a != nil && (a.varies || a.slot() != nil)
	}
	if p.stops() {
		p.varies = false
	}
	h.made = append(h.made, p)
}

// entered notes a value that comes from outside, or was made by code that is no operator's.
func (h *history) entered(p *place, c cut, varies bool) *place {
	if h.on {
		p.own().serial, p.cut, p.varies = h.s.stats.Calls, c, varies && carriesGradient(p.typ)
		p.past = false
	}
	return p
}

// gave notes that the program has the memory of a value, as that of a tensor.
func (h *history) gave(x *tensor.Tensor, p *place) {
	if !h.on {
		return
	}
	if h.handed == nil {
		h.handed = map[any]*place{}
	}
	h.handed[x.ID()] = p
}

// given returns the value of an eager tensor whose memory the program was given, or the session
// has written: what was computed, where nobody has written since. It is nil for other tensors.
func (h *history) given(m *memory) *place {
	p, a := h.handed[m.Root().ID()], m.Captured()
	switch {
	case p != nil && array.Equal(p.data, a):
		return h.again(p, array.Clone(a))
	case p != nil:
		return h.entered(leaf(array.Clone(a)), handed, p.varies)
	case m.Root().IsParam(): // see loaded
		if h.writtenOutside(m.Array().Storage()) {
			return h.entered(leaf(array.Clone(a)), outside, true)
		}
	case h.on && m.Root().Baked():
		return h.entered(leaf(array.Clone(a)), baked, true)
	}
	return nil
}

// refuseOutside refuses to write a value that a gradient may go through to memory that the
// program has of a tensor that is no model's: the write is made at once, and nothing notes
// what eager calls on the tensor compute from it.
func (h *history) refuseOutside(st *array.Storage, what string) {
	for _, m := range h.s.rec.Eager.MemoryOf(st) {
		if v := h.s.rec.Eager.StorageOf(m).Value; h.on && m.Dirty() && !m.Root().IsParam() && !v.stops() {
			panic((&diag.Error{Code: Past, Op: what, Msg: "the program has the memory of the tensor, so that no gradient can go through what is written to it",
				Hint: "write to s.In of the tensor, take Data of a clone, or write Detach() of the value"}).At(diag.Here()))
		}
	}
}

// loaded is the value of a model's tensor when the session reads it.
func (h *history) loaded(k *slot) *place {
	st := k.array.Storage()
	switch p := h.handed[k.of]; {
	case p != nil && array.Equal(p.data, k.array):
		return h.again(p, k.array)
	case h.writtenOutside(st):
		return h.entered(leaf(k.array), outside, true)
	}
	return h.entered(leaf(k.array), whole, false)
}

// writtenOutside reports whether eager code has written memory from before the last barrier since then.
func (h *history) writtenOutside(st *array.Storage) bool {
	return h.on && st.Born() <= h.since && st.Version() > h.since
}

// again is a value that was computed before, in other memory.
func (h *history) again(p *place, a *array.Array) *place {
	q := (&place{form: &form{typ: p.typ}, data: a, same: true}).take([]*place{p})
	h.remember(q)
	return q
}

// first is the value that a place has again.
func (p *place) first() *place {
	for p.same && p.count > 0 {
		p = p.few[0]
	}
	return p
}

// forget lets the operands of computed values go, at a barrier.
func (h *history) forget() {
	for _, p := range h.made {
		p.past = false
		if p.known() && p.count > 0 {
			p.cut = settled
			p.letGo()
		}
	}
	clear(h.made)
	clear(h.handed)
	clear(h.grads)
	h.made, h.since = h.made[:0], array.Now()
	for _, k := range h.s.slots {
		if k.value != nil { // what a model holds at a barrier is what the next step begins with
			h.entered(k.value, whole, false)
		}
	}
}

// carriesGradient reports whether a gradient may go through a value of a type.
func carriesGradient(t shape.Type) bool {
	return t.Kind() == shape.Tuple || t.DType() == array.Invalid || t.DType().IsFloat()
}

// stops reports whether no gradient goes from a value to what it was computed from.
func (p *place) stops() bool {
	return p.op != nil && p.op.StopsGrad() || !carriesGradient(p.typ)
}

// Gradient implements tensor.Engine: the calls that make the gradients are recorded
// as if the program had made them.
func (s *Session) Gradient(loss *tensor.Tensor, by []*tensor.Tensor, o tensor.GradOptions) []*tensor.Tensor {
	defer s.enter("grad")()
	if !s.opts.Gradients {
		panic((&diag.Error{Code: tensor.NotRecorded, Op: "grad", Msg: "the session does not keep how values were computed",
			Hint: "set Gradients in lazy.Options"}).At(diag.Here()))
	}
	t := tape{s: s, nodes: map[*place]*graph.Node{}, places: map[*graph.Node]*place{}}
	t.g = graph.New("gradient")
	t.at = t.g.At()
	for i, x := range by {
		if x.Engine() == nil && !x.IsParam() {
			panic((&diag.Error{Code: tensor.NotRecorded, Op: "grad", Msg: "tensor " + strconv.Itoa(i) + " is neither the session's nor a model's, so that calls on it are not recorded",
				Hint: "give the calculation s.In of the tensor, and differentiate by that"}).At(diag.Here()))
		}
	}
	of := s.rec.Value(loss, "grad")
	targets := make([]*place, len(by))
	for i, x := range by {
		targets[i] = s.rec.Value(x, "grad").first()
	}
	t.replay(of, targets)
	wrt := make([]*graph.Node, len(by))
	for i, p := range targets {
		wrt[i] = t.node(p)
	}
	t.at.SetStaticPos(diag.Here())
	grads, err := appendGradients(s.opts.Context, t.at, t.node(of), wrt, o)
	if err != nil {
		panic(mistakes(err))
	}
	out := make([]*tensor.Tensor, len(grads))
	made := t.record(grads)
	for i, p := range made {
		out[i] = s.rec.Proxy(p)
	}
	s.past.asked(made)
	return out
}

// asked notes gradients that were asked for together: whoever reads one reads the others, and
// most of what they are computed from is the same.
func (h *history) asked(all []*place) {
	if h.grads == nil {
		h.grads = map[*place][]*place{}
	}
	for _, p := range all {
		h.grads[p] = all
	}
}

// unread are the gradients that are computed with p, when that is read first.
func (h *history) unread(p *place) (others []*place) {
	all := h.grads[p]
	for _, q := range all {
		delete(h.grads, q)
		if q != p && !p.known() && !q.known() && q.err() == nil {
			others = append(others, q)
		}
	}
	return others
}

// mistakes is an error that names all mistakes of a gradient: the first, at its line, and the
// others as related to it.
func mistakes(err error) *diag.Error {
	var l diag.List
	l.Add(err)
	here := diag.Here()
	first := *l[0]
	if first.Pos.Line == 0 {
		first = *first.At(here)
	} else if first.Pos != here {
		first.Related = append(first.Related, diag.Related{Pos: here, Msg: "on the way of the gradient that is asked for here"})
	}
	for _, e := range l[1:] {
		at := e.Pos
		if at.Line == 0 {
			at = here
		}
		first.Related = append(first.Related, diag.Related{Pos: at, Msg: e.Msg})
	}
	if first.Op == "" {
		first.Op = "grad"
	}
	return &first
}

// tape is the graph of what a session has recorded of a loss.
type tape struct {
	s      *Session
	g      *graph.Graph
	at     *graph.Cursor
	nodes  map[*place]*graph.Node
	places map[*graph.Node]*place // the other way
	first  int                    // of the targets, the serial of the one that was there first
	params bool                   // all targets are tensors of models
}

// replay makes nodes of what loss was computed from. Values without operands are inputs. The
// search keeps a stack of its own, as that of flushes does.
func (t *tape) replay(loss *place, targets []*place) {
	t.params, t.first = true, t.s.stats.Calls
	for _, p := range targets {
		t.params = t.params && p.slot() != nil
		t.first = min(t.first, p.serial())
	}
	isTarget := map[*place]bool{}
	for _, p := range targets {
		isTarget[p] = true
	}
	type frame struct {
		p    *place
		next int
	}
	seen := map[*place]bool{}
	var stack []frame
	for _, p := range append([]*place{loss}, targets...) {
		if !seen[p] {
			seen[p] = true
			stack = append(stack, frame{p: p})
		}
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if f.next < int(f.p.count) && !f.p.stops() {
				a := f.p.args()[f.next]
				f.next++
				if a != nil && !seen[a] {
					seen[a] = true
					stack = append(stack, frame{p: a})
				}
				continue
			}
			p := f.p
			stack = stack[:len(stack)-1]
			if t.lacks(p, isTarget) {
				panic(p.lost())
			}
			t.add(p)
		}
	}
}

// lacks reports whether a value may depend on a target in a way that is not known.
func (t *tape) lacks(p *place, isTarget map[*place]bool) bool {
	switch {
	case p.cut == whole:
		return false
	case !isTarget[p]:
		return t.mayDepend(p)
	case p.cut == handed: // calls before the write have another value
		return true
	}
	return p.cut == outside && len(isTarget) > 1
}

// mayDepend reports whether a value, of whose past nothing is known, may have been computed
// from a target.
func (t *tape) mayDepend(p *place) bool {
	return !p.stops() && (p.varies || !t.params && p.serial() > t.first)
}

// cut says why nothing is known of what a value was computed from.
type cut uint8

const (
	whole    cut = iota // it is known
	settled             // a barrier has ended the past of the value
	handed              // the program has its memory
	foreign             // a Go function has computed it
	sized               // its sizes follow from elements of operands
	baked               // eager code has computed it from tensors of a model
	outside             // eager code has written it
	captured            // a Program has computed it
)

var cuts = [...]struct{ why, cure string }{
	settled:  {"was computed before the last barrier", "compute it again after the barrier, or use its Detach() where it counts as constant"},
	handed:   {"was written by code that has its memory", "write by tensor calls, or use its Detach() where it counts as constant"},
	foreign:  {"is the result of a Go function without a gradient", "write the function with tensor calls, or use Detach() of the result where it counts as constant"},
	baked:    {"was computed without the session from a parameter", "compute it in the session, from s.In of an operand, or use Detach() where it counts as constant"},
	outside:  {"was written by eager code since the last barrier", "call Barrier after the write, write values of the session, or use Detach() where it counts as constant"},
	captured: {"is the result of a Program", "ask for the gradient in the step of the program, or use Detach() of the result where it counts as constant"},
	sized:    {"has sizes that follow from elements", "use Where, or Detach() of the result where it counts as constant"},
}

func (p *place) lost() *diag.Error {
	c := cuts[p.cut]
	e := &diag.Error{Code: Past, Op: "grad", Msg: "the loss depends on " + p.String() + ", which " + c.why + " and may depend on a tensor of the gradient", Hint: c.cure}
	if p.pc != 0 {
		e.Related = []diag.Related{{Pos: diag.Resolve(p.pc), Msg: "the value is made here"}}
	}
	return e.At(diag.Here())
}

func (t *tape) add(p *place) {
	var n *graph.Node
	switch {
	case p.same && p.count > 0:
		t.nodes[p] = t.nodes[p.few[0]]
		return
	case p.stops() || p.count == 0 && (p.op == nil || p.known()):
		if p.typ.Kind() == shape.Tuple {
			return // its members are inputs
		}
		n = t.at.Placeholder("x"+strconv.Itoa(t.g.Len()), p.typ, nil)
	case p.index > 0 && t.nodes[p.few[0]] == nil:
		n = t.at.Placeholder("x"+strconv.Itoa(t.g.Len()), p.typ, nil)
	case p.index > 0:
		n = t.at.ItemNode(t.nodes[p.few[0]], p.index-1)
	default:
		args := make([]*graph.Node, len(p.args()))
		for i, a := range p.args() {
			if a != nil {
				args[i] = t.nodes[a]
			}
		}
		if p.pc != 0 {
			t.at.SetStaticPos(diag.Resolve(p.pc))
		}
		n = t.at.Function(p.op, p.attrs, args...)
	}
	t.nodes[p], t.places[n] = n, p
}

func (t *tape) node(p *place) *graph.Node { return t.nodes[p] }

// record records the calls that gradients need beyond those of the program.
func (t *tape) record(grads []*graph.Node) []*place {
	for n := range t.g.All() {
		if t.places[n] != nil {
			continue
		}
		args := make([]*place, n.NumArgs())
		for i, a := range n.Args() {
			if a != nil {
				args[i] = t.places[a]
			}
		}
		if n.Op() == op.GetItem {
			t.places[n] = source{t.s}.NewItem(args[0], n.Attrs().(op.GetItemAttrs).Index)
			continue
		}
		t.places[n] = t.s.add(t.s.typed(n.Op(), n.Attrs(), args, n.Type()), args)
		t.s.calls++
	}
	out := make([]*place, len(grads))
	for i, n := range grads {
		out[i] = t.places[n]
	}
	return out
}
