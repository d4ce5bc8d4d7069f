package quant

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// qTile computes a tile for a panel of w by the best kernel of this machine; see qTileGo.
func qTile(rows int, a []uint8, at, lda int, offs []int64, run int, w *PackedQ, panel int, c []int32, ldc int) {
	b := w.panel(panel)
	switch {
	case len(offs) == 0 || run == 0 || cpu.Host.Level < cpu.NEON:
		qTileGo(rows, a, at, lda, offs, run, b, c, ldc)
	case cpu.Host.Dot:
		for r := 0; r < rows; r += 8 {
			qTileDot(min(8, rows-r), &a[at+r*lda], lda, &offs[0], len(offs), run/4, run%4, &b[0], &c[r*ldc], ldc, &w.sums[panel*qCols])
		}
	default:
		for r := 0; r < rows; r += 3 {
			qTileNEON(min(3, rows-r), &a[at+r*lda], lda, &offs[0], len(offs), run/4, run%4, &b[0], &c[r*ldc], ldc)
		}
	}
}

// neonPart is how many of n elements functions of NEON take here.
func neonPart(n int) int {
	if cpu.Host.Level < cpu.NEON {
		return 0
	}
	return n &^ 15
}

// requant makes the bytes of a tile; see requantGo.
func (t *qTileOut) requant(e *qEpilogue) {
	switch {
	case t.cols != qCols || cpu.Host.Level < cpu.NEON:
		t.requantGo(e)
	case t.res.bytes != nil:
		qRequantAddNEON(t.rows, &t.sums[0], t.step, &e.bias[t.col], &e.scale[t.col], e.lo, e.hi, e.zero, &t.dst[0], t.ld,
			&t.res.bytes[0], fours(t.res.flip), t.res.zero, t.res.scale)
	default:
		qRequantNEON(t.rows, &t.sums[0], t.step, &e.bias[t.col], &e.scale[t.col], e.lo, e.hi, e.zero, &t.dst[0], t.ld)
	}
}

// dequant writes columns [col, col+cols) of a tile as floats; see dequantGo.
func dequant(rows, cols int, acc []int32, ldacc int, e *qEpilogue, row, col int) {
	if cols != qCols || cpu.Host.Level < cpu.NEON {
		dequantGo(rows, cols, acc, ldacc, e, row, col)
		return
	}
	qDequantNEON(rows, &acc[0], ldacc, &e.bias[col], &e.scale[col], &e.add[row*e.ldAdd+col], e.ldAdd, &e.floats[row*e.ld+col], e.ld)
}

// qAddBytes adds two rows of bytes; see qAddGo.
func qAddBytes(a, b []uint8, s *qSum, dst []uint8) {
	n := neonPart(len(dst))
	if n > 0 {
		qAddNEON(n, &a[0], &b[0], fours(s.flip), s.zeroA, s.zeroB, s.scaleA, s.scaleB, s.lo, s.hi, s.zero, &dst[0])
	}
	qAddGo(a[n:], b[n:], s, dst[n:])
}

// qMulBytes multiplies two rows of bytes; see qMulGo.
func qMulBytes(a, b []uint8, s *qSum, dst []uint8) {
	n := neonPart(len(dst))
	if n > 0 {
		qMulNEON(n, &a[0], &b[0], fours(s.flip), s.zeroA, s.zeroB, s.scaleA, s.lo, s.hi, s.zero, &dst[0])
	}
	qMulGo(a[n:], b[n:], s, dst[n:])
}

// quantize quantises a row of floats; see quantizeGo.
func quantize(src []float32, scale, lo, hi float32, zero int32, dst []uint8) {
	n := neonPart(len(dst))
	if n > 0 {
		qQuantizeNEON(n, &src[0], scale, lo, hi, zero, &dst[0])
	}
	quantizeGo(src[n:], scale, lo, hi, zero, dst[n:])
}

// dequantizeBytes turns a row of bytes into floats; see dequantizeGo.
func dequantizeBytes(dst []float32, src []uint8, flip uint8, scale float32, zero int32) {
	n := neonPart(len(dst))
	if n > 0 {
		qDequantizeNEON(n, &src[0], fours(flip), zero, scale, &dst[0])
	}
	dequantizeGo(dst[n:], src[n:], flip, scale, zero)
}

// valueRange returns the least and the greatest of 0 and the values; see valueRangeGo.
func valueRange(src []float32) (lo, hi float32) {
	var least, greatest [4]float32
	n := neonPart(len(src))
	if n > 0 {
		qRangeNEON(n, &src[0], &least[0], &greatest[0])
	}
	lo, hi = valueRangeGo(src[n:])
	for i := range least {
		lo, hi = min(lo, least[i]), max(hi, greatest[i])
	}
	return lo, hi
}

// qLookup sets dst to src's entries of a table; see qLookupGo.
func qLookup(dst, src, table []uint8) {
	src = src[:len(dst)]
	n := neonPart(len(dst))
	if n > 0 {
		qLookupNEON(n, &src[0], &table[:256][0], &dst[0])
	}
	qLookupGo(dst[n:], src[n:], table)
}

// lookupPays reports whether a table, made and looked up, takes less than the arithmetic of a run
// of qTableRun bytes: not where an instruction looks up in a quarter of it.
func lookupPays() bool { return cpu.Host.Level < cpu.NEON }

func spread(dst []uint8, run int, src []uint8) { spreadGo(dst, run, src) }

// qMost sets dst to the greatest of count bytes each; see qMostGo.
func qMost(count, step int, src, dst []uint8, in, out uint8) {
	n := neonPart(len(dst))
	if count < 1 || n == 0 {
		qMostGo(count, step, src, dst, in, out)
		return
	}
	_ = src[(count-1)*step+n-1]
	qMostNEON(n, count, step, &src[0], &dst[0], fours(in), fours(out))
	if n < len(dst) {
		qMostGo(count, step, src[n:], dst[n:], in, out)
	}
}

// qAddUp adds bytes to sums; see qAddUpGo.
func qAddUp(acc []int32, src []uint8, flip uint8) {
	n := neonPart(len(acc))
	if n > 0 {
		qAddUpNEON(n, &src[0], fours(flip), &acc[0])
	}
	qAddUpGo(acc[n:], src[n:], flip)
}

// qTotals writes the sums of rows of n bytes each; see qTotalGo.
func qTotals(sums []int64, n int, src []uint8, flip uint8) {
	whole := neonPart(n)
	for i := range sums {
		var parts [2]int64
		row := src[i*n : (i+1)*n]
		if whole > 0 {
			qTotalNEON(whole, &row[0], fours(flip), &parts[0])
		}
		sums[i] = qTotalGo(row[whole:], flip) + parts[0] + parts[1]
	}
}

func rescale(sums []int32, units []float32, zero int32, scale float32, bias []int32, by []float32) {
	rescaleGo(sums, units, zero, scale, bias, by)
}
