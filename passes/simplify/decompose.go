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

// DecomposeExcept is Decompose except for the calls that keep chooses, which a
// target may have rules for.
func DecomposeExcept(keep func(n *graph.Node) bool) passes.Pass {
	p := ExpandExcept(keep, nil)
	p.Name, p.Doc = "decompose", "Expands composite operators into primitive ones."
	return p
}

const maxExpansions = 1 << 18

// graph expands the calls of g and of its regions.
func (e *expander) graph(ctx *passes.Ctx, g *graph.Graph) error {
	for node := g.First(); node != nil; {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, r := range node.Regions() {
			if err := e.graph(ctx, r); err != nil {
				return err
			}
		}
		prev, next := node.Prev(), node.Next()
		done, err := e.call(ctx, g, node)
		if err != nil {
			return err
		}
		if done {
			next = g.First() // what was made stands after prev
			if prev != nil {
				next = prev.Next()
			}
		}
		node = next
	}
	return nil
}

// call expands a call, where it is to be. It tells whether it did.
func (e *expander) call(ctx *passes.Ctx, g *graph.Graph, node *graph.Node) (done bool, err error) {
	o := node.Op()
	if o == nil || !o.Composite() && e.find(o) == nil || e.keep != nil && e.keep(node) {
		return false, nil
	}
	if ctx.Matches() > maxExpansions {
		return false, node.Error(TooManyNodes, "its decomposition does not end: more than "+strconv.Itoa(maxExpansions)+" expansions").WithHint("an operator may be defined by itself")
	}
	if !o.Composite() {
		return e.byTable(ctx, g, node)
	}
	typ := node.Type()
	out, err := g.Expand(node)
	switch {
	case err != nil:
		return false, err
	case out == nil && node.Opcode() == graph.CallModule:
		ctx.Refuse(node, "it is a call of a module; run functionalize first")
		return false, nil
	case out == nil:
		ctx.Refuse(node, "the rank of an operand is not known")
		return false, nil
	}
	if d := out.Type().DType(); d != array.Invalid && typ.DType() != array.Invalid && d != typ.DType() {
		return false, diag.Bug("the decomposition of " + o.Name + " gives " + out.Type().String() + ", its type rule says " + typ.String())
	}
	passes.KeepType(out, typ)
	graph.CopyMeta(out, node)
	ctx.Rewrote(node, out, "expanded")
	return true, nil
}
