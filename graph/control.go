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
		c.carry, c.seqs, c.trips = a.Carry, a.Seqs, a.MaxTrips
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
	n                  *Node
	carry, seqs, trips int
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
		if c.trips < 0 {
			return "max_trips is " + strconv.Itoa(c.trips) + ", expected 0 or more"
		}
	case op.Scan:
		if c.trips != 0 {
			return "max_trips is " + strconv.Itoa(c.trips) + ", which a scan does not have"
		}
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
	if !shape.Joinable(t, u) || len(a.args) != len(b.args) || (a.Structure() == nil) != (b.Structure() == nil) {
		return "regions return " + t.String() + " and " + u.String() + ", expected the same type"
	}
	return ""
}

// carried checks that a body returns the carried values: those alone, or others after them.
func (c *control) carried(out *Node, alone bool) string {
	if len(out.args) < c.carry || alone && len(out.args) > c.carry {
		return "body returns " + strconv.Itoa(len(out.args)) + " values, expected " + strconv.Itoa(c.carry) + " carried ones"
	}
	for i := range c.carry {
		before, after := c.n.args[i].def.typ, out.args[i].def.typ
		if !before.Compatible(after) {
			return "carried value " + strconv.Itoa(i) + " is " + before.String() + " before and " + after.String() + " after the body, expected the same type"
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
		return join(node.g, outputType(rs[0].Output()), typ, rs)
	}
	typ = outside(node.g, typ, rs)
	a, ok := node.attrs.(op.LoopAttrs)
	if ok {
		typ = node.carriedType(typ, a.Carry)
	}
	if node.op != op.Scan || !ok {
		return typ
	}
	// The results after the carried ones are stacked along a new axis 0.
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

// carriedType is the type of a loop's results where no round may run: what is carried is then the operand.
func (n *Node) carriedType(after shape.Type, carry int) shape.Type {
	same := func(x, y shape.Dim) bool { equal, known := n.g.CompareDims(x, y); return equal && known }
	join := func(t shape.Type, i int) shape.Type {
		if i < carry && i < len(n.args) && n.args[i].def != nil {
			return shape.Join(t, n.args[i].def.typ, same)
		}
		return t
	}
	if after.Kind() != shape.Tuple {
		return join(after, 0)
	}
	m := make([]shape.Type, after.Len())
	for i := range m {
		m[i] = join(after.Member(i), i)
	}
	return shape.TupleType(m...)
}

// outside is the type of a region's result as the graph around it knows it.
func outside(g *Graph, typ shape.Type, rs []*Graph) shape.Type {
	if typ.Kind() == shape.Tuple {
		m := make([]shape.Type, typ.Len())
		for i := range m {
			m[i] = outside(g, typ.Member(i), rs)
		}
		return shape.TupleType(m...)
	}
	dims := typ.Dims()
	for i := range dims.Len() {
		if inner(g, dims.At(i), rs) {
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
func join(g *Graph, a, b shape.Type, rs []*Graph) shape.Type {
	return shape.Join(a, b, func(x, y shape.Dim) bool { return g.symbols.equal(x, y) && !inner(g, x, rs) })
}

// inner reports whether a size is known inside of the regions alone: one of what
// is computed there, or of an input whose operand has no such size.
func inner(g *Graph, d shape.Dim, rs []*Graph) bool {
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

// FindsSizes reports whether n finds sizes of its results when it runs: those that follow
// from values (op.Op.ByValue), and those that only the branch of a cond knows which is
// taken. A getitem node finds what it takes apart.
func (n *Node) FindsSizes() (yes bool) {
	switch o := n.Op(); {
	case o == op.GetItem:
		return n.Arg(0) != nil && n.Arg(0).FindsSizes()
	case o == op.Cond:
		eachDim(n.typ, func(d shape.Dim) { yes = yes || d.IsUnknown() })
		return yes
	default:
		return o != nil && o.ByValue
	}
}

// What a call with regions demands of sizes. A region is recorded, and lowered, for values of one type:
// its operands have the sizes of its inputs, and what a loop carries has in each round those of the first.
// Sizes that only symbols tell apart become guards, as with every other call. An input whose size is a
// symbol of the region's own takes any.

// demands enters what a node with regions relies on.
func (t *typing) demands(node *Node, rs []*Graph) error {
	if node.CheckControl() != nil {
		return nil // Lint says so
	}
	c := control{n: node}
	if a, ok := node.attrs.(op.LoopAttrs); ok {
		c.carry, c.seqs = a.Carry, a.Seqs
	}
	given := c.given()
	for _, r := range rs {
		if err := (&fitting{t, node, r, "value"}).fit(given, r.Inputs()); err != nil {
			return err
		}
	}
	if node.op == op.Cond {
		return nil
	}
	body := rs[len(rs)-1]
	next, values := make([]shape.Type, c.carry), body.Output().Args()[:c.carry]
	for i, v := range values {
		next[i] = v.typ
	}
	if err := (&fitting{t, node, body, "value after the body"}).fit(next, values); err != nil {
		return err
	}
	if node.op == op.Scan {
		return t.stacked(node, body, given[c.carry:], c.carry)
	}
	return nil
}

// given are the types of what regions are given first.
func (c *control) given() []shape.Type {
	skip := 0
	if c.n.op == op.Cond {
		skip = 1
	}
	list := make([]shape.Type, len(c.n.args)-skip)
	for i := range list {
		list[i] = c.n.args[i+skip].def.typ
		if c.sequence(i) && list[i].Ranked() {
			list[i] = list[i].WithDims(list[i].Dims().Sub(1, list[i].Rank()))
		}
	}
	return list
}

// stacked demands for a scan what its body relies on: the results that it stacks have sizes even when
// there are no rounds. given are the values for the inputs of the body after the first few.
func (t *typing) stacked(node *Node, body *Graph, given []shape.Type, first int) error {
	if t.Assume == nil {
		return nil
	}
	own := sizesGiven(body, given, body.Inputs()[first:], node.g)
	for _, d := range body.symbols.guards {
		r := d.Bind(own)
		if inner(node.g, r.A, []*Graph{body}) || inner(node.g, r.B, []*Graph{body}) || !knowsAll(node.g, r.Symbols()) || r.Truth() == shape.True {
			continue
		}
		if err := t.Assume(r); err != nil {
			return err
		}
	}
	return nil
}

// sizesGiven returns what the symbols that inputs of a region define are for g, the graph around, when
// the inputs are given these types.
func sizesGiven(r *Graph, given []shape.Type, inputs []*Node, g *Graph) func(symbol string) shape.Dim {
	own := map[string]shape.Dim{}
	for i, t := range given {
		for _, s := range r.SymbolsOf(inputs[i]) {
			if t.Ranked() && !g.knows(s.Name) {
				own[s.Name] = t.Dim(s.Axis)
			}
		}
	}
	return func(name string) shape.Dim {
		if d, ok := own[name]; ok {
			return d
		}
		return shape.Sym(name)
	}
}

// fitting requires inputs of a region to have the sizes of what they are given.
type fitting struct {
	*typing
	node *Node
	r    *Graph
	what string
}

// fit compares the types given with those of the first inputs; at are nodes of the region to name where
// sizes that it finds are concerned.
func (f *fitting) fit(given []shape.Type, at []*Node) error {
	inputs := f.r.Inputs()
	own := sizesGiven(f.r, given, inputs, f.node.g)
	for i, is := range given {
		want := inputs[i].typ
		if !want.Ranked() || want.Rank() != is.Rank() {
			continue
		}
		differ := func() string {
			return "input " + inputs[i].String() + " of region " + f.r.Name + " is " + want.String() + ", its " + f.what + " is " + is.String()
		}
		for axis := range want.Rank() {
			must, got := want.Dim(axis).Bind(own), is.Dim(axis)
			if shape.Differ(must, got) {
				return diag.New(BadRegions, differ())
			}
			if _, err := f.infer(must, got, at[i]).Equal(must, got, BadRegions, differ); err != nil {
				return err
			}
		}
	}
	return nil
}

// infer is where the equality of two sizes is demanded: in the graph around where that knows them, else in
// the region.
func (f *fitting) infer(a, b shape.Dim, at *Node) *op.Infer {
	rs := []*Graph{f.r}
	if g := f.node.g; !inner(g, a, rs) && !inner(g, b, rs) && knowsAll(g, a.Symbols()) && knowsAll(g, b.Symbols()) {
		return &f.Infer
	}
	if f.inside == nil {
		return &op.Infer{}
	}
	return &op.Infer{Assume: func(d shape.Relation) error { return f.inside(d, at) }}
}

// knowsAll reports whether the graph, or those around it, define the symbols.
func knowsAll(g *Graph, symbols []string) bool {
	return !slices.ContainsFunc(symbols, func(s string) bool { return !g.knows(s) })
}
