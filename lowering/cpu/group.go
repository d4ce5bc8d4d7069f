package cpu

import (
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/count"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/internal/join"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// group is calls that one step computes, in the order of the graph. Nothing but the
// value of the last is used outside before the last call, so the step stands where that does.
type group struct {
	nodes []*graph.Node
	// results are the calls whose values an elementwise group of several gives, nil for the
	// last alone: those before it are assigned after it.
	results []*graph.Node
	// turned is a call before them that turns the weight, which packing does as well;
	// nil for none.
	turned *graph.Node
	// first is what the first call is of a group that begins with a contraction; the
	// others are its epilogue then. All calls of other groups are elementwise.
	first *contraction
	end   epilogue
	// before is what precedes the contraction, nil for nothing.
	before *prologue
	// reduce is what the last call is of a group that reduces what the others compute.
	reduce *kernel.Reduce
	// rows is what the call norm is of a group that makes rows of rows between
	// elementwise calls.
	rows *kernel.ElementwiseRows
	norm *graph.Node
	// heads is the step of a group that is an attention and what brings its heads together.
	heads *kernel.Attention
}

func (g *group) last() *graph.Node { return g.nodes[len(g.nodes)-1] }

// idle reports whether the step of a group would do what the kernel of its one call does.
func (g *group) idle() bool {
	c := g.first
	return c.pack == nil && !c.alone && !c.whole && len(g.nodes) == 1 && g.before == nil
}

// The most operands and calls of an elementwise step: what a machine without many
// registers can keep, and what a reader can.
const (
	maxOperands = 16
	maxCalls    = 64
)

// grouping finds the groups of a graph. It decides by classes and expressions: an
// operator of a user's is treated as the built-in ones are.
type grouping struct {
	b          *builder
	of         map[*graph.Node]*group
	join.Rules // of elementwise calls
}

// group finds the calls that are computed together.
func (b *builder) group(g *graph.Graph) map[*graph.Node]*group {
	f := &grouping{b: b, of: map[*graph.Node]*group{}, Rules: b.rules()}
	f.Era, f.Taken = join.Eras(g), func(n *graph.Node) bool { return f.of[n] != nil }
	for n := range g.Nodes() {
		f.contraction(n)
		if !b.opts.Exact {
			f.heads(n)
		}
	}
	if !b.opts.Exact {
		for n := range g.Nodes() {
			if own := f.of[n]; own != nil && own.first != nil && own.nodes[0] == n {
				f.tail(own)
				if own.idle() {
					delete(f.of, n)
				}
			}
		}
	}
	f.elementwise(g)
	return f.of
}

// contraction begins a group with n, if it is one that has a better kernel, and
// takes what follows it for its epilogue as far as it goes.
func (f *grouping) contraction(n *graph.Node) {
	if o := n.Op(); o == nil || o.Structural() || f.of[n] != nil || n.NumArgs() < 2 || n.Arg(0) == nil || f.quantised(n) {
		return
	}
	if n.Arg(0) == nil {
		return // a derivative that does not read its first operand is no product
	}
	c, turned := f.weighs(n)
	if c == nil {
		return
	}
	g := &group{nodes: []*graph.Node{n}, first: c, turned: turned}
	if c.whole {
		f.of[n] = g
		return
	}
	g.end.begin(n, c)
	if f.b.opts.Exact {
		f.of[n] = g
	} else {
		f.surround(g)
	}
	if turned != nil && turned.NumUses() == 1 {
		f.of[turned] = g // no step of its own
	}
}

// surround takes calls after a contraction for its epilogue, and calls before it for its prologue.
func (f *grouping) surround(g *group) {
	n := g.last()
	for v := n; v.NumUses() == 1; v = g.last() {
		u := first(v.Users())
		if f.of[u] != nil || !f.Member(u) || f.Era[u] != f.Era[n] || !f.b.identity(u) && !g.end.take(u, v) {
			break
		}
		g.nodes = append(g.nodes, u)
	}
	for _, n := range g.nodes {
		f.of[n] = g
	}
	f.precede(g)
}

// weighs returns what takes the place of the kernel of call n, by whether its weight changes, nil
// for nothing, and the call that turns a weight which is packed.
func (f *grouping) weighs(n *graph.Node) (c *contraction, turned *graph.Node) {
	w := n.Arg(1)
	if turned = f.b.turned(w); turned != nil {
		w = turned.Arg(0)
	}
	if w == nil {
		return nil, nil
	}
	changes := w.Opcode() != graph.GetAttr || f.b.writes(w)
	if changes && n.Op().Class != op.Contraction {
		return nil, nil
	}
	types := n.OperandTypes()
	k, _, err := f.b.step(n, types)
	if err != nil {
		return nil, nil // reported when the step is made
	}
	if _, symbolic := k.(*op.Unsized); symbolic {
		return nil, nil
	}
	switch {
	case f.b.opts.Exact && (changes || !sumsAlike(k, types, n.Type())):
		return nil, nil
	case changes:
		// No call before it turns it: products read a view as it lies.
		return fusedOf(k, types, f.b.image(n, true)), nil
	}
	return contractionOf(k, types, turned != nil, f.b.opts, f.b.image(n, false)), turned
}

// quantised makes a group of n alone, if it reads quantised weights that can be packed.
func (f *grouping) quantised(n *graph.Node) bool {
	stored := func(i int) bool {
		return n.Arg(i) != nil && n.Arg(i).Opcode() == graph.GetAttr && !f.b.writes(n.Arg(i))
	}
	if n.Op().Quant != op.QuantNever || n.Op().Class != op.Contraction {
		return false
	}
	types := n.OperandTypes()
	k, _, err := f.b.step(n, types)
	if err != nil {
		return false // reported when the step is made
	}
	c := quantised(k, types)
	if c == nil || slices.ContainsFunc(c.weights, func(i int) bool { return !stored(i) }) {
		return false
	}
	f.of[n] = &group{nodes: []*graph.Node{n}, first: c}
	return true
}

// nominal is the size that a symbol is taken to have where an algorithm is chosen by
// sizes: that of the images that networks are compared on.
const nominal = 224

// fewImages is how many images a step of training is taken to have where that is a symbol:
// most have more.
const fewImages = 8

// image returns the sizes by which a convolution chooses its algorithm: those of x, with a
// nominal size for symbols, so that the choice does not depend on what an executable has
// been run with. They are spatial ones; before them comes the number of images where the
// weight is used for these alone, changes.
func (b *builder) image(n *graph.Node, changes bool) []int {
	if b.images != nil {
		return b.images[n.Name()]
	}
	x, w := n.Arg(0).Type(), n.Arg(1).Type()
	if !x.Ranked() || !w.Ranked() {
		return nil
	}
	var sizes []int
	if changes {
		sizes = append(sizes, b.batch(x, w))
	}
	for i := x.Rank() - w.Rank() + 2; i >= 0 && i < x.Rank(); i++ {
		d, err := x.Dim(i).Eval(func(string) (int, bool) { return nominal, true })
		if err != nil || d <= 0 {
			return nil
		}
		sizes = append(sizes, d)
	}
	return sizes
}

// batch returns how many images a convolution is taken to have.
func (b *builder) batch(x, w shape.Type) int {
	if x.Rank() < w.Rank() {
		return 1
	}
	if n, known := x.Dim(0).Int(); known {
		return n
	}
	if len(b.assigned) > 0 {
		return fewImages
	}
	return 1
}

// turned returns n when it is a parameter, a matrix, with its axes exchanged.
func (b *builder) turned(n *graph.Node) *graph.Node {
	if n == nil || n.NumArgs() != 1 || n.Arg(0) == nil || n.Arg(0).Opcode() != graph.GetAttr {
		return nil
	}
	if o := n.Op(); o == nil || o.Structural() || !join.Plain(n.Arg(0)) || n.Arg(0).Type().Rank() != 2 {
		return nil
	}
	k, _, err := b.step(n, n.OperandTypes())
	if p, is := k.(*kernel.Permute); err == nil && is && slices.Equal(p.Dims, []int{1, 0}) {
		return n
	}
	return nil
}

// rules are what calls are elementwise for this target, and how many one step may compute.
func (b *builder) rules() join.Rules {
	return join.Rules{Same: b.identity, Operands: maxOperands, Calls: maxCalls, Stores: stores}
}

// stores reports whether a call assigns a value to a tensor of the state.
func stores(n *graph.Node) bool {
	return n.Op() == op.Assign && n.Arg(0) != nil && n.Arg(0).Opcode() == graph.GetAttr
}

// elementwise joins elementwise calls with each other, and with reductions, softmaxes and
// norms.
func (f *grouping) elementwise(g *graph.Graph) {
	for n, e := range join.Find(g, f.Rules) {
		if n != e.Last() {
			continue
		}
		own := &group{nodes: e.Nodes}
		if len(e.Results) > 1 {
			own.results = e.Results
		}
		for _, m := range e.Nodes {
			f.of[m] = own
		}
	}
	for n := range g.Nodes() {
		f.reduction(n)
	}
	for n := range g.Nodes() {
		f.rows(n)
	}
	for n, own := range f.of {
		if own.plain() && len(own.nodes) == 1 {
			delete(f.of, n)
		}
	}
}

// reduction joins a reduction with the elementwise calls that it alone reads.
func (f *grouping) reduction(n *graph.Node) {
	r := f.reduced(n)
	if r == nil {
		return
	}
	own := f.of[n.Arg(0)]
	if own == nil || !own.plain() || n.Arg(0) != own.last() || n.Arg(0).NumUses() != 1 || f.Era[n] != f.Era[own.last()] {
		return
	}
	own.nodes, own.reduce = append(own.nodes, n), r
	f.of[n] = own
}

// reduced returns the kernel of a reduction that elementwise calls may precede, nil for
// other calls.
func (f *grouping) reduced(n *graph.Node) *kernel.Reduce {
	if o := n.Op(); o == nil || o.Class != op.Reduction || o.Effect != op.Pure || n.NumArgs() != 1 || n.Arg(0) == nil || !join.Plain(n) || !join.Plain(n.Arg(0)) {
		return nil
	}
	k, _, err := f.b.step(n, n.OperandTypes())
	if err != nil {
		return nil
	}
	r, _ := k.(*kernel.Reduce)
	return r
}

// user returns the elementwise group that all users of n are in, nil when there is
// no such group.
func (f *grouping) user(n *graph.Node) *group {
	return join.Only(n, func(u *graph.Node) *group {
		if g := f.of[u]; g != nil && g.plain() {
			return g
		}
		return nil
	})
}

// identity reports whether a call gives what its first operand is.
func (b *builder) identity(n *graph.Node) bool {
	r, ok := find(n, b.opts.Exact)
	if !ok || n.NumArgs() == 0 || n.Arg(0) == nil {
		return false
	}
	k, _ := r(n, n.Attrs(), n.OperandTypes())
	_, same := k.(*kernel.Reshape)
	return same && n.Type().Same(n.Arg(0).Type())
}

// writes reports whether the tensor that a get_attr names is assigned.
func (b *builder) writes(n *graph.Node) bool { return b.assigned[n.Target()] }

// groupStep makes the step of a group, where its last call stands.
func (b *builder) groupStep(g *group) value {
	var k kernel.Step
	var in []int
	if g.first != nil {
		k, in = b.contract(g)
	} else {
		var err error
		if k, in, err = b.made(g); err != nil {
			return b.fail(g.last(), err)
		}
	}
	at := len(b.p.Steps)
	out := b.compute(g.last(), k, in)
	if out == nil {
		return nil
	}
	st := &b.p.Steps[at]
	for i, n := range g.results {
		if n != g.last() {
			st.Out = slices.Insert(st.Out, i, b.values[n][0])
		}
	}
	g.describe(st)
	return out
}

// namedOps is how many operators the name of a step lists.
const namedOps = 4

// joinOps names several operators.
func joinOps(ops []string) string {
	if len(ops) > namedOps {
		ops = append(ops[:namedOps-1], "…", ops[len(ops)-1])
	}
	return strings.Join(ops, "+")
}

// describe says which calls a step computes.
func (g *group) describe(st *plan.Step) {
	st.Nodes, st.Flops, st.Part = nil, shape.Const(0), ""
	var ops, parts []string
	for _, n := range g.all() {
		st.Flops = st.Flops.Add(count.Flops(n))
		s := lowering.SourceOf(n)
		if !slices.Contains(st.Nodes, s.Node) {
			st.Nodes = append(st.Nodes, s.Node)
			ops = append(ops, s.Op)
		}
		parts = append(parts, n.Op().Name)
	}
	if !slices.Equal(ops, parts) {
		st.Part = joinOps(parts)
	}
	st.Op = joinOps(ops)
	if n := g.nodes[0]; g.first != nil {
		st.Scope, st.Pos = n.Scope(), n.Pos()
	}
}

// contract makes the step of a contraction with its epilogue.
func (b *builder) contract(g *group) (kernel.Step, []int) {
	n := g.nodes[0]
	if g.first.whole {
		in := make([]int, n.NumArgs())
		for i, a := range n.Args() {
			in[i] = b.operand(a)
		}
		for _, i := range g.first.weights {
			in[i] = b.packed(n.Arg(i), g.first.pack)
		}
		return g.first.with(kernel.Prologue{}, kernel.Epilogue{}), in
	}
	x, front := n.Arg(0), epilogue{}
	if g.before != nil {
		x, front = g.before.of, g.before.epilogue
	}
	in := []int{b.operand(x), b.weighed(g)}
	for _, a := range []*graph.Node{g.end.bias, g.end.scale, g.end.residual, front.scale, front.bias} {
		in = append(in, b.operand(a))
	}
	for in[len(in)-1] < 0 {
		in = in[:len(in)-1]
	}
	return g.first.with(kernel.Prologue{Act: front.Act, Lo: front.Lo, Hi: front.Hi}, g.end.Epilogue), in
}

// weighed returns the buffer of a contraction's weight, packed or as it lies.
func (b *builder) weighed(g *group) int {
	w := g.nodes[0].Arg(1)
	switch {
	case g.first.pack == nil:
		return b.operand(w)
	case g.turned != nil:
		w = g.turned.Arg(0)
	}
	return b.packed(w, g.first.pack)
}

// operand returns the buffer of a value that an earlier step made, -1 for none.
func (b *builder) operand(n *graph.Node) int {
	if n == nil || b.values[n] == nil {
		return -1
	}
	return b.values[n][0]
}

// made makes the step of a group that does not begin with a contraction.
func (b *builder) made(g *group) (kernel.Step, []int, error) {
	switch {
	case g.rows != nil:
		return b.between(g)
	case g.heads != nil:
		return g.heads, b.operands(g.nodes[0].Args()), nil
	}
	return b.program(g)
}

// program makes the step of elementwise calls, and of what reduces their value: one
// expression over what they read.
func (b *builder) program(g *group) (kernel.Step, []int, error) {
	calls := g.nodes
	if g.reduce != nil {
		calls = calls[:len(calls)-1]
	}
	e, err := b.rules().Expression(calls)
	if err != nil {
		return nil, nil, err
	}
	if g.results != nil {
		e.Give(g.results)
	}
	p, in := e.Program(), b.operands(e.Operands)
	if g.reduce == nil {
		return &kernel.Elementwise{Program: p}, in, nil
	}
	dims := calls[len(calls)-1].Type().Dims().Slice()
	s := &kernel.ElementwiseReduce{Program: p, Shape: make([]int, len(dims)), Kinds: []string{g.reduce.Kind}, Dims: g.reduce.Dims}
	var sizes []op.FieldSize
	for i, d := range dims {
		sizes = append(sizes, op.Size(&s.Shape[i], d))
	}
	return op.WithSizes(s, sizes...), in, nil
}
