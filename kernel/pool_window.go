package kernel

import (
	"math"

	"github.com/gofx-dev/gofx/array"
)

//go:generate go run -C ../internal/asmgen ./pool

// poolable reports whether a pool has the form that there is assembly for,
// whatever the processor: square windows of two or three over planes.
func poolable(g *spatial) bool {
	k := g.kernel[2]
	return (k == 2 || k == 3) && slidable(g)
}

// poolScratch is the scratch of a pool's plan, on every machine.
func poolScratch(out *array.Array, g *spatial, counts bool) int {
	if !poolable(g) || out.DType() != array.F32 && !isHalf(out.DType()) {
		return 0
	}
	return scratchSize(max(windowPlanLen(levelAVX2, g, counts), windowPlanLen(levelAVX512, g, counts)), 8)
}

// maxWindowsJob is maxPoolJob by assembly, of values alone.
type maxWindowsJob struct {
	maxPoolJob[float32]
	level cpuLevel
	plan  windowPlan
}

// maxCall is a plane to take maxima of. The assembly knows its layout.
type maxCall struct {
	windowCall
	nan  uint32 // not zero after the call when there was a NaN
	fill float32
}

func maxWindows(w *Workspace, g spatial, dst, src []float32) {
	if len(dst) == 0 {
		return
	}
	mark := w.Mark()
	j := takeJob[maxWindowsJob](w)
	*j = maxWindowsJob{maxPoolJob: maxPoolJob[float32]{spatial: g, dst: dst, src: src}, level: cpu.level}
	j.plan = newWindowPlan(j.level, &g, false, Scratch[int64](w, windowPlanLen(j.level, &g, false)))
	w.Parallel(len(dst)/g.outPlane, max(1, simdPack/(g.outPlane*g.taps)), j)
	putJob(w, j)
	w.Release(mark)
}

// Do computes planes [lo, hi). Those with a NaN are computed in Go.
func (j *maxWindowsJob) Do(lo, hi int) {
	c := maxCall{windowCall: j.plan.call(&j.spatial), fill: float32(math.Inf(-1))}
	for i := lo; i < hi; i++ {
		c.src = &j.src[i*j.inPlane : (i+1)*j.inPlane][0]
		c.dst = &j.dst[i*j.outPlane : (i+1)*j.outPlane][0]
		c.run(j.level, &j.spatial)
		if c.nan != 0 {
			j.maxPoolJob.Do(i, i+1)
		}
	}
}

// avgWindowsJob is avgPoolJob by assembly, with the same result.
type avgWindowsJob struct {
	spatial
	dst, src []float32
	level    cpuLevel
	plan     windowPlan
}

func avgWindows(w *Workspace, p *avgPoolJob[float32]) {
	mark := w.Mark()
	j := takeJob[avgWindowsJob](w)
	*j = avgWindowsJob{spatial: p.spatial, dst: p.dst, src: p.src, level: cpu.level}
	j.plan = newWindowPlan(j.level, &j.spatial, true, Scratch[int64](w, windowPlanLen(j.level, &j.spatial, true)))
	setCounts(&j.plan, j.level, &j.spatial, p)
	w.Parallel(len(j.dst)/j.outPlane, max(1, simdPack/(j.outPlane*j.taps)), j)
	putJob(w, j)
	w.Release(mark)
}

// Do computes planes [lo, hi).
func (j *avgWindowsJob) Do(lo, hi int) {
	c := j.plan.call(&j.spatial)
	for i := lo; i < hi; i++ {
		c.src = &j.src[i*j.inPlane : (i+1)*j.inPlane][0]
		c.dst = &j.dst[i*j.outPlane : (i+1)*j.outPlane][0]
		averageWindows(&c, j.level, &j.spatial)
	}
}

// count returns the factor of dimension d in the divisor of output i along it.
func (j *avgPoolJob[T]) count(d, i int) int {
	from := i*j.stride[d] - j.padLo[d]
	to := min(from+j.kernel[d], j.end[d])
	switch {
	case j.divisor != 0 && d == 1:
		return j.divisor
	case j.divisor != 0:
		return 1
	case !j.include:
		from, to = max(from, 0), min(to, j.in[d])
	}
	return max(to-from, 1) // an empty window has the sum 0
}

// meanRows is the number of planes that meanPlanes takes together.
const meanRows = 4

// meanPlanes stores the mean of each plane of n elements of src in dst.
func meanPlanes(l cpuLevel, dst, src []float32, n int) {
	src = src[:len(dst)*n]
	for ; len(dst) >= meanRows; dst, src = dst[meanRows:], src[meanRows*n:] {
		meanOfRows(l, n, src, n, (*[meanRows]float32)(dst))
	}
	for i := range dst {
		var same [meanRows]float32
		meanOfRows(l, n, src[i*n:], 0, &same)
		dst[i] = same[0]
	}
}

// setCounts gives a plan with counts the divisor of each output: the product of
// a row's count and a column's.
func setCounts(p *windowPlan, l cpuLevel, g *spatial, of *avgPoolJob[float32]) {
	tile, block := windowSizes(l, true)
	put := func(words []int64, i, v int) {
		words[i/2] |= int64(math.Float32bits(float32(v))) << (32 * (i % 2))
	}
	n := len(p.tiles) / tile
	for i := range n {
		y0, y1 := i*g.out[1]/n, (i+1)*g.out[1]/n
		for y := y0; y < y1; y++ {
			put(p.tiles[i*tile+windowTileWords:], y-y0, of.count(1, y))
		}
	}
	lanes := windowLanes(l)
	for x := range g.out[2] {
		put(p.blocks[x/lanes*block+block-lanes/2:], x%lanes, of.count(2, x))
	}
}
