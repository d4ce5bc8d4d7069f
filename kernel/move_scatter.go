package kernel

import "github.com/gofx-dev/gofx/array"

// SliceScatter copies in[0] and writes in[1] over the elements that Slice of the
// same fields shows.
type SliceScatter struct{ Dim, Start, Stop, Step int }

// Run implements Step.
func (s SliceScatter) Run(w *Workspace, out, in []*array.Array) {
	copyInto(w, out[0], in[0])
	var v view
	Slice(s).layout(&v, out[0])
	v.copyFrom(w, out[0], in[1])
}

// SelectScatter copies in[0] and writes in[1] over the elements that Select of
// the same fields shows.
type SelectScatter struct{ Dim, Index int }

// Run implements Step.
func (s SelectScatter) Run(w *Workspace, out, in []*array.Array) {
	copyInto(w, out[0], in[0])
	var v view
	Select(s).layout(&v, out[0])
	v.copyFrom(w, out[0], in[1])
}

// DiagonalScatter copies in[0] and writes in[1] over the elements that Diagonal
// of the same fields shows.
type DiagonalScatter struct{ Offset, Dim1, Dim2 int }

// Run implements Step.
func (d DiagonalScatter) Run(w *Workspace, out, in []*array.Array) {
	copyInto(w, out[0], in[0])
	var v view
	Diagonal(d).layout(&v, out[0])
	v.copyFrom(w, out[0], in[1])
}

// copyFrom copies src, which has the view's shape, to the view of out.
func (v *view) copyFrom(w *Workspace, out, src *array.Array) {
	if src.Rank() != v.rank {
		badOperand("scatter", "the source has another rank than the view")
	}
	var m moveNest
	for i, n := range src.Shape() {
		if n != v.shape[i] {
			badOperand("scatter", "the source has another shape than the view")
		}
		m.push(n, v.strides[i], src.Strides()[i])
	}
	move(w, out, v.off, src, src.Offset(), &m)
}
