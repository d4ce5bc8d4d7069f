package half

import "github.com/gofx-dev/gofx/kernel/internal/cpu"

// Widen converts 16-bit floats.
func Widen(dst []float32, src []uint16, brain bool) {
	src = src[:len(dst)]
	n := 0
	switch {
	case cpu.HasAVX512() && len(dst) >= 16:
		n = len(dst) &^ 15
		if brain {
			widenBF16AVX512(n/16, &src[0], &dst[0])
		} else {
			widenF16AVX512(n/16, &src[0], &dst[0])
		}
	case cpu.HasAVX2() && len(dst) >= 8:
		n = len(dst) &^ 7
		if brain {
			widenBF16AVX2(n/8, &src[0], &dst[0])
		} else {
			widenF16AVX2(n/8, &src[0], &dst[0])
		}
	}
	WidenGo(dst[n:], src[n:], brain)
}

// Narrow rounds floats to 16 bits.
func Narrow(dst []uint16, src []float32, brain bool) {
	src = src[:len(dst)]
	n := 0
	switch {
	case cpu.HasAVX512() && len(dst) >= 16:
		n = len(dst) &^ 15
		if brain {
			narrowBF16AVX512(n/16, &src[0], &dst[0])
		} else {
			narrowF16AVX512(n/16, &src[0], &dst[0])
		}
	case cpu.HasAVX2() && len(dst) >= 8:
		n = len(dst) &^ 7
		if brain {
			narrowBF16AVX2(n/8, &src[0], &dst[0])
		} else {
			narrowF16AVX2(n/8, &src[0], &dst[0])
		}
	}
	NarrowGo(dst[n:], src[n:], brain)
}

// DotHalves computes dst[r][c] = Σ x[r][k]·w[c][k] for n columns and 1 to 4 rows.
func DotHalves(n, rows, k int, x []float32, ldx int, w []uint16, ldw int, brain bool, dst []float32, ldd int) {
	blocks := k / UnpackBlock
	switch {
	case !cpu.HasAVX2() || blocks == 0:
		blocks = 0
		for r := range rows {
			clear(dst[r*ldd : r*ldd+n])
		}
	case cpu.HasAVX512() && brain:
		dotBF16AVX512(n, rows, blocks, &x[0], ldx, &w[0], ldw, &dst[0], ldd)
	case cpu.HasAVX512():
		dotF16AVX512(n, rows, blocks, &x[0], ldx, &w[0], ldw, &dst[0], ldd)
	case brain:
		dotBF16AVX2(n, rows, blocks, &x[0], ldx, &w[0], ldw, &dst[0], ldd)
	default:
		dotF16AVX2(n, rows, blocks, &x[0], ldx, &w[0], ldw, &dst[0], ldd)
	}
	if from := blocks * UnpackBlock; from < k {
		dotHalvesGo(n, rows, from, k, x, ldx, w, ldw, brain, dst, ldd)
	}
}

// farAhead is how far on, in bytes, weights are asked for: what memory sends in the time that it takes to
// answer, twice over. The second cache takes them, as the first one has room for fewer requests than
// that. Asked for nearer, or by the processor alone, they come at half the rate.
const farAhead = 16384

// columnsAhead is farAhead in whole columns of so many bytes: what is asked for are the same rows of a
// column further on.
func columnsAhead(column int) int { return max(1, farAhead/max(column, 1)) * column }

// ByteDotRows returns how many rows one DotBytes takes at most.
func ByteDotRows() int {
	if cpu.HasAVX512() {
		return 8
	}
	return 4
}

// DotBytes computes dst[r][c] = Σ x[r][k]·w[c][k] for n columns of bytes, signed ones or
// not, and 1 to ByteDotRows rows.
func DotBytes(n, rows, k int, x []float32, ldx int, w []uint8, ldw int, signed bool, dst []float32, ldd int) {
	lanes, wide := 8, cpu.HasAVX512()
	if wide {
		lanes = 16
	}
	blocks, ahead := k/(4*lanes), columnsAhead(ldw)
	switch {
	case !cpu.HasAVX2() || blocks == 0 || n == 0:
		blocks = 0
		for r := range rows {
			clear(dst[r*ldd : r*ldd+n])
		}
	case wide && signed:
		dotI8AVX512(n, rows, blocks, &x[0], ldx, &w[0], ldw, ahead, &dst[0], ldd)
	case wide:
		dotU8AVX512(n, rows, blocks, &x[0], ldx, &w[0], ldw, ahead, &dst[0], ldd)
	case signed:
		dotI8AVX2(n, rows, blocks, &x[0], ldx, &w[0], ldw, ahead, &dst[0], ldd)
	default:
		dotU8AVX2(n, rows, blocks, &x[0], ldx, &w[0], ldw, ahead, &dst[0], ldd)
	}
	if from := blocks * 4 * lanes; from < k {
		dotBytesGo(n, rows, from, k, x, ldx, w, ldw, signed, dst, ldd)
	}
}

// WidenBytes converts bytes, signed ones or not.
func WidenBytes(dst []float32, src []uint8, signed bool) {
	src = src[:len(dst)]
	n := 0
	switch {
	case cpu.HasAVX512() && len(dst) >= 16:
		n = len(dst) &^ 15
		if signed {
			widenI8AVX512(n/16, &src[0], &dst[0])
		} else {
			widenU8AVX512(n/16, &src[0], &dst[0])
		}
	case cpu.HasAVX2() && len(dst) >= 8:
		n = len(dst) &^ 7
		if signed {
			widenI8AVX2(n/8, &src[0], &dst[0])
		} else {
			widenU8AVX2(n/8, &src[0], &dst[0])
		}
	}
	for i, v := range src[n:] {
		dst[n+i] = widenByte(v, signed)
	}
}
