package blocked

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// blockConv is a convolution in blocks.
type blockConv struct {
	blockFrame
	level                    cpu.Level
	images, inPlanes, blocks int // planes of an input image; blocks of an output one
	perGroup                 int // input channels
	groupPlanes, groupBlocks int
	depthwise                bool
	dst, src, weight         []float32
	bias, scale, residual    []float32
	lo, hi                   float32
	program                  operand.Function

	chunk, chunks   int  // blocks of a tile, tiles side by side in blocks
	rowTiles        int  // tiles of an output row
	weightsOuter    bool // one chunk's weights meet all positions before the next one's
	offsets         []int64
	frames          []float32 // copies with padding
	image, residues []float32
	result          []float32
	taps, inner     [2]int
	weightStep      int // floats of a block of weights

	// Where the result's positions are, in floats: blocks, slices, rows and
	// positions apart, and the first one.
	out, slices, rows, yPos, origin int
}

// dense lays the results out side by side.
func (v *blockConv) dense() {
	v.yPos, v.origin = BlockLanes, 0
	v.rows = v.g.Out[2] * BlockLanes
	v.slices = v.g.Out[1] * v.rows
	v.out = v.g.Out[0] * v.slices
}

// layout plans the tiles.
func (v *blockConv) layout() {
	g := &v.g
	most, ofThree := blockRows(v.level)
	v.chunk = 1
	switch {
	case v.depthwise || ofThree == 0:
	case g.Out[2] <= ofThree && v.groupBlocks > 2:
		v.chunk, most = 3, ofThree
	default:
		v.chunk = 2
	}
	v.rowTiles = (g.Out[2] + most - 1) / most
	v.chunks = (v.groupBlocks + v.chunk - 1) / v.chunk * (v.blocks / v.groupBlocks)
	switch {
	case v.depthwise:
		v.taps, v.weightStep = [2]int{g.Taps}, g.Taps*BlockLanes
		return
	case v.unit == 1:
		v.taps, v.inner = [2]int{v.perGroup * g.Taps}, [2]int{1}
	default:
		v.taps, v.inner = [2]int{v.perGroup / BlockLanes * g.Taps}, [2]int{BlockLanes, v.perGroup % BlockLanes}
		if v.inner[1] > 0 {
			v.taps[1] = g.Taps
		}
	}
	v.weightStep = v.perGroup * g.Taps * BlockLanes
	v.weightsOuter = v.weightStep*v.blocks > outerWeights()
}

func (v *blockConv) offsetCount() int { return v.taps[0] + v.taps[1] }

// split divides planes and blocks among groups.
func (v *blockConv) split(groups int) {
	v.groupBlocks, v.groupPlanes = v.blocks, v.inPlanes
	if groups > 1 && !v.depthwise {
		v.groupBlocks, v.groupPlanes = v.blocks/groups, v.inPlanes/groups
	}
}

// operands loads those of a step: image, weight, bias, scale and residual.
func (v *blockConv) operands(w *par.Workspace, out, in []*array.Array, e operand.Epilogue) {
	v.dst, v.src, v.weight = array.Data[float32](out[0]), operand.Load[float32](w, in[0]), array.Data[float32](in[1])
	v.bias, v.scale = v.padded(w, operand.At(in, 2)), v.padded(w, operand.At(in, 3))
	v.residual = operand.Load[float32](w, operand.At(in, 4))
	v.lo, v.hi = e.Bounds()
	v.program = e.Program
}

// operandBytes is the scratch that operands takes.
func (v *blockConv) operandBytes(in []*array.Array) int {
	n := operand.LoadBytes(in[0]) + operand.LoadBytes(operand.At(in, 4))
	for i := 2; i <= 3; i++ {
		if a := operand.At(in, i); a != nil {
			n += operand.LoadBytes(a)
			if a.Len()%BlockLanes != 0 {
				n += par.ScratchSize(v.blocks*BlockLanes, 4)
			}
		}
	}
	return n
}

// padded returns the values of channels, in whole blocks.
func (v *blockConv) padded(w *par.Workspace, a *array.Array) []float32 {
	s := operand.Load[float32](w, a)
	n := v.blocks * BlockLanes
	if s == nil || len(s) == n {
		return s
	}
	p := par.Scratch[float32](w, n)
	clear(p[copy(p, s):])
	return p
}

// run convolves every image.
func (v *blockConv) run(w *par.Workspace) {
	if v.perGroup == 0 || len(v.src) == 0 {
		v.taps = [2]int{}
	}
	offsets := par.Scratch[int64](w, v.offsetCount())[:0]
	for p := 0; len(offsets) < v.offsetCount(); p++ {
		offsets = v.tapOffsets(offsets, p*v.plane)
	}
	v.offsets = offsets
	if v.framed {
		v.frames = par.Scratch[float32](w, v.inPlanes*v.plane)
	}
	for i := range v.images {
		v.open(i, v.g.InPlane)
		if len(offsets) > 0 && !v.depthwise {
			v.image = v.frameImage(w, v.frames, v.image, v.inPlanes)
		}
		v.sweep(w)
	}
}

// open sets the image to convolve, of planes of the given number of positions.
func (v *blockConv) open(i, plane int) {
	size := v.inPlanes * plane * v.unit
	v.image = v.src[i*size : (i+1)*size]
	v.result = v.dst[i*v.blocks*v.out : (i+1)*v.blocks*v.out]
	if v.residual != nil {
		v.residues = v.residual[i*v.blocks*v.out : (i+1)*v.blocks*v.out]
	}
}

// sweep convolves the image that is open.
func (v *blockConv) sweep(w *par.Workspace) {
	j := par.TakeJob[blockConvJob](w)
	*j = blockConvJob{*v}
	positions := v.g.Out[0] * v.g.Out[1] * v.rowTiles
	work := BlockLanes * v.chunk * v.g.Out[2] / v.rowTiles * (v.offsetCount()*max(v.inner[0], 1) + 1) // of a tile
	if v.depthwise {
		w.Parallel(v.blocks, max(1, par.SimdWork/(work*positions)), j)
	} else {
		w.Parallel(positions*v.chunks, max(1, par.SimdWork/work), j)
	}
	par.PutJob(w, j)
}

// blockConvJob convolves tiles of an image.
type blockConvJob struct{ blockConv }

// Do convolves tiles [lo, hi), or filters blocks of channels. The order of tiles
// is what the caches decide. All channels of one position follow each other as
// long as the second cache holds all weights, which every position reads again;
// with weightsOuter the weights of one tile of channels meet all positions first,
// and it is the image that passes again for each.
func (j *blockConvJob) Do(lo, hi int) {
	c := blockCall{taps: j.taps, inner: j.inner, step: j.g.Stride[2] * j.unit, wStep: j.weightStep, yStep: j.out, yPos: j.yPos, lo: j.lo, hi: j.hi}
	c.setOffsets(j.offsets)
	positions := j.g.Out[0] * j.g.Out[1] * j.rowTiles
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
	width := j.g.Out[2]
	row, t := at/j.rowTiles, at%j.rowTiles
	x0, x1 := t*width/j.rowTiles, (t+1)*width/j.rowTiles
	perGroup := (j.groupBlocks + j.chunk - 1) / j.chunk
	group, first := chunk/perGroup, chunk%perGroup*j.chunk
	blocks := min(j.chunk, j.groupBlocks-first)
	first += group * j.groupBlocks
	from := group * j.groupPlanes * j.plane
	z, y := row/j.g.Out[1], row%j.g.Out[1]
	at = first*j.out + j.origin + z*j.slices + y*j.rows + x0*j.yPos
	c.y, c.w = j.result[at:], j.weight[first*j.weightStep:]
	if j.residues != nil {
		c.residual = j.residues[at:]
	}
	if j.bias != nil {
		c.bias = j.bias[first*BlockLanes:]
	}
	if j.scale != nil {
		c.scale = j.scale[first*BlockLanes:]
	}
	switch {
	case len(c.offsets) == 0: // nothing to add up
		c.convGo(x1-x0, blocks)
	case j.depthwise:
		c.x = x[from+j.place(z, y, x0):]
		c.depthwise(j.level, x1-x0)
	default:
		c.x = x[from+j.place(z, y, x0):]
		c.conv(j.level, x1-x0, blocks)
	}
	if j.program != nil {
		for b := range blocks {
			j.program.Map(x1-x0, BlockLanes, c.y[b*j.out:], j.yPos)
		}
	}
}
