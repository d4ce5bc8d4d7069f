package gemm

import (
	"math/bits"
	"strconv"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Gemm computes c = op(a)·op(b), or c += op(a)·op(b) with acc, where op
// transposes when its flag is set, op(a) is m×k, op(b) is k×n and c is m×n, all
// row-major with the given leading dimensions. c must not overlap a or b. It
// runs on w.Threads goroutines; the result does not depend on their number.
// With assembly, float32 sums use fused multiply-adds: every level is within
// (k+2)·2⁻²³·Σ|a·b| of the exact sum. Operands that are too short panic.
//
//gofx:kernel
func Gemm[T float32 | float64](w *par.Workspace, transA, transB bool, m, n, k int,
	a []T, lda int, b []T, ldb int, c []T, ldc int, acc bool) {
	if m <= 0 || n <= 0 {
		return
	}
	checkProduct(transA, transB, m, n, k, len(a), lda, len(b), ldb, len(c), ldc)
	if operand.IsFloat32[T]() && cpu.Assembly() {
		Multiply(w, Product{M: m, N: n, K: k, transA: transA, transB: transB, A: operand.AsFloat32(a), Lda: lda,
			B: operand.AsFloat32(b), Ldb: ldb, C: operand.AsFloat32(c), Ldc: ldc, Acc: acc})
		return
	}
	if k <= 0 {
		if !acc {
			for i := range m {
				clear(c[i*ldc : i*ldc+n])
			}
		}
		return
	}
	if m < ThinRows && !transA {
		v := par.TakeJob[thinJob[T]](w)
		*v = thinJob[T]{transB: transB, m: m, n: n, k: k, a: a, lda: lda, b: b, ldb: ldb, c: c, ldc: ldc, acc: acc}
		w.Parallel((n+NR-1)/NR, max(1, par.GemmWork/(NR*m*k)), v)
		par.PutJob(w, v)
		return
	}
	j := par.TakeJob[Job[T]](w)
	*j = Job[T]{transA: transA, transB: transB, A: a, Lda: lda, B: b, ldb: ldb, C: c, Ldc: ldc}
	j.Run(w, m, n, k, acc)
	par.PutJob(w, j)
}

// ScratchLevels are the levels with code of their own. Scratch sizes are the
// most that any of them takes, on every machine: the memory estimate of
// generated code must not depend on the machine that generated it.
var ScratchLevels = [...]cpu.Level{cpu.NEON, cpu.AVX2, cpu.AVX512}

// Scratch is the scratch that a product of the given sizes takes at most.
func Scratch[T operand.Real](m, n, k int) int {
	size := TileScratch[T](m, n, k)
	if operand.IsFloat32[T]() {
		for _, l := range ScratchLevels {
			size = max(size, productScratch(l, m, n, k))
		}
	}
	return size
}

// TileScratch is the scratch of a product in Go.
func TileScratch[T operand.Real](m, n, k int) int {
	if m <= 0 || n <= 0 || k <= 0 {
		return 0
	}
	var z T
	size := int(unsafe.Sizeof(z))
	m, n, k = min(m, gemmMC), min(n, gemmNC), min(k, gemmKC)
	return par.ScratchSize(operand.RoundUp(m, gemmMR)*k, size) + par.ScratchSize(operand.RoundUp(n, NR)*k, size)
}

// checkProduct panics unless the matrices of a product lie within their slices.
func checkProduct(transA, transB bool, m, n, k, lenA, lda, lenB, ldb, lenC, ldc int) {
	CheckOperand("c", m, n, false, lenC, ldc)
	if k > 0 {
		CheckOperand("a", m, k, transA, lenA, lda)
		CheckOperand("b", k, n, transB, lenB, ldb)
	}
}

// CheckOperand panics unless a rows×cols matrix lies within n elements.
func CheckOperand(name string, rows, cols int, trans bool, n, ld int) {
	if trans {
		rows, cols = cols, rows
	}
	hi, lo := bits.Mul(uint(rows-1), uint(max(ld, 0)))
	if last := lo + uint(cols); rows > 1 && ld < cols || hi != 0 || last < lo || last > uint(n) {
		panic("kernel: matrix " + name + " has " + strconv.Itoa(n) + " elements and leading dimension " + strconv.Itoa(ld) +
			", too short for " + strconv.Itoa(rows) + "x" + strconv.Itoa(cols))
	}
}

// Job is a packed product in progress. b is read through window instead,
// when that is set: the patches of a convolution input, never laid out in full.
type Job[T operand.Real] struct {
	transA, transB bool
	A              []T
	Lda            int
	B              []T
	ldb            int
	C              []T
	Ldc            int
	Window         window[T]

	phase          gemmPhase
	acc            bool // this block adds to c
	ic, jc, pc     int  // origin of the current block
	mc, nc, kc     int  // its size
	aPanel, bPanel []T
}

type gemmPhase uint8

const (
	phasePackA gemmPhase = iota
	phasePackB
	phasePackMultiply
	phaseRowsMultiply
	phaseStrips
	phaseMultiply
)

// Run computes the product block by block, each phase of a block in parallel. The
// order is that of productJob.blocks, with sizes for any machine: a panel of b and
// one of a are in the first cache, a block of a in the second, and c is added to
// from block to block of k.
func (j *Job[T]) Run(w *par.Workspace, m, n, k int, acc bool) {
	mark := w.Mark()
	kMax := min(k, gemmKC)
	j.aPanel = par.Scratch[T](w, operand.RoundUp(min(m, gemmMC), gemmMR)*kMax)
	j.bPanel = par.Scratch[T](w, operand.RoundUp(min(n, gemmNC), NR)*kMax)
	for j.jc = 0; j.jc < n; j.jc += gemmNC {
		j.nc = min(gemmNC, n-j.jc)
		nPanels := (j.nc + NR - 1) / NR
		for j.pc = 0; j.pc < k; j.pc += gemmKC {
			j.kc = min(gemmKC, k-j.pc)
			j.acc = acc || j.pc > 0
			j.phase = phasePackB
			w.Parallel(nPanels, max(1, par.PackWork/(NR*j.kc)), j)
			for j.ic = 0; j.ic < m; j.ic += gemmMC {
				j.mc = min(gemmMC, m-j.ic)
				mPanels := (j.mc + gemmMR - 1) / gemmMR
				j.phase = phasePackA
				w.Parallel(mPanels, max(1, par.PackWork/(gemmMR*j.kc)), j)
				j.phase = phaseMultiply
				w.Parallel(mPanels*nPanels, max(1, par.GemmWork/(gemmMR*NR*j.kc)), j)
			}
		}
	}
	w.Release(mark)
}

// Do runs the current phase for panels, or for tiles in column-panel order.
// Packing makes a tile's reads one stream; tiles in the order of columns read a
// panel of b from the first cache.
func (j *Job[T]) Do(lo, hi int) {
	switch j.phase {
	case phasePackA:
		for p := lo; p < hi; p++ {
			dst := j.aPanel[p*gemmMR*j.kc : (p+1)*gemmMR*j.kc]
			row := j.ic + p*gemmMR
			if j.transA {
				packRows(dst, j.A[j.pc*j.Lda+row:], j.Lda, j.kc, gemmMR, min(gemmMR, j.ic+j.mc-row))
			} else {
				packCols(dst, j.A[row*j.Lda+j.pc:], j.Lda, j.kc, gemmMR, min(gemmMR, j.ic+j.mc-row))
			}
		}
	case phasePackB:
		for p := lo; p < hi; p++ {
			dst := j.bPanel[p*NR*j.kc : (p+1)*NR*j.kc]
			col := j.jc + p*NR
			width := min(NR, j.jc+j.nc-col)
			switch {
			case j.Window != nil:
				j.Window.pack(dst, j.B, j.pc, j.kc, col, width)
			case j.transB:
				packCols(dst, j.B[col*j.ldb+j.pc:], j.ldb, j.kc, NR, width)
			default:
				packRows(dst, j.B[j.pc*j.ldb+col:], j.ldb, j.kc, NR, width)
			}
		}
	case phaseMultiply:
		j.multiply(lo, hi)
	}
}

// multiply computes tiles [lo, hi) of a block. Eight sums stay in registers over
// the depth, in tile, which is stored or added to c once.
func (j *Job[T]) multiply(lo, hi int) {
	mPanels := (j.mc + gemmMR - 1) / gemmMR
	jp, ip := lo/mPanels, lo%mPanels
	for range hi - lo {
		a := j.aPanel[ip*gemmMR*j.kc : (ip+1)*gemmMR*j.kc]
		b := j.bPanel[jp*NR*j.kc : (jp+1)*NR*j.kc]
		row, col := ip*gemmMR, jp*NR
		at := (j.ic+row)*j.Ldc + j.jc + col
		rows, cols := min(gemmMR, j.mc-row), min(NR, j.nc-col)
		var tile [gemmMR * NR]T
		gemmTile(a, b, &tile)
		for r := range rows {
			dst, src := j.C[at+r*j.Ldc:at+r*j.Ldc+cols], tile[r*NR:]
			if j.acc {
				for x := range dst {
					dst[x] += src[x]
				}
			} else {
				copy(dst, src)
			}
		}
		if ip++; ip == mPanels {
			ip, jp = 0, jp+1
		}
	}
}

// packCols lays a panel of count rows of src (stride ld, k elements each) out
// with k outermost: dst[p*width+r] = src[r*ld+p], zero for r >= count. A call packs
// a panel of thousands of elements, so neither this nor packRows is inlined.
//
//go:noinline
func packCols[T operand.Real](dst, src []T, ld, k, width, count int) {
	for r := range width {
		if r >= count {
			for p := range k {
				dst[p*width+r] = 0
			}
			continue
		}
		for p, v := range src[r*ld : r*ld+k] {
			dst[p*width+r] = v
		}
	}
}

// packRows is packCols of the transposed matrix: dst[p*width+r] = src[p*ld+r].
//
//go:noinline
func packRows[T operand.Real](dst, src []T, ld, k, width, count int) {
	for p := range k {
		d, s := dst[p*width:(p+1)*width], src[p*ld:p*ld+count]
		for r := range d {
			if r < len(s) {
				d[r] = s[r]
			} else {
				d[r] = 0
			}
		}
	}
}

// gemmTile computes the product of a 2-row and a 4-column panel: eight sums and
// six operands fit the sixteen registers of amd64.
func gemmTile[T operand.Real](a, b []T, tile *[gemmMR * NR]T) {
	var c00, c01, c02, c03, c10, c11, c12, c13 T
	for len(a) >= 4 && len(b) >= 8 {
		a0, a1 := a[0], a[1]
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		c00 += T(a0 * b0)
		c01 += T(a0 * b1)
		c02 += T(a0 * b2)
		c03 += T(a0 * b3)
		c10 += T(a1 * b0)
		c11 += T(a1 * b1)
		c12 += T(a1 * b2)
		c13 += T(a1 * b3)
		a0, a1 = a[2], a[3]
		b0, b1, b2, b3 = b[4], b[5], b[6], b[7]
		c00 += T(a0 * b0)
		c01 += T(a0 * b1)
		c02 += T(a0 * b2)
		c03 += T(a0 * b3)
		c10 += T(a1 * b0)
		c11 += T(a1 * b1)
		c12 += T(a1 * b2)
		c13 += T(a1 * b3)
		a, b = a[4:], b[8:]
	}
	if len(a) >= 2 && len(b) >= 4 {
		a0, a1 := a[0], a[1]
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		c00 += T(a0 * b0)
		c01 += T(a0 * b1)
		c02 += T(a0 * b2)
		c03 += T(a0 * b3)
		c10 += T(a1 * b0)
		c11 += T(a1 * b1)
		c12 += T(a1 * b2)
		c13 += T(a1 * b3)
	}
	*tile = [gemmMR * NR]T{c00, c01, c02, c03, c10, c11, c12, c13}
}

// UsesAssembly reports whether elements of type d are computed in float32 by assembly.
func UsesAssembly(d array.DType) bool { return d != array.F64 && cpu.Assembly() }

// PackedRowsLen returns the elements of a weight of m channels and k steps
// packed for tiles of positions and channels: panels of two vectors of
// channels, the last perhaps of one, step after step.
func PackedRowsLen(l cpu.Level, m, k int) int { return operand.RoundUp(m, PanelLanes(l)) * k }
