package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Product is c = op(a)·op(b), or c += with acc, followed by end. An operand is
// a matrix, or packed as a whole, or (b) the patches of an image.
type Product struct {
	M, N, K          int
	transA, transB   bool
	A                []float32
	Lda              int
	B                []float32
	Ldb              int
	PackedA, PackedB []float32
	Window           source
	C                []float32
	Ldc              int
	Acc              bool
	Pairs            bool // elements are words of two bf16, see Brains
	End              Finish
}

// level is what instructions multiply.
func (p *Product) level() cpu.Level {
	if p.Pairs {
		return cpu.Pairs
	}
	return cpu.Host.Level
}

// productJob is a product in progress, block by block.
type productJob struct {
	Product
	level  cpu.Level
	bl     Blocking
	phase  gemmPhase
	direct bool // whole panels of b are read where they lie
	strips bool // and panels of a
	cuts   int  // shares of the columns of a strip

	pc, kc         int // block of k
	jc, nc         int // columns
	ip, np         int // panels of a
	first, last    bool
	again          bool // another block of a follows, with the same panels of b
	aPanel, bPanel []float32
}

// productScratch is the most scratch that a product with two plain operands
// takes, whichever way they lie.
func productScratch(l cpu.Level, m, n, k int) int {
	if m <= 0 || n <= 0 || k <= 0 {
		return 0
	}
	return max(BlockScratch(l, m, n, k, true, true), par.ScratchSize(DotRows*k, 4))
}

// BlockScratch is the scratch for blocks of the operands that are not packed yet.
func BlockScratch(l cpu.Level, m, n, k int, packA, packB bool) (size int) {
	bl := BlockingOf(l)
	a, b := bl.sizes(m, n, k)
	if packA {
		size += par.ScratchSize(a, 4)
	}
	if packB {
		size += par.ScratchSize(b, 4)
	}
	return size
}

// Streams reports whether Go does p in place, on a level without such assembly.
func (p *Product) Streams(l cpu.Level) bool { return !HasThin(l) && p.M < ThinRows && !p.transA }

// plain reports whether both operands are matrices.
func (p *Product) plain() bool { return p.PackedA == nil && p.PackedB == nil && p.Window == nil }

// Multiply computes p.
func Multiply(w *par.Workspace, p Product) {
	l := p.level()
	switch {
	case p.M <= 0 || p.N <= 0:
	case p.K <= 0:
		if !p.Acc {
			for i := range p.M {
				clear(p.C[i*p.Ldc : i*p.Ldc+p.N])
			}
		}
		p.End.All(w, l, p.M, p.N, p.C, p.Ldc)
	case p.plain() && p.Streams(l):
		v := par.TakeJob[thinJob[float32]](w)
		*v = thinJob[float32]{transB: p.transB, m: p.M, n: p.N, k: p.K, a: p.A, lda: p.Lda, b: p.B, ldb: p.Ldb, c: p.C, ldc: p.Ldc, acc: p.Acc}
		w.Parallel((p.N+NR-1)/NR, max(1, par.GemmWork/(NR*p.M*p.K)), v)
		par.PutJob(w, v)
		p.End.All(w, l, p.M, p.N, p.C, p.Ldc)
	case p.Thin(l):
		multiplyThin(w, l, p)
	case p.byPanels(l):
		multiplyPanels(w, l, p)
	default:
		j := par.TakeJob[productJob](w)
		*j = productJob{Product: p, level: l, bl: tuned(l)}
		j.run(w)
		par.PutJob(w, j)
	}
}

func (j *productJob) run(w *par.Workspace) {
	mark := w.Mark()
	a, b := j.bl.sizes(j.M, j.N, j.K)
	if j.PackedA == nil {
		j.aPanel = par.Scratch[float32](w, a)
	}
	if j.PackedB == nil {
		j.bPanel = par.Scratch[float32](w, b)
	}
	j.blocks(w)
	w.Release(mark)
}

// columns returns how many columns are multiplied at a time: equal shares, or
// all where b is packed and no part of it is read twice.
func (j *productJob) columns(panels int) int {
	bl := &j.bl
	most := bl.Nc
	if j.PackedB != nil {
		most *= 2
		if j.K <= bl.kc && panels <= bl.most(j.K) {
			most = j.N
		}
	}
	parts := (j.N + most - 1) / most
	return operand.RoundUp((j.N+parts-1)/parts, bl.Nr)
}

// blocks computes the product with the panels that it was given. The three outer
// loops of a blocked product: columns, whose panels of b are packed once; depths,
// of which one panel of b stays in the first cache and panels of a in the second;
// and parts of the rows, where those panels of a would not stay there together. c
// holds the sums between depths.
func (j *productJob) blocks(w *par.Workspace) {
	bl := &j.bl
	depth, panels := bl.Depth(j.K), bl.Panels(j.M)
	columns := j.columns(panels)
	parts := (panels + bl.most(j.K) - 1) / bl.most(j.K)
	j.direct = (panels <= j.directPanels() || j.K*j.N <= directSize()) && !j.transB && j.Window == nil && j.PackedB == nil
	j.strips = j.byStrip(depth, panels)
	for j.jc = 0; j.jc < j.N; j.jc += columns {
		j.nc = min(columns, j.N-j.jc)
		for j.pc = 0; j.pc < j.K; j.pc += depth {
			j.kc = min(depth, j.K-j.pc)
			j.first, j.last = j.pc == 0, j.pc+j.kc == j.K
			if j.PackedB != nil {
				j.bPanel = j.PackedB[j.pc*operand.RoundUp(j.N, bl.Nr)+j.jc*j.kc:]
			}
			for i := range parts {
				j.ip = panels * i / parts
				j.np = panels*(i+1)/parts - j.ip
				j.again = i+1 < parts
				switch {
				case j.strips:
				case j.PackedA != nil:
					j.aPanel = j.PackedA[j.pc*panels*bl.Stride+j.ip*bl.Stride*j.kc:]
				case !j.byRow():
					j.phase = phasePackA
					w.Parallel(j.np, max(1, par.SimdPack/(bl.Stride*j.kc)), j)
				}
				j.multiplyBlock(w, i == 0)
				if j.last && j.nc == j.N {
					j.mapPanels(w, j.ip, j.ip+j.np)
				}
			}
		}
	}
	if columns < j.N {
		j.mapPanels(w, 0, panels)
	}
}

// mapPanels runs the epilogue's program over the rows of panels [lo, hi), which are
// whole. A product that has one has its rows side by side.
func (j *productJob) mapPanels(w *par.Workspace, lo, hi int) {
	r0, _ := j.bl.Rows(j.M, lo)
	_, r1 := j.bl.Rows(j.M, hi-1)
	j.End.MapAll(w, j.C[r0*j.Ldc:(r1-1)*j.Ldc+j.N])
}

// directPanels is the panels of a up to which the rows of b are read where they lie.
func (j *productJob) directPanels() int {
	if j.Ldb%pageFloats == 0 {
		return crowdedPanels
	}
	return DirectPanels
}

// multiplyBlock multiplies a block of a with a block of b, whose panels it packs
// where they are fresh.
func (j *productJob) multiplyBlock(w *par.Workspace, fresh bool) {
	bl := &j.bl
	cols, threads := (j.nc+bl.Nr-1)/bl.Nr, max(1, w.Threads)
	work := max(1, par.SimdWork/(bl.Mr*bl.Nr*j.kc))
	if j.strips {
		if fresh && j.PackedB == nil && !j.direct {
			j.phase = phasePackB
			w.Parallel(cols, max(1, par.SimdPack/(bl.Nr*j.kc)), j)
		}
		j.phase = phaseStrips
		j.cuts = 1
		if threads > 1 { // enough shares for threads to end together
			j.cuts = min(cols, (8*threads-1)/j.np+1)
		}
		w.Parallel(j.np*j.cuts, max(1, work*j.cuts/cols), j)
		return
	}
	switch {
	case !fresh || j.PackedB != nil:
	case j.direct:
		if j.nc%bl.Nr != 0 {
			j.phase = phasePackB
			j.Do(cols-1, cols)
		}
	case !j.byRow() && (threads == 1 || cols >= 4*threads):
		// A panel is packed and used at once, while it is in a near cache.
		j.phase = phasePackMultiply
		grain := cols
		if threads > 1 {
			grain = max(1, work/j.np, cols/(8*threads))
		}
		w.Parallel(cols, grain, j)
		return
	default:
		j.phase = phasePackB
		w.Parallel(cols, max(1, par.SimdPack/(bl.Nr*j.kc)), j)
	}
	if j.byRow() {
		grain := j.np
		if threads > 1 {
			grain = max(1, work/cols)
		}
		j.phase = phaseRowsMultiply
		w.Parallel(j.np, grain, j)
		return
	}
	j.phase = phaseMultiply
	w.Parallel(j.np*cols, work, j)
}

// byRow reports whether panels of a are packed where they are used.
func (j *productJob) byRow() bool {
	most := fewColumns * j.bl.Nr
	return j.PackedA == nil && (j.nc <= most || j.direct && j.nc <= 2*most)
}

// Do runs the current phase for panels, or for tiles in column-panel order. Tiles
// of one panel of b follow each other, so that it stays in the first cache while
// all panels of a come from the second; with few columns it is the other way
// round, and panels of a are packed just before all columns meet them.
func (j *productJob) Do(lo, hi int) {
	switch j.phase {
	case phasePackA:
		for i := lo; i < hi; i++ {
			j.packRows(i, i)
		}
	case phasePackB:
		for i := lo; i < hi; i++ {
			j.packPanel(i, i)
		}
	case phasePackMultiply:
		for i := lo; i < hi; i++ {
			slot := lo // of all panels that only this call reads
			if j.again {
				slot = i
			}
			b, whole := j.bPanel[slot*j.bl.Nr*j.kc:][:j.bl.Nr*j.kc], j.packsInTile(i)
			if !whole {
				j.packPanel(i, slot)
			}
			for ip := range j.np {
				var ahead Fetch
				if i+1 < hi {
					ahead = j.fetchSource(i+1, ip)
				}
				if whole && ip == 0 {
					j.tilePack(i, b, ahead)
				} else {
					j.tile(i, ip, ip, b, j.bl.Nr, ahead)
				}
			}
		}
	case phaseRowsMultiply:
		cols := (j.nc + j.bl.Nr - 1) / j.bl.Nr
		for i := lo; i < hi; i++ {
			j.packRows(i, lo)
			for jp := range cols {
				b, ldb := j.columnsAt(jp)
				var ahead Fetch
				if i+1 < hi {
					ahead = j.fetchRows(i+1, jp, cols)
				}
				j.tile(jp, i, lo, b, ldb, ahead)
			}
		}
	case phaseStrips:
		for i := lo; i < hi; i++ {
			j.strip(i/j.cuts, i%j.cuts)
		}
	case phaseMultiply:
		j.tiles(lo, hi)
	}
}

// packRows packs panel i of this block of a into the given place.
func (j *productJob) packRows(i, slot int) {
	dst := j.aPanel[slot*j.bl.Stride*j.kc:][:j.bl.Stride*j.kc]
	r0, r1 := j.bl.Rows(j.M, j.ip+i)
	packA(j.level, dst, j.bl.Stride, j.A, j.Lda, j.transA, r0, r1-r0, j.pc, j.kc)
}

// fetchRows returns the part that tile jp prefetches of the rows of a that
// become panel i. Rows are left to the hardware unless they lie one after the
// other.
func (j *productJob) fetchRows(i, jp, cols int) Fetch {
	if j.transA || j.Lda != j.kc {
		return Fetch{}
	}
	r0, r1 := j.bl.Rows(j.M, j.ip+i)
	return Fetch{&j.A[r0*j.Lda+(r1-r0)*j.kc*jp/cols], (4*(r1-r0) + cols - 1) / cols}
}

// packPanel packs panel i of b into the given place and returns it.
func (j *productJob) packPanel(i, slot int) []float32 {
	nr := j.bl.Nr
	dst := j.bPanel[slot*nr*j.kc:][:nr*j.kc]
	col := j.jc + i*nr
	count := min(nr, j.jc+j.nc-col)
	if j.Window != nil {
		j.Window.pack(j.level, dst, nr, j.B, j.pc, j.kc, col, count)
	} else {
		PackPanel(j.level, dst, nr, j.B, j.Ldb, j.transB, col, count, j.pc, j.kc)
	}
	return dst
}

// Fetch is memory that a tile asks for while it computes: step bytes further on
// for each of its steps of k.
type Fetch struct {
	At   *float32
	Step int
}

// fetchSource returns the part that tile ip prefetches of the columns of b that
// become panel i. Columns along k are left to the hardware unless they lie in a
// row.
func (j *productJob) fetchSource(i, ip int) Fetch {
	nr := j.bl.Nr
	col := j.jc + i*nr
	switch {
	case j.Window != nil || j.jc+j.nc-col < nr:
	case !j.transB && ip == 0:
		return Fetch{&j.B[j.pc*j.Ldb+col], 4 * j.Ldb}
	case j.transB && j.Ldb == j.kc:
		return Fetch{&j.B[col*j.Ldb+nr*j.kc*ip/j.np], (4*nr + j.np - 1) / j.np}
	}
	return Fetch{}
}

// fetchPanel returns the part of packed panel i that tile ip asks for. In a weight that is
// packed ahead, the panels of the next depth follow the last one.
func (j *productJob) fetchPanel(i, ip int) Fetch {
	size := j.bl.Nr * j.kc
	if i*j.bl.Nr >= j.nc {
		switch {
		case j.again:
			i = 0
		case j.PackedB == nil || j.last || j.nc < j.N:
			return Fetch{}
		}
	}
	return Fetch{&j.bPanel[i*size+size*ip/j.np], (4*j.bl.Nr + j.np - 1) / j.np}
}

// columnsAt returns the rows of b, packed or not, for column panel jp.
func (j *productJob) columnsAt(jp int) (b []float32, ldb int) {
	nr := j.bl.Nr
	if col := j.jc + jp*nr; j.direct && j.jc+j.nc-col >= nr {
		return j.B[j.pc*j.Ldb+col:], j.Ldb
	}
	return j.bPanel[jp*nr*j.kc:][:nr*j.kc], nr
}

func (j *productJob) tiles(lo, hi int) {
	jp, ip := lo/j.np, lo%j.np
	for range hi - lo {
		b, ldb := j.columnsAt(jp)
		ahead := j.fetchPanel(jp+1, ip)
		if j.direct {
			ahead = Fetch{&b[min(directAhead, j.kc-1)*ldb], 4 * ldb}
		}
		j.tile(jp, ip, ip, b, ldb, ahead)
		if ip++; ip == j.np {
			ip, jp = 0, jp+1
		}
	}
}

// tile computes tile ip, whose rows are in panel slot, of column panel jp from
// rows of b.
func (j *productJob) tile(jp, ip, slot int, b []float32, ldb int, ahead Fetch) {
	bl := &j.bl
	r0, r1 := bl.Rows(j.M, j.ip+ip)
	col := j.jc + jp*bl.Nr
	cols := min(bl.Nr, j.jc+j.nc-col)
	at := r0*j.Ldc + col
	c := j.C[at : at+(r1-r0-1)*j.Ldc+cols]
	a := &j.aPanel[slot*bl.Stride*j.kc]
	if ahead.At == nil {
		ahead.At = a
	}
	Tile32(j.level, r1-r0, j.kc, a, &b[0], ldb, &c[0], j.Ldc, cols, j.Acc || !j.first, ahead)
	if j.last {
		j.End.Apply(j.level, r1-r0, cols, r0, col, c, j.Ldc)
	}
}

// packsInTile reports whether the first tile of panel i of b packs it, which has
// code if that tile is about as high as tiles get: rows of more than
// DirectPanels tiles, the cases left here, are always cut so.
func (j *productJob) packsInTile(i int) bool {
	r0, r1 := j.bl.Rows(j.M, j.ip)
	return hasStrip(j.level) && j.Window == nil && !j.transB && j.nc-i*j.bl.Nr >= j.bl.Nr && r1-r0 >= j.bl.Mr-1
}

// tilePack computes the first tile of column panel jp, whose columns it reads
// where they lie and packs into dst.
func (j *productJob) tilePack(jp int, dst []float32, ahead Fetch) {
	bl := &j.bl
	r0, r1 := bl.Rows(j.M, j.ip)
	col := j.jc + jp*bl.Nr
	at := r0*j.Ldc + col
	c := j.C[at : at+(r1-r0-1)*j.Ldc+bl.Nr]
	b := j.B[j.pc*j.Ldb+col:][:(j.kc-1)*j.Ldb+bl.Nr]
	if ahead.At == nil {
		ahead.At = &j.aPanel[0]
	}
	gemmTilePack32(j.level, r1-r0, j.kc, &j.aPanel[0], &b[0], j.Ldb, &c[0], j.Ldc, j.Acc || !j.first, ahead, dst)
	if j.last {
		j.End.Apply(j.level, r1-r0, bl.Nr, r0, col, c, j.Ldc)
	}
}

// packA packs rows [row, row+count) and steps [p, p+k) of op(a) with the given
// floats a step. The elements past count in a step are unspecified.
func packA(l cpu.Level, dst []float32, stride int, a []float32, lda int, trans bool, row, count, p, k int) {
	if trans {
		PackAcross(l, dst, stride, a[p*lda+row:p*lda+row+(k-1)*lda+count], lda, count, k)
	} else {
		PackAlong(l, dst, stride, a[row*lda+p:row*lda+p+(count-1)*lda+k], lda, count, k)
	}
}

// PackPanel packs columns [col, col+count) and steps [p, p+k) of op(b), width
// columns a step, of which those past count are unspecified.
func PackPanel(l cpu.Level, dst []float32, width int, b []float32, ldb int, trans bool, col, count, p, k int) {
	lanes := PanelLanes(l)
	if !trans {
		from := p*ldb + col
		PackAcross(l, dst, width, b[from:from+(k-1)*ldb+count], ldb, count, k)
	}
	for x := 0; x < width; x += lanes {
		n := min(lanes, count-x)
		switch {
		case n <= 0: // never stored, but read: leave no signalling or slow numbers there
			for q := range k {
				clear(dst[q*width+x : q*width+x+lanes])
			}
		case trans:
			from := (col+x)*ldb + p
			PackAlong(l, dst[x:], width, b[from:from+(n-1)*ldb+k], ldb, n, k)
		}
	}
}
