package conv

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/winograd"
)

// ConvWeightGrad is the gradient of Conv with respect to its weight: in[0] what was convolved,
// [N, C, spatial...], in[1] the gradient of the result, [N, M, spatial...]; out[0] is
// [M, C/Groups, kernel...]. Windows may reach beyond in[0], where it is 0. Nil lists as in
// Conv. Float element types.
//
//gofx:kernel
type ConvWeightGrad struct {
	Stride, PadLo, Dilation []int
	Groups                  int
	// Winograd lets filters of 3x3 and stride 1 go by Winograd's algorithm where that takes less
	// time, with tiles of 4x4 in the gradient. Take as the size of a sum over T such tiles of all
	// images what it adds up: the largest magnitude of each tile's patch of in[0] times the sum of
	// the tile's magnitudes. The error is below (8+T/16)*2^-23 of it for numbers of like sizes, and
	// below 120*(24+T)*2^-23 for any. An infinity or NaN makes all taps of its channel's or its
	// filter's weights NaN or infinite.
	Winograd bool
}

// Run implements Step.
func (s ConvWeightGrad) Run(w *par.Workspace, out, in []*array.Array) {
	if out[0].DType() == array.F64 {
		weightGrad[float64](w, s, out[0], in[0], in[1])
	} else {
		weightGrad[float32](w, s, out[0], in[0], in[1])
	}
}

func (s ConvWeightGrad) geometry(out, x, grad *array.Array) geom.Spatial {
	return geom.NewSpatial(x.Shape()[2:], grad.Shape()[2:], out.Shape()[2:], s.Stride, s.PadLo, s.Dilation)
}

// form returns the gradient without its operands.
func (s ConvWeightGrad) form(out, x, grad *array.Array) weightGrad32 {
	groups := max(s.Groups, 1)
	return weightGrad32{g: s.geometry(out, x, grad), batch: x.Dim(0), groups: groups, perGroup: out.Dim(1), outPerGroup: out.Dim(0) / groups}
}

// ScratchBytes implements Scratcher.
func (s ConvWeightGrad) ScratchBytes(out, in []*array.Array) int {
	n := operand.LoadAllBytes(in) + operand.StoreBytes(out[0])
	v := s.form(out[0], in[0], in[1])
	if out[0].DType() == array.F64 || !v.fits() {
		return n
	}
	most := 0
	for _, l := range gemm.ScratchLevels {
		most = max(most, v.scratch(l))
	}
	if s.tiled(&v) {
		most = max(most, winograd.GradScratch(v.winograd(), cpu.Host.Level))
	}
	return n + most
}

// tiled reports whether the gradient goes by Winograd's algorithm on this processor.
func (s ConvWeightGrad) tiled(v *weightGrad32) bool {
	return s.Winograd && winograd.GradPays(cpu.Host.Level, v.winograd())
}

func weightGrad[T operand.Real](w *par.Workspace, s ConvWeightGrad, out, x, grad *array.Array) {
	if out.Len() == 0 {
		return
	}
	mark := w.Mark()
	v := s.form(out, x, grad)
	dst, src, seed := operand.Result[T](w, out), operand.Load[T](w, x), operand.Load[T](w, grad)
	switch {
	case len(src) == 0 || len(seed) == 0:
		clear(dst)
	case gemm.UsesAssembly(out.DType()) && v.fits():
		v.dst, v.src, v.grad = operand.AsFloat32(dst), operand.AsFloat32(src), operand.AsFloat32(seed)
		if s.tiled(&v) {
			t := v.winograd()
			t.Run(w)
		} else {
			v.run(w)
		}
	default:
		j := par.TakeJob[weightDots[T]](w)
		*j = weightDots[T]{Spatial: v.g, dst: dst, src: src, grad: seed, batch: v.batch, groups: v.groups, perGroup: v.perGroup, filters: out.Dim(0)}
		w.Parallel(out.Dim(0)*v.perGroup, max(1, par.GemmWork/(v.batch*v.g.OutPlane*v.g.Taps)), j)
		par.PutJob(w, j)
	}
	operand.Store(out, dst)
	w.Release(mark)
}

// weightDots computes a weight's gradient in Go: each element is the sum of products of
// rows of the gradient with rows of the image.
type weightDots[T operand.Real] struct {
	geom.Spatial
	dst, src, grad    []T
	batch, groups     int
	perGroup, filters int
}

// Do computes pairs [lo, hi) of a filter and a channel of its group. A plane of the
// gradient and one of the image stay in a cache while all taps pass.
func (j *weightDots[T]) Do(lo, hi int) {
	chans := j.groups * j.perGroup
	for i := lo; i < hi; i++ {
		m, c := i/j.perGroup, i%j.perGroup
		c += m / (j.filters / j.groups) * j.perGroup
		dst := j.dst[i*j.Taps : (i+1)*j.Taps]
		clear(dst)
		for n := range j.batch {
			j.plane(dst, j.src[(n*chans+c)*j.InPlane:][:j.InPlane], j.grad[(n*j.filters+m)*j.OutPlane:][:j.OutPlane])
		}
	}
}

// plane adds what one image gives to the taps of a filter. What lies outside is multiplied,
// too, as the product of padded images does: an infinity times 0 is NaN.
func (j *weightDots[T]) plane(dst, src, grad []T) {
	for tap := range dst {
		kz, ky, kx := tap/j.Kernel[2]/j.Kernel[1], tap/j.Kernel[2]%j.Kernel[1], tap%j.Kernel[2]
		x0, x1 := j.Reach(2, kx)
		if x0 >= x1 {
			x0, x1 = 0, 0
		}
		at := x0*j.Stride[2] - j.PadLo[2] + kx*j.Dilate[2]
		var sum T
		for row := range j.Out[0] * j.Out[1] {
			g := grad[row*j.Out[2]:][:j.Out[2]]
			z := row/j.Out[1]*j.Stride[0] - j.PadLo[0] + kz*j.Dilate[0]
			y := row%j.Out[1]*j.Stride[1] - j.PadLo[1] + ky*j.Dilate[1]
			if uint(z) >= uint(j.In[0]) || uint(y) >= uint(j.In[1]) || x0 == x1 {
				sum += nothing(g)
				continue
			}
			sum += nothing(g[:x0]) + j.row(g[x0:x1], src[(z*j.In[1]+y)*j.In[2]:][:j.In[2]][at:]) + nothing(g[x1:])
		}
		dst[tap] += sum
	}
}

// row multiplies a row of the gradient with every stride-th element of one of the image.
func (j *weightDots[T]) row(grad, src []T) (sum T) {
	s := j.Stride[2]
	if s == 1 {
		return gemm.Dot(grad, src)
	}
	for x, v := range grad {
		sum += T(v * src[x*s])
	}
	return sum
}

// nothing is the sum of products of v with zeros.
func nothing[T operand.Real](v []T) (sum T) {
	for _, x := range v {
		sum += T(x * 0)
	}
	return sum
}
