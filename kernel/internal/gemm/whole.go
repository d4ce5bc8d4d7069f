package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// PackedRows returns the elements of an m×k left operand packed as a whole.
func PackedRows(l cpu.Level, m, k int) int {
	bl := BlockingOf(l)
	return bl.Panels(m) * bl.Stride * k
}

// packWholeJob packs a left operand as a whole, block of k by block of k.
type packWholeJob struct {
	level    cpu.Level
	bl       Blocking
	dst, src []float32
	ld       int
	trans    bool
	m, k     int
}

// PackWhole packs an m×k left operand into PackedRows elements.
func PackWhole(w *par.Workspace, l cpu.Level, dst, src []float32, ld int, trans bool, m, k int) {
	j := par.TakeJob[packWholeJob](w)
	*j = packWholeJob{level: l, bl: BlockingOf(l), dst: dst, src: src, ld: ld, trans: trans, m: m, k: k}
	w.Parallel(j.bl.Panels(m), max(1, par.SimdPack/(j.bl.Stride*k)), j)
	par.PutJob(w, j)
}

// Do packs panels [lo, hi) of every block. Rows of a panel are read through all of
// k, a block after the other, so that a line of theirs that two blocks share is
// still near.
func (j *packWholeJob) Do(lo, hi int) {
	panels, depth := j.bl.Panels(j.m), j.bl.Depth(j.k)
	for i := lo; i < hi; i++ {
		r0, r1 := j.bl.Rows(j.m, i)
		for p := 0; p < j.k; p += depth {
			kc := min(depth, j.k-p)
			dst := j.dst[p*panels*j.bl.Stride+i*j.bl.Stride*kc:][:j.bl.Stride*kc]
			packA(j.level, dst, j.bl.Stride, j.src, j.ld, j.trans, r0, r1-r0, p, kc)
		}
	}
}
