package pjrt

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
)

// elementTypes are the numbers of PJRT_Buffer_Type. On the host every element takes a
// whole byte or more in PJRT as in package array, those of 4 and 2 bits included.
var elementTypes = map[array.DType]int32{
	array.Bool: 1, array.I8: 2, array.I16: 3, array.I32: 4, array.I64: 5, array.U8: 6, array.U16: 7, array.U32: 8, array.U64: 9,
	array.F16: 10, array.F32: 11, array.F64: 12, array.BF16: 13,
	array.F8E5M2: 16, array.F8E4M3FN: 17, array.F8E5M2FNUZ: 19, array.F8E4M3FNUZ: 20,
	array.I4: 21, array.U4: 22, array.I2: 24, array.U2: 25, array.F8E8M0FNU: 28, array.F4E2M1FN: 29,
}

// dtypeOf is the inverse of elementTypes; array.Invalid for types that package array does
// not have, such as complex numbers.
func dtypeOf(kind int32) array.DType {
	for d, k := range elementTypes {
		if k == kind {
			return d
		}
	}
	return array.Invalid
}

// shapeOf converts dimensions that a plugin gives; false for none that an array can have.
func shapeOf(dims []int64) ([]int, bool) {
	shape := make([]int, len(dims))
	for i, d := range dims {
		shape[i] = int(d)
		if d < 0 || int64(shape[i]) != d {
			return nil, false
		}
	}
	_, ok := array.NumElems(shape)
	return shape, ok
}

func dimsOf(shape []int) []int64 {
	dims := make([]int64, len(shape))
	for i, d := range shape {
		dims[i] = int64(d)
	}
	return dims
}

// plural is "1 device", "2 devices".
func plural(n int, what string) string {
	s := strconv.Itoa(n) + " " + what
	if n != 1 {
		s += "s"
	}
	return s
}
