package move

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// SliceScatter copies in[0] and writes in[1] over the elements that Slice of the
// same fields shows.
//
//gofx:kernel
type SliceScatter struct{ Dim, Start, Stop, Step int }

// Updates implements Updater.
func (SliceScatter) Updates() {}

// Run implements Step.
func (s SliceScatter) Run(w *par.Workspace, out, in []*array.Array) {
	Keep(w, out[0], in[0])
	var v View
	Slice(s).layout(&v, out[0])
	v.copyFrom(w, out[0], in[1])
}

// SelectScatter copies in[0] and writes in[1] over the elements that Select of
// the same fields shows.
//
//gofx:kernel
type SelectScatter struct{ Dim, Index int }

// Updates implements Updater.
func (SelectScatter) Updates() {}

// Run implements Step.
func (s SelectScatter) Run(w *par.Workspace, out, in []*array.Array) {
	Keep(w, out[0], in[0])
	var v View
	Select(s).layout(&v, out[0])
	v.copyFrom(w, out[0], in[1])
}

// DiagonalScatter copies in[0] and writes in[1] over the elements that Diagonal
// of the same fields shows.
//
//gofx:kernel
type DiagonalScatter struct{ Offset, Dim1, Dim2 int }

// Updates implements Updater.
func (DiagonalScatter) Updates() {}

// Run implements Step.
func (d DiagonalScatter) Run(w *par.Workspace, out, in []*array.Array) {
	Keep(w, out[0], in[0])
	var v View
	Diagonal(d).layout(&v, out[0])
	v.copyFrom(w, out[0], in[1])
}

// copyFrom copies src, which has the view's shape, to the view of out.
func (v *View) copyFrom(w *par.Workspace, out, src *array.Array) {
	if src.Rank() != v.Rank {
		operand.BadOperand("scatter", "the source has another rank than the view")
	}
	var m Nest
	for i, n := range src.Shape() {
		if n != v.Shape[i] {
			operand.BadOperand("scatter", "the source has another shape than the view")
		}
		m.Push(n, v.Strides[i], src.Strides()[i])
	}
	Move(w, out, v.off, src, src.Offset(), &m)
}
