package simplify

import (
	"strconv"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
)

// Inline replaces every call of a sub-graph by the nodes of that, those in
// sub-graphs and regions included, and drops the sub-graphs. Positions stay, scopes
// are those of the calls and below them.
var Inline = passes.Pass{
	Name:   "inline",
	Doc:    "Replaces calls of sub-graphs by the nodes of these.",
	Module: true,
	Run: func(c *passes.Ctx, _ *graph.Graph) (bool, error) {
		before := c.Matches()
		err := inlineAll(c)
		return c.Matches() > before, err
	},
}

// maxInlined bounds the nodes that calls of calls may make.
const maxInlined = 1 << 22

// inlineAll goes through the sub-graphs from those that call nothing upwards, so that
// each node is copied once for each call of its graph.
func inlineAll(c *passes.Ctx) error {
	m := c.Module
	if len(m.Subs()) == 0 {
		return nil
	}
	done, made := map[*graph.Graph]bool{}, 0
	var flatten func(g *graph.Graph) error
	flatten = func(g *graph.Graph) error {
		if done[g] {
			return nil
		}
		done[g] = true
		for n := range g.All() {
			callee := n.Callee()
			if callee == nil {
				continue
			}
			if err := c.Err(); err != nil {
				return err
			}
			if err := flatten(callee); err != nil {
				return err
			}
			if made += callee.Len(); made > maxInlined {
				return n.Error(TooManyNodes, "calls of sub-graphs make more than "+strconv.Itoa(maxInlined)+" nodes").
					WithHint("calls double at each level")
			}
			out, err := graph.Inline(n)
			if err != nil {
				return err
			}
			var by *graph.Node
			if len(out) > 0 {
				by = out[0]
			}
			c.Rewrote(n, by, "sub-graph "+callee.Name+" is inlined")
		}
		return nil
	}
	if err := flatten(m.Graph); err != nil {
		return err
	}
	m.DropSubs()
	return nil
}
