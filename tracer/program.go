package tracer

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
	"github.com/gofx-dev/gofx/tracer/record"
)

// The recorder's types over nodes of graphs.
type (
	recorder = record.Recorder[*graph.Node, *graph.Graph]
	memory   = record.Memory[*graph.Node, *graph.Graph]
)

// program is what a trace records into: a graph, with a graph for each region.
type program struct {
	t   *trace
	mod *graph.Module
	cur *graph.Cursor // of the graph that is being recorded

	top     *graph.Cursor                  // of the whole
	cursors map[*graph.Graph]*graph.Cursor // of regions
	pos     graph.PosID                    // of the call that is being recorded
	scope   graph.ScopeID
	nodes   int
}

func newProgram(t *trace, g *graph.Graph) program {
	c := g.At()
	c.OnError = func(err error) { t.report(err) }
	return program{t: t, mod: graph.NewModule(g), cur: c, top: c}
}

// Block implements record.Program.
func (p *program) Block(n *graph.Node) *graph.Graph { return n.Graph() }

// At implements record.Program.
func (p *program) At(g *graph.Graph) {
	if p.cur = p.top; g != p.mod.Graph {
		p.cur = p.cursors[g]
	}
}

// Mark implements record.Program.
func (p *program) Mark() { p.cur.SetPos(p.pos) }

// enterScope makes later nodes carry a scope, until the returned function is called.
func (p *program) enterScope(s graph.Scope) (leave func()) {
	outer := p.scope
	p.scope = p.cur.Graph().Scope(s)
	p.cur.SetScope(p.scope)
	return func() {
		p.scope = outer
		p.cur.SetScope(outer)
	}
}

// Make implements record.Program.
func (p *program) Make(o *op.Op, attrs any, args []*graph.Node) *graph.Node {
	return p.cur.Function(o, attrs, args...)
}

// Recorded implements record.Program: it shows a node to the hook of the tracer, and
// ends a trace that grows without bound or was cancelled.
func (p *program) Recorded(n *graph.Node, c *tensor.Call) {
	t := p.t
	if t.p.OnNode != nil && c != nil {
		t.p.OnNode(n, c)
	}
	if p.nodes++; p.nodes > t.maxNodes {
		t.report((&diag.Error{Code: Brake, Msg: "the trace has more than " + strconv.Itoa(t.maxNodes) + " nodes",
			Hint: "a loop may depend on data; use tensor.While or tensor.Scan, or raise MaxNodes"}).At(n.Pos()))
		t.halt()
	}
	if p.nodes&255 == 0 && t.ctx.Err() != nil {
		t.report(diag.Stop(t.ctx.Err()))
		t.halt()
	}
}

// Builder implements record.Program.
func (p *program) Builder() op.Builder { return p.cur }

// Item implements record.Program.
func (p *program) Item(tuple *graph.Node, i int) *graph.Node {
	for u := range tuple.Users() {
		if u.Op() == op.GetItem && u.Attrs().(op.GetItemAttrs).Index == i && u.Graph() == tuple.Graph() {
			return u
		}
	}
	return p.NewItem(tuple, i)
}

// NewItem implements record.Program. The node stands right after the tuple's other
// members.
func (p *program) NewItem(tuple *graph.Node, index int) *graph.Node {
	after := tuple
	for after.Next() != nil && after.Next().Op() == op.GetItem && after.Next().Arg(0) == tuple {
		after = after.Next()
	}
	c := tuple.Graph().After(after)
	c.From(tuple)
	c.OnError = p.cur.OnError
	return c.ItemNode(tuple, index)
}

// Tuple implements record.Program.
func (p *program) Tuple(n *graph.Node) bool {
	if n.Type().Kind() == shape.Tuple {
		return true
	}
	_, tuple := n.Op().NumResults(n.Attrs())
	return tuple
}

// Loose implements record.Program: only what one kernel writes is known to be in
// row-major order.
func (p *program) Loose(n *graph.Node) bool {
	o := n.Op()
	switch {
	case n.Opcode() == graph.Placeholder:
		return false // inputs are taken to be in row-major order
	case o == op.GetItem && n.NumArgs() == 1:
		return p.Loose(n.Arg(0))
	case o == nil || o.AdHoc || len(n.Regions()) > 0:
		return true
	}
	return o.Composite() && o.Class != op.Elementwise
}

// Input implements record.Program.
func (p *program) Input(n *graph.Node) bool {
	return n.Opcode() == graph.Placeholder && n.Graph() == p.mod.Graph
}

// Open implements record.Regions.
func (p *program) Open(name string) *graph.Graph {
	g := p.cur.Graph().NewRegion(name)
	c := g.At()
	c.OnError = p.cur.OnError
	c.SetScope(p.scope)
	if p.cursors == nil {
		p.cursors = map[*graph.Graph]*graph.Cursor{}
	}
	p.cursors[g] = c
	return g
}

// Run implements record.Regions: other calls may use the trace meanwhile.
func (p *program) Run(f func()) { p.t.body(f) }

// Clash implements record.Regions.
func (p *program) Clash() {
	p.t.use.overlap(diag.Here())
	p.t.use.answer(diag.Related{Msg: "while the function of a region ran"})
}

// Param implements record.Regions.
func (p *program) Param(g *graph.Graph, like *graph.Node, t shape.Type) *graph.Node {
	param := p.cursors[g].Placeholder(like.Name(), t, nil)
	for n := range g.Nodes() {
		if n.Opcode() != graph.Placeholder {
			g.MoveBefore(param, n)
			break
		}
	}
	return param
}

// Place implements record.Regions.
func (p *program) Place(g *graph.Graph, param *graph.Node, i int) {
	at := g.First()
	for range i {
		at = at.Next()
	}
	g.MoveBefore(param, at)
}

// Replace implements record.Regions.
func (p *program) Replace(old, with *graph.Node) { old.ReplaceUses(with, nil) }

// Drop implements record.Regions.
func (p *program) Drop(param *graph.Node) { _ = param.Graph().Erase(param) }

// Close implements record.Regions.
func (p *program) Close(g *graph.Graph, results, outer []*graph.Node, inner map[*graph.Node]*graph.Node) {
	s := &graph.Structure{Kind: graph.Results}
	for i := range results {
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	p.cursors[g].Output(s, results...)
	first := g.First()
	for first.Opcode() == graph.Placeholder {
		first = first.Next()
	}
	for _, n := range outer {
		param := inner[n]
		if param == nil {
			param = g.Before(first).Placeholder(n.Name(), n.Type(), nil)
		}
		g.MoveBefore(param, first)
	}
}

// Node implements record.Regions.
func (p *program) Node(o *op.Op, attrs any, gs []*graph.Graph, args []*graph.Node) *graph.Node {
	return p.cur.Region(o, attrs, gs, args...)
}

// Returns implements record.Regions: the recorder knows what may be one memory.
func (p *program) Returns(*alias.Storage[*graph.Node]) {}

// Within implements record.Regions.
func (p *program) Within(g, outer *graph.Graph) bool {
	for g != outer {
		if g.Parent() == nil {
			return false
		}
		g = g.Parent().Graph()
	}
	return true
}

// Calls implements record.Regions.
func (p *program) Calls(g *graph.Graph, s record.Slot) bool {
	for n := range g.All() {
		if b := n.Bound(); b != nil && slices.Contains(b.Params, s.Name()) {
			return true
		}
	}
	return false
}

// Keeps implements record.Regions.
func (p *program) Keeps(o *op.Op, n *graph.Node, axis int, d shape.Dim) {
	g := n.Graph()
	r := shape.Equality(g.NewSymbol(n, axis), d)
	if err := g.Assume(r, n); err != nil {
		p.t.report(&diag.Error{Code: graph.Contradiction, Op: o.Name, Msg: "the loop relies on " + r.String() + ", which no sizes here satisfy", Err: err})
	}
}

// slot is a parameter or buffer of the module as the recorder sees it.
type slot graph.Param

// Name implements record.Slot.
func (s *slot) Name() string { return s.Path }

// Fixed implements record.Slot.
func (s *slot) Fixed() bool { return !s.Buffer }

// Array implements record.Slot.
func (s *slot) Array() *array.Array { return s.Value }

// SetArray implements record.Slot.
func (s *slot) SetArray(a *array.Array) { s.Value = a }

// paramOf returns what a slot is of.
func paramOf(s record.Slot) *graph.Param { return (*graph.Param)(s.(*slot)) }
