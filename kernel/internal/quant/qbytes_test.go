package quant

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// TestQBytesAgainstTheirTwins compares the routines of steps with their twins,
// at lengths around those of vectors and from every alignment.
func TestQBytesAgainstTheirTwins(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)), 1e-42, 0.5, 2.5, -1.5}
	for n := range 200 {
		at := r.IntN(5)
		a, b, table := kerneltest.QBytes(r, n+at)[at:], kerneltest.QBytes(r, n+at)[at:], kerneltest.QBytes(r, 256)
		floats := kerneltest.RandomFloats(r, n)
		for i := range floats {
			if floats[i] *= 100; r.IntN(6) == 0 {
				floats[i] = special[r.IntN(len(special))]
			}
		}
		s := qSum{flip: uint8(r.IntN(2) * 128), zeroA: int32(r.IntN(256)), zeroB: int32(r.IntN(256)),
			scaleA: float32(r.NormFloat64()), scaleB: float32(r.NormFloat64()), zero: int32(r.IntN(256) - 128)}
		s.lo, s.hi = float32(-128-s.zero), float32(127-s.zero)
		count, step := r.IntN(5), r.IntN(70)
		far := kerneltest.QBytes(r, n+count*step)
		low, high := valueRangeGo(floats)
		want := make([][]uint8, 5)
		for i := range want {
			want[i] = make([]uint8, n)
		}
		qAddGo(a, b, &s, want[0])
		qMulGo(a, b, &s, want[1])
		quantizeGo(floats, s.scaleA, s.lo, s.hi, s.zero, want[2])
		qLookupGo(want[3], a, table)
		qMostGo(count, step, far, want[4], s.flip, uint8(s.zeroA))
		plain := make([]float32, n)
		dequantizeGo(plain, a, s.flip, s.scaleA, s.zeroA)
		kerneltest.QLevels(t, func(level string) {
			got := make([]uint8, n)
			for i, f := range []func(){
				func() { qAddBytes(a, b, &s, got) },
				func() { qMulBytes(a, b, &s, got) },
				func() { quantize(floats, s.scaleA, s.lo, s.hi, s.zero, got) },
				func() { qLookup(got, a, table) },
				func() { qMost(count, step, far, got, s.flip, uint8(s.zeroA)) },
			} {
				f()
				require.Equal(t, want[i], got, "%s: %d of %d bytes", level, i, n)
			}
			copy(got, a)
			qLookup(got, got, table)
			require.Equal(t, want[3], got, "%s in place", level)
			back := make([]float32, n)
			dequantizeBytes(back, a, s.flip, s.scaleA, s.zeroA)
			require.Equal(t, plain, back, level)
			l, h := valueRange(floats)
			require.Equal(t, [2]float32{low, high}, [2]float32{l, h}, level)
			var totals [1]int64
			qTotals(totals[:], n, a, s.flip)
			require.Equal(t, qTotalGo(a, s.flip), totals[0], level)
			sums, added := make([]int32, n), make([]int32, n)
			qAddUpGo(sums, a, s.flip)
			qAddUp(added, a, s.flip)
			require.Equal(t, sums, added, level)
			half, evens := make([]uint8, (n+1)/2), make([]uint8, (n+1)/2)
			qEvensGo(half, a)
			qEvens(evens, a)
			require.Equal(t, half, evens, level)
		})
	}
}
