package kernel

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

// patches is the matrix [channels·taps, positions] of a convolution input, each
// column the window of one output position. It is read, never laid out.
type patches struct {
	spatial
}

// packPatches packs columns col to col+count of rows row to row+k of the matrix
// over img, gemmNR wide and k outermost, as packRows would.
func packPatches[T real](g *patches, dst, img []T, row, k, col, count int) {
	var base, zs, ys, xs [gemmNR]int
	interior := count == gemmNR
	for i := range count {
		zs[i], ys[i], xs[i] = g.origin(col + i)
		base[i] = (zs[i]*g.in[1]+ys[i])*g.in[2] + xs[i]
		interior = interior && g.inside(zs[i], ys[i], xs[i])
	}
	tap, c := row%g.taps, row/g.taps
	kx, ky, kz := tap%g.kernel[2], tap/g.kernel[2]%g.kernel[1], tap/g.kernel[2]/g.kernel[1]
	dz, dy, dx := g.dilate[0], g.dilate[1], g.dilate[2]
	for p := range k {
		d := dst[p*gemmNR : p*gemmNR+gemmNR]
		off := c*g.inPlane + (kz*dz*g.in[1]+ky*dy)*g.in[2] + kx*dx
		if interior {
			d[0], d[1], d[2], d[3] = img[off+base[0]], img[off+base[1]], img[off+base[2]], img[off+base[3]]
		} else {
			for i := range gemmNR {
				d[i] = 0
				if i < count && uint(xs[i]+kx*dx) < uint(g.in[2]) &&
					uint(ys[i]+ky*dy) < uint(g.in[1]) && uint(zs[i]+kz*dz) < uint(g.in[0]) {
					d[i] = img[off+base[i]]
				}
			}
		}
		if kx++; kx == g.kernel[2] {
			kx = 0
			if ky++; ky == g.kernel[1] {
				ky = 0
				if kz++; kz == g.kernel[0] {
					kz = 0
					c++
				}
			}
		}
	}
}
