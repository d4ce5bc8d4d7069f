package graph

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Cursor makes nodes at one place of a graph. What it makes inherits position,
// scope and the side data of inherited keys from the node it was made for. It is
// also the op.Builder that expands composite operators into the graph.
//
// A mistake (wrong operands, contradicting shapes) panics with *diag.Error, which
// the pass driver recovers and reports with the pass's name; set OnError to
// collect instead: the node is then made with an unknown type.
//
// In a region operands may be values of the graphs around: they are captured, see
// Graph.Capture.
type Cursor struct {
	// OnError receives the mistakes of calls, instead of a panic.
	OnError func(error)

	g      *Graph
	before *Node // nil: at the end
	pos    PosID
	static diag.Pos
	scope  ScopeID
	keys   []keyed // under inherited keys
	name   string  // of the next node, which no other has; "" makes one up
}

// At returns a cursor at the end of the graph, without position and scope.
func (g *Graph) At() *Cursor { return &Cursor{g: g} }

// Before returns a cursor just before n that inherits from n.
func (g *Graph) Before(n *Node) *Cursor { return n.inherit(&Cursor{g: g, before: n}) }

// After returns a cursor just after n that inherits from n.
func (g *Graph) After(n *Node) *Cursor { return n.inherit(&Cursor{g: g, before: n.next}) }

// FirstAfterInputs returns the first node that is no input, nil when there is none.
func (g *Graph) FirstAfterInputs() *Node {
	n := g.first
	for n != nil && n.opcode == Placeholder {
		n = n.next
	}
	return n
}

func (n *Node) inherit(c *Cursor) *Cursor {
	c.pos, c.scope, c.keys = n.pos, n.scope, nil
	if n.extra != nil {
		c.static = n.extra.static
		for _, k := range n.extra.keys {
			if k.id.inherited {
				c.keys = append(c.keys, k)
			}
		}
	}
	return c
}

// Graph returns the graph the cursor writes to.
func (c *Cursor) Graph() *Graph { return c.g }

// Next returns the node that the cursor writes in front of, nil at the end.
func (c *Cursor) Next() *Node {
	for c.before != nil && c.before.erased {
		c.before = c.before.next
	}
	return c.before
}

// From makes later nodes inherit position and scope from n, of the same graph.
func (c *Cursor) From(n *Node) *Cursor { c.static = diag.Pos{}; return n.inherit(c) }

// SetPos makes later nodes carry the recorded position.
func (c *Cursor) SetPos(p PosID) { c.pos = p }

// SetStaticPos makes later nodes carry a position known as text.
func (c *Cursor) SetStaticPos(p diag.Pos) { c.static = p }

// SetScope makes later nodes carry the scope.
func (c *Cursor) SetScope(s ScopeID) { c.scope = s }

// fail reports a mistake.
func (c *Cursor) fail(err error) {
	if err == nil {
		return
	}
	if c.OnError == nil {
		panic(err)
	}
	c.OnError(err)
}

func (c *Cursor) add(opcode Opcode, hint string, args []*Node) *Node {
	for _, a := range args {
		if a != nil && a.g != c.g { // the list of the caller stays on its stack
			args = c.g.captured("a new "+hint, slices.Clone(args))
			break
		}
	}
	next := c.Next()
	node := c.g.alloc(len(args))
	node.opcode, node.pos, node.scope = opcode, c.pos, c.scope
	if c.name != "" {
		node.base, node.num = c.g.names.take(c.name)
		c.name = ""
	} else {
		node.base, node.num = c.g.names.unique(hint)
	}
	node.hold(args)
	if c.static.File != "" {
		node.more().static = c.static
	}
	if len(c.keys) > 0 {
		node.more().keys = slices.Clone(c.keys)
	}
	c.g.insert(node, next)
	c.g.count++
	return node
}

// Placeholder adds an input. Placeholders come first and in the order of the
// signature; t may be the zero Type (unknown tensor). The symbols in t are to be
// defined by Graph.DefineSymbol. def is its default value, nil for none: engines
// use an *array.Array for runs that do not give the input; numbers, bools and
// strings are kept and printed as information.
func (c *Cursor) Placeholder(name string, t shape.Type, def any) *Node {
	if t.Kind() == shape.None {
		t = shape.Unranked(array.Invalid)
	}
	n := c.add(Placeholder, name, nil)
	n.target, n.typ = name, t
	if def != nil {
		n.more().def = def
	}
	n.created()
	return n
}

// GetAttr adds a read of the parameter or buffer at path of the graph's module.
func (c *Cursor) GetAttr(path string) *Node {
	n := c.add(GetAttr, strings.ReplaceAll(path, ".", "_"), nil)
	n.target = path
	n.typ = shape.Unranked(array.Invalid)
	if c.g.mod != nil {
		if p := c.g.mod.Param(path); p != nil {
			n.typ = p.TypeOf()
		}
	}
	n.created()
	return n
}

// Function adds a call_function node. attrs must be the operator's struct; nil
// stands for its zero value.
func (c *Cursor) Function(o *op.Op, attrs any, args ...*Node) *Node {
	return c.call(CallFunction, o, attrs, args, nil)
}

// Method adds a call_method node; the first operand is the receiver.
func (c *Cursor) Method(o *op.Op, attrs any, args ...*Node) *Node {
	return c.call(CallMethod, o, attrs, args, nil)
}

// Region adds a call_function node of an operator with regions (cond, while, scan).
func (c *Cursor) Region(o *op.Op, attrs any, regions []*Graph, args ...*Node) *Node {
	return c.call(CallFunction, o, attrs, args, regions)
}

func (c *Cursor) call(opcode Opcode, o *op.Op, attrs any, args []*Node, regions []*Graph) *Node {
	attrs, err := o.Codec().Given(attrs)
	n := c.add(opcode, o.Name, args)
	n.op, n.attrs = o, attrs
	if opcode == CallMethod {
		n.target = o.Name
	}
	if regions != nil {
		n.more().regions = regions
		for _, r := range regions {
			r.parent = n
		}
	}
	if err != nil {
		err = n.setInferred(shape.Type{}, err)
	} else {
		err = c.g.infer(n)
	}
	n.created() // before a mistake panics: the node is there
	c.fail(err)
	return n
}

// Module adds a call_module node of the leaf at path, which the graph's module
// should know (Module.SetBound).
func (c *Cursor) Module(path string, args ...*Node) *Node {
	n := c.add(CallModule, strings.ReplaceAll(path, ".", "_"), args)
	n.target = path
	err := c.g.infer(n)
	n.created()
	c.fail(err)
	return n
}

// Output adds the output node. A nil structure means the one operand itself.
func (c *Cursor) Output(s *Structure, args ...*Node) *Node {
	n := c.add(Output, "output", args)
	n.target = "output"
	if s != nil {
		n.more().structure = s
	}
	n.typ = outputType(n)
	n.created()
	return n
}

// ItemNode adds a getitem node.
func (c *Cursor) ItemNode(tuple *Node, i int) *Node {
	return c.Function(op.GetItem, op.GetItemAttrs{Index: i}, tuple)
}

// Call implements op.Builder.
func (c *Cursor) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	args := make([]*Node, len(in))
	for i, v := range in {
		if v != nil {
			args[i] = v.(*Node)
		}
	}
	return c.Function(o, attrs, args...)
}

// Item implements op.Builder.
func (c *Cursor) Item(tuple op.Value, i int) op.Value { return c.ItemNode(tuple.(*Node), i) }

// Expand replaces a call of a composite operator by its decomposition and
// returns the node that now gives its value; node is erased. For an operator that
// is not composite it returns nil and changes nothing.
func (g *Graph) Expand(node *Node) (out *Node, err error) {
	o := node.Op()
	if o == nil || !o.Composite() || node.opcode == CallModule {
		return nil, nil
	}
	defer diag.Catch(&err)
	in := make([]op.Value, len(node.args))
	for i := range node.args {
		if d := node.args[i].def; d != nil {
			if !d.typ.Ranked() {
				return nil, nil // decompositions look at ranks
			}
			in[i] = d
		}
	}
	v := o.Expand(g.Before(node), node.Attrs(), in)
	out = v.(*Node)
	node.ReplaceUses(out, nil)
	return out, g.Erase(node)
}

// Capture returns what stands in g, a region, for a value of a graph around it: n becomes
// an operand of the node with the region, and an input of all regions of that, unless it
// is one already; so it goes on through regions in regions. What it gives is n's value
// when the node begins. Cursors and SetArg capture by themselves. A value of g, and one
// of a graph that is not around it, is returned as it is.
func (g *Graph) Capture(n *Node) *Node {
	node := g.parent
	if n == nil || n.g == g || node == nil || node.erased {
		return n
	}
	if n = node.g.Capture(n); n.g != node.g {
		return n
	}
	skip, first := 0, 0
	if node.op == op.Cond {
		skip, first = 1, 1
	}
	if a, ok := node.attrs.(op.LoopAttrs); ok {
		first = a.Carry + a.Seqs
	}
	for i := first; i < len(node.args); i++ {
		if node.args[i].def == n && i-skip < len(g.Inputs()) {
			return g.Inputs()[i-skip]
		}
	}
	node.setArgs(append(node.Args(), n))
	var made *Node
	for _, r := range node.Regions() {
		c := &Cursor{g: r, before: r.first, pos: n.pos}
		for c.before != nil && c.before.opcode == Placeholder {
			c.before = c.before.next
		}
		if p := c.Placeholder(n.Name(), n.typ, nil); r == g {
			made = p
		}
	}
	return made
}

// CaptureSizes captures for a region values with the sizes of the graphs around that its
// nodes and guards speak of, where none of its inputs has them: an engine that runs the
// region by itself reads sizes off its inputs.
func (g *Graph) CaptureSizes() {
	done := map[string]bool{}
	capture := func(names []string) {
		for _, name := range names {
			if _, own := g.Symbol(name); !own && !done[name] {
				captureSize(g, name)
			}
			done[name] = true
		}
	}
	for n := range g.Nodes() {
		capture(n.symbolsUsed())
	}
	for _, d := range g.Guards() {
		capture(d.Symbols())
	}
}

// captureSize returns an input of g, a region, with a size of the graphs around; made
// tells that it was captured now. nil when no value has that size.
func captureSize(g *Graph, name string) (v *Node, made bool) {
	for _, p := range g.Inputs() {
		if slices.ContainsFunc(p.typ.Dims().Slice(), func(d shape.Dim) bool { s, plain := d.IsSymbol(); return plain && s == name }) {
			return p, false
		}
	}
	for h := g; h.parent != nil; h = h.parent.g {
		if s, ok := h.parent.g.Symbol(name); ok && s.Node != nil && s.Node.typ.Kind() == shape.Tensor {
			if v = g.Capture(s.Node); v.g == g {
				return v, true
			}
		}
	}
	return nil, false
}

// captured returns operands of user as values of g; it panics for those that cannot be.
func (g *Graph) captured(user string, args []*Node) []*Node {
	own := args
	for i, a := range args {
		if a == nil || a.g == g {
			continue
		}
		if &own[0] == &args[0] {
			own = slices.Clone(args)
		}
		if own[i] = g.Capture(a); own[i].g != g {
			panic(diag.Bug("operand " + a.String() + " of " + user + " belongs to another graph"))
		}
	}
	return own
}

// DropOperand takes operand i away from a node with regions, and what stands for it
// from the regions. It is an error when one of these uses it.
func (n *Node) DropOperand(i int) error {
	at := i
	if n.op == op.Cond {
		at--
	}
	var inputs []*Node
	for _, r := range n.Regions() {
		in := r.Inputs()
		if at < 0 || at >= len(in) || i >= len(n.args) {
			return n.Error(BadRegions, "operand "+strconv.Itoa(i)+" is none that the regions take")
		}
		if p := in[at]; p.nuses > 0 || len(r.SymbolsOf(p)) > 0 {
			return n.Error(EraseUsed, "operand "+strconv.Itoa(i)+" is used in region "+r.Name)
		}
		inputs = append(inputs, in[at])
	}
	for _, p := range inputs {
		if err := p.g.Erase(p); err != nil {
			return err
		}
	}
	n.setArgs(slices.Delete(n.Args(), i, i+1))
	return nil
}
