package quant

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// qStore tells the AVX-512 tile how to make bytes of its sums; the generator knows
// the places of its fields.
type qStore struct {
	scale    *float32
	dst      *uint8
	ld, cols int
	hi       float32
	flip     uint32
	// For unsigned results, those that flip makes signed ones of.
	zero, lo int32
}

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
	switch {
	case qVNNI():
		return 14
	case cpu.Host.Dot:
		return 8
	}
	return 6
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

// compute computes a band of a channel; see computeGo.
func (t *qDepthTile) compute() {
	if !cpu.HasAVX2() {
		t.computeGo()
		return
	}
	p := (*uint8)(unsafe.Pointer(t))
	form := [3]bool{qVNNI(), t.height == 5, t.stride == 2}
	if t.pairs {
		computePairs(p, form[1], form[2])
		return
	}
	switch form {
	case [3]bool{true, false, false}:
		qDepth3By1VNNI(p)
	case [3]bool{true, false, true}:
		qDepth3By2VNNI(p)
	case [3]bool{true, true, false}:
		qDepth5By1VNNI(p)
	case [3]bool{true, true, true}:
		qDepth5By2VNNI(p)
	case [3]bool{false, false, false}:
		qDepth3By1AVX2(p)
	case [3]bool{false, false, true}:
		qDepth3By2AVX2(p)
	case [3]bool{false, true, false}:
		qDepth5By1AVX2(p)
	default:
		qDepth5By2AVX2(p)
	}
}

// compute computes channels of a band from lines as they lie; it is called only where qVBMI.
func (t *qDepthRows) compute(narrow bool, height, stride int) {
	p := (*uint8)(unsafe.Pointer(t))
	switch [3]bool{narrow, height == 5, stride == 2} {
	case [3]bool{false, false, false}:
		qDepthRows3By1VBMI(p)
	case [3]bool{false, false, true}:
		qDepthRows3By2VBMI(p)
	case [3]bool{false, true, false}:
		qDepthRows5By1VBMI(p)
	case [3]bool{false, true, true}:
		qDepthRows5By2VBMI(p)
	case [3]bool{true, false, false}:
		qDepthNarrow3By1VBMI(p)
	case [3]bool{true, false, true}:
		qDepthNarrow3By2VBMI(p)
	case [3]bool{true, true, false}:
		qDepthNarrow5By1VBMI(p)
	default:
		qDepthNarrow5By2VBMI(p)
	}
}

// computePairs computes a band whose lines are in pairs.
func computePairs(p *uint8, five, two bool) {
	switch {
	case five && two:
		qDepth5By2PairVNNI(p)
	case five:
		qDepth5By1PairVNNI(p)
	case two:
		qDepth3By2PairVNNI(p)
	default:
		qDepth3By1PairVNNI(p)
	}
}

// copyLines copies lines of n bytes; see copyLinesGo.
func copyLines(lines, n int, dst []uint8, ldd int, src []uint8, lds int, flip uint8) {
	if !cpu.HasAVX512() {
		copyLinesGo(lines, n, dst, ldd, src, lds, flip)
		return
	}
	_, _ = dst[(lines-1)*ldd+n-1], src[(lines-1)*lds+n-1]
	qLinesAVX512(lines, n, &dst[0], ldd, &src[0], lds, uint32(flip)*0x01010101)
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

// qVBMI says that bytes of a vector can be permuted, too.
func qVBMI() bool { return qVNNI() && cpu.Host.Vbmi }

// fours repeats a byte.
func fours(b uint8) uint32 { return uint32(b) * 0x01010101 }

// qEvens sets dst[i] = src[2i].
func qEvens(dst, src []uint8) {
	if n := 2*len(dst) - 1; n > 0 && cpu.HasAVX512() {
		_ = src[n-1]
		qSplitVNNI(1, n, &src[0], &dst[0], nil, 0)
		return
	}
	qEvensGo(dst, src)
}

// qFactors makes factors of scales; see factorsGo.
func qFactors(v []float32, x, y float32) {
	n := len(v) &^ 7
	switch {
	case len(v) > 0 && cpu.HasAVX512():
		qFactorsAVX512(len(v), &v[0], x, y)
		return
	case n > 0 && cpu.HasAVX2():
		qFactorsAVX2(n, &v[0], x, y)
		v = v[n:]
	}
	factorsGo(v, x, y)
}

// qTerms computes the terms that a zero point adds to sums; see termsGo.
func qTerms(v, sums []int32, zero int32) {
	n := len(v) &^ 7
	sums = sums[:len(v)]
	switch {
	case len(v) > 0 && cpu.HasAVX512():
		qTermsAVX512(len(v), &sums[0], zero, &v[0])
		return
	case n > 0 && cpu.HasAVX2():
		qTermsAVX2(n, &sums[0], zero, &v[0])
		v, sums = v[n:], sums[n:]
	}
	termsGo(v, sums, zero)
}
