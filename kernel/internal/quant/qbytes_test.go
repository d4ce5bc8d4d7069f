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

// TestQuantizeRoundsQuotients takes floats next to where a quotient rounds to another byte, or two
// of them would, and scales of all kinds: a quotient is rounded to f32 first.
func TestQuantizeRoundsQuotients(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	scales := []float32{1, 0.5, 1.0 / 255, 3, 0x1p-60, 0x1p60, 0x1.8p-61, 0x1.fffffep59, 0x1.fffffep-7, 0x1p-140, 0x1p126, 0x1p-127, 0x1.8p120,
		math.SmallestNonzeroFloat32, math.MaxFloat32, float32(math.Inf(1)), float32(math.NaN()), 0, -0.1}
	for len(scales) < 400 {
		scales = append(scales, math.Float32frombits(uint32(67+r.IntN(120))<<23|r.Uint32()>>9))
	}
	for _, scale := range scales {
		zero := int32(r.IntN(256))
		lo, hi := float32(-zero), float32(255-zero)
		floats := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32}
		for q := float32(-257.5); q <= 257.5; q += 0.5 {
			x := float32(q * scale)
			for range 3 {
				x = math.Nextafter32(x, float32(math.Inf(-1)))
			}
			for range 7 {
				floats = append(floats, x)
				x = math.Nextafter32(x, float32(math.Inf(1)))
			}
		}
		want := make([]uint8, len(floats))
		quantizeGo(floats, scale, lo, hi, zero, want)
		kerneltest.QLevels(t, func(level string) {
			got := make([]uint8, len(floats))
			quantize(floats, scale, lo, hi, zero, got)
			require.Equal(t, want, got, "%s: scale %g", level, scale)
		})
	}
}
