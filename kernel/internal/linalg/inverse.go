package linalg

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Inverse computes the inverses of the square matrices in the last two dimensions of
// in[0], by elimination with pivots: f64 in f64, other float types in f32. A matrix of
// which no pivot is left but 0 gives NaN everywhere.
//
//gofx:kernel
type Inverse struct{}

// ScratchBytes implements Scratcher.
func (Inverse) ScratchBytes(out, in []*array.Array) int {
	n := in[0].Dim(-1)
	lanes := lanesOf(operand.Prod(in[0].Shape()[:in[0].Rank()-2]), n)
	if out[0].DType() == array.F64 {
		return move.AsBytes(in[0], array.F64) + lanes*scratch[float64](n, 8)
	}
	bytes := move.AsBytes(in[0], array.F32) + lanes*scratch[float32](n, 4)
	if out[0].DType() != array.F32 {
		bytes += par.ScratchSize(out[0].Len(), 4)
	}
	return bytes
}

// Run implements Step.
func (Inverse) Run(w *par.Workspace, out, in []*array.Array) {
	count, n := square("inverse", out[0], in[0], func(n int) int { return n * n })
	if out[0].DType() == array.F64 {
		invert[float64](w, out[0], in[0], count, n, scratch[float64](n, 8))
		return
	}
	invert[float32](w, out[0], in[0], count, n, scratch[float32](n, 4))
}

func invert[T float32 | float64](w *par.Workspace, o, a *array.Array, count, n, scratch int) {
	defer w.Release(w.Mark())
	j := par.TakeJob[inverseJob[T]](w)
	*j = inverseJob[T]{dst: move.OutAs[T](w, o), src: move.LoadAs[T](w, a), n: n}
	if n > 0 {
		solve(w, j, count, n, scratch)
	}
	move.SaveAs(o, j.dst)
	par.PutJob(w, j)
}

// inverseJob computes inverses.
type inverseJob[T float32 | float64] struct {
	dst, src []T
	n        int
}

func (j *inverseJob[T]) matrix(w *par.Workspace, i int) {
	n, mark := j.n, w.Mark()
	m, pivots := par.Scratch[T](w, n*n), par.Scratch[int32](w, n)
	copy(m, j.src[i*n*n:(i+1)*n*n])
	to := j.dst[i*n*n : (i+1)*n*n]
	if f := factor(w, m, n, pivots); f.zero < n {
		for c := range to {
			to[c] = T(math.NaN())
		}
	} else {
		f.inverse(to)
	}
	w.Release(mark)
}

// inverse computes U⁻¹·L⁻¹ into b and then exchanges its columns as rows were exchanged.
func (f *factors[T]) inverse(b []T) {
	n, block := f.n, blockOrder
	if n <= smallOrder {
		block = n
	}
	for i := range n {
		above := f.a[i*n+i+1 : (i+1)*n]
		for c := range above {
			above[c] = -above[c]
		}
	}
	lowerInverse(f.w, f.a, n, n, b, n, block)
	backward(f.w, f.a, n, n, b, n, n, block)
	for i := range n {
		row := b[i*n : (i+1)*n]
		for k := n - 1; k >= 0; k-- {
			if p := f.pivots[k]; int(p) != k {
				row[k], row[p] = row[p], row[k]
			}
		}
	}
}
