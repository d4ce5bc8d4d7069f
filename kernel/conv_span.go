package kernel

import "math"

// Where k is short, what surrounds a tile's sums counts: here sums begin with
// the bias, the rest of the epilogue happens before they are stored, positions
// are read where they lie, and one call computes all of a span of positions,
// so that results are written in streams.

const (
	spanDepth = 256     // most steps of k
	spanBlock = 1 << 15 // most elements of the input that panels of channels share
)

// spanEpilogue is the epilogue of a panel of channels. The assembly knows its
// layout.
type spanEpilogue struct {
	residual  *float32
	ldr, done int // in bytes
	lo, hi    float32
	bias      [16]float32 // -0 where there is none
}

// convSpanGo stores in c, rows of ldc floats, the sums over the steps p of a, a
// panel of stride floats a step, times b[offsets[p]+column], with the epilogue e.
func convSpanGo(rows, cols, stride int, a, b []float32, offsets []int64, c []float32, ldc int, e *spanEpilogue, residual []float32) {
	for r := range rows {
		dst := c[r*ldc : r*ldc+cols]
		for x := range dst {
			dst[x] = e.bias[r]
		}
		for p, o := range offsets {
			axpy(dst, a[p*stride+r], b[o:])
		}
		for x, v := range dst {
			if residual != nil {
				v += residual[r*e.ldr/4+x]
			}
			if v < e.lo {
				v = e.lo
			}
			if v > e.hi {
				v = e.hi
			}
			dst[x] = v
		}
	}
}

// spans reports whether a convolution with a packed weight is computed in spans.
func (v *conv32) spans(l cpuLevel) bool {
	return hasConvTile(l) && v.packed != nil && v.end.scaleRow == nil && spansFit(l, &v.g, v.perGroup)
}

// spansFit reports whether spans suit the geometry: k is short, the spans, which
// end with a row unless windows are single positions, are long, and the steps
// of a tile, a channel's plane apart, do not all fall on a few sets of the
// first-level cache.
func spansFit(l cpuLevel, g *spatial, perGroup int) bool {
	k := perGroup * g.taps
	if k > spanDepth || spanLen(g) < 2*blockingOf(l).nr {
		return false
	}
	plane := 4 * g.inPlane
	if g.taps == 1 {
		plane = 4 * g.outPlane
	}
	apart := max(plane&-plane, 64) // the power of two in it, a line at least
	return perGroup*apart <= 2*spanDepth*64
}

// spanCycles estimates a product in spans.
func spanCycles(l cpuLevel, g *spatial, m, perGroup int) int {
	bl := blockingOf(l)
	n := spanLen(g)
	step, tiles := 0, 0
	for i := range bl.panels(m) {
		lo, hi := bl.rows(m, i)
		step += n / bl.nr * tileCycles(hi-lo, 2)
		tiles += n / bl.nr
		if left := n % bl.nr; left > 0 {
			step += tileCycles(hi-lo, (left-1)/(bl.nr/2)+1)
			tiles++
		}
	}
	return (step*perGroup*g.taps + tiles*spanStoring) * (g.outPlane / n)
}

// spanLen returns the positions of a span.
func spanLen(g *spatial) int {
	if g.taps == 1 {
		return g.outPlane
	}
	return g.out[2]
}

// spanJob is the product of a group's weight and an image.
type spanJob struct {
	patchTable
	level            cpuLevel
	bl               blocking
	img, packed, dst []float32
	m, span          int // positions of a span
	unit             int // positions that stay together
	units, blocks    int // units in all, and the shares of them that panels pass over
	shares           int // of the panels
	end              epilogue
}

// runSpans computes the convolution in spans.
func (v *conv32) runSpans(w *Workspace, l cpuLevel) {
	g := &v.g
	m, k := v.outPerGroup, v.perGroup*g.taps
	size := packedRows(l, m, k)
	frame, j := takeJob[frameJob](w), takeJob[spanJob](w)
	*j = spanJob{patchTable: newPatchTable(*g), level: l, bl: blockingOf(l), m: m, span: spanLen(g)}
	j.setOffsets(Scratch[int64](w, k), v.perGroup)
	*frame = frameJob{patchTable: j.patchTable, level: l}
	if j.framed {
		frame.dst = Scratch[float32](w, v.perGroup*j.plane)
	}
	most := spanBlock / k / j.bl.nr
	if j.unit = j.bl.nr; g.taps > 1 {
		j.unit, most = j.span, spanBlock/(v.perGroup*j.rowLen*g.stride[1])
	}
	j.units = (g.outPlane-1)/j.unit + 1
	j.blocks = (j.units-1)/max(1, most) + 1
	panels := j.bl.panels(m)
	some := w.parts(panels*j.units, panels*j.units, max(1, simdWork/(j.bl.mr*k*j.unit)))
	for j.shares = (some-1)/j.blocks + 1; j.shares*j.blocks%max(1, w.Threads) != 0; j.shares++ {
	}
	j.shares = min(j.shares, panels)
	for i := range v.batch * v.groups {
		group := i % v.groups
		j.img = v.src[i*v.perGroup*g.inPlane : (i+1)*v.perGroup*g.inPlane]
		j.dst = v.dst[i*m*g.outPlane : (i+1)*m*g.outPlane]
		j.packed = v.packed[group*size : (group+1)*size]
		j.end = v.end.channels(group*m, m, i*m*g.outPlane)
		if j.framed {
			frame.src = j.img
			frame.run(w, v.perGroup)
			j.img = frame.dst
		}
		w.Parallel(j.blocks*j.shares, 1, j)
	}
	putJob(w, j)
	putJob(w, frame)
}

// Do computes pieces [lo, hi): shares of the panels at a block of positions.
func (j *spanJob) Do(lo, hi int) {
	panels := j.bl.panels(j.m)
	for i := lo; i < hi; i++ {
		block, share := i/j.shares, i%j.shares
		from, to := block*j.units/j.blocks*j.unit, min((block+1)*j.units/j.blocks*j.unit, j.g.outPlane)
		for p := share * panels / j.shares; p < (share+1)*panels/j.shares; p++ {
			j.panel(p, from, to)
		}
	}
}

// panel computes positions [from, to) of panel p of the channels.
func (j *spanJob) panel(p, from, to int) {
	plane, k := j.g.outPlane, len(j.offsets)
	r0, r1 := j.bl.rows(j.m, p)
	e := spanEpilogue{lo: j.end.lo, hi: j.end.hi, ldr: 4 * j.end.ldr}
	for r := range r1 - r0 {
		e.bias[r] = float32(math.Copysign(0, -1))
		if j.end.biasRow != nil {
			e.bias[r] = j.end.biasRow[r0+r]
		}
	}
	a := j.packed[p*j.bl.stride*k:][:j.bl.stride*k]
	for at := from; at < to; {
		cols := to - at
		place := at
		if j.g.taps > 1 {
			row := at / j.span
			cols, place = j.span, j.place(row/j.g.out[1], row%j.g.out[1])
		}
		e.residual = span(j.end.residual, r0*j.end.ldr+at, (r1-r0-1)*j.end.ldr+cols)
		e.done = 0
		c := j.dst[r0*plane+at:][:(r1-r0-1)*plane+cols]
		convSpan32(j.level, r1-r0, cols, a, j.img[place:], j.offsets, c, plane, &e)
		at += cols
	}
}
