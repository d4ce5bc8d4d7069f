package geom

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// Spatial is the geometry of sliding windows over three spatial dimensions;
// one and two dimensions have leading ones.
type Spatial struct {
	In, Out           [3]int
	Kernel            [3]int
	Stride, Dilate    [3]int
	PadLo             [3]int
	InPlane, OutPlane int
	Taps              int
}

// NewSpatial fills a geometry from the last dimensions of the input and output
// shapes. Absent lists mean stride 1, dilation 1 and no padding.
func NewSpatial(in, out, kernel, stride, padLo, dilation []int) Spatial {
	g := Spatial{}
	fill := func(dst *[3]int, src []int, def int) {
		for i := range dst {
			dst[i] = def
			if at := i - (3 - len(src)); at >= 0 {
				dst[i] = src[at]
			}
		}
	}
	fill(&g.In, in, 1)
	fill(&g.Out, out, 1)
	fill(&g.Kernel, kernel, 1)
	fill(&g.Stride, stride, 1)
	fill(&g.Dilate, dilation, 1)
	fill(&g.PadLo, padLo, 0)
	g.InPlane = g.In[0] * g.In[1] * g.In[2]
	g.OutPlane = g.Out[0] * g.Out[1] * g.Out[2]
	g.Taps = g.Kernel[0] * g.Kernel[1] * g.Kernel[2]
	return g
}

// Pointwise reports whether each output position reads only the same input position.
func (g *Spatial) Pointwise() bool {
	one := [3]int{1, 1, 1}
	return g.Kernel == one && g.Stride == one && g.PadLo == [3]int{} && g.In == g.Out
}

// Reachable reports whether the windows' extent, padding included, can be laid
// out: it is no more than a few times the input.
func (g *Spatial) Reachable() bool {
	for d := range 3 {
		if (g.Out[d]-1)*g.Stride[d]+(g.Kernel[d]-1)*g.Dilate[d]+1 > 4*(g.In[d]+64) {
			return false
		}
	}
	return true
}

// Origin returns the input coordinates under the first tap of output position o;
// they may lie in the padding.
func (g *Spatial) Origin(o int) (z, y, x int) {
	x = o%g.Out[2]*g.Stride[2] - g.PadLo[2]
	o /= g.Out[2]
	y = o%g.Out[1]*g.Stride[1] - g.PadLo[1]
	z = o/g.Out[1]*g.Stride[0] - g.PadLo[0]
	return z, y, x
}

// Inside reports whether all taps of a window with this origin read the input.
func (g *Spatial) Inside(z, y, x int) bool {
	return z >= 0 && y >= 0 && x >= 0 &&
		z+(g.Kernel[0]-1)*g.Dilate[0] < g.In[0] &&
		y+(g.Kernel[1]-1)*g.Dilate[1] < g.In[1] &&
		x+(g.Kernel[2]-1)*g.Dilate[2] < g.In[2]
}

// Reach returns the outputs [lo, hi) of dimension d whose tap k reads the input.
func (g *Spatial) Reach(d, k int) (lo, hi int) {
	off, s := k*g.Dilate[d]-g.PadLo[d], g.Stride[d]
	if off < 0 {
		lo = (-off + s - 1) / s
	}
	if last := g.In[d] - 1 - off; last >= 0 {
		hi = min(g.Out[d], last/s+1)
	}
	return lo, max(lo, hi)
}

// StrideOr returns strides, those of a window that moves by its own size where they are
// absent.
func StrideOr(stride, kernel []int) []int {
	if len(stride) == 0 {
		return kernel
	}
	return stride
}

// NeedPixels panics over planes without elements, which the type rules of pools
// refuse where the sizes are known.
func (g *Spatial) NeedPixels(step string) {
	if g.InPlane == 0 {
		panic(&diag.Error{Code: operand.EmptyCode, Op: step, Msg: "a spatial dimension of the operand has no elements, expected at least one"})
	}
}

// FirstTap returns the first coordinate at, at+step, ... that is not negative.
func FirstTap(at, step int) int {
	if at < 0 {
		at += (-at + step - 1) / step * step
	}
	return at
}
