package quant

import "github.com/gofx-dev/gofx/kernel/internal/cpu"

// qAddGo is the twin of qAddAVX512.
func qAddGo(a, b []uint8, s *qSum, dst []uint8) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		x := float32(float32(int32(a[i]^s.flip)-s.zeroA) * s.scaleA)
		y := float32(float32(int32(b[i]^s.flip)-s.zeroB) * s.scaleB)
		dst[i] = uint8(clampRound(x+y, s.lo, s.hi, s.zero))
	}
}

// qMulGo is the twin of qMulAVX512.
func qMulGo(a, b []uint8, s *qSum, dst []uint8) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		p := (int32(a[i]^s.flip) - s.zeroA) * (int32(b[i]^s.flip) - s.zeroB)
		dst[i] = uint8(clampRound(float32(float32(p)*s.scaleA), s.lo, s.hi, s.zero))
	}
}

// quantizeGo is the twin of qQuantizeAVX512.
func quantizeGo(src []float32, scale, lo, hi float32, zero int32, dst []uint8) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = uint8(clampRound(v/scale, lo, hi, zero))
	}
}

// rescaleGo is the twin of qRescaleAVX512: bias = -zero·sums, by = scale·units.
func rescaleGo(sums []int32, units []float32, zero int32, scale float32, bias []int32, by []float32) {
	units, bias, by = units[:len(sums)], bias[:len(sums)], by[:len(sums)]
	for i, sum := range sums {
		bias[i] = -zero * sum
		by[i] = scale * units[i]
	}
}

// dequantizeGo is the twin of qDequantizeAVX512: zero is of the flipped bytes.
func dequantizeGo(dst []float32, src []uint8, flip uint8, scale float32, zero int32) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = float32(float32(int32(v^flip)-zero) * scale)
	}
}

// valueRangeGo returns the least and the greatest of 0 and the values; NaN is
// passed over. Four pairs of extremes are four chains of comparisons that do not
// wait for each other.
func valueRangeGo(src []float32) (lo, hi float32) {
	var l, h [4]float32
	for ; len(src) >= 4; src = src[4:] {
		for i, v := range (*[4]float32)(src) {
			if v < l[i] {
				l[i] = v
			}
			if v > h[i] {
				h[i] = v
			}
		}
	}
	for _, v := range src {
		if v < l[0] {
			l[0] = v
		}
		if v > h[0] {
			h[0] = v
		}
	}
	return min(l[0], l[1], l[2], l[3]), max(h[0], h[1], h[2], h[3])
}

// qLookupGo is the twin of qLookupVBMI; dst may be src.
func qLookupGo(dst, src, table []uint8) {
	t := (*[256]uint8)(table)
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = t[v]
	}
}

// spreadSpare is how many bytes after its result spread may write.
const spreadSpare = 64

// spreadGo is the twin of qSpreadAVX512: it writes each byte of src run times, and up to
// spreadSpare bytes after those.
func spreadGo(dst []uint8, run int, src []uint8) {
	for _, v := range src {
		wide := uint64(v) * 0x0101010101010101
		for i := 0; i < run; i += 8 {
			cpu.LittleEndian.PutUint64(dst[i:][:8], wide)
		}
		dst = dst[run:]
	}
}

// qMostGo is the twin of qMostAVX512: dst[i] is the greatest of src[i+step·t], t
// below count, 0 where count is 0; in and out are applied to bytes before and after.
func qMostGo(count, step int, src, dst []uint8, in, out uint8) {
	for i := range dst {
		v := uint8(0)
		for t := range count {
			v = max(v, src[i+t*step]^in)
		}
		dst[i] = v ^ out
	}
}

// qAddUpGo is the twin of qAddUpAVX512.
func qAddUpGo(acc []int32, src []uint8, flip uint8) {
	src = src[:len(acc)]
	for i, v := range src {
		acc[i] += int32(v ^ flip)
	}
}

// qTotalGo is the twin of qTotalsAVX512 for a row.
func qTotalGo(src []uint8, flip uint8) (sum int64) {
	for _, v := range src {
		sum += int64(v ^ flip)
	}
	return sum
}

// qEvensGo is the twin of qSplitVNNI for even elements alone.
func qEvensGo(dst, src []uint8) {
	for i := range dst {
		dst[i] = src[2*i]
	}
}

// transposeBytes sets dst[c·ldd+r] = src[r·lds+c] for rows by cols bytes.
func transposeBytes(rows, cols int, src []uint8, lds int, dst []uint8, ldd int) {
	if rows == 3 && ldd == 3 && cols > 0 {
		// Images of three colours.
		r, g, b := src[:cols], src[lds:lds+cols], src[2*lds:2*lds+cols]
		for i, v := range r {
			d := dst[3*i : 3*i+3 : 3*i+3]
			d[0], d[1], d[2] = v, g[i], b[i]
		}
		return
	}
	if rows < 8 || cols < 16 {
		for r := range rows {
			for c, v := range src[r*lds : r*lds+cols] {
				dst[c*ldd+r] = v
			}
		}
		return
	}
	// A strip of 32 columns at a time, so that the lines written stay in the
	// cache until they are full. The last block of each direction overlaps the
	// one before it.
	for c := 0; c < cols; c += 32 {
		blocks, rest := min(2, (cols-c)/16), cols-c
		for r := 0; r < rows; r += 8 {
			r = min(r, rows-8)
			transposeBlocks(blocks, src[r*lds+c:], lds, dst[c*ldd+r:], ldd)
			if rest < 32 && rest%16 != 0 {
				last := cols - 16
				transposeBlocks(1, src[r*lds+last:], lds, dst[last*ldd+r:], ldd)
			}
		}
	}
}

// transposeBlocksGo transposes n blocks of 8 rows by 16 columns, next to each
// other, eight by eight bytes at a time in registers.
func transposeBlocksGo(n int, src []uint8, lds int, dst []uint8, ldd int) {
	for b := 0; b < 2*n; b++ {
		var v [8]uint64
		for i := range v {
			v[i] = cpu.LittleEndian.Uint64(src[i*lds+8*b:])
		}
		swapBits(&v, 4, 32, 0x00000000ffffffff)
		swapBits(&v, 2, 16, 0x0000ffff0000ffff)
		swapBits(&v, 1, 8, 0x00ff00ff00ff00ff)
		for i, u := range v {
			cpu.LittleEndian.PutUint64(dst[(8*b+i)*ldd:], u)
		}
	}
}

// swapBits exchanges the upper part of word i and the lower one of word i+step.
func swapBits(v *[8]uint64, step int, shift uint, mask uint64) {
	for i := range v {
		if i&step == 0 {
			a, b := v[i], v[i+step]
			t := (a>>shift ^ b) & mask
			v[i], v[i+step] = a^t<<shift, b^t
		}
	}
}

// transposeWords sets dst[c·ldd+r] = src[r·cols+c] for rows by cols elements,
// eight columns at a time so that lines of both are used whole.
func transposeWords[T int32 | float32](rows, cols int, src, dst []T, ldd int) {
	for c := 0; c < cols; c += 8 {
		width := min(8, cols-c)
		for r := range rows {
			for i, v := range src[r*cols+c : r*cols+c+width] {
				dst[(c+i)*ldd+r] = v
			}
		}
	}
}
