package kernel

import (
	"strconv"
	"sync/atomic"
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

// winogradJob is a convolution in progress, group by group.
type winogradJob struct {
	winograd
	image, result  []float32 // from the group's first channel of the first image on
	u              []float32 // the group's weight
	finish         epilogue
	v, y, in, outs []float32
	next           int64 // block, when they are apart
	at             int   // block, when they are not
	phase          winogradPhase
}

type winogradPhase uint8

const (
	winogradBlocks winogradPhase = iota
	winogradInputs
	winogradSums
	winogradOutputs
)

// run computes the convolution with the weight that packWinograd packed.
func (v *winogradConv) run(w *Workspace, e int) {
	if n := winogradLen(cpu.level, e, v.groups, v.outPerGroup, v.perGroup); len(v.packed) != n {
		panic("kernel: packed weight has " + strconv.Itoa(len(v.packed)) + " elements, expected " + strconv.Itoa(n) +
			", as PackConv makes with the same Conv and In")
	}
	mark := w.Mark()
	j := takeJob[winogradJob](w)
	*j = winogradJob{winograd: newWinograd(*v, cpu.level, e, w.Threads)}
	sizes := j.scratchSizes()
	j.v, j.y = Scratch[float32](w, sizes[0]), Scratch[float32](w, sizes[1])
	j.in, j.outs = Scratch[float32](w, sizes[2]), Scratch[float32](w, sizes[3])
	size := len(v.packed) / v.groups
	for group := range v.groups {
		j.u = v.packed[group*size : (group+1)*size]
		j.image, j.result = v.src[group*v.perGroup*v.g.inPlane:], v.dst[group*v.outPerGroup*v.g.outPlane:]
		j.finish = v.end.channels(group*v.outPerGroup, v.outPerGroup, group*v.outPerGroup*v.g.outPlane)
		j.group(w)
	}
	putJob(w, j)
	w.Release(mark)
}

// group computes one group: blocks side by side, or where they are few or their
// weights many, the phases of each.
func (j *winogradJob) group(w *Workspace) {
	if j.apart {
		j.phase, j.next = winogradBlocks, 0
		w.Parallel(j.workers, 1, j)
		return
	}
	for j.at = 0; j.at < j.blocks; j.at++ {
		b := j.block(j.at)
		j.phase = winogradInputs
		w.Parallel(j.workers, 1, j)
		j.phase = winogradSums
		n := j.t * j.t * j.bl.panels(j.outPerGroup)
		w.Parallel(n, max(1, simdWork/(j.bl.mr*b.images*b.tiles()*j.perGroup)), j)
		j.phase = winogradOutputs
		w.Parallel(j.workers, 1, j)
	}
}

// Do runs workers [lo, hi), or computes sums [lo, hi) of a block.
func (j *winogradJob) Do(lo, hi int) {
	if j.phase == winogradSums {
		j.sums(j.block(j.at), j.v, j.y, lo, hi)
		return
	}
	for i := lo; i < hi; i++ {
		in, outs := j.in[i*j.sizeP:(i+1)*j.sizeP], j.outs[i*j.sizeO:(i+1)*j.sizeO]
		switch j.phase {
		case winogradInputs:
			b := j.block(j.at)
			n := b.images * j.perGroup
			j.inputs(b, in, j.v, i*n/j.workers, (i+1)*n/j.workers)
		case winogradOutputs:
			b := j.block(j.at)
			j.outputs(b, outs, j.y, i*j.outPerGroup/j.workers, (i+1)*j.outPerGroup/j.workers)
		default:
			v, y := j.v[i*j.sizeV:(i+1)*j.sizeV], j.y[i*j.sizeY:(i+1)*j.sizeY]
			for at := atomic.AddInt64(&j.next, 1) - 1; int(at) < j.blocks; at = atomic.AddInt64(&j.next, 1) - 1 {
				b := j.block(int(at))
				j.inputs(b, in, v, 0, b.images*j.perGroup)
				j.sums(b, v, y, 0, j.t*j.t*j.bl.panels(j.outPerGroup))
				j.outputs(b, outs, y, 0, j.outPerGroup)
			}
		}
	}
}

// winogradBlock is tiles [lo, hi) of some images.
type winogradBlock struct {
	image, images, lo, hi int
}

func (b winogradBlock) tiles() int { return b.hi - b.lo }

// block returns block i.
func (j *winograd) block(i int) winogradBlock {
	per := (j.tiles + j.span - 1) / j.span
	image, lo := i/per*j.images, i%per*j.span
	return winogradBlock{image: image, images: min(j.images, j.batch-image), lo: lo, hi: min(j.tiles, lo+j.span)}
}

// inputs transforms channels [lo, hi), counted over the block's images.
func (j *winogradJob) inputs(b winogradBlock, planes, v []float32, lo, hi int) {
	nr, size := j.bl.nr, j.t*j.t*j.ps
	y0 := b.lo / j.tilesX
	clear(planes) // rows in the padding stay zero
	for i := lo; i < hi; i++ {
		image, c := i/j.perGroup, i%j.perGroup
		at := ((b.image+image)*j.groups*j.perGroup + c) * j.g.inPlane
		j.sort(b, planes, j.image[at:at+j.g.inPlane])
		for p := b.lo; p < b.hi; p += nr {
			dst := v[(image*j.panels+(p-b.lo)/nr)*size+c*nr:]
			winogradInput(j.level, j.e, min(nr, b.hi-p), dst, j.ps, planes[p-y0*j.tilesX:], j.plane, j.tilesX)
		}
	}
}

// sort puts what tiles of the block read of one channel into planes, by its
// place in the patches: all rows at once, or row of tiles by row of tiles where
// the block has but a part of each.
func (j *winogradJob) sort(b winogradBlock, planes, src []float32) {
	ty0, ty1 := b.lo/j.tilesX, (b.hi-1)/j.tilesX
	vecs := func(tiles int) int { return (2*tiles+j.bl.nr)/j.bl.nr + 1 }
	first, last := b.lo-ty0*j.tilesX, b.hi-ty1*j.tilesX
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

// sortRows puts what tiles [from, to) of n rows of tiles read into planes.
func (j *winogradJob) sortRows(planes, src []float32, ty, n, from, to int) {
	g, e := &j.g, j.e
	top := e*ty - g.padLo[1]
	lo, hi := max(0, top), min(g.in[1], top+e*n+2)
	if lo < hi && g.in[2] > 0 {
		above := lo - top
		winogradSplit(j.level, e, hi-lo, above%e, from, to, planes[above/e*j.tilesX:], j.plane, j.tilesX, src[lo*g.in[2]:], g.in[2], g.padLo[2], g.in[2])
	}
}

// sums computes products of a block: for each position and each panel of filters,
// in this order.
func (j *winogradJob) sums(b winogradBlock, v, y []float32, lo, hi int) {
	panels := j.bl.panels(j.outPerGroup)
	for lo < hi {
		p, first := lo/panels, lo%panels
		n := min(panels-first, hi-lo)
		j.position(b, v, y, p, first, first+n)
		lo += n
	}
}

// position multiplies panels [first, last) of position p's filters. Those are read
// in the order in which they lie, seldom twice, so each tile asks for the next.
func (j *winogradJob) position(b winogradBlock, v, y []float32, p, first, last int) {
	bl := &j.bl
	panels, depth := bl.panels(j.outPerGroup), bl.depth(j.perGroup)
	u := j.u[p*packedRows(j.level, j.outPerGroup, j.perGroup):]
	for k := 0; k < j.perGroup; k += depth {
		kc := min(depth, j.perGroup-k)
		for image := range b.images {
			for at := 0; at < b.tiles(); at += bl.nr {
				panel := image*j.panels + at/bl.nr
				right := v[(panel*j.t*j.t+p)*j.ps+k*bl.nr:]
				left := y[(panel*j.t*j.t+p)*j.ldy:]
				cols := min(bl.nr, b.tiles()-at)
				for i := first; i < last; i++ {
					r0, r1 := bl.rows(j.outPerGroup, i)
					here := u[k*panels*bl.stride+i*bl.stride*kc:]
					ahead := fetch{at: &here[0]}
					if len(here) > bl.stride*kc {
						ahead = fetch{&here[bl.stride*kc], 4 * bl.stride}
					}
					winogradProduct(j.level, r1-r0, kc, here, right, left[r0*bl.nr:], cols, k > 0, ahead)
				}
			}
		}
	}
}

// outputs transforms sums of output channels [lo, hi) and stores the results.
func (j *winogradJob) outputs(b winogradBlock, outs, y []float32, lo, hi int) {
	nr, e := j.bl.nr, j.e
	for ; lo < hi; lo += winogradGroup {
		n := min(winogradGroup, hi-lo)
		for image := range b.images {
			for at := b.lo; at < b.hi; at += nr {
				panel := image*j.panels + (at-b.lo)/nr
				tiles := min(nr, b.hi-at)
				winogradOutput(j.level, e, n, tiles, outs, y[panel*j.t*j.t*j.ldy+lo*nr:], j.ldy)
				j.store(b.image+image, lo, n, at, tiles, outs)
			}
		}
	}
}

// store stores the outputs of n channels of some tiles, which lie side by side.
func (j *winogradJob) store(image, chan0, n, tile, tiles int, outs []float32) {
	g, e, width := &j.g, j.e, j.bl.nr*j.e
	plane := (image*j.groups*j.outPerGroup + chan0) * g.outPlane
	for i := 0; i < tiles; {
		ty, tx := (tile+i)/j.tilesX, (tile+i)%j.tilesX
		k := min(tiles-i, j.tilesX-tx)
		a := winogradStore{chans: n, rows: min(e, g.out[1]-e*ty), cols: min(e*(tx+k), g.out[2]) - e*tx,
			dstChan: g.outPlane, dstRow: g.out[2], src: &outs[e*i], srcChan: e * width, srcRow: width,
			lo: j.finish.lo, hi: j.finish.hi, scale: span(j.finish.scaleRow, chan0, n), bias: span(j.finish.biasRow, chan0, n)}
		at, size := plane+e*ty*g.out[2]+e*tx, (n-1)*a.dstChan+(a.rows-1)*a.dstRow+a.cols
		a.dst, a.residual = span(j.result, at, size), span(j.finish.residual, at, size)
		a.run(j.level)
		i += k
	}
}
