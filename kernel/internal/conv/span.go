package conv

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Where k is short, the work around a tile's sums counts: here sums begin with
// the bias, the rest of the epilogue happens before they are stored, positions
// are read where they lie, and one call computes all of a span of positions, so
// that results are written in streams.

// spanEpilogue is the epilogue of a panel of channels. The assembly knows its
// layout.
type spanEpilogue struct {
	residual  *float32
	ldr, done int // in bytes
	lo, hi    float32
	bias      [20]float32 // of the last row first; tiles of fewer rows read 14, too
}

// convSpanGo stores in c, rows of ldc floats, the sums over the steps p of a, a
// panel of stride floats a step, times b[offsets[p]+column], with the epilogue e.
func convSpanGo(rows, cols, stride int, a, b []float32, offsets []int64, c []float32, ldc int, e *spanEpilogue, residual []float32) {
	for r := range rows {
		dst := c[r*ldc : r*ldc+cols]
		for x := range dst {
			dst[x] = e.bias[rows-1-r]
		}
		for p, o := range offsets {
			gemm.Axpy(dst, a[p*stride+r], b[o:])
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

// spans reports whether a convolution with a packed weight is computed in spans. A bias that sums
// begin with rounds otherwise than one that is added to them.
func (v *conv32) spans(l cpu.Level) bool {
	return hasConvTile(l) && v.packed != nil && v.end.ScaleRow == nil && !(v.exact && v.end.BiasRow != nil) && spansFit(l, &v.g, v.outPerGroup, v.perGroup)
}

// spansFit reports whether spans suit the geometry: k is short, the spans, which
// end with a row unless windows are single positions, are long, and the steps
// of a tile, a channel's plane apart, do not all fall on a few sets of the
// first-level cache.
func spansFit(l cpu.Level, g *geom.Spatial, m, perGroup int) bool {
	k, bl := perGroup*g.Taps, gemm.BlockingOf(l)
	least := 2 * bl.Nr
	if m <= spanFew {
		least = bl.Nr / 4 * 3
	}
	if k > spanDepth || spanLen(g) < least {
		return false
	}
	plane := 4 * g.InPlane
	if g.Taps == 1 {
		plane = 4 * g.OutPlane
	}
	apart := max(plane&-plane, 64) // the power of two in it, a line at least
	return perGroup*apart <= 2*spanDepth*64
}

// spanCycles estimates a product in spans.
func spanCycles(l cpu.Level, g *geom.Spatial, m, perGroup int) int {
	bl := gemm.BlockingOf(l)
	n := spanLen(g)
	step, tiles := 0, 0
	for _, cut := range bl.Cut(m) {
		step += cut.Panels * (n / bl.Nr * tileCycles(cut.Rows, 2))
		tiles += cut.Panels * (n / bl.Nr)
		if left := n % bl.Nr; left > 0 {
			step += cut.Panels * tileCycles(cut.Rows, (left-1)/(bl.Nr/2)+1)
			tiles += cut.Panels
		}
	}
	return (step*perGroup*g.Taps + tiles*spanStoring) * (g.OutPlane / n)
}

// spanLen returns the positions of a span.
func spanLen(g *geom.Spatial) int {
	if g.Taps == 1 {
		return g.OutPlane
	}
	return g.Out[2]
}

// spanJob is the product of a group's weight and an image.
type spanJob struct {
	gemm.PatchTable
	level            cpu.Level
	bl               gemm.Blocking
	img, packed, dst []float32
	m, span          int // positions of a span
	unit             int // positions that stay together
	units, blocks    int // units in all, and the shares of them that panels pass over
	shares           int // of the panels
	end              gemm.Finish
}

// runSpans computes the convolution in spans.
func (v *conv32) runSpans(w *par.Workspace, l cpu.Level) {
	g := &v.g
	m, k := v.outPerGroup, v.perGroup*g.Taps
	size := gemm.PackedRows(l, m, k)
	frame, j := par.TakeJob[frameJob](w), par.TakeJob[spanJob](w)
	*j = spanJob{PatchTable: gemm.NewPatchTable(*g), level: l, bl: gemm.BlockingOf(l), m: m, span: spanLen(g)}
	j.SetOffsets(par.Scratch[int64](w, k), v.perGroup)
	*frame = frameJob{PatchTable: j.PatchTable, level: l}
	if j.Framed {
		frame.dst = par.Scratch[float32](w, v.perGroup*j.Plane)
	}
	if j.unit = j.bl.Nr; v.end.Maps() {
		j.unit = mapStrip
	}
	most := spanBlock() / k / j.unit
	if g.Taps > 1 {
		j.unit, most = j.span, spanBlock()/(v.perGroup*j.RowLen*g.Stride[1])
	}
	j.units = (g.OutPlane-1)/j.unit + 1
	j.blocks = (j.units-1)/max(1, most) + 1
	panels := j.bl.Panels(m)
	some := w.Parts(panels*j.units, panels*j.units, max(1, par.SimdWork/(j.bl.Mr*k*j.unit)))
	for j.shares = (some-1)/j.blocks + 1; j.shares*j.blocks%max(1, w.Threads) != 0; j.shares++ {
	}
	if j.shares > panels { // shorter blocks give as many pieces, and as many to each thread
		j.shares = panels
		j.blocks = max(j.blocks, (some-1)/panels+1)
		for j.blocks < j.units && j.blocks*panels%max(1, w.Threads) != 0 {
			j.blocks++
		}
		j.blocks = min(j.blocks, j.units)
	}
	for i := range v.batch * v.groups {
		group := i % v.groups
		j.img = v.src[i*v.perGroup*g.InPlane : (i+1)*v.perGroup*g.InPlane]
		j.dst = v.dst[i*m*g.OutPlane : (i+1)*m*g.OutPlane]
		j.packed = v.packed[group*size : (group+1)*size]
		j.end = v.end.Channels(group*m, m, i*m*g.OutPlane)
		if j.Framed {
			frame.src = j.img
			frame.run(w, v.perGroup)
			j.img = frame.dst
		}
		w.Parallel(j.blocks*j.shares, 1, j)
		if j.blocks == 1 { // panels have few positions
			j.end.MapAll(w, j.dst)
		}
	}
	par.PutJob(w, j)
	par.PutJob(w, frame)
}

// Do computes pieces [lo, hi): shares of the panels at a block of positions. All
// panels of a share pass over one block of positions, which stays in the second
// cache, before the next block; a panel's weights are short and stay in the first.
func (j *spanJob) Do(lo, hi int) {
	panels := j.bl.Panels(j.m)
	for i := lo; i < hi; i++ {
		block, share := i/j.shares, i%j.shares
		from, to := block*j.units/j.blocks*j.unit, min((block+1)*j.units/j.blocks*j.unit, j.G.OutPlane)
		for p := share * panels / j.shares; p < (share+1)*panels/j.shares; p++ {
			j.panel(p, from, to)
		}
	}
}

// panel computes positions [from, to) of panel p of the channels.
func (j *spanJob) panel(p, from, to int) {
	plane, k := j.G.OutPlane, len(j.Offsets)
	r0, r1 := j.bl.Rows(j.m, p)
	e := spanEpilogue{lo: j.end.Lo, hi: j.end.Hi, ldr: 4 * j.end.Ldr}
	for r := range r1 - r0 {
		if j.end.BiasRow != nil {
			e.bias[r] = j.end.BiasRow[r1-1-r]
		}
	}
	a := j.packed[p*j.bl.Stride*k:][:j.bl.Stride*k]
	for at := from; at < to; {
		cols := to - at
		place := at
		if j.G.Taps > 1 {
			row := at / j.span
			cols, place = j.span, j.Place(row/j.G.Out[1], row%j.G.Out[1])
		}
		e.residual = operand.Span(j.end.Residual, r0*j.end.Ldr+at, (r1-r0-1)*j.end.Ldr+cols)
		e.done = 0
		c := j.dst[r0*plane+at:][:(r1-r0-1)*plane+cols]
		convSpan32(j.level, r1-r0, cols, a, j.img[place:], j.Offsets, c, plane, &e)
		at += cols
	}
	if j.blocks > 1 {
		j.end.Map(r1-r0, to-from, j.dst[r0*plane+from:], plane)
	}
}
