package tracer

import (
	"context"
	"reflect"
	"runtime"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// once is an engine that computes and records: the values that a trace records are there
// at once, so that Go code may read and branch on them, and tensor.Grad knows how they were
// computed. It is no tensor.Capturer: modules, branches and loops run as Go does.
//
// When the code has returned, all tensors are eager ones, and what was written to tensors
// from outside is written to their memory.
type once struct {
	t      *trace
	values map[*graph.Node][]*array.Array
	made   []*tensor.Tensor
	work   kernel.Workspace
}

// RunOnce calls fn, which records and computes: what is computed from the tensors, which
// are eager ones, and from results of that. fn may read values and ask for gradients
// (tensor.Grad), which Gradients makes. Afterwards all tensors are eager, those that fn
// has kept as well. The mistakes of fn are returned, with a panic of it among them; what
// fn wrote in place by calls on recorded tensors is then undone.
//
// One goroutine at a time uses the tensors meanwhile. Of the fields of p, only Gradients,
// Frames and MaxNodes mean anything.
func (p *Tracer) RunOnce(ctx context.Context, fn func(), tensors ...*tensor.Tensor) error {
	t := newTrace(ctx, &Tracer{Gradients: p.Gradients, Frames: p.Frames, MaxNodes: p.MaxNodes}, "once", nil)
	e := &once{t: t, values: map[*graph.Node][]*array.Array{}, work: kernel.Workspace{Threads: runtime.GOMAXPROCS(0)}}
	t.src.once = true
	t.rec = t.recorder(e)
	t.rec.Made = func(x *tensor.Tensor) { e.made = append(e.made, x) }
	t.p.OnNode = func(n *graph.Node, _ *tensor.Call) { e.value(n) }
	t.entry = diag.Here()
	if err := e.join(tensors); err != nil {
		return err
	}
	defer e.leave(tensors)
	defer t.rec.Eager.Release()
	t.run(&target{fn: reflect.ValueOf(fn)})
	t.hold("after the function had returned")
	t.returned = true
	var kept, written []result
	t.within(func() { kept, written = e.results() })
	t.use.ended.Store(true)
	t.leave()
	t.clashes()
	for _, m := range t.rec.Eager.Held() {
		m.Array().Storage().Release(m)
	}
	for _, k := range kept {
		k.x.SetComputed(e, k.a)
		k.x.SetEager()
	}
	e.leave(tensors)
	if t.errs.Err() != nil {
		for i, fault := range t.errs {
			if fault.Pos.File == "" { // it is the caller's
				t.errs[i] = fault.At(t.entry)
			}
		}
		t.errs.Sort()
		return t.errs
	}
	for _, w := range written {
		w.x.AssignInPlace(tensor.New(w.a))
	}
	return nil
}

// join makes the engine that of the tensors.
func (e *once) join(tensors []*tensor.Tensor) error {
	for i, x := range tensors {
		if x == nil {
			return (&diag.Error{Code: tensor.NilTensor, Msg: "tensor " + strconv.Itoa(i) + " is nil"}).At(diag.Here())
		}
		if e.t.src.params[x.ID()] != nil {
			continue // is named twice
		}
		if x.Engine() != nil {
			e.leave(tensors[:i])
			return (&diag.Error{Code: tensor.MixedEngines, Msg: "tensor " + strconv.Itoa(i) + " belongs to a trace or to a function that is being run for its gradient",
				Hint: "use tensor.Grad inside of it"}).At(diag.Here())
		}
		path := "tensor" + strconv.Itoa(i)
		e.t.prog.mod.SetParam(graph.Param{Path: path, Value: x.Value().(*array.Array)})
		e.t.src.params[x.ID()] = e.t.prog.mod.Param(path)
		x.SetComputed(e, x.Value().(*array.Array))
	}
	return nil
}

// leave makes the tensors eager again.
func (e *once) leave(tensors []*tensor.Tensor) {
	for _, x := range tensors {
		if x.Engine() == e {
			x.SetEager()
		}
	}
}

// result is what a tensor holds in the end.
type result struct {
	x *tensor.Tensor
	a *array.Array
}

// results returns the values of all tensors that were made, and of those from elsewhere
// that were written.
func (e *once) results() (kept, written []result) {
	taken := map[*array.Storage]bool{}
	for _, m := range e.t.rec.Eager.Held() {
		taken[m.Array().Storage()] = true
		if !m.Dirty() {
			continue
		}
		e.t.rec.Lift(m.Root()) // the end is a use: memory that Go code has written is found
		if n := e.t.rec.Eager.StorageOf(m).Value; n != nil {
			written = append(written, result{m.Root(), e.value(n)[0]})
		}
	}
	for _, x := range e.made[:len(e.made):len(e.made)] {
		n := e.t.rec.Value(x, "result")
		if n == nil || n.Type().Kind() == shape.Tuple {
			continue
		}
		a := e.value(n)[0]
		view := n.Op() != nil && n.Op().ViewOf > 0 && n.Op() != op.GetItem
		if taken[a.Storage()] && !view || array.Repeats(a) {
			a = array.Clone(a) // what is written to one is not seen in another
		}
		taken[a.Storage()] = true
		kept = append(kept, result{x, a})
	}
	return kept, written
}

// value returns what a node computes: one array, or the members of a tuple.
func (e *once) value(n *graph.Node) []*array.Array {
	for work := []*graph.Node{n}; len(work) > 0; {
		at := work[len(work)-1]
		ready := true
		for a := range at.Inputs() {
			if e.values[a] == nil {
				work, ready = append(work, a), false
			}
		}
		if ready {
			work = work[:len(work)-1]
			if e.values[at] == nil {
				e.values[at] = e.compute(at)
			}
		}
	}
	return e.values[n]
}

// compute runs a node whose operands have values.
func (e *once) compute(n *graph.Node) []*array.Array {
	if n.Opcode() == graph.GetAttr {
		return []*array.Array{e.t.prog.mod.Param(n.Target()).Value}
	}
	in := make([]*array.Array, n.NumArgs())
	for i, a := range n.Args() {
		if a != nil {
			in[i] = e.values[a][0]
		}
	}
	if n.Op() == op.GetItem {
		return e.values[n.Arg(0)][n.Attrs().(op.GetItemAttrs).Index:][:1]
	}
	out, err := n.Op().Eval(&e.work, n.Attrs(), in)
	if err != nil {
		var list diag.List
		list.Add(err)
		at := *list[0]
		if at.Op == "" {
			at.Op = n.Op().Name
		}
		panic(at.At(n.Pos()))
	}
	if _, _, known := n.Type().Concrete(); !known && len(out) == 1 && n.Type().Kind() != shape.Tuple {
		n.SetType(shape.TypeOf(out[0])) // sizes that follow from values are numbers now
	}
	return out
}

// Call implements tensor.Engine.
func (e *once) Call(c *tensor.Call) []*tensor.Tensor { return e.t.Call(c) }

// Type implements tensor.Engine.
func (e *once) Type(x *tensor.Tensor) shape.Type {
	t := e.t.Type(x)
	if _, _, known := t.Concrete(); known {
		return t
	}
	if a := e.read(x); a != nil {
		return shape.TypeOf(a)
	}
	return t
}

// Observe implements tensor.Engine. Nothing is known of the result of a call that was wrong.
func (e *once) Observe(x *tensor.Tensor, _ string) *array.Array {
	if a := e.read(x); a != nil {
		return a
	}
	panic(stop{})
}

// read returns the data of a tensor, nil where a mistake was made.
func (e *once) read(x *tensor.Tensor) *array.Array {
	if !e.t.take() {
		return nil
	}
	defer e.t.leave()
	n := e.t.node(x, "value")
	if n == nil {
		return nil
	}
	return e.value(n)[0]
}

// Assign implements tensor.Engine.
func (e *once) Assign(dst, src *tensor.Tensor, what string) { e.t.Assign(dst, src, what) }

// Gradient implements tensor.Engine.
func (e *once) Gradient(loss *tensor.Tensor, by []*tensor.Tensor, o tensor.GradOptions) []*tensor.Tensor {
	return e.t.Gradient(loss, by, o)
}
