package blocked

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/pool"
)

// MaxPoolBlocked is MaxPool of an f32 image in blocks (see BlockLanes), without
// indices: in[0] [N, B, spatial..., 16], out[0] likewise. NaN is the greatest.
//
//gofx:kernel
type MaxPoolBlocked struct{ pool.MaxPool }

// Run implements Step.
func (s MaxPoolBlocked) Run(w *par.Workspace, out, in []*array.Array) {
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
//
//gofx:kernel
type AvgPoolBlocked struct{ pool.AvgPool }

// Run implements Step.
func (s AvgPoolBlocked) Run(w *par.Workspace, out, in []*array.Array) {
	mark := w.Mark()
	j := newBlockPool(out[0], in[0], s.Kernel, s.Stride, s.PadLo, nil)
	j.divisors = par.Scratch[float32](w, j.g.OutPlane)
	divideWindows(s.AvgPool, &j.g, j.divisors)
	j.run(w, out[0], in[0])
	w.Release(mark)
}

// ScratchBytes implements Scratcher.
func (s AvgPoolBlocked) ScratchBytes(out, in []*array.Array) int {
	j := newBlockPool(out[0], in[0], s.Kernel, s.Stride, s.PadLo, nil)
	return par.ScratchSize(j.g.OutPlane, 4) + j.scratch(in[0])
}

// divideWindows stores the divisor of each window. Where it has no element of the
// input its sum is zero, and so is the result. They are the same for all planes,
// so they are computed once and read beside the sums.
func divideWindows(s pool.AvgPool, g *geom.Spatial, divisors []float32) {
	hi := s.PadHi
	if hi == nil {
		hi = s.PadLo
	}
	end := g.In
	for i, p := range hi {
		end[3-len(hi)+i] += p
	}
	for o := range divisors {
		var from [3]int
		from[0], from[1], from[2] = g.Origin(o)
		padded, own := 1, 1
		for d := range 3 {
			to := min(from[d]+g.Kernel[d], end[d])
			padded *= to - from[d]
			own *= max(min(to, g.In[d])-max(from[d], 0), 0)
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
	level            cpu.Level
	most             bool
	planes, rowTiles int
	dst, src, frames []float32
	divisors         []float32
	offsets          []int64
}

func newBlockPool(out, x *array.Array, kernel, stride, padLo, dilation []int) blockPool {
	nd := len(kernel)
	g := geom.NewSpatial(x.Shape()[2:2+nd], out.Shape()[2:2+nd], kernel, geom.StrideOr(stride, kernel), padLo, dilation)
	return blockPool{blockFrame: newBlockFrame(g, BlockLanes), level: cpu.Host.Level, planes: out.Dim(0) * out.Dim(1)}
}

func (j *blockPool) scratch(x *array.Array) int {
	n := operand.LoadBytes(x) + par.ScratchSize(j.g.Taps, 8)
	if j.framed {
		n += par.ScratchSize(j.planes*j.plane, 4)
	}
	return n
}

func (j *blockPool) run(w *par.Workspace, out, x *array.Array) {
	if out.Len() == 0 {
		return
	}
	j.g.NeedPixels("pool")
	mark := w.Mark()
	j.dst, j.src = array.Data[float32](out), operand.Load[float32](w, x)
	j.offsets = j.tapOffsets(par.Scratch[int64](w, j.g.Taps)[:0], 0)
	if j.framed {
		j.frames = par.Scratch[float32](w, j.planes*j.plane)
	}
	most, _ := blockRows(j.level)
	j.rowTiles = (j.g.Out[2] + most - 1) / most
	job := par.TakeJob[blockPoolJob](w)
	*job = blockPoolJob{*j}
	w.Parallel(j.planes, max(1, par.SimdWork/(BlockLanes*j.g.OutPlane*j.g.Taps+j.plane)), job)
	par.PutJob(w, job)
	w.Release(mark)
}

// blockPoolJob pools planes of blocks.
type blockPoolJob struct{ blockPool }

// Do pools planes [lo, hi). A tile is a run of positions of one output row, whose
// lanes stay in registers while all taps pass; windows of the next row find the
// rows that they share in a near cache.
func (j *blockPoolJob) Do(lo, hi int) {
	c := blockCall{taps: [2]int{j.g.Taps}, step: j.g.Stride[2] * BlockLanes, yPos: BlockLanes}
	c.setOffsets(j.offsets)
	width := j.g.Out[2]
	for i := lo; i < hi; i++ {
		x := j.windows(j.frames, j.src, i)
		y := j.dst[i*j.g.OutPlane*BlockLanes:][:j.g.OutPlane*BlockLanes]
		for row := range j.g.Out[0] * j.g.Out[1] {
			for t := range j.rowTiles {
				x0, x1 := t*width/j.rowTiles, (t+1)*width/j.rowTiles
				at := row*width + x0
				c.x, c.y = x[j.place(row/j.g.Out[1], row%j.g.Out[1], x0):], y[at*BlockLanes:]
				if j.divisors != nil {
					c.divisors = j.divisors[at:]
				}
				c.pool(j.level, x1-x0, j.most)
			}
		}
	}
}
