package shard

import (
	"context"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/expand"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// Propagate finds the layout of every value of a module's graph, which is not changed, from
// those that the author gives, forwards and backwards through the calls. Options.Shapes pins
// symbols, all of which must have a size, and Options.Outputs chooses results.
//
// The error lists all mistakes: in the layout (BadLayout), sizes that are not known, and,
// each at the line of the model that made the call, what two of the author's layouts would
// have differently (Conflict). A dimension that is cut where a call needs it whole is none:
// the plan lists what has to be exchanged for it.
func Propagate(m *graph.Module, o lowering.Options, l Layout) (*Plan, error) {
	p, errs := l.enter(m, o)
	if p == nil {
		return nil, errs
	}
	if err := simple(p.module); err != nil {
		errs.Add(err)
		return nil, errs
	}
	if errs = append(errs, p.read()...); len(errs) > 0 {
		errs.Sort()
		return nil, errs
	}
	p.compute()
	for p.sweep(slices.All(p.calls)) || p.sweep(slices.Backward(p.calls)) {
	}
	if err := p.conflicts(); err != nil {
		return nil, err
	}
	return p.plan(), nil
}

// enter prepares the module with what the author says of its values. It reports a mesh that is none and names
// that the graph does not have; there is nothing more to look at where it returns nil.
func (l Layout) enter(m *graph.Module, o lowering.Options) (p *propagation, errs diag.List) {
	bad := func(msg, hint string) { errs = append(errs, diag.New(BadLayout, msg).WithHint(hint)) }
	l.Mesh.check(bad)
	ready, err := lowering.Prepare(l.mark(m, bad), o)
	if err != nil {
		errs.Add(err)
		return nil, errs
	}
	p = &propagation{layout: l, module: ready, values: map[*graph.Node][]*tensor{}, weights: map[string]*tensor{}, stored: map[string]*tensor{}, said: map[string]bool{}}
	for n := range ready.Graph.Nodes() {
		if _, given := told.Get(n); given {
			p.said[n.Name()] = true
		}
	}
	return p, errs
}

// simple expands calls of which no step says how they are computed in parts, as far as they
// can be written with others.
func simple(m *graph.Module) error {
	for n := range m.Graph.All() {
		if n.Opcode().IsCall() {
			lowering.Origin.Set(n, lowering.SourceOf(n))
		}
	}
	keep := func(n *graph.Node) bool { return n.Op() == nil || n.Op().Structural() || cutter(n) != nil }
	c := passes.NewCtx(context.Background(), m)
	if _, err := simplify.ExpandExcept(keep, nil, expand.Table()).Run(c, m.Graph); err != nil {
		return err
	}
	_, err := simplify.DCE.Run(c, m.Graph)
	return err
}

// cutter returns the step of a call that says how it can be computed in parts, nil where
// there is none.
func cutter(n *graph.Node) kernel.Cutter {
	if n.Op() == nil || n.Op().Structural() || n.Op().AdHoc {
		return nil
	}
	s, err := n.Op().Step(n.Attrs(), n.OperandTypes())
	if err != nil {
		return nil
	}
	c, _ := s.(kernel.Cutter)
	return c
}

// call is a call of the graph with its operands, nil for absent ones, and results.
type call struct {
	node    *graph.Node
	in, out []*tensor
	cuts    []kernel.Cut
}

// propagation is the search for layouts.
type propagation struct {
	layout  Layout
	module  *graph.Module
	inputs  []*tensor
	weights map[string]*tensor
	stored  map[string]*tensor // of weights that lie otherwise
	paths   []string           // of weights, in the order of their first use
	values  map[*graph.Node][]*tensor
	calls   []*call
	open    bool // sizes may be unknown
	// said has the calls of which the author lays out the result, before they are expanded.
	said map[string]bool
}

// read enters the values of the graph, and what the author says of them.
func (p *propagation) read() (errs diag.List) {
	seen := map[string]bool{}
	for n := range p.module.Graph.Nodes() {
		switch n.Opcode() {
		case graph.Output:
			continue
		case graph.GetAttr:
			if t := p.weights[n.Target()]; t != nil {
				p.values[n] = []*tensor{t}
				continue
			}
		}
		if n.Op() == op.GetItem {
			k := n.Attrs().(op.GetItemAttrs).Index
			if list := p.values[n.Arg(0)]; k < len(list) {
				p.values[n] = list[k:][:1]
				errs = append(errs, p.tell(n, list[k], seen)...)
			}
			continue
		}
		list, err := p.tensors(n)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p.values[n] = list
		errs = append(errs, p.tell(n, list[0], seen)...)
	}
	return append(errs, p.unknown(seen)...)
}

// compute enters the calls of the graph.
func (p *propagation) compute() {
	for n := range p.module.Graph.Nodes() {
		if n.Opcode().IsCall() && n.Op() != op.GetItem {
			p.calls = append(p.calls, p.call(n))
		}
	}
}

// tell enters the author's layout of a node, if there is one, and notes its name as seen.
func (p *propagation) tell(n *graph.Node, t *tensor, seen map[string]bool) (errs diag.List) {
	var s Split
	var given bool
	var kind string
	switch n.Opcode() {
	case graph.Placeholder:
		kind = "input"
		s, given = p.layout.Inputs[n.Name()]
		t.name = "input " + n.Name()
		p.inputs = append(p.inputs, t)
	case graph.GetAttr:
		kind = "weight"
		s, given = p.layout.Weights[n.Target()]
		t.name = "weight " + n.Target()
		p.weights[n.Target()] = t
		p.paths = append(p.paths, n.Target())
	default:
		kind = "value"
		var say mark
		if say, given = told.Get(n); given {
			s, t.name = say.split, "value "+say.name
		}
	}
	seen[t.name] = true
	fix := func(t *tensor, s Split, how string) {
		found := len(errs)
		p.layout.Mesh.fits(t.dims, s, func(msg, hint string) {
			errs = append(errs, n.Error(BadLayout, t.name+" is "+n.Type().String()+how+": "+msg).WithHint(hint))
		})
		if len(errs) == found && !p.open {
			t.fix(p.layout.Mesh, s)
		}
	}
	if at, given := p.layout.Stored[n.Target()]; given && kind == "weight" {
		stored := newTensor(t.name, t.dtype, t.dims)
		fix(stored, at, ", and stored")
		p.stored[n.Target()] = stored
	}
	if !given {
		return errs
	}
	if n.Type().Kind() == shape.Tuple {
		return append(errs, n.Error(BadLayout, kind+" "+n.Name()+" is a tuple, which has no layout").WithHint("name the calls that take it apart"))
	}
	fix(t, s, "")
	return errs
}

// unknown reports what the author lays out and the graph does not have.
func (p *propagation) unknown(seen map[string]bool) (errs diag.List) {
	for _, k := range []struct {
		kind string
		m    map[string]Split
		cure string
	}{
		{"input", p.layout.Inputs, "the placeholders of the graph have the names"},
		{"weight", p.layout.Stored, "Module.Params has the paths; it is one that the graph reads"},
		{"weight", p.layout.Weights, "Module.Params has the paths; it is one that the graph reads"},
		{"value", p.layout.Values, "it is unused, or gives its operand as it is: lay out that one"},
	} {
		for _, name := range names(k.m) {
			if !seen[k.kind+" "+name] {
				errs = append(errs, diag.New(BadLayout, "the prepared graph has no "+k.kind+" "+strconv.Quote(name)).WithHint(k.cure))
			}
		}
	}
	return errs
}

// tensors returns the results of a node.
func (p *propagation) tensors(n *graph.Node) ([]*tensor, *diag.Error) {
	members := []shape.Type{n.Type()}
	if n.Type().Kind() == shape.Tuple {
		members = nil
		for i := range n.Type().Len() {
			members = append(members, n.Type().Member(i))
		}
	}
	var list []*tensor
	for _, t := range members {
		if _, _, ok := t.Concrete(); !ok && !p.open {
			return nil, unknownSize(n, t)
		}
		list = append(list, newTensor("value "+lowering.SourceOf(n).Node, t.DType(), sizesOf(t)))
	}
	return list, nil
}

func (p *propagation) call(n *graph.Node) *call {
	c := &call{node: n, out: p.values[n]}
	var in, out [][]int
	for _, a := range n.Args() {
		if a == nil {
			c.in, in = append(c.in, nil), append(in, nil)
			continue
		}
		t := p.values[a][0]
		c.in, in = append(c.in, t), append(in, t.dims)
	}
	for _, t := range c.out {
		out = append(out, t.dims)
	}
	if k := cutter(n); k != nil {
		c.cuts = k.Cuts(out, in)
	}
	return c
}

// slots calls f for each dimension that a cut cuts.
func (c *call) slots(cut *kernel.Cut, f func(t *tensor, dim int)) {
	for i, d := range cut.In {
		if d >= 0 {
			f(c.in[i], d)
		}
	}
	for i, d := range cut.Out {
		if d >= 0 {
			f(c.out[i], d)
		}
	}
}

// axes returns along which axes the dimensions of a cut are cut by now, in order.
func (c *call) axes(cut *kernel.Cut) (list []int) {
	c.slots(cut, func(t *tensor, d int) {
		if k := t.split[d]; k >= 0 && !slices.Contains(list, k) {
			list = append(list, k)
		}
	})
	return list
}

// decided reports whether the author says how the result of the call is laid out, or of the
// call that it was a part of.
func (p *propagation) decided(c *call) bool {
	return p.said[lowering.SourceOf(c.node).Node] || slices.ContainsFunc(c.out, func(t *tensor) bool { return t.fixed })
}

// sweep hands layouts on through calls and reports whether a value has got one.
func (p *propagation) sweep(calls func(yield func(int, *call) bool)) (changed bool) {
	for _, c := range calls {
		for i := range c.cuts {
			changed = p.spread(c, i) || changed
		}
	}
	return changed
}

// spread gives all dimensions of a cut the axis that one of them has, as far as they are
// free for it.
func (p *propagation) spread(c *call, i int) (changed bool) {
	cut := &c.cuts[i]
	list := c.axes(cut)
	if len(list) != 1 || !p.divides(list[0], cut) {
		return false
	}
	k := list[0]
	for j := range c.cuts { // a partition has one place along an axis
		if j != i && slices.Contains(c.axes(&c.cuts[j]), k) {
			return false
		}
	}
	if !c.wants(cut, k) {
		return false
	}
	var from *tensor
	c.slots(cut, func(t *tensor, d int) {
		if t.split[d] == k && from == nil {
			from = t.from[d]
		}
	})
	c.slots(cut, func(t *tensor, d int) {
		if t.split[d] < 0 && !t.fixed && !t.has(k) && t.dims[d]%p.layout.Mesh[k].Size == 0 {
			t.split[d], t.from[d] = k, from
			changed = true
		}
	})
	return changed
}

// wants reports whether what the author says of the results agrees with cutting along an axis.
func (c *call) wants(cut *kernel.Cut, axis int) bool {
	for i, d := range cut.Out {
		if d >= 0 && c.out[i].fixed && c.out[i].split[d] != axis {
			return false
		}
	}
	return true
}

// divides reports whether a cut has as many equal parts as an axis.
func (p *propagation) divides(axis int, cut *kernel.Cut) bool {
	return cut.Size > 0 && cut.Size%p.layout.Mesh[axis].Size == 0
}
