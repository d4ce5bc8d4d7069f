package cpu

import (
	"context"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// control is the step of cond, while and scan: their bodies are plans of their
// own, which the executor runs.
type control struct {
	plan.Control
	inputs [][]*graph.Node // placeholders of each body
}

// control plans the bodies of a control-flow node and adds its step.
func (b *builder) control(n *graph.Node, in []int, types []shape.Type) value {
	k := &control{Control: plan.Control{Op: n.Op().Name}}
	if a, ok := n.Attrs().(op.LoopAttrs); ok {
		k.Carry, k.Seqs, k.MaxTrips = a.Carry, a.Seqs, a.MaxTrips
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
	in = b.given(n, in)
	at := len(b.p.Steps)
	results := b.compute
	if byValue(n) {
		results = func(n *graph.Node, _ kernel.Step, in []int) value { return b.lateCond(n, k, in) }
	}
	out := results(n, k, in)
	if out == nil {
		return nil
	}
	st := &b.p.Steps[at]
	for _, r := range n.Regions() {
		m, err := lowering.PrepareRegion(b.m, r, types)
		if err != nil {
			return b.fail(n, err)
		}
		o := b.opts
		o.Donate, o.Into = nil, nil // the inputs of bodies are values of this plan
		p, err := planWithin(m, o, b.assigned, b.images)
		if err != nil {
			b.errs.Add(err)
			return nil
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
	b.p.Steps[at].Spare = b.spare(n, k, out, b.p.Steps[at].Regions)
	return out
}

// given copies operands that are views with gaps, because bodies are planned for operands
// without and a loop would copy them in each round, and those that bodies write over.
func (b *builder) given(n *graph.Node, in []int) []int {
	in = slices.Clone(in)
	taken := n.Copies().Taken
	for i, k := range in {
		if k >= 0 && (taken[i] || b.p.Buffers[k].Kind == plan.View && b.probe.gaps(k)) {
			in[i] = b.buffer(n.Name()+"_"+b.p.Buffers[k].Name, plan.Temp, b.p.Buffers[k].Type)
			b.copy(n, in[i], k)
		}
	}
	return in
}

// spare makes the buffers that a loop works in besides its results.
func (b *builder) spare(n *graph.Node, k *control, out []int, bodies []*plan.Plan) (list []int) {
	for i := range k.Carry {
		if !b.p.Buffers[out[i]].Late && bodies[len(bodies)-1].Updates(i, i) {
			list = append(list, out[i])
			continue
		}
		list = append(list, b.buffer(n.Name()+"_next", plan.Temp, b.p.Buffers[out[i]].Type))
	}
	if n.Op() == op.While {
		list = append(list, b.buffer(n.Name()+"_more", plan.Temp, shape.TensorType(array.Bool, shape.ConstDims())))
	}
	return list
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
			body, err := newExecutable(p, from, c.inputs[r], e.threads, e.limit, state)
			if err != nil {
				return err
			}
			for k := range c.Carry {
				body.updates = append(body.updates, r == len(e.plan.Steps[i].Regions)-1 && e.plan.Steps[i].Spare[k] == e.plan.Steps[i].Out[k])
			}
			e.regions[i] = append(e.regions[i], body)
		}
	}
	return nil
}

// flow is what an instance needs to run a control-flow step.
type flow struct {
	*control
	late       []bool // results that a call makes memory for
	bodies     []*Executable
	spare      []*array.Array
	whileState kernel.WhileLoop
	scanState  kernel.ScanLoop
}

// run executes the step. Operands and results are the plan's memory.
func (f *flow) run(ctx context.Context, work *kernel.Workspace, out, in []*array.Array) error {
	switch {
	case f.Cond():
		body := f.bodies[1]
		if kernel.Truth(in[0]) {
			body = f.bodies[0]
		}
		if !slices.Contains(f.late, true) {
			return body.RunInto(ctx, out, in[1:])
		}
		return body.runInto(ctx, out, in[1:], f.late)
	case f.While():
		return f.while(ctx, work, out, in)
	case f.Call():
		return f.bodies[0].runInto(ctx, out, in, f.late)
	}
	return f.scan(ctx, work, out, in)
}

func (f *flow) while(ctx context.Context, work *kernel.Workspace, out, in []*array.Array) error {
	l := &f.whileState
	defer l.Forget()
	for l.AtMost(f.MaxTrips).Begin(out, in, f.spare...); ; l.Next() {
		if err := ctx.Err(); err != nil {
			return diag.Stop(err)
		}
		if err := f.bodies[0].RunInto(ctx, l.Test, l.In); err != nil {
			return err
		}
		if !l.More() {
			break
		}
		if err := f.bodies[1].RunInto(ctx, l.Out, l.In); err != nil {
			return err
		}
	}
	l.End(work)
	return nil
}

func (f *flow) scan(ctx context.Context, work *kernel.Workspace, out, in []*array.Array) error {
	l := &f.scanState
	defer l.Forget()
	for l.Begin(f.Carry, f.Seqs, out, in, f.spare...); l.More(); l.Next() {
		if err := ctx.Err(); err != nil {
			return diag.Stop(err)
		}
		if err := f.bodies[0].RunInto(ctx, l.Out, l.In); err != nil {
			return err
		}
	}
	l.End(work)
	return nil
}
