package kernel

// directPanels is the number of panels of a up to which the rows of b are read
// where they lie: packing pays only when they are used more often.
const directPanels = 6

// directSize is the number of elements up to which a whole b is read in place by
// any number of panels: near caches hold it.
const directSize = 16 << 10

// fewColumns is the number of panels of b up to which panels of a are packed
// where they are used, since that is soon over; twice as many where b is not packed.
const fewColumns = 2

// directAhead is how many rows of b, read where they lie, are asked for early:
// no hardware looks that far.
const directAhead = 16

// depthUnit divides the terms of all blocks of k but the last: whole vectors are
// packed faster.
const depthUnit = 16

// blocking is how a level cuts the float32 product: tiles of mr×nr, panels of a
// with stride floats a step of k, sums of at most kc terms at a time, blocks of
// at most area floats of packed a, which stay in the second-level cache beside
// two panels of b, and of nc columns of b.
type blocking struct {
	mr, nr, stride, kc, area, nc int
	even                         bool // there is code for every number of rows
}

func blockingOf(l cpuLevel) blocking {
	switch l {
	case levelAVX512:
		return blocking{mr: 14, nr: 32, stride: 16, kc: 768, area: 120 << 10, nc: 2048, even: true}
	case levelAVX2:
		return blocking{mr: 6, nr: 16, stride: 8, kc: 384, area: 64 << 10, nc: 2048, even: true}
	case levelNEON:
		return blocking{mr: 8, nr: 8, stride: 8, kc: 256, area: 64 << 10, nc: 1024}
	}
	return blocking{mr: gemmMR, nr: gemmNR, stride: gemmMR, kc: gemmKC, area: gemmMC * gemmKC, nc: gemmNC}
}

// depth returns the terms of one block of k: about equal shares, not a short
// last one.
func (b *blocking) depth(k int) int {
	blocks := (k + b.kc - 1) / b.kc
	return min(k, roundUp((k+blocks-1)/blocks, depthUnit))
}

// most returns how many panels of a, k terms deep, make a block.
func (b *blocking) most(k int) int { return max(1, b.area/(b.stride*b.depth(k))) }

// panels returns how many panels m rows are cut into.
func (b *blocking) panels(m int) int { return (m + b.mr - 1) / b.mr }

// rows returns where panel i of m rows begins and ends. Shares are equal where
// the level has code for them, so that no tile is much shorter than another.
func (b *blocking) rows(m, i int) (lo, hi int) {
	if !b.even {
		return i * b.mr, min(m, (i+1)*b.mr)
	}
	n := b.panels(m)
	base, extra := m/n, m%n
	lo = i*base + min(i, extra)
	hi = lo + base
	if i < extra {
		hi++
	}
	return lo, hi
}

// sizes returns the elements of a block of each operand when packed.
func (b *blocking) sizes(m, n, k int) (sizeA, sizeB int) {
	kc := b.depth(k)
	return min(b.panels(m), b.most(k)) * b.stride * kc, roundUp(min(n, b.nc), b.nr) * kc
}

// product is c = op(a)·op(b), or c += with acc, followed by end. An operand is
// a matrix, or packed as a whole, or (b) the patches of an image.
type product struct {
	m, n, k          int
	transA, transB   bool
	a                []float32
	lda              int
	b                []float32
	ldb              int
	packedA, packedB []float32
	window           *patchTable
	c                []float32
	ldc              int
	acc              bool
	end              epilogue
}

// productJob is a product in progress, block by block.
type productJob struct {
	product
	level  cpuLevel
	bl     blocking
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
func productScratch(l cpuLevel, m, n, k int) int {
	if m <= 0 || n <= 0 || k <= 0 {
		return 0
	}
	return max(blockScratch(l, m, n, k, true, true), scratchSize(dotRows*k, 4))
}

// blockScratch is the scratch for blocks of the operands that are not packed yet.
func blockScratch(l cpuLevel, m, n, k int, packA, packB bool) (size int) {
	bl := blockingOf(l)
	a, b := bl.sizes(m, n, k)
	if packA {
		size += scratchSize(a, 4)
	}
	if packB {
		size += scratchSize(b, 4)
	}
	return size
}

// streams reports whether Go does p in place, on a level without such assembly.
func (p *product) streams(l cpuLevel) bool { return !hasThin(l) && p.m < gemmThin && !p.transA }

// plain reports whether both operands are matrices.
func (p *product) plain() bool { return p.packedA == nil && p.packedB == nil && p.window == nil }

// multiply computes p.
func multiply(w *Workspace, p product) {
	l := cpu.level
	switch {
	case p.m <= 0 || p.n <= 0:
	case p.k <= 0:
		if !p.acc {
			for i := range p.m {
				clear(p.c[i*p.ldc : i*p.ldc+p.n])
			}
		}
		p.end.apply(l, p.m, p.n, 0, 0, p.c, p.ldc)
	case p.plain() && p.streams(l):
		v := takeJob[thinJob[float32]](w)
		*v = thinJob[float32]{transB: p.transB, m: p.m, n: p.n, k: p.k, a: p.a, lda: p.lda, b: p.b, ldb: p.ldb, c: p.c, ldc: p.ldc, acc: p.acc}
		w.Parallel((p.n+gemmNR-1)/gemmNR, max(1, gemmWork/(gemmNR*p.m*p.k)), v)
		putJob(w, v)
		p.end.apply(l, p.m, p.n, 0, 0, p.c, p.ldc)
	case p.thin(l):
		multiplyThin(w, l, p)
	case p.byPanels(l):
		multiplyPanels(w, l, p)
	default:
		j := takeJob[productJob](w)
		*j = productJob{product: p, level: l, bl: blockingOf(l)}
		j.run(w)
		putJob(w, j)
	}
}

func (j *productJob) run(w *Workspace) {
	mark := w.Mark()
	a, b := j.bl.sizes(j.m, j.n, j.k)
	if j.packedA == nil {
		j.aPanel = Scratch[float32](w, a)
	}
	if j.packedB == nil {
		j.bPanel = Scratch[float32](w, b)
	}
	j.blocks(w)
	w.Release(mark)
}

// columns returns how many columns are multiplied at a time: equal shares, or
// all where b is packed and no part of it is read twice.
func (j *productJob) columns(panels int) int {
	bl := &j.bl
	most := bl.nc
	if j.packedB != nil {
		most *= 2
		if j.k <= bl.kc && panels <= bl.most(j.k) {
			most = j.n
		}
	}
	parts := (j.n + most - 1) / most
	return roundUp((j.n+parts-1)/parts, bl.nr)
}

// blocks computes the product with the panels that it was given.
func (j *productJob) blocks(w *Workspace) {
	bl := &j.bl
	depth, panels := bl.depth(j.k), bl.panels(j.m)
	columns := j.columns(panels)
	parts := (panels + bl.most(j.k) - 1) / bl.most(j.k)
	j.direct = (panels <= directPanels || j.k*j.n <= directSize) && !j.transB && j.window == nil && j.packedB == nil
	j.strips = j.byStrip(depth)
	for j.jc = 0; j.jc < j.n; j.jc += columns {
		j.nc = min(columns, j.n-j.jc)
		for j.pc = 0; j.pc < j.k; j.pc += depth {
			j.kc = min(depth, j.k-j.pc)
			j.first, j.last = j.pc == 0, j.pc+j.kc == j.k
			if j.packedB != nil {
				j.bPanel = j.packedB[j.pc*roundUp(j.n, bl.nr)+j.jc*j.kc:]
			}
			for i := range parts {
				j.ip = panels * i / parts
				j.np = panels*(i+1)/parts - j.ip
				j.again = i+1 < parts
				switch {
				case j.strips:
				case j.packedA != nil:
					j.aPanel = j.packedA[j.pc*panels*bl.stride+j.ip*bl.stride*j.kc:]
				case !j.byRow():
					j.phase = phasePackA
					w.Parallel(j.np, max(1, simdPack/(bl.stride*j.kc)), j)
				}
				j.multiplyBlock(w, i == 0)
			}
		}
	}
}

// multiplyBlock multiplies a block of a with a block of b, whose panels it packs
// where they are fresh.
func (j *productJob) multiplyBlock(w *Workspace, fresh bool) {
	bl := &j.bl
	cols, threads := (j.nc+bl.nr-1)/bl.nr, max(1, w.Threads)
	work := max(1, simdWork/(bl.mr*bl.nr*j.kc))
	if j.strips {
		if fresh && j.packedB == nil && !j.direct {
			j.phase = phasePackB
			w.Parallel(cols, max(1, simdPack/(bl.nr*j.kc)), j)
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
	case !fresh || j.packedB != nil:
	case j.direct:
		if j.nc%bl.nr != 0 {
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
		w.Parallel(cols, max(1, simdPack/(bl.nr*j.kc)), j)
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
	most := fewColumns * j.bl.nr
	return j.packedA == nil && (j.nc <= most || j.direct && j.nc <= 2*most)
}

// Do runs the current phase for panels, or for tiles in column-panel order.
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
			b, whole := j.bPanel[slot*j.bl.nr*j.kc:][:j.bl.nr*j.kc], j.packsInTile(i)
			if !whole {
				j.packPanel(i, slot)
			}
			for ip := range j.np {
				var ahead fetch
				if i+1 < hi {
					ahead = j.fetchSource(i+1, ip)
				}
				if whole && ip == 0 {
					j.tilePack(i, b, ahead)
				} else {
					j.tile(i, ip, ip, b, j.bl.nr, ahead)
				}
			}
		}
	case phaseRowsMultiply:
		cols := (j.nc + j.bl.nr - 1) / j.bl.nr
		for i := lo; i < hi; i++ {
			j.packRows(i, lo)
			for jp := range cols {
				b, ldb := j.columnsAt(jp)
				var ahead fetch
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
	dst := j.aPanel[slot*j.bl.stride*j.kc:][:j.bl.stride*j.kc]
	r0, r1 := j.bl.rows(j.m, j.ip+i)
	packA(j.level, dst, j.bl.stride, j.a, j.lda, j.transA, r0, r1-r0, j.pc, j.kc)
}

// fetchRows returns what tile jp asks for of the rows of a that become panel i.
// Rows are left to the hardware unless they lie one after the other.
func (j *productJob) fetchRows(i, jp, cols int) fetch {
	if j.transA || j.lda != j.kc {
		return fetch{}
	}
	r0, r1 := j.bl.rows(j.m, j.ip+i)
	return fetch{&j.a[r0*j.lda+(r1-r0)*j.kc*jp/cols], (4*(r1-r0) + cols - 1) / cols}
}

// packPanel packs panel i of b into the given place and returns it.
func (j *productJob) packPanel(i, slot int) []float32 {
	nr := j.bl.nr
	dst := j.bPanel[slot*nr*j.kc:][:nr*j.kc]
	col := j.jc + i*nr
	count := min(nr, j.jc+j.nc-col)
	if j.window != nil {
		j.window.pack(j.level, dst, nr, j.b, j.pc, j.kc, col, count)
	} else {
		packB(j.level, dst, nr, j.b, j.ldb, j.transB, col, count, j.pc, j.kc)
	}
	return dst
}

// fetch is memory that a tile asks for while it computes: step bytes further on
// for each of its steps of k.
type fetch struct {
	at   *float32
	step int
}

// fetchSource returns what tile ip asks for of the columns of b that become
// panel i. Columns along k are left to the hardware unless they lie in a row.
func (j *productJob) fetchSource(i, ip int) fetch {
	nr := j.bl.nr
	col := j.jc + i*nr
	switch {
	case j.window != nil || j.jc+j.nc-col < nr:
	case !j.transB && ip == 0:
		return fetch{&j.b[j.pc*j.ldb+col], 4 * j.ldb}
	case j.transB && j.ldb == j.kc:
		return fetch{&j.b[col*j.ldb+nr*j.kc*ip/j.np], (4*nr + j.np - 1) / j.np}
	}
	return fetch{}
}

// fetchPanel returns what tile ip asks for of the packed panel i.
func (j *productJob) fetchPanel(i, ip int) fetch {
	size := j.bl.nr * j.kc
	if i*j.bl.nr >= j.nc {
		if i = 0; !j.again {
			return fetch{}
		}
	}
	return fetch{&j.bPanel[i*size+size*ip/j.np], (4*j.bl.nr + j.np - 1) / j.np}
}

// columnsAt returns the rows of b, packed or not, for column panel jp.
func (j *productJob) columnsAt(jp int) (b []float32, ldb int) {
	nr := j.bl.nr
	if col := j.jc + jp*nr; j.direct && j.jc+j.nc-col >= nr {
		return j.b[j.pc*j.ldb+col:], j.ldb
	}
	return j.bPanel[jp*nr*j.kc:][:nr*j.kc], nr
}

func (j *productJob) tiles(lo, hi int) {
	jp, ip := lo/j.np, lo%j.np
	for range hi - lo {
		b, ldb := j.columnsAt(jp)
		ahead := j.fetchPanel(jp+1, ip)
		if j.direct {
			ahead = fetch{&b[min(directAhead, j.kc-1)*ldb], 4 * ldb}
		}
		j.tile(jp, ip, ip, b, ldb, ahead)
		if ip++; ip == j.np {
			ip, jp = 0, jp+1
		}
	}
}

// tile computes tile ip, whose rows are in panel slot, of column panel jp from
// rows of b.
func (j *productJob) tile(jp, ip, slot int, b []float32, ldb int, ahead fetch) {
	bl := &j.bl
	r0, r1 := bl.rows(j.m, j.ip+ip)
	col := j.jc + jp*bl.nr
	cols := min(bl.nr, j.jc+j.nc-col)
	at := r0*j.ldc + col
	c := j.c[at : at+(r1-r0-1)*j.ldc+cols]
	a := &j.aPanel[slot*bl.stride*j.kc]
	if ahead.at == nil {
		ahead.at = a
	}
	gemmTile32(j.level, r1-r0, j.kc, a, &b[0], ldb, &c[0], j.ldc, cols, j.acc || !j.first, ahead)
	if j.last && j.end.some {
		j.end.apply(j.level, r1-r0, cols, r0, col, c, j.ldc)
	}
}

// packsInTile reports whether the first tile of panel i of b packs it.
func (j *productJob) packsInTile(i int) bool {
	return hasStrip(j.level) && j.window == nil && !j.transB && j.nc-i*j.bl.nr >= j.bl.nr
}

// tilePack computes the first tile of column panel jp, whose columns it reads
// where they lie and packs into dst.
func (j *productJob) tilePack(jp int, dst []float32, ahead fetch) {
	bl := &j.bl
	r0, r1 := bl.rows(j.m, j.ip)
	col := j.jc + jp*bl.nr
	at := r0*j.ldc + col
	c := j.c[at : at+(r1-r0-1)*j.ldc+bl.nr]
	b := j.b[j.pc*j.ldb+col:][:(j.kc-1)*j.ldb+bl.nr]
	if ahead.at == nil {
		ahead.at = &j.aPanel[0]
	}
	gemmTilePack32(j.level, r1-r0, j.kc, &j.aPanel[0], &b[0], j.ldb, &c[0], j.ldc, j.acc || !j.first, ahead, dst)
	if j.last && j.end.some {
		j.end.apply(j.level, r1-r0, bl.nr, r0, col, c, j.ldc)
	}
}

// packA packs rows [row, row+count) and steps [p, p+k) of op(a) with the given
// floats a step. What lies past count in a step is unspecified.
func packA(l cpuLevel, dst []float32, stride int, a []float32, lda int, trans bool, row, count, p, k int) {
	if trans {
		packAcross(l, dst, stride, a[p*lda+row:p*lda+row+(k-1)*lda+count], lda, count, k)
	} else {
		packAlong(l, dst, stride, a[row*lda+p:row*lda+p+(count-1)*lda+k], lda, count, k)
	}
}

// packB packs columns [col, col+count) and steps [p, p+k) of op(b), width
// columns a step, of which those past count are unspecified.
func packB(l cpuLevel, dst []float32, width int, b []float32, ldb int, trans bool, col, count, p, k int) {
	lanes := panelLanes(l)
	if !trans {
		from := p*ldb + col
		packAcross(l, dst, width, b[from:from+(k-1)*ldb+count], ldb, count, k)
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
			packAlong(l, dst[x:], width, b[from:from+(n-1)*ldb+k], ldb, n, k)
		}
	}
}
