package conv

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// depthwise filters each channel by itself: where there is a filter of that
// kernel it reads the image as it lies, else each channel is laid out first.
func (v *conv32) depthwise(w *par.Workspace, l cpu.Level) {
	j := par.TakeJob[depthwise32Job](w)
	*j = depthwise32Job{conv: *v, level: l}
	work := v.outPerGroup * v.g.OutPlane * v.g.Taps / 4
	if v.filtered(l) {
		j.plan = geom.NewWindowPlan(l, &v.g, false, par.Scratch[int64](w, geom.WindowPlanLen(l, &v.g, false)))
	} else {
		j.PatchTable = gemm.NewPatchTable(v.g)
		j.SetOffsets(par.Scratch[int64](w, v.g.Taps), 1)
		if j.Framed {
			j.copies = par.Scratch[float32](w, v.groups*j.Plane)
		}
		work += j.Plane
	}
	for j.image = range v.batch {
		w.Parallel(v.groups, max(1, par.SimdPack/work), j)
	}
	par.PutJob(w, j)
}

// depthwiseScratch is the scratch of depthwise.
func (v *conv32) depthwiseScratch(l cpu.Level) int {
	if v.filtered(l) {
		return par.ScratchSize(geom.WindowPlanLen(l, &v.g, false), 8)
	}
	n := par.ScratchSize(v.g.Taps, 8)
	if t := gemm.NewPatchTable(v.g); t.Framed {
		n += par.ScratchSize(v.groups*t.Plane, 4)
	}
	return n
}

// depthwise32Job filters the channels of one image.
type depthwise32Job struct {
	gemm.PatchTable
	conv   conv32
	level  cpu.Level
	image  int
	copies []float32
	plan   geom.WindowPlan // of a filter
}

// Do filters input channels [lo, hi). A channel is copied into its frame, if it
// needs one, right before its filters read it from the cache.
func (j *depthwise32Job) Do(lo, hi int) {
	if j.plan.Tiles != nil {
		j.filterChannels(lo, hi)
		return
	}
	v, g := &j.conv, &j.G
	from := j.first(lo)
	for c := lo; c < hi; c++ {
		at := j.image*v.groups + c
		img := v.src[at*g.InPlane : (at+1)*g.InPlane]
		if j.Framed {
			own := j.copies[c*j.Plane : (c+1)*j.Plane]
			j.Frame(j.level, own, img, 0, j.Extent[1])
			img = own
		}
		for r := range v.outPerGroup {
			m := c*v.outPerGroup + r
			dst := v.dst[(at*v.outPerGroup+r)*g.OutPlane:][:g.OutPlane]
			j.filter(dst, img, v.weight[m*g.Taps:(m+1)*g.Taps], m)
			if v.end.ScaleRow != nil || v.end.Residual != nil {
				e := v.end.Channels(m, 1, (at*v.outPerGroup+r)*g.OutPlane)
				e.Apply(j.level, 1, g.OutPlane, 0, 0, dst, g.OutPlane)
			}
		}
		if v.end.Maps() {
			from = j.mapped(from, c+1, c+1 == hi)
		}
	}
}

// first is the first result of input channel c.
func (j *depthwise32Job) first(c int) int {
	return (j.image*j.conv.groups + c) * j.conv.outPerGroup * j.conv.g.OutPlane
}

// mapped runs the epilogue's program over results from element from on to those of input channel
// c, once they fill a part of the second cache or are the last, and returns the end of the part
// done: whole strips, aligned as vectors are, except for the last results.
func (j *depthwise32Job) mapped(from, c int, last bool) int {
	to := j.first(c)
	if !last {
		to &^= mapStrip - 1
	}
	if n := to - from; last || n >= mapLen() {
		j.conv.end.Map(1, n, j.conv.dst[from:to], n)
		from = to
	}
	return from
}

// filter computes one output plane with the parts of the epilogue that need no second
// pass.
func (j *depthwise32Job) filter(dst, img, weight []float32, m int) {
	e := &j.conv.end
	lo, hi := operand.Epilogue{}.Bounds()
	bias := float32(0)
	if e.ScaleRow == nil && e.Residual == nil {
		if e.Some {
			lo, hi = e.Lo, e.Hi
		}
		if e.BiasRow != nil {
			bias = e.BiasRow[m]
		}
	}
	rows := j.G.Out[1] * j.G.Out[2]
	for z := range j.G.Out[0] {
		depthwisePlane(j.level, j.G.Out[1], j.G.Out[2], dst[z*rows:(z+1)*rows], img[j.Place(z, 0):],
			j.Place(0, 1), j.Offsets, weight, bias, lo, hi)
	}
}

// filtered reports whether there is a filter for v.
func (v *conv32) filtered(l cpu.Level) bool {
	return geom.Windowed(l, &v.g) && (v.g.Kernel[2] == 3 || v.g.Kernel[2] == 5)
}
