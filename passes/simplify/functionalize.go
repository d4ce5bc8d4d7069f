package simplify

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
)

// Functionalize turns call_method and call_module nodes into call_function nodes
// of the same operators. The tensors of modules are read by get_attr nodes: one
// for each path, placed before its first use; a path that the graph writes is
// read again at each use. Names, positions, types and symbols stay. A module that
// is opaque keeps its call_module.
var Functionalize = functionalize(false)

// FunctionalizeAll is Functionalize for opaque modules too: their calls become
// calls of the Go functions, for who asks what is computed and not how it is
// written.
var FunctionalizeAll = functionalize(true)

func functionalize(opaque bool) passes.Pass {
	return passes.Pass{
		Name: "functionalize",
		Order: []passes.Before{
			{First: "functionalize", Then: "quant-lower", Why: "calls of modules hide their operands"},
			{First: "functionalize", Then: "decompose", Why: "calls of modules hide their operands and are not decomposed"},
			{First: "functionalize", Then: "const-fold", Why: "what calls of modules compute from parameters alone is seen as operands only"},
		},
		Doc: "Turns calls of methods and modules into function calls with their parameters as operands.",
		Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
			before := c.Matches()
			f := functionalizer{c: c, opaque: opaque, effects: graph.EffectsOf(g)}
			err := f.graph(g)
			return c.Matches() > before, err
		},
	}
}

type functionalizer struct {
	c       *passes.Ctx
	opaque  bool
	effects *graph.Effects
	reads   map[string]*graph.Node // the first read of each path, in the graph at hand
}

func (f *functionalizer) graph(g *graph.Graph) error {
	outer := f.reads
	defer func() { f.reads = outer }()
	f.reads = map[string]*graph.Node{}
	for node := range g.Nodes() {
		if err := f.c.Err(); err != nil {
			return err
		}
		for _, r := range node.Regions() {
			if err := f.graph(r); err != nil {
				return err
			}
		}
		switch node.Opcode() {
		case graph.GetAttr:
			f.oneRead(node)
		case graph.CallMethod:
			node.ToFunction()
			f.c.Rewrote(node, nil, "the method is an operator")
		case graph.CallModule:
			f.module(g, node)
		}
	}
	return nil
}

// oneRead makes the first read of a path serve all later ones.
func (f *functionalizer) oneRead(n *graph.Node) {
	first := f.reads[n.Target()]
	switch {
	case f.effects.WrittenState(n.Target()) || n.Live():
	case first == nil:
		f.reads[n.Target()] = n
	default:
		if err := f.c.Replace(n, first, "reads what "+first.String()+" does"); err != nil {
			panic(err)
		}
	}
}

// module turns the call of a leaf module into that of its operator.
func (f *functionalizer) module(g *graph.Graph, node *graph.Node) {
	bound := node.Bound()
	switch {
	case bound == nil || bound.Op == nil:
		f.c.Refuse(node, "nothing is known of module "+node.Target())
		return
	case bound.Op.AdHoc && !f.opaque:
		f.c.Refuse(node, "module "+node.Target()+" is opaque")
		return
	}
	params := make([]*graph.Node, len(bound.Params))
	for i, path := range bound.Params {
		if path == "" {
			continue
		}
		p := f.reads[path]
		if p == nil {
			p = g.Before(node).GetAttr(path)
			if f.effects.WrittenState(path) {
				p.SetLive(true)
			} else {
				f.reads[path] = p
			}
		}
		params[i] = p
	}
	node.ToFunction(params...)
	f.c.Rewrote(node, nil, "module "+bound.Type+" is an operator on parameters")
}
