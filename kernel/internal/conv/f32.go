package conv

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// conv32 is a float32 convolution by assembly.
type conv32 struct {
	g                        geom.Spatial
	batch, groups            int
	perGroup, outPerGroup    int
	dst, src, weight, packed []float32   // the weight, or all its groups packed
	rows                     bool        // packed for tiles of positions and channels
	tile                     int         // side of the tiles that the weight was transformed for, zero if it was not
	exact                    bool        // a bias is added to the sum
	pairs                    bool        // elements are words of two channels, see gemm.Brains
	channels                 int         // of a group, before two of them became a word
	end                      gemm.Finish // for one image: rows are output channels, columns positions
}

// fits reports whether the assembly's layouts suit the convolution; the others
// are rare or empty.
func (v *conv32) fits() bool {
	return v.perGroup > 0 && v.outPerGroup > 0 && v.batch > 0 && v.g.InPlane > 0 && v.g.OutPlane > 0 && v.g.Taps > 0 && v.g.Reachable()
}

// level is what instructions multiply.
func (v *conv32) level() cpu.Level {
	if v.pairs {
		return cpu.Pairs
	}
	return cpu.Host.Level
}

// scratch is the scratch of run.
func (v *conv32) scratch(l cpu.Level, packed bool) int {
	g, perGroup := &v.g, v.perGroup
	if v.depthwise32(l) {
		return v.depthwiseScratch(l)
	}
	if v.rows && hasConvTile(l) {
		if v.dense() {
			return 0
		}
		return v.apartScratch(l)
	}
	if packed && hasConvTile(l) && spansFit(l, g, v.outPerGroup, perGroup) {
		return max(v.apartScratch(l), v.scratchProducts(l, packed))
	}
	return v.scratchProducts(l, packed)
}

// scratchProducts is the scratch of products.
func (v *conv32) scratchProducts(l cpu.Level, packed bool) int {
	g, batch, perGroup, outPerGroup := &v.g, v.batch, v.perGroup, v.outPerGroup
	k := perGroup * g.Taps
	t := gemm.NewPatchTable(*g)
	whole := packed || packsWeight(l, batch, g.OutPlane)
	n := 0
	if whole && !packed {
		n = par.ScratchSize(gemm.PackedRows(l, outPerGroup, k), 4)
	}
	p := gemm.Product{M: outPerGroup, N: g.OutPlane, K: k, Ldb: g.OutPlane}
	switch {
	case g.Pointwise():
	case t.Sampled:
		n += par.ScratchSize(perGroup*t.Plane, 4)
	default:
		n += par.ScratchSize(k, 8)
		if t.Framed {
			n += par.ScratchSize(perGroup*t.Plane, 4)
		}
		return n + gemm.BlockScratch(l, p.M, p.N, p.K, !whole, true)
	}
	switch {
	case !whole && p.Streams(l):
		return n
	case !whole && p.Thin(l):
		return n + p.ThinScratch()
	}
	return n + gemm.BlockScratch(l, p.M, p.N, p.K, !whole, true)
}

// packsWeight reports whether the weight is read so often that it is packed as a
// whole first.
func packsWeight(l cpu.Level, batch, positions int) bool {
	bl := gemm.BlockingOf(l)
	return batch > 1 || positions > bl.Nc
}

func depthwise32(l cpu.Level, perGroup, groups int) bool {
	return perGroup == 1 && groups > 1 && gemm.HasThin(l)
}

// depthwise32 reports whether each filter has a channel of its own.
func (v *conv32) depthwise32(l cpu.Level) bool {
	return !v.pairs && depthwise32(l, v.perGroup, v.groups)
}

// run computes the convolution. It needs a level with assembly.
func (v *conv32) run(w *par.Workspace) {
	mark := w.Mark()
	l := v.level()
	switch {
	case v.depthwise32(l):
		v.depthwise(w, l)
	case v.rows && hasConvTile(l) && v.dense():
		v.runDense(w)
	case v.byGroups(w, l):
	case v.rows && hasConvTile(l):
		v.runRows(w)
	case v.spans(l):
		v.runSpans(w, l)
	default:
		v.products(w, l)
	}
	w.Release(mark)
}

// products multiplies the weight of each group with the patches of each image.
// Groups are outermost, so that a weight that has to be packed is packed once for
// all images. Patches are never laid out: products read the image through Window,
// or a frame or samples of it, which one image at a time fills.
func (v *conv32) products(w *par.Workspace, l cpu.Level) {
	g := &v.g
	m, k := v.outPerGroup, v.perGroup*g.Taps
	size := gemm.PackedRows(l, m, k)
	var whole []float32
	if v.packed == nil && packsWeight(l, v.batch, g.OutPlane) {
		whole = par.Scratch[float32](w, size)
	}
	j := par.TakeJob[frameJob](w)
	*j = frameJob{PatchTable: gemm.NewPatchTable(*g), level: l}
	var framed []float32
	switch {
	case g.Pointwise():
	case j.Sampled:
		framed = par.Scratch[float32](w, v.perGroup*j.Plane)
	default:
		j.SetOffsets(par.Scratch[int64](w, k), v.perGroup)
		if j.Framed {
			framed = par.Scratch[float32](w, v.perGroup*j.Plane)
		}
	}
	for group := range v.groups {
		p := gemm.Product{M: m, N: g.OutPlane, K: k, Lda: k, Ldb: g.InPlane, Ldc: g.OutPlane, Pairs: v.pairs}
		p.A = v.weight
		switch {
		case v.packed != nil:
			p.PackedA = v.packed[group*size : (group+1)*size]
		case whole != nil:
			gemm.PackWhole(w, l, whole, v.weight[group*m*k:(group+1)*m*k], k, false, m, k)
			p.PackedA = whole
		default:
			p.A = v.weight[group*m*k : (group+1)*m*k]
		}
		for i := range v.batch {
			at := i*v.groups + group
			img := v.src[at*v.perGroup*g.InPlane : (at+1)*v.perGroup*g.InPlane]
			p.B, p.C = img, v.dst[at*m*g.OutPlane:(at+1)*m*g.OutPlane]
			p.End = v.end.Channels(group*m, m, at*m*g.OutPlane)
			if !g.Pointwise() && !j.Sampled {
				p.Window = &j.PatchTable
			}
			if framed != nil {
				j.dst, j.src, p.B, p.Ldb = framed, img, framed, j.Plane
				j.run(w, v.perGroup)
			}
			if p.IsGemv(l) {
				gemm.MultiplyGemv(w, l, p)
			} else {
				gemm.Multiply(w, p)
			}
		}
	}
	par.PutJob(w, j)
}

// frameJob lays channels of an image out for their patches to be packed.
type frameJob struct {
	gemm.PatchTable
	level    cpu.Level
	dst, src []float32
	parts    int // of the rows of a channel
}

// run lays out so many channels.
func (j *frameJob) run(w *par.Workspace, channels int) {
	rows := j.Extent[1]
	parts := w.Parts(channels*rows, rows, max(1, frameWork/(j.Extent[0]*j.RowLen)))
	j.parts = min(rows, (parts-1)/channels+1)
	w.Parallel(channels*j.parts, max(1, frameWork/j.Plane), j)
}

// Do lays out parts [lo, hi).
func (j *frameJob) Do(lo, hi int) {
	rows := j.Extent[1]
	for i := lo; i < hi; i++ {
		c, part := i/j.parts, i%j.parts
		j.Frame(j.level, j.dst[c*j.Plane:(c+1)*j.Plane], j.src[c*j.G.InPlane:(c+1)*j.G.InPlane],
			part*rows/j.parts, (part+1)*rows/j.parts)
	}
}
