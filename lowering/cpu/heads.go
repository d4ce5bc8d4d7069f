package cpu

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/internal/join"
	"github.com/gofx-dev/gofx/shape"
)

// heads makes a group of an attention and the calls after it that bring the heads of a
// query side by side, as networks do before the next product: the kernel stores its
// result so, instead of a copy.
func (f *grouping) heads(n *graph.Node) {
	if o := n.Op(); o == nil || o.Structural() || f.of[n] != nil || n.NumArgs() < 3 || n.NumUses() != 1 {
		return
	}
	k, _, err := f.b.step(n, n.OperandTypes())
	a, is := k.(*kernel.Attention)
	if err != nil || !is || a.HeadsLast {
		return
	}
	t, rank := n.Type(), n.Type().Rank()
	if q := n.Arg(0).Type(); rank < 3 || q.Rank() != rank || !q.Dims().Sub(0, rank-2).Same(t.Dims().Sub(0, rank-2)) {
		return
	}
	turned := f.onlyUser(n)
	order := make([]int, rank)
	for i := range order {
		order[i] = i
	}
	order[rank-3], order[rank-2] = rank-2, rank-3
	if p, is := f.kernel(turned).(*kernel.Permute); !is || !slices.Equal(p.Dims, order) {
		return
	}
	flat := f.onlyUser(turned)
	want := t.Dims().Sub(0, rank-3).Append(t.Dim(-2), t.Dim(-3).Mul(t.Dim(-1)))
	if _, is := f.kernel(flat).(*kernel.Reshape); !is || !flat.Type().Same(shape.TensorType(t.DType(), want)) {
		return
	}
	a.HeadsLast = true
	g := &group{nodes: []*graph.Node{n, turned, flat}, heads: a}
	for _, m := range g.nodes {
		f.of[m] = g
	}
}

// onlyUser returns the one user of a call, in no group yet and of one tensor, nil for none.
func (f *grouping) onlyUser(n *graph.Node) *graph.Node {
	if n == nil || n.NumUses() != 1 {
		return nil
	}
	if u := first(n.Users()); u.Op() != nil && !u.Op().Structural() && f.of[u] == nil && join.Plain(u) && u.Arg(0) == n && f.Era[u] == f.Era[n] {
		return u
	}
	return nil
}

// kernel returns the step of a call by itself, nil for none.
func (f *grouping) kernel(n *graph.Node) kernel.Step {
	if n == nil {
		return nil
	}
	k, _, err := f.b.step(n, n.OperandTypes())
	if err != nil {
		return nil
	}
	return k
}
