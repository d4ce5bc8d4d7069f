package quant

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// qFrameCopy is the argument for packing one vector of positions.
type qFrameCopy struct {
	src   *uint8
	taps  *int64
	count int // taps
	quads int
	plane int // bytes of four channels
	dst   *uint8
	step  int // between vectors of one group and the next
	parts int
	at    [4]int64
	lanes [4]uint64
}

// enframe brings fours of channels together, with padding around them, in scratch
// memory that panels are then packed from.
func (j *qPlaneJob) enframe(w *par.Workspace, at int, img []uint8) {
	f, g := &j.f, &j.f.g
	j.taps = par.Scratch[int64](w, g.Taps)
	for t := range j.taps {
		y, x := t/g.Kernel[2]*g.Dilate[1], t%g.Kernel[2]*g.Dilate[2]
		j.taps[t] = int64(4 * ((x%f.phases*f.frame[0]+y)*f.frame[1] + x/f.phases))
	}
	e := par.TakeJob[qFrameJob](w)
	*e = qFrameJob{f: *f, src: img[at:], dst: par.Scratch[uint8](w, f.frameBytes()), fill: uint8(j.fill) ^ uint8(j.flip), flip: j.flip}
	w.Parallel(f.depth/g.Taps, max(1, elementwiseWork/(f.fourBytes()+1)), e)
	j.src = e.dst
	par.PutJob(w, e)
}

// qFrameJob lays an image out by fours of channels.
type qFrameJob struct {
	f        qPlaneForm
	src, dst []uint8
	fill     uint8 // a byte of padding
	flip     uint32
}

// Do lays out fours [lo, hi). Of a split line, even columns of the frame come
// first; with odd padding those are the odd columns of the image.
func (j *qFrameJob) Do(lo, hi int) {
	f, g := &j.f, &j.f.g
	size, step, pad := f.fourBytes(), 4*f.frame[1], g.PadLo[2]
	lines, n := min(g.In[1], f.frame[0]-g.PadLo[1]), min(g.In[2], f.phases*f.frame[1]-pad)
	for i := lo; i < hi; i++ {
		dst := j.dst[i*size : (i+1)*size]
		if g.PadLo != [3]int{} || lines < f.frame[0] || g.In[2] < f.frame[1]*f.phases {
			fillBytes(dst, j.fill)
		}
		if lines < 1 || n < 1 {
			continue
		}
		src := j.src[4*i*g.InPlane:]
		at := g.PadLo[1]*step + pad/f.phases*4
		if f.phases == 1 {
			qFrameVNNI(lines, n, g.In[2], &src[0], g.InPlane, &dst[at], &dst[0], step, j.flip)
			continue
		}
		even, odd := at, at+f.frame[0]*step
		if pad%2 == 1 {
			even, odd = at+f.frame[0]*step, at+4
		}
		qFrameSplitVNNI(lines, n, g.In[2], &src[0], g.InPlane, &dst[even], &dst[min(odd, len(dst)-1)], step, j.flip)
	}
}

// copyVector packs up to 16 positions from first on, of every tap and channel.
func (j *qPlaneJob) copyVector(dst []uint8, first, n, step int) {
	f, g := &j.f, &j.f.g
	s := qFrameCopy{src: &j.src[0], taps: &j.taps[0], count: len(j.taps), quads: f.depth / g.Taps, plane: f.fourBytes(), dst: &dst[0], step: step}
	y, x := first/g.Out[2], first%g.Out[2]
	for lane := 0; lane < n; s.parts++ {
		width := min(g.Out[2]-x, n-lane)
		s.at[s.parts] = int64(4 * (y*g.Stride[1]*f.frame[1] + x - lane))
		s.lanes[s.parts] = (1<<width - 1) << lane
		lane, x, y = lane+width, 0, y+1
	}
	qFrameCopyVNNI((*uint8)(unsafe.Pointer(&s)))
}
