package rowcol

import (
	"math"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// RowsSoftmax computes rows of n elements of f32.
func RowsSoftmax(level cpu.Level, dst, src []float32, n int, logs, stream bool) {
	dst = dst[:len(src)]
	if logs || !cpu.X86 || !rowsSoftmaxFast(level, dst, src, n, stream) {
		for at := 0; at < len(src); at += n {
			softmaxRow(level, dst[at:at+n], src[at:at+n], logs, stream)
		}
	}
	if stream {
		move.OrderStores()
	}
}

// softmaxRow computes a row of f32.
func softmaxRow(level cpu.Level, dst, src []float32, logs, stream bool) {
	high := RowExtreme(level, false, src)
	sum := RowExp(level, dst, src, float64(high))
	if logs {
		RowAffine(level, dst, src, float64(high), 1, -math.Log(sum), stream)
		return
	}
	AffineEach(level, dst, dst, 0, float32(1/sum), 0, false)
}

// RowExp sets dst to exp(x-shift) for x that are at most shift, an f32, and
// returns the sum.
func RowExp(level cpu.Level, dst, x []float32, shift float64) float64 {
	ExpShifted(level, dst, x, float32(shift))
	return RowTotal(level, dst)
}

// ExpShifted sets dst to exp(x-shift) for x that are at most shift, within two
// units in the last place: Cody and Waite's reduction and a polynomial.
func ExpShifted(level cpu.Level, dst, x []float32, shift float32) {
	dst = dst[:len(x)]
	if len(x) == 0 || cpu.X86 && expShiftedFast(level, dst, x, shift) {
		return
	}
	for i, v := range x {
		t := v - shift
		if t < vmath.ExpMin32 {
			t = vmath.ExpMin32
		}
		z := float32(t*vmath.Log2e32) + vmath.RoundMagic32
		k := z - vmath.RoundMagic32
		r := t - float32(k*vmath.Ln2Hi32)
		r -= float32(k * vmath.Ln2Lo32)
		p := float32(vmath.HornerSingle(vmath.ExpTail[:], r)*float32(r*r)) + r
		dst[i] = vmath.ScaleSingle(p+1, vmath.CountIn(z))
	}
}
