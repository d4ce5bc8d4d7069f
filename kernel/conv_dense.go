package kernel

// dense reports whether the convolution is a matrix, packed for tiles of
// positions and channels, times few vectors: no lane of such panels is empty,
// and each is one stream of memory.
func (v *conv32) dense() bool { return v.rows && v.g.pointwise() && v.g.outPlane <= gemvCols }

// runDense computes such a convolution.
func (v *conv32) runDense(w *Workspace) {
	l, m, k, n := cpu.level, v.outPerGroup, v.perGroup, v.g.outPlane
	size, width := packedRowsLen(l, m, k), 2*panelLanes(l)
	j := takeJob[denseJob](w)
	for i := range v.batch * v.groups {
		group := i % v.groups
		*j = denseJob{gemvJob{product: product{m: m, n: n, k: k, packedA: v.packed[group*size : (group+1)*size],
			b: v.src[i*k*n : (i+1)*k*n], ldb: n, c: v.dst[i*m*n : (i+1)*m*n], ldc: n,
			end: v.end.channels(group*m, m, i*m*n)}, level: l}}
		w.Parallel((m-1)/width+1, max(1, 4*simdPack/(width*k)), j)
	}
	putJob(w, j)
}

// denseJob multiplies dense panels with the columns of b.
type denseJob struct{ gemvJob }

// Do computes the rows of panels [lo, hi).
func (j *denseJob) Do(lo, hi int) {
	var sums [gemvPanels * 16]float32
	lanes := panelLanes(j.level)
	for i := lo; i < hi; i++ {
		first := 2 * lanes * i
		rows := min(2*lanes, j.m-first)
		vecs := (rows-1)/lanes + 1
		for col := range j.n {
			gemvDense(j.level, vecs, j.k, j.packedA[first*j.k:], j.b[col:], j.ldb, &sums)
			j.put(first, sums[:rows], col)
		}
	}
	j.finish(2*lanes*lo, min(2*lanes*hi, j.m))
}
