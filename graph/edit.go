package graph

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// ToFunction turns a call in any spelling into the call_function of the same
// operator, params being the values of a module's tensors, in the order of
// Bound.Params (nil for absent ones). Name, position, type, side data and the
// symbols that the node defines stay; the scope of a call_module becomes that of
// the leaf, whose path the node loses. The node must call a known operator.
func (n *Node) ToFunction(params ...*Node) {
	operator, attrs := n.Op(), n.Attrs()
	if operator == nil || !n.opcode.IsCall() {
		panic(diag.Bug(n.String() + " calls no known operator"))
	}
	if n.opcode == CallModule {
		args := append(n.Args(), params...)
		for len(args) > 0 && args[len(args)-1] == nil {
			args = args[:len(args)-1]
		}
		n.SetArgs(args...)
		n.scope = n.g.Scope(n.leafScope())
	}
	n.opcode, n.op, n.attrs, n.target = CallFunction, operator, attrs, ""
	n.changed()
}

// ReplaceWith puts a call of another operator, on the same operands, in the place of a
// call and returns it; n is erased. attrs, at most one, are the new call's attributes;
// without them it has the zero ones:
//
//	gelu, err := relu.ReplaceWith(std.Gelu, std.GeluAttrs{Approximate: "tanh"})
//
// The new call inherits position, scope and the side data of inherited keys; the symbols
// that n defines and the guards that n gave rise to move to it. A method call stays one. A
// called module becomes a function of its operands and of reads of its tensors.
//
// It is an error, and nothing changes, when the operator does not take the operands, gives a
// value of another type than the users of n were made for, acts on the world where n does
// not, or when n is not an ordinary call. Whether both compute the same is for the caller to know.
func (n *Node) ReplaceWith(o *op.Op, attrs ...any) (*Node, error) {
	if why := n.irreplaceable(o); why != "" {
		return nil, n.Error(BadReplace, why)
	}
	if len(attrs) > 1 {
		return nil, n.Error(op.BadAttr, "several attribute structs are given, expected at most one")
	}
	var given any
	if len(attrs) == 1 {
		given = attrs[0]
	}
	given, err := o.Codec().Given(given)
	if err == nil {
		err = n.accepts(o, given)
	}
	if err != nil {
		return nil, n.refusal(o, err)
	}
	return n.become(o, given)
}

// irreplaceable says why n cannot become a call of o whatever its operands are.
func (n *Node) irreplaceable(o *op.Op) string {
	was := n.Op()
	switch {
	case n.erased:
		return n.String() + " has been erased"
	case o == nil:
		return "the new operator is nil"
	case was == nil:
		return n.String() + " calls no known operator"
	case was.Structural() || o.Structural():
		return was.Name + " and " + o.Name + " are not both ordinary operators: make the new call with a Cursor"
	case was.Effect != o.Effect || !slices.Equal(was.Mutates, o.Mutates):
		return o.Name + " has other effects than " + was.Name
	case was.ViewOf != o.ViewOf:
		return "only one of " + was.Name + " and " + o.Name + " gives a view of its operand, or of the same one"
	}
	return ""
}

// accepts applies the type rule of o to n's operands. It changes nothing: a relation of
// sizes that the rule needs becomes a guard when the call is made.
func (n *Node) accepts(o *op.Op, attrs any) error {
	types := n.OperandTypes()
	for i := range n.args {
		if n.args[i].def != nil && types[i].Kind() == shape.None {
			return nil // its own mistake was reported
		}
	}
	for k := len(types); k > 0 && types[k-1].Kind() == shape.None && !o.Variadic(); k-- {
		types = types[:k-1]
	}
	if err := o.CheckRequired(len(types), func(i int) bool { return types[i].Kind() != shape.None }); err != nil {
		return err
	}
	t, err := o.Type(&op.Infer{Compare: n.g.CompareDims}, attrs, types)
	if err != nil {
		return err
	}
	same := func(a, b shape.Dim) bool {
		equal, known := n.g.CompareDims(a, b)
		return a.IsUnknown() && b.IsUnknown() || a.Same(b) || equal && known
	}
	// The new type may say more than the old one, or nothing where the operator has no rule.
	if was := n.typ; t.Kind() != shape.None && was.Kind() != shape.None && !shape.Join(was, t, same).Same(was) {
		return diag.New(BadReplace, o.Name+" gives "+t.String()+", expected "+was.String()+" as its users do").
			WithHint("make the call with a Cursor, use ReplaceUses, and Infer the users' types")
	}
	return nil
}

// refusal gives a mistake n's position and the name of the new operator.
func (n *Node) refusal(o *op.Op, err error) error {
	var l diag.List
	l.Add(err)
	e := *l[0]
	e.Node, e.Op = n.Name(), o.Name
	return e.At(n.Pos())
}

// become makes the call of o, which takes n's operands.
func (n *Node) become(o *op.Op, attrs any) (*Node, error) {
	var mistake error
	c := n.g.Before(n)
	c.OnError = func(err error) { mistake = err }
	args := n.Args()
	var reads []*Node
	if b := n.Bound(); b != nil {
		for _, path := range b.Params {
			var read *Node
			if path != "" {
				read = c.GetAttr(path)
				reads = append(reads, read)
			}
			args = append(args, read)
		}
		c.SetScope(n.g.Scope(n.leafScope()))
	}
	for len(args) > 0 && args[len(args)-1] == nil && !o.Variadic() {
		args = args[:len(args)-1]
	}
	call := c.Function
	if n.opcode == CallMethod {
		call = c.Method
	}
	by := call(o, attrs, args...)
	if by.typ.Kind() == shape.None {
		by.SetType(n.typ)
	}
	if mistake != nil { // sizes that contradict what the graph relies on
		for _, d := range append([]*Node{by}, reads...) {
			_ = n.g.Erase(d)
		}
		return nil, n.refusal(o, mistake)
	}
	n.ReplaceUses(by, nil)
	return by, n.g.Erase(n)
}

// leafScope is the scope of what a called module computes.
func (n *Node) leafScope() Scope {
	leaf := Scope{Path: n.target, Type: n.Bound().Type}
	if was := n.Scope(); leaf.Type == "" && was.Path == leaf.Path {
		leaf.Type = was.Type // text may say it of the call alone
	}
	return leaf
}

// SetModule makes a call_module node call the leaf at another path, on the same
// operands. The type is not inferred again.
func (n *Node) SetModule(path string) {
	if n.opcode != CallModule {
		panic(diag.Bug(n.String() + " calls no module"))
	}
	n.target = path
	n.changed()
}

// Retype computes the node's type again: a parameter's from the module, the
// output's and a call's from the operands. A placeholder keeps its type.
func (n *Node) Retype() error {
	switch n.opcode {
	case Output:
		n.SetType(outputType(n))
		return nil
	case GetAttr:
		if p := param(n.g, n.target); p != nil {
			n.SetType(p.TypeOf())
		}
		return nil
	}
	return n.Infer()
}

func param(g *Graph, path string) *Param {
	if g.mod == nil {
		return nil
	}
	return g.mod.Param(path)
}

// ResetFacts forgets the symbols and guards of the graph, for a pass that derives
// them again. What was fixed during capture stays noted.
func (g *Graph) ResetFacts() {
	edited(g)
	g.symbols = symbolTable{notes: g.symbols.notes, guardTable: guardTable{version: g.symbols.version + 1}}
}

// SetOrder gives the nodes an order, which must have each of them once, and returns how
// many it moved. It refuses (FX3004), and changes nothing, where a value would be used
// before it is made, or a size before the value that it is a size of, where inputs are
// not first or the output is not last. Effects come as they stand in order: to keep
// theirs is the caller's part.
func (g *Graph) SetOrder(order []*Node) (moved int, err error) {
	at := make(map[*Node]int, len(order))
	for i, n := range order {
		if _, twice := at[n]; twice || n.g != g || n.erased {
			return 0, n.Error(ForeignNode, n.String()+" is in the order twice, or is not in the graph "+g.Name)
		}
		at[n] = i
	}
	if len(order) != g.count {
		return 0, diag.New(ForeignNode, "the order has "+itoa(len(order))+" nodes, the graph "+itoa(g.count))
	}
	inputs := len(g.Inputs())
	for i, n := range order {
		if (n.opcode == Placeholder) != (i < inputs) || n.opcode == Output && i != len(order)-1 {
			return 0, n.Error(BrokenOrder, n.String()+" is in the wrong place, expected inputs first and the output last")
		}
		for d := range n.Inputs() {
			if k, here := at[d]; here && k >= i {
				return 0, n.Error(BrokenOrder, n.String()+" comes before "+d.String()+", which it uses")
			}
		}
	}
	for _, s := range g.symbols.list {
		for _, n := range order[:at[s.Node]] {
			if n.needsSizeOf(s.Node) {
				return 0, n.Error(BrokenOrder, n.String()+" comes before "+s.Node.String()+", whose size "+s.Name+" it needs")
			}
		}
	}
	return rearrange(g, slices.Collect(g.Nodes()), order), nil
}

// Edit changes a module by hand, all or nothing: when edit returns an error or panics,
// or leaves a graph that Lint refuses, then the module is as it was, its nodes being
// the same nodes, and the error says why. Nodes that edit made are erased then. What is
// written into arrays in place, or done to other modules, is not taken back.
func Edit(m *Module, edit func(g *Graph) error) (err error) {
	before := save(m)
	finished := false
	defer func() {
		r := recover()
		switch e := r.(type) {
		case nil:
		case *diag.Error:
			err = e
		default:
			err = &diag.Error{Code: EditPanicked, Pos: diag.PanicPos(), Msg: "the edit panicked: " + fmt.Sprint(r), Hint: "the position is where it panicked"}
		}
		if !finished || err != nil {
			before.restore()
		}
	}()
	err = edit(m.Graph)
	if err == nil {
		if l := Lint(m.Graph); l.Err() != nil {
			err = &diag.Error{Code: EditBroke, Msg: "the edit left an invalid graph", Err: l}
		}
	}
	finished = true
	return err
}

// saved is what a module was: shallow copies of all that its methods change, with the
// places they are copies of.
type saved struct {
	mod    *Module
	as     Module
	params []Param
	bounds []Bound
	graphs []savedGraph
}

type savedGraph struct {
	g     *Graph
	as    Graph
	nodes []savedNode
}

type savedNode struct {
	n     *Node
	as    Node
	args  []edge
	extra extra
}

func save(m *Module) *saved {
	s := &saved{mod: m, as: *m}
	s.as.params, s.as.bounds, s.as.subs = slices.Clone(m.params), slices.Clone(m.bounds), slices.Clone(m.subs)
	s.as.byPath, s.as.byMod, s.as.types = maps.Clone(m.byPath), maps.Clone(m.byMod), &typeCache{}
	for _, p := range m.params {
		s.params = append(s.params, *p)
	}
	for _, b := range m.bounds {
		s.bounds = append(s.bounds, b.bound.clone())
	}
	for g := range m.Graphs() {
		s.graph(g)
	}
	return s
}

func (s *saved) graph(g *Graph) {
	c := savedGraph{g: g, as: *g, nodes: make([]savedNode, 0, g.count)}
	c.as.names = namespace{maps.Clone(g.names.next)}
	c.as.symbols = g.symbols.clone()
	for n := range g.Nodes() {
		v := savedNode{n: n, as: *n, args: slices.Clone(n.args)}
		if n.extra != nil {
			v.extra = n.extra.clone()
			v.extra.regions = slices.Clone(n.extra.regions)
		}
		c.nodes = append(c.nodes, v)
	}
	s.graphs = append(s.graphs, c)
	for n := range g.Nodes() {
		for _, r := range n.Regions() {
			s.graph(r)
		}
	}
}

// restore makes everything what it was and tells listeners.
func (s *saved) restore() {
	version := s.mod.version
	*s.mod = s.as
	s.mod.version = version + 1
	for i, p := range s.mod.params {
		*p = s.params[i]
	}
	for i, b := range s.mod.bounds {
		*b.bound = s.bounds[i]
	}
	for _, c := range s.graphs {
		for n := range c.g.Nodes() {
			for i := range n.args {
				if d := n.args[i].def; d != nil && d.g != c.g {
					n.args[i].unlink() // another graph has the list
				}
			}
		}
	}
	var tell []func()
	for _, c := range s.graphs {
		tell = append(tell, c.restore()...)
	}
	for _, f := range tell {
		f()
	}
}

func (c *savedGraph) restore() (tell []func()) {
	g := c.g
	there := make(map[*Node]bool, len(c.nodes))
	for n := range g.Nodes() {
		there[n] = true
	}
	for _, v := range c.nodes {
		if there[v.n] {
			tell = append(tell, v.n.changed)
		} else {
			tell = append(tell, v.n.created)
		}
		delete(there, v.n)
	}
	for n := range g.Nodes() {
		if there[n] {
			tell = append(tell, n.wasErased)
		}
	}
	for n := range there {
		n.erased, n.args, n.uses, n.last, n.nuses = true, nil, nil, nil, 0
	}
	listeners, slab, edges, version := g.listeners, g.slab, g.edges, g.symbols.version
	*g = c.as
	g.listeners, g.slab, g.edges, g.symbols.version = listeners, slab, edges, version+1
	for _, v := range c.nodes {
		*v.n = v.as
		copy(v.n.args, v.args)
		if v.n.extra != nil {
			*v.n.extra = v.extra
		}
	}
	return tell
}

// NameSizes defines a symbol, of the name that fresh returns, for each unknown size of the
// node's value, so that types of later nodes can use them.
func (n *Node) NameSizes(fresh func() string) {
	t := n.Type()
	if t.Kind() != shape.Tensor || !t.Ranked() {
		return
	}
	dims := t.Dims()
	for i, d := range dims.Slice() {
		if !d.IsUnknown() {
			continue
		}
		name := fresh()
		n.g.DefineSymbol(name, n, i)
		dims = dims.With(i, shape.Sym(name))
	}
	if !dims.Equal(t.Dims()) {
		n.SetType(t.WithDims(dims))
	}
}
