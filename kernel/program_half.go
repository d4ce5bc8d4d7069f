package kernel

import (
	"math"

	"github.com/gofx-dev/gofx/array"
)

// The 16-bit float conversions of package array, on raw bits.

func unpackF16(h uint16) float32  { return array.Half(h).Float32() }
func packF16(x float32) uint16    { return uint16(array.HalfFromFloat32(x)) }
func unpackBF16(h uint16) float32 { return array.BFloat(h).Float32() }
func packBF16(x float32) uint16   { return uint16(array.BFloatFromFloat32(x)) }

// oddF32 rounds to odd: an inexact result has its last bit set, so that a second
// rounding to f16 or bf16 gives what one rounding of x would.
func oddF32(x float64) float32 {
	r := float32(x)
	if x != x || float64(r) == x {
		return r
	}
	b := math.Float32bits(r)
	if math.Abs(float64(r)) > math.Abs(x) {
		b--
	}
	return math.Float32frombits(b | 1)
}
