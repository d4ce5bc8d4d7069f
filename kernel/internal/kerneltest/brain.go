package kerneltest

import (
	"math"
	"math/rand/v2"
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

// Unusual returns two operands of which some elements are infinities, NaN, floats that round to infinity, or zeros; or
// subnormal, which products may count as 0.
func Unusual(r *rand.Rand, a, b []int) (x, y *array.Array) {
	inf := math.Inf(1)
	kinds := [][]float64{{inf, -inf, math.NaN(), 0x1.ffffp127, -0x1.ffffp127}, {inf, -inf, 0, math.Copysign(0, -1)}, {1e-39, 1e-40, -1e-45}}
	kind := kinds[r.IntN(len(kinds))]
	x, y = ToArray(RandomRef(r, a), array.F32, r.IntN(2) == 0), ToArray(RandomRef(r, b), array.F32, r.IntN(2) == 0)
	for _, some := range []*array.Array{x, y} {
		for range r.IntN(4) {
			array.SetFloat64At(some, r.IntN(some.Len()), kind[r.IntN(len(kind))])
		}
	}
	return x, y
}

// RequireUnusual requires NaN and infinities where exact sums have them, and elsewhere sums of operands of RandomRef
// within some roundings.
func RequireUnusual(t testing.TB, exact RefArray, got *array.Array, what any) {
	t.Helper()
	for i, v := range ToRef(got).V {
		want := exact.V[i]
		if same := v == want || v != v && want != want; !same && !(math.Abs(v-want) <= 1e-4) {
			require.Failf(t, "a sum is another one", "%+v: element %d is %v, expected %v", what, i, v, want)
		}
	}
}

// Words fills words with two bf16 each, which it returns: those of the lower halves, then those of the upper ones.
func Words(r *rand.Rand, words []float32) (halves []float32) {
	n := len(words)
	halves = make([]float32, 2*n)
	for i := range halves {
		halves[i] = array.BFloatFromFloat32(float32(r.NormFloat64())).Float32()
	}
	for i := range words {
		words[i] = math.Float32frombits(math.Float32bits(halves[i])>>16 | math.Float32bits(halves[n+i]))
	}
	return halves
}
