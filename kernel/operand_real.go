package kernel

import (
	"unsafe"

	"github.com/gofx-dev/gofx/array"
)

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// asFloat32 returns s, whose elements are float32, as what it is.
func asFloat32[T real](s []T) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// isFloat32 reports whether T is float32; the compiler knows for each instance.
func isFloat32[T real]() bool {
	var z T
	return unsafe.Sizeof(z) == 4
}

// real is the set of element types that floating-point kernels compute in;
// f16 and bf16 are computed in float32 and rounded once, when stored.
type real interface {
	float32 | float64
}

// integer is the set of integer element types.
type integer interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64
}

func fillSlice[T array.Elem](s []T, v T) {
	for i := range s {
		s[i] = v
	}
}

func fillBlock[T array.Elem](d []T, v T) {
	for k := range d {
		d[k] = v
	}
}
