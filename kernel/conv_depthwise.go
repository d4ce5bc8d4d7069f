package kernel

// depthwise filters each channel by itself, laying it out just before.
func (v *conv32) depthwise(w *Workspace) {
	j := takeJob[depthwise32Job](w)
	*j = depthwise32Job{patchTable: newPatchTable(v.g), conv: *v, level: cpu.level}
	j.setOffsets(Scratch[int64](w, v.g.taps), 1)
	if j.framed {
		j.copies = Scratch[float32](w, v.groups*j.plane)
	}
	work := j.plane + v.outPerGroup*v.g.outPlane*v.g.taps/4
	for j.image = range v.batch {
		w.Parallel(v.groups, max(1, simdPack/work), j)
	}
	putJob(w, j)
}

// depthwise32Job filters the channels of one image.
type depthwise32Job struct {
	patchTable
	conv   conv32
	level  cpuLevel
	image  int
	copies []float32
}

// Do filters input channels [lo, hi).
func (j *depthwise32Job) Do(lo, hi int) {
	v, g := &j.conv, &j.g
	for c := lo; c < hi; c++ {
		at := j.image*v.groups + c
		img := v.src[at*g.inPlane : (at+1)*g.inPlane]
		if j.framed {
			own := j.copies[c*j.plane : (c+1)*j.plane]
			j.frame(j.level, own, img)
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
