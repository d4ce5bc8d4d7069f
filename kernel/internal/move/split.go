package move

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Split cuts in[0] along Dim into len(out) pieces; each output's shape says how
// much it takes. Unbind drops Dim: every output takes one index.
//
//gofx:kernel
type Split struct {
	Dim    int
	Unbind bool
}

// Run implements Step.
func (s Split) Run(w *par.Workspace, out, in []*array.Array) {
	at := 0
	for _, o := range out {
		var v View
		at += s.piece(&v, o, in[0], at)
		v.copyTo(w, o, in[0])
	}
}

// View implements Viewer.
func (s Split) View(dst, in []*array.Array) bool {
	at := 0
	for _, o := range dst {
		var v View
		at += s.piece(&v, o, in[0], at)
		v.set(o, in[0])
	}
	return true
}

// piece lays v out as the part of src for o, which begins at index at, and
// returns how many indices that takes.
func (s Split) piece(v *View, o, src *array.Array, at int) int {
	v.Of("split", src)
	d := operand.Axis("split", s.Dim, v.Rank)
	n := 1
	if !s.Unbind {
		n = o.Dim(d)
	}
	if n > v.Shape[d]-at {
		operand.BadOperand("split", "the results hold more elements than the operand")
	}
	if n > 0 && src.Len() > 0 {
		v.off += at * v.Strides[d]
	}
	v.Shape[d] = n
	if s.Unbind {
		v.Drop(d)
	}
	return n
}
