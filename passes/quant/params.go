package quant

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

// byteRange returns the least and the greatest value of u8 and i8.
func byteRange(d array.DType) (lo, hi float64) {
	if d == array.I8 {
		return -128, 127
	}
	return 0, 255
}

// parameters returns scale and zero point for a range that holds 0. Affine: the
// range is all that the element type has. Symmetric: the zero point is 0 of i8 and
// 128 of u8, and the larger end is 127 steps from it.
func parameters(lo, hi float64, d array.DType, sym Symmetry) (scale float32, zero int) {
	least, most := byteRange(d)
	if sym == Symmetric {
		return step(max(-lo, hi) / 127), int(math.Ceil((least + most) / 2))
	}
	return affine(lo, hi, least, most)
}

func affine(lo, hi, least, most float64) (scale float32, zero int) {
	scale = step((hi - lo) / (most - least))
	return scale, int(min(max(math.RoundToEven(least-lo/float64(scale)), least), most))
}

// step returns a scale that is none of 0, infinity and what is too small to divide by.
func step(s float64) float32 {
	const smallest = 0x1p-126
	if s == 0 {
		return 1
	}
	return float32(min(max(s, smallest), math.MaxFloat32))
}

// fixedParameters returns scale and zero point for a range that an operator fixes:
// 256 steps from its lower end on, so that both are exact. 1/256 and 0 for what lies
// from 0 to 1, 1/128 and 128 for what lies from -1 to 1.
func fixedParameters(r op.Range, d array.DType, sym Symmetry) (scale float32, zero int) {
	if sym == Symmetric {
		return parameters(min(r.Lo, 0), max(r.Hi, 0), d, sym)
	}
	least, _ := byteRange(d)
	s := (r.Hi - r.Lo) / 256
	return float32(s), int(least - r.Lo/s)
}

// zeroArray returns a zero point as an array of its type.
func zeroArray(zero int, d array.DType) *array.Array {
	if d == array.I8 {
		return array.Scalar(int8(zero))
	}
	return array.Scalar(uint8(zero))
}
