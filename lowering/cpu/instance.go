package cpu

import (
	"context"
	"runtime"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// instance is what one run at a time needs: array headers, memory, kernels with
// the fields of these sizes, scratch. Everything is made once and used again.
type instance struct {
	e      *Executable
	hdr    []array.Array // of each buffer
	steps  []call
	fields []field
	arena  *array.Storage
	ws     kernel.Workspace

	in     []*array.Array // of the run, while they are checked
	given  *guard.Given   // them
	values []int          // of each symbol of the entry
	env    plan.Env
	sized  bool // sizes are those of values
	last   []int
	sizes  plan.Sizes

	copies   map[int]*array.Storage // of sized buffers, and of views that have none for these sizes
	dense    []*array.Storage       // copies of inputs and live weights with gaps
	src, dst [1]*array.Array
	at       int                                // step in progress
	clock    func(step int, took time.Duration) // told of every step, nil for most runs
	packings int                                // of the weights that the headers point at
}

// call is a step with its operands' headers.
type call struct {
	kernel  kernel.Step
	view    kernel.Viewer // of view steps
	control *flow         // of control flow
	sizer   kernel.Sizer  // of steps that find the sizes of their results
	shapes  [][]int       // what a sizer has found
	joined  bool          // there is nothing to do
	out, in []*array.Array
}

// field is a size in the kernel of a step.
type field struct {
	at   *int
	size shape.Dim
	step int
}

func newInstance(e *Executable) (*instance, error) {
	p := e.plan
	x := &instance{e: e, hdr: make([]array.Array, len(p.Buffers)), steps: make([]call, len(p.Steps)),
		values: make([]int, len(p.Symbols)+len(p.Same)), last: make([]int, len(p.Symbols)+len(p.Same)), dense: make([]*array.Storage, len(p.Buffers))}
	x.ws.Threads = e.threads
	x.given = e.entry.On(func(i int) guard.Argument { return guard.Array(e.input(x.in, i)) })
	x.env = func(symbol string) (int, bool) {
		for i := range p.Symbols {
			if p.Symbols[i].Name == symbol {
				return x.values[i], true
			}
		}
		for i := range p.Same {
			if p.Same[i].Name == symbol {
				return x.values[len(p.Symbols)+i], true
			}
		}
		return 0, false
	}
	headers := func(list []int) []*array.Array {
		h := make([]*array.Array, len(list))
		for i, k := range list {
			if k >= 0 {
				h[i] = &x.hdr[k]
			}
		}
		return h
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		k, fields, err := s.Instance()
		if err != nil {
			return nil, diag.Bug(err.Error())
		}
		for f, at := range fields {
			x.fields = append(x.fields, field{at, s.Sizes[f].Size, i})
		}
		c := call{kernel: k, joined: s.Joined, out: headers(s.Out), in: headers(s.In)}
		if s.View {
			c.view = k.(kernel.Viewer)
		}
		if f, ok := k.(*control); ok {
			c.control = &flow{control: f, bodies: e.regions[i], spare: headers(s.Spare)}
			for _, o := range s.Out {
				c.control.late = append(c.control.late, o >= 0 && p.Buffers[o].Late)
			}
		}
		if sizes := c.control == nil && len(s.Out) > 0 && s.Out[0] >= 0 && p.Buffers[s.Out[0]].Kind == plan.Sized; sizes {
			c.sizer = k.(kernel.Sizer)
			for _, o := range s.Out {
				c.shapes = append(c.shapes, make([]int, p.Buffers[o].Type.Rank()))
			}
		}
		x.steps[i] = c
	}
	x.takeWeights()
	return x, nil
}

// takeWeights points the headers of the weights at their arrays, as they are now.
func (x *instance) takeWeights() {
	x.e.mu.Lock()
	defer x.e.mu.Unlock()
	for i := range x.e.weights {
		w := &x.e.weights[i]
		a := w.value
		x.hdr[w.buffer].SetLayout(a, a.Shape(), a.Strides(), a.Offset())
	}
	x.packings = x.e.packings
}

// size computes all sizes from the values of the symbols and resets the headers
// of all buffers but weights; it takes no memory for them.
func (x *instance) size() error {
	p := x.e.plan
	x.sized = false
	if err := p.Size(&x.sizes, x.env); err != nil {
		return err
	}
	for _, f := range x.fields {
		n, err := f.size.Eval(x.env)
		if err != nil {
			return x.context(f.step, err)
		}
		*f.at = n
	}
	for i := range p.Buffers {
		if p.Buffers[i].Kind != plan.Weight {
			x.hdr[i].Reset(p.Buffers[i].Type.DType(), x.sizes.Shapes[i])
		}
	}
	return nil
}

// layOut lays out the views over headers that size has reset, and returns the
// most scratch bytes that a step takes.
func (x *instance) layOut() (scratch int, err error) {
	defer x.catch(&err)
	for i := range x.steps {
		c := &x.steps[i]
		x.at = i
		if c.joined {
			continue
		}
		if c.view != nil {
			if !c.view.View(c.out, c.in) {
				x.copyResults(i)
			}
		} else if s, ok := c.kernel.(kernel.Scratcher); ok && c.sizer == nil {
			scratch = max(scratch, s.ScratchBytes(c.out, c.in))
		}
	}
	return scratch, nil
}

// copyResults gives the results of view step i, which has no views for these sizes,
// memory of their own to copy to. Plans have few such steps: where sizes are seen
// to decide, the step is planned as a copy.
func (x *instance) copyResults(i int) {
	for _, k := range x.e.plan.Steps[i].Out {
		x.own(k, x.hdr[k].DType(), x.sizes.Shapes[k])
	}
}

// own gives buffer k memory that the instance keeps for it.
func (x *instance) own(k int, d array.DType, shape []int) {
	h := &x.hdr[k]
	n := h.Reset(d, shape) * d.Size()
	if x.copies == nil {
		x.copies = map[int]*array.Storage{}
	}
	if s := x.copies[k]; s == nil || len(s.Bytes()) < n {
		x.copies[k] = array.NewStorage(n)
	}
	h.SetStorage(x.copies[k], 0)
}

// resize makes the instance ready for the values of the symbols.
func (x *instance) resize() error {
	if err := x.size(); err != nil {
		return err
	}
	if err := x.e.plan.Fits(&x.sizes, x.e.most()); err != nil {
		return err
	}
	scratch, err := x.layOut()
	if err != nil {
		return err
	}
	if err := array.TooLargeFor("the scratch memory of a step", int64(scratch), x.e.most()); err != nil {
		return err
	}
	x.ws.Reserve(scratch)
	if x.arena == nil || len(x.arena.Bytes()) < x.sizes.Arena {
		x.arena = array.NewStorage(x.sizes.Arena)
	}
	p := x.e.plan
	for i := range p.Buffers {
		if p.Buffers[i].Kind == plan.Temp && !x.e.inDonated(i) {
			x.hdr[i].SetStorage(x.arena, x.sizes.Offset[i]/p.Buffers[i].Type.DType().Size())
		}
	}
	copy(x.last, x.values)
	x.sized = true
	return nil
}

// setOutputs points the output buffers at arrays that are known to fit.
func (x *instance) setOutputs(out []*array.Array) {
	for i, k := range x.e.outputs {
		if !x.e.plan.Buffers[k].Updated {
			x.hdr[k].SetLayout(out[i], out[i].Shape(), out[i].Strides(), out[i].Offset())
		}
	}
}

// acceptOutputs checks arrays that the caller wants the results in. Those that are late
// for the caller get their sizes here, or where these are found.
func (x *instance) acceptOutputs(out []*array.Array, late []bool) error {
	e := x.e
	if len(out) != len(e.outputs) {
		return diag.New(lowering.BadOutput, strconv.Itoa(len(out))+" arrays for results, expected "+strconv.Itoa(len(e.outputs)))
	}
	for i, k := range e.outputs {
		a := out[i]
		what := "the array for result " + strconv.Itoa(i)
		if own := e.plan.Buffers[k].Late; a != nil && !own && late != nil && late[i] {
			if err := enlarge(a, e.plan.Buffers[k].Type.DType(), x.sizes.Shapes[k], e.most()); err != nil {
				return err
			}
		}
		switch {
		case e.plan.Buffers[k].Late && a != nil:
		case a == nil || a.DType() != e.plan.Buffers[k].Type.DType() || !equal(a.Shape(), x.sizes.Shapes[k]):
			want := array.Array{}
			want.Reset(e.plan.Buffers[k].Type.DType(), x.sizes.Shapes[k])
			return diag.New(lowering.BadOutput, what+" is "+describe(a)+", expected "+describe(&want))
		case !a.IsContiguous():
			return diag.New(lowering.BadOutput, what+" has gaps, expected a contiguous one").WithHint("copy it, or take the result of Run")
		}
		if h := &x.hdr[k]; e.plan.Buffers[k].Updated && (a.Storage() != h.Storage() || a.Offset() != h.Offset()) {
			return diag.New(lowering.BadOutput, what+" is not that of input "+strconv.Quote(e.plan.Buffers[k].Name)+", in which it is made").
				WithHint("give the same array for both")
		}
		for j, in := range e.plan.Inputs {
			if in == k || i == j && i < len(e.updates) && e.updates[i] {
				continue // it is made there
			}
			if a.Storage() != nil && array.Overlap(a, &x.hdr[in]) {
				return diag.New(lowering.BadOutput, what+" shares memory with input "+strconv.Quote(e.plan.Buffers[in].Name))
			}
		}
		for j := range i {
			if a.Storage() != nil && out[j].Storage() != nil && array.Overlap(a, out[j]) {
				return diag.New(lowering.BadOutput, what+" shares memory with that for result "+strconv.Itoa(j))
			}
		}
	}
	x.setOutputs(out)
	return nil
}

// execute runs the steps.
func (x *instance) execute(ctx context.Context) (err error) {
	defer x.catch(&err)
	for i := range x.steps {
		if err := ctx.Err(); err != nil && i <= x.e.settled {
			return x.context(i, diag.Stop(err))
		}
		x.at = i
		if x.clock == nil {
			err = x.step(ctx, i)
		} else {
			err = x.timed(ctx, i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// timed runs one step, tells the clock, and labels the samples that a profile of
// the processor takes of it meanwhile. Labels allocate.
func (x *instance) timed(ctx context.Context, i int) (err error) {
	s := &x.e.plan.Steps[i]
	pprof.Do(ctx, pprof.Labels("scope", s.Scope.Path, "op", s.Op), func(ctx context.Context) {
		start := time.Now()
		err = x.step(ctx, i)
		x.clock(i, time.Since(start))
	})
	return err
}

// step runs one step.
func (x *instance) step(ctx context.Context, i int) error {
	c := &x.steps[i]
	switch {
	case c.joined:
	case c.control != nil:
		if err := c.control.run(ctx, &x.ws, c.out, c.in); err != nil {
			return x.positioned(i, err)
		}
	case c.sizer != nil:
		if err := x.find(i); err != nil {
			return x.context(i, err)
		}
		c.kernel.Run(&x.ws, c.out, c.in)
	case c.view == nil:
		c.kernel.Run(&x.ws, c.out, c.in)
	case !c.view.View(c.out, c.in):
		x.copyResults(i)
		c.kernel.Run(&x.ws, c.out, c.in)
	}
	return nil
}

// catch turns a diagnostic that a kernel panicked with into an error that names
// the step. The scratch position is unknown then, so the workspace is new.
func (x *instance) catch(err *error) {
	r := recover()
	if r == nil {
		return
	}
	d, ok := r.(*diag.Error)
	if !ok {
		if d = kernel.Foreign(r); d != nil {
			ok = true
		} else if fault, is := r.(runtime.Error); is && !x.foreign() {
			d, ok = diag.Bug("a kernel failed"), true
			d.Err = fault
		}
	}
	if !ok {
		panic(r)
	}
	x.ws = kernel.Workspace{Threads: x.e.threads}
	x.sized = false
	*err = x.context(x.at, d)
}

// foreign reports whether the step in progress runs a Go function of the user,
// whose panics are the user's.
func (x *instance) foreign() bool {
	if x.at >= len(x.steps) {
		return false
	}
	_, is := x.steps[x.at].kernel.(*host)
	return is || x.steps[x.at].control != nil
}

// context adds a step to an error.
func (x *instance) context(step int, err error) error {
	d, ok := err.(*diag.Error)
	if !ok || step >= len(x.e.plan.Steps) {
		return err
	}
	s := &x.e.plan.Steps[step]
	c := *d
	c.Pos, c.Op = s.Pos, s.Op
	if len(s.Nodes) > 0 {
		c.Node = s.Nodes[0]
	}
	return &c
}

// positioned adds a step to an error that names no place.
func (x *instance) positioned(step int, err error) error {
	if d, ok := err.(*diag.Error); ok && d.Node == "" {
		return x.context(step, d)
	}
	return err
}

// forget drops the caller's memory, so that an idle instance keeps none alive.
func (x *instance) forget() {
	p := x.e.plan
	for i := range p.Buffers {
		switch b := &p.Buffers[i]; {
		case b.Kind == plan.Input || b.Kind == plan.Output || x.e.inDonated(i),
			b.Kind == plan.View && p.Buffers[b.Of].Kind != plan.Temp && p.Buffers[b.Of].Kind != plan.Weight:
			x.hdr[i].SetStorage(nil, 0)
		}
	}
}
