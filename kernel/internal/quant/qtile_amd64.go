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
