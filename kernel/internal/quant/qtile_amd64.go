package quant

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// qStore is what the AVX-512 tile is told to make bytes of its sums; the generator
// knows the places of its fields.
type qStore struct {
	scale    *float32
	dst      *uint8
	ld, cols int
	hi       float32
	flip     uint32
	// For unsigned results, those that flip makes signed ones of.
	zero, lo int32
}

var noBias [qCols]int32

// qTileBytes computes a tile and writes its columns, col and on, as bytes from dst
// on; it reports false where that takes a tile and requant.
func qTileBytes(rows, cols int, a []uint8, at, lda int, offs []int64, run int, b []int8, e *qEpilogue, col int, dst []uint8) bool {
	if len(offs) == 0 || run == 0 || !qVNNI() {
		return false
	}
	zero := e.zero + int32(e.flip)
	s := qStore{scale: &e.scale[col], dst: &dst[0], ld: e.ld, cols: cols, hi: e.hi, flip: uint32(e.flip) * 0x01010101,
		zero: zero, lo: int32(e.lo) + zero}
	qTileVNNI(rows, &a[at], lda, &offs[0], len(offs), run/4, run%4, &b[0], &e.bias[col], nil, 0, (*uint8)(unsafe.Pointer(&s)))
	return true
}

// qRows is the most rows of one tile at the current level.
func qRows() int {
	if qVNNI() {
		return 14
	}
	return 6
}

// qTile computes a tile by the best kernel of this machine; see qTileGo.
func qTile(rows int, a []uint8, at, lda int, offs []int64, run int, b []int8, c []int32, ldc int) {
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
func dequant(rows, cols int, acc []int32, ldacc int, e *qEpilogue, col int, dst []float32, ld int) {
	switch {
	case cpu.HasAVX512():
		qDequantAVX512(rows, cols, &acc[0], ldacc, &e.bias[col], &e.scale[col], &e.add[col], &dst[0], ld)
	case cols == qCols && cpu.HasAVX2():
		qDequantAVX2(rows, cols, &acc[0], ldacc, &e.bias[col], &e.scale[col], &e.add[col], &dst[0], ld)
	default:
		dequantGo(rows, cols, acc, ldacc, e, col, dst, ld)
	}
}

// qDepthwise computes sums of channels [0, cols) of a block of 64; see qDepthwiseGo.
func qDepthwise(pixels, step int, src []uint8, at int, offs []int64, cols int, weight []int8, acc []int32) {
	switch {
	case qVNNI():
		qDepthwiseVNNI(pixels, step, &src[at], &offs[0], len(offs)/4, cols, &weight[0], &acc[0], qBlock)
	case cpu.HasAVX2():
		c := 0
		for ; c+16 <= cols; c += 16 {
			qDepthwiseAVX2(pixels, step, &src[at+c], &offs[0], len(offs)/4, 16, &weight[c], &acc[c], qBlock)
		}
		qDepthwiseGo(pixels, step, src, at, offs, c, cols, weight, acc)
	default:
		qDepthwiseGo(pixels, step, src, at, offs, 0, cols, weight, acc)
	}
}

// transposeBlocks transposes n blocks of 8 by 16 bytes; see transposeBlocksGo.
func transposeBlocks(n int, src []uint8, lds int, dst []uint8, ldd int) {
	if n > 0 && cpu.HasAVX2() {
		qTransposeAVX2(n, &src[0], lds, &dst[0], ldd)
		return
	}
	transposeBlocksGo(n, src, lds, dst, ldd)
}

func qVNNI() bool { return cpu.HasAVX512() && cpu.Host.Vnni }
