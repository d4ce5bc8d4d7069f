package interp

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
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
func (f *frame) regions(node *graph.Node, in []Result) (Result, error) {
	c, known := f.copies[node]
	if !known {
		c = node.Copies()
		f.copies[node] = c
	}
	w := flow{f, node, make([]*tensor.Tensor, len(in)), c}
	for i, v := range in {
		if w.args[i] = v.T; v.T == nil {
			return Result{}, node.Error(Undefined, "operand "+node.Arg(i).String()+" is not a tensor")
		}
		if c.Taken[i] || c.Through[i] {
			w.args[i] = v.T.Clone()
		}
	}
	out := w.run()
	// A region that returns a bare value gives its node that value, not a tuple.
	rs := node.Regions()
	if body := rs[len(rs)-1].Output(); len(out) == 1 && body != nil && body.Structure() == nil {
		return Result{T: out[0]}, nil
	}
	return Result{Tuple: out}, nil
}

func (w *flow) run() []*tensor.Tensor {
	args, control := w.args, tensor.Flow{Checked: true}
	switch w.node.Op() {
	case op.Cond:
		return control.Cond(args[0], w.region(0, nil), w.region(1, nil), args[1:])
	case op.While:
		a := w.node.Attrs().(op.LoopAttrs)
		k := a.Carry
		control.MaxTrips = a.MaxTrips
		cond, body := w.region(0, args[k:]), w.region(1, args[k:])
		return control.While(func(x []*tensor.Tensor) *tensor.Tensor { return cond(x)[0] }, body, args[:k])
	}
	a := w.node.Attrs().(op.LoopAttrs)
	body := w.region(0, args[a.Carry+a.Seqs:])
	if w.noRounds(a) {
		w.relies()
		if stacked, ok := w.empty(a); ok {
			return append(append([]*tensor.Tensor(nil), args[:a.Carry]...), stacked...)
		}
		defer w.keepState()()
	}
	last, stacked := control.Scan(func(carry, slices []*tensor.Tensor) (next, out []*tensor.Tensor) {
		all := body(append(append([]*tensor.Tensor(nil), carry...), slices...))
		return all[:a.Carry], all[a.Carry:]
	}, args[:a.Carry], args[a.Carry:a.Carry+a.Seqs])
	return append(append([]*tensor.Tensor(nil), last...), stacked...)
}

// noRounds reports whether a scan is over sequences without slices.
func (w *flow) noRounds(a op.LoopAttrs) bool {
	for i, x := range w.args {
		if x.Engine() != nil {
			return false
		}
		if seq := i >= a.Carry && i < a.Carry+a.Seqs; seq && (x.Rank() == 0 || x.Dim(0) != 0) {
			return false
		}
	}
	return true
}

// relies refuses sizes of the graphs around that break a guard of the body, which does not run: what it
// would stack has no sizes then.
func (w *flow) relies() {
	body := w.node.Regions()[0]
	own := func(name string) bool { _, ok := body.Symbol(name); return ok }
	inner := &frame{g: body, outer: w.frame}
	for _, d := range body.Guards() {
		if !slices.ContainsFunc(d.Symbols(), own) {
			inner.guards = append(inner.guards, d)
		}
	}
	if err := inner.check(nil, nil); err != nil {
		panic(err)
	}
}

// empty returns what a scan of no rounds stacks, where the node's type says it: its body, which
// may act on the world, refuse zeros or not end, is not to run.
func (w *flow) empty(a op.LoopAttrs) (stacked []*tensor.Tensor, ok bool) {
	types := []shape.Type{w.node.Type()}
	if types[0].Kind() == shape.Tuple {
		tuple := types[0]
		types = make([]shape.Type, tuple.Len())
		for i := range types {
			types[i] = tuple.Member(i)
		}
	}
	if len(types) != w.node.Regions()[0].Output().NumArgs() {
		return nil, false
	}
	for _, t := range types[a.Carry:] {
		if t.Rank() < 1 {
			return nil, false
		}
		d, dims, ok := t.WithDims(t.Dims().With(0, shape.Const(0))).Bind(w.symbol).Concrete()
		if !ok {
			return nil, false
		}
		stacked = append(stacked, tensor.New(array.New(d, dims...)))
	}
	return stacked, true
}

// keepState returns a function that gives the state back what it is now. A scan of no
// rounds runs its body for the types of its results where nothing else says them: what that
// writes is not the program's.
func (w *flow) keepState() (restore func()) {
	was := map[*tensor.Tensor]*tensor.Tensor{}
	for place := range w.node.Writes() {
		if x := w.p.State.Tensor(place.Path); x != nil {
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
// it is given after them.
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
