package kernel

import "github.com/gofx-dev/gofx/array"

// CanBlock reports whether ConvBlocked computes a convolution of c input
// channels to m: its groups are whole blocks of channels, or one channel each.
func CanBlock(groups, c, m int) bool {
	groups = max(groups, 1)
	return groups == 1 || groups == c && c == m || c/groups%BlockLanes == 0 && m/groups%BlockLanes == 0
}

// blockedDepthwise reports whether each channel is filtered by itself.
func blockedDepthwise(groups, perGroup int) bool { return groups > 1 && perGroup == 1 }

// BlockedConvLen returns the elements that PackConvBlocked takes for a weight of
// the shape [M, C/Groups, kernel...].
func BlockedConvLen(weight []int) int {
	n := blocksOf(weight[0]) * BlockLanes
	for _, d := range weight[1:] {
		n *= d
	}
	return n
}

// PackConvBlocked packs in[0], the f32, f16 or bf16 weight [M, C/Groups,
// kernel...] of a convolution, for ConvBlocked with the same Groups and Planar:
// out[0] is f32 [BlockedConvLen(...)], the same on every machine.
type PackConvBlocked struct {
	Groups int
	Planar bool
}

// Run implements Step.
func (s PackConvBlocked) Run(w *Workspace, out, in []*array.Array) {
	mark := w.Mark()
	dst, weight := array.Data[float32](out[0]), load[float32](w, in[0])
	m, c := in[0].Dim(0), in[0].Dim(1)
	clear(dst)
	if len(weight) > 0 {
		taps := len(weight) / (m * c)
		lanes := BlockLanes
		if s.Planar || blockedDepthwise(s.Groups, c) {
			lanes = 1
		}
		for o := range m {
			packFilter(dst[o/BlockLanes*BlockLanes*c*taps+o%BlockLanes:], weight[o*c*taps:(o+1)*c*taps], c, taps, lanes)
		}
	}
	w.Release(mark)
}

// ScratchBytes implements Scratcher.
func (PackConvBlocked) ScratchBytes(_, in []*array.Array) int { return loadBytes(in[0]) }

// packFilter spreads the filter of one output channel over its lane: blocks of
// input channels outermost, then taps, then the channels of a block.
func packFilter(dst, filter []float32, channels, taps, lanes int) {
	at := 0
	for first := 0; first < channels; first += lanes {
		for t := range taps {
			for c := first; c < min(first+lanes, channels); c++ {
				dst[at] = filter[c*taps+t]
				at += BlockLanes
			}
		}
	}
}

// ConvBlocked is Conv of an image in blocks (see BlockLanes) into one in blocks:
// in[0] [N, ceil(C/16), spatial..., 16], or with Planar [N, C, spatial...], which
// suits images of few channels; in[1] what PackConvBlocked made of a weight
// [Channels, C/Groups, Kernel...]; then bias [M], scale [M] and residual (as the
// result lies), each nil when absent. CanBlock tells which groups it takes; In
// is the number of input channels. Every sum is within (k+2)·2⁻²³·Σ|a·b| of the
// exact one.
type ConvBlocked struct {
	Conv
	In, Channels int // C, M
	Kernel       []int
	Planar       bool
	Epilogue
}

// plan returns the convolution without its operands.
func (s ConvBlocked) plan(l cpuLevel, out, x *array.Array) blockConv {
	nd := len(s.Kernel)
	g := newSpatial(x.Shape()[2:2+nd], out.Shape()[2:2+nd], s.Kernel, s.Stride, s.PadLo, s.Dilation)
	groups := max(s.Groups, 1)
	v := blockConv{level: l, images: out.Dim(0), inPlanes: blocksOf(s.In), blocks: blocksOf(s.Channels),
		perGroup: s.In / groups, depthwise: blockedDepthwise(groups, s.In/groups)}
	unit := BlockLanes
	if s.Planar {
		unit, v.inPlanes = 1, s.In
	}
	v.blockFrame = newBlockFrame(collapsed(g), unit)
	v.groupBlocks, v.groupPlanes = v.blocks, v.inPlanes
	if groups > 1 && !v.depthwise {
		v.groupBlocks, v.groupPlanes = v.blocks/groups, v.inPlanes/groups
	}
	v.layout()
	return v
}

// Run implements Step.
func (s ConvBlocked) Run(w *Workspace, out, in []*array.Array) {
	if out[0].Len() == 0 {
		return
	}
	if !CanBlock(s.Groups, s.In, s.Channels) {
		panic("kernel: ConvBlocked: groups are neither whole blocks of channels nor single channels")
	}
	mark := w.Mark()
	v := s.plan(cpu.level, out[0], in[0])
	v.dst, v.src = array.Data[float32](out[0]), load[float32](w, in[0])
	v.bias, v.scale = v.padded(w, operand(in, 2)), v.padded(w, operand(in, 3))
	v.residual = load[float32](w, operand(in, 4))
	v.weight = array.Data[float32](in[1])
	v.lo, v.hi = s.bounds()
	v.run(w)
	w.Release(mark)
}

// ScratchBytes implements Scratcher.
func (s ConvBlocked) ScratchBytes(out, in []*array.Array) int {
	if out[0].Len() == 0 {
		return 0
	}
	v := s.plan(levelGeneric, out[0], in[0])
	n := loadAllBytes([]*array.Array{in[0], operand(in, 2), operand(in, 3), operand(in, 4)}) + scratchSize(v.offsetCount(), 8)
	for _, a := range []*array.Array{operand(in, 2), operand(in, 3)} {
		if a != nil && a.Len()%BlockLanes != 0 {
			n += scratchSize(v.blocks*BlockLanes, 4)
		}
	}
	if v.framed {
		n += scratchSize(v.inPlanes*v.plane, 4)
	}
	return n
}

// blockConv is a convolution in blocks.
type blockConv struct {
	blockFrame
	level                    cpuLevel
	images, inPlanes, blocks int // planes of an input image; blocks of an output one
	perGroup                 int // input channels
	groupPlanes, groupBlocks int
	depthwise                bool
	dst, src, weight         []float32
	bias, scale, residual    []float32
	lo, hi                   float32

	chunk, chunks   int  // blocks of a tile, tiles side by side in blocks
	rowTiles        int  // tiles of an output row
	weightsOuter    bool // one chunk's weights meet all positions before the next one's
	offsets         []int64
	frames          []float32 // copies with padding
	image, residues []float32
	result          []float32
	taps, inner     [2]int
	weightStep, out int // floats of a block of weights; of an output block
}

// outerWeights is the floats of weights from which on they are not read again
// for every tile of positions: they would leave the second level of cache.
const outerWeights = 1 << 17

// layout plans the tiles.
func (v *blockConv) layout() {
	g := &v.g
	most, ofThree := blockRows(v.level)
	v.chunk = 1
	switch {
	case v.depthwise || ofThree == 0:
	case g.out[2] <= ofThree && v.groupBlocks > 2:
		v.chunk, most = 3, ofThree
	default:
		v.chunk = 2
	}
	v.rowTiles = (g.out[2] + most - 1) / most
	v.chunks = (v.groupBlocks + v.chunk - 1) / v.chunk * (v.blocks / v.groupBlocks)
	v.out = g.outPlane * BlockLanes
	switch {
	case v.depthwise:
		v.taps, v.weightStep = [2]int{g.taps}, g.taps*BlockLanes
		return
	case v.unit == 1:
		v.taps, v.inner = [2]int{v.perGroup * g.taps}, [2]int{1}
	default:
		v.taps, v.inner = [2]int{v.perGroup / BlockLanes * g.taps}, [2]int{BlockLanes, v.perGroup % BlockLanes}
		if v.inner[1] > 0 {
			v.taps[1] = g.taps
		}
	}
	v.weightStep = v.perGroup * g.taps * BlockLanes
	v.weightsOuter = v.weightStep*v.blocks > outerWeights
}

func (v *blockConv) offsetCount() int { return v.taps[0] + v.taps[1] }

// padded returns the values of channels, in whole blocks.
func (v *blockConv) padded(w *Workspace, a *array.Array) []float32 {
	s := load[float32](w, a)
	n := v.blocks * BlockLanes
	if s == nil || len(s) == n {
		return s
	}
	p := Scratch[float32](w, n)
	clear(p[copy(p, s):])
	return p
}

func (v *blockConv) run(w *Workspace) {
	if v.perGroup == 0 || len(v.src) == 0 {
		v.taps = [2]int{}
	}
	offsets := Scratch[int64](w, v.offsetCount())[:0]
	for p := 0; len(offsets) < v.offsetCount(); p++ {
		offsets = v.tapOffsets(offsets, p*v.plane)
	}
	v.offsets = offsets
	if v.framed {
		v.frames = Scratch[float32](w, v.inPlanes*v.plane)
	}
	j := takeJob[blockConvJob](w)
	size := v.inPlanes * v.g.inPlane * v.unit
	tiles := v.g.out[0] * v.g.out[1] * v.rowTiles * v.chunks
	work := v.out * v.blocks / tiles * (v.offsetCount()*max(v.inner[0], 1) + 1)
	for i := range v.images {
		v.image = v.src[i*size : (i+1)*size]
		if len(offsets) > 0 && !v.depthwise {
			v.image = v.frameImage(w, v.frames, v.image, v.inPlanes)
		}
		v.result = v.dst[i*v.blocks*v.out : (i+1)*v.blocks*v.out]
		if v.residual != nil {
			v.residues = v.residual[i*v.blocks*v.out : (i+1)*v.blocks*v.out]
		}
		*j = blockConvJob{*v}
		if v.depthwise {
			w.Parallel(v.blocks, max(1, simdWork*v.blocks/(work*tiles)), j)
		} else {
			w.Parallel(tiles, max(1, simdWork/work), j)
		}
	}
	putJob(w, j)
}

// blockConvJob convolves tiles of an image.
type blockConvJob struct{ blockConv }

// Do convolves tiles [lo, hi), or filters blocks of channels.
func (j *blockConvJob) Do(lo, hi int) {
	c := blockCall{taps: j.taps, inner: j.inner, step: j.g.stride[2] * j.unit, wStep: j.weightStep, yStep: j.out, yPos: BlockLanes, lo: j.lo, hi: j.hi}
	c.setOffsets(j.offsets)
	positions := j.g.out[0] * j.g.out[1] * j.rowTiles
	for i := lo; i < hi; i++ {
		switch {
		case j.depthwise:
			var x []float32
			if len(j.offsets) > 0 {
				x = j.windows(j.frames, j.image, i)
			}
			for p := range positions {
				j.tile(&c, x, p, i)
			}
		case j.weightsOuter:
			j.tile(&c, j.image, i%positions, i/positions)
		default:
			j.tile(&c, j.image, i/j.chunks, i%j.chunks)
		}
	}
}

// tile computes the at-th tile of positions in a chunk of blocks from x.
func (j *blockConvJob) tile(c *blockCall, x []float32, at, chunk int) {
	width := j.g.out[2]
	row, t := at/j.rowTiles, at%j.rowTiles
	x0, x1 := t*width/j.rowTiles, (t+1)*width/j.rowTiles
	perGroup := (j.groupBlocks + j.chunk - 1) / j.chunk
	group, first := chunk/perGroup, chunk%perGroup*j.chunk
	blocks := min(j.chunk, j.groupBlocks-first)
	first += group * j.groupBlocks
	from := group * j.groupPlanes * j.plane
	y := first*j.out + (row*width+x0)*BlockLanes
	c.y, c.w = j.result[y:], j.weight[first*j.weightStep:]
	if j.residues != nil {
		c.residual = j.residues[y:]
	}
	if j.bias != nil {
		c.bias = j.bias[first*BlockLanes:]
	}
	if j.scale != nil {
		c.scale = j.scale[first*BlockLanes:]
	}
	if len(c.offsets) == 0 { // nothing to add up
		c.convGo(x1-x0, blocks)
		return
	}
	c.x = x[from+j.place(row/j.g.out[1], row%j.g.out[1], x0):]
	if j.depthwise {
		c.depthwise(j.level, x1-x0)
	} else {
		c.conv(j.level, x1-x0, blocks)
	}
}
