package conv

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/winograd"
)

// The gradient of a weight is a product over all positions of all images: the gradient of
// the result, [filters, positions], times the patches, [positions, taps·channels]. Channels
// lie last in a copy of the images, so that panels of patches are copied in runs and never
// laid out in full. Sums are cut into blocks of positions that follow from sizes alone;
// threads share the elements of the weight.

// weightGrad32 is the gradient of a float32 convolution by its weight, by assembly.
type weightGrad32 struct {
	g                     geom.Spatial
	batch, groups         int
	perGroup, outPerGroup int
	dst, src, grad        []float32
}

// fits reports whether the product suits the sizes. Filters of a single channel read too
// little for it.
func (v *weightGrad32) fits() bool {
	g := &v.g
	return v.perGroup > 0 && v.outPerGroup > 0 && v.batch > 0 && g.InPlane > 0 && g.OutPlane > 0 && g.Taps > 0 && g.Reachable() &&
		(v.groups == 1 || v.perGroup > 1)
}

// winograd returns the gradient as Winograd's algorithm computes it.
func (v *weightGrad32) winograd() winograd.Grad {
	return winograd.Grad{G: v.g, Batch: v.batch, Groups: v.groups, PerGroup: v.perGroup, OutPerGroup: v.outPerGroup, Dst: v.dst, Src: v.src, Seed: v.grad}
}

// lined is a layout of images with channels last, and what a product reads there.
type lined struct {
	gemm.ChannelTable
	extent [3]int // of the copy of an image: what windows reach
	step   [3]int // of a row of the copy, in the image
	chans  int
	images int // that are laid out at a time
	joined bool
}

// layout plans it for a level.
func (v *weightGrad32) layout(l cpu.Level) lined {
	g, unit := &v.g, gemm.ChannelUnit(l)
	t := lined{chans: v.perGroup, step: [3]int{1, 1, 1}}
	var stride, dilate [3]int
	for d := range 3 {
		stride[d], dilate[d] = g.Stride[d], g.Dilate[d]
		t.extent[d] = (g.Out[d]-1)*g.Stride[d] + (g.Kernel[d]-1)*g.Dilate[d] + 1
		if g.Kernel[d] == 1 && d < 2 { // other rows are not read
			t.extent[d], t.step[d], stride[d] = g.Out[d], g.Stride[d], 1
		}
	}
	row := t.extent[2] * t.chans
	size := [3]int{t.extent[1] * row, row, t.chans}
	t.Unit, t.Runs = unit, g.Kernel
	run := t.chans
	if t.joined = t.chans%unit != 0 && dilate[2] == 1; t.joined {
		run, t.Runs[2] = g.Kernel[2]*t.chans, 1
	}
	t.Width = operand.RoundUp(run, unit)
	t.Step[0] = t.extent[0] * size[0]
	for d := range 3 {
		t.Out[1+d], t.Step[1+d], t.RunStep[d] = g.Out[d], stride[d]*size[d], dilate[d]*size[d]
	}
	t.images = min(v.batch, (weightDepth-1)/g.OutPlane+1)
	return t
}

// elems is the floats of the copy. What the last run is filled up with is read, too.
func (t *lined) elems() int { return t.images*t.Step[0] + t.Unit }

// direct reports whether the columns of the product are the elements of a filter.
func (t *lined) direct(taps int) bool { return taps == 1 && t.Width == t.chans }

// scratch is the scratch of run.
func (v *weightGrad32) scratch(l cpu.Level) int {
	t := v.layout(l)
	m, n, k := v.outPerGroup, t.Columns(), t.images*v.g.OutPlane
	size := par.ScratchSize(t.elems(), 4) + par.ScratchSize(gemm.PackedRows(l, m, k), 4)
	if !t.direct(v.g.Taps) {
		size += par.ScratchSize(m*n, 4)
	}
	return size + gemm.BlockScratch(l, m, n, k, false, true)
}

// run computes the gradient, group by group, some images at a time. It needs a level with
// assembly.
func (v *weightGrad32) run(w *par.Workspace) {
	l, g := cpu.Host.Level, &v.g
	t := v.layout(l)
	m, n, size := v.outPerGroup, t.Columns(), v.perGroup*g.Taps
	copied := par.Scratch[float32](w, t.elems())
	clear(copied[t.elems()-t.Unit:])
	packed := par.Scratch[float32](w, gemm.PackedRows(l, m, t.images*g.OutPlane))
	var sums []float32
	if !t.direct(g.Taps) {
		sums = par.Scratch[float32](w, m*n)
	}
	lines, panels, spread := par.TakeJob[lineJob](w), par.TakeJob[gemm.PackBatch](w), par.TakeJob[spreadJob](w)
	for group := range v.groups {
		dst := v.dst[group*m*size : (group+1)*m*size]
		to, ld := sums, n
		if sums == nil {
			to, ld = dst, size
		}
		for at := 0; at < v.batch; at += t.images {
			images := min(t.images, v.batch-at)
			first := at*v.groups + group
			*lines = lineJob{lined: t, level: l, g: *g, dst: copied, src: v.src[first*v.perGroup*g.InPlane:], apart: v.groups * v.perGroup * g.InPlane}
			w.Parallel(images*t.extent[0]*t.extent[1], max(1, par.SimdPack/(t.extent[2]*t.chans)), lines)
			k := images * g.OutPlane
			*panels = gemm.PackBatch{Level: l, Dst: packed, Src: v.grad[first*m*g.OutPlane:], M: m, K: k, Plane: g.OutPlane, Step: v.groups * m * g.OutPlane}
			w.Parallel(gemm.Panels(l, m), max(1, par.SimdPack/(gemm.ChannelUnit(l)*k)), panels)
			table := &lines.ChannelTable
			table.Out[0] = images
			table.Flatten()
			gemm.Multiply(w, gemm.Product{M: m, N: n, K: k, PackedA: packed, B: copied, Window: table, C: to, Ldc: ld, Acc: at > 0})
		}
		if sums != nil {
			*spread = spreadJob{lined: t, level: l, taps: g.Kernel, dst: dst, src: sums}
			w.Parallel(m, max(1, par.SimdPack/n), spread)
		}
	}
	par.PutJob(w, lines)
	par.PutJob(w, panels)
	par.PutJob(w, spread)
}

// lineJob lays images out with channels last, and zeros around them.
type lineJob struct {
	lined
	level    cpu.Level
	g        geom.Spatial
	dst, src []float32
	apart    int // floats from an image to the next
}

// Do lays rows [lo, hi) out.
func (j *lineJob) Do(lo, hi int) {
	row := j.extent[2] * j.chans
	for i := lo; i < hi; i++ {
		y, z := i%j.extent[1], i/j.extent[1]
		j.row(j.dst[i*row:(i+1)*row], z/j.extent[0], z%j.extent[0], y)
	}
}

// row lays one row out.
func (j *lineJob) row(dst []float32, image, z, y int) {
	g := &j.g
	z, y = z*j.step[0]-g.PadLo[0], y*j.step[1]-g.PadLo[1]
	if uint(z) >= uint(g.In[0]) || uint(y) >= uint(g.In[1]) {
		clear(dst)
		return
	}
	lo := min(g.PadLo[2], j.extent[2])
	hi := max(lo, min(g.PadLo[2]+g.In[2], j.extent[2]))
	clear(dst[:lo*j.chans])
	clear(dst[hi*j.chans:])
	if lo < hi {
		src := j.src[image*j.apart+(z*g.In[1]+y)*g.In[2]:]
		gemm.Interleave(j.level, dst[lo*j.chans:], j.chans, src, g.InPlane, j.chans, hi-lo)
	}
}

// spreadJob stores filters whose channels lie last as they lie in a weight.
type spreadJob struct {
	lined
	level    cpu.Level
	taps     [3]int
	dst, src []float32
}

// Do stores filters [lo, hi).
func (j *spreadJob) Do(lo, hi int) {
	n, taps := j.Columns(), j.taps[0]*j.taps[1]*j.taps[2]
	for i := lo; i < hi; i++ {
		dst, src := j.dst[i*taps*j.chans:(i+1)*taps*j.chans], j.src[i*n:(i+1)*n]
		if !j.joined {
			gemm.Interleave(j.level, dst, taps, src, j.Width, taps, j.chans)
			continue
		}
		for row := range j.taps[0] * j.taps[1] {
			for x := range j.taps[2] {
				for c, v := range src[row*j.Width+x*j.chans:][:j.chans] {
					dst[c*taps+row*j.taps[2]+x] = v
				}
			}
		}
	}
}
