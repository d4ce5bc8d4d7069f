package linalg

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Matrices of up to sharedOrder rows are computed in parallel; a larger one has enough
// work for all threads by itself.
const sharedOrder = 256

// solver does the matrices of a batch one by one; each call takes scratch of w.
type solver interface {
	matrix(w *par.Workspace, i int)
}

// batchJob does a batch, a share of it in each lane.
type batchJob struct {
	solver
	count int
	lanes *par.Lanes
}

// Do does the shares [lo, hi) of the batch.
func (j *batchJob) Do(lo, hi int) {
	n := j.lanes.Len()
	for lane := lo; lane < hi; lane++ {
		for i := lane * j.count / n; i < (lane+1)*j.count/n; i++ {
			j.matrix(j.lanes.At(lane), i)
		}
	}
}

// solve calls s for count matrices of n rows, which take the given scratch each.
func solve(w *par.Workspace, s solver, count, n, scratch int) {
	lanes := lanesOf(count, n)
	if lanes == 1 {
		for i := range count {
			s.matrix(w, i)
		}
		return
	}
	mark := w.Mark()
	j := par.TakeJob[batchJob](w)
	*j = batchJob{solver: s, count: count, lanes: par.TakeLanes(w, lanes, scratch)}
	w.Parallel(lanes, max(1, par.GemmWork*lanes/max(1, count*n*n*n)), j)
	par.PutLanes(w, j.lanes)
	par.PutJob(w, j)
	w.Release(mark)
}

// lanesOf is the number of matrices that may be computed in parallel.
func lanesOf(count, n int) int {
	if n > sharedOrder {
		return 1
	}
	return max(1, min(count, par.MostLanes))
}

// scratch is the scratch for one matrix of n rows: a copy, its pivots and products.
func scratch[T float32 | float64](n, size int) int {
	bytes := par.ScratchSize(n*n, size) + par.ScratchSize(n, 4)
	if n > smallOrder {
		bytes += gemm.Scratch[T](n, n, n)
	}
	return bytes
}

// square panics unless the operand is a list of square matrices and the result has so
// many elements for each.
func square(op string, o, a *array.Array, each func(n int) int) (count, n int) {
	if a.Rank() < 2 || a.Dim(-1) != a.Dim(-2) {
		operand.BadOperand(op, "the operand is no list of square matrices")
	}
	count, n = operand.Prod(a.Shape()[:a.Rank()-2]), a.Dim(-1)
	if o.Len() != count*each(n) {
		operand.BadOperand(op, "the result has another number of elements than the matrices of the operand call for")
	}
	return count, n
}
