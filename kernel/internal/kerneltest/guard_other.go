//go:build !linux

package kerneltest

import (
	"math/rand/v2"
	"testing"
)

// GuardedFloats returns n random floats; the memory around them is guarded on
// Linux only.
func GuardedFloats(_ *testing.T, r *rand.Rand, n int, _ bool) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(r.NormFloat64())
	}
	return s
}
