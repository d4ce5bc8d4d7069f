package tracer

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// linkView remembers that view shares memory with base, for in-place calls.
func (t *trace) linkView(view, base *tensor.Tensor) {
	t.views[base.ID()] = append(t.views[base.ID()], view.ID())
	t.viewOf[view.ID()] = base.ID()
}

// Assign implements tensor.Engine: an in-place call becomes an ordinary one whose
// result the handle stands for from now on; a write to a buffer of the model
// becomes an assign node. What shares the written memory may not be used any
// more, because the graph has no aliases.
func (t *trace) Assign(dst, src *tensor.Tensor, what string) {
	if !t.enter() {
		return
	}
	defer t.leave()
	v := t.node(src, what)
	if v == nil {
		return
	}
	if dst.Engine() == nil {
		t.assignBuffer(dst, v)
		return
	}
	n, _ := dst.Value().(*graph.Node)
	if n != nil && n.Opcode() == graph.Placeholder && t.region == nil {
		t.report(&diag.Error{Code: InputWrite, Op: what, Msg: "the in-place call writes to the input " + n.String() + ", which the caller would see",
			Hint: "use the ordinary method and its result, or Clone the input first"})
		return
	}
	if n != nil && n.Opcode() == graph.GetAttr {
		for _, o := range t.owners {
			if o.path == n.Target() {
				t.assignBuffer(o.t, v)
				dst.SetValue(t.written[o.t.ID()])
				return
			}
		}
	}
	t.markStale(dst.ID(), diag.Here())
	dst.SetValue(v)
}

// Lift implements tensor.Lifter.
func (t *trace) Lift(x *tensor.Tensor) *tensor.Tensor {
	if !t.enter() {
		return t.poisoned(1)[0]
	}
	defer t.leave()
	return tensor.NewProxy(t, t.node(x, "On"))
}

// UnseenWrite is the code of a buffer that the model wrote while it was traced,
// by a computation that no traced value took part in.
const UnseenWrite diag.Code = "FX1016"

// unseenWrites reports writes to the model's tensors that were done at once
// instead of being recorded.
func (t *trace) unseenWrites() {
	for _, o := range t.owners {
		if o.t.Array().Storage().Version() != o.version {
			t.report((&diag.Error{Code: UnseenWrite, Msg: "the model wrote to its tensor " + o.path + " while it was traced, by a computation that no traced value takes part in",
				Hint: "write tensor.On(x, m.Buffer) for the buffer, where x is an input, so that the trace sees it"}).At(o.t.LastWrite()))
		}
	}
}

func (t *trace) assignBuffer(dst *tensor.Tensor, v *graph.Node) {
	buffer := t.lift(dst)
	if p := t.params[dst.ID()]; p != nil && buffer.Opcode() == graph.GetAttr {
		p.Buffer = true
		buffer.SetLive(true)
	}
	t.markStale(dst.ID(), diag.Here())
	t.written[dst.ID()] = t.cur.Function(op.Assign, nil, buffer, v)
}

// markStale forbids later use of every tensor that shares memory with id.
func (t *trace) markStale(id any, pos diag.Pos) {
	root := id
	for t.viewOf[root] != nil {
		root = t.viewOf[root]
	}
	var mark func(any)
	mark = func(x any) {
		if x != id {
			t.stale[x] = pos
		}
		for _, v := range t.views[x] {
			mark(v)
		}
	}
	mark(root)
	delete(t.views, id)
	delete(t.viewOf, id)
}
