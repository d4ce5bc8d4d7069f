package kernel

import "math"

// The loops over rows of f32 that softmax, norms and reductions share. Sums are
// in f64, in lanes: element i goes to lane i modulo their number, and the lanes
// are added by halves, so that every level gives the same bits.

const sumLanes = 32

var negInf32 = float32(math.Inf(-1))

// lanesTotal adds the lanes, halving.
func lanesTotal(l []float64) float64 {
	for n := len(l) / 2; n > 0; n /= 2 {
		for i := range n {
			l[i] += l[i+n]
		}
	}
	return l[0]
}

// rowTotal returns the sum of x.
func rowTotal(level cpuLevel, x []float32) float64 {
	if len(x) == 0 {
		return 0
	}
	if s, ok := rowSumFast(level, x); ok {
		return s
	}
	var l [sumLanes]float64
	for i, v := range x {
		l[i%sumLanes] += float64(v)
	}
	return lanesTotal(l[:])
}

// rowSquares returns the sum of the squares of x less mean.
func rowSquares(level cpuLevel, x []float32, mean float64) float64 {
	if len(x) == 0 {
		return 0
	}
	if s, ok := rowSquaresFast(level, x, mean); ok {
		return s
	}
	var l [sumLanes]float64
	for i, v := range x {
		d := float64(v) - mean
		l[i%sumLanes] += float64(d * d)
	}
	return lanesTotal(l[:])
}

// rowNormed sets dst to (x-mean)*scale*weight + bias.
func rowNormed(level cpuLevel, dst, x, weight, bias []float32, mean, scale float64, stream bool) {
	high, low := inTwo(mean)
	affineRow(level, dst, x, weight, bias, high, float32(scale), float32(-low*scale), stream)
}

// rowAffine sets dst to (x-mean)*scale + add.
func rowAffine(level cpuLevel, dst, x []float32, mean, scale, add float64, stream bool) {
	high, low := inTwo(mean)
	affineEach(level, dst, x, high, float32(scale), float32(add-low*scale), stream)
}
