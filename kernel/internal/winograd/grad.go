package winograd

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Grad is the gradient of a convolution with filters of 3x3 and stride 1 by its weight, with
// operands: patches and tiles of F(4x4,3x3) are transformed, multiplied position by
// position and added up over all tiles of all images; the sums are turned back to filters.
type Grad struct {
	G                     geom.Spatial
	Batch, Groups         int
	PerGroup, OutPerGroup int
	Dst, Src, Seed        []float32 // Seed is the gradient of the convolution's result
}

// GradPays compares the estimated cycles of a gradient by transforms with those of direct
// sums: multiply-adds at the rates that their loops reach, and what is moved. It goes by sizes
// and the level alone.
func GradPays(l cpu.Level, v Grad) bool {
	one := [3]int{1, 1, 1}
	g := &v.G
	if l == cpu.Generic || g.Kernel != [3]int{1, 3, 3} || g.Stride != one || g.Dilate != one || v.Batch*g.OutPlane*v.PerGroup*v.OutPerGroup == 0 {
		return false
	}
	bl, lanes := gemm.BlockingOf(l), gemm.PanelLanes(l)
	rate := float64(bl.Nr) // multiply-adds a cycle: two vectors, as wide as a panel
	weights := float64(v.PerGroup * v.OutPerGroup)
	direct := float64(v.Batch*g.OutPlane*gradTaps)*weights/rate/0.75 + perWeight*weights
	tiles := float64(v.Batch * ((g.Out[1] + gradSide - 1) / gradSide) * ((g.Out[2] + gradSide - 1) / gradSide))
	vecs, filters := (v.PerGroup+lanes-1)/lanes, bl.Panels(v.OutPerGroup)
	moved := float64(perTile*(vecs+filters))*tiles + float64(perTaps*vecs*v.OutPerGroup)
	if l == cpu.NEON { // in Go
		moved *= 6
	}
	sums := gradAll * (tiles*float64(vecs*lanes*v.OutPerGroup)/rate/0.85 + perProduct*float64((vecs+1)/2*filters))
	return sums+moved < direct
}

// grad is the plan of a Grad. A chunk is some rows of tiles of an image, which are laid out at a
// time. A block is chunks whose transforms are kept until they are multiplied. Lanes are
// channels: a row of a product is a filter, a column a channel, and the sum goes over tiles.
type grad struct {
	Grad
	level           cpu.Level
	bl              gemm.Blocking
	tilesX, tilesY  int
	rows, chunks    int // rows of tiles of a chunk, and chunks of an image
	most, blocks    int // chunks of a block, and blocks
	depth           int // most tiles of a block
	panels, filters int // panels of channels, and of filters
	parts, heights  int // pieces of a column of panels that are summed together, and their panels
	pv, pe, py      int // floats between positions of patches, of tiles and of sums
	workers         int
}

const (
	gradSide = 4 // of a tile
	gradAll  = (gradSide + 2) * (gradSide + 2)
	gradTaps = 9
)

// newGrad plans the gradient on the given number of threads, which changes no result.
func newGrad(v Grad, l cpu.Level, threads int) grad {
	j := grad{Grad: v, level: l, bl: gemm.BlockingOf(l), workers: threads}
	nr, g := j.bl.Nr, &v.G
	j.tilesX, j.tilesY = (g.Out[2]+gradSide-1)/gradSide, (g.Out[1]+gradSide-1)/gradSide
	j.rows = max(1, min(j.tilesY, gradChunk/(gradSide*j.width()*nr)-1))
	j.chunks = (j.tilesY + j.rows - 1) / j.rows
	tiles := j.rows * j.tilesX
	sums := v.PerGroup * v.OutPerGroup
	most := max(gradBlock, sums) / (v.PerGroup + v.OutPerGroup)
	all := v.Batch * j.chunks
	j.blocks = (all*tiles + most - 1) / most
	j.most = max(1, (all+j.blocks-1)/j.blocks)
	j.blocks = (all + j.most - 1) / j.most
	j.depth = j.most * tiles
	j.panels, j.filters = (v.PerGroup+nr-1)/nr, j.bl.Panels(v.OutPerGroup)
	j.parts = (j.filters + gradHeight - 1) / gradHeight
	j.heights = (j.filters + j.parts - 1) / j.parts
	j.parts = (j.filters + j.heights - 1) / j.heights
	// Positions are a cache line off multiples of the page size.
	j.pv, j.pe, j.py = j.depth*nr+16, j.filters*j.depth*j.bl.Stride+16, j.heights*j.bl.Mr*nr+16
	return j
}

// width is the columns that the patches of a row of tiles reach.
func (j *grad) width() int { return gradSide*j.tilesX + 2 }

// scratchSizes are the floats of transformed patches and tiles, of sums, and of what each
// worker lays out.
func (j *grad) scratchSizes() [4]int {
	nr := j.bl.Nr
	in := max((j.rows+1)*gradSide*j.width()*nr, j.rows*gradSide*gradSide*j.tilesX*j.bl.Stride, gradTaps*gradFilters*nr)
	sums := j.workers
	if j.blocks > 1 {
		sums = j.panels * j.parts
	}
	return [4]int{j.panels * gradAll * j.pv, gradAll * j.pe, sums * gradAll * j.py, j.workers * in}
}

// GradScratch is the most scratch that a gradient takes.
func GradScratch(v Grad, l cpu.Level) int {
	n, j := 0, newGrad(v, l, par.Machine(par.MostSlots))
	for _, size := range j.scratchSizes() {
		n += par.ScratchSize(size, 4)
	}
	return n
}

// gradJob is a gradient in progress, group by group and block by block.
type gradJob struct {
	grad
	image, tangent, weight []float32 // from the group's first channel of the first image on
	v, e, y, in            []float32
	block                  int
	first, count           int // chunks of the block
	multiply               bool
	slots                  par.Slots
}

// Run computes the gradient. It needs a level with assembly, and sizes greater than zero.
func (v *Grad) Run(w *par.Workspace) {
	mark := w.Mark()
	j := par.TakeJob[gradJob](w)
	*j = gradJob{grad: newGrad(*v, cpu.Host.Level, w.Processors(par.MostSlots))}
	sizes := j.scratchSizes()
	j.v, j.e = par.Scratch[float32](w, sizes[0]), par.Scratch[float32](w, sizes[1])
	j.y, j.in = par.Scratch[float32](w, sizes[2]), par.Scratch[float32](w, sizes[3])
	for group := range v.Groups {
		j.image, j.tangent = v.Src[group*v.PerGroup*v.G.InPlane:], v.Seed[group*v.OutPerGroup*v.G.OutPlane:]
		size := v.OutPerGroup * v.PerGroup * gradTaps
		j.weight = v.Dst[group*size : (group+1)*size]
		for j.block = 0; j.block < j.blocks; j.block++ {
			j.first = j.block * j.most
			j.count = min(j.most, v.Batch*j.chunks-j.first)
			j.multiply = false
			w.Within(j.workers, j.count*(j.panels+j.filters), 1, j)
			j.multiply = true
			w.Within(j.workers, j.panels*j.parts, 1, j)
		}
	}
	par.PutJob(w, j)
	w.Release(mark)
}

// Do computes units [lo, hi): panels of chunks that are laid out and transformed, or parts of the
// sums.
func (j *gradJob) Do(lo, hi int) {
	inSize, ySize := len(j.in)/j.workers, gradAll*j.py
	slot := j.slots.Take(0)
	defer j.slots.Give(slot)
	in := j.in[slot*inSize : (slot+1)*inSize]
	for at := lo; at < hi; at++ {
		switch tile := at - j.count*j.panels; {
		case j.multiply:
			kept := slot
			if j.blocks > 1 {
				kept = at
			}
			j.sums(at/j.parts, at%j.parts, j.y[kept*ySize:(kept+1)*ySize], in)
		case tile < 0:
			j.patches(at%j.count, at/j.count, in)
		default:
			j.tiles(tile%j.count, tile/j.count, in)
		}
	}
}

// chunk returns what chunk i of the block is: rows of tiles [lo, hi) of an image.
func (j *grad) chunk(i int) (image, lo, hi int) {
	lo = i % j.chunks * j.rows
	return i / j.chunks, lo, min(j.tilesY, lo+j.rows)
}

// offset returns how many tiles of the block come before its chunk i.
func (j *gradJob) offset(i int) int {
	at := func(i int) int {
		image, lo, _ := j.chunk(i)
		return (image*j.tilesY + lo) * j.tilesX
	}
	return at(j.first+i) - at(j.first)
}

// patches lays the rows that a chunk's patches reach out, a panel of channels last and zeros
// around them, and transforms the patches. Rows y%4 of a row of tiles lie next to each other, as
// Input reads them.
func (j *gradJob) patches(i, panel int, in []float32) {
	image, lo, hi := j.chunk(j.first + i)
	nr, lanes := j.bl.Nr, gemm.PanelLanes(j.level)
	chans := min(nr, j.PerGroup-panel*nr)
	src := j.image[(image*j.Groups*j.PerGroup+panel*nr)*j.G.InPlane:]
	row, col := j.width()*gradSide*nr, gradSide*nr
	for y := range gradSide*(hi-lo) + 2 {
		j.line(in[y/gradSide*row+y%gradSide*nr:], col, src, gradSide*lo+y-j.G.PadLo[1], chans)
	}
	n := (chans + lanes - 1) / lanes * lanes
	dst := j.v[panel*gradAll*j.pv+j.offset(i)*nr:]
	for ty := range hi - lo {
		for tx := range j.tilesX {
			Input(j.level, gradSide, n, dst[(ty*j.tilesX+tx)*nr:], j.pv, in[ty*row+tx*gradSide*col:], nr, row)
		}
	}
}

// line lays row y of some channels out, the next column col floats further.
func (j *gradJob) line(dst []float32, col int, src []float32, y, chans int) {
	lanes, width := gemm.PanelLanes(j.level), j.width()
	lo := min(j.G.PadLo[2], width)
	hi := max(lo, min(j.G.PadLo[2]+j.G.In[2], width))
	if uint(y) >= uint(j.G.In[1]) {
		hi = lo
	}
	for c := 0; c < chans; c += lanes {
		for x := range lo {
			clear(dst[x*col+c:][:lanes])
		}
		if lo < hi {
			gemm.PackAlong(j.level, dst[lo*col+c:], col, src[c*j.G.InPlane+y*j.G.In[2]:], j.G.InPlane, min(lanes, chans-c), hi-lo)
		}
		for x := hi; x < width; x++ {
			clear(dst[x*col+c:][:lanes])
		}
	}
}

// tiles lays a chunk's rows of the gradient out, the filters of a panel last and zeros after
// them, and transforms the tiles.
func (j *gradJob) tiles(i, panel int, in []float32) {
	image, lo, hi := j.chunk(j.first + i)
	stride, g := j.bl.Stride, &j.G
	r0, r1 := j.bl.Rows(j.OutPerGroup, panel)
	src := j.tangent[(image*j.Groups*j.OutPerGroup+r0)*g.OutPlane+gradSide*lo*g.Out[2]:]
	row := gradSide * j.tilesX * stride
	have := min(gradSide*hi, g.Out[1]) - gradSide*lo
	if row == g.Out[2]*stride {
		gemm.PackAlong(j.level, in, stride, src, g.OutPlane, r1-r0, have*g.Out[2])
	} else {
		for y := range have {
			gemm.PackAlong(j.level, in[y*row:], stride, src[y*g.Out[2]:], g.OutPlane, r1-r0, g.Out[2])
			clear(in[y*row+g.Out[2]*stride : (y+1)*row])
		}
	}
	clear(in[have*row : gradSide*(hi-lo)*row])
	dst := j.e[(panel*j.depth+j.offset(i))*stride:]
	for ty := range hi - lo {
		seed(j.level, j.tilesX, dst[ty*j.tilesX*stride:], j.pe, in[gradSide*ty*row:], stride, row)
	}
}

// sums adds the block's products of a panel of channels and some panels of filters to y, and
// turns them to filters after the last block.
func (j *gradJob) sums(panel, part int, y, outs []float32) {
	bl, nr := &j.bl, j.bl.Nr
	first, last := part*j.heights, min(j.filters, (part+1)*j.heights)
	base, _ := bl.Rows(j.OutPerGroup, first)
	_, end := bl.Rows(j.OutPerGroup, last-1)
	cols := min(nr, j.PerGroup-panel*nr)
	k := j.offset(j.count-1) + j.length(j.count-1)
	pieces := (k + gradDepth - 1) / gradDepth
	depth := (k + pieces - 1) / pieces
	for p := range gradAll {
		for at := 0; at < k; at += depth {
			kc := min(depth, k-at)
			right := j.v[(panel*gradAll+p)*j.pv+at*nr:]
			for i := first; i < last; i++ {
				r0, r1 := bl.Rows(j.OutPerGroup, i)
				left := j.e[p*j.pe+(i*j.depth+at)*bl.Stride:]
				ahead := gemm.Fetch{At: &left[0]}
				if i+1 < last {
					ahead = gemm.Fetch{At: &left[j.depth*bl.Stride], Step: 4 * bl.Stride}
				}
				winogradProduct(j.level, r1-r0, kc, left, right, y[p*j.py+(r0-base)*nr:], cols, j.block > 0 || at > 0, ahead)
			}
		}
	}
	if j.block < j.blocks-1 {
		return
	}
	for r := base; r < end; r += gradFilters {
		n := min(gradFilters, end-r)
		taps(j.level, n*nr/gemm.PanelLanes(j.level), outs, n*nr, y[(r-base)*nr:], j.py)
		for i := range n {
			dst := j.weight[((r+i)*j.PerGroup+panel*nr)*gradTaps:][:cols*gradTaps]
			gemm.Interleave(j.level, dst, gradTaps, outs[i*nr:], n*nr, gradTaps, cols)
		}
	}
}

// length returns the tiles of the block's chunk i.
func (j *gradJob) length(i int) int {
	_, lo, hi := j.chunk(j.first + i)
	return (hi - lo) * j.tilesX
}
