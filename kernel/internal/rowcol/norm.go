package rowcol

import (
	"math"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// The loops over rows of f32 that softmax, norms and reductions share. Sums are
// in f64, in lanes: element i goes to lane i modulo their number, and the lanes
// are added by halves, so that every level gives the same bits.

// lanesTotal adds the lanes, halving.
func lanesTotal(l []float64) float64 {
	for n := len(l) / 2; n > 0; n /= 2 {
		for i := range n {
			l[i] += l[i+n]
		}
	}
	return l[0]
}

// RowTotal returns the sum of x.
func RowTotal(level cpu.Level, x []float32) float64 {
	var acc [1]float64
	RowsTotal(level, acc[:], x, len(x), RowsAhead(len(x), 1))
	return acc[0]
}

// RowsTotal adds the sums of rows of n elements to acc, prefetching so many bytes
// ahead. sumLanes chains, halved at the end, are the order of every processor.
func RowsTotal(level cpu.Level, acc []float64, x []float32, n, ahead int) {
	x = x[:len(acc)*n]
	if len(x) == 0 || cpu.X86 && rowsSumFast(level, acc, x, n, ahead) {
		return
	}
	for r := range acc {
		var l [sumLanes]float64
		for i, v := range x[r*n:][:n] {
			l[i%sumLanes] += float64(v)
		}
		acc[r] += lanesTotal(l[:])
	}
}

// RowSquares returns the sum of the squares of x less mean.
func RowSquares(level cpu.Level, x []float32, mean float64) float64 {
	acc, means := [1]float64{}, [1]float64{mean}
	RowsSquares(level, acc[:], means[:], x, len(x), RowsAhead(len(x), 1))
	return acc[0]
}

// RowsSquares adds the sums of the squares of rows of n elements less their means
// to acc, prefetching so many bytes ahead. The order is that of RowsTotal.
func RowsSquares(level cpu.Level, acc, mean []float64, x []float32, n, ahead int) {
	x, mean = x[:len(acc)*n], mean[:len(acc)]
	if len(x) == 0 || cpu.X86 && rowsSquaresFast(level, acc, mean, x, n, ahead) {
		return
	}
	for r, m := range mean {
		var l [sumLanes]float64
		for i, v := range x[r*n:][:n] {
			d := float64(v) - m
			l[i%sumLanes] += float64(d * d)
		}
		acc[r] += lanesTotal(l[:])
	}
}

// RowNormed sets dst to (x-mean)*scale*weight + bias.
func RowNormed(level cpu.Level, dst, x, weight, bias []float32, mean, scale float64, stream bool) {
	high, low := InTwo(mean)
	AffineRow(level, dst, x, weight, bias, high, float32(scale), float32(-low*scale), stream)
}

// RowsNormed normalises rows of the size of weight by their mean and variance, and
// reports false where there is no assembly that measures one while it scales
// another.
func RowsNormed(level cpu.Level, dst, x, weight, bias []float32, eps float64, stream bool) bool {
	n := len(weight)
	if !scalesAhead(level, dst, n, stream) {
		return false
	}
	dst, bias = dst[:len(x)], bias[:n]
	ahead := RowsAhead(len(x), 1)
	sum := RowTotal(level, x[:n])
	for at := 0; at < len(x); at += n {
		row, next := x[at:at+n], x[at:at+n]
		if at+n < len(x) {
			next = x[at+n : at+2*n]
		}
		mean, squares := [1]float64{sum / float64(n)}, [1]float64{}
		RowsSquares(level, squares[:], mean[:], row, n, min(ahead, 4*n))
		scale := 1 / math.Sqrt(squares[0]/float64(n)+eps)
		high, low := InTwo(mean[0])
		sum = normRow(dst[at:at+n], row, weight, bias, high, float32(scale), float32(-low*scale), next, ahead, stream)
	}
	return true
}

// RowAffine sets dst to (x-mean)*scale + add. The product of an infinite factor and the
// low part of the mean is left out: infinity less infinity would be NaN everywhere.
func RowAffine(level cpu.Level, dst, x []float32, mean, scale, add float64, stream bool) {
	high, low := InTwo(mean)
	if !math.IsInf(float64(float32(scale)), 0) {
		add -= low * scale
	}
	AffineEach(level, dst, x, high, float32(scale), float32(add), stream)
}
