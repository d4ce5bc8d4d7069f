package operand

import (
	"unsafe"

	"github.com/gofx-dev/gofx/array"
)

// RoundUp returns the least multiple of to that is not below n.
func RoundUp(n, to int) int { return (n + to - 1) / to * to }

// AsBytes returns the memory of s.
func AsBytes[T array.Elem](s []T) []byte {
	var z T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(z)))
}

// AsFloat32 returns s, whose elements are float32, as a slice of float32.
func AsFloat32[T Real](s []T) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// IsFloat32 reports whether T is float32; the compiler knows for each instance.
func IsFloat32[T Real]() bool {
	var z T
	return unsafe.Sizeof(z) == 4
}

// Real is the set of element types that floating-point kernels compute in;
// f16 and bf16 are computed in float32 and rounded once, when stored.
type Real interface {
	float32 | float64
}

// Integer is the set of integer element types.
type Integer interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64
}

// FillSlice sets all elements to v.
func FillSlice[T array.Elem](s []T, v T) {
	for i := range s {
		s[i] = v
	}
}

// FillBlock sets all elements of a block to v. It copies the elements already set,
// twice as many each time, because Go stores an element at a time and copies
// vectors.
func FillBlock[T array.Elem](d []T, v T) {
	done := min(len(d), 16)
	for k := range d[:done] {
		d[k] = v
	}
	for done < len(d) {
		done += copy(d[done:], d[:done])
	}
}
