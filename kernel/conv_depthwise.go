package kernel

//go:generate go run -C ../internal/asmgen ./depthwise

// depthwise filters each channel by itself: where there is a filter of that
// kernel it reads the image as it lies, else each channel is laid out first.
func (v *conv32) depthwise(w *Workspace, l cpuLevel) {
	j := takeJob[depthwise32Job](w)
	*j = depthwise32Job{conv: *v, level: l}
	work := v.outPerGroup * v.g.outPlane * v.g.taps / 4
	if v.filtered(l) {
		j.plan = newWindowPlan(l, &v.g, false, Scratch[int64](w, windowPlanLen(l, &v.g, false)))
	} else {
		j.patchTable = newPatchTable(v.g)
		j.setOffsets(Scratch[int64](w, v.g.taps), 1)
		if j.framed {
			j.copies = Scratch[float32](w, v.groups*j.plane)
		}
		work += j.plane
	}
	for j.image = range v.batch {
		w.Parallel(v.groups, max(1, simdPack/work), j)
	}
	putJob(w, j)
}

// depthwiseScratch is what depthwise takes.
func (v *conv32) depthwiseScratch(l cpuLevel) int {
	if v.filtered(l) {
		return scratchSize(windowPlanLen(l, &v.g, false), 8)
	}
	n := scratchSize(v.g.taps, 8)
	if t := newPatchTable(v.g); t.framed {
		n += scratchSize(v.groups*t.plane, 4)
	}
	return n
}

// depthwise32Job filters the channels of one image.
type depthwise32Job struct {
	patchTable
	conv   conv32
	level  cpuLevel
	image  int
	copies []float32
	plan   windowPlan // of a filter
}

// Do filters input channels [lo, hi).
func (j *depthwise32Job) Do(lo, hi int) {
	if j.plan.tiles != nil {
		j.filterChannels(lo, hi)
		return
	}
	v, g := &j.conv, &j.g
	for c := lo; c < hi; c++ {
		at := j.image*v.groups + c
		img := v.src[at*g.inPlane : (at+1)*g.inPlane]
		if j.framed {
			own := j.copies[c*j.plane : (c+1)*j.plane]
			j.frame(j.level, own, img, 0, j.extent[1])
			img = own
		}
		for r := range v.outPerGroup {
			m := c*v.outPerGroup + r
			dst := v.dst[(at*v.outPerGroup+r)*g.outPlane:][:g.outPlane]
			j.filter(dst, img, v.weight[m*g.taps:(m+1)*g.taps], m)
			if v.end.scaleRow != nil || v.end.residual != nil {
				e := v.end.channels(m, 1, (at*v.outPerGroup+r)*g.outPlane)
				e.apply(j.level, 1, g.outPlane, 0, 0, dst, g.outPlane)
			}
		}
	}
}

// filter computes one output plane with what of the epilogue needs no second pass.
func (j *depthwise32Job) filter(dst, img, weight []float32, m int) {
	e := &j.conv.end
	lo, hi := Epilogue{}.bounds()
	bias := float32(0)
	if e.scaleRow == nil && e.residual == nil {
		if e.some {
			lo, hi = e.lo, e.hi
		}
		if e.biasRow != nil {
			bias = e.biasRow[m]
		}
	}
	rows := j.g.out[1] * j.g.out[2]
	for z := range j.g.out[0] {
		depthwisePlane(j.level, j.g.out[1], j.g.out[2], dst[z*rows:(z+1)*rows], img[j.place(z, 0):],
			j.place(0, 1), j.offsets, weight, bias, lo, hi)
	}
}

// filtered reports whether there is a filter for v.
func (v *conv32) filtered(l cpuLevel) bool {
	return windowed(l, &v.g) && (v.g.kernel[2] == 3 || v.g.kernel[2] == 5)
}
