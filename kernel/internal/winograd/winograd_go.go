package winograd

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
)

// The points, with 0 and infinity, at which F(4x4,3x3) evaluates its polynomials.
// Their few bits and nearness to 1 keep rounding errors small: a third of those
// of 1 and 2. internal/generators/asmgen/winograd has them as well.
const winogradA, winogradB = 0.625, 1.5

// The products of the points that the transforms multiply with, all exact.
const (
	winogradA2  = winogradA * winogradA
	winogradB2  = winogradB * winogradB
	winogradA3  = winogradA * winogradA2
	winogradB3  = winogradB * winogradB2
	winogradSum = winogradA2 + winogradB2
	winogradAll = winogradA2 * winogradB2
)

// winogradFilter returns the matrix that takes three taps of a filter to the
// positions of F(e,3).
func winogradFilter(e int) [][3]float64 {
	if e == 2 {
		return [][3]float64{{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}}
	}
	const na, nb = 2 * winogradA2 * (winogradA2 - winogradB2), 2 * winogradB2 * (winogradB2 - winogradA2)
	return [][3]float64{{1 / winogradAll, 0, 0},
		{1 / na, winogradA / na, winogradA2 / na}, {1 / na, -winogradA / na, winogradA2 / na},
		{1 / nb, winogradB / nb, winogradB2 / nb}, {1 / nb, -winogradB / nb, winogradB2 / nb}, {0, 0, 1}}
}

// winogradFilterGo is the twin of the assembly: it transforms the filters in the lanes of
// src, nine taps a channel, in float64, and rounds once.
func winogradFilterGo(e, lanes, chans int, dst []float32, ps int, src []float32) {
	g, t := winogradFilter(e), e+2
	for i := range chans * lanes {
		at := src[i/lanes*9*lanes+i%lanes:]
		tap := func(i int) float64 { return float64(at[i*lanes]) }
		for x := range t {
			var along [3]float64
			for y := range along {
				along[y] = combined(g[x], tap(3*y), tap(3*y+1), tap(3*y+2))
			}
			for y := range t {
				dst[(y*t+x)*ps+i] = float32(combined(g[y], along[0], along[1], along[2]))
			}
		}
	}
}

// combined is the sum of three numbers times those of a row of the matrix, without those
// times zero.
func combined(row [3]float64, a, b, c float64) float64 {
	switch {
	case row[1] != 0:
		return float64(float64(a*row[0])+float64(b*row[1])) + float64(c*row[2])
	case row[0] != 0:
		return a * row[0]
	}
	return c * row[2]
}

// winogradIn transforms t = e+2 inputs, step apart, in place.
func winogradIn(e int, x []float32, step int) {
	at := func(i int) float32 { return x[i*step] }
	if e == 2 {
		x0, x1, x2, x3 := at(0), at(1), at(2), at(3)
		x[0], x[step], x[2*step], x[3*step] = x0-x2, x1+x2, x2-x1, x3-x1
		return
	}
	x0, x1, x2, x3, x4, x5 := at(0), at(1), at(2), at(3), at(4), at(5)
	ea, oa := x4-float32(winogradB2*x2), float32(winogradA*(x3-float32(winogradB2*x1)))
	eb, ob := x4-float32(winogradA2*x2), float32(winogradB*(x3-float32(winogradA2*x1)))
	x[0] = (x4 - float32(winogradSum*x2)) + float32(winogradAll*x0)
	x[step], x[2*step], x[3*step], x[4*step] = ea+oa, ea-oa, eb+ob, eb-ob
	x[5*step] = (x5 - float32(winogradSum*x3)) + float32(winogradAll*x1)
}

// winogradOut transforms t sums, step apart, to e outputs in place.
func winogradOut(e int, m []float32, step int) {
	at := func(i int) float32 { return m[i*step] }
	if e == 2 {
		m0, m1, m2, m3 := at(0), at(1), at(2), at(3)
		m[0], m[step] = (m0+m1)+m2, (m1-m2)+m3
		return
	}
	sa, da, sb, db := at(1)+at(2), at(1)-at(2), at(3)+at(4), at(3)-at(4)
	m[0] = at(0) + (sa + sb)
	m[step] = float32(winogradA*da) + float32(winogradB*db)
	m[2*step] = float32(winogradA2*sa) + float32(winogradB2*sb)
	m[3*step] = (float32(winogradA3*da) + float32(winogradB3*db)) + at(5)
}

// winogradInputGo is the twin of the assembly.
func winogradInputGo(e, tiles int, dst []float32, ps int, src []float32, plane, row int) {
	t := e + 2
	var patch [36]float32
	for i := range tiles {
		for x := range t {
			for y := range t {
				patch[y*t+x] = src[(e*x+y%e)*plane+y/e*row+i]
			}
		}
		for x := range t {
			winogradIn(e, patch[x:], t)
		}
		for y := range t {
			winogradIn(e, patch[y*t:], 1)
		}
		for p, v := range patch[:t*t] {
			dst[p*ps+i] = v
		}
	}
}

// winogradOutputGo is the twin of the assembly; nr is the width of a panel.
func winogradOutputGo(e, nr, rows, tiles int, dst, src []float32, ps int) {
	t := e + 2
	var sums [36]float32
	for r := range rows {
		for i := range tiles {
			for p := range sums[:t*t] {
				sums[p] = src[p*ps+r*nr+i]
			}
			for x := range t {
				winogradOut(e, sums[x:], t)
			}
			for y := range e {
				winogradOut(e, sums[y*t:], 1)
				copy(dst[(r*e+y)*nr*e+i*e:][:e], sums[y*t:])
			}
		}
	}
}

// winogradSplitGo is the twin of the assembly.
func winogradSplitGo(e, rows, first, from, to int, dst []float32, plane, ldd int, src []float32, lds, pad, width int) {
	for y := first; y < first+rows; y++ {
		row := src[(y-first)*lds:]
		for x := range e + 2 {
			at := (e*x+y%e)*plane + y/e*ldd
			for t := from; t < to; t++ {
				dst[at+t] = 0
				if i := e*t + x - pad; i >= 0 && i < width {
					dst[at+t] = row[i]
				}
			}
		}
	}
}

// winogradStoreGo is the twin of the assembly. The level is that of the epilogue.
func winogradStoreGo(l cpu.Level, a *winogradStore) {
	n := (a.chans-1)*a.dstChan + (a.rows-1)*a.dstRow + a.cols
	dst := unsafe.Slice(a.dst, n)
	src := unsafe.Slice(a.src, (a.chans-1)*a.srcChan+(a.rows-1)*a.srcRow+a.cols)
	e := gemm.TileEpilogue{Lo: a.lo, Hi: a.hi, Ldr: a.dstRow}
	for c := range a.chans {
		at := c * a.dstChan
		if a.scale != nil {
			e.ScaleRow = &unsafe.Slice(a.scale, a.chans)[c]
		}
		if a.bias != nil {
			e.BiasRow = &unsafe.Slice(a.bias, a.chans)[c]
		}
		for y := range a.rows {
			row := dst[at+y*a.dstRow:][:a.cols]
			copy(row, src[c*a.srcChan+y*a.srcRow:])
			if a.residual != nil {
				e.Residual = &unsafe.Slice(a.residual, n)[at+y*a.dstRow]
			}
			gemm.EpilogueTile(l, 1, a.cols, row, a.cols, &e)
		}
	}
}
