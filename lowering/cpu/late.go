package cpu

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// A plan is laid out before its first step, and sizes that follow from values are known
// when the step has run that finds them. So a graph is cut after the operators that do
// (op.Op.ByValue): what follows from their results is a plan of its own, which a call
// runs as control flow runs a body. Its symbols are sizes of its operands, as those of
// every body.

// staged tells of each node of a graph on which side of the cut it is.
type staged struct {
	g     *graph.Graph
	sized map[*graph.Node]bool // operators that find sizes before the cut, and their results
	late  map[*graph.Node]bool // what is after it
}

// cutByValue puts what follows from sizes that a node of the module's graph finds into a
// sub-graph, of which the graph has one call then; the other results of the graph are
// computed before. A graph without such nodes stays as it is.
func cutByValue(m *graph.Module) error {
	if !slices.ContainsFunc(slices.Collect(m.Graph.Nodes()), byValue) {
		return nil
	}
	s := sortByValue(m.Graph)
	s.ownResults()
	if len(s.late) == 0 {
		return nil // nobody uses what they find
	}
	s.ownState()
	s.symbols()
	call, err := graph.Outline("rest", s.nodes())
	if err != nil {
		// Effects keep their order: everything after the first of the operators waits.
		s = sortByOrder(m.Graph)
		s.ownState()
		s.symbols()
		if call, err = graph.Outline("rest", s.nodes()); err != nil {
			return err
		}
	}
	return s.guarded(call)
}

// byValue reports whether a call finds sizes of its results.
func byValue(n *graph.Node) bool { return n.Op() != op.GetItem && n.FindsSizes() }

// sortByValue finds what follows from sizes that other nodes find. Operators that do not
// follow from one another find theirs together.
func sortByValue(g *graph.Graph) *staged {
	s := &staged{g: g, sized: map[*graph.Node]bool{}, late: map[*graph.Node]bool{}}
	for n := range g.Nodes() {
		switch {
		case !n.Opcode().IsCall():
		case n.Op() == op.GetItem && s.sized[n.Arg(0)]:
			s.sized[n] = true
		case s.follows(n):
			s.late[n] = true
		case byValue(n):
			s.sized[n] = true
		}
	}
	return s
}

// follows reports whether a node uses something that a node before found the sizes of, or
// speaks of such a size.
func (s *staged) follows(n *graph.Node) (yes bool) {
	for a := range n.Inputs() {
		yes = yes || s.sized[a] || s.late[a]
	}
	each := func(d shape.Dim) {
		for _, name := range d.Symbols() {
			if by, ok := s.g.Symbol(name); ok && by.Node != n {
				yes = yes || s.sized[by.Node] || s.late[by.Node]
			}
		}
	}
	speaks(n, each)
	return yes
}

// speaks ranges over the sizes in a node's type and attributes, and in its regions.
func speaks(n *graph.Node, each func(shape.Dim)) {
	one := func(n *graph.Node) {
		for _, t := range n.Type().Members() {
			for _, d := range t.Dims().Slice() {
				each(d)
			}
		}
		if o := n.Op(); o != nil {
			o.Codec().Symbols(n.Attrs(), each)
		}
	}
	one(n)
	for _, r := range n.Regions() {
		for m := range r.All() {
			one(m)
		}
	}
}

// sortByOrder lets everything wait that stands after the first operator that finds sizes.
func sortByOrder(g *graph.Graph) *staged {
	s := &staged{g: g, sized: map[*graph.Node]bool{}, late: map[*graph.Node]bool{}}
	for n := range g.Nodes() {
		switch {
		case !n.Opcode().IsCall():
		case len(s.sized) == 0 && byValue(n) || n.Op() == op.GetItem && s.sized[n.Arg(0)]:
			s.sized[n] = true
		case len(s.sized) > 0:
			s.late[n] = true
		}
	}
	return s
}

// ownResults copies what is returned as it was found, and what is returned twice: each
// result that waits is then one value after the cut, made there.
func (s *staged) ownResults() {
	out := s.g.Output()
	seen := map[*graph.Node]bool{}
	for i, a := range out.Args() {
		if a == nil || !s.sized[a] && !s.late[a] || a.Type().Kind() == shape.Tuple {
			continue
		}
		if s.sized[a] || seen[a] {
			c := s.g.Before(out).From(a).Function(std.Clone, nil, a)
			lowering.Origin.Set(c, lowering.SourceOf(a))
			out.SetArg(i, c)
			s.late[c] = true
		}
		seen[a] = true
	}
}

// ownState reads tensors of the state on each side of the cut by themselves, so that
// weights after it are weights there.
func (s *staged) ownState() {
	for n := range s.g.Nodes() {
		if n.Opcode() != graph.GetAttr {
			continue
		}
		waits, now := false, n.NumUses() == 0
		for u := range n.Users() {
			waits, now = waits || s.late[u], now || !s.late[u]
		}
		switch {
		case waits && !now:
			s.late[n] = true
		case waits:
			own := s.g.After(n).From(n).GetAttr(n.Target())
			own.SetLive(n.Live())
			own.SetType(n.Type())
			n.ReplaceUses(own, func(u *graph.Node) bool { return s.late[u] })
			s.late[own] = true
		}
	}
}

// nodes are those after the cut, in their order.
func (s *staged) nodes() (list []*graph.Node) {
	for n := range s.g.Nodes() {
		if s.late[n] {
			list = append(list, n)
		}
	}
	return list
}

// symbols lets results of what finds sizes have the symbols of these, where the graph
// relies on their being something else: that is asked after the cut.
func (s *staged) symbols() {
	for _, sym := range s.g.Symbols() {
		n, t := sym.Node, sym.Node.Type()
		if !s.sized[n] || !t.Ranked() || t.Dim(sym.Axis).IsUnknown() {
			continue
		}
		name, plain := t.Dim(sym.Axis).IsSymbol()
		if by, ok := s.g.Symbol(name); !plain || !ok || by.Node != n {
			n.SetType(t.WithDims(t.Dims().With(sym.Axis, shape.Sym(sym.Name))))
		}
	}
}

// guarded makes sure that what is demanded of the sizes found is checked after the cut.
func (s *staged) guarded(call *graph.Node) error {
	var errs diag.List
	for _, d := range s.g.Guards() {
		late := slices.ContainsFunc(d.Symbols(), func(name string) bool {
			by, ok := s.g.Symbol(name)
			return ok && s.sized[by.Node]
		})
		if late && !s.oneSize(d) && !s.demanded(call, d.Bind(s.size)) {
			errs = append(errs, unchecked(d))
		}
	}
	return errs.Err()
}

// size is what the graph says of a symbol: another size, where guards told so.
func (s *staged) size(name string) shape.Dim {
	if by, ok := s.g.Symbol(name); ok && by.Node.Type().Ranked() {
		if d := by.Node.Type().Dim(by.Axis); !d.IsUnknown() {
			return d
		}
	}
	return shape.Sym(name)
}

// demanded reports whether the sub-graph of a call relies on r; it does so now, if its
// operands have the sizes.
func (s *staged) demanded(call *graph.Node, r shape.Relation) bool {
	sub := call.Callee()
	if slices.ContainsFunc(sub.Guards(), func(g graph.Guard) bool { return g.Relation.String() == r.String() }) {
		return true
	}
	for _, name := range r.Symbols() {
		if _, ok := sub.Symbol(name); ok {
			continue
		}
		by, ok := s.g.Symbol(name)
		i := slices.Index(call.Args(), by.Node)
		if !ok || i < 0 {
			return false
		}
		sub.DefineSymbol(name, sub.Inputs()[i], by.Axis)
	}
	sub.Require(r, nil)
	return true
}

// oneSize reports whether a guard says of two symbols of one size that they are equal.
func (s *staged) oneSize(d graph.Guard) bool {
	a, aOk := d.A.IsSymbol()
	b, bOk := d.B.IsSymbol()
	if d.Rel != shape.EQ || !aOk || !bOk {
		return false
	}
	x, xOk := s.g.Symbol(a)
	y, yOk := s.g.Symbol(b)
	return xOk && yOk && x.Node == y.Node && x.Axis == y.Axis
}

// unchecked is the error of a guard that a plan cannot check.
func unchecked(d graph.Guard) *diag.Error {
	e := diag.New(lowering.UnknownSize, "the graph relies on "+d.Relation.String()+", which is not known when it is entered").
		WithHint("interpret the graph")
	if d.Node != nil {
		e = e.At(d.Node.Pos())
	}
	return e
}

// waits reports whether a guard speaks of sizes that are found after the entry, where
// guarded has seen that it is checked.
func (b *builder) waits(d graph.Guard) bool {
	return slices.ContainsFunc(d.Symbols(), func(name string) bool {
		by, ok := b.m.Graph.Symbol(name)
		return ok && by.Node.FindsSizes()
	})
}

// sized adds the step of an operator that finds the sizes of its results.
func (b *builder) sized(n *graph.Node, k kernel.Step, in []int) value {
	step, fields := sizedStep(k)
	st := b.source(n)
	st.Kernel, st.Sizes, st.In = step, fields, in
	most := n.Op().AtMost(n.Attrs(), n.OperandTypes())
	for i, t := range n.Type().Members() {
		if t.Kind() != shape.Tensor || !t.Ranked() {
			b.errs = append(b.errs, n.Error(lowering.UnknownSize, n.String()+" is "+t.String()+", expected a known rank").
				WithHint("capture the graph with types of the inputs"))
			return nil
		}
		k := b.buffer(n.Name(), plan.Sized, t)
		b.p.Buffers[k].Late = true
		if most != nil && b.allComputable(most[i]) {
			b.p.Buffers[k].Most = most[i]
		}
		st.Out = append(st.Out, k)
	}
	b.p.Steps = append(b.p.Steps, st)
	return st.Out
}

func (b *builder) allComputable(d shape.Dims) bool {
	return !slices.ContainsFunc(d.Slice(), func(d shape.Dim) bool { return !b.computable(d) })
}

// rest adds the call of what is after the cut, which is a plan of its own.
func (b *builder) rest(n *graph.Node, in []int) value {
	k := &control{Control: plan.Control{Op: op.Call.Name}}
	st := b.source(n)
	st.Kernel, st.In, st.Op, st.Part = k, in, n.Name(), ""
	sub := n.Callee()
	st.Out = b.lateResults(n, func(i int) string { return sub.Output().Arg(i).Name() }, func(i int, late bool) plan.Kind {
		if late && !returned(n, i) { // it only has a size that a result is said to have
			return plan.Sized
		}
		return plan.Temp
	})
	if st.Out == nil && len(n.Type().Members()) > 0 {
		return nil
	}
	types := make([]shape.Type, len(in))
	for i, p := range sub.Inputs() {
		types[i] = b.found(sub, p, in[i])
	}
	m, err := lowering.PrepareRegion(b.m, sub, types)
	if err != nil {
		return b.fail(n, err)
	}
	o := b.opts
	o.Donate = nil
	p, err := planWithin(m, o, b.assigned, b.images)
	if err != nil {
		b.errs.Add(err)
		return nil
	}
	dropValues(m)
	st.Regions, k.inputs = []*plan.Plan{p}, [][]*graph.Node{m.Graph.Inputs()}
	b.p.Steps = append(b.p.Steps, st)
	return st.Out
}

// returned reports whether result i of a call is one of the graph.
func returned(n *graph.Node, i int) bool {
	for u := range n.Users() {
		if u.Opcode() == graph.Output {
			return true
		}
		if a, ok := u.Attrs().(op.GetItemAttrs); ok && u.Op() == op.GetItem && a.Index == i && returned(u, 0) {
			return true
		}
	}
	return false
}

// lateResults makes the buffers of the results of a body, of which those are late whose
// sizes are found when it has run.
func (b *builder) lateResults(n *graph.Node, name func(i int) string, kind func(i int, late bool) plan.Kind) (out []int) {
	for i, t := range n.Type().Members() {
		if t.Kind() != shape.Tensor || !t.Ranked() {
			b.known(n, t)
			return nil
		}
		late := !b.allComputable(t.Dims())
		k := b.buffer(name(i), kind(i, late), t)
		b.p.Buffers[k].Late = late
		out = append(out, k)
	}
	return out
}

// lateCond adds the step of a cond whose results are late.
func (b *builder) lateCond(n *graph.Node, k *control, in []int) value {
	st := b.source(n)
	st.Kernel, st.In = k, in
	st.Out = b.lateResults(n, func(int) string { return n.Name() }, func(_ int, late bool) plan.Kind {
		if late {
			return plan.Sized
		}
		return plan.Temp
	})
	if st.Out == nil {
		return nil
	}
	b.p.Steps = append(b.p.Steps, st)
	return st.Out
}

// found is the type of input p of the sub-graph after the cut: as the sub-graph has it,
// with symbols for the sizes that are found before it is called.
func (b *builder) found(sub *graph.Graph, p *graph.Node, buffer int) shape.Type {
	t := p.Type()
	if !t.Ranked() {
		return b.p.Buffers[buffer].Type
	}
	for axis, d := range t.Dims().Slice() {
		own := !d.IsUnknown() && !slices.ContainsFunc(d.Symbols(), func(s string) bool { _, ok := sub.Symbol(s); return !ok })
		if !own {
			t = t.WithDims(t.Dims().With(axis, b.symbolOf(sub, p, axis)))
		}
	}
	return t
}

// symbolOf is the symbol of a size of an input of the sub-graph after the cut: the one
// that it has, else one that is called after the value and is none of the graph around.
func (b *builder) symbolOf(sub *graph.Graph, p *graph.Node, axis int) shape.Dim {
	for _, s := range sub.SymbolsOf(p) {
		if s.Axis == axis {
			return shape.Sym(s.Name)
		}
	}
	base := p.Name() + "_" + strconv.Itoa(axis)
	if !shape.ValidSymbol(base) {
		base = "found_" + strconv.Itoa(axis)
	}
	name := base
	for i := 2; ; i++ {
		_, inner := sub.Symbol(name)
		_, outer := b.m.Graph.Symbol(name)
		if !inner && !outer {
			sub.DefineSymbol(name, p, axis)
			return shape.Sym(name)
		}
		name = base + "_" + strconv.Itoa(i)
	}
}

// inner ranges over the nodes of a graph, of its regions, and of what is after the cut.
func inner(g *graph.Graph) func(yield func(*graph.Node) bool) {
	return func(yield func(*graph.Node) bool) {
		for n := range g.All() {
			if !yield(n) {
				return
			}
			if sub := n.Callee(); sub != nil {
				for m := range sub.All() {
					if !yield(m) {
						return
					}
				}
			}
		}
	}
}
