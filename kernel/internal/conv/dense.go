package conv

import (
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// dense reports whether the convolution is a matrix, packed for tiles of
// positions and channels, times few vectors: no lane of such panels is empty,
// and each is one stream of memory.
func (v *conv32) dense() bool { return v.rows && v.g.Pointwise() && v.g.OutPlane <= gemm.GemvCols }

// runDense computes such a convolution.
func (v *conv32) runDense(w *par.Workspace) {
	l, m, k, n := v.level(), v.outPerGroup, v.perGroup, v.g.OutPlane
	size, width := gemm.PackedRowsLen(l, m, k), 2*gemm.PanelLanes(l)
	j := par.TakeJob[denseJob](w)
	for i := range v.batch * v.groups {
		group := i % v.groups
		*j = denseJob{gemm.GemvJob{Product: gemm.Product{M: m, N: n, K: k, PackedA: v.packed[group*size : (group+1)*size],
			B: v.src[i*k*n : (i+1)*k*n], Ldb: n, C: v.dst[i*m*n : (i+1)*m*n], Ldc: n,
			End: v.end.Channels(group*m, m, i*m*n)}, Level: l}}
		w.Parallel((m-1)/width+1, max(1, 2*par.SimdPack/(width*k)), j)
	}
	par.PutJob(w, j)
}

// denseJob multiplies dense panels with the columns of b.
type denseJob struct{ gemm.GemvJob }

// Do computes the rows of panels [lo, hi). Weights are the large operand here: a
// panel comes from memory for the first column, as it lies, and from a cache for
// the few others; the sums of a column stay in registers over all of k.
func (j *denseJob) Do(lo, hi int) {
	var sums [gemm.GemvPanels * 16]float32
	lanes := gemm.PanelLanes(j.Level)
	for i := lo; i < hi; i++ {
		first := 2 * lanes * i
		rows := min(2*lanes, j.M-first)
		vecs := (rows-1)/lanes + 1
		for col := range j.N {
			gemm.GemvDense(j.Level, vecs, j.K, j.PackedA[first*j.K:], j.B[col:], j.Ldb, &sums)
			j.Put(first, sums[:rows], col)
		}
	}
	j.Finish(2*lanes*lo, min(2*lanes*hi, j.M))
}
