package half

import (
	"unsafe"

	"github.com/gofx-dev/gofx/array"
)

// UnpackBlock is the weights of a step of the kernels.
const UnpackBlock = 32

// Float is the set of 16-bit float types.
type Float interface {
	array.Half | array.BFloat
	Float32() float32
}

// WidenOne returns the value of a 16-bit float.
func WidenOne(v uint16, brain bool) float32 {
	if brain {
		return array.BFloat(v).Float32()
	}
	return array.Half(v).Float32()
}

// NarrowOne returns the 16-bit float next to v.
func NarrowOne(v float32, brain bool) uint16 {
	if brain {
		return uint16(array.BFloatFromFloat32(v))
	}
	return uint16(array.HalfFromFloat32(v))
}

// WidenGo is the twin of widenF16AVX512 and its like.
func WidenGo(dst []float32, src []uint16, brain bool) {
	src = src[:len(dst)]
	if brain {
		for i, v := range src {
			dst[i] = array.BFloat(v).Float32()
		}
		return
	}
	for i, v := range src {
		dst[i] = array.Half(v).Float32()
	}
}

// NarrowGo is the twin of narrowF16AVX512 and its like, bit for bit.
func NarrowGo(dst []uint16, src []float32, brain bool) {
	src = src[:len(dst)]
	if brain {
		for i, v := range src {
			dst[i] = uint16(array.BFloatFromFloat32(v))
		}
		return
	}
	for i, v := range src {
		dst[i] = uint16(array.HalfFromFloat32(v))
	}
}

// Bits returns the bits of 16-bit floats.
func Bits[H Float](s []H) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// Unsigned returns the bits of signed bytes.
func Unsigned(s []int8) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// dotHalvesGo is the twin of dotF16AVX512 and its like, for k in [from, to): it
// adds to dst. Sums are in order of k here and spread over lanes there; both are
// within k·2^-23 of Σ|x·w|.
func dotHalvesGo(n, rows, from, to int, x []float32, ldx int, w []uint16, ldw int, brain bool, dst []float32, ldd int) {
	for c := range n {
		col := w[c*ldw:]
		for r := range rows {
			row, s := x[r*ldx:], dst[r*ldd+c]
			for p := from; p < to; p++ {
				s += float32(row[p] * WidenOne(col[p], brain))
			}
			dst[r*ldd+c] = s
		}
	}
}

// dotBytesGo is the twin of dotI8AVX512 and its like, as dotHalvesGo is of theirs.
func dotBytesGo(n, rows, from, to int, x []float32, ldx int, w []uint8, ldw int, signed bool, dst []float32, ldd int) {
	for c := range n {
		col := w[c*ldw:]
		for r := range rows {
			row, s := x[r*ldx:], dst[r*ldd+c]
			for p := from; p < to; p++ {
				s += float32(row[p] * widenByte(col[p], signed))
			}
			dst[r*ldd+c] = s
		}
	}
}

func widenByte(v uint8, signed bool) float32 {
	if signed {
		return float32(int8(v))
	}
	return float32(v)
}
