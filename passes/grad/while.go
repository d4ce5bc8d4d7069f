package grad

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// while makes a while of as many trips as the loop has made. That counts them now, and writes
// what it carries into each trip into buffers of MaxTrips rows, which the gradient reads from
// the last to the first.
func (d *differentiation) while(f *flow, seeds []*graph.Node) error {
	kept := f.carry
	count, buffers, err := d.record(f)
	if err != nil {
		return err
	}
	f = flowOf(f.Node)
	r := d.reversed(f)
	state := r.begin(d, seeds)
	constants := f.Args()[f.carry:]
	args := slices.Concat([]*graph.Node{count}, state, buffers, constants)
	types := typesOf(args)
	test, g := d.g.NewRegion("cond_grad"), d.g.NewRegion(r.body.Name+"_grad")
	inputs(test, args, types)
	in := inputs(g, args, types)
	a := op.LoopAttrs{Carry: 1 + len(state), MaxTrips: f.Attrs().(op.LoopAttrs).MaxTrips}
	n := d.c.Region(op.While, a, []*graph.Graph{test, g}, args...)
	c := test.At()
	c.Output(nil, c.Function(std.Gt, std.BinaryAttrs{Other: op.Int(0)}, test.Inputs()[0]))

	c = g.At()
	last := c.Function(std.Sub, std.SubAttrs{Other: op.Int(1)}, in[0])
	at := c.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(1)}, last)
	rest := in[1+len(state):]
	var own []*graph.Node
	for _, buffer := range rest[:kept] {
		row := c.Function(std.IndexSelect, std.DimAttrs{Dim: 0}, buffer, at)
		own = append(own, c.Function(std.Reshape, std.ReshapeAttrs{Shape: slice(buffer.Type()).Dims()}, row))
	}
	own = slices.Concat(own, []*graph.Node{last}, rest)
	b, _, results := r.trip(d, g, own, in[1:], nil)
	b.c.Output(packed(1+len(results)), append([]*graph.Node{last}, results...)...)
	d.faults = append(d.faults, b.faults...)
	if err := d.made(n, []*graph.Graph{test, g}); err != nil {
		return err
	}
	r.end(d, n, 1, nil)
	return nil
}

// record makes a while count its trips and write what it carries into each one to buffers,
// before it does anything else; count and buffers are what these are at last. The loop carries
// them after what it carried.
func (d *differentiation) record(f *flow) (count *graph.Node, buffers []*graph.Node, err error) {
	a := f.Attrs().(op.LoopAttrs)
	most := shape.Const(a.MaxTrips)
	c := d.g.Before(f.Node)
	begin := []*graph.Node{c.Function(std.Full, std.FullAttrs{Size: shape.ConstDims(), Value: op.Int(0), DType: countType})}
	for i := range f.carry {
		t := f.Arg(i).Type()
		size := shape.Of(append([]shape.Dim{most}, t.Dims().Slice()...)...)
		begin = append(begin, c.Function(std.Zeros, std.SizeAttrs{Size: size, DType: t.DType()}))
	}
	f.SetArgs(slices.Insert(f.Args(), f.carry, begin...)...)
	for _, r := range f.Regions() {
		insertInputs(r, f.carry, begin)
	}
	body := f.bodies[0]
	in := body.Inputs()
	c = body.Before(body.Output())
	c.From(f.Node)
	trip := in[f.carry]
	next := []*graph.Node{c.Function(std.Add, std.AddAttrs{Other: op.Int(1)}, trip)}
	for i := range f.carry {
		next = append(next, write(c, in[f.carry+1+i], trip, in[i]))
	}
	a.Carry += len(begin)
	if err := f.more(d, a, f.carry, next); err != nil {
		return nil, nil, err
	}
	at := d.g.After(f.Node)
	count = at.ItemNode(f.Node, f.carry)
	for i := range f.carry {
		buffers = append(buffers, at.ItemNode(f.Node, f.carry+1+i))
	}
	return count, buffers, nil
}

// write makes a buffer that has a value in a row.
func write(c *graph.Cursor, buffer, row, value *graph.Node) *graph.Node {
	size := value.Type().Dims().Slice()
	ones := make([]shape.Dim, 1+len(size))
	for i := range ones {
		ones[i] = shape.Const(1)
	}
	one := shape.Of(append([]shape.Dim{shape.Const(1)}, size...)...)
	at := c.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(ones...)}, row)
	at = c.Function(std.Expand, std.ExpandAttrs{Shape: one}, at)
	src := c.Function(std.Reshape, std.ReshapeAttrs{Shape: one}, value)
	return c.Function(std.Scatter, std.ScatterAttrs{Dim: 0}, buffer, at, src)
}

// insertInputs gives a region more inputs, in front of input i.
func insertInputs(r *graph.Graph, i int, values []*graph.Node) {
	at := r.First()
	if in := r.Inputs(); i < len(in) {
		at = in[i]
	} else {
		for at != nil && at.Opcode() == graph.Placeholder {
			at = at.Next()
		}
	}
	c := r.Before(at)
	for _, v := range values {
		c.Placeholder(v.Name(), v.Type(), nil)
	}
}
