package blocked

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

//go:generate go run -C ../../../internal/asmgen ./blocked

// BlockLanes is the channels that the blocked layout keeps together on every
// processor: an image [N, C, spatial...] is [N, ceil(C/16), spatial..., 16], f32,
// in which a channel past C is zero or ignored. Convolutions read it without
// laying out patches (Georganas et al., "Anatomy of High-Performance Deep
// Learning Convolutions on SIMD Architectures", 2018).
//
//gofx:kernel
const BlockLanes = 16

// blocksOf returns how many blocks n channels take.
func blocksOf(n int) int { return (n + BlockLanes - 1) / BlockLanes }

// ToBlocked lays in[0], an f32 image [N, C, spatial...], out in blocks: out[0]
// [N, ceil(C/16), spatial..., 16], channels past C zero.
//
//gofx:kernel
type ToBlocked struct{}

// Run implements Step.
func (ToBlocked) Run(w *par.Workspace, out, in []*array.Array) {
	reblock(w, array.Data[float32](out[0]), in[0], in[0].Dim(1), true)
}

// ScratchBytes implements Scratcher.
func (ToBlocked) ScratchBytes(_, in []*array.Array) int { return operand.LoadBytes(in[0]) }

// FromBlocked is the inverse of ToBlocked: in[0] is an image in blocks, out[0]
// [N, C, spatial...].
//
//gofx:kernel
type FromBlocked struct{}

// Run implements Step.
func (FromBlocked) Run(w *par.Workspace, out, in []*array.Array) {
	reblock(w, array.Data[float32](out[0]), in[0], out[0].Dim(1), false)
}

// ScratchBytes implements Scratcher.
func (FromBlocked) ScratchBytes(_, in []*array.Array) int { return operand.LoadBytes(in[0]) }

// reblock moves x to dst, into blocks or out of them.
func reblock(w *par.Workspace, dst []float32, x *array.Array, channels int, into bool) {
	images := x.Dim(0)
	if len(dst) == 0 || images*channels == 0 {
		clear(dst)
		return
	}
	mark := w.Mark()
	j := par.TakeJob[reblockJob](w)
	*j = reblockJob{level: cpu.Host.Level, dst: dst, src: operand.Load[float32](w, x), channels: channels, blocks: blocksOf(channels), into: into}
	j.plane = min(len(dst), len(j.src)) / (images * channels)
	w.Parallel(images*j.blocks, max(1, par.SimdPack/(BlockLanes*j.plane)), j)
	par.PutJob(w, j)
	w.Release(mark)
}

// reblockJob moves blocks of channels.
type reblockJob struct {
	level                   cpu.Level
	dst, src                []float32
	channels, blocks, plane int
	into                    bool
}

// Do moves blocks [lo, hi) of all images. A block of sixteen channels is one unit,
// for it is one run of memory on the blocked side; on the other it is sixteen
// planes, which hardware follows as so many streams.
func (j *reblockJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		first := i % j.blocks * BlockLanes
		n := min(BlockLanes, j.channels-first)
		at := (i/j.blocks*j.channels + first) * j.plane
		block := i * BlockLanes * j.plane
		if j.into {
			pack16(j.level, j.dst[block:][:BlockLanes*j.plane], j.src[at:][:n*j.plane], n, j.plane)
		} else {
			unpack16(j.level, j.dst[at:][:n*j.plane], j.src[block:][:BlockLanes*j.plane], n, j.plane)
		}
	}
}

// pack16 lays n channels of a plane out as one block. Vectors are loaded along
// planes and turned in registers, as many channels at a time as a vector has
// lanes.
func pack16(l cpu.Level, dst, src []float32, n, plane int) {
	if l == cpu.Generic {
		for c := range n {
			for p, v := range src[c*plane:][:plane] {
				dst[p*BlockLanes+c] = v
			}
		}
	} else {
		lanes := gemm.PanelLanes(l)
		for c := 0; c < n; c += lanes {
			gemm.PackAlong(l, dst[c:], BlockLanes, src[c*plane:], plane, min(lanes, n-c), plane)
		}
	}
	if n < BlockLanes {
		for p := range plane {
			clear(dst[p*BlockLanes+n : (p+1)*BlockLanes])
		}
	}
}

// unpack16 lays a block out as n channels of a plane. Here positions are the rows
// that are turned: a vector's worth of them at a time, and the last few one by
// one.
func unpack16(l cpu.Level, dst, src []float32, n, plane int) {
	whole := 0
	if l != cpu.Generic {
		lanes := gemm.PanelLanes(l)
		for whole = 0; whole+lanes <= plane; whole += lanes {
			gemm.PackAlong(l, dst[whole:], plane, src[whole*BlockLanes:], BlockLanes, lanes, n)
		}
	}
	for p := whole; p < plane; p++ {
		for c, v := range src[p*BlockLanes:][:n] {
			dst[c*plane+p] = v
		}
	}
}

// blockFrame is how sliding windows read an image: in place, or from a copy in
// which padding is part of it. An element is a block of channels, or one.
type blockFrame struct {
	g      geom.Spatial
	unit   int // floats an element
	framed bool
	extent [3]int
	plane  int     // floats of a channel or block
	fill   float32 // of padding
}

func newBlockFrame(g geom.Spatial, unit int) blockFrame {
	f := blockFrame{g: g, unit: unit, extent: g.In}
	var reach [3]int
	for d := range 3 {
		reach[d] = (g.Out[d]-1)*g.Stride[d] + (g.Kernel[d]-1)*g.Dilate[d] + 1
		f.framed = f.framed || g.PadLo[d] != 0 || reach[d] > g.In[d]
	}
	if f.framed {
		f.extent = reach
	}
	f.plane = f.extent[0] * f.extent[1] * f.extent[2] * unit
	return f
}

// collapsed returns g with all positions in one row, where windows are points.
func collapsed(g geom.Spatial) geom.Spatial {
	if g.Pointwise() {
		g.In, g.Out = [3]int{1, 1, g.InPlane}, [3]int{1, 1, g.OutPlane}
	}
	return g
}

// place returns where the window of an output position begins in a plane.
func (f *blockFrame) place(z, y, x int) int {
	g := &f.g
	return ((z*g.Stride[0]*f.extent[1]+y*g.Stride[1])*f.extent[2] + x*g.Stride[2]) * f.unit
}

// tapOffsets appends the places of the taps of the plane that begins at `at`, in bytes.
func (f *blockFrame) tapOffsets(offsets []int64, at int) []int64 {
	g := &f.g
	for z := range g.Kernel[0] {
		for y := range g.Kernel[1] {
			for x := range g.Kernel[2] {
				p := ((z*g.Dilate[0]*f.extent[1]+y*g.Dilate[1])*f.extent[2] + x*g.Dilate[2]) * f.unit
				offsets = append(offsets, int64(4*(at+p)))
			}
		}
	}
	return offsets
}

// copy fills one plane of the frame. Row by row, since what of a row is inside is
// one run of both.
func (f *blockFrame) copy(dst, src []float32) {
	g, row := &f.g, f.extent[2]*f.unit
	lo := min(g.PadLo[2], f.extent[2]) * f.unit
	hi := max(lo, min(f.extent[2], g.PadLo[2]+g.In[2])*f.unit)
	for z := range f.extent[0] {
		for y := range f.extent[1] {
			d := dst[(z*f.extent[1]+y)*row:][:row]
			iz, iy := z-g.PadLo[0], y-g.PadLo[1]
			if uint(iz) >= uint(g.In[0]) || uint(iy) >= uint(g.In[1]) {
				fillWith(d, f.fill)
				continue
			}
			fillWith(d[:lo], f.fill)
			copy(d[lo:hi], src[(iz*g.In[1]+iy)*g.In[2]*f.unit:])
			fillWith(d[hi:], f.fill)
		}
	}
}

func fillWith(d []float32, v float32) {
	if v == 0 {
		clear(d)
		return
	}
	for i := range d {
		d[i] = v
	}
}

// blockFrameJob frames the planes of an image.
type blockFrameJob struct {
	blockFrame
	dst, src []float32
}

// Do frames planes [lo, hi).
func (j *blockFrameJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		j.windows(j.dst, j.src, i)
	}
}

// frameImage returns what windows over n planes of src read, in dst when that
// has to be a copy.
func (f *blockFrame) frameImage(w *par.Workspace, dst, src []float32, n int) []float32 {
	if !f.framed {
		return src
	}
	j := par.TakeJob[blockFrameJob](w)
	*j = blockFrameJob{*f, dst, src}
	w.Parallel(n, max(1, par.SimdPack/f.plane), j)
	par.PutJob(w, j)
	return dst
}

// windows returns plane i of src as windows read it, copied to its place among
// frames when it has to be.
func (f *blockFrame) windows(frames, src []float32, i int) []float32 {
	n := f.g.InPlane * f.unit
	x := src[i*n : (i+1)*n]
	if !f.framed {
		return x
	}
	frame := frames[i*f.plane : (i+1)*f.plane]
	f.copy(frame, x)
	return frame
}
