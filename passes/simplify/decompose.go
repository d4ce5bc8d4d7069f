package simplify

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
)

// Decompose expands every composite operator into the operators that define it,
// again and again until only primitive ones are left. Calls of modules are not
// expanded; run Functionalize first.
var Decompose = DecomposeExcept(nil)

// DecomposeExcept is Decompose but for the calls that keep chooses, which a
// target may have rules for.
func DecomposeExcept(keep func(n *graph.Node) bool) passes.Pass {
	p := passes.Pass{
		Name: "decompose",
		Doc:  "Expands composite operators into primitive ones.",
		Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
			before := c.Matches()
			err := decompose(c, g, keep)
			return c.Matches() > before, err
		},
	}
	return p
}

const maxExpansions = 1 << 18

func decompose(ctx *passes.Ctx, g *graph.Graph, keep func(n *graph.Node) bool) error {
	for node := g.First(); node != nil; {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, r := range node.Regions() {
			if err := decompose(ctx, r, keep); err != nil {
				return err
			}
		}
		if o := node.Op(); o == nil || !o.Composite() || keep != nil && keep(node) {
			node = node.Next()
			continue
		}
		prev, next, typ := node.Prev(), node.Next(), node.Type()
		out, err := g.Expand(node)
		switch {
		case err != nil:
			return err
		case out == nil && node.Opcode() == graph.CallModule:
			ctx.Refuse(node, "it is a call of a module; run functionalize first")
			node = next
			continue
		case out == nil:
			ctx.Refuse(node, "the rank of an operand is not known")
			node = next
			continue
		}
		if d := out.Type().DType(); d != array.Invalid && typ.DType() != array.Invalid && d != typ.DType() {
			return diag.Bug("the decomposition of " + node.Op().Name + " gives " + out.Type().String() + ", its type rule says " + typ.String())
		}
		passes.KeepType(out, typ)
		graph.CopyMeta(out, node)
		ctx.Rewrote(node, out, "expanded")
		if ctx.Matches() > maxExpansions {
			return node.Error(TooManyNodes, "its decomposition does not end: more than "+strconv.Itoa(maxExpansions)+" expansions").WithHint("an operator may be defined by itself")
		}
		node = g.First() // what was made stands behind prev
		if prev != nil {
			node = prev.Next()
		}
	}
	return nil
}
