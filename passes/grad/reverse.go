package grad

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// walk goes from the results that are differentiated back to the targets and adds up the
// derivative with respect to each value.
func (d *differentiation) walk() {
	d.adjoint = map[*graph.Node][]*graph.Node{}
	var order []*graph.Node
	for n := range d.g.Backward() {
		if d.depends[n] {
			order = append(order, n)
		}
	}
	out := d.g.Output()
	d.c = d.g.Before(out)
	d.begin(out)
	d.steps(order)
	d.c.From(out)
}

// steps differentiates calls, from the last to the first.
func (d *differentiation) steps(order []*graph.Node) {
	for _, n := range order {
		d.join(n)
		seeds := d.adjoint[n]
		if seeds == nil || !n.Opcode().IsCall() {
			continue
		}
		d.c.From(n)
		if err := d.step(n, seeds); err != nil {
			d.fault(placed(n, err))
		}
	}
	for _, n := range d.waiting { // what calls did not come to: inputs of a body
		d.join(n)
	}
	d.waiting = nil
}

// begin gives the results their seeds: one for the loss, or inputs.
func (d *differentiation) begin(out *graph.Node) {
	if !d.seeds {
		loss := out.Arg(d.Loss)
		d.c.From(loss)
		if d.depends[loss] {
			d.adjoint[loss] = []*graph.Node{d.call(std.OnesLike, std.LikeAttrs{}, loss)}
		}
		return
	}
	first := d.g.First()
	for first != nil && first.Opcode() == graph.Placeholder {
		first = first.Next()
	}
	c, name := d.g.Before(first), cmp.Or(d.name, "grad_")
	for i, k := range d.seeded {
		n := out.Arg(k)
		seed := c.Placeholder(name+strconv.Itoa(i), n.Type(), nil)
		if d.depends[n] {
			d.give(n, 0, seed)
		}
	}
}

// placed gives a mistake of a rule the place of the call.
func placed(n *graph.Node, err error) *diag.Error {
	var list diag.List
	list.Add(err)
	e := *list[0]
	at := n.Error(e.Code, e.Msg).WithHint(e.Hint)
	return at
}

// step differentiates one call.
func (d *differentiation) step(n *graph.Node, seeds []*graph.Node) (err error) {
	defer diag.Catch(&err)
	if a, ok := n.Attrs().(op.GetItemAttrs); ok && n.Op() == op.GetItem {
		d.give(n.Arg(0), a.Index, seeds[0])
		return nil
	}
	if f := flowOf(n); f != nil {
		return d.control(f, seeds)
	}
	switch way, _ := How(n.Op()); way {
	case ByRule:
		d.byRule(n, seeds)
	case ByExpression:
		return d.byExpression(n, seeds)
	case ByView:
		d.byView(n, seeds)
	default:
		return diag.Bug("grad: " + n.Op().Name + " is left without a rule")
	}
	return nil
}

// byRule applies the operator's own rule.
func (d *differentiation) byRule(n *graph.Node, seeds []*graph.Node) {
	o := n.Op()
	call := op.GradCall{Seeds: make([]op.Value, len(seeds)), Result: func(i int) op.Value { return d.result(n, i) }}
	for i, s := range seeds {
		if s != nil {
			call.Seeds[i] = s
		}
	}
	for _, a := range n.Args() {
		v, need := op.Value(nil), false
		if a != nil {
			v, need = a, d.depends[a]
		}
		call.In, call.Needed = append(call.In, v), append(call.Needed, need)
	}
	for len(call.In) < len(o.In) && !o.Variadic() {
		call.In, call.Needed = append(call.In, nil), append(call.Needed, false)
	}
	for i, v := range o.Grad(d.c, n.Attrs(), call) {
		if v != nil && call.Need(i) {
			d.give(n.Arg(i), 0, v.(*graph.Node))
		}
	}
}

// byView puts what comes back to a view into zeros in the place of what it shows. Where that is
// a range, it waits for others of the same value: see join.
func (d *differentiation) byView(n *graph.Node, seeds []*graph.Node) {
	o := n.Op()
	base := n.Arg(o.ViewOf - 1)
	if !d.depends[base] {
		return
	}
	var g op.Value = hole{base.Type()}
	for i, s := range seeds {
		if s != nil {
			g = o.Scatter(cutter{d, base}, n.Attrs(), i, g, s)
		}
	}
	if g, ok := g.(*graph.Node); ok {
		d.give(base, 0, g)
	}
}

// result returns result i of a call.
func (d *differentiation) result(n *graph.Node, i int) *graph.Node {
	if _, tuple := n.Op().NumResults(n.Attrs()); !tuple {
		return n
	}
	for u := range n.Users() {
		if a, ok := u.Attrs().(op.GetItemAttrs); ok && u.Op() == op.GetItem && a.Index == i {
			return u
		}
	}
	return d.g.After(n).ItemNode(n, i)
}

// give adds to the derivative with respect to result i of a node.
func (d *differentiation) give(n *graph.Node, i int, g *graph.Node) {
	t, count := n.Type(), 1
	if t.Kind() == shape.Tuple {
		t, count = t.Member(i), t.Len()
	}
	if !d.depends[n] || !t.DType().IsFloat() {
		return
	}
	if g.Type().DType() != t.DType() {
		g = d.call(std.Cast, std.CastAttrs{DType: t.DType()}, g)
	}
	g = d.fit(g, t)
	if d.adjoint[n] == nil {
		d.adjoint[n] = make([]*graph.Node, count)
	}
	if old := d.adjoint[n][i]; old != nil {
		g = d.call(std.Add, std.AddAttrs{}, old, g)
	}
	d.adjoint[n][i] = g
}

// fit undoes broadcasting: what was stretched is added up. Axes of size 1 that the gradient has
// and the value does not are no sums, unless the value has sizes that a reshape cannot name.
func (d *differentiation) fit(g *graph.Node, t shape.Type) *graph.Node {
	have := g.Type()
	if !have.Ranked() || !t.Ranked() {
		panic(diag.New(OpenSize, "the rank of "+t.String()+" or of its gradient "+have.String()+" is not known").WithHint("give the inputs' types"))
	}
	lead := have.Rank() - t.Rank()
	if lead < 0 {
		panic(diag.Bug("grad: a gradient of type " + have.String() + " for " + t.String()))
	}
	var axes []int
	open := slices.ContainsFunc(t.Dims().Slice(), shape.Dim.IsUnknown)
	for i := range have.Rank() {
		switch {
		case i < lead:
			if open || !have.Dim(i).Is(1) {
				axes = append(axes, i)
			}
			continue
		case t.Dim(i - lead).IsUnknown():
			if have.Dim(i).Is(1) {
				continue
			}
			if !have.Dim(i).IsUnknown() {
				panic(diag.New(OpenSize, "dimension "+strconv.Itoa(i-lead)+" of "+t.String()+" is not known, and may have been stretched to "+have.Dim(i).String()).WithHint("give the inputs' types"))
			}
		case t.Dim(i-lead).Is(1) && !have.Dim(i).Is(1):
			axes = append(axes, i)
		}
	}
	if len(axes) > 0 {
		g = d.call(std.Sum, std.ReduceAttrs{Dim: op.IntList(axes...), KeepDim: lead == 0}, g)
	}
	if lead > 0 && !g.Type().Dims().Equal(t.Dims()) {
		g = d.call(std.Reshape, std.ReshapeAttrs{Shape: t.Dims()}, g)
	}
	return g
}

func (d *differentiation) call(o *op.Op, attrs any, in ...*graph.Node) *graph.Node {
	return d.c.Function(o, attrs, in...)
}

func (d *differentiation) zeros(like *graph.Node) *graph.Node {
	return d.call(std.ZerosLike, std.LikeAttrs{}, like)
}
