package arrange

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// Moves joins, cancels and moves views: transposes, permutations, reshapes and all
// other operators that show the elements of their operand.
//
//   - A view of views that shows what one of these is made of becomes that.
//   - Views in a row become one permute, or one reshape, where that says the same.
//   - A view of elementwise calls of views that it undoes is taken before these calls,
//     so that both are gone: x.permute(p).relu().permute(p⁻¹) is x.relu(). Operands that
//     broadcast are permuted alike.
//   - A view that exchanges rows and columns of a product of computed values is taken before
//     the product, which then multiplies in the other order.
//
// What views show is asked of their layouts (op.Layout), which hold for all sizes; a view
// of which nothing can be shown stays. The same elements are computed in the same way;
// results are the same to the
// bit except for products that multiply in the other order, or whose operands now lie in another
// one, which may sum in another order. Views of memory that is written stay.
var Moves = passes.Pass{
	Name: "moves",
	Doc:  "Joins and cancels transposes and reshapes, also across elementwise calls and products.",
	Order: []passes.Before{
		{First: "attention", Then: "moves", Why: "attention is recognised by the views around it"},
	},
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		m := mover{c: c, sharing: simplify.NewSharing(g)}
		return c.Each(g, func(n *graph.Node) error {
			if operand(n) == nil {
				return nil
			}
			return m.view(n)
		})
	},
}

type mover struct {
	c       *passes.Ctx
	sharing simplify.Sharing
}

// operand returns what a call of one result is a view of, nil where it is none.
func operand(n *graph.Node) *graph.Node {
	o := n.Op()
	if o == nil || o.ViewOf == 0 || o.ViewOf > n.NumArgs() || n.Bound() != nil || o.AdHoc || n.Type().Kind() != shape.Tensor ||
		n.Effect() != op.Pure || o.Structural() {
		return nil
	}
	return n.Viewed()
}

// view shortens what n is made of, in the best way there is.
func (m *mover) view(n *graph.Node) error {
	above := []*graph.Node{}
	for a := operand(n); a != nil && len(above) < 8; a = operand(a) {
		above = append(above, a)
	}
	for _, a := range slices.Backward(above) {
		if simplify.Restores(a, n) {
			return m.replace(n, a, "shows what "+a.String()+" is")
		}
	}
	if done, err := m.join(n, above); done || err != nil {
		return err
	}
	if done, err := m.turn(n); done || err != nil {
		return err
	}
	return m.across(n)
}

// replace puts by in the place of n, unless memory is written.
func (m *mover) replace(n, by *graph.Node, why string) error {
	if why := m.sharing.Refuse(n, by); why != "" {
		m.c.Refuse(n, why)
		return nil
	}
	args := n.Args()
	if err := m.c.Replace(n, by, why); err != nil {
		return err
	}
	passes.SweepUnused(args)
	return nil
}

// join makes one view of n and those before it that nothing else uses.
func (m *mover) join(n *graph.Node, above []*graph.Node) (done bool, err error) {
	for i := len(above) - 1; i > 0; i-- {
		x := above[i]
		if slices.ContainsFunc(above[:i], func(v *graph.Node) bool { return v.NumUses() != 1 || len(v.Graph().SymbolsOf(v)) > 0 }) {
			continue
		}
		if why := m.sharing.Refuse(n, x); why != "" {
			m.c.Refuse(n, why)
			return true, nil
		}
		c := n.Graph().Before(n)
		if perm := permutation(x, n); perm != nil {
			by := c.Function(std.Permute, std.PermuteAttrs{Dims: op.IntList(perm...)}, x)
			return true, m.replace(n, by, "one permutation of "+x.String())
		}
		if regrouped(x, n) {
			by := c.Function(std.Reshape, std.ReshapeAttrs{Shape: n.Type().Dims()}, x)
			return true, m.replace(n, by, "one reshape of "+x.String())
		}
	}
	return false, nil
}

// permutation returns how n exchanges the dimensions of x, nil where it does anything else
// or that cannot be shown.
func permutation(x, n *graph.Node) []int {
	rank := x.Type().Rank()
	at, ok := simplify.View(x, n)
	if !ok || at.Moved || rank < 1 || n.Type().Rank() != rank {
		return nil
	}
	from := op.InOrder(x.Type().Dims())
	perm, used := make([]int, rank), make([]bool, rank)
	for i := range perm {
		size, found := n.Type().Dim(i), false
		for k := 0; k < rank && !found; k++ {
			if found = !used[k] && from.Sizes[k].Equal(size) && (size.Is(1) || from.Strides[k].Equal(at.Strides[i])); found {
				perm[i], used[k] = k, true
			}
		}
		if !found {
			return nil
		}
	}
	return perm
}

// regrouped reports whether n has all elements of x in their order.
func regrouped(x, n *graph.Node) bool {
	at, ok := simplify.View(x, n)
	return ok && at.IsInOrder() && count(x.Type()).Equal(count(n.Type()))
}

// count returns the number of elements, unknown where a size is.
func count(t shape.Type) shape.Dim {
	n := shape.Const(1)
	for i := range t.Rank() {
		if t.Dim(i).IsUnknown() {
			return shape.Unknown
		}
		n = n.Mul(t.Dim(i))
	}
	return n
}
