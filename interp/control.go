package interp

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// flow is one run of a control-flow node.
type flow struct {
	*frame
	node   *graph.Node
	args   []*tensor.Tensor
	copies graph.Copies
}

// regions runs cond, while and scan through the tensor functions, so that they
// are recorded again under a trace.
func (f *frame) regions(node *graph.Node, in []Value) (Value, error) {
	c, known := f.copies[node]
	if !known {
		c = node.Copies()
		f.copies[node] = c
	}
	w := flow{f, node, make([]*tensor.Tensor, len(in)), c}
	for i, v := range in {
		if w.args[i] = v.T; v.T == nil {
			return Value{}, node.Error(Undefined, "operand "+node.Arg(i).String()+" is not a tensor")
		}
		if c.Taken[i] || c.Through[i] {
			w.args[i] = v.T.Clone()
		}
	}
	out := w.run()
	// A region that returns a bare value gives its node that value, not a tuple.
	rs := node.Regions()
	if body := rs[len(rs)-1].Output(); len(out) == 1 && body != nil && body.Structure() == nil {
		return Value{T: out[0]}, nil
	}
	return Value{Tuple: out}, nil
}

func (w *flow) run() []*tensor.Tensor {
	args := w.args
	switch w.node.Op() {
	case op.Cond:
		return tensor.Cond(args[0], w.region(0, nil), w.region(1, nil), args[1:]...)
	case op.While:
		k := w.node.Attrs().(op.LoopAttrs).Carry
		cond, body := w.region(0, args[k:]), w.region(1, args[k:])
		return tensor.While(func(x []*tensor.Tensor) *tensor.Tensor { return cond(x)[0] }, body, args[:k]...)
	}
	a := w.node.Attrs().(op.LoopAttrs)
	body := w.region(0, args[a.Carry+a.Seqs:])
	if rows := args[a.Carry]; rows.Engine() == nil && rows.Rank() > 0 && rows.Dim(0) == 0 {
		defer w.keepState()()
	}
	last, stacked := tensor.Scan(func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor) {
		all := body(append(append([]*tensor.Tensor(nil), carry...), slices...))
		return all[:a.Carry], all[a.Carry:]
	}, args[:a.Carry], args[a.Carry:a.Carry+a.Seqs])
	return append(append([]*tensor.Tensor(nil), last...), stacked...)
}

// keepState returns a function that gives the state back what it is now. A scan of no
// rounds runs its body all the same, for the types of its results: what that writes is
// not the program's.
func (w *flow) keepState() (restore func()) {
	was := map[*tensor.Tensor]*tensor.Tensor{}
	for path := range w.node.Writes() {
		if x := w.p.State.Tensor(path); x != nil {
			was[x] = x.Clone()
		}
	}
	return func() {
		for x, old := range was {
			x.AssignInPlace(old)
		}
	}
}

// region returns a region as a function of tensors; extra are captured operands, which
// it is given behind them.
func (w *flow) region(r int, extra []*tensor.Tensor) func([]*tensor.Tensor) []*tensor.Tensor {
	g := w.node.Regions()[r]
	return func(x []*tensor.Tensor) []*tensor.Tensor {
		out, err := w.p.run(w.ctx, g, append(append([]*tensor.Tensor(nil), x...), extra...), w.frame)
		if err != nil {
			var l diag.List
			l.Add(err)
			if l[0].Node != "" {
				w.inside = l[0]
			}
			panic(l[0])
		}
		for i, take := range w.copies.Out[r] {
			if take && out[i] != nil {
				out[i] = out[i].Clone()
			}
		}
		return out
	}
}
