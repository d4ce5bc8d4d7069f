package kernel

import (
	"math"

	"github.com/gofx-dev/gofx/array"
)

// MaxPoolBlocked is MaxPool of an f32 image in blocks (see BlockLanes), without
// indices: in[0] [N, B, spatial..., 16], out[0] likewise. NaN is the greatest.
type MaxPoolBlocked struct{ MaxPool }

// Run implements Step.
func (s MaxPoolBlocked) Run(w *Workspace, out, in []*array.Array) {
	j := newBlockPool(out[0], in[0], s.Kernel, s.Stride, s.PadLo, s.Dilation)
	j.fill, j.most = float32(math.Inf(-1)), true
	j.run(w, out[0], in[0])
}

// ScratchBytes implements Scratcher.
func (s MaxPoolBlocked) ScratchBytes(out, in []*array.Array) int {
	j := newBlockPool(out[0], in[0], s.Kernel, s.Stride, s.PadLo, s.Dilation)
	return j.scratch(in[0])
}

// AvgPoolBlocked is AvgPool of an f32 image in blocks (see BlockLanes): in[0]
// [N, B, spatial..., 16], out[0] likewise. A window is summed in one row of taps.
type AvgPoolBlocked struct{ AvgPool }

// Run implements Step.
func (s AvgPoolBlocked) Run(w *Workspace, out, in []*array.Array) {
	mark := w.Mark()
	j := newBlockPool(out[0], in[0], s.Kernel, s.Stride, s.PadLo, nil)
	j.divisors = Scratch[float32](w, j.g.outPlane)
	divideWindows(s.AvgPool, &j.g, j.divisors)
	j.run(w, out[0], in[0])
	w.Release(mark)
}

// ScratchBytes implements Scratcher.
func (s AvgPoolBlocked) ScratchBytes(out, in []*array.Array) int {
	j := newBlockPool(out[0], in[0], s.Kernel, s.Stride, s.PadLo, nil)
	return scratchSize(j.g.outPlane, 4) + j.scratch(in[0])
}

// divideWindows stores the divisor of each window. Where it has no element of the
// input its sum is zero, and so is the result.
func divideWindows(s AvgPool, g *spatial, divisors []float32) {
	hi := s.PadHi
	if hi == nil {
		hi = s.PadLo
	}
	end := g.in
	for i, p := range hi {
		end[3-len(hi)+i] += p
	}
	for o := range divisors {
		var from [3]int
		from[0], from[1], from[2] = g.origin(o)
		padded, own := 1, 1
		for d := range 3 {
			to := min(from[d]+g.kernel[d], end[d])
			padded *= to - from[d]
			own *= max(min(to, g.in[d])-max(from[d], 0), 0)
		}
		n := own
		switch {
		case own == 0:
			n = 1
		case s.DivisorOverride != 0:
			n = s.DivisorOverride
		case s.CountIncludePad:
			n = padded
		}
		divisors[o] = float32(n)
	}
}

// blockPool pools blocks of channels.
type blockPool struct {
	blockFrame
	level            cpuLevel
	most             bool
	planes, rowTiles int
	dst, src, frames []float32
	divisors         []float32
	offsets          []int64
}

func newBlockPool(out, x *array.Array, kernel, stride, padLo, dilation []int) blockPool {
	nd := len(kernel)
	g := newSpatial(x.Shape()[2:2+nd], out.Shape()[2:2+nd], kernel, strideOr(stride, kernel), padLo, dilation)
	return blockPool{blockFrame: newBlockFrame(g, BlockLanes), level: cpu.level, planes: out.Dim(0) * out.Dim(1)}
}

func (j *blockPool) scratch(x *array.Array) int {
	n := loadBytes(x) + scratchSize(j.g.taps, 8)
	if j.framed {
		n += scratchSize(j.planes*j.plane, 4)
	}
	return n
}

func (j *blockPool) run(w *Workspace, out, x *array.Array) {
	if out.Len() == 0 {
		return
	}
	j.g.needPixels("pool")
	mark := w.Mark()
	j.dst, j.src = array.Data[float32](out), load[float32](w, x)
	j.offsets = j.tapOffsets(Scratch[int64](w, j.g.taps)[:0], 0)
	if j.framed {
		j.frames = Scratch[float32](w, j.planes*j.plane)
	}
	most, _ := blockRows(j.level)
	j.rowTiles = (j.g.out[2] + most - 1) / most
	job := takeJob[blockPoolJob](w)
	*job = blockPoolJob{*j}
	w.Parallel(j.planes, max(1, simdWork/(BlockLanes*j.g.outPlane*j.g.taps+j.plane)), job)
	putJob(w, job)
	w.Release(mark)
}

// blockPoolJob pools planes of blocks.
type blockPoolJob struct{ blockPool }

// Do pools planes [lo, hi).
func (j *blockPoolJob) Do(lo, hi int) {
	c := blockCall{taps: [2]int{j.g.taps}, step: j.g.stride[2] * BlockLanes, yPos: BlockLanes}
	c.setOffsets(j.offsets)
	width := j.g.out[2]
	for i := lo; i < hi; i++ {
		x := j.windows(j.frames, j.src, i)
		y := j.dst[i*j.g.outPlane*BlockLanes:][:j.g.outPlane*BlockLanes]
		for row := range j.g.out[0] * j.g.out[1] {
			for t := range j.rowTiles {
				x0, x1 := t*width/j.rowTiles, (t+1)*width/j.rowTiles
				at := row*width + x0
				c.x, c.y = x[j.place(row/j.g.out[1], row%j.g.out[1], x0):], y[at*BlockLanes:]
				if j.divisors != nil {
					c.divisors = j.divisors[at:]
				}
				c.pool(j.level, x1-x0, j.most)
			}
		}
	}
}
