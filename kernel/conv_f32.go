package kernel

// conv32 is a float32 convolution by assembly.
type conv32 struct {
	g                        spatial
	batch, groups            int
	perGroup, outPerGroup    int
	dst, src, weight, packed []float32 // the weight, or all its groups packed
	rows                     bool      // packed for tiles of positions and channels
	end                      epilogue  // for one image: rows are output channels, columns positions
}

// fits reports whether the assembly's layouts suit the convolution; what it
// does not suit is rare or empty.
func (v *conv32) fits() bool {
	return v.perGroup > 0 && v.outPerGroup > 0 && v.batch > 0 && v.g.inPlane > 0 && v.g.outPlane > 0 && v.g.taps > 0 && v.g.reachable()
}

// scratch is what run takes.
func (v *conv32) scratch(l cpuLevel, packed bool) int {
	g, groups, perGroup := &v.g, v.groups, v.perGroup
	if depthwise32(l, perGroup, groups) {
		return v.depthwiseScratch(l)
	}
	if v.rows && hasConvTile(l) {
		if v.dense() {
			return 0
		}
		return v.scratchRows()
	}
	if packed && hasConvTile(l) && spansFit(l, g, perGroup) {
		return max(v.scratchRows(), v.scratchProducts(l, packed))
	}
	return v.scratchProducts(l, packed)
}

// scratchProducts is what products takes.
func (v *conv32) scratchProducts(l cpuLevel, packed bool) int {
	g, batch, perGroup, outPerGroup := &v.g, v.batch, v.perGroup, v.outPerGroup
	k := perGroup * g.taps
	t := newPatchTable(*g)
	whole := packed || packsWeight(l, batch, g.outPlane)
	n := 0
	if whole && !packed {
		n = scratchSize(packedRows(l, outPerGroup, k), 4)
	}
	p := product{m: outPerGroup, n: g.outPlane, k: k, ldb: g.outPlane}
	switch {
	case g.pointwise():
	case t.sampled:
		n += scratchSize(perGroup*t.plane, 4)
	default:
		n += scratchSize(k, 8)
		if t.framed {
			n += scratchSize(perGroup*t.plane, 4)
		}
		return n + blockScratch(l, p.m, p.n, p.k, !whole, true)
	}
	switch {
	case !whole && p.streams(l):
		return n
	case !whole && p.thin(l):
		return n + p.thinScratch()
	}
	return n + blockScratch(l, p.m, p.n, p.k, !whole, true)
}

// packsWeight reports whether the weight is read so often that it is packed as a
// whole first.
func packsWeight(l cpuLevel, batch, positions int) bool {
	bl := blockingOf(l)
	return batch > 1 || positions > bl.nc
}

func depthwise32(l cpuLevel, perGroup, groups int) bool {
	return perGroup == 1 && groups > 1 && hasThin(l)
}

// run computes the convolution. It needs a level with assembly.
func (v *conv32) run(w *Workspace) {
	mark := w.Mark()
	l := cpu.level
	switch {
	case depthwise32(l, v.perGroup, v.groups):
		v.depthwise(w, l)
	case v.rows && hasConvTile(l) && v.dense():
		v.runDense(w)
	case v.rows && hasConvTile(l):
		v.runRows(w)
	case v.spans(l):
		v.runSpans(w, l)
	default:
		v.products(w, l)
	}
	w.Release(mark)
}

// products multiplies the weight of each group with the patches of each image.
func (v *conv32) products(w *Workspace, l cpuLevel) {
	g := &v.g
	m, k := v.outPerGroup, v.perGroup*g.taps
	size := packedRows(l, m, k)
	var whole []float32
	if v.packed == nil && packsWeight(l, v.batch, g.outPlane) {
		whole = Scratch[float32](w, size)
	}
	j := takeJob[frameJob](w)
	*j = frameJob{patchTable: newPatchTable(*g), level: l}
	var framed []float32
	switch {
	case g.pointwise():
	case j.sampled:
		framed = Scratch[float32](w, v.perGroup*j.plane)
	default:
		j.setOffsets(Scratch[int64](w, k), v.perGroup)
		if j.framed {
			framed = Scratch[float32](w, v.perGroup*j.plane)
		}
	}
	for group := range v.groups {
		p := product{m: m, n: g.outPlane, k: k, lda: k, ldb: g.inPlane, ldc: g.outPlane}
		p.a = v.weight
		switch {
		case v.packed != nil:
			p.packedA = v.packed[group*size : (group+1)*size]
		case whole != nil:
			packWhole(w, l, whole, v.weight[group*m*k:(group+1)*m*k], k, false, m, k)
			p.packedA = whole
		default:
			p.a = v.weight[group*m*k : (group+1)*m*k]
		}
		for i := range v.batch {
			at := i*v.groups + group
			img := v.src[at*v.perGroup*g.inPlane : (at+1)*v.perGroup*g.inPlane]
			p.b, p.c = img, v.dst[at*m*g.outPlane:(at+1)*m*g.outPlane]
			p.end = v.end.channels(group*m, m, at*m*g.outPlane)
			if !g.pointwise() && !j.sampled {
				p.window = &j.patchTable
			}
			if framed != nil {
				j.dst, j.src, p.b, p.ldb = framed, img, framed, j.plane
				j.run(w, v.perGroup)
			}
			if p.isGemv(l) {
				multiplyGemv(w, l, p)
			} else {
				multiply(w, p)
			}
		}
	}
	putJob(w, j)
}

// frameJob lays channels of an image out for their patches to be packed.
type frameJob struct {
	patchTable
	level    cpuLevel
	dst, src []float32
	parts    int // of the rows of a channel
}

// run lays out so many channels.
func (j *frameJob) run(w *Workspace, channels int) {
	rows := j.extent[1]
	parts := w.parts(channels*rows, rows, max(1, simdPack/(j.extent[0]*j.rowLen)))
	j.parts = min(rows, (parts-1)/channels+1)
	w.Parallel(channels*j.parts, max(1, simdPack/j.plane), j)
}

// Do lays out parts [lo, hi).
func (j *frameJob) Do(lo, hi int) {
	rows := j.extent[1]
	for i := lo; i < hi; i++ {
		c, part := i/j.parts, i%j.parts
		j.frame(j.level, j.dst[c*j.plane:(c+1)*j.plane], j.src[c*j.g.inPlane:(c+1)*j.g.inPlane],
			part*rows/j.parts, (part+1)*rows/j.parts)
	}
}
