package conv

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// A transposed convolution is a convolution with the weight turned: with a stride of s, one
// for each of the s remainders of a position, by those taps of the weight that reach such
// positions. Each is a product of the weight, packed once, with the patches of as many small
// images as fill its columns.

// transposed32 is a float32 transposed convolution by assembly.
type transposed32 struct {
	g                      geom.Spatial // of the convolution whose gradient this is
	batch, groups          int
	perGroup, outPerGroup  int // channels of the input and of the result
	dst, src, weight, bias []float32
}

// fits reports whether products suit the sizes: with few channels of the result, tiles would
// be low and the patches most of the work.
func (v *transposed32) fits() bool {
	g := &v.g
	if v.batch == 0 || v.perGroup == 0 || v.outPerGroup < transposedChannels || g.InPlane == 0 || g.OutPlane == 0 || g.Taps == 0 {
		return false
	}
	for i := range v.phases() {
		if p := v.phase(i); !p.g.Reachable() {
			return false
		}
	}
	return true
}

// turnedPhase is the part of a transposed convolution that gives the positions with one
// remainder: a convolution of stride 1 by some taps.
type turnedPhase struct {
	g     geom.Spatial
	at    [3]int // the remainder
	first [3]int // tap, and the step from tap to tap
	step  [3]int
}

func (v *transposed32) phases() int { return v.g.Stride[0] * v.g.Stride[1] * v.g.Stride[2] }

// phase returns phase i. Without taps or positions its Taps or OutPlane is 0.
func (v *transposed32) phase(i int) turnedPhase {
	var p turnedPhase
	g := &v.g
	var out, taps, pad, dilate [3]int
	for d := 2; d >= 0; d-- {
		s := g.Stride[d]
		p.at[d] = i % s
		i /= s
		out[d] = (g.In[d] - p.at[d] + s - 1) / s
		common := divisor(s, g.Dilate[d])
		p.step[d], dilate[d] = s/common, g.Dilate[d]/common
		from := p.at[d] + g.PadLo[d]
		for p.first[d] = 0; p.first[d] < g.Kernel[d] && (from-p.first[d]*g.Dilate[d])%s != 0; p.first[d]++ {
		}
		if p.first[d] < g.Kernel[d] {
			taps[d] = (g.Kernel[d]-1-p.first[d])/p.step[d] + 1
			pad[d] = (taps[d]-1)*dilate[d] - (from-p.first[d]*g.Dilate[d])/s
		}
	}
	p.g = geom.NewSpatial(g.Out[:], out[:], taps[:], nil, pad[:], dilate[:])
	return p
}

// divisor is the greatest one that two positive numbers have in common.
func divisor(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// together returns how many images share a product of a phase.
func (v *transposed32) together(p *turnedPhase) int {
	if v.g.In[0] > 1 || v.g.Out[0] > 1 || v.g.Kernel[0] > 1 || v.g.PadLo[0] > 0 {
		return 1
	}
	return min(v.batch, (transposedColumns-1)/p.g.OutPlane+1)
}

// place reports whether products stand in the result as they are.
func (v *transposed32) place(images int) bool { return images == 1 && v.phases() == 1 }

// tables returns the layout of so many images, and of one of them.
func (p *turnedPhase) tables(images int) (all, one gemm.PatchTable) {
	if images == 1 {
		t := gemm.NewPatchTable(p.g)
		return t, t
	}
	g := p.g
	g.In[0], g.Out[0] = images, images
	g.InPlane, g.OutPlane = g.InPlane*images, g.OutPlane*images
	return gemm.NewFramedTable(g), gemm.NewFramedTable(p.g)
}

// scratch is the scratch of run.
func (v *transposed32) scratch(l cpu.Level) (most int) {
	for i := range v.phases() {
		p := v.phase(i)
		if p.g.Taps == 0 || p.g.OutPlane == 0 {
			continue
		}
		images := v.together(&p)
		m, n, k := v.outPerGroup, images*p.g.OutPlane, v.perGroup*p.g.Taps
		t, _ := p.tables(images)
		size := par.ScratchSize(gemm.PackedRows(l, m, k), 4) + par.ScratchSize(k, 8) + par.ScratchSize(p.g.Taps, 8) + gemm.BlockScratch(l, m, n, k, false, true)
		if t.Framed {
			size += par.ScratchSize(v.perGroup*t.Plane, 4)
		}
		if !v.place(images) {
			size += par.ScratchSize(m*n, 4)
		}
		most = max(most, size)
	}
	return most
}

// run computes the convolution. It needs a level with assembly.
func (v *transposed32) run(w *par.Workspace) {
	list, whole := v.phases(), true
	for i := range list {
		if p := v.phase(i); p.g.Taps == 0 {
			whole = false
		}
	}
	if !whole { // some positions are reached by no tap
		fillChannels(v.dst, v.bias, v.groups*v.outPerGroup, v.g.InPlane)
	}
	for i := range list {
		if p := v.phase(i); p.g.Taps > 0 && p.g.OutPlane > 0 {
			v.runPhase(w, &p)
		}
	}
}

func (v *transposed32) runPhase(w *par.Workspace, p *turnedPhase) {
	mark := w.Mark()
	l, images := cpu.Host.Level, v.together(p)
	m, plane, k := v.outPerGroup, p.g.OutPlane, v.perGroup*p.g.Taps
	packed := par.Scratch[float32](w, gemm.PackedRows(l, m, k))
	j, turn, put := par.TakeJob[turnedFrames](w), par.TakeJob[turnJob](w), par.TakeJob[phaseJob](w)
	j.PatchTable, j.one = p.tables(images)
	j.level, j.images = l, images
	j.SetOffsets(par.Scratch[int64](w, k), v.perGroup)
	j.TurnTaps()
	taps := par.Scratch[int64](w, p.g.Taps)
	for t := range taps {
		taps[t] = int64(p.tap(t, v.g.Kernel))
	}
	if j.Framed {
		j.dst = par.Scratch[float32](w, v.perGroup*j.Plane)
	}
	direct := v.place(images)
	var sums []float32
	if !direct {
		sums = par.Scratch[float32](w, m*images*plane)
	}
	for group := range v.groups {
		if weight := v.weight[group*v.perGroup*m*v.g.Taps:]; v.g.Taps == 1 {
			gemm.PackWhole(w, l, packed, weight, m, true, m, k)
		} else {
			*turn = turnJob{level: l, dst: packed, src: weight, taps: taps, all: v.g.Taps, m: m, k: v.perGroup}
			w.Parallel(gemm.Panels(l, m), max(1, par.PackWork/(gemm.ChannelUnit(l)*k)), turn)
		}
		for at := 0; at < v.batch; at += images {
			some := min(images, v.batch-at)
			first := at*v.groups + group
			j.src, j.apart, j.channels = v.src[first*v.perGroup*p.g.InPlane:], v.groups*v.perGroup*p.g.InPlane, v.perGroup
			product := gemm.Product{M: m, N: some * plane, K: k, PackedA: packed, B: j.src, Ldb: j.one.G.InPlane, C: sums, Ldc: images * plane}
			if direct {
				product.C, product.Ldc = v.dst[first*m*plane:(first+1)*m*plane], plane
			}
			if j.Framed {
				w.Parallel(v.perGroup*some, max(1, par.SimdPack/j.one.Plane), j)
				product.B, product.Ldb = j.dst, j.Plane
			}
			if !j.Sampled && !j.one.G.Pointwise() {
				product.Window = &j.PatchTable
			}
			if v.bias != nil {
				product.End = gemm.Finish{BiasRow: v.bias[group*m : (group+1)*m]}.With(operand.Epilogue{})
			}
			gemm.Multiply(w, product)
			if !direct {
				*put = phaseJob{phase: *p, g: v.g, m: m, ld: images * plane, dst: v.dst[first*m*v.g.InPlane:], apart: v.groups * m * v.g.InPlane, src: sums}
				w.Parallel(some*m, max(1, par.PackWork/plane), put)
			}
		}
	}
	par.PutJob(w, j)
	par.PutJob(w, turn)
	par.PutJob(w, put)
	w.Release(mark)
}

// turnedFrames lays images side by side for their patches to be packed.
type turnedFrames struct {
	gemm.PatchTable
	one              gemm.PatchTable // of one image
	level            cpu.Level
	dst, src         []float32
	apart            int // floats from an image to the next
	channels, images int
}

// Do lays channels of images [lo, hi) out.
func (j *turnedFrames) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		image, c := i/j.channels, i%j.channels
		j.one.Frame(j.level, j.dst[c*j.Plane+image*j.one.Plane:][:j.one.Plane], j.src[image*j.apart+c*j.one.G.InPlane:][:j.one.G.InPlane], 0, j.one.Extent[1])
	}
}

// turnJob packs the taps of a phase of a weight [channels, m, kernel...] as the left operand
// of a product, [m, channels·taps].
type turnJob struct {
	level    cpu.Level
	dst, src []float32
	taps     []int64 // where they are in a filter
	all      int     // elements of a filter
	m, k     int
}

// Do packs panels [lo, hi).
func (j *turnJob) Do(lo, hi int) {
	bl := gemm.BlockingOf(j.level)
	k := j.k * len(j.taps)
	depth, panels := bl.Depth(k), bl.Panels(j.m)
	for i := lo; i < hi; i++ {
		r0, r1 := bl.Rows(j.m, i)
		src, t := j.src[r0*j.all:], 0
		for p := 0; p < k; p += depth {
			kc := min(depth, k-p)
			dst := j.dst[p*panels*bl.Stride+i*bl.Stride*kc:][:bl.Stride*kc]
			for ; len(dst) > 0; dst = dst[bl.Stride:] {
				at := int(j.taps[t])
				for r := range dst[:r1-r0] {
					dst[r] = src[at]
					at += j.all
				}
				clear(dst[r1-r0 : bl.Stride])
				if t++; t == len(j.taps) && len(src) > j.m*j.all {
					src, t = src[j.m*j.all:], 0
				}
			}
		}
	}
}

// tap returns which element of a kernel tap t of the phase is.
func (p *turnedPhase) tap(t int, kernel [3]int) int {
	x, y := t%p.g.Kernel[2], t/p.g.Kernel[2]
	z := p.first[0] + y/p.g.Kernel[1]*p.step[0]
	y = p.first[1] + y%p.g.Kernel[1]*p.step[1]
	return (z*kernel[1]+y)*kernel[2] + p.first[2] + x*p.step[2]
}

// phaseJob stores the products of a phase in their places in the result.
type phaseJob struct {
	phase    turnedPhase
	g        geom.Spatial
	m, ld    int
	dst, src []float32
	apart    int // floats from an image of the result to the next
}

// Do stores channels of images [lo, hi).
func (j *phaseJob) Do(lo, hi int) {
	g, out, s := &j.g, &j.phase.g.Out, j.g.Stride[2]
	for i := lo; i < hi; i++ {
		image, m := i/j.m, i%j.m
		src := j.src[m*j.ld+image*j.phase.g.OutPlane:][:j.phase.g.OutPlane]
		dst := j.dst[image*j.apart+m*g.InPlane:][:g.InPlane]
		if g.InPlane == len(src) {
			copy(dst, src)
			continue
		}
		for row := range out[0] * out[1] {
			z, y := row/out[1]*g.Stride[0]+j.phase.at[0], row%out[1]*g.Stride[1]+j.phase.at[1]
			to := dst[(z*g.In[1]+y)*g.In[2]:][:g.In[2]][j.phase.at[2]:]
			for x, v := range src[row*out[2]:][:out[2]] {
				to[x*s] = v
			}
		}
	}
}
