package grad

import (
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// The gradient of control flow is control flow. Its bodies compute again what they need of
// the bodies that they are the gradients of, from operands and from what these kept: that is
// exact, because a body without effects gives the same values for the same operands, random
// numbers of a key included. Bodies with effects are refused.

// control differentiates a call of cond, while or scan.
func (d *differentiation) control(f *flow, seeds []*graph.Node) error {
	switch f.Op() {
	case op.Cond:
		return d.cond(f, seeds)
	case op.Scan:
		return d.scan(f, seeds)
	}
	return d.while(f, seeds)
}

// cond makes a cond with the same condition, of which each branch gives the gradients of
// its operands: zeros for those that only the other one depends on.
func (d *differentiation) cond(f *flow, seeds []*graph.Node) error {
	var wrt, seeded []int
	for i := 1; i < f.NumArgs(); i++ {
		if slices.ContainsFunc(f.bodies, func(r *graph.Graph) bool { return d.depends[r.Inputs()[i-1]] }) {
			wrt = append(wrt, i-1)
		}
	}
	args := f.Args()
	for i, s := range seeds {
		if s != nil {
			seeded, args = append(seeded, i), append(args, s)
		}
	}
	branches := []*graph.Graph{d.g.NewRegion(f.bodies[0].Name + "_grad"), d.g.NewRegion(f.bodies[1].Name + "_grad")}
	for k, g := range branches {
		given := args[1:f.NumArgs()]
		inputs(g, given, typesOf(given))
		types := typesOf(args[f.NumArgs():])
		for j, i := range seeded {
			types[j] = d.sized(types[j], f.bodies[k].Output().Arg(i).Type())
		}
		inputs(g, args[f.NumArgs():], types)
	}
	n := d.c.Region(op.Cond, op.None{}, branches, args...)
	for k, r := range f.bodies {
		in := branches[k].Inputs()
		own, given := in[:f.NumArgs()-1], in[f.NumArgs()-1:]
		b, values, outs := d.inside(branches[k], r, own)
		b.reverse(values, outs, func(yield func(v, seed *graph.Node)) {
			for j, i := range seeded {
				yield(outs[i], given[j])
			}
		})
		grads := make([]*graph.Node, len(wrt))
		for j, i := range wrt {
			grads[j] = b.of(own[i])
		}
		b.c.Output(packed(len(grads)), grads...)
		d.faults = append(d.faults, b.faults...)
	}
	if err := d.made(n, branches); err != nil {
		return err
	}
	for j, i := range wrt {
		d.give(f.Arg(i+1), 0, d.c.ItemNode(n, j))
	}
	return nil
}

// sized says of the sizes of t that are not known what a type says of the same value that is
// known around the region.
func (d *differentiation) sized(t, inner shape.Type) shape.Type {
	if !t.Ranked() || t.Rank() != inner.Rank() {
		return t
	}
	dims := t.Dims()
	for i, x := range inner.Dims().Slice() {
		if dims.At(i).IsUnknown() && d.knows(x) {
			dims = dims.With(i, x)
		}
	}
	return t.WithDims(dims)
}

// knows reports whether a size is known around the regions of d.g.
func (d *differentiation) knows(x shape.Dim) bool {
	if x.IsUnknown() {
		return false
	}
	return !slices.ContainsFunc(x.Symbols(), func(name string) bool {
		for g := d.g; ; g = g.Parent().Graph() {
			if _, ok := g.Symbol(name); ok {
				return false
			}
			if g.Parent() == nil {
				return true
			}
		}
	})
}

// made ends a call of control flow, whose regions are there now.
func (d *differentiation) made(n *graph.Node, regions []*graph.Graph) error {
	for _, r := range regions {
		if _, err := simplify.DCE.Run(d.ctx, r); err != nil {
			return err
		}
	}
	return n.Infer()
}

// inside copies a region r into g, the region of a gradient, where own stand for its inputs.
func (d *differentiation) inside(g, r *graph.Graph, own []*graph.Node) (b *differentiation, values map[*graph.Node]*graph.Node, outs []*graph.Node) {
	b = &differentiation{request: d.request, ctx: d.ctx, g: g, m: d.m, c: g.At(), depends: map[*graph.Node]bool{}, adjoint: map[*graph.Node][]*graph.Node{}}
	values = map[*graph.Node]*graph.Node{}
	for i, p := range r.Inputs() {
		values[p] = own[i]
		if d.depends[p] {
			b.depends[values[p]] = true
		}
	}
	return b, values, b.c.GraphCopy(r, values)
}

// reverse differentiates the graph of a body from its results, which get seeds, back to the
// values that b depends on so far.
func (b *differentiation) reverse(values map[*graph.Node]*graph.Node, outs []*graph.Node, seeds func(yield func(v, seed *graph.Node))) {
	a, leaf := newActivity(), b.depends
	for v := range leaf {
		a.from[v] = true
	}
	a.forward(b.g)
	seeds(func(v, _ *graph.Node) { a.to[v] = true })
	a.backward(b.g)
	b.depends = map[*graph.Node]bool{}
	for n := range b.g.All() {
		b.depends[n] = a.depends(n)
	}
	var order []*graph.Node
	for n := range b.g.Backward() {
		if b.depends[n] && !leaf[n] {
			order = append(order, n)
		}
	}
	seeds(func(v, seed *graph.Node) { b.give(v, 0, seed) })
	b.steps(order)
}

// of returns the derivative with respect to a value, zeros where it is none.
func (d *differentiation) of(n *graph.Node) *graph.Node {
	if g := d.adjoint[n]; g != nil && g[0] != nil {
		return g[0]
	}
	return d.zeros(n)
}

// inputs makes inputs of a region that stand for values.
func inputs(g *graph.Graph, values []*graph.Node, types []shape.Type) (list []*graph.Node) {
	c := g.At()
	for i, v := range values {
		list = append(list, c.Placeholder(v.Name(), types[i], nil))
	}
	return list
}

func typesOf(list []*graph.Node) []shape.Type {
	types := make([]shape.Type, len(list))
	for i, n := range list {
		types[i] = n.Type()
	}
	return types
}

// slice is the type of a slice of a sequence.
func slice(t shape.Type) shape.Type {
	if !t.Ranked() {
		return t
	}
	return t.WithDims(t.Dims().Sub(1, t.Rank()))
}

// packed is the structure of some results.
func packed(n int) *graph.Structure {
	s := &graph.Structure{Kind: graph.Results}
	for i := range n {
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	return s
}

// refusedFlow returns why a call of control flow cannot be differentiated, nil where it can.
func (d *differentiation) refusedFlow(n *graph.Node) *diag.Error {
	f := flowOf(n)
	if f == nil {
		return n.Error(ControlFlow, "the gradient goes through a call of which nothing is known")
	}
	for m := range n.Inner() {
		if len(m.Regions()) == 0 && m.Opcode().IsCall() && m.Effect() == op.Effectful {
			return m.Error(ControlFlow, "the gradient goes through control flow that acts on the world or writes state, which would be done twice").
				WithHint("return the value from the body, and write it after the loop or branch")
		}
	}
	if n.Op() != op.While {
		return nil
	}
	if f.Attrs().(op.LoopAttrs).MaxTrips == 0 {
		return n.Error(ControlFlow, "the gradient goes through a while of any number of trips, which keeps values of each").
			WithHint("set MaxTrips, the most trips that it makes: tensor.WhileAtMost(n, cond, body, ...)")
	}
	for i := range f.carry {
		if t := n.Arg(i).Type(); !t.Ranked() || slices.ContainsFunc(t.Dims().Slice(), shape.Dim.IsUnknown) {
			return n.Error(OpenSize, "carried value "+n.Arg(i).String()+" is "+t.String()+", and the gradient keeps it of each trip").WithHint("give the inputs' types")
		}
	}
	return nil
}
