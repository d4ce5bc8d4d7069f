package random

import (
	"math"

	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// Multipliers and key increments of Philox 4x32.
//
//gofx:kernel
const (
	PhiloxM0 = 0xD2511F53
	PhiloxM1 = 0xCD9E8D57
	PhiloxW0 = 0x9E3779B9
	PhiloxW1 = 0xBB67AE85
	// PhiloxRounds is the number of rounds that gofx uses.
	PhiloxRounds = 10
)

// Philox4x32 returns the four random words of a counter under a key: the
// counter-based generator Philox4x32-10 of Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). Equal arguments give
// equal words on every target; package op/expr has the same function as a DAG.
//
//gofx:kernel
func Philox4x32(ctr [4]uint32, key [2]uint32) [4]uint32 {
	for r := range PhiloxRounds {
		if r > 0 {
			key[0] += PhiloxW0
			key[1] += PhiloxW1
		}
		p0, p1 := uint64(PhiloxM0)*uint64(ctr[0]), uint64(PhiloxM1)*uint64(ctr[2])
		ctr = [4]uint32{
			uint32(p1>>32) ^ ctr[1] ^ key[0], uint32(p1),
			uint32(p0>>32) ^ ctr[3] ^ key[1], uint32(p0),
		}
	}
	return ctr
}

// UniformF32 maps a random word to [0, 1): its upper 24 bits times 2**-24.
//
//gofx:kernel
func UniformF32(word uint32) float32 { return float32(word>>8) * 0x1p-24 }

// NormalF32 maps two random words to two independent standard normal values, by
// Box and Muller's transformation (1958) in f32. The largest magnitude is 6.77.
//
//gofx:kernel
func NormalF32(a, b uint32) (float32, float32) {
	// In (0, 1], so that the logarithm is finite.
	u := float32(float32(a)*0x1p-32) + 0x1p-33
	r := float32(math.Sqrt(float64(-2 * vmath.LogSingle(u))))
	t := UniformF32(b) * float32(2*math.Pi)
	return r * vmath.CosSingle(t), r * vmath.SinSingle(t)
}
