package linalg

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Det computes the determinants of the square matrices in the last two dimensions of
// in[0], by elimination with pivots, in f64. Float element types.
//
//gofx:kernel
type Det struct{}

// ScratchBytes implements Scratcher.
func (Det) ScratchBytes(out, in []*array.Array) int {
	n := move.AsBytes(in[0], array.F64)
	if out[0].DType() != array.F64 {
		n += par.ScratchSize(out[0].Len(), 8)
	}
	rows := in[0].Dim(-1)
	return n + lanesOf(out[0].Len(), rows)*scratch[float64](rows, 8)
}

// Run implements Step.
func (Det) Run(w *par.Workspace, out, in []*array.Array) {
	a, o := in[0], out[0]
	count, n := square("det", o, a, func(int) int { return 1 })
	defer w.Release(w.Mark())
	j := par.TakeJob[detJob](w)
	*j = detJob{dst: move.OutAs[float64](w, o), src: move.LoadAs[float64](w, a), n: n}
	solve(w, j, count, n, scratch[float64](n, 8))
	move.SaveAs(o, j.dst)
	par.PutJob(w, j)
}

// detJob computes determinants.
type detJob struct {
	dst, src []float64
	n        int
}

func (j *detJob) matrix(w *par.Workspace, i int) {
	n, mark := j.n, w.Mark()
	m, pivots := par.Scratch[float64](w, n*n), par.Scratch[int32](w, n)
	copy(m, j.src[i*n*n:])
	f := factor(w, m, n, pivots)
	det := 1.0
	if f.odd {
		det = -1
	}
	for k := range min(f.zero+1, n) { // with the pivot 0: 0, or NaN if an element is not finite
		det *= m[k*n+k]
	}
	j.dst[i] = det
	w.Release(mark)
}
