package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Products with few rows or columns: each element of the large operand is used
// so seldom that packing it would cost more than it saves.

// Thin reports whether p is computed without packing its large operand.
func (p *Product) Thin(l cpu.Level) bool {
	if !p.plain() || !HasThin(l) {
		return false
	}
	return p.byDots() || p.byRows()
}

// byDots: the rows of both operands lie along k, except the short one, which is
// brought into that form.
func (p *Product) byDots() bool {
	return p.M <= DotRows && (p.transB || p.N == 1 && p.Ldb == 1) || !p.transA && (p.N <= DotRows || p.transB && p.N <= dotCols)
}

// byRows: the rows of b lie across k and there are few of c.
func (p *Product) byRows() bool { return p.M <= streamRows && !p.transB }

// ThinScratch is the scratch that multiplyThin takes.
func (p *Product) ThinScratch() int {
	q := *p
	if q.N == 1 && q.Ldb == 1 {
		q.transB = true
	}
	switch {
	case !q.byDots():
		if q.transA {
			return par.ScratchSize(q.M*q.K, 4)
		}
	case q.byB():
		if q.transA {
			return par.ScratchSize(q.M*q.K, 4)
		}
	case !q.transB:
		return par.ScratchSize(q.N*q.K, 4)
	}
	return 0
}

// byB reports whether it is b that has the many rows of a product of rows.
func (p *Product) byB() bool { return p.transB && p.M <= DotRows && (p.M <= p.N || p.transA) }

func multiplyThin(w *par.Workspace, l cpu.Level, p Product) {
	mark := w.Mark()
	j := par.TakeJob[thinProduct](w)
	*j = thinProduct{Product: p, level: l}
	if p.N == 1 && p.Ldb == 1 {
		j.transB, j.Ldb = true, p.K
	}
	if j.byDots() {
		j.dots(w)
	} else {
		if p.transA {
			j.A, j.Lda = transposed(w, p.A, p.Lda, p.K, p.M), p.K
		}
		w.Parallel((p.N+streamUnit-1)/streamUnit, max(1, 2*par.SimdPack/(streamUnit*p.K)), j)
	}
	par.PutJob(w, j)
	w.Release(mark)
}

// transposed returns the transposed copy of a rows×cols matrix. It is the small
// operand: the copy stays in a cache for the product.
func transposed(w *par.Workspace, src []float32, ld, rows, cols int) []float32 {
	dst := par.Scratch[float32](w, rows*cols)
	for i := range rows {
		for j, v := range src[i*ld : i*ld+cols] {
			dst[j*rows+i] = v
		}
	}
	return dst
}

// thinProduct is such a product in progress.
type thinProduct struct {
	Product
	level cpu.Level

	// With byDots: x has the few rows, y the many, along k.
	x, y      []float32
	ldx, ldy  int
	nx, ny    int
	across    bool // x are the rows of a, y the columns of c
	alongRows bool // byDots
}

func (j *thinProduct) dots(w *par.Workspace) {
	j.alongRows = true
	if j.byB() {
		j.across = true
		j.x, j.ldx, j.nx = j.A, j.Lda, j.M
		j.y, j.ldy, j.ny = j.B, j.Ldb, j.N
		if j.transA {
			j.x, j.ldx = transposed(w, j.A, j.Lda, j.K, j.M), j.K
		}
	} else {
		j.x, j.ldx, j.nx = j.B, j.Ldb, j.N
		j.y, j.ldy, j.ny = j.A, j.Lda, j.M
		if !j.transB {
			j.x, j.ldx = transposed(w, j.B, j.Ldb, j.K, j.N), j.K
		}
	}
	w.Parallel((j.ny+3)/4, max(1, 2*par.SimdPack/(4*j.K)), j)
}

// Do computes the rows [4*lo, 4*hi) of y, or streams the units [lo, hi) of
// columns. The rows of y are the large operand and come from memory once: DotDepth
// terms of a few of them stay in the first cache while the small operand x meets
// them; sums are in registers over that depth and added to c.
func (j *thinProduct) Do(lo, hi int) {
	if !j.alongRows {
		lo, hi = lo*streamUnit, min(hi*streamUnit, j.N)
		j.stream(lo, hi)
	} else {
		lo, hi = 4*lo, min(4*hi, j.ny)
		j.along(lo, hi)
	}
	if j.alongRows && !j.across {
		j.End.Apply(j.level, hi-lo, j.N, lo, 0, j.C[lo*j.Ldc:], j.Ldc)
		j.End.Map(hi-lo, j.N, j.C[lo*j.Ldc:], j.Ldc)
	} else {
		j.End.Apply(j.level, j.M, hi-lo, 0, lo, j.C[lo:], j.Ldc)
		j.End.Map(j.M, hi-lo, j.C[lo:], j.Ldc)
	}
}

// along computes rows [lo, hi) of y.
func (j *thinProduct) along(lo, hi int) {
	step, most := DotStep(j.level), DotStep(j.level)
	if j.across {
		most = max(4, dotRow()/min(j.K, DotDepth))
	}
	for y := lo; y < hi; {
		rows := min(most, hi-y)
		for p := 0; p < j.K; p += DotDepth {
			k := min(DotDepth, j.K-p)
			if !j.across {
				DotTile(j.level, rows, k, j.y[y*j.ldy+p:], j.ldy, j.x[p:], j.ldx, j.nx, j.C[y*j.Ldc:], j.Ldc, j.Acc || p > 0)
				continue
			}
			for x := 0; x < j.nx; x += step {
				DotTile(j.level, min(step, j.nx-x), k, j.x[x*j.ldx+p:], j.ldx, j.y[y*j.ldy+p:], j.ldy, rows, j.C[x*j.Ldc+y:], j.Ldc, j.Acc || p > 0)
			}
		}
		y += rows
	}
}

// stream computes the columns [lo, hi) of all rows. A block of c, of all rows,
// stays in the first cache while streamStep rows of b at a time pass under it,
// each a stream of memory; with few rows of a that is all the traffic there is.
func (j *thinProduct) stream(lo, hi int) {
	block := streamCols() / j.M
	for ; lo < hi; lo += block {
		n := min(block, hi-lo)
		if !j.Acc {
			for i := range j.M {
				clear(j.C[i*j.Ldc+lo : i*j.Ldc+lo+n])
			}
		}
		for p := 0; p < j.K; p += streamStep {
			k := min(streamStep, j.K-p)
			for i := range j.M {
				AddRows32(j.level, j.C[i*j.Ldc+lo:i*j.Ldc+lo+n], j.A[i*j.Lda+p:i*j.Lda+p+k], j.B[p*j.Ldb+lo:], j.Ldb)
			}
		}
	}
}

// byPanels: b is packed and read so seldom that packing a would cost too much.
func (p *Product) byPanels(l cpu.Level) bool {
	return p.PackedB != nil && p.PackedA == nil && !p.transA && p.M <= DotRows && HasThin(l)
}

func multiplyPanels(w *par.Workspace, l cpu.Level, p Product) {
	j := par.TakeJob[panelProduct](w)
	*j = panelProduct{Product: p, level: l, bl: BlockingOf(l)}
	panels, threads := (p.N+j.bl.Nr-1)/j.bl.Nr, max(1, w.Threads)
	grain := panels // one thread reads all of b in order
	if threads > 1 {
		grain = max(1, 2*par.SimdPack/(j.bl.Nr*p.K), panels/(4*threads))
	}
	w.Parallel(panels, grain, j)
	par.PutJob(w, j)
}

// PanelColumns is a divisor of the columns at which AddPanels may begin and end, on any machine.
const PanelColumns = 32

// AddsPanels reports whether a level has AddPanels, for so many rows.
func AddsPanels(l cpu.Level, rows int) bool { return HasThin(l) && rows <= DotRows }

// AddPanels adds to c, m rows ldc apart, columns [lo, hi), multiples of PanelColumns, of the product of
// a, rows of k floats, with an operand of n columns that PackRight has packed. It writes those columns alone,
// with the bits of the whole product, and uses no workspace: goroutines may share the columns.
func AddPanels(l cpu.Level, m, n, k int, a, packed, c []float32, ldc, lo, hi int) {
	j := panelProduct{Product: Product{M: m, N: n, K: k, A: a, Lda: k, PackedB: packed, C: c, Ldc: ldc, Acc: true}, level: l, bl: BlockingOf(l)}
	j.Do(lo/j.bl.Nr, hi/j.bl.Nr)
}

// panelProduct is a product of few rows with a packed operand in progress.
type panelProduct struct {
	Product
	level cpu.Level
	bl    Blocking
}

// Do computes the columns of panels [lo, hi), in the order in which b lies. A
// panel of weights is read once, from memory, and all rows of a meet it, a tile of
// them at a time; a, of few rows, stays in the second cache. The epilogue follows
// the last depth while c is near.
func (j *panelProduct) Do(lo, hi int) {
	nr, depth := j.bl.Nr, j.bl.Depth(j.K)
	tiles := (j.M + thinStep(j.level) - 1) / thinStep(j.level)
	step := (j.M + tiles - 1) / tiles
	for p := 0; p < j.K; p += depth {
		kc := min(depth, j.K-p)
		for i := lo; i < hi; i++ {
			b := j.PackedB[p*operand.RoundUp(j.N, nr)+i*nr*kc:][:nr*kc]
			cols := min(nr, j.N-i*nr)
			for r := 0; r < j.M; r += step {
				rows := min(step, j.M-r)
				thinTile(j.level, rows, kc, j.A[r*j.Lda+p:], j.Lda, b, j.C[r*j.Ldc+i*nr:], j.Ldc, cols, j.Acc || p > 0)
			}
			if p+kc == j.K {
				j.End.Apply(j.level, j.M, cols, 0, i*nr, j.C[i*nr:], j.Ldc)
			}
		}
	}
	j.End.Map(j.M, min(hi*nr, j.N)-lo*nr, j.C[lo*nr:], j.Ldc)
}
