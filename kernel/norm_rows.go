package kernel

import "math"

// The loops over rows of f32 that softmax, norms and reductions share. Sums are
// in f64, in rowLanes lanes, of long rows in rowWidth: element i goes to lane i
// modulo their number, and the lanes are added in a fixed order, so that every
// level gives the same bits.

const rowLanes = 16

var negInf32 = float32(math.Inf(-1))

// lanesTotal adds the lanes, halving.
func lanesTotal(l *[rowLanes]float64) float64 {
	for n := rowLanes / 2; n > 0; n /= 2 {
		for i := range n {
			l[i] += l[i+n]
		}
	}
	return l[0]
}

// rowTotal returns the sum of x.
func rowTotal(level cpuLevel, x []float32) float64 {
	if len(x) >= longLanes {
		return rowFold(level, foldSum, x, 0)
	}
	var l [rowLanes]float64
	n := rowSum(level, x, &l)
	for ; n+rowLanes <= len(x); n += rowLanes {
		for i, v := range x[n : n+rowLanes] {
			l[i&(rowLanes-1)] += float64(v)
		}
	}
	for i, v := range x[n:] {
		l[i] += float64(v)
	}
	return lanesTotal(&l)
}

// rowSquares returns the sum of the squares of x less mean.
func rowSquares(level cpuLevel, x []float32, mean float64) float64 {
	if len(x) >= longLanes {
		return rowFold(level, foldSquares, x, mean)
	}
	var l [rowLanes]float64
	n := rowDeviation(level, x, mean, &l)
	for i, v := range x[n:] {
		d := float64(v) - mean
		l[i&(rowLanes-1)] += float64(d * d)
	}
	return lanesTotal(&l)
}

// rowExp sets dst to exp(x-shift) and returns the sum before it is rounded.
func rowExp(level cpuLevel, dst, x []float32, shift float64) float64 {
	var l [rowLanes]float64
	n := rowExpSum(level, dst, x, shift, &l)
	if n > 0 && n < len(x) {
		// The last lanes run on a copy. They add exp(-inf) = 0 to the sums.
		var in, out [rowLanes]float32
		fillBlock(in[:], negInf32)
		copy(in[:], x[n:])
		rowExpSum(level, out[:], in[:], shift, &l)
		copy(dst[n:], out[:])
		return lanesTotal(&l)
	}
	// Converted a few at a time for the reason that twin32 gives.
	var t [rowLanes]float64
	for ; n < len(x); n += rowLanes {
		part := x[n:min(n+rowLanes, len(x))]
		for i, v := range part {
			t[i] = float64(v) - shift
		}
		for i := range part {
			t[i] = exp32(t[i])
			l[i] += t[i]
		}
		for i := range part {
			dst[n+i] = float32(t[i])
		}
	}
	return lanesTotal(&l)
}

// rowHigh returns the greatest element, the first one where that is NaN.
func rowHigh(level cpuLevel, x []float32) float32 {
	var l [rowLanes]float32
	fillBlock(l[:], x[0])
	n := rowMax(level, x, &l)
	high := x[0]
	for _, v := range l {
		if v > high {
			high = v
		}
	}
	for _, v := range x[n:] {
		if v > high {
			high = v
		}
	}
	return high
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
