package arrange

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// turn takes n, a view that exchanges rows and columns of a product that nothing else reads,
// before the product: (x·y)ᵀ is yᵀ·xᵀ. A product reads operands along either axis, and most of
// what would read the view does not. So the gradient of a weight that a model turns, as tied
// embeddings are, is made in the order that its update reads.
func (m *mover) turn(n *graph.Node) (done bool, err error) {
	x := product(n)
	if x == nil || !reordered(n) || !alike(x.Arg(0), x.Arg(1)) {
		return false, nil
	}
	flat := !turns(permutation(x, n))
	if flat && !flattens(x, n) {
		return false, nil
	}
	if why := m.sharing.Written(x.Args()...); why != "" {
		m.c.Refuse(n, why)
		return true, nil
	}
	c := n.Graph().Before(n).From(x)
	turned := func(a *graph.Node) *graph.Node {
		if flat {
			d := a.Type().Dims()
			a = c.Function(std.Reshape, std.ReshapeAttrs{Shape: d.Sub(d.Len()-2, d.Len())}, a)
		}
		return c.Function(std.Transpose, std.TransposeAttrs{Dim0: -1, Dim1: -2}, a)
	}
	operands := []*graph.Node{turned(x.Arg(1)), turned(x.Arg(0))}
	by := c.Function(std.Matmul, op.None{}, operands...)
	if !by.Type().Same(n.Type()) {
		passes.SweepUnused([]*graph.Node{by})
		return false, nil
	}
	if err := m.replace(n, by, "taken before "+x.String()+", which is computed the other way round"); err != nil {
		return true, err
	}
	for _, v := range operands {
		if err := m.view(v); err != nil {
			return true, err
		}
	}
	return true, nil
}

// product returns the product that n is a view of, directly or through views that nothing else
// reads; nil where there is none.
func product(n *graph.Node) *graph.Node {
	x := operand(n)
	for ; n.NumArgs() == 1 && x != nil; x = operand(x) {
		if x.NumUses() != 1 || x.Graph() != n.Graph() || len(n.Graph().SymbolsOf(x)) > 0 {
			return nil
		}
		if x.Op() == std.Matmul && x.Bound() == nil {
			return x
		}
	}
	return nil
}

// flattens reports whether n, a matrix, shows rows and columns of x exchanged, a batch of one.
func flattens(x, n *graph.Node) bool {
	t := x.Type()
	at, ok := simplify.View(x, n)
	if !ok || at.Moved || n.Type().Rank() != 2 || t.Rank() < 3 {
		return false
	}
	for i := range t.Rank() - 2 {
		if !t.Dim(i).Is(1) {
			return false
		}
	}
	rows, columns := t.Dim(-2), t.Dim(-1)
	return n.Type().Dim(0).Equal(columns) && n.Type().Dim(1).Equal(rows) && at.Strides[0].Is(1) && at.Strides[1].Equal(columns)
}

// turns reports whether a permutation exchanges the last two dimensions and nothing else.
func turns(perm []int) bool {
	last := len(perm) - 1
	if last < 1 || perm[last] != last-1 || perm[last-1] != last {
		return false
	}
	for i, k := range perm[:last-1] {
		if i != k {
			return false
		}
	}
	return true
}

// reordered reports whether something other than a product reads n.
func reordered(n *graph.Node) bool {
	for u := range n.Users() {
		if o := u.Op(); o == nil || o.Class != op.Contraction {
			return true
		}
	}
	return false
}

// alike reports whether x and y are computed batches of as many matrices: one that is shared by a
// batch is multiplied at once by all rows of the batch as long as it stands on the right.
func alike(x, y *graph.Node) bool {
	a, b := x.Type(), y.Type()
	if !a.Ranked() || !b.Ranked() || a.Rank() != b.Rank() || a.Rank() < 2 || state(x) || state(y) {
		return false
	}
	batch := a.Rank() - 2
	return a.Dims().Sub(0, batch).Equal(b.Dims().Sub(0, batch))
}

// state reports whether a is a parameter or a view of one: targets pack such operands where
// they stand on the right.
func state(a *graph.Node) bool {
	for ; a != nil; a = operand(a) {
		if a.Opcode() == graph.GetAttr {
			return true
		}
	}
	return false
}
