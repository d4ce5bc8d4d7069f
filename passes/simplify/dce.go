package simplify

import (
	"strconv"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
)

// DCE removes nodes whose value nothing uses, in one sweep from the results
// backwards. Inputs stay, and so do nodes with effects, nodes whose operator is
// not known, and nodes that define a symbol. Unused random numbers are removed.
// Of cond, while and scan it removes results that nothing uses, carried values that
// serve these alone, and operands that no body uses.
var DCE = passes.Pass{
	Name: "dce",
	Doc:  "Removes nodes whose value nothing uses and that have no effect.",
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		before := c.Matches()
		err := dce(c, g)
		return c.Matches() > before, err
	},
}

func dce(ctx *passes.Ctx, g *graph.Graph) error {
	defines := definers(g)
	visited := 0
	for n := range g.Backward() {
		if visited++; visited&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if n.NumUses() == 0 && !defines[n] && n.Removable() {
			if err := ctx.Erase(n, "unused"); err != nil {
				return err
			}
			continue
		}
		if err := dceBodies(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// dceBodies removes what is unused in the bodies of a node, and at their border.
func dceBodies(ctx *passes.Ctx, n *graph.Node) error {
	if len(n.Regions()) == 0 {
		return nil
	}
	f := flowOf(n)
	if f != nil {
		if err := f.dropResults(ctx); err != nil {
			return err
		}
	}
	for _, r := range n.Regions() {
		if err := dce(ctx, r); err != nil {
			return err
		}
	}
	if f = flowOf(n); f == nil {
		return nil
	}
	return f.dropOperands(ctx)
}

// DropUnused removes parameters that no node reads, and leaf modules and sub-graphs
// that no node calls.
var DropUnused = passes.Pass{
	Name:   "drop-unused",
	Doc:    "Removes parameters, modules and sub-graphs that the graph does not use.",
	Module: true,
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		n := c.Module.DropUnused()
		if n > 0 {
			c.Note("dropped " + strconv.Itoa(n) + " parameters")
		}
		return n > 0, nil
	},
}
