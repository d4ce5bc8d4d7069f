package kernel

import "github.com/gofx-dev/gofx/array"

// Conv is the cross-correlation of torch.nn.functional.conv1d, conv2d and
// conv3d: in[0] [N, C, spatial...] or [C, spatial...], in[1] the weight [M, C/Groups, kernel...],
// in[2] an optional bias [M]. Lists have one entry a spatial dimension; a nil
// list means stride 1, no padding, dilation 1. What PadHi adds at the end shows
// in the output's shape. Float element types.
type Conv struct {
	Stride, PadLo, PadHi, Dilation []int
	Groups                         int
}

// Run implements Step.
func (s Conv) Run(w *Workspace, out, in []*array.Array) {
	out, in = batched(out, in)
	if out[0].DType() == array.F64 {
		conv[float64](w, s, out[0], in[0], in[1], operand(in, 2))
	} else {
		conv[float32](w, s, out[0], in[0], in[1], operand(in, 2))
	}
}

func (s Conv) geometry(out, x, weight *array.Array) spatial {
	return newSpatial(x.Shape()[2:], out.Shape()[2:], weight.Shape()[2:], s.Stride, s.PadLo, s.Dilation)
}

// ScratchBytes implements Scratcher.
func (s Conv) ScratchBytes(out, in []*array.Array) int {
	out, in = batched(out, in)
	n := loadAllBytes(in) + storeBytes(out[0])
	g := s.geometry(out[0], in[0], in[1])
	groups := max(s.Groups, 1)
	m, perGroup := in[1].Dim(0)/groups, in[1].Dim(1)
	v := conv32{g: g, batch: in[0].Dim(0), groups: groups, perGroup: perGroup, outPerGroup: m}
	if out[0].DType() == array.F64 {
		return n + addConvScratch[float64](&g, groups, perGroup, m)
	}
	size := addConvScratch[float32](&g, groups, perGroup, m)
	if v.fits() {
		for _, l := range scratchLevels {
			size = max(size, v.scratch(l, false))
		}
	}
	return n + size
}

// addConvScratch is the scratch that addConv takes.
func addConvScratch[T real](g *spatial, groups, perGroup, m int) int {
	k := perGroup * g.taps
	switch {
	case perGroup == 1 && groups > 1:
		return 0
	case g.pointwise():
		return gemmScratch[T](m, g.outPlane, k)
	}
	return tileScratch[T](m, g.outPlane, k)
}

func conv[T real](w *Workspace, s Conv, out, x, weight, bias *array.Array) {
	if out.Len() == 0 {
		return
	}
	mark := w.Mark()
	g := s.geometry(out, x, weight)
	groups := max(s.Groups, 1)
	batch, outChans, perGroup := x.Dim(0), weight.Dim(0), weight.Dim(1)
	dst, src, wt := result[T](w, out), load[T](w, x), load[T](w, weight)
	b := load[T](w, bias)
	if usesAssembly(out.DType()) {
		v := conv32{g: g, batch: batch, groups: groups, perGroup: perGroup, outPerGroup: outChans / groups,
			dst: asFloat32(dst), src: asFloat32(src), weight: asFloat32(wt)}
		if v.fits() {
			if b != nil {
				v.end = epilogue{biasRow: asFloat32(b)}.with(Epilogue{})
			}
			v.run(w)
			store(out, dst)
			w.Release(mark)
			return
		}
	}
	fillChannels(dst, b, outChans, g.outPlane)
	addConv(w, &g, batch, groups, perGroup, outChans/groups, dst, src, wt)
	store(out, dst)
	w.Release(mark)
}

// addConv adds the convolution to dst in Go.
func addConv[T real](w *Workspace, g *spatial, batch, groups, perGroup, m int, dst, src, wt []T) {
	k := perGroup * g.taps
	switch {
	case k == 0 || len(src) == 0:
	case perGroup == 1 && groups > 1:
		j := takeJob[depthwiseJob[T]](w)
		*j = depthwiseJob[T]{spatial: *g, dst: dst, src: src, weight: wt, chans: groups, outChans: groups * m}
		w.Parallel(batch*groups*m, max(1, gemmWork/(g.outPlane*g.taps)), j)
		putJob(w, j)
	default:
		for i := range batch * groups {
			img := src[i*perGroup*g.inPlane : (i+1)*perGroup*g.inPlane]
			a := wt[i%groups*m*k : (i%groups+1)*m*k]
			c := dst[i*m*g.outPlane : (i+1)*m*g.outPlane]
			if g.pointwise() {
				Gemm(w, false, false, m, g.outPlane, k, a, k, img, g.inPlane, c, g.outPlane, true)
				continue
			}
			j := takeJob[convJob[T]](w)
			j.view = patches{*g}
			j.gemm = gemmJob[T]{a: a, lda: k, b: img, c: c, ldc: g.outPlane, window: &j.view}
			j.gemm.run(w, m, g.outPlane, k, true)
			putJob(w, j)
		}
	}
}

// batched returns the operands of a convolution with the batch dimension that x
// and the result may lack.
func batched(out, in []*array.Array) (outs, ins []*array.Array) {
	if in[0].Rank() == in[1].Rank() {
		return out, in
	}
	x := []*array.Array{array.Unsqueeze(in[0], 0), in[1], operand(in, 2)}
	return []*array.Array{array.Unsqueeze(out[0], 0)}, x
}

// convJob keeps the patches that its product reads.
type convJob[T real] struct {
	gemm gemmJob[T]
	view patches
}

// fillChannels sets each plane of dst [n, chans, plane] to its channel's bias,
// or to zero without one.
func fillChannels[T real](dst, bias []T, chans, plane int) {
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
type depthwiseJob[T real] struct {
	spatial
	dst, src, weight []T
	chans, outChans  int
}

// Do computes output planes [lo, hi) of the batch.
func (j *depthwiseJob[T]) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		n, m := i/j.outChans, i%j.outChans
		c := m / (j.outChans / j.chans)
		src := j.src[(n*j.chans+c)*j.inPlane : (n*j.chans+c+1)*j.inPlane]
		j.plane(j.dst[i*j.outPlane:(i+1)*j.outPlane], src, j.weight[m*j.taps:(m+1)*j.taps])
	}
}

// plane adds one filter's response to dst, a row of taps at a time.
func (j *depthwiseJob[T]) plane(dst, src, weight []T) {
	for kz := range j.kernel[0] {
		z0, z1 := j.reach(0, kz)
		for ky := range j.kernel[1] {
			y0, y1 := j.reach(1, ky)
			taps := weight[(kz*j.kernel[1]+ky)*j.kernel[2]:][:j.kernel[2]]
			for z := z0; z < z1; z++ {
				iz := z*j.stride[0] - j.padLo[0] + kz*j.dilate[0]
				for y := y0; y < y1; y++ {
					iy := y*j.stride[1] - j.padLo[1] + ky*j.dilate[1]
					row := dst[(z*j.out[1]+y)*j.out[2]:][:j.out[2]]
					j.row(row, src[(iz*j.in[1]+iy)*j.in[2]:][:j.in[2]], taps)
				}
			}
		}
	}
}

func (j *depthwiseJob[T]) row(dst, src, taps []T) {
	s := j.stride[2]
	if len(taps) == 3 {
		// The outputs whose three taps all lie inside, in one sweep.
		lo, _ := j.reach(2, 0)
		_, hi := j.reach(2, 2)
		if lo < hi {
			d := j.dilate[2]
			at := lo*s - j.padLo[2]
			w0, w1, w2 := taps[0], taps[1], taps[2]
			for x := lo; x < hi; x++ {
				dst[x] += T(w0*src[at]) + T(w1*src[at+d]) + T(w2*src[at+2*d])
				at += s
			}
			for k, v := range taps {
				a, b := j.reach(2, k)
				j.sweep(dst, src, v, k, a, min(b, lo))
				j.sweep(dst, src, v, k, max(a, hi), b)
			}
			return
		}
	}
	for k, v := range taps {
		a, b := j.reach(2, k)
		j.sweep(dst, src, v, k, a, b)
	}
}

// sweep adds tap k of weight v to outputs [lo, hi) of a row.
func (j *depthwiseJob[T]) sweep(dst, src []T, v T, k, lo, hi int) {
	if lo >= hi {
		return
	}
	s := j.stride[2]
	at := lo*s - j.padLo[2] + k*j.dilate[2]
	if s == 1 {
		axpy(dst[lo:hi], v, src[at:])
		return
	}
	for x := lo; x < hi; x++ {
		dst[x] += T(v * src[at])
		at += s
	}
}
