package quant

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

var noBias [qCols]int32

// qTile computes a tile for a panel of w by the best kernel of this machine; see qTileGo.
func qTile(rows int, a []uint8, at, lda int, offs []int64, run int, w *PackedQ, panel int, c []int32, ldc int) {
	b := w.panel(panel)
	switch {
	case len(offs) == 0 || run == 0 || !cpu.HasAVX2():
		qTileGo(rows, a, at, lda, offs, run, b, c, ldc)
	case qVNNI():
		qTileVNNI(rows, &a[at], lda, &offs[0], len(offs), run/4, run%4, &b[0], &noBias[0], &c[0], ldc, nil)
	default:
		qTileAVX2(rows, &a[at], lda, &offs[0], len(offs), run/4, run%4, &b[0], &c[0], ldc)
	}
}

// requant makes the bytes of a tile; see requantGo.
func (t *qTileOut) requant(e *qEpilogue) {
	switch adds := t.res.bytes != nil; {
	case adds && cpu.HasAVX512():
		qRequantAddAVX512(t.rows, t.cols, &t.sums[0], t.step, &e.bias[t.col], &e.scale[t.col], e.lo, e.hi, e.zero, &t.dst[0], t.ld,
			&t.res.bytes[0], uint32(t.res.flip)*0x01010101, t.res.zero, t.res.scale)
	case cpu.HasAVX512():
		qRequantAVX512(t.rows, t.cols, &t.sums[0], t.step, &e.bias[t.col], &e.scale[t.col], e.lo, e.hi, e.zero, &t.dst[0], t.ld)
	case adds && t.cols == qCols && cpu.HasAVX2():
		qRequantAddAVX2(t.rows, t.cols, &t.sums[0], t.step, &e.bias[t.col], &e.scale[t.col], e.lo, e.hi, e.zero, &t.dst[0], t.ld,
			&t.res.bytes[0], uint32(t.res.flip)*0x01010101, t.res.zero, t.res.scale)
	case t.cols == qCols && cpu.HasAVX2():
		qRequantAVX2(t.rows, t.cols, &t.sums[0], t.step, &e.bias[t.col], &e.scale[t.col], e.lo, e.hi, e.zero, &t.dst[0], t.ld)
	default:
		t.requantGo(e)
	}
}

// dequant writes columns [col, col+cols) of a tile as floats; see dequantGo.
func dequant(rows, cols int, acc []int32, ldacc int, e *qEpilogue, row, col int) {
	at, dst, ld := row*e.ldAdd+col, e.floats[row*e.ld+col:], e.ld
	switch {
	case cpu.HasAVX512():
		qDequantAVX512(rows, cols, &acc[0], ldacc, &e.bias[col], &e.scale[col], &e.add[at], e.ldAdd, &dst[0], ld)
	case cols == qCols && cpu.HasAVX2():
		qDequantAVX2(rows, cols, &acc[0], ldacc, &e.bias[col], &e.scale[col], &e.add[at], e.ldAdd, &dst[0], ld)
	default:
		dequantGo(rows, cols, acc, ldacc, e, row, col)
	}
}

// qAddBytes adds two rows of bytes; see qAddGo.
func qAddBytes(a, b []uint8, s *qSum, dst []uint8) {
	n := 0
	if len(dst) > 0 && cpu.HasAVX512() {
		n = len(dst)
		qAddAVX512(n, &a[0], &b[0], fours(s.flip), s.zeroA, s.zeroB, s.scaleA, s.scaleB, s.lo, s.hi, s.zero, &dst[0])
	} else if len(dst) >= 16 && cpu.HasAVX2() {
		n = len(dst) &^ 15
		qAddAVX2(n, &a[0], &b[0], fours(s.flip), s.zeroA, s.zeroB, s.scaleA, s.scaleB, s.lo, s.hi, s.zero, &dst[0])
	}
	qAddGo(a[n:], b[n:], s, dst[n:])
}

// qMulBytes multiplies two rows of bytes; see qMulGo.
func qMulBytes(a, b []uint8, s *qSum, dst []uint8) {
	n := 0
	if len(dst) > 0 && cpu.HasAVX512() {
		n = len(dst)
		qMulAVX512(n, &a[0], &b[0], fours(s.flip), s.zeroA, s.zeroB, s.scaleA, s.lo, s.hi, s.zero, &dst[0])
	} else if len(dst) >= 16 && cpu.HasAVX2() {
		n = len(dst) &^ 15
		qMulAVX2(n, &a[0], &b[0], fours(s.flip), s.zeroA, s.zeroB, s.scaleA, s.lo, s.hi, s.zero, &dst[0])
	}
	qMulGo(a[n:], b[n:], s, dst[n:])
}

// rescale rescales columns, a multiple of qCols; see rescaleGo.
func rescale(sums []int32, units []float32, zero int32, scale float32, bias []int32, by []float32) {
	n := len(sums)
	units, bias, by = units[:n], bias[:n], by[:n]
	switch {
	case n == 0 || n%16 != 0 || !cpu.HasAVX2():
		rescaleGo(sums, units, zero, scale, bias, by)
	case cpu.HasAVX512():
		qRescaleAVX512(n, &sums[0], &units[0], zero, scale, &bias[0], &by[0])
	default:
		qRescaleAVX2(n, &sums[0], &units[0], zero, scale, &bias[0], &by[0])
	}
}

// quantize quantises a row of floats; see quantizeGo.
func quantize(src []float32, scale, lo, hi float32, zero int32, dst []uint8) {
	n := 0
	if len(dst) > 0 && cpu.HasAVX512() {
		n = len(dst)
		qQuantizeAVX512(n, &src[0], scale, lo, hi, zero, &dst[0])
	} else if len(dst) >= 16 && cpu.HasAVX2() {
		n = len(dst) &^ 15
		qQuantizeAVX2(n, &src[0], scale, lo, hi, zero, &dst[0])
	}
	quantizeGo(src[n:], scale, lo, hi, zero, dst[n:])
}

// dequantizeBytes turns a row of bytes into floats; see dequantizeGo.
func dequantizeBytes(dst []float32, src []uint8, flip uint8, scale float32, zero int32) {
	n := 0
	if n = len(dst) &^ 31; n > 0 && cpu.HasAVX512() {
		qDequantizeAVX512(n, &src[0], fours(flip), zero, scale, &dst[0])
	} else if n = len(dst) &^ 15; n > 0 && cpu.HasAVX2() {
		qDequantizeAVX2(n, &src[0], fours(flip), zero, scale, &dst[0])
	} else {
		n = 0
	}
	dequantizeGo(dst[n:], src[n:], flip, scale, zero)
}

// valueRange returns the least and the greatest of 0 and the values; see valueRangeGo.
func valueRange(src []float32) (lo, hi float32) {
	var least, greatest [16]float32
	n := 0
	if n = len(src) &^ 63; n > 0 && cpu.HasAVX512() {
		qRangeAVX512(n, &src[0], &least[0], &greatest[0])
	} else if n = len(src) &^ 31; n > 0 && cpu.HasAVX2() {
		qRangeAVX2(n, &src[0], &least[0], &greatest[0])
	} else {
		n = 0
	}
	lo, hi = valueRangeGo(src[n:])
	for i := range least {
		lo, hi = min(lo, least[i]), max(hi, greatest[i])
	}
	return lo, hi
}

// qLookup sets dst to src's entries of a table; see qLookupGo.
func qLookup(dst, src, table []uint8) {
	n := 0
	if src = src[:len(dst)]; len(dst) > 0 && cpu.HasAVX512() && cpu.Host.Vbmi {
		n = len(dst)
		qLookupVBMI(n, &src[0], &table[:256][0], &dst[0])
	} else if len(dst) >= 32 && cpu.HasAVX2() {
		n = len(dst) &^ 31
		qLookupAVX2(n, &src[0], &table[:256][0], &dst[0])
	}
	qLookupGo(dst[n:], src[n:], table)
}

// lookupPays reports whether a table, made and looked up, takes less than the arithmetic of a run
// of qTableRun bytes. AVX2 looks a byte up in sixteen parts of the table one after the other.
func lookupPays() bool { return cpu.HasAVX512() && cpu.Host.Vbmi || !cpu.HasAVX2() }

// spread repeats bytes; see spreadGo.
func spread(dst []uint8, run int, src []uint8) {
	if len(src) == 0 || run == 0 || !cpu.HasAVX512() {
		spreadGo(dst, run, src)
		return
	}
	_ = dst[len(src)*run+spreadSpare-1]
	qSpreadAVX512(len(src), run, &src[0], &dst[0])
}

// qMost sets dst to the greatest of count bytes each; see qMostGo. dst and src
// must not overlap.
func qMost(count, step int, src, dst []uint8, in, out uint8) {
	n := len(dst)
	if count < 1 || n < 32 || !cpu.HasAVX2() {
		qMostGo(count, step, src, dst, in, out)
		return
	}
	_ = src[(count-1)*step+n-1]
	done := 0
	if done = n &^ 63; done > 0 && cpu.HasAVX512() {
		qMostAVX512(done, count, step, &src[0], &dst[0], fours(in), fours(out))
	} else {
		done = n &^ 31
		qMostAVX2(done, count, step, &src[0], &dst[0], fours(in), fours(out))
	}
	for ; done < n; done += 32 {
		// The last vector may overlap those already done.
		at := min(done, n-32)
		qMostAVX2(32, count, step, &src[at], &dst[at], fours(in), fours(out))
	}
}

// qAddUp adds bytes to sums; see qAddUpGo.
func qAddUp(acc []int32, src []uint8, flip uint8) {
	n := 0
	if n = len(acc) &^ 15; n > 0 && cpu.HasAVX512() {
		qAddUpAVX512(n, &src[0], fours(flip), &acc[0])
	} else if n = len(acc) &^ 7; n > 0 && cpu.HasAVX2() {
		qAddUpAVX2(n, &src[0], fours(flip), &acc[0])
	} else {
		n = 0
	}
	qAddUpGo(acc[n:], src[n:], flip)
}

// qTotals writes the sums of rows of n bytes each; see qTotalGo.
func qTotals(sums []int64, n int, src []uint8, flip uint8) {
	src = src[:len(sums)*n]
	if cpu.HasAVX512() && len(src) > 0 {
		qTotalsAVX512(len(sums), n, &src[0], fours(flip), &sums[0])
		return
	}
	whole := n &^ 31
	for i := range sums {
		var parts [8]int64
		row := src[i*n : (i+1)*n]
		if whole > 0 && cpu.HasAVX2() {
			qTotalAVX2(whole, &row[0], fours(flip), &parts[0])
			row = row[whole:]
		}
		sums[i] = qTotalGo(row, flip)
		for _, s := range parts {
			sums[i] += s
		}
	}
}
