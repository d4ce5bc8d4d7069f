package conv

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// The convolutions of this file have positions for the rows of a tile and
// output channels for its columns. Maps of 7×7 and 14×14 fill such tiles
// without a remainder, where they would leave vectors of positions half empty,
// and the input is read where it lies. The price is that a tile is transposed
// when it is stored.

// expected returns the geometry of a convolution of an image of the given
// sizes, and whether it is known and not empty.
func expected(s Conv, in, kernel []int) (g geom.Spatial, ok bool) {
	if len(in) != len(kernel) || len(in) == 0 || len(in) > 3 {
		return g, false
	}
	at := func(list []int, d, absent int) int {
		if d < len(list) {
			return list[d]
		}
		return absent
	}
	var sizes [3]int
	out := sizes[:len(in)]
	for d, n := range in {
		left := n + at(s.PadLo, d, 0) + at(s.PadHi, d, 0) - (kernel[d]-1)*at(s.Dilation, d, 1) - 1
		if n <= 0 || kernel[d] <= 0 || left < 0 {
			return g, false
		}
		out[d] = left/at(s.Stride, d, 1) + 1
	}
	return geom.NewSpatial(in, out, kernel, s.Stride, s.PadLo, s.Dilation), true
}

// rowsForm reports whether PackConv packs a weight [m·groups, perGroup,
// kernel...] for tiles of positions and channels: where the other tiles would
// take longer on an image of the expected sizes.
func rowsForm(l cpu.Level, s Conv, in, kernel []int, m, perGroup int) bool {
	g, ok := expected(s, in, kernel)
	if !ok || !hasConvTile(l) || m == 0 || perGroup == 0 || !g.Reachable() {
		return false
	}
	if g.Pointwise() && g.OutPlane <= gemm.GemvCols {
		return true // dense panels; see conv32.dense
	}
	return rowsCycles(l, &g, m, perGroup) < lanesCycles(l, &g, m, perGroup)/100*98 // the estimate errs by as much
}

// tileCycles estimates half the cycles of a step of a tile. Its bounds are two
// multiply-adds a cycle, two loads a cycle, and the time until a sum is ready for
// the next step.
func tileCycles(rows, vecs int) int { return max(rows*vecs, rows+vecs+1, 8) }

// lanesCycles estimates a product with positions for columns.
func lanesCycles(l cpu.Level, g *geom.Spatial, m, perGroup int) int {
	if spansFit(l, g, m, perGroup) {
		return spanCycles(l, g, m, perGroup)
	}
	bl := gemm.BlockingOf(l)
	rows, cols, k := bl.Panels(m), (g.OutPlane+bl.Nr-1)/bl.Nr, perGroup*g.Taps
	step := 0
	last := 1 // vectors of the last columns
	if (g.OutPlane-1)%bl.Nr >= bl.Nr/2 {
		last = 2
	}
	for _, cut := range bl.Cut(m) {
		step += cut.Panels * ((cols-1)*tileCycles(cut.Rows, 2) + tileCycles(cut.Rows, last))
	}
	if !g.Pointwise() || rows > gemm.DirectPanels {
		step += cols * lanesPacking
	}
	return step*k + rows*cols*lanesStoring
}

// rowsCycles estimates a product with positions for rows.
func rowsCycles(l cpu.Level, g *geom.Spatial, m, perGroup int) int {
	v := newRowsPlan(l, *g)
	lanes := gemm.PanelLanes(l)
	full, part := m/(2*lanes), 0
	if m%(2*lanes) > 0 {
		part = (m%(2*lanes) + lanes - 1) / lanes
	}
	step, panels := 0, full+min(part, 1)
	add := func(tiles, rows int) {
		step += tiles * full * tileCycles(rows, 2)
		if part > 0 {
			step += tiles * tileCycles(rows, part)
		}
	}
	switch lines := g.Out[0] * g.Out[1]; {
	case v.flat:
		add(v.tiles-v.more, v.least)
		add(v.more, v.least+1)
	case v.pairs:
		add(lines/2, 2*rowsRun)
		add(lines%2, rowsRun)
	default:
		for _, cut := range v.bl.Cut(g.Out[2]) {
			add(lines*cut.Panels, cut.Rows)
		}
	}
	return step*perGroup*g.Taps + panels*v.tiles*rowsStoring
}

// rowsPlan is how the positions of an image are cut into tiles.
type rowsPlan struct {
	gemm.PatchTable
	bl     gemm.Blocking
	flat   bool // positions follow each other in the input, row after row
	pairs  bool // a tile has two rows of rowsRun positions
	perRow int  // tiles of a row, else
	tiles  int
	// Tiles of positions that follow each other have so many rows, the first ones one more.
	least, more int
}

// positions is a tile of positions.
type positions struct {
	first, rows int // in the output
	place, jump int // in the layout; see convTileGo
}

func newRowsPlan(l cpu.Level, g geom.Spatial) rowsPlan {
	v := rowsPlan{PatchTable: gemm.NewPatchTable(g), bl: gemm.BlockingOf(l)}
	lines := g.Out[0] * g.Out[1]
	switch {
	case g.Pointwise() || v.Sampled:
		v.flat = true
		v.tiles = v.bl.Panels(g.OutPlane)
		v.least, v.more = g.OutPlane/v.tiles, g.OutPlane%v.tiles
	case g.Out[2] == rowsRun && v.bl.Mr >= 2*rowsRun:
		v.pairs = true
		v.tiles = (lines + 1) / 2
	default:
		v.perRow = v.bl.Panels(g.Out[2])
		v.tiles = lines * v.perRow
	}
	return v
}

// tile returns tile i.
func (v *rowsPlan) tile(i int) positions {
	out := &v.G.Out
	switch {
	case v.flat:
		lo, rows := i*v.least+min(i, v.more), v.least
		if i < v.more {
			rows++
		}
		return positions{first: lo, rows: rows, place: lo}
	case v.pairs:
		p := positions{first: 2 * i * rowsRun, rows: rowsRun, place: v.line(2 * i)}
		if 2*i+1 < out[0]*out[1] {
			p.rows = 2 * rowsRun
			p.jump = v.line(2*i+1) - p.place - rowsRun
		}
		return p
	}
	row := i / v.perRow
	lo, hi := v.bl.Rows(out[2], i%v.perRow)
	return positions{first: row*out[2] + lo, rows: hi - lo, place: v.line(row) + lo}
}

// line returns where output row i begins in the layout.
func (v *rowsPlan) line(i int) int { return v.Place(i/v.G.Out[1], i%v.G.Out[1]) }

// rowsJob is the product of an image and the weight of a group.
type rowsJob struct {
	rowsPlan
	level            cpu.Level
	img, weight, dst []float32
	m, k, depth      int
	groups           int  // of tiles
	panels           int  // of channels
	imageOnce        bool // the tiles of a group meet all panels before the next group does
	end              gemm.Finish
}

// scratchRows is the scratch of runRows.
func (v *conv32) scratchRows() int {
	t := gemm.NewPatchTable(v.g)
	n := par.ScratchSize(v.perGroup*v.g.Taps, 8)
	if t.Framed {
		n += par.ScratchSize(v.perGroup*t.Plane, 4)
	}
	return n
}

// runRows computes the convolution with a weight packed by packRows.
func (v *conv32) runRows(w *par.Workspace) {
	mark := w.Mark()
	l, g := v.level(), &v.g
	m, k := v.outPerGroup, v.perGroup*g.Taps
	size := gemm.PackedRowsLen(l, m, k)
	frame, j := par.TakeJob[frameJob](w), par.TakeJob[rowsJob](w)
	*j = rowsJob{rowsPlan: newRowsPlan(l, *g), level: l, m: m, k: k}
	j.SetOffsets(par.Scratch[int64](w, k), v.perGroup)
	j.depth = j.bl.Depth(k) // where other products cut their sums: the same bits
	j.groups = (j.tiles-1)/rowsGroup + 1
	*frame = frameJob{PatchTable: j.PatchTable, level: l}
	if j.Framed {
		frame.dst = par.Scratch[float32](w, v.perGroup*j.Plane)
	}
	panels := (m-1)/(2*gemm.PanelLanes(l)) + 1
	j.panels = panels
	j.order(4*v.perGroup*j.Plane, 4*m*k)
	if some := w.Parts(panels*j.tiles, j.tiles, max(1, par.SimdWork/(rowsTile*2*gemm.PanelLanes(l)*k))); some > panels*j.groups {
		for j.groups = (some-1)/panels + 1; panels*j.groups%w.Threads != 0; j.groups++ {
		}
		j.groups = min(j.groups, j.tiles)
	}
	work := j.tiles / j.groups * rowsTile * 2 * gemm.PanelLanes(l) * k
	for i := range v.batch * v.groups {
		group := i % v.groups
		j.img = v.src[i*v.perGroup*g.InPlane : (i+1)*v.perGroup*g.InPlane]
		j.dst = v.dst[i*m*g.OutPlane : (i+1)*m*g.OutPlane]
		j.weight = v.packed[group*size : (group+1)*size]
		j.end = v.end.Channels(group*m, m, i*m*g.OutPlane)
		if j.Framed {
			frame.src = j.img
			frame.run(w, v.perGroup)
			j.img = frame.dst
		}
		w.Parallel(panels*j.groups, max(1, par.SimdWork/work), j)
		j.end.MapAll(w, j.dst)
	}
	par.PutJob(w, j)
	par.PutJob(w, frame)
	w.Release(mark)
}

// order chooses which of two operands is read once and which several times: the
// image, for each panel of channels, or the weights, for each group of tiles. Image
// and weights are given in bytes. An operand that stays in the second cache costs
// nothing the second time.
func (j *rowsJob) order(image, weights int) {
	near := rowsNear()
	groups := max(j.groups, (image-1)/(near/3*2)+1)
	again := weights
	if weights > near {
		again *= groups
	}
	if j.imageOnce = image > near && image+again < j.panels*image+weights; j.imageOnce {
		j.groups = min(j.tiles, groups)
	}
}

// Do computes units [lo, hi), each a panel of channels and a group of tiles. With
// imageOnce all panels of weights meet a group of tiles before the next group,
// which reads an image that no near cache holds once; else all tiles meet a panel,
// whose weights stay. Neighbours in this order share cached data.
func (j *rowsJob) Do(lo, hi int) {
	var sums [rowsGroup * rowsTile]float32
	for i := lo; i < hi; i++ {
		if j.imageOnce {
			j.unit(&sums, i%j.panels, i/j.panels)
		} else {
			j.unit(&sums, i/j.groups, i%j.groups)
		}
	}
}

// unit computes a panel of channels at a group of tiles. A block of weights, depth
// steps of k, streams from the second cache once for all tiles of the group, whose
// sums wait in the first one between blocks; a tile's own sums are in registers
// while the block passes.
func (j *rowsJob) unit(sums *[rowsGroup * rowsTile]float32, panel, group int) {
	lanes := gemm.PanelLanes(j.level)
	first := 2 * lanes * panel
	cols := min(2*lanes, j.m-first)
	vecs := (cols + lanes - 1) / lanes
	width := vecs * lanes
	weight := j.weight[first*j.k:]
	lo, hi := group*j.tiles/j.groups, (group+1)*j.tiles/j.groups
	for p := 0; p < j.k; p += j.depth {
		n := min(j.depth, j.k-p)
		b := weight[p*width : (p+n)*width]
		after := weight[min((p+n)*width, len(weight)):]
		if p+n == j.k && group+1 < j.groups {
			switch {
			case !j.imageOnce:
				after = weight // these channels again
			case panel+1 == j.panels:
				after = j.weight // all of them again
			}
		}
		for i := lo; i < hi; i++ {
			t := j.tile(i)
			sum := sums[(i-lo)*rowsTile : (i-lo+1)*rowsTile]
			// Each tile fetches a part of the next block.
			next := b
			if at := (i - lo) * n * 16; at < j.depth*width && at < len(after) {
				next = after[at:]
			}
			convTile32(j.level, t.rows, vecs, j.img[t.place:], j.Offsets[p:p+n], t.jump, b, next, sum, p > 0)
			if p+n == j.k {
				j.store(t, first, cols, sum)
			}
		}
	}
}

// store puts the finished sums of a tile in their place.
func (j *rowsJob) store(t positions, first, cols int, sum []float32) {
	e := gemm.TileEpilogue{Lo: j.end.Lo, Hi: j.end.Hi, Ldr: j.end.Ldr, ScaleRow: operand.Span(j.end.ScaleRow, first, cols), BiasRow: operand.Span(j.end.BiasRow, first, cols),
		Residual: operand.Span(j.end.Residual, first*j.end.Ldr+t.first, (cols-1)*j.end.Ldr+t.rows)}
	convStore32(j.level, t.rows, cols, sum, j.dst[first*j.G.OutPlane+t.first:], j.G.OutPlane, &e)
}

// packRowsJob packs such a weight, panel by panel.
type packRowsJob struct {
	level    cpu.Level
	dst, src []float32
	m, k     int
}

func packRowsWeight(w *par.Workspace, l cpu.Level, dst, src []float32, m, k int) {
	j := par.TakeJob[packRowsJob](w)
	*j = packRowsJob{level: l, dst: dst, src: src, m: m, k: k}
	width := 2 * gemm.PanelLanes(l)
	w.Parallel((m-1)/width+1, max(1, par.SimdPack/(width*k)), j)
	par.PutJob(w, j)
}

// Do packs panels [lo, hi).
func (j *packRowsJob) Do(lo, hi int) {
	lanes := gemm.PanelLanes(j.level)
	for i := lo; i < hi; i++ {
		first := 2 * lanes * i
		cols := min(2*lanes, j.m-first)
		width := operand.RoundUp(cols, lanes)
		gemm.PackPanel(j.level, j.dst[first*j.k:][:width*j.k], width, j.src, j.k, true, first, cols, 0, j.k)
	}
}

// unpackedRows is unpacked for such a weight.
func unpackedRows(l cpu.Level, dst, packed []float32, m, k int) {
	lanes := gemm.PanelLanes(l)
	for c := range m {
		first := c / (2 * lanes) * 2 * lanes
		width := operand.RoundUp(min(2*lanes, m-first), lanes)
		for p := range k {
			dst[c*k+p] = packed[first*k+p*width+c-first]
		}
	}
}
