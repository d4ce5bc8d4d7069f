package graph

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Sub returns the sub-graph with that name, nil when the module has none.
func (m *Module) Sub(name string) *Graph {
	for _, g := range m.subs {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// Subs returns the sub-graphs in the order in which they were added.
func (m *Module) Subs() []*Graph { return m.subs }

// NewSub adds an empty sub-graph with a name like hint that no other has. A call of
// op.Call runs it. It sees the module's state by path, and nothing of the graphs
// that call it: values and symbols come in through its inputs. The scopes of its
// nodes are relative to that of the call.
func (m *Module) NewSub(hint string) *Graph {
	g := New(m.freshSub(hint))
	m.addSub(g)
	return g
}

func (m *Module) freshSub(hint string) string {
	name := hint
	for i := 1; m.Sub(name) != nil; i++ {
		name = hint + "_" + itoa(i)
	}
	return name
}

func (m *Module) addSub(g *Graph) {
	m.adopt(g)
	m.subs = append(m.subs, g)
	m.version++
}

// DropSubs removes the sub-graphs that are not called from the module's graph, nor
// from one that is.
func (m *Module) DropSubs() {
	entered := map[*Graph]bool{}
	var enter func(g *Graph)
	enter = func(g *Graph) {
		entered[g] = true
		for n := range g.All() {
			if sub := n.Callee(); sub != nil && !entered[sub] {
				enter(sub)
			}
		}
	}
	enter(m.Graph)
	m.dropSubs(func(g *Graph) bool { return !entered[g] })
}

func (m *Module) dropSubs(drop func(g *Graph) bool) {
	m.subs = slices.DeleteFunc(m.subs, drop)
	m.version++
}

// Graphs yields the graph of the module and its sub-graphs.
func (m *Module) Graphs() iter.Seq[*Graph] {
	return func(yield func(*Graph) bool) {
		if m.Graph != nil && !yield(m.Graph) {
			return
		}
		for _, g := range m.subs {
			if !yield(g) {
				return
			}
		}
	}
}

// All yields every node of the module once: those of its graph, of its sub-graphs
// and of their regions.
func (m *Module) All() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for g := range m.Graphs() {
			if !g.all(yield) {
				return
			}
		}
	}
}

// Callee returns the sub-graph that a node calls, in any spelling; nil for other
// nodes, and where the module does not have it.
func (n *Node) Callee() *Graph {
	if n.g.mod == nil || n.Op() != op.Call {
		return nil
	}
	if a, ok := n.Attrs().(op.CallAttrs); ok {
		return n.g.mod.Sub(a.Graph)
	}
	return nil
}

// Bodies returns the graphs that a node runs: its regions, or what it calls.
func (n *Node) Bodies() []*Graph {
	if g := n.Callee(); g != nil {
		return []*Graph{g}
	}
	return n.Regions()
}

// Inner yields what a run of a node may run: the nodes of its regions or of the
// sub-graph that it calls, of theirs, and so on, each once.
func (n *Node) Inner() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		var entered map[*Graph]bool
		var enter func(n *Node) bool
		enter = func(n *Node) bool {
			for _, g := range n.Bodies() {
				if entered[g] {
					continue
				}
				if entered == nil {
					entered = map[*Graph]bool{}
				}
				entered[g] = true
				for m := range g.Nodes() {
					if !yield(m) || !enter(m) {
						return false
					}
				}
			}
			return true
		}
		enter(n)
	}
}

// cycle returns the names along which a sub-graph that g calls, or g itself, comes
// to call itself, the first one again at the end; nil when none does.
func cycle(g *Graph) []string {
	if g.mod == nil || len(g.mod.subs) == 0 {
		return nil
	}
	done := map[*Graph]bool{}
	var path []*Graph
	var visit func(g *Graph) []string
	visit = func(g *Graph) []string {
		if i := slices.Index(path, g); i >= 0 {
			var names []string
			for _, p := range append(path[i:], g) {
				names = append(names, p.Name)
			}
			return names
		}
		if done[g] {
			return nil
		}
		done[g] = true
		path = append(path, g)
		for n := range g.All() {
			if c := n.Callee(); c != nil {
				if names := visit(c); names != nil {
					return names
				}
			}
		}
		path = path[:len(path)-1]
		return nil
	}
	return visit(g)
}

// CheckCall says what is wrong with a call of a sub-graph, nil when it fits; other
// nodes do. Every engine asks it before it runs, prints or lowers a call. What is
// inside of the sub-graph is not looked at; Lint does.
func (n *Node) CheckCall() *diag.Error {
	if n.g.mod == nil || n.Op() != op.Call {
		return nil
	}
	g := n.Callee()
	if g == nil {
		e := n.Error(BadCall, "the module has no such sub-graph")
		if a, ok := n.Attrs().(op.CallAttrs); ok {
			e.Msg = "the module has no sub-graph " + strconv.Quote(a.Graph)
		}
		return e
	}
	out := g.Output()
	if out == nil {
		return n.Error(BadCall, "sub-graph "+g.Name+" has no output")
	}
	for i := range out.args {
		if d := out.args[i].def; d == nil || d.typ.Kind() == shape.Tuple {
			return n.Error(BadCall, "result "+strconv.Itoa(i)+" of sub-graph "+g.Name+" is "+d.String()+", expected a tensor")
		}
	}
	_, err := callType(n.g, n, n.OperandTypes(), nil)
	if err == nil {
		return nil
	}
	var l diag.List
	l.Add(err)
	return n.Error(l[0].Code, l[0].Msg)
}

// callType is the type of a call of a sub-graph: that of the result, over the sizes
// of the operands. assume is told what the sub-graph demands of them.
func callType(g *Graph, node *Node, operands []shape.Type, assume func(shape.Relation) error) (shape.Type, error) {
	sub := node.Callee()
	if sub == nil || sub.Output() == nil {
		return shape.Type{}, nil // Lint says so
	}
	inputs := sub.Inputs()
	if len(inputs) != len(operands) {
		return shape.Type{}, diag.New(BadCall, strconv.Itoa(len(operands))+" operands, sub-graph "+sub.Name+" has "+strconv.Itoa(len(inputs))+" inputs")
	}
	c := &binding{sub: sub, size: map[string]shape.Dim{}, infer: op.Infer{Assume: assume}}
	for i, in := range inputs {
		if operands[i].Kind() == shape.Tuple || node.absent(i) {
			return shape.Type{}, diag.New(BadCall, "operand "+strconv.Itoa(i)+" is "+operands[i].String()+", expected a tensor")
		}
		for _, s := range sub.SymbolsOf(in) {
			c.size[s.Name] = operands[i].Dim(s.Axis)
		}
	}
	for i, in := range inputs {
		if err := c.fit(in, operands[i]); err != nil {
			return shape.Type{}, err
		}
	}
	for _, d := range sub.symbols.guards {
		if err := c.demand(d.Bind(c.bind), d.String()); err != nil {
			return shape.Type{}, err
		}
	}
	return outputType(sub.Output()).Bind(c.bind), nil
}

// absent reports whether operand i, counting the parameters of a called module, is
// not there.
func (n *Node) absent(i int) bool {
	if i < len(n.args) {
		return n.args[i].def == nil
	}
	b := n.Bound()
	return b == nil || b.Params[i-len(n.args)] == ""
}

// binding says what the symbols of a sub-graph are for one call.
type binding struct {
	sub   *Graph
	size  map[string]shape.Dim
	infer op.Infer
}

// bind returns what a symbol is for the caller; a size that is found inside of the
// sub-graph is none of the caller's.
func (c *binding) bind(symbol string) shape.Dim {
	if d, ok := c.size[symbol]; ok {
		return d
	}
	return shape.Unknown
}

// fit requires an operand to be what an input is declared to be.
func (c *binding) fit(in *Node, operand shape.Type) error {
	want := in.typ.Bind(c.bind)
	differ := func() string {
		return "input " + strconv.Quote(in.target) + " of sub-graph " + c.sub.Name + " is " + in.typ.String() + ", its operand " + operand.String()
	}
	if want.DType() != 0 && operand.DType() != 0 && want.DType() != operand.DType() ||
		want.Ranked() && operand.Ranked() && want.Rank() != operand.Rank() {
		return diag.New(BadCall, differ())
	}
	if !want.Ranked() || !operand.Ranked() {
		return nil
	}
	for i := range want.Rank() {
		if _, err := c.infer.Equal(want.Dim(i), operand.Dim(i), BadCall, differ); err != nil {
			return err
		}
	}
	return nil
}

// demand makes a guard of the sub-graph one of the caller.
func (c *binding) demand(r shape.Relation, text string) error {
	if r.IsUnknown() {
		return nil
	}
	switch r.Truth() {
	case shape.True:
		return nil
	case shape.False:
		return diag.New(BadCall, "sub-graph "+c.sub.Name+" needs "+text+", which is "+r.String()+" here")
	}
	if c.infer.Assume == nil {
		return nil
	}
	return c.infer.Assume(r)
}

// recursion is the mistake of a graph that comes to call itself.
func recursion(g *Graph) *diag.Error {
	names := cycle(g)
	if names == nil {
		return nil
	}
	return diag.New(Recursive, "sub-graph "+names[0]+" calls itself: "+strings.Join(names, " calls ")).
		WithHint("write loops with while or scan")
}

// subs checks the sub-graphs of a module.
func (l *linter) subs(m *Module) {
	for _, g := range m.subs {
		inner := &linter{}
		inner.graph(g, nil)
		l.list = append(l.list, inner.list...)
		if g.mod != m || g.parent != nil || m.Sub(g.Name) != g {
			l.list = append(l.list, diag.New(BadCall, "sub-graph "+strconv.Quote(g.Name)+" belongs to another module or node, or has the name of another"))
		}
	}
	for g := range m.Graphs() {
		if e := recursion(g); e != nil {
			l.list = append(l.list, e)
			return
		}
	}
}

// Entry returns what the graph takes, and what it relies on over the sizes of its inputs: engines
// check the inputs of a run with it. Guards over other sizes are asked where these are found.
func (g *Graph) Entry() *guard.Entry {
	e := &guard.Entry{}
	inputs := g.Inputs()
	for _, n := range inputs {
		e.Inputs = append(e.Inputs, guard.Input{Type: guard.Type{Input: n.Target(), Type: n.Type()}, Node: n.Name(), Pos: n.Pos()})
	}
	own := map[string]bool{}
	for _, s := range g.Symbols() {
		if i := slices.Index(inputs, s.Node); i >= 0 {
			e.Symbols = append(e.Symbols, guard.Symbol{Name: s.Name, Input: i, Axis: s.Axis})
			own[s.Name] = true
		}
	}
	for _, d := range g.Needed() {
		if !slices.ContainsFunc(d.Symbols(), func(name string) bool { return !own[name] }) {
			e.Needs = append(e.Needs, d.Need())
		}
	}
	return e
}

// Needed returns the guards that say more than the types of the inputs; see typeSays.
func (g *Graph) Needed() []Guard {
	says := func(d Guard) bool { return typeSays(g, d) }
	if !slices.ContainsFunc(g.Guards(), says) {
		return g.Guards()
	}
	return slices.DeleteFunc(slices.Clone(g.Guards()), says)
}

// ResolveDim returns a size as the guards of a graph and of those around it say it: the number
// that they give a symbol stands for the symbol.
func ResolveDim(g *Graph, d shape.Dim) shape.Dim {
	for h := g; ; h = h.Parent().Graph() {
		h.symbols.solve()
		if d = h.symbols.solver.Resolve(d); h.Parent() == nil {
			return d
		}
	}
}

// RequireAll enters guards over sizes that env restates. What is not known then is left out.
func (g *Graph) RequireAll(guards []Guard, env func(symbol string) shape.Dim) {
	for _, d := range guards {
		if r := d.Bind(env); !r.IsUnknown() {
			g.Require(r, d.Node)
		}
	}
}

// Relations returns what the guards say.
func (g *Graph) Relations() guard.Relations {
	list := make(guard.Relations, len(g.symbols.guards))
	for i, d := range g.symbols.guards {
		list[i] = d.Relation
	}
	return list
}

// Need returns the guard as what an Entry checks.
func (d Guard) Need() guard.Need {
	n := guard.Need{Relation: d.Relation}
	if from := d.Node; from != nil {
		n.Text, n.Pos = "required by "+from.String(), from.Pos()
		if o := from.Op(); o != nil {
			n.Op = o.Name
		}
	}
	return n
}

// typeSays reports whether the type of an input says what a guard does, and no call needs it: that
// one of its sizes is another size. It is compared as such.
func typeSays(g *Graph, d Guard) bool {
	if d.Rel != shape.EQ || d.Node != nil && d.Node.opcode != Placeholder {
		return false
	}
	for _, sides := range [2][2]shape.Dim{{d.A, d.B}, {d.B, d.A}} {
		name, plain := sides[0].IsSymbol()
		if s, ok := g.Symbol(name); plain && ok && s.Node.opcode == Placeholder && s.Node.typ.Dim(s.Axis).Equal(sides[1]) {
			return true
		}
	}
	return false
}
