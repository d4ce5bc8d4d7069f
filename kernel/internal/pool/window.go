package pool

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

//go:generate go run -C ../../../internal/generators/asmgen ./pool

// poolable reports whether a pool has the form that there is assembly for,
// whatever the processor: square windows of two or three over planes.
func poolable(g *geom.Spatial) bool {
	k := g.Kernel[2]
	return (k == 2 || k == 3) && geom.Slidable(g)
}

// poolScratch is the scratch of a pool's plan, on every machine.
func poolScratch(out *array.Array, g *geom.Spatial, counts bool) int {
	if !poolable(g) || out.DType() != array.F32 && !operand.IsHalf(out.DType()) {
		return 0
	}
	return par.ScratchSize(max(geom.WindowPlanLen(cpu.AVX2, g, counts), geom.WindowPlanLen(cpu.AVX512, g, counts)), 8)
}

// maxWindowsJob is maxPoolJob by assembly, which finds the values; their indices are searched
// for afterwards.
type maxWindowsJob struct {
	maxPoolJob[float32]
	level cpu.Level
	plan  geom.WindowPlan
}

// maxCall is a plane to take maxima of. The assembly knows its layout.
type maxCall struct {
	geom.WindowCall
	nan  uint32 // not zero after the call when there was a NaN
	fill float32
}

func maxWindows(w *par.Workspace, g geom.Spatial, dst []float32, at []int64, src []float32) {
	if len(dst) == 0 {
		return
	}
	mark := w.Mark()
	j := par.TakeJob[maxWindowsJob](w)
	*j = maxWindowsJob{maxPoolJob: maxPoolJob[float32]{Spatial: g, dst: dst, at: at, src: src}, level: cpu.Host.Level}
	j.plan = geom.NewWindowPlan(j.level, &g, false, par.Scratch[int64](w, geom.WindowPlanLen(j.level, &g, false)))
	w.Parallel(len(dst)/g.OutPlane, max(1, par.SimdPack/(g.OutPlane*g.Taps)), j)
	par.PutJob(w, j)
	w.Release(mark)
}

// Do computes planes [lo, hi). Those with a NaN are computed in Go.
func (j *maxWindowsJob) Do(lo, hi int) {
	c := maxCall{WindowCall: j.plan.Call(&j.Spatial), fill: float32(math.Inf(-1))}
	for i := lo; i < hi; i++ {
		c.Src = &j.src[i*j.InPlane : (i+1)*j.InPlane][0]
		c.Dst = &j.dst[i*j.OutPlane : (i+1)*j.OutPlane][0]
		c.run(j.level, &j.Spatial)
		switch out := i * j.OutPlane; {
		case c.nan != 0:
			j.maxPoolJob.Do(i, i+1)
		case j.at != nil:
			findPlaces(j.level, &j.Spatial, j.at[out:out+j.OutPlane], j.dst[out:out+j.OutPlane], j.src[i*j.InPlane:(i+1)*j.InPlane])
		}
	}
}

// avgWindowsJob is avgPoolJob by assembly, with the same result.
type avgWindowsJob struct {
	geom.Spatial
	dst, src []float32
	level    cpu.Level
	plan     geom.WindowPlan
}

func avgWindows(w *par.Workspace, p *avgPoolJob[float32]) {
	mark := w.Mark()
	j := par.TakeJob[avgWindowsJob](w)
	*j = avgWindowsJob{Spatial: p.Spatial, dst: p.dst, src: p.src, level: cpu.Host.Level}
	j.plan = geom.NewWindowPlan(j.level, &j.Spatial, true, par.Scratch[int64](w, geom.WindowPlanLen(j.level, &j.Spatial, true)))
	setCounts(&j.plan, j.level, &j.Spatial, p)
	w.Parallel(len(j.dst)/j.OutPlane, max(1, par.SimdPack/(j.OutPlane*j.Taps)), j)
	par.PutJob(w, j)
	w.Release(mark)
}

// Do computes planes [lo, hi).
func (j *avgWindowsJob) Do(lo, hi int) {
	c := j.plan.Call(&j.Spatial)
	for i := lo; i < hi; i++ {
		c.Src = &j.src[i*j.InPlane : (i+1)*j.InPlane][0]
		c.Dst = &j.dst[i*j.OutPlane : (i+1)*j.OutPlane][0]
		averageWindows(&c, j.level, &j.Spatial)
	}
}

// count returns the factor of dimension d in the divisor of output i along it.
func (j *avgPoolJob[T]) count(d, i int) int {
	from := i*j.Stride[d] - j.PadLo[d]
	to := min(from+j.Kernel[d], j.end[d])
	switch {
	case j.divisor != 0 && d == 1:
		return j.divisor
	case j.divisor != 0:
		return 1
	case !j.include:
		from, to = max(from, 0), min(to, j.In[d])
	}
	return max(to-from, 1) // an empty window has the sum 0
}

// meanPlanes stores the mean of each plane of n elements of src in dst.
func meanPlanes(l cpu.Level, dst, src []float32, n int) {
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
func setCounts(p *geom.WindowPlan, l cpu.Level, g *geom.Spatial, of *avgPoolJob[float32]) {
	tile, block := geom.WindowSizes(l, true)
	put := func(words []int64, i, v int) {
		words[i/2] |= int64(math.Float32bits(float32(v))) << (32 * (i % 2))
	}
	n := len(p.Tiles) / tile
	for i := range n {
		y0, y1 := i*g.Out[1]/n, (i+1)*g.Out[1]/n
		for y := y0; y < y1; y++ {
			put(p.Tiles[i*tile+geom.WindowTileWords:], y-y0, of.count(1, y))
		}
	}
	lanes := geom.WindowLanes(l)
	for x := range g.Out[2] {
		put(p.Blocks[x/lanes*block+block-lanes/2:], x%lanes, of.count(2, x))
	}
}
