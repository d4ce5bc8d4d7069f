package kernel

import "github.com/gofx-dev/gofx/array"

// ConvTranspose is torch.nn.functional.conv_transpose1d to 3d, the gradient of
// Conv with respect to its input: in[0] [N, C, spatial...] or [C, spatial...], in[1] the weight
// [C, M/Groups, kernel...], in[2] an optional bias [M]. OutputPadding shows in
// the output's shape. Nil lists as in Conv. Float element types.
type ConvTranspose struct {
	Stride, Padding, OutputPadding, Dilation []int
	Groups                                   int
}

// columnElems bounds the product of weight and input that is held before it is
// added to the output, in elements; one column always fits.
const columnElems = 1 << 18

// Run implements Step.
func (s ConvTranspose) Run(w *Workspace, out, in []*array.Array) {
	out, in = batched(out, in)
	if out[0].DType() == array.F64 {
		convTranspose[float64](w, s, out[0], in[0], in[1], operand(in, 2))
	} else {
		convTranspose[float32](w, s, out[0], in[0], in[1], operand(in, 2))
	}
}

// geometry is that of the convolution whose gradient this is: its input is our
// output and its output our input.
func (s ConvTranspose) geometry(out, x, weight *array.Array) spatial {
	return newSpatial(out.Shape()[2:], x.Shape()[2:], weight.Shape()[2:], s.Stride, s.Padding, s.Dilation)
}

// ScratchBytes implements Scratcher.
func (s ConvTranspose) ScratchBytes(out, in []*array.Array) int {
	out, in = batched(out, in)
	n := loadAllBytes(in) + storeBytes(out[0])
	g := s.geometry(out[0], in[0], in[1])
	rows := in[1].Dim(1) * g.taps
	cols := columnBlock(rows, g.outPlane)
	k := in[1].Dim(0) / max(s.Groups, 1)
	if out[0].DType() == array.F64 {
		return n + gemmScratch[float64](rows, cols, k) + scratchSize(rows*cols, 8)
	}
	return n + gemmScratch[float32](rows, cols, k) + scratchSize(rows*cols, 4)
}

func columnBlock(rows, cols int) int { return min(cols, max(1, columnElems/max(rows, 1))) }

func convTranspose[T real](w *Workspace, s ConvTranspose, out, x, weight, bias *array.Array) {
	if out.Len() == 0 {
		return
	}
	mark := w.Mark()
	g := s.geometry(out, x, weight)
	groups := max(s.Groups, 1)
	m, k := weight.Dim(1), weight.Dim(0)/groups
	dst, src, wt := result[T](w, out), load[T](w, x), load[T](w, weight)
	fillChannels(dst, load[T](w, bias), m*groups, g.inPlane)
	if len(src) > 0 && len(wt) > 0 {
		rows := m * g.taps
		block := columnBlock(rows, g.outPlane)
		cols := Scratch[T](w, rows*block)
		for i := range x.Dim(0) * groups {
			img := src[i*k*g.outPlane : (i+1)*k*g.outPlane]
			a := wt[i%groups*k*rows : (i%groups+1)*k*rows]
			for at := 0; at < g.outPlane; at += block {
				n := min(block, g.outPlane-at)
				Gemm(w, true, false, rows, n, k, a, rows, img[at:], g.outPlane, cols, n, false)
				j := takeJob[scatterJob[T]](w)
				*j = scatterJob[T]{spatial: g, dst: dst[i*m*g.inPlane : (i+1)*m*g.inPlane], cols: cols, at: at, n: n}
				w.Parallel(m, max(1, gemmWork/(n*g.taps)), j)
				putJob(w, j)
			}
		}
	}
	store(out, dst)
	w.Release(mark)
}

// scatterJob adds columns [at, at+n) of a product to the output planes.
type scatterJob[T real] struct {
	spatial
	dst, cols []T
	at, n     int
}

// Do adds to output channels [lo, hi): every channel has its own rows and plane.
func (j *scatterJob[T]) Do(lo, hi int) {
	for m := lo; m < hi; m++ {
		dst := j.dst[m*j.inPlane : (m+1)*j.inPlane]
		for tap := range j.taps {
			kx := tap % j.kernel[2] * j.dilate[2]
			ky := tap / j.kernel[2] % j.kernel[1] * j.dilate[1]
			kz := tap / j.kernel[2] / j.kernel[1] * j.dilate[0]
			row := j.cols[(m*j.taps+tap)*j.n:][:j.n]
			for p := 0; p < j.n; {
				z, y, x := j.origin(j.at + p)
				run := min(j.out[2]-(j.at+p)%j.out[2], j.n-p)
				z, y, x = z+kz, y+ky, x+kx
				if uint(z) < uint(j.in[0]) && uint(y) < uint(j.in[1]) {
					j.spread(dst[(z*j.in[1]+y)*j.in[2]:][:j.in[2]], row[p:p+run], x)
				}
				p += run
			}
		}
	}
}

// spread adds src to every stride-th element of dst from x on, skipping what
// falls outside.
func (j *scatterJob[T]) spread(dst, src []T, x int) {
	for _, v := range src {
		if uint(x) < uint(len(dst)) {
			dst[x] += v
		}
		x += j.stride[2]
	}
}
