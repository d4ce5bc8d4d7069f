package quant

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

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

// qTotal returns the sum of bytes; see qTotalGo.
func qTotal(src []uint8, flip uint8) int64 {
	var sums [8]int64
	n := 0
	if n = len(src); n > 0 && cpu.HasAVX512() {
		qTotalAVX512(n, &src[0], fours(flip), &sums[0])
	} else if n = len(src) &^ 31; n > 0 && cpu.HasAVX2() {
		qTotalAVX2(n, &src[0], fours(flip), &sums[0])
	} else {
		n = 0
	}
	total := qTotalGo(src[n:], flip)
	for _, s := range sums {
		total += s
	}
	return total
}
