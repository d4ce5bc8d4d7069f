package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// Patches is the matrix [channels·taps, positions] of a convolution input, each
// column the window of one output position. It is read, never laid out.
type Patches[T operand.Real] struct {
	geom.Spatial
}

// window is a *Patches: an interface, so that programs without convolutions do not
// link the packing.
type window[T operand.Real] interface {
	pack(dst, img []T, row, k, col, count int)
}

// pack packs columns col to col+count of rows row to row+k of the matrix over img,
// NR wide and k outermost, as packRows would. The places of its columns are found
// once; along k only the tap moves, counted up without a division. A panel inside
// the image, which most are, asks nothing of a tap.
func (g *Patches[T]) pack(dst, img []T, row, k, col, count int) {
	var base, zs, ys, xs [NR]int
	interior := count == NR
	for i := range count {
		zs[i], ys[i], xs[i] = g.Origin(col + i)
		base[i] = (zs[i]*g.In[1]+ys[i])*g.In[2] + xs[i]
		interior = interior && g.Inside(zs[i], ys[i], xs[i])
	}
	tap, c := row%g.Taps, row/g.Taps
	kx, ky, kz := tap%g.Kernel[2], tap/g.Kernel[2]%g.Kernel[1], tap/g.Kernel[2]/g.Kernel[1]
	dz, dy, dx := g.Dilate[0], g.Dilate[1], g.Dilate[2]
	for p := range k {
		d := dst[p*NR : p*NR+NR]
		off := c*g.InPlane + (kz*dz*g.In[1]+ky*dy)*g.In[2] + kx*dx
		if interior {
			d[0], d[1], d[2], d[3] = img[off+base[0]], img[off+base[1]], img[off+base[2]], img[off+base[3]]
		} else {
			for i := range NR {
				d[i] = 0
				if i < count && uint(xs[i]+kx*dx) < uint(g.In[2]) &&
					uint(ys[i]+ky*dy) < uint(g.In[1]) && uint(zs[i]+kz*dz) < uint(g.In[0]) {
					d[i] = img[off+base[i]]
				}
			}
		}
		if kx++; kx == g.Kernel[2] {
			kx = 0
			if ky++; ky == g.Kernel[1] {
				ky = 0
				if kz++; kz == g.Kernel[0] {
					kz = 0
					c++
				}
			}
		}
	}
}
