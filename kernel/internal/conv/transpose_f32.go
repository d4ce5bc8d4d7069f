package conv

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// A transposed convolution of stride 1 is a convolution with the weight turned: a product of the
// weight, packed once, with the patches of as many small images as fill its columns. With
// greater strides most of a turned weight would meet gaps; their products are added where
// their taps belong.

// transposed32 is a float32 transposed convolution of stride 1 by assembly.
type transposed32 struct {
	g                      geom.Spatial // of the convolution with the weight turned
	batch, groups          int
	perGroup, outPerGroup  int // channels of the input and of the result
	dst, src, weight, bias []float32
}

// turned returns the geometry of the convolution with the weight turned.
func turned(g *geom.Spatial) geom.Spatial {
	var pad [3]int
	for d := range pad {
		pad[d] = (g.Kernel[d]-1)*g.Dilate[d] - g.PadLo[d]
	}
	return geom.NewSpatial(g.Out[:], g.In[:], g.Kernel[:], nil, pad[:], g.Dilate[:])
}

// fits reports whether the product suits the sizes: with few channels of the result, tiles
// would be low and the patches most of the work.
func (v *transposed32) fits() bool {
	g := &v.g
	return v.batch > 0 && v.perGroup > 0 && v.outPerGroup >= transposedChannels && g.InPlane > 0 && g.OutPlane > 0 && g.Taps > 0 && g.Reachable()
}

// together returns how many images share a product: they lie along the third dimension, if
// that is free.
func (v *transposed32) together() int {
	if v.g.In[0] > 1 || v.g.Out[0] > 1 || v.g.Kernel[0] > 1 {
		return 1
	}
	return min(v.batch, (transposedColumns-1)/v.g.OutPlane+1)
}

// tables returns the layout of so many images, and of one of them.
func (v *transposed32) tables(images int) (all, one gemm.PatchTable) {
	if images == 1 {
		t := gemm.NewPatchTable(v.g)
		return t, t
	}
	g := v.g
	g.In[0], g.Out[0] = images, images
	g.InPlane, g.OutPlane = g.InPlane*images, g.OutPlane*images
	return gemm.NewFramedTable(g), gemm.NewFramedTable(v.g)
}

// scratch is the scratch of run.
func (v *transposed32) scratch(l cpu.Level) int {
	images := v.together()
	m, n, k := v.outPerGroup, images*v.g.OutPlane, v.perGroup*v.g.Taps
	t, _ := v.tables(images)
	size := par.ScratchSize(gemm.PackedRows(l, m, k), 4) + par.ScratchSize(k, 8) + gemm.BlockScratch(l, m, n, k, false, true)
	if t.Framed {
		size += par.ScratchSize(v.perGroup*t.Plane, 4)
	}
	if images > 1 {
		size += par.ScratchSize(m*n, 4)
	}
	return size
}

// run computes the convolution. It needs a level with assembly.
func (v *transposed32) run(w *par.Workspace) {
	l, images := cpu.Host.Level, v.together()
	m, plane, k := v.outPerGroup, v.g.OutPlane, v.perGroup*v.g.Taps
	packed := par.Scratch[float32](w, gemm.PackedRows(l, m, k))
	j, turn, put := par.TakeJob[turnedFrames](w), par.TakeJob[turnJob](w), par.TakeJob[putJob](w)
	j.PatchTable, j.one = v.tables(images)
	j.level, j.channels = l, v.perGroup
	j.SetOffsets(par.Scratch[int64](w, k), v.perGroup)
	j.TurnTaps()
	if j.Framed {
		j.dst = par.Scratch[float32](w, v.perGroup*j.Plane)
	}
	var sums []float32
	if images > 1 {
		sums = par.Scratch[float32](w, m*images*plane)
	}
	for group := range v.groups {
		weight := v.weight[group*v.perGroup*m*v.g.Taps:]
		if v.g.Taps == 1 {
			gemm.PackWhole(w, l, packed, weight, m, true, m, k)
		} else {
			*turn = turnJob{level: l, dst: packed, src: weight, taps: v.g.Taps, m: m, k: k}
			w.Parallel(gemm.Panels(l, m), max(1, par.PackWork/(gemm.ChannelUnit(l)*k)), turn)
		}
		for at := 0; at < v.batch; at += images {
			some := min(images, v.batch-at)
			first := at*v.groups + group
			j.src, j.apart = v.src[first*v.perGroup*v.g.InPlane:], v.groups*v.perGroup*v.g.InPlane
			p := gemm.Product{M: m, N: some * plane, K: k, PackedA: packed, B: j.src, Ldb: v.g.InPlane, C: sums, Ldc: images * plane}
			if images == 1 {
				p.C, p.Ldc = v.dst[first*m*plane:(first+1)*m*plane], plane
			}
			if j.Framed {
				w.Parallel(v.perGroup*some, max(1, par.SimdPack/j.one.Plane), j)
				p.B, p.Ldb = j.dst, j.Plane
			}
			if !j.Sampled && !v.g.Pointwise() {
				p.Window = &j.PatchTable
			}
			if v.bias != nil {
				p.End = gemm.Finish{BiasRow: v.bias[group*m : (group+1)*m]}.With(operand.Epilogue{})
			}
			gemm.Multiply(w, p)
			if images > 1 {
				*put = putJob{m: m, plane: plane, ld: images * plane, dst: v.dst[first*m*plane:], apart: v.groups * m * plane, src: sums}
				w.Parallel(some*m, max(1, par.SimdPack/plane), put)
			}
		}
	}
	par.PutJob(w, j)
	par.PutJob(w, turn)
	par.PutJob(w, put)
}

// turnedFrames lays images side by side for their patches to be packed.
type turnedFrames struct {
	gemm.PatchTable
	one      gemm.PatchTable // of one image
	level    cpu.Level
	dst, src []float32
	apart    int // floats from an image to the next
	channels int
}

// Do lays channels of images [lo, hi) out.
func (j *turnedFrames) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		image, c := i/j.channels, i%j.channels
		j.one.Frame(j.level, j.dst[c*j.Plane+image*j.one.Plane:][:j.one.Plane], j.src[image*j.apart+c*j.one.G.InPlane:][:j.one.G.InPlane], 0, j.one.Extent[1])
	}
}

// turnJob packs a weight [channels, m, taps] as the left operand of a product,
// [m, channels·taps].
type turnJob struct {
	level      cpu.Level
	dst, src   []float32
	taps, m, k int
}

// Do packs panels [lo, hi).
func (j *turnJob) Do(lo, hi int) {
	bl := gemm.BlockingOf(j.level)
	depth, panels := bl.Depth(j.k), bl.Panels(j.m)
	for i := lo; i < hi; i++ {
		r0, r1 := bl.Rows(j.m, i)
		src, t := j.src[r0*j.taps:], 0
		for p := 0; p < j.k; p += depth {
			kc := min(depth, j.k-p)
			dst := j.dst[p*panels*bl.Stride+i*bl.Stride*kc:][:bl.Stride*kc]
			for len(dst) > 0 { // the taps of a channel, as far as the block reaches
				n := min(j.taps-t, len(dst)/bl.Stride)
				gemm.PackAlong(j.level, dst, bl.Stride, src[t:], j.taps, r1-r0, n)
				dst = dst[n*bl.Stride:]
				if t += n; t == j.taps && len(src) > j.m*j.taps {
					src, t = src[j.m*j.taps:], 0
				}
			}
		}
	}
}

// putJob stores products of several images in their places in the result.
type putJob struct {
	m, plane, ld int
	dst, src     []float32
	apart        int // floats from an image of the result to the next
}

// Do stores channels of images [lo, hi).
func (j *putJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		image, m := i/j.m, i%j.m
		copy(j.dst[image*j.apart+m*j.plane:][:j.plane], j.src[m*j.ld+image*j.plane:])
	}
}
