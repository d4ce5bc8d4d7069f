package pool

import (
	"math"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
)

// findPlaces sets at to the index of each maximum of a plane that has no NaN: the first tap that
// equals it. Windows inside the input from left to right are searched a row of all of them at a
// time, from the last tap back, without a branch: where the maximum is, no processor foresees. A
// row of fewer than a vector's lanes is searched in Go, as is a plane whose places need more than 31 bits.
func findPlaces(l cpu.Level, g *geom.Spatial, at []int64, best, src []float32) {
	k, stride, width := g.Kernel[2], g.Stride[2], g.In[2]
	lo := min(g.Out[2], (g.PadLo[2]+stride-1)/stride)
	hi := max(lo, min(g.Out[2], (width+g.PadLo[2]-k)/stride+1))
	if width+g.PadLo[2] < k {
		hi = lo
	}
	for y := range g.Out[1] {
		row := y * g.Out[2]
		places, values := at[row:row+g.Out[2]], best[row:row+g.Out[2]]
		top := y*stride - g.PadLo[1]
		y0, y1 := max(top, 0), min(top+k, g.In[1])
		findClipped(g, places[:lo], values, src, y0, y1, -g.PadLo[2])
		findClipped(g, places[hi:], values[hi:], src, y0, y1, hi*stride-g.PadLo[2])
		if y0 >= y1 {
			findClipped(g, places[lo:hi], values[lo:], src, y0, y1, lo*stride-g.PadLo[2])
			continue
		}
		if hi-lo >= geom.WindowLanes(l) && g.InPlane <= math.MaxInt32 {
			from := y0*width + lo*stride - g.PadLo[2]
			placesOf(l, g, places[lo:hi], values[lo:hi], src[from:], y1-y0, from)
			continue
		}
		for r := y1 - 1; r >= y0; r-- {
			from := r*width + lo*stride - g.PadLo[2]
			if k == 2 {
				findTwo(places[lo:hi], values[lo:hi], src[from:(r+1)*width], stride, from)
			} else {
				findThree(places[lo:hi], values[lo:hi], src[from:(r+1)*width], stride, from)
			}
		}
	}
}

// findTwo sets places where one of two taps in a row, the first of which is number from of the
// plane, has the value. Inlined, its counters would lie in memory.
//
//go:noinline
func findTwo(places []int64, values, row []float32, stride, from int) {
	values = values[:len(places)]
	x, at := 0, int64(from)
	for i := range places {
		v, place, taps := values[i], places[i], (*[2]float32)(row[x:])
		if taps[1] == v {
			place = at + 1
		}
		if taps[0] == v {
			place = at
		}
		places[i] = place
		x, at = x+stride, at+int64(stride)
	}
}

// findThree is findTwo for three taps.
//
//go:noinline
func findThree(places []int64, values, row []float32, stride, from int) {
	values = values[:len(places)]
	x, at := 0, int64(from)
	for i := range places {
		v, place, taps := values[i], places[i], (*[3]float32)(row[x:])
		if taps[2] == v {
			place = at + 2
		}
		if taps[1] == v {
			place = at + 1
		}
		if taps[0] == v {
			place = at
		}
		places[i] = place
		x, at = x+stride, at+int64(stride)
	}
}

// findClipped sets places of windows that begin at x of rows [y0, y1) and may reach beyond the
// input. The index of an empty one is that of its first tap which is not before the input.
func findClipped(g *geom.Spatial, places []int64, values, src []float32, y0, y1, x int) {
	for i := range places {
		x0, x1 := max(x, 0), min(x+g.Kernel[2], g.In[2])
		place := y0*g.In[2] + x0
	search:
		for y := y0; y < y1; y++ {
			for at := x0; at < x1; at++ {
				if src[y*g.In[2]+at] == values[i] {
					place = y*g.In[2] + at
					break search
				}
			}
		}
		places[i] = int64(place)
		x += g.Stride[2]
	}
}
