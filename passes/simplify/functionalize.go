package simplify

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
)

// Functionalize turns call_method and call_module nodes into call_function nodes
// of the same operators. The tensors of modules are read by get_attr nodes: one
// for each path, placed before its first use; a path that the graph writes is
// read anew at each use. Names, positions, types and symbols stay. A module that
// is opaque keeps its call_module.
var Functionalize = passes.Pass{
	Name: "functionalize",
	Doc:  "Turns calls of methods and modules into function calls with their parameters as operands.",
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		before := c.Matches()
		err := functionalize(c, g, passes.Written(g))
		return c.Matches() > before, err
	},
}

func functionalize(c *passes.Ctx, g *graph.Graph, written map[string]bool) error {
	reads := map[string]*graph.Node{}
	for n := range g.Nodes() {
		if err := c.Err(); err != nil {
			return err
		}
		for _, r := range n.Regions() {
			if err := functionalize(c, r, written); err != nil {
				return err
			}
		}
		switch n.Opcode() {
		case graph.GetAttr:
			oneRead(c, reads, n, written)
		case graph.CallMethod:
			n.ToFunction()
			c.Rewrote(n, nil, "the method is an operator")
		case graph.CallModule:
			toFunction(c, g, reads, n, written)
		}
	}
	return nil
}

// oneRead makes the first read of a path serve all later ones.
func oneRead(c *passes.Ctx, reads map[string]*graph.Node, n *graph.Node, written map[string]bool) {
	first := reads[n.Target()]
	switch {
	case written[n.Target()] || n.Live():
	case first == nil:
		reads[n.Target()] = n
	default:
		if err := c.Replace(n, first, "reads what "+first.String()+" does"); err != nil {
			panic(err)
		}
	}
}

func toFunction(c *passes.Ctx, g *graph.Graph, reads map[string]*graph.Node, n *graph.Node, written map[string]bool) {
	b := n.Bound()
	switch {
	case b == nil || b.Op == nil:
		c.Refuse(n, "nothing is known of module "+n.Target())
		return
	case b.Op.AdHoc:
		c.Refuse(n, "module "+n.Target()+" is opaque")
		return
	}
	params := make([]*graph.Node, len(b.Params))
	for i, path := range b.Params {
		if path == "" {
			continue
		}
		p := reads[path]
		if p == nil {
			p = g.Before(n).GetAttr(path)
			if written[path] {
				p.SetLive(true)
			} else {
				reads[path] = p
			}
		}
		params[i] = p
	}
	n.ToFunction(params...)
	c.Rewrote(n, nil, "module "+b.Type+" is an operator on parameters")
}
