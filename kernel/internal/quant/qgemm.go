package quant

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

//go:generate go run -C ../../../internal/generators/asmgen ./quant

// QGemm computes c = a·b for a row-major m×k matrix of unsigned bytes and packed
// signed ones; sums are int32 and wrap around. c, m×n with leading dimension
// ldc, must not overlap a. The result is the same on every machine and for
// every number of threads. It panics when a slice is too short.
//
//gofx:kernel
func QGemm(w *par.Workspace, m int, a []uint8, lda int, b *PackedQ, c []int32, ldc int) {
	checkMatrix("q_gemm", "a", len(a), m, b.K(), lda)
	checkMatrix("q_gemm", "c", len(c), m, b.n, ldc)
	j := par.TakeJob[qJob](w)
	*j = qJob{a: a, b: *b, out: qEpilogue{sums: c, ld: ldc}}
	mark := w.Mark()
	j.runMatrix(w, m, lda)
	w.Release(mark)
	par.PutJob(w, j)
}

// qEpilogue is the destination of sums: exactly one of bytes, sums and floats
// receives them, rows ld elements apart. Lists have an element for each column,
// padded to whole panels.
type qEpilogue struct {
	bytes  []uint8
	sums   []int32
	floats []float32
	ld     int

	bias  []int32   // added first; may be nil with sums
	scale []float32 // of the sum, for bytes and floats
	add   []float32 // for floats: a row of it for each row, ldAdd apart; 0 has one for all
	ldAdd int
	lo    float32 // limits of the scaled sum, for bytes
	hi    float32
	zero  int32
	flip  uint8   // 128 where bytes are signed
	table []uint8 // of 256 bytes, applied to each byte when not nil
	res   qResidual

	// weightZero, when not nil, times the sum of a row of a is taken from each sum.
	weightZero []int32
}

// put writes the rows and the columns [col, col+cols) of a tile; cols is at most
// 32, and rows of the tile are ld elements apart.
func (e *qEpilogue) put(rows, cols int, tile []int32, ld, row, col int) {
	at := row*e.ld + col
	switch {
	case e.bytes != nil:
		dst := e.bytes[at:]
		t := qTileOut{rows: rows, cols: cols, col: col, sums: tile, step: ld, dst: dst, ld: e.ld, res: e.res.from(at)}
		t.requant(e)
		e.lookup(rows, cols, dst)
	case e.floats != nil:
		dequant(rows, cols, tile, ld, e, row, col)
	case e.bias != nil:
		biasGo(rows, cols, tile, ld, e.bias[col:], e.sums[at:], e.ld)
	default:
		for r := range rows {
			copy(e.sums[at+r*e.ld:][:cols], tile[r*ld:])
		}
	}
}

// lookup applies the table, if there is one, to bytes.
func (e *qEpilogue) lookup(rows, cols int, dst []uint8) {
	if e.table != nil {
		for r := range rows {
			row := dst[r*e.ld : r*e.ld+cols]
			qLookup(row, row, e.table)
		}
	}
}

// qJob is a product in progress: tiles of rows times blocks of panels.
type qJob struct {
	a   []uint8
	b   PackedQ
	out qEpilogue

	offs  []int64 // of b's runs within a, from a row's start
	one   [1]int64
	m     int // rows of a matrix
	step  int // between rows of a tile, in a
	tiles int // of rows
	rows  int // of a tile
	block int // panels of a block
	// For a convolution, window tells which rows a tile has.
	window *qWindow
}

// runMatrix multiplies a as a matrix of m rows.
func (j *qJob) runMatrix(w *par.Workspace, m, lda int) {
	k := j.b.run
	j.asMatrix(m, lda)
	if lda%page == 0 && m >= j.rows/2 && k > 0 {
		// Rows so far apart share the sets of the cache: bring them together.
		ld := k + pageOff
		copied := par.Scratch[uint8](w, m*ld)
		for i := range m {
			copy(copied[i*ld:i*ld+k], j.a[i*lda:])
		}
		j.a, j.step = copied, ld
	}
	j.run(w)
}

// asMatrix sees a as a matrix of m rows.
func (j *qJob) asMatrix(m, lda int) {
	j.offs = j.one[:]
	j.m, j.step = m, lda
	// Tiles of equal height: one of a row or two would wait for its few sums.
	j.tiles = (m + qRows() - 1) / qRows()
	j.rows = (m + j.tiles - 1) / max(j.tiles, 1)
}

// qMatrixScratch is the scratch that runMatrix takes at most.
func qMatrixScratch(m, lda, k int) int {
	if lda%page == 0 {
		return par.ScratchSize(m*(k+pageOff), 1)
	}
	return 0
}

func (j *qJob) run(w *par.Workspace) {
	panels := (j.b.n + qCols - 1) / qCols
	if panels == 0 || j.tiles == 0 {
		return
	}
	size := max(len(j.b.data)/panels, 1)
	j.block = min(max(blockBytes()/size, 1), panels)
	if some := 4 * w.Threads; w.Threads > 1 && j.tiles*((panels-1)/j.block+1) < some {
		// Tiles may have few rows: blocks of panels can be shared evenly.
		j.block = max(1, panels/some)
	}
	blocks := (panels + j.block - 1) / j.block
	work := j.rows * j.block * size
	w.Parallel(j.tiles*blocks, max(1, qWork/max(work, 1)), j)
}

// Do computes units [lo, hi): all tiles of a block, then those of the next. A
// block of panels stays in the second cache while all tiles of rows meet it, and a
// tile's rows in the first while all panels of the block do; sums of a tile are in
// registers over all of k, and in the tile on the stack where they are converted.
func (j *qJob) Do(lo, hi int) {
	var room [14*qCols + 16]int32 // from a line on: vectors that cross lines take twice as long
	tile := (*[14 * qCols]int32)(room[move.ToLine(unsafe.Pointer(&room))/4:])
	var sums [14]int32
	for u := lo; u < hi; u++ {
		var rows, at, row int
		if j.window != nil {
			rows, at, row = j.window.tile(u % j.tiles)
		} else {
			row = u % j.tiles * j.rows
			rows, at = min(j.rows, j.m-row), row*j.step
		}
		if j.out.weightZero != nil {
			j.rowSums(sums[:rows], at)
		}
		first := u / j.tiles * j.block
		for p := first; p*qCols < j.b.n && p < first+j.block; p++ {
			j.panel(p, rows, at, row, tile, sums[:rows])
		}
	}
}

// panel computes the rows of a tile that start at a[at], for one panel.
func (j *qJob) panel(p, rows, at, row int, tile *[14 * qCols]int32, sums []int32) {
	e, b, col := &j.out, j.b.panel(p), p*qCols
	cols := min(qCols, j.b.n-col)
	if e.weightZero == nil && e.bytes != nil && e.res.bytes == nil {
		dst := e.bytes[row*e.ld+col:]
		if qTileBytes(rows, cols, j.a, at, j.step, j.offs, j.b.run, b, e, col, dst) {
			e.lookup(rows, cols, dst)
			return
		}
	}
	if e.sums != nil && e.bias == nil && e.weightZero == nil && cols == qCols {
		qTile(rows, j.a, at, j.step, j.offs, j.b.run, &j.b, p, e.sums[row*e.ld+col:], e.ld)
		return
	}
	qTile(rows, j.a, at, j.step, j.offs, j.b.run, &j.b, p, tile[:], qCols)
	if e.weightZero != nil {
		for i := range rows * qCols {
			tile[i] -= e.weightZero[col+i%qCols] * sums[i/qCols]
		}
	}
	e.put(rows, cols, tile[:], qCols, row, col)
}

// rowSums adds up the elements of a that each row of a tile reads.
func (j *qJob) rowSums(sums []int32, at int) {
	for r := range sums {
		s := int32(0)
		for _, off := range j.offs {
			for _, v := range j.a[at+r*j.step+int(off):][:j.b.run] {
				s += int32(v)
			}
		}
		sums[r] = s
	}
}
