package blocked

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/conv"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// ConvTransposeBlocked is ConvTranspose of an image in blocks (see BlockLanes)
// into one in blocks, as ConvBlocked is Conv: in[0] [N, ceil(C/16), spatial...,
// 16], in[1] what PackConvTransposeBlocked made of a weight [C,
// Channels/Groups, Kernel...], then bias [Channels], scale [Channels] and
// residual, each nil when absent. CanBlock tells which groups it takes; In is
// the number of input channels. With stride s along a dimension the outputs fall
// into s phases, each a convolution with every s-th tap; none adds to another's
// outputs. Every sum is within (k+2)·2⁻²³·Σ|a·b| of the exact one.
//
//gofx:kernel
type ConvTransposeBlocked struct {
	conv.ConvTranspose
	In, Channels int
	Kernel       []int
	operand.Epilogue
}

// PackConvTransposeBlocked packs in[0], the f32, f16 or bf16 weight [C,
// M/Groups, kernel...] of a transposed convolution, for ConvTransposeBlocked
// with the same ConvTranspose: out[0] is f32 [BlockedConvLen([M, C/Groups,
// kernel...])], the same on every machine.
//
//gofx:kernel
type PackConvTransposeBlocked struct{ conv.ConvTranspose }

// phases are the parts of a transposed convolution: outputs that are congruent
// modulo the stride read the same taps.
type phases struct {
	g  geom.Spatial // of the convolution whose gradient this is, but in is our input
	lo [3]int       // positions before the input's first that are read
}

func newPhases(in, out, kernel []int, s conv.ConvTranspose) phases {
	p := phases{g: geom.NewSpatial(in, out, kernel, s.Stride, s.Padding, s.Dilation)}
	for d := range 3 {
		for r := range p.g.Stride[d] {
			for k := range p.g.Kernel[d] {
				if o, ok := p.from(d, r, k); ok {
					p.lo[d] = max(p.lo[d], -o)
				}
			}
		}
	}
	return p
}

// from returns the input position, less the output's number within its phase r,
// that tap k of dimension d multiplies, if it belongs to the phase.
func (p *phases) from(d, r, k int) (o int, ok bool) {
	at := r + p.g.PadLo[d] - k*p.g.Dilate[d]
	return at / p.g.Stride[d], at%p.g.Stride[d] == 0
}

// count returns the outputs of phase r.
func (p *phases) count(d, r int) int { return max(0, (p.g.Out[d]-r+p.g.Stride[d]-1)/p.g.Stride[d]) }

// taps returns how many there are in a phase.
func (p *phases) taps(r [3]int) int {
	n := 1
	for d := range 3 {
		own := 0
		for k := range p.g.Kernel[d] {
			if _, ok := p.from(d, r[d], k); ok {
				own++
			}
		}
		n *= own
	}
	return n
}

// frame returns how the input is read.
func (p *phases) frame() blockFrame {
	g := geom.Spatial{In: p.g.In, InPlane: p.g.InPlane, Kernel: [3]int{1, 1, 1}, Stride: [3]int{1, 1, 1}, Dilate: [3]int{1, 1, 1}, PadLo: p.lo}
	for d := range 3 {
		g.Out[d] = p.g.In[d]
		for r := range p.g.Stride[d] {
			for k := range p.g.Kernel[d] {
				if o, ok := p.from(d, r, k); ok {
					g.Out[d] = max(g.Out[d], p.count(d, r)+o)
				}
			}
		}
		g.Out[d] += p.lo[d]
	}
	return newBlockFrame(g, BlockLanes)
}

// offsets appends the places of the taps of a phase in the plane that begins at
// `at`, in bytes. Of the filter only the taps remain that meet an element of the
// input at these remainders; the order is that of pack.
func (p *phases) offsets(list []int64, f *blockFrame, r [3]int, at int) []int64 {
	for kz := range p.g.Kernel[0] {
		for ky := range p.g.Kernel[1] {
			for kx := range p.g.Kernel[2] {
				z, okZ := p.from(0, r[0], kz)
				y, okY := p.from(1, r[1], ky)
				x, okX := p.from(2, r[2], kx)
				if okZ && okY && okX {
					place := (((z+p.lo[0])*f.extent[1]+y+p.lo[1])*f.extent[2] + x + p.lo[2]) * f.unit
					list = append(list, int64(4*(at+place)))
				}
			}
		}
	}
	return list
}

// number returns phase i of all.
func (p *phases) number(i int) [3]int {
	s := &p.g.Stride
	return [3]int{i / (s[1] * s[2]), i / s[2] % s[1], i % s[2]}
}

// all is how many phases there are.
func (p *phases) all() int { return p.g.Stride[0] * p.g.Stride[1] * p.g.Stride[2] }

// Run implements Step.
func (s PackConvTransposeBlocked) Run(w *par.Workspace, out, in []*array.Array) {
	mark := w.Mark()
	dst, weight := array.Data[float32](out[0]), operand.Load[float32](w, in[0])
	clear(dst)
	if len(weight) > 0 {
		kernel := in[0].Shape()[2:]
		p := newPhases(nil, nil, kernel, s.ConvTranspose)
		f := filters{weight: weight, groups: max(s.Groups, 1), outPer: in[0].Dim(1)}
		f.perGroup = in[0].Dim(0) / f.groups
		f.lanes = BlockLanes
		if blockedDepthwise(f.groups, f.perGroup) {
			f.lanes = 1
		}
		for i := range p.all() {
			dst = f.pack(dst, &p, p.number(i))
		}
	}
	w.Release(mark)
}

// ScratchBytes implements Scratcher.
func (PackConvTransposeBlocked) ScratchBytes(_, in []*array.Array) int {
	return operand.LoadBytes(in[0])
}

// filters is the weight of a transposed convolution.
type filters struct {
	weight                          []float32
	groups, perGroup, outPer, lanes int
}

// pack spreads the filters of a phase over dst, as packFilter does, and returns
// what is left of it. A phase has taps of its own, the same for all its positions:
// with them it is a convolution of stride 1, and its weights one stream.
func (f *filters) pack(dst []float32, p *phases, r [3]int) []float32 {
	m, taps := f.groups*f.outPer, p.taps(r)
	if taps == 0 {
		return dst
	}
	step := f.perGroup * taps * BlockLanes
	for o := range m {
		lane := dst[o/BlockLanes*step+o%BlockLanes:]
		at := 0
		for first := 0; first < f.perGroup; first += f.lanes {
			last := min(first+f.lanes, f.perGroup)
			for kz := range p.g.Kernel[0] {
				for ky := range p.g.Kernel[1] {
					for kx := range p.g.Kernel[2] {
						_, okZ := p.from(0, r[0], kz)
						_, okY := p.from(1, r[1], ky)
						_, okX := p.from(2, r[2], kx)
						if !okZ || !okY || !okX {
							continue
						}
						k := (kz*p.g.Kernel[1]+ky)*p.g.Kernel[2] + kx
						for c := first; c < last; c++ {
							channel := o/f.outPer*f.perGroup + c
							lane[at] = f.weight[(channel*f.outPer+o%f.outPer)*p.g.Taps+k]
							at += BlockLanes
						}
					}
				}
			}
		}
	}
	return dst[blocksOf(m)*step:]
}

// plan returns the convolution without its operands.
func (s ConvTransposeBlocked) plan(l cpu.Level, out, x *array.Array) (blockConv, phases) {
	nd, groups := len(s.Kernel), max(s.Groups, 1)
	p := newPhases(x.Shape()[2:2+nd], out.Shape()[2:2+nd], s.Kernel, s.ConvTranspose)
	v := blockConv{blockFrame: p.frame(), level: l, images: out.Dim(0), inPlanes: blocksOf(s.In), blocks: blocksOf(s.Channels),
		perGroup: s.In / groups, depthwise: blockedDepthwise(groups, s.In/groups)}
	v.split(groups)
	return v, p
}

// offsetCount is that of all phases.
func (p *phases) offsetCount(v *blockConv) int {
	if v.depthwise {
		return p.g.Taps
	}
	return blocksOf(v.perGroup) * p.g.Taps
}

// Run implements Step.
func (s ConvTransposeBlocked) Run(w *par.Workspace, out, in []*array.Array) {
	if out[0].Len() == 0 {
		return
	}
	checkBlocks("ConvTransposeBlocked", s.Groups, s.In, s.Channels)
	mark := w.Mark()
	v, p := s.plan(cpu.Host.Level, out[0], in[0])
	v.operands(w, out, in, s.Epilogue)
	offsets := par.Scratch[int64](w, p.offsetCount(&v))
	plane := v.g.InPlane
	var frames []float32
	if v.framed {
		frames = par.Scratch[float32](w, v.inPlanes*v.plane)
	}
	f := v.blockFrame
	v.framed, v.g.In, v.g.InPlane = false, f.extent, f.extent[0]*f.extent[1]*f.extent[2]
	v.out = p.g.OutPlane * BlockLanes
	for i := range v.images {
		v.open(i, plane)
		empty := v.perGroup == 0 || len(v.image) == 0
		if !empty {
			v.image = f.frameImage(w, frames, v.image, v.inPlanes)
		}
		p.run(w, v, offsets, empty)
	}
	w.Release(mark)
}

// run convolves the image that is open, phase by phase.
func (p *phases) run(w *par.Workspace, v blockConv, offsets []int64, empty bool) {
	s, weight := &p.g.Stride, v.weight
	for i := range p.all() {
		r := p.number(i)
		v.g.Taps = p.taps(r)
		v.g.OutPlane = 1
		for d := range 3 {
			v.g.Out[d] = p.count(d, r[d])
			v.g.OutPlane *= v.g.Out[d]
		}
		if v.g.OutPlane == 0 {
			weight = weight[min(len(weight), v.blocks*v.perGroup*v.g.Taps*BlockLanes):]
			continue
		}
		v.layout()
		v.weight, weight = weight, weight[v.blocks*v.weightStep:]
		if empty {
			v.taps = [2]int{}
		}
		v.offsets = offsets[:0]
		for plane := 0; len(v.offsets) < v.offsetCount(); plane++ {
			v.offsets = p.offsets(v.offsets, &v.blockFrame, r, plane*v.plane)
		}
		v.yPos = s[2] * BlockLanes
		v.rows = s[1] * p.g.Out[2] * BlockLanes
		v.slices = s[0] * p.g.Out[1] * p.g.Out[2] * BlockLanes
		v.origin = ((r[0]*p.g.Out[1]+r[1])*p.g.Out[2] + r[2]) * BlockLanes
		v.sweep(w)
	}
}

// ScratchBytes implements Scratcher.
func (s ConvTransposeBlocked) ScratchBytes(out, in []*array.Array) int {
	if out[0].Len() == 0 {
		return 0
	}
	v, p := s.plan(cpu.Generic, out[0], in[0])
	n := v.operandBytes(in) + par.ScratchSize(p.offsetCount(&v), 8)
	if v.framed {
		n += par.ScratchSize(v.inPlanes*v.plane, 4)
	}
	return n
}
