package kernel

import "github.com/gofx-dev/gofx/diag"

// spatial is the geometry of sliding windows over three spatial dimensions;
// one and two dimensions have leading ones.
type spatial struct {
	in, out           [3]int
	kernel            [3]int
	stride, dilate    [3]int
	padLo             [3]int
	inPlane, outPlane int
	taps              int
}

// newSpatial fills a geometry from the last dimensions of the input and output
// shapes. Absent lists mean stride 1, dilation 1 and no padding.
func newSpatial(in, out, kernel, stride, padLo, dilation []int) spatial {
	g := spatial{}
	fill := func(dst *[3]int, src []int, def int) {
		for i := range dst {
			dst[i] = def
			if at := i - (3 - len(src)); at >= 0 {
				dst[i] = src[at]
			}
		}
	}
	fill(&g.in, in, 1)
	fill(&g.out, out, 1)
	fill(&g.kernel, kernel, 1)
	fill(&g.stride, stride, 1)
	fill(&g.dilate, dilation, 1)
	fill(&g.padLo, padLo, 0)
	g.inPlane = g.in[0] * g.in[1] * g.in[2]
	g.outPlane = g.out[0] * g.out[1] * g.out[2]
	g.taps = g.kernel[0] * g.kernel[1] * g.kernel[2]
	return g
}

// pointwise reports whether each output position reads only the same input position.
func (g *spatial) pointwise() bool {
	one := [3]int{1, 1, 1}
	return g.kernel == one && g.stride == one && g.padLo == [3]int{} && g.in == g.out
}

// reachable reports whether the windows' extent, padding included, can be laid
// out: it is no more than a few times the input.
func (g *spatial) reachable() bool {
	for d := range 3 {
		if (g.out[d]-1)*g.stride[d]+(g.kernel[d]-1)*g.dilate[d]+1 > 4*(g.in[d]+64) {
			return false
		}
	}
	return true
}

// origin returns the input coordinates under the first tap of output position o;
// they may lie in the padding.
func (g *spatial) origin(o int) (z, y, x int) {
	x = o%g.out[2]*g.stride[2] - g.padLo[2]
	o /= g.out[2]
	y = o%g.out[1]*g.stride[1] - g.padLo[1]
	z = o/g.out[1]*g.stride[0] - g.padLo[0]
	return z, y, x
}

// inside reports whether all taps of a window with this origin read the input.
func (g *spatial) inside(z, y, x int) bool {
	return z >= 0 && y >= 0 && x >= 0 &&
		z+(g.kernel[0]-1)*g.dilate[0] < g.in[0] &&
		y+(g.kernel[1]-1)*g.dilate[1] < g.in[1] &&
		x+(g.kernel[2]-1)*g.dilate[2] < g.in[2]
}

// reach returns the outputs [lo, hi) of dimension d whose tap k reads the input.
func (g *spatial) reach(d, k int) (lo, hi int) {
	off, s := k*g.dilate[d]-g.padLo[d], g.stride[d]
	if off < 0 {
		lo = (-off + s - 1) / s
	}
	if last := g.in[d] - 1 - off; last >= 0 {
		hi = min(g.out[d], last/s+1)
	}
	return lo, max(lo, hi)
}

func strideOr(stride, kernel []int) []int {
	if len(stride) == 0 {
		return kernel
	}
	return stride
}

// needPixels panics over planes without elements, which the type rules of pools
// refuse where the sizes are known.
func (g *spatial) needPixels(step string) {
	if g.inPlane == 0 {
		panic(&diag.Error{Code: emptyCode, Op: step, Msg: "a spatial dimension of the operand has no elements, expected at least one"})
	}
}

// firstTap returns the first coordinate at, at+step, ... that is not negative.
func firstTap(at, step int) int {
	if at < 0 {
		at += (-at + step - 1) / step * step
	}
	return at
}
