package cpu

import (
	"context"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// control is the step of cond, while and scan: their bodies are plans of their
// own, which the executor runs.
type control struct {
	Op    string
	Carry int
	Seqs  int

	inputs [][]*graph.Node // placeholders of each body
}

// Run implements kernel.Step. The executor never calls it, because the bodies
// need a context and executables.
func (c *control) Run(*kernel.Workspace, []*array.Array, []*array.Array) {
	panic(diag.Bug(c.Op + " is run as a kernel"))
}

// control plans the bodies of a control-flow node and adds its step.
func (b *builder) control(n *graph.Node, in []int, types []shape.Type) value {
	k := &control{Op: n.Op().Name}
	if a, ok := n.Attrs().(op.LoopAttrs); ok {
		k.Carry, k.Seqs = a.Carry, a.Seqs
	}
	refuse := func(msg string) value {
		b.errs = append(b.errs, n.Error(lowering.NoRegions, msg).WithHint("interpret the graph"))
		return nil
	}
	if err := n.CheckControl(); err != nil {
		return refuse(err.Msg)
	}
	types = append([]shape.Type(nil), types...)
	if n.Op() == op.Cond {
		types = types[1:]
	}
	for i := k.Carry; i < k.Carry+k.Seqs; i++ {
		if types[i].Rank() < 1 {
			return refuse("sequence " + strconv.Itoa(i-k.Carry) + " is " + types[i].String() + ", expected one or more dimensions")
		}
		types[i] = types[i].WithDims(types[i].Dims().Sub(1, types[i].Rank()))
	}
	at := len(b.p.Steps)
	out := b.compute(n, k, in)
	if out == nil {
		return nil
	}
	st := &b.p.Steps[at]
	for _, r := range n.Regions() {
		m, err := lowering.PrepareRegion(b.m, r, types)
		if err != nil {
			return b.fail(n, err)
		}
		p, err := planWithin(m, b.opts, b.assigned, b.images)
		if err != nil {
			b.errs.Add(err)
			return nil
		}
		if p.Stateful {
			return refuse("a body writes state of the model")
		}
		dropValues(m)
		st.Regions = append(st.Regions, p)
		k.inputs = append(k.inputs, m.Graph.Inputs())
	}
	// A condition gives one value, a body as many as the node has results.
	for i, p := range st.Regions {
		count := len(st.Out)
		if n.Op() == op.While && i == 0 {
			count = 1
		}
		if len(p.Outputs) != count || (n.Op() == op.While && len(st.Out) != k.Carry) {
			return refuse("region " + p.Name + " returns " + strconv.Itoa(len(p.Outputs)) + " values, expected " + strconv.Itoa(count))
		}
	}
	return out
}

// compileRegions makes the bodies of control-flow steps ready to run; state has the
// arrays of the buffers that this plan and those around it write.
func (e *Executable) compileRegions(from *source, state map[string]*array.Array) error {
	for i := range e.plan.Steps {
		c, ok := e.plan.Steps[i].Kernel.(*control)
		if !ok {
			continue
		}
		if e.regions == nil {
			e.regions = map[int][]*Executable{}
		}
		for r, p := range e.plan.Steps[i].Regions {
			body, err := newExecutable(p, from, c.inputs[r], e.threads, state)
			if err != nil {
				return err
			}
			e.regions[i] = append(e.regions[i], body)
		}
	}
	return nil
}

// run executes the step. Operands and results are the plan's memory.
func (c *control) run(ctx context.Context, bodies []*Executable, out, in []*array.Array) error {
	switch c.Op {
	case op.Cond.Name:
		pred, err := truth(in[0])
		if err != nil {
			return err
		}
		body := bodies[1]
		if pred {
			body = bodies[0]
		}
		return body.RunInto(ctx, out, in[1:])
	case op.While.Name:
		return c.while(ctx, bodies, out, in)
	}
	return c.scan(ctx, bodies[0], out, in)
}

// truth returns the one element of a bool array.
func truth(a *array.Array) (bool, error) {
	if a.DType() != array.Bool || a.Len() != 1 {
		return false, diag.New(interp.GuardFailed, "the condition is "+describe(a)+", expected one bool")
	}
	return array.Raw[bool](a)[a.Offset()], nil
}

func (c *control) while(ctx context.Context, bodies []*Executable, out, in []*array.Array) error {
	args := append([]*array.Array(nil), in...)
	for {
		cond, err := bodies[0].Run(ctx, args)
		if err != nil {
			return err
		}
		if more, err := truth(cond[0]); err != nil || !more {
			if err != nil {
				return err
			}
			return store(out, args[:c.Carry])
		}
		next, err := bodies[1].Run(ctx, args)
		if err != nil {
			return err
		}
		copy(args, next)
		if err := ctx.Err(); err != nil {
			return diag.Stop(err)
		}
	}
}

func (c *control) scan(ctx context.Context, body *Executable, out, in []*array.Array) error {
	args := append([]*array.Array(nil), in...)
	seqs := in[c.Carry : c.Carry+c.Seqs]
	steps := seqs[0].Dim(0)
	for i, s := range seqs {
		if s.Dim(0) != steps {
			return diag.New(op.SizeMismatch, "sequence "+strconv.Itoa(i)+" has "+strconv.Itoa(s.Dim(0))+" slices, expected as many as the first, "+strconv.Itoa(steps))
		}
	}
	for t := range steps {
		if err := ctx.Err(); err != nil {
			return diag.Stop(err)
		}
		for i, s := range seqs {
			args[c.Carry+i] = array.Select(s, 0, t)
		}
		next, err := body.Run(ctx, args)
		if err != nil {
			return err
		}
		copy(args, next[:c.Carry])
		for i := c.Carry; i < len(out); i++ {
			if err := store([]*array.Array{array.Select(out[i], 0, t)}, next[i:i+1]); err != nil {
				return err
			}
		}
	}
	return store(out[:c.Carry], args[:c.Carry])
}

// store copies results to where the plan wants them.
func store(to, from []*array.Array) error {
	for i := range to {
		if to[i].DType() != from[i].DType() || !equal(to[i].Shape(), from[i].Shape()) {
			return diag.New(interp.GuardFailed, "carried value "+strconv.Itoa(i)+" is "+describe(from[i])+", expected "+describe(to[i])+" as before the loop")
		}
		array.Copy(to[i], from[i])
	}
	return nil
}
