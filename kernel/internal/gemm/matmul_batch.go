package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Small products of a batch run in parallel: one alone has too little work for
// several threads.

// inBatch reports whether multiplyBatch takes a batch of products.
func inBatch[T operand.Real](count, m, n, k int) bool {
	return cpu.Assembly() && batchable[T](count, m, n, k)
}

// batchable is inBatch on machines with assembly.
func batchable[T operand.Real](count, m, n, k int) bool {
	return operand.IsFloat32[T]() && count > 1 && m > DotRows && n > DotRows && k > 0 && m*n*k < 4*par.SimdWork
}

// batchScratch is the scratch that multiplyBatch takes at most.
func batchScratch(m, n, k int) (size int) {
	for _, l := range ScratchLevels {
		bl := BlockingOf(l)
		a, b := bl.sizes(m, n, k)
		size = max(size, batchLanes*(par.ScratchSize(a, 4)+par.ScratchSize(b, 4)))
	}
	return size
}

// multiplyBatch computes count products of m×k and k×n matrices into dst.
func multiplyBatch(w *par.Workspace, a, b matOperand[float32], lead []int, count, m, n, k int, dst []float32) {
	mark := w.Mark()
	j := par.TakeJob[batchJob](w)
	*j = batchJob{a: a, b: b, lead: lead, m: m, n: n, k: k, dst: dst, count: count}
	bl := tuned(cpu.Host.Level)
	sizeA, sizeB := bl.sizes(m, n, k)
	for i := range j.lanes {
		p := &j.lanes[i]
		*p = productJob{level: cpu.Host.Level, bl: bl}
		p.aPanel, p.bPanel = par.Scratch[float32](w, sizeA), par.Scratch[float32](w, sizeB)
	}
	w.Parallel(batchLanes, 1, j)
	par.PutJob(w, j)
	w.Release(mark)
}

// batchJob computes the products of a batch, a share of them in each lane.
type batchJob struct {
	a, b    matOperand[float32]
	lead    []int
	m, n, k int
	dst     []float32
	count   int
	lanes   [batchLanes]productJob
	alone   [batchLanes]par.Workspace // of one thread each, for the blocks within a lane
}

// Do computes the shares [lo, hi) of the batch. A lane computes its products one
// after the other, each alone, and packs them into the same panels, which stay in
// its core's cache.
func (j *batchJob) Do(lo, hi int) {
	for lane := lo; lane < hi; lane++ {
		p := &j.lanes[lane]
		panelA, panelB := p.aPanel, p.bPanel
		for i := lane * j.count / batchLanes; i < (lane+1)*j.count/batchLanes; i++ {
			p.Product = Product{M: j.m, N: j.n, K: j.k, transA: j.a.trans, transB: j.b.trans,
				A: j.a.matrix(j.lead, i), Lda: j.a.ld, B: j.b.matrix(j.lead, i), Ldb: j.b.ld,
				C: j.dst[i*j.m*j.n : (i+1)*j.m*j.n], Ldc: j.n}
			checkProduct(p.transA, p.transB, j.m, j.n, j.k, len(p.A), p.Lda, len(p.B), p.Ldb, len(p.C), p.Ldc)
			p.aPanel, p.bPanel = panelA, panelB
			p.blocks(&j.alone[lane])
		}
	}
}

// asFloats returns m, whose elements are float32, as a matrix of float32.
func asFloats[T operand.Real](m matOperand[T]) matOperand[float32] {
	return matOperand[float32]{data: operand.AsFloat32(m.data), shape: m.shape, strides: m.strides,
		trans: m.trans, ld: m.ld, at: m.at, size: m.size}
}
