package winograd

import (
	"strconv"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// winogradStore is outputs on their way to the result, through the epilogue. The
// assembly knows its layout. Without a residual, scale or bias those are nil.
type winogradStore struct {
	chans, rows, cols     int
	dst                   *float32
	dstChan, dstRow       int
	src                   *float32
	srcChan, srcRow       int
	scale, bias, residual *float32 // the residual lies as dst
	lo, hi                float32
}

// channels are those of a group: the operands from its first channel of the first image
// on, its weight and its epilogue.
type channels struct {
	image, result, u []float32
	finish           gemm.Finish
}

// group returns the channels of group i.
func (v *Conv) group(i int) channels {
	size := len(v.Packed) / v.Groups
	return channels{image: v.Src[i*v.PerGroup*v.G.InPlane:], result: v.Dst[i*v.OutPerGroup*v.G.OutPlane:], u: v.Packed[i*size : (i+1)*size],
		finish: v.End.Channels(i*v.OutPerGroup, v.OutPerGroup, i*v.OutPerGroup*v.G.OutPlane)}
}

// piece is a block of a group.
type piece struct {
	channels
	winogradBlock
}

// winogradJob is a convolution in progress.
type winogradJob struct {
	winograd
	of             piece // in progress, where blocks are not apart
	v, y, in, outs []float32
	slots          par.Slots // of the memory that goroutines have for themselves
	phase          winogradPhase
}

type winogradPhase uint8

const (
	winogradBlocks winogradPhase = iota
	winogradInputs
	winogradSums
	winogradOutputs
)

// Run computes the convolution with the weight that Pack packed.
func (v *Conv) Run(w *par.Workspace, e int) {
	if n := Len(cpu.Host.Level, e, v.Groups, v.OutPerGroup, v.PerGroup); len(v.Packed) != n {
		panic("kernel: packed weight has " + strconv.Itoa(len(v.Packed)) + " elements, expected " + strconv.Itoa(n) +
			", as PackConv makes with the same Conv and In")
	}
	mark := w.Mark()
	j := par.TakeJob[winogradJob](w)
	*j = winogradJob{winograd: New(*v, cpu.Host.Level, e, w.Processors(par.MostSlots))}
	sizes := j.ScratchSizes()
	j.v, j.y = par.Scratch[float32](w, sizes[0]), par.Scratch[float32](w, sizes[1])
	j.in, j.outs = par.Scratch[float32](w, sizes[2]), par.Scratch[float32](w, sizes[3])
	if j.Apart {
		j.phase = winogradBlocks
		w.Within(j.workers, j.Groups*j.Blocks, 1, j)
	} else {
		for i := range v.Groups {
			j.of.channels = j.group(i)
			j.blocks(w)
		}
	}
	v.End.MapAll(w, v.Dst)
	par.PutJob(w, j)
	w.Release(mark)
}

// blocks computes a group's blocks, phase by phase.
func (j *winogradJob) blocks(w *par.Workspace) {
	for i := range j.Blocks {
		j.of.winogradBlock = j.Block(i)
		b := &j.of
		j.phase = winogradInputs
		w.Within(j.workers, b.Images*j.PerGroup, grainOf(inputWork, b.Tiles()), j)
		j.phase = winogradSums
		n := j.T * j.T * j.Bl.Panels(j.OutPerGroup)
		w.Parallel(n, max(1, par.SimdWork/(j.Bl.Mr*b.Images*b.Tiles()*j.PerGroup)), j)
		j.phase = winogradOutputs
		w.Within(j.workers, (j.OutPerGroup-1)/winogradGroup+1, grainOf(outputWork, b.Images*b.Tiles()), j)
	}
}

// grainOf is how many pieces of so many tiles are a chunk.
func grainOf(work, tiles int) int { return max(1, work/tiles) }

// Do computes units [lo, hi) of a phase. Apart, these are blocks of groups, each of which goes
// through all phases, and the intermediate results stay in the cache of the goroutine; else
// they are channels, products and runs of channels of one block, whose weights are then read once
// for all of it.
func (j *winogradJob) Do(lo, hi int) {
	if j.phase == winogradSums {
		j.sums(&j.of, j.v, j.y, lo, hi)
		return
	}
	i := j.slots.Take(0)
	defer j.slots.Give(i)
	in, outs := j.in[i*j.sizeP:(i+1)*j.sizeP], j.outs[i*j.sizeO:(i+1)*j.sizeO]
	switch j.phase {
	case winogradInputs:
		j.inputs(&j.of, in, j.v, lo, hi)
	case winogradOutputs:
		j.outputs(&j.of, outs, j.y, lo*winogradGroup, min(hi*winogradGroup, j.OutPerGroup))
	default:
		v, y := j.v[i*j.SizeV:(i+1)*j.SizeV], j.y[i*j.sizeY:(i+1)*j.sizeY]
		for at := lo; at < hi; at++ {
			of := piece{j.group(at / j.Blocks), j.Block(at % j.Blocks)}
			j.inputs(&of, in, v, 0, of.Images*j.PerGroup)
			j.sums(&of, v, y, 0, j.T*j.T*j.Bl.Panels(j.OutPerGroup))
			j.outputs(&of, outs, y, 0, j.OutPerGroup)
		}
	}
}

// winogradBlock is tiles [lo, hi) of some images.
type winogradBlock struct {
	Image, Images, Lo, Hi int
}

func (b winogradBlock) Tiles() int { return b.Hi - b.Lo }

// Block returns block i.
func (j *winograd) Block(i int) winogradBlock {
	per := (j.Tiles + j.span - 1) / j.span
	image, lo := i/per*j.Images, i%per*j.span
	return winogradBlock{Image: image, Images: min(j.Images, j.Batch-image), Lo: lo, Hi: min(j.Tiles, lo+j.span)}
}

// inputs transforms channels [lo, hi), counted over the block's images. A
// channel's rows are sorted by their place in a tile first, so that lanes are
// neighbouring tiles and every load a run; the transformed rows go where the
// products read panels.
func (j *winogradJob) inputs(of *piece, planes, v []float32, lo, hi int) {
	nr, size := j.Bl.Nr, j.T*j.T*j.Ps
	y0 := of.Lo / j.tilesX
	clear(planes) // rows in the padding stay zero
	for i := lo; i < hi; i++ {
		image, c := i/j.PerGroup, i%j.PerGroup
		at := ((of.Image+image)*j.Groups*j.PerGroup + c) * j.G.InPlane
		j.sort(of.winogradBlock, planes, of.image[at:at+j.G.InPlane])
		for p := of.Lo; p < of.Hi; p += nr {
			panel, column := j.panel(image, (p-of.Lo)/nr)
			dst := v[panel*size+c*nr+column:]
			Input(j.level, j.e, min(nr, of.Hi-p), dst, j.Ps, planes[p-y0*j.tilesX:], j.plane, j.tilesX)
		}
	}
}

// sort puts the elements of one channel that the block's tiles read into
// planes, by its place in the patches: all rows at once, or row of tiles by row
// of tiles where the block has but a part of each.
func (j *winogradJob) sort(b winogradBlock, planes, src []float32) {
	ty0, ty1 := b.Lo/j.tilesX, (b.Hi-1)/j.tilesX
	vecs := func(tiles int) int { return (2*tiles+j.Bl.Nr)/j.Bl.Nr + 1 }
	first, last := b.Lo-ty0*j.tilesX, b.Hi-ty1*j.tilesX
	n := ty1 - ty0 + 1
	whole := (j.e*n + 2) * vecs(j.tilesX)
	parts := (j.e + 2) * (vecs(j.tilesX-first) + max(0, n-2)*vecs(j.tilesX) + vecs(last))
	if n > 1 && whole <= parts {
		j.sortRows(planes, src, ty0, n, 0, j.tilesX)
		return
	}
	for ty := ty0; ty <= ty1; ty++ {
		from, to := 0, j.tilesX
		if ty == ty0 {
			from = first
		}
		if ty == ty1 {
			to = last
		}
		j.sortRows(planes[(ty-ty0)*j.tilesX:], src, ty, 1, from, to)
	}
}

// sortRows puts the elements that tiles [from, to) of n rows of tiles read into planes.
func (j *winogradJob) sortRows(planes, src []float32, ty, n, from, to int) {
	g, e := &j.G, j.e
	top := e*ty - g.PadLo[1]
	lo, hi := max(0, top), min(g.In[1], top+e*n+2)
	if lo < hi && g.In[2] > 0 {
		above := lo - top
		Split(j.level, e, hi-lo, above%e, from, to, planes[above/e*j.tilesX:], j.plane, j.tilesX, src[lo*g.In[2]:], g.In[2], g.PadLo[2], g.In[2])
	}
}

// sums computes products of a block: for each position and each panel of filters,
// in this order.
func (j *winogradJob) sums(of *piece, v, y []float32, lo, hi int) {
	panels := j.Bl.Panels(j.OutPerGroup)
	for lo < hi {
		p, first := lo/panels, lo%panels
		n := min(panels-first, hi-lo)
		j.position(of, v, y, p, first, first+n)
		lo += n
	}
}

// position multiplies panels [first, last) of position p's filters. Those are read
// in the order in which they lie, seldom twice, so each tile asks for the next. A
// panel of transformed tiles stays in the first cache while the panels of filters
// pass.
func (j *winogradJob) position(of *piece, v, y []float32, p, first, last int) {
	bl := &j.Bl
	panels, depth := bl.Panels(j.OutPerGroup), bl.Depth(j.PerGroup)
	u := of.u[p*panels*bl.Stride*j.PerGroup:]
	for k := 0; k < j.PerGroup; k += depth {
		kc := min(depth, j.PerGroup-k)
		for panel := range j.BlockPanels(of.Images) {
			right := v[(panel*j.T*j.T+p)*j.Ps+k*bl.Nr:]
			left := y[(panel*j.T*j.T+p)*j.ldy:]
			cols := j.columns(of.winogradBlock, panel)
			for i := first; i < last && cols > 0; i++ {
				r0, r1 := bl.Rows(j.OutPerGroup, i)
				here := u[k*panels*bl.Stride+i*bl.Stride*kc:]
				ahead := gemm.Fetch{At: &here[0]}
				if len(here) > bl.Stride*kc {
					ahead = gemm.Fetch{At: &here[bl.Stride*kc], Step: 4 * bl.Stride}
				}
				winogradProduct(j.level, r1-r0, kc, here, right, left[r0*bl.Nr:], cols, k > 0, ahead)
			}
		}
	}
}

// outputs transforms sums of output channels [lo, hi) and stores the results. A
// group of channels at a time: their sums of all positions of a panel are turned
// back in registers, and the rows of the result that they give are stored, with
// the epilogue, from the first cache.
func (j *winogradJob) outputs(of *piece, outs, y []float32, lo, hi int) {
	nr, e := j.Bl.Nr, j.e
	for ; lo < hi; lo += winogradGroup {
		n := min(winogradGroup, hi-lo)
		for image := range of.Images {
			for at := of.Lo; at < of.Hi; at += nr {
				panel, column := j.panel(image, (at-of.Lo)/nr)
				Output(j.level, e, n, min(nr, of.Hi-at), outs, y[panel*j.T*j.T*j.ldy+lo*nr+column:], j.ldy)
				j.store(of, of.Image+image, lo, n, at, outs)
			}
		}
	}
}

// store stores the outputs of n channels of a panel's tiles, which lie side by side.
func (j *winogradJob) store(of *piece, image, chan0, n, tile int, outs []float32) {
	tiles := min(j.Bl.Nr, of.Hi-tile)
	g, e, width := &j.G, j.e, j.Bl.Nr*j.e
	plane := (image*j.Groups*j.OutPerGroup + chan0) * g.OutPlane
	for i := 0; i < tiles; {
		ty, tx := (tile+i)/j.tilesX, (tile+i)%j.tilesX
		k := min(tiles-i, j.tilesX-tx)
		a := winogradStore{chans: n, rows: min(e, g.Out[1]-e*ty), cols: min(e*(tx+k), g.Out[2]) - e*tx,
			dstChan: g.OutPlane, dstRow: g.Out[2], src: &outs[e*i], srcChan: e * width, srcRow: width,
			lo: of.finish.Lo, hi: of.finish.Hi, scale: operand.Span(of.finish.ScaleRow, chan0, n), bias: operand.Span(of.finish.BiasRow, chan0, n)}
		at, size := plane+e*ty*g.Out[2]+e*tx, (n-1)*a.dstChan+(a.rows-1)*a.dstRow+a.cols
		a.dst, a.residual = operand.Span(of.result, at, size), operand.Span(of.finish.Residual, at, size)
		a.run(j.level)
		i += k
	}
}
