package integer

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// mean makes the mean of some dimensions the pool that has one window: of images as
// they are, of others with those dimensions after the rest.
func (l *lowerer) mean(n *graph.Node) error {
	x, ok := l.whole(n, 0, "x")
	if !ok {
		return nil
	}
	a := n.Attrs().(std.ReduceAttrs)
	window, why := averaged(a, x.q.Type())
	q := l.pooled(n, x.q, why)
	if q == nil {
		return nil
	}
	c := q.Graph().Before(q).From(n)
	rows := x.q
	if !window.image {
		rows = c.Function(std.Permute, std.PermuteAttrs{Dims: op.IntList(window.order...)}, rows)
		rows = c.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(shape.Const(1), window.kept, shape.Const(window.sizes[0]))}, rows)
	}
	scale, zero := params(q)
	by := c.Function(std.QAvgPool, std.QAvgPoolAttrs{KernelSize: op.IntList(window.sizes...)}, rows, x.scale, x.zero, scale, zero)
	if !window.image || !a.KeepDim {
		by = c.Function(std.Reshape, std.ReshapeAttrs{Shape: n.Type().Dims()}, by)
	}
	return l.replace(q, by, "mean of quantised values")
}

// averaging is how a mean is a pool.
type averaging struct {
	image bool      // the last one to three of [N,C,...]
	sizes []int     // of the window
	order []int     // for others: the dimensions that stay, then those that go,
	kept  shape.Dim // and how many elements stay
}

// averaged says how a mean of x is a pool, and why it is none.
func averaged(a std.ReduceAttrs, x shape.Type) (w averaging, why string) {
	if a.DType != array.Invalid && a.DType != array.F32 {
		return w, "it computes " + a.DType.String()
	}
	gone := make([]bool, x.Rank())
	for _, d := range a.Dim.Slice() {
		at, err := op.Axis(d, x.Rank())
		if err != nil {
			return w, err.Error()
		}
		gone[at] = true
	}
	var back []int
	w.kept, w.image = shape.Const(1), x.Rank() >= 3 && x.Rank() <= 5
	for i := range gone {
		if a.Dim.Len() > 0 && !gone[i] {
			w.order, w.kept = append(w.order, i), w.kept.Mul(x.Dim(i))
			w.image = w.image && i < 2
			continue
		}
		size, known := x.Dim(i).Int()
		if !known || size == 0 {
			return w, "a size that it averages over is not known, or 0"
		}
		back, w.sizes = append(back, i), append(w.sizes, size)
	}
	if w.image = w.image && slices.Equal(w.order, []int{0, 1}); w.image {
		return w, ""
	}
	w.order = append(w.order, back...)
	n := 1
	for _, s := range w.sizes {
		n *= s
	}
	w.sizes = []int{n}
	return w, ""
}
