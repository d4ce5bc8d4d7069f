package kernel

import "math"

// rowsSoftmax computes rows of n elements of f32.
func rowsSoftmax(level cpuLevel, dst, src []float32, n int, logs, stream bool) {
	dst = dst[:len(src)]
	if logs || !rowsSoftmaxFast(level, dst, src, n, stream) {
		for at := 0; at < len(src); at += n {
			softmaxRow(level, dst[at:at+n], src[at:at+n], logs, stream)
		}
	}
	if stream {
		orderStores()
	}
}

// softmaxRow computes a row of f32.
func softmaxRow(level cpuLevel, dst, src []float32, logs, stream bool) {
	high := rowExtreme(level, false, src)
	sum := rowExp(level, dst, src, float64(high))
	if logs {
		rowAffine(level, dst, src, float64(high)+math.Log(sum), 1, 0, stream)
		return
	}
	affineEach(level, dst, dst, 0, float32(1/sum), 0, false)
}

// rowExp sets dst to exp(x-shift) for x that are at most shift, an f32, and
// returns the sum.
func rowExp(level cpuLevel, dst, x []float32, shift float64) float64 {
	expShifted(level, dst, x, float32(shift))
	return rowTotal(level, dst)
}

// expShifted sets dst to exp(x-shift) for x that are at most shift, within two
// units in the last place: Cody and Waite's reduction and a polynomial.
func expShifted(level cpuLevel, dst, x []float32, shift float32) {
	dst = dst[:len(x)]
	if len(x) == 0 || expShiftedFast(level, dst, x, shift) {
		return
	}
	for i, v := range x {
		t := v - shift
		if t < expMin32 {
			t = expMin32
		}
		z := float32(t*log2e32) + roundMagic32
		k := z - roundMagic32
		r := t - float32(k*ln2Hi32)
		r -= float32(k * ln2Lo32)
		p := float32(hornerSingle(expTail[:], r)*float32(r*r)) + r
		dst[i] = scaleSingle(p+1, countIn(z))
	}
}
