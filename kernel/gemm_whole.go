package kernel

// packedRows returns the elements of an m×k left operand packed as a whole.
func packedRows(l cpuLevel, m, k int) int {
	bl := blockingOf(l)
	return bl.panels(m) * bl.stride * k
}

// packWholeJob packs a left operand as a whole, block of k by block of k.
type packWholeJob struct {
	level    cpuLevel
	bl       blocking
	dst, src []float32
	ld       int
	trans    bool
	m, k     int
}

// packWhole packs an m×k left operand into packedRows elements.
func packWhole(w *Workspace, l cpuLevel, dst, src []float32, ld int, trans bool, m, k int) {
	j := takeJob[packWholeJob](w)
	*j = packWholeJob{level: l, bl: blockingOf(l), dst: dst, src: src, ld: ld, trans: trans, m: m, k: k}
	w.Parallel(j.bl.panels(m), max(1, simdPack/(j.bl.stride*k)), j)
	putJob(w, j)
}

// Do packs panels [lo, hi) of every block.
func (j *packWholeJob) Do(lo, hi int) {
	panels, depth := j.bl.panels(j.m), j.bl.depth(j.k)
	for i := lo; i < hi; i++ {
		r0, r1 := j.bl.rows(j.m, i)
		for p := 0; p < j.k; p += depth {
			kc := min(depth, j.k-p)
			dst := j.dst[p*panels*j.bl.stride+i*j.bl.stride*kc:][:j.bl.stride*kc]
			packA(j.level, dst, j.bl.stride, j.src, j.ld, j.trans, r0, r1-r0, p, kc)
		}
	}
}
