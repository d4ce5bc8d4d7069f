package tracer

import (
	"context"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// Gradients adds to the graph of the cursor the gradients of loss by other values of the
// graph, and returns them in their order: passes/grad.Append.
type Gradients func(ctx context.Context, c *graph.Cursor, loss *graph.Node, by []*graph.Node, o tensor.GradOptions) ([]*graph.Node, error)

// Gradient implements tensor.Engine.
func (t *trace) Gradient(loss *tensor.Tensor, by []*tensor.Tensor, o tensor.GradOptions) []*tensor.Tensor {
	if !t.enter(nil, append([]*tensor.Tensor{loss}, by...)...) {
		return t.rec.Poisoned(len(by))
	}
	defer t.leave()
	if t.p.Gradients == nil {
		t.report(&diag.Error{Code: tensor.NotRecorded, Op: "grad", Msg: "this tracer makes no gradients",
			Hint: "capture with fx.Trace, or set Gradients of the tracer to grad.Append"})
		return t.rec.Poisoned(len(by))
	}
	values := t.rec.Values("grad", append([]*tensor.Tensor{loss}, by...))
	if values == nil || !t.contained(values[0], values[1:]) {
		return t.rec.Poisoned(len(by))
	}
	before := t.prog.cur.Graph().Len()
	grads, err := t.p.Gradients(t.ctx, t.prog.cur, values[0], values[1:], o)
	if err != nil {
		t.reportGradient(err)
		return t.rec.Poisoned(len(by))
	}
	for range t.prog.cur.Graph().Len() - before {
		t.prog.Recorded(grads[0], nil)
	}
	out := make([]*tensor.Tensor, len(grads))
	for i, g := range grads {
		out[i] = t.rec.Proxy(g)
	}
	return out
}

// reportGradient reports mistakes of a gradient: those of calls on the way where the calls
// are, others where the gradient is asked for.
func (t *trace) reportGradient(err error) {
	var list diag.List
	list.Add(err)
	here := diag.Here()
	for _, e := range list {
		at := *e
		at.Phase = "trace"
		switch {
		case e.Op != "" && e.Pos.File != "":
			at.Related = append(at.Related, diag.Related{Pos: here, Msg: "on the way of the gradient that is asked for here"})
		case e.Pos.File != "" && e.Pos != here:
			at = *at.At(here)
			at.Op, at.Related = "grad", append(at.Related, diag.Related{Pos: e.Pos, Msg: "the tensor is made here"})
		default:
			at = *at.At(here)
			at.Op = "grad"
		}
		t.report(&at)
	}
}

// contained tells whether a gradient in a region is that of the tensors, as it is outside
// of regions: nothing else that comes into the region for the loss depends on them. What is
// known to depend, and what may, is reported.
func (t *trace) contained(loss *graph.Node, by []*graph.Node) bool {
	g := loss.Graph()
	if g == t.prog.mod.Graph {
		return true
	}
	enters := t.enters(loss)
	ok := true
	for _, target := range by {
		o := t.origin(target)
		for _, p := range enters {
			why := t.depends(p, target, o)
			if why == "" {
				continue
			}
			ok = false
			t.report(&diag.Error{Code: Around, Op: "grad", Msg: "the loss depends on " + p.String() + ", which " + why + ", besides its direct use of " + target.String(),
				Hint: "compute it in this function, call Grad outside, or use its Detach() where it counts as constant"})
		}
	}
	return ok
}

// enters are the values from around the region on which a loss depends by floats: the
// region's parameters and reads of the model's.
func (t *trace) enters(loss *graph.Node) (list []*graph.Node) {
	needed := map[*graph.Node]bool{loss: true}
	for n := range loss.Graph().Backward() {
		switch {
		case !needed[n] || !differentiable(n):
		case n.Opcode() == graph.Placeholder || n.Opcode() == graph.GetAttr || n.Opcode() == graph.CallModule && len(n.Bound().Params) > 0:
			list = append(list, n)
		}
		if needed[n] && differentiable(n) {
			for a := range n.Inputs() {
				needed[a] = true
			}
		}
	}
	return list
}

// differentiable reports whether a gradient may go through a value.
func differentiable(n *graph.Node) bool {
	if n.Op() != nil && n.Op().StopsGrad() {
		return false
	}
	d := n.Type().DType()
	return n.Type().Kind() == shape.Tuple || d == array.Invalid || d.IsFloat()
}

// origin is what a value of a region is outside of it.
type origin struct {
	nodes map[*graph.Node]bool
	path  string // of a parameter, "" for others
}

func (t *trace) origin(n *graph.Node) (o origin) {
	o.nodes = map[*graph.Node]bool{}
	for n != nil {
		o.nodes[n] = true
		if n.Opcode() == graph.GetAttr {
			o.path = n.Target()
		}
		if n.Opcode() != graph.Placeholder {
			return o
		}
		n, _ = t.rec.Outer(n)
	}
	return o
}

// depends says how a value that enters a region depends on one by which is differentiated,
// "" where it does not.
func (t *trace) depends(p, target *graph.Node, o origin) string {
	switch {
	case p == target:
		return ""
	case p.Opcode() != graph.Placeholder:
		if target.Opcode() != graph.GetAttr && o.reads(p) {
			return "reads " + strconv.Quote(o.path) + " by its name"
		}
		return ""
	}
	outer, varies := t.rec.Outer(p)
	if varies {
		return "the loop carries and may have computed in the round before"
	}
	if outer == nil {
		return ""
	}
	e := &diag.Error{Code: Around, Op: "grad", Msg: "the loss depends on " + p.String() + ", which the loop writes, besides its direct use of " + target.String(),
		Hint: "carry it through the loop, and use its Detach() for the loss"}
	t.rec.Fix(p, e.At(diag.Here()))
	seen := map[*graph.Node]bool{}
	for work := []*graph.Node{outer}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[n] || !differentiable(n) {
			continue
		}
		seen[n] = true
		if o.nodes[n] || o.reads(n) {
			return "is computed from it outside of this function"
		}
		if n.Opcode() == graph.Placeholder {
			src, varies := t.rec.Outer(n)
			if varies {
				return "a loop around carries and may have computed in the round before"
			}
			if src != nil {
				work = append(work, src)
			}
		}
		for a := range n.Inputs() {
			work = append(work, a)
		}
	}
	return ""
}

// reads reports whether a node reads the parameter, itself or in a region.
func (o origin) reads(n *graph.Node) bool {
	if o.path == "" {
		return false
	}
	if n.Opcode() == graph.GetAttr && n.Target() == o.path {
		return true
	}
	if b := n.Bound(); b != nil {
		for _, path := range b.Params {
			if path == o.path {
				return true
			}
		}
	}
	for _, r := range n.Regions() {
		for inner := range r.All() {
			if inner.Graph() == r && o.reads(inner) {
				return true
			}
		}
	}
	return false
}
