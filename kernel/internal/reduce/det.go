package reduce

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Det computes the determinants of the square matrices in the last two dimensions of
// in[0], by elimination with pivots, in f64. Float element types.
//
//gofx:kernel
type Det struct{}

// ScratchBytes implements Scratcher.
func (Det) ScratchBytes(out, in []*array.Array) int {
	n := par.ScratchSize(in[0].Len(), 8) + move.AsBytes(in[0], array.F64)
	if out[0].DType() != array.F64 {
		n += par.ScratchSize(out[0].Len(), 8)
	}
	return n
}

// Run implements Step.
func (Det) Run(w *par.Workspace, out, in []*array.Array) {
	a, o := in[0], out[0]
	if a.Rank() < 2 || a.Dim(-1) != a.Dim(-2) || o.Len() != operand.Prod(a.Shape()[:a.Rank()-2]) {
		operand.BadOperand("det", "the operand is no list of square matrices, or the result has another number of elements")
	}
	defer w.Release(w.Mark())
	n := a.Dim(-1)
	dst, m := move.OutAs[float64](w, o), par.Scratch[float64](w, a.Len())
	copy(m, move.LoadAs[float64](w, a))
	j := par.TakeJob[detJob](w)
	*j = detJob{dst: dst, m: m, n: n}
	w.Parallel(len(dst), max(1, par.GemmWork/max(1, n*n*n)), j)
	par.PutJob(w, j)
	move.SaveAs(o, dst)
}

// detJob eliminates matrix by matrix, in place.
type detJob struct {
	dst, m []float64
	n      int
}

// Do computes determinants [lo, hi).
func (j *detJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		j.dst[i] = determinant(j.m[i*j.n*j.n:(i+1)*j.n*j.n], j.n)
	}
}

func determinant(m []float64, n int) float64 {
	det := 1.0
	for k := range n {
		pivot := k
		for i := k + 1; i < n; i++ {
			if math.Abs(m[i*n+k]) > math.Abs(m[pivot*n+k]) {
				pivot = i
			}
		}
		row := m[k*n : (k+1)*n]
		if pivot != k {
			other := m[pivot*n : (pivot+1)*n]
			for c := range row {
				row[c], other[c] = other[c], row[c]
			}
			det = -det
		}
		if det *= row[k]; row[k] == 0 {
			return det // 0, or NaN beside what is not finite
		}
		for i := k + 1; i < n; i++ {
			to := m[i*n : (i+1)*n]
			f := to[k] / row[k]
			for c := k + 1; c < n; c++ {
				to[c] -= float64(f * row[c])
			}
		}
	}
	return det
}
