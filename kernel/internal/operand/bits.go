package operand

import (
	"math"

	"github.com/gofx-dev/gofx/array"
)

// ValueBits returns the bits of v as an element of type d: floats round to
// nearest even, integers truncate, and bool is v != 0.
func ValueBits(d array.DType, v float64) uint64 {
	switch d {
	case array.F32:
		return uint64(math.Float32bits(float32(v)))
	case array.F64:
		return math.Float64bits(v)
	case array.F16:
		return uint64(array.HalfFromFloat64(v))
	case array.BF16:
		return uint64(array.BFloatFromFloat64(v))
	case array.Bool:
		if v != 0 {
			return 1
		}
		return 0
	case array.U64:
		if v >= 1<<63 {
			return uint64(v-1<<63) + 1<<63
		}
	}
	return uint64(int64(v))
}
