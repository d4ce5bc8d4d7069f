package kernel

// Small products of a batch run beside each other: one alone has too little
// work for several threads.

// batchLanes is the number of products in progress at once. It is fixed, so
// that scratch does not depend on the number of threads.
const batchLanes = 4

// inBatch reports whether multiplyBatch takes a batch of products.
func inBatch[T real](count, m, n, k int) bool {
	return assembly() && batchable[T](count, m, n, k)
}

// batchable is inBatch on machines with assembly.
func batchable[T real](count, m, n, k int) bool {
	return isFloat32[T]() && count > 1 && m > dotRows && n > dotRows && k > 0 && m*n*k < 4*simdWork
}

// batchScratch is the scratch that multiplyBatch takes at most.
func batchScratch(m, n, k int) (size int) {
	for _, l := range scratchLevels {
		bl := blockingOf(l)
		a, b := bl.sizes(m, n, k)
		size = max(size, batchLanes*(scratchSize(a, 4)+scratchSize(b, 4)))
	}
	return size
}

// multiplyBatch computes count products of m×k and k×n matrices into dst.
func multiplyBatch(w *Workspace, a, b matOperand[float32], lead []int, count, m, n, k int, dst []float32) {
	mark := w.Mark()
	j := takeJob[batchJob](w)
	*j = batchJob{a: a, b: b, lead: lead, m: m, n: n, k: k, dst: dst, count: count}
	bl := blockingOf(cpu.level)
	sizeA, sizeB := bl.sizes(m, n, k)
	for i := range j.lanes {
		p := &j.lanes[i]
		*p = productJob{level: cpu.level, bl: bl}
		p.aPanel, p.bPanel = Scratch[float32](w, sizeA), Scratch[float32](w, sizeB)
	}
	w.Parallel(batchLanes, 1, j)
	putJob(w, j)
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
	alone   [batchLanes]Workspace // of one thread each, for the blocks within a lane
}

// Do computes the shares [lo, hi) of the batch.
func (j *batchJob) Do(lo, hi int) {
	for lane := lo; lane < hi; lane++ {
		p := &j.lanes[lane]
		panelA, panelB := p.aPanel, p.bPanel
		for i := lane * j.count / batchLanes; i < (lane+1)*j.count/batchLanes; i++ {
			p.product = product{m: j.m, n: j.n, k: j.k, transA: j.a.trans, transB: j.b.trans,
				a: j.a.matrix(j.lead, i), lda: j.a.ld, b: j.b.matrix(j.lead, i), ldb: j.b.ld,
				c: j.dst[i*j.m*j.n : (i+1)*j.m*j.n], ldc: j.n}
			checkProduct(p.transA, p.transB, j.m, j.n, j.k, len(p.a), p.lda, len(p.b), p.ldb, len(p.c), p.ldc)
			p.aPanel, p.bPanel = panelA, panelB
			p.blocks(&j.alone[lane])
		}
	}
}

// asFloats returns m, whose elements are float32, as what it is.
func asFloats[T real](m matOperand[T]) matOperand[float32] {
	return matOperand[float32]{data: asFloat32(m.data), shape: m.shape, strides: m.strides,
		trans: m.trans, ld: m.ld, at: m.at, size: m.size}
}
