package kerneltest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

// Brained returns the values of a rounded to bf16, as products of bf16 read them.
func Brained(a *array.Array) RefArray {
	return ToRef(array.Cast(array.Cast(a, array.F32), array.BF16))
}

// RequireBrainSums requires that results are within the bound of sums of k products of rounded
// operands: exact has the sums, size those of magnitudes; most is the greatest magnitude of each
// operand, added up.
func RequireBrainSums(t testing.TB, exact, size RefArray, k int, most float64, got *array.Array) {
	t.Helper()
	for i, v := range ToRef(got).V {
		bound := float64(k+2)*0x1p-23*size.V[i] + float64(k)*0x1p-126*(1+most)
		if d := math.Abs(v - exact.V[i]); !(d <= bound) {
			require.Failf(t, "a sum is beyond its bound", "element %d is %v, expected %v within %v", i, v, exact.V[i], bound)
		}
	}
}

// Most returns the greatest magnitude.
func (x RefArray) Most() float64 {
	most := 0.0
	for _, v := range x.V {
		most = max(most, math.Abs(v))
	}
	return most
}
