package kernel

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
