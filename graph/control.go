package graph

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// CheckControl says what is wrong with a call of cond, while or scan, nil when
// its operands, attributes and regions fit together: as many regions as the
// operator has, loop attributes within the operands, inputs and results that
// agree with them. Every engine asks it before it runs, prints or lowers such a
// call, because graphs come from texts and edits as well. Other calls have no
// regions. What is inside of the regions is not looked at; Lint does.
func (n *Node) CheckControl() *diag.Error {
	c := control{n: n}
	if a, ok := n.attrs.(op.LoopAttrs); ok {
		c.carry, c.seqs = a.Carry, a.Seqs
	}
	for _, check := range []func() string{c.regions, c.operands, c.inputs, c.results} {
		if msg := check(); msg != "" {
			return n.Error(BadRegions, msg)
		}
	}
	return nil
}

// control is a call of cond, while or scan that is being checked.
type control struct {
	n           *Node
	carry, seqs int
}

func regionCount(o *op.Op) int {
	switch o {
	case op.Cond, op.While:
		return 2
	case op.Scan:
		return 1
	}
	return 0
}

func (c *control) regions() string {
	rs := c.n.Regions()
	if want := regionCount(c.n.op); len(rs) != want {
		return strconv.Itoa(len(rs)) + " regions, expected " + strconv.Itoa(want)
	}
	for i, r := range rs {
		switch {
		case r == nil || r.parent != c.n:
			return "region " + strconv.Itoa(i) + " is nil or belongs to another node"
		case r.Output() == nil:
			return "region " + strconv.Itoa(i) + " has no output"
		}
	}
	return ""
}

// operands checks the attributes against the operands, and that these are tensors.
func (c *control) operands() string {
	k := len(c.n.args)
	switch c.n.op {
	case op.Cond:
		if k == 0 {
			return "no operands, expected a condition"
		}
	case op.While:
		if c.carry < 1 || c.carry > k || c.seqs != 0 {
			return "carry is " + strconv.Itoa(c.carry) + " and seqs " + strconv.Itoa(c.seqs) + " with " + strconv.Itoa(k) +
				" operands, expected one carried operand or more, and no sequences"
		}
	case op.Scan:
		if c.carry < 0 || c.seqs < 1 || c.carry > k || c.seqs > k-c.carry {
			return "carry is " + strconv.Itoa(c.carry) + " and seqs " + strconv.Itoa(c.seqs) + " with " + strconv.Itoa(k) +
				" operands, expected one sequence or more, and as many operands as both say"
		}
	}
	for i := range c.n.args {
		d := c.n.args[i].def
		switch {
		case regionCount(c.n.op) == 0:
		case d == nil:
			return "operand " + strconv.Itoa(i) + " is absent, expected a tensor"
		case d.typ.Kind() == shape.Tuple:
			return "operand " + strconv.Itoa(i) + " is a tuple " + d.typ.String() + ", expected a tensor"
		case c.sequence(i) && d.typ.Rank() == 0:
			return "sequence " + d.String() + " is " + d.typ.String() + ", expected one or more dimensions"
		}
	}
	if c.n.op == op.Cond {
		if t := c.n.args[0].def.typ; !oneBool(t) {
			return "the condition is " + t.String() + ", expected bool[]"
		}
	}
	return ""
}

func (c *control) sequence(i int) bool {
	return c.n.op == op.Scan && i >= c.carry && i < c.carry+c.seqs
}

// inputs checks what the regions take: cond passes all operands but the
// condition, loops pass all, and scan slices of the sequences.
func (c *control) inputs() string {
	skip := 0
	if c.n.op == op.Cond {
		skip = 1
	}
	for i, r := range c.n.Regions() {
		in, want := r.Inputs(), len(c.n.args)-skip
		if len(in) != want {
			return "region " + strconv.Itoa(i) + " has " + strconv.Itoa(len(in)) + " inputs, expected " + strconv.Itoa(want)
		}
		for k, x := range in {
			t := c.n.args[k+skip].def.typ
			if c.sequence(k) && t.Ranked() {
				t = t.WithDims(t.Dims().Sub(1, t.Rank()))
			}
			if !t.Compatible(x.typ) {
				return "input " + x.String() + " of region " + strconv.Itoa(i) + " is " + x.typ.String() + ", its operand gives " + t.String()
			}
		}
	}
	return ""
}

// results checks what the regions return against each other and the carried values.
func (c *control) results() string {
	rs := c.n.Regions()
	for i, r := range rs {
		for k, t := range r.Output().args {
			if t.def == nil {
				return "result " + strconv.Itoa(k) + " of region " + strconv.Itoa(i) + " is absent, expected a tensor"
			}
			if t.def.typ.Kind() == shape.Tuple {
				return "result " + strconv.Itoa(k) + " of region " + strconv.Itoa(i) + " is a tuple " + t.def.typ.String() + ", expected a tensor"
			}
		}
	}
	switch c.n.op {
	case op.Cond:
		return c.branches(rs[0].Output(), rs[1].Output())
	case op.While:
		out := rs[0].Output()
		if len(out.args) != 1 || !oneBool(out.args[0].def.typ) {
			return "the condition's region returns " + outputType(out).String() + ", expected bool[]"
		}
		return c.carried(rs[1].Output(), true)
	case op.Scan:
		return c.carried(rs[0].Output(), false)
	}
	return ""
}

func (c *control) branches(a, b *Node) string {
	t, u := outputType(a), outputType(b)
	if !t.Compatible(u) || len(a.args) != len(b.args) || (a.Structure() == nil) != (b.Structure() == nil) {
		return "regions return " + t.String() + " and " + u.String() + ", expected the same type"
	}
	return ""
}

// carried checks that a body returns the carried values: those alone, or others behind.
func (c *control) carried(out *Node, alone bool) string {
	if len(out.args) < c.carry || alone && len(out.args) > c.carry {
		return "body returns " + strconv.Itoa(len(out.args)) + " values, expected " + strconv.Itoa(c.carry) + " carried ones"
	}
	for i := range c.carry {
		before, after := c.n.args[i].def.typ, out.args[i].def.typ
		if !before.Compatible(after) {
			return "carried value " + strconv.Itoa(i) + " is " + before.String() + " before and " + after.String() + " behind the body, expected the same type"
		}
	}
	return ""
}

// oneBool reports whether a value may be one bool.
func oneBool(t shape.Type) bool {
	if t.Kind() == shape.Tuple || t.DType() != array.Bool && t.DType() != array.Invalid {
		return false
	}
	for i := range t.Dims().Len() {
		if n, known := t.Dim(i).Int(); known && n != 1 {
			return false
		}
	}
	return true
}

// Assigned returns the get_attr node of the tensor that a call of assign writes,
// through earlier writes of the same; an error when it writes something else,
// which would be an input of the caller or a value that others read.
func (n *Node) Assigned() (*Node, *diag.Error) {
	to := n.Arg(0)
	for to != nil && to.op == op.Assign {
		to = to.Arg(0)
	}
	if to == nil || to.opcode != GetAttr {
		return nil, n.Error(BadAssign, n.Arg(0).String()+" is assigned, expected a tensor that get_attr reads").
			WithHint("only state of the model can be written")
	}
	return to, nil
}

// regionType derives the type of cond, while and scan from their regions.
func regionType(node *Node, rs []*Graph) shape.Type {
	body := rs[len(rs)-1]
	out := body.Output()
	if out == nil {
		return shape.Type{}
	}
	typ := outputType(out)
	if node.op == op.Cond && len(rs) == 2 && rs[0].Output() != nil {
		return node.g.join(outputType(rs[0].Output()), typ, rs)
	}
	typ = node.g.outside(typ, rs)
	a, ok := node.attrs.(op.LoopAttrs)
	if node.op != op.Scan || !ok {
		return typ
	}
	// The results behind the carried ones are stacked along a new axis 0.
	steps := shape.Unknown
	if a.Seqs > 0 && a.Carry >= 0 && a.Carry < len(node.args) && node.args[a.Carry].def != nil {
		steps = node.args[a.Carry].def.typ.Dim(0)
	}
	stack := func(t shape.Type, i int) shape.Type {
		if i >= a.Carry && t.Ranked() {
			t = t.WithDims(shape.Of(append([]shape.Dim{steps}, t.Dims().Slice()...)...))
		}
		return t
	}
	if typ.Kind() != shape.Tuple {
		return stack(typ, 0)
	}
	m := make([]shape.Type, typ.Len())
	for i := range m {
		m[i] = stack(typ.Member(i), i)
	}
	return shape.TupleType(m...)
}

// outside is the type of a region's result as the graph around it knows it.
func (g *Graph) outside(typ shape.Type, rs []*Graph) shape.Type {
	if typ.Kind() == shape.Tuple {
		m := make([]shape.Type, typ.Len())
		for i := range m {
			m[i] = g.outside(typ.Member(i), rs)
		}
		return shape.TupleType(m...)
	}
	dims := typ.Dims()
	for i := range dims.Len() {
		if g.inner(dims.At(i), rs) {
			dims = dims.With(i, shape.Unknown)
		}
	}
	if !typ.Ranked() {
		return typ
	}
	return typ.WithDims(dims)
}

// join is the type of a value that is of one type or of the other. Sizes of what is
// computed inside the regions say nothing.
func (g *Graph) join(a, b shape.Type, rs []*Graph) shape.Type {
	return shape.Join(a, b, func(x, y shape.Dim) bool { return g.symbols.equal(x, y) && !g.inner(x, rs) })
}

// inner reports whether a size is known inside of the regions alone: one of what
// is computed there, or of an input whose operand has no such size.
func (g *Graph) inner(d shape.Dim, rs []*Graph) bool {
	for _, name := range d.Symbols() {
		for _, r := range rs {
			if s, ok := r.Symbol(name); ok && (s.Node.opcode != Placeholder || !g.knows(name)) {
				return true
			}
		}
	}
	return false
}

// knows reports whether the graph, or one around it, defines the symbol.
func (g *Graph) knows(name string) bool {
	for {
		if _, ok := g.Symbol(name); ok {
			return true
		}
		if g.parent == nil {
			return false
		}
		g = g.parent.g
	}
}

// outputType returns the type of an output node's value: its operand's, or a tuple.
func outputType(out *Node) shape.Type {
	if out.Structure() == nil && len(out.args) == 1 && out.args[0].def != nil {
		return out.args[0].def.typ
	}
	m := make([]shape.Type, len(out.args))
	for i := range out.args {
		if d := out.args[i].def; d != nil {
			m[i] = d.typ
		}
	}
	return shape.TupleType(m...)
}

// state returns the nodes whose order counts: those that act on the world or write
// state, and those that read what any node of the module writes, themselves or in what
// they run.
func (g *Graph) state() (list []*Node) {
	written := map[string]bool{}
	all := g.root().All()
	if g.mod != nil {
		all = g.mod.All()
	}
	for n := range all {
		if o := n.Op(); o != nil {
			for _, i := range o.Mutates {
				if d := n.Arg(i).memory(); d != nil {
					written[d.target] = d.opcode == GetAttr || written[d.target]
				} else if b := n.Bound(); b != nil && i >= len(n.args) && i < len(n.args)+len(b.Params) {
					written[b.Params[i-len(n.args)]] = true
				}
			}
		}
	}
	for n := range g.Nodes() {
		if n.acts() || len(written) > 0 && n.reads(written) {
			list = append(list, n)
		}
	}
	return list
}

// acts reports whether a call acts on the world or writes state; control flow and calls
// of sub-graphs do so when what they run does. What is not known acts.
func (n *Node) acts() bool {
	if !n.onlyRuns() {
		return n.effectful()
	}
	for m := range n.Inner() {
		if !m.onlyRuns() && m.effectful() {
			return true
		}
	}
	return false
}

// onlyRuns reports whether all effects of a node are those of what it runs.
func (n *Node) onlyRuns() bool {
	o := n.Op()
	return o != nil && o.Structural() && len(o.Mutates) == 0 && len(n.Bodies()) > 0
}

// reads reports whether a node, or what it runs, reads tensors of the state that are
// among those written; nil stands for all of them.
func (n *Node) reads(written map[string]bool) bool {
	if n.readsItself(written) {
		return true
	}
	for m := range n.Inner() {
		if m.readsItself(written) {
			return true
		}
	}
	return false
}

func (n *Node) readsItself(written map[string]bool) bool {
	hit := func(path string) bool { return path != "" && (written == nil || written[path]) }
	if n.opcode == GetAttr {
		return hit(n.target)
	}
	for i := range n.args {
		if d := n.args[i].def.memory(); d != nil && d.opcode == GetAttr && hit(d.target) {
			return true
		}
	}
	b := n.Bound()
	return b != nil && slices.ContainsFunc(b.Params, hit)
}

// memory returns the node whose memory n's value may share: what it is a view of.
func (n *Node) memory() *Node {
	if n == nil {
		return nil
	}
	for range n.g.count { // a broken graph may go round
		o, k := n.Op(), -1
		if o == op.Assign {
			k = 0
		} else if o != nil {
			k = o.ViewOf - 1
		}
		d := n.Arg(k)
		if d == nil {
			return n
		}
		n = d
	}
	return n
}
