package conv

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Conv is the cross-correlation of torch.nn.functional.conv1d, conv2d and conv3d: in[0] [N, C,
// spatial...] or [C, spatial...], in[1] the weight [M, C/Groups, kernel...], in[2] an optional
// bias [M]. Lists have one entry a spatial dimension; a nil list means stride 1, no padding,
// dilation 1. PadHi follows from the output's shape. Float element types.
//
//gofx:kernel
type Conv struct {
	Stride, PadLo, PadHi, Dilation []int
	Groups                         int
}

// Run implements Step.
func (s Conv) Run(w *par.Workspace, out, in []*array.Array) {
	out, in = batched(out, in)
	if out[0].DType() == array.F64 {
		conv[float64](w, s, out[0], in[0], in[1], operand.At(in, 2))
	} else {
		conv[float32](w, s, out[0], in[0], in[1], operand.At(in, 2))
	}
}

func (s Conv) geometry(out, x, weight *array.Array) geom.Spatial {
	return geom.NewSpatial(x.Shape()[2:], out.Shape()[2:], weight.Shape()[2:], s.Stride, s.PadLo, s.Dilation)
}

// ScratchBytes implements Scratcher.
func (s Conv) ScratchBytes(out, in []*array.Array) int {
	out, in = batched(out, in)
	n := operand.LoadAllBytes(in) + operand.StoreBytes(out[0])
	g := s.geometry(out[0], in[0], in[1])
	groups := max(s.Groups, 1)
	m, perGroup := in[1].Dim(0)/groups, in[1].Dim(1)
	v := conv32{g: g, batch: in[0].Dim(0), groups: groups, perGroup: perGroup, outPerGroup: m}
	if out[0].DType() == array.F64 {
		return n + addConvScratch[float64](&g, groups, perGroup, m)
	}
	size := addConvScratch[float32](&g, groups, perGroup, m)
	if v.fits() {
		for _, l := range gemm.ScratchLevels {
			size = max(size, v.scratch(l, false))
		}
	}
	return n + size
}

// addConvScratch is the scratch that addConv takes.
func addConvScratch[T operand.Real](g *geom.Spatial, groups, perGroup, m int) int {
	k := perGroup * g.Taps
	switch {
	case perGroup == 1 && groups > 1:
		return 0
	case g.Pointwise():
		return gemm.Scratch[T](m, g.OutPlane, k)
	}
	return gemm.TileScratch[T](m, g.OutPlane, k)
}

func conv[T operand.Real](w *par.Workspace, s Conv, out, x, weight, bias *array.Array) {
	if out.Len() == 0 {
		return
	}
	mark := w.Mark()
	g := s.geometry(out, x, weight)
	groups := max(s.Groups, 1)
	batch, outChans, perGroup := x.Dim(0), weight.Dim(0), weight.Dim(1)
	dst, src, wt := operand.Result[T](w, out), operand.Load[T](w, x), operand.Load[T](w, weight)
	b := operand.Load[T](w, bias)
	if operand.IsFloat32[T]() {
		v := conv32{g: g, batch: batch, groups: groups, perGroup: perGroup, outPerGroup: outChans / groups,
			dst: operand.AsFloat32(dst), src: operand.AsFloat32(src), weight: operand.AsFloat32(wt)}
		if b != nil {
			v.end = gemm.Finish{BiasRow: operand.AsFloat32(b)}.With(operand.Epilogue{})
		}
		if gemm.UsesAssembly(out.DType()) && v.fits() {
			v.run(w)
		} else {
			v.runGo(w)
		}
	} else {
		fillChannels(dst, b, outChans, g.OutPlane)
		addConv(w, &g, batch, groups, perGroup, outChans/groups, dst, src, wt)
	}
	operand.Store(out, dst)
	w.Release(mark)
}

// addConv adds the convolution to dst in Go.
func addConv[T operand.Real](w *par.Workspace, g *geom.Spatial, batch, groups, perGroup, m int, dst, src, wt []T) {
	k := perGroup * g.Taps
	switch {
	case k == 0 || len(src) == 0:
	case perGroup == 1 && groups > 1:
		j := par.TakeJob[depthwiseJob[T]](w)
		*j = depthwiseJob[T]{Spatial: *g, dst: dst, src: src, weight: wt, chans: groups, outChans: groups * m}
		w.Parallel(batch*groups*m, max(1, par.GemmWork/(g.OutPlane*g.Taps)), j)
		par.PutJob(w, j)
	default:
		for i := range batch * groups {
			img := src[i*perGroup*g.InPlane : (i+1)*perGroup*g.InPlane]
			a := wt[i%groups*m*k : (i%groups+1)*m*k]
			c := dst[i*m*g.OutPlane : (i+1)*m*g.OutPlane]
			if g.Pointwise() {
				gemm.Gemm(w, false, false, m, g.OutPlane, k, a, k, img, g.InPlane, c, g.OutPlane, true)
				continue
			}
			j := par.TakeJob[convJob[T]](w)
			j.view = gemm.Patches[T]{Spatial: *g}
			j.gemm = gemm.Job[T]{A: a, Lda: k, B: img, C: c, Ldc: g.OutPlane, Window: &j.view}
			j.gemm.Run(w, m, g.OutPlane, k, true)
			par.PutJob(w, j)
		}
	}
}

// batched returns the operands of a convolution with the batch dimension that x
// and the result may lack.
func batched(out, in []*array.Array) (outs, ins []*array.Array) {
	if in[0].Rank() == in[1].Rank() {
		return out, in
	}
	x := []*array.Array{array.Unsqueeze(in[0], 0), in[1], operand.At(in, 2)}
	return []*array.Array{array.Unsqueeze(out[0], 0)}, x
}

// convJob keeps the patches that its product reads.
type convJob[T operand.Real] struct {
	gemm gemm.Job[T]
	view gemm.Patches[T]
}

// fillChannels sets each plane of dst [n, chans, plane] to its channel's bias,
// or to zero without one.
func fillChannels[T operand.Real](dst, bias []T, chans, plane int) {
	if bias == nil {
		clear(dst)
		return
	}
	for i := 0; len(dst) > 0; i++ {
		b := bias[i%chans]
		for p := range dst[:plane] {
			dst[p] = b
		}
		dst = dst[plane:]
	}
}

// depthwiseJob convolves planes: each output channel reads one input channel.
type depthwiseJob[T operand.Real] struct {
	geom.Spatial
	dst, src, weight []T
	chans, outChans  int
}

// Do computes output planes [lo, hi) of the batch. A plane of the result stays in
// a cache while the taps of its filter pass over it; planes do not meet.
func (j *depthwiseJob[T]) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		n, m := i/j.outChans, i%j.outChans
		c := m / (j.outChans / j.chans)
		src := j.src[(n*j.chans+c)*j.InPlane : (n*j.chans+c+1)*j.InPlane]
		j.plane(j.dst[i*j.OutPlane:(i+1)*j.OutPlane], src, j.weight[m*j.Taps:(m+1)*j.Taps])
	}
}

// plane adds one filter's response to dst, a row of taps at a time. Only
// positions are further inside than the taps of a row, so that a row of the input
// is read while it is in the cache. No position tests whether a tap lies outside:
// reach has cut the rows.
func (j *depthwiseJob[T]) plane(dst, src, weight []T) {
	for kz := range j.Kernel[0] {
		z0, z1 := j.Reach(0, kz)
		for ky := range j.Kernel[1] {
			y0, y1 := j.Reach(1, ky)
			taps := weight[(kz*j.Kernel[1]+ky)*j.Kernel[2]:][:j.Kernel[2]]
			for z := z0; z < z1; z++ {
				iz := z*j.Stride[0] - j.PadLo[0] + kz*j.Dilate[0]
				for y := y0; y < y1; y++ {
					iy := y*j.Stride[1] - j.PadLo[1] + ky*j.Dilate[1]
					row := dst[(z*j.Out[1]+y)*j.Out[2]:][:j.Out[2]]
					j.row(row, src[(iz*j.In[1]+iy)*j.In[2]:][:j.In[2]], taps)
				}
			}
		}
	}
}

func (j *depthwiseJob[T]) row(dst, src, taps []T) {
	s := j.Stride[2]
	if len(taps) == 3 {
		// The outputs whose three taps all lie inside, in one sweep.
		lo, _ := j.Reach(2, 0)
		_, hi := j.Reach(2, 2)
		if lo < hi {
			d := j.Dilate[2]
			at := lo*s - j.PadLo[2]
			w0, w1, w2 := taps[0], taps[1], taps[2]
			for x := lo; x < hi; x++ {
				dst[x] += T(w0*src[at]) + T(w1*src[at+d]) + T(w2*src[at+2*d])
				at += s
			}
			for k, v := range taps {
				a, b := j.Reach(2, k)
				j.sweep(dst, src, v, k, a, min(b, lo))
				j.sweep(dst, src, v, k, max(a, hi), b)
			}
			return
		}
	}
	for k, v := range taps {
		a, b := j.Reach(2, k)
		j.sweep(dst, src, v, k, a, b)
	}
}

// sweep adds tap k of weight v to outputs [lo, hi) of a row.
func (j *depthwiseJob[T]) sweep(dst, src []T, v T, k, lo, hi int) {
	if lo >= hi {
		return
	}
	s := j.Stride[2]
	at := lo*s - j.PadLo[2] + k*j.Dilate[2]
	if s == 1 {
		gemm.Axpy(dst[lo:hi], v, src[at:])
		return
	}
	for x := lo; x < hi; x++ {
		dst[x] += T(v * src[at])
		at += s
	}
}
