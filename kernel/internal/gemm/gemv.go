package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// IsGemv reports whether p is a packed matrix times few vectors.
func (p *Product) IsGemv(l cpu.Level) bool {
	return l.HasAVX2() && p.PackedA != nil && p.PackedB == nil && p.Window == nil && !p.transB && !p.Acc &&
		p.N >= 1 && p.N <= GemvCols && p.K > 0
}

// MultiplyGemv computes p.
func MultiplyGemv(w *par.Workspace, l cpu.Level, p Product) {
	j := par.TakeJob[GemvJob](w)
	*j = GemvJob{Product: p, Level: l, bl: BlockingOf(l)}
	units := (j.bl.Panels(p.M) + GemvPanels - 1) / GemvPanels
	w.Parallel(units, max(1, 8*par.SimdPack/(GemvPanels*j.bl.Stride*p.K)), j)
	par.PutJob(w, j)
}

// GemvJob multiplies groups of panels with the columns of b.
type GemvJob struct {
	Product
	Level cpu.Level
	bl    Blocking
}

// Do computes the rows of the groups [lo, hi) of panels. Some panels together are
// one stream of weights each, and their sums as many chains of additions; columns
// are inside, so that weights come from memory once.
func (j *GemvJob) Do(lo, hi int) {
	var sums [GemvPanels * 16]float32
	bl := &j.bl
	panels := bl.Panels(j.M)
	for i := lo * GemvPanels; i < min(hi*GemvPanels, panels); {
		n := min(GemvPanels, panels-i)
		if n == 3 {
			n = 2
		}
		for col := range j.N {
			j.sum(&sums, i, n, col)
			j.scatter(&sums, i, n, col)
		}
		i += n
	}
	first, _ := bl.Rows(j.M, lo*GemvPanels)
	_, last := bl.Rows(j.M, min(hi*GemvPanels, panels)-1)
	j.Finish(first, last)
}

// sum adds up n panels from panel i on with a column, block of k by block of k.
func (j *GemvJob) sum(sums *[GemvPanels * 16]float32, i, n, col int) {
	bl := &j.bl
	depth, panels := bl.Depth(j.K), bl.Panels(j.M)
	for pc := 0; pc < j.K; pc += depth {
		kc := min(depth, j.K-pc)
		a := j.PackedA[pc*panels*bl.Stride+i*bl.Stride*kc:][:n*bl.Stride*kc]
		x := j.B[pc*j.Ldb+col:][:(kc-1)*j.Ldb+1]
		gemv(j.Level, n, kc, a, x, j.Ldb, sums, pc > 0)
	}
}

// scatter stores the rows of n panels, which have fewer rows than lanes.
func (j *GemvJob) scatter(sums *[GemvPanels * 16]float32, i, n, col int) {
	for p := range n {
		r0, r1 := j.bl.Rows(j.M, i+p)
		j.Put(r0, sums[p*j.bl.Stride:][:r1-r0], col)
	}
}

// Put stores the sums of a column in the rows from row on.
func (j *GemvJob) Put(row int, sums []float32, col int) {
	if j.N == 1 && j.Ldc == 1 {
		copy(j.C[row:row+len(sums)], sums)
		return
	}
	for r, v := range sums {
		j.C[(row+r)*j.Ldc+col] = v
	}
}

// Finish applies the epilogue to rows [lo, hi). A single column is a row of the
// transposed matrix.
func (j *GemvJob) Finish(lo, hi int) {
	e := j.End
	if j.N > 1 || j.Ldc > 1 || e.scaleCol != nil || e.biasCol != nil || e.Residual != nil && e.Ldr != 1 {
		e.Apply(j.Level, hi-lo, j.N, lo, 0, j.C[lo*j.Ldc:], j.Ldc)
	} else {
		e.ScaleRow, e.scaleCol = nil, e.ScaleRow
		e.BiasRow, e.biasCol = nil, e.BiasRow
		e.Apply(j.Level, 1, hi-lo, 0, lo, j.C[lo:hi], hi-lo)
	}
	e.Map(hi-lo, j.N, j.C[lo*j.Ldc:], j.Ldc)
}

// gemv stores the product of n panels, 1, 2 or 4, with x in sums, or adds it.
func gemv(l cpu.Level, n, k int, a, x []float32, ldx int, sums *[GemvPanels * 16]float32, acc bool) {
	switch l {
	case cpu.Pairs:
		gemvPanelsPairs(n, k, &a[0], 16*k, &x[0], ldx, &sums[0], acc)
	case cpu.AVX512:
		gemvPanelsAVX512(n, k, &a[0], 16*k, &x[0], ldx, &sums[0], acc)
	default:
		gemvPanelsAVX2(n, k, &a[0], 8*k, &x[0], ldx, &sums[0], acc)
	}
}

// GemvDense stores the product of a dense panel of vecs vectors with x in sums.
func GemvDense(l cpu.Level, vecs, k int, a, x []float32, ldx int, sums *[GemvPanels * 16]float32) {
	_, _ = a[vecs*PanelLanes(l)*k-1], x[(k-1)*ldx]
	switch l {
	case cpu.Pairs:
		gemvDensePairs(vecs, k, &a[0], &x[0], ldx, &sums[0])
	case cpu.AVX512:
		gemvDenseAVX512(vecs, k, &a[0], &x[0], ldx, &sums[0])
	default:
		gemvDenseAVX2(vecs, k, &a[0], &x[0], ldx, &sums[0])
	}
}
