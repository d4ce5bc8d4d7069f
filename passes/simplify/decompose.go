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

// TooManyNodes is the code of a decomposition that does not end.
const TooManyNodes diag.Code = "FX3031"

const maxExpansions = 1 << 18

func decompose(c *passes.Ctx, g *graph.Graph, keep func(n *graph.Node) bool) error {
	for n := g.First(); n != nil; {
		if err := c.Err(); err != nil {
			return err
		}
		for _, r := range n.Regions() {
			if err := decompose(c, r, keep); err != nil {
				return err
			}
		}
		if o := n.Op(); o == nil || !o.Composite() || keep != nil && keep(n) {
			n = n.Next()
			continue
		}
		prev, next, t := n.Prev(), n.Next(), n.Type()
		out, err := g.Expand(n)
		switch {
		case err != nil:
			return err
		case out == nil && n.Opcode() == graph.CallModule:
			c.Refuse(n, "it is a call of a module; run functionalize first")
			n = next
			continue
		case out == nil:
			c.Refuse(n, "the rank of an operand is not known")
			n = next
			continue
		}
		if d := out.Type().DType(); d != array.Invalid && t.DType() != array.Invalid && d != t.DType() {
			return diag.Bug("the decomposition of " + n.Op().Name + " gives " + out.Type().String() + ", its type rule says " + t.String())
		}
		passes.KeepType(out, t)
		graph.CopyMeta(out, n)
		c.Rewrote(n, out, "expanded")
		if c.Matches() > maxExpansions {
			return n.Error(TooManyNodes, "its decomposition does not end: more than "+strconv.Itoa(maxExpansions)+" expansions").WithHint("an operator may be defined by itself")
		}
		n = g.First() // what was made stands behind prev
		if prev != nil {
			n = prev.Next()
		}
	}
	return nil
}
