package resize

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// RoiAlign pools regions of in[0], [N, C, H, W]: the rows of in[1], [R, 4], are x and
// y of two corners, times Scale, those of in[2], [R], the images. The result is
// [R, C, h, w]; each of its elements is the mean, or with Max the greatest, of values
// at Samples by Samples points, or of as many as there are elements where that is 0.
// Aligned moves regions by half an element. With Max the value at a point is the
// greatest of the four weighted neighbours, as ONNX has it. Points beyond the image by
// more than one element are zero.
//
//gofx:kernel
type RoiAlign struct {
	Scale        float64
	Samples      int
	Aligned, Max bool
}

// ScratchBytes implements Scratcher.
func (r RoiAlign) ScratchBytes(out, in []*array.Array) int {
	d := resizeType(out[0].DType())
	n := move.AsBytes(in[0], d) + move.AsBytes(in[1], d) + move.AsBytes(in[2], array.I64)
	if out[0].DType() != d {
		n += par.ScratchSize(out[0].Len(), d.Size())
	}
	return n
}

// Run implements Step.
func (r RoiAlign) Run(w *par.Workspace, out, in []*array.Array) {
	o, a, rois, batch := out[0], in[0], in[1], in[2]
	if a.Rank() != 4 || o.Rank() != 4 || rois.Rank() != 2 || rois.Dim(1) != 4 || batch.Rank() != 1 || batch.Dim(0) != rois.Dim(0) ||
		o.Dim(0) != rois.Dim(0) || o.Dim(1) != a.Dim(1) || r.Samples < 0 {
		operand.BadOperand("roi_align", "the shapes of image, regions, batch and result do not fit")
	}
	if o.Len() == 0 {
		return
	}
	defer w.Release(w.Mark())
	if resizeType(o.DType()) == array.F32 {
		roiAlign[float32](w, &r, o, a, rois, batch)
	} else {
		roiAlign[float64](w, &r, o, a, rois, batch)
	}
}

func roiAlign[T float32 | float64](w *par.Workspace, r *RoiAlign, o, a, rois, batch *array.Array) {
	dst, images := move.OutAs[T](w, o), move.LoadAs[int64](w, batch)
	for _, n := range images {
		if n < 0 || n >= int64(a.Dim(0)) {
			operand.BadIndex(n, 0, a.Dim(0))
		}
	}
	j := par.TakeJob[roiJob[T]](w)
	*j = roiJob[T]{RoiAlign: *r, dst: dst, src: move.LoadAs[T](w, a), rois: move.LoadAs[T](w, rois), images: images,
		channels: a.Dim(1), in: [2]int{a.Dim(2), a.Dim(3)}, out: [2]int{o.Dim(2), o.Dim(3)}}
	w.Parallel(rois.Dim(0), 1, j)
	par.PutJob(w, j)
	move.SaveAs(o, dst)
}

// roiJob pools regions.
type roiJob[T operand.Real] struct {
	RoiAlign
	dst, src, rois []T
	images         []int64
	channels       int
	in, out        [2]int // height and width
}

// roiAxis is one dimension of a region: where it begins, how long a part of the result
// is, and how many points that has.
type roiAxis[T operand.Real] struct {
	start, part, points T
}

func (j *roiJob[T]) axis(from, to T, n int) roiAxis[T] {
	offset := T(0)
	if j.Aligned {
		offset = 0.5
	}
	start := T(from*T(j.Scale)) - offset
	size := T(to*T(j.Scale)) - offset - start
	if !j.Aligned {
		size = max(size, 1)
	}
	x := roiAxis[T]{start: start, part: size / T(n), points: T(j.Samples)}
	if j.Samples == 0 {
		x.points = T(math.Ceil(float64(x.part)))
	}
	return x
}

// within returns the range of points of part i that may lie in an image of size
// elements: whatever a region is, no more are visited.
func (x *roiAxis[T]) within(i, size int) (first, last int) {
	if !(x.points >= 1) {
		return 0, -1
	}
	step := float64(x.part / x.points)
	begin := float64(x.start) + float64(i)*float64(x.part) + step/2
	lo, hi := 0.0, float64(x.points)-1
	if step != 0 {
		p, q := (-2-begin)/step, (float64(size)+1-begin)/step
		lo, hi = max(lo, math.Floor(min(p, q))), min(hi, math.Ceil(max(p, q)))
	}
	if !(lo <= hi) {
		return 0, -1
	}
	return int(lo), int(hi)
}

// at returns the two neighbours of point p of part i, and the weight of the second
// one; ok is false outside.
func (x *roiAxis[T]) at(i, p, size int) (low, high int, f T, ok bool) {
	v := x.start + T(T(i)*x.part) + T((T(p)+0.5)*x.part)/x.points
	if !(v >= -1 && v <= T(size)) {
		return 0, 0, 0, false
	}
	v = max(v, 0)
	if low = int(v); low >= size-1 {
		return size - 1, size - 1, 0, true
	}
	return low, low + 1, v - T(low), true
}

// Do pools regions [lo, hi).
func (j *roiJob[T]) Do(lo, hi int) {
	plane, parts := j.in[0]*j.in[1], j.out[0]*j.out[1]
	for i := lo; i < hi; i++ {
		b := j.rois[4*i : 4*i+4]
		y, x := j.axis(b[1], b[3], j.out[0]), j.axis(b[0], b[2], j.out[1])
		for c := range j.channels {
			src := j.src[(int(j.images[i])*j.channels+c)*plane:][:plane]
			dst := j.dst[(i*j.channels+c)*parts:][:parts]
			for k := range dst {
				dst[k] = j.pool(src, &y, &x, k/j.out[1], k%j.out[1])
			}
		}
	}
}

// pool combines the points of part (row, column) of a region.
func (j *roiJob[T]) pool(src []T, y, x *roiAxis[T], row, column int) T {
	y0, y1 := y.within(row, j.in[0])
	x0, x1 := x.within(column, j.in[1])
	// Points that are not visited are zero: they count, and are among the greatest.
	visited := T(max(y1-y0+1, 0)) * T(max(x1-x0+1, 0))
	count := max(y.points, 0) * max(x.points, 0)
	var sum, most T
	some := visited < count
	for p := y0; p <= y1; p++ {
		up, down, v, inside := y.at(row, p, j.in[0])
		for q := x0; q <= x1; q++ {
			left, right, h, ok := x.at(column, q, j.in[1])
			var s [4]T
			if inside && ok {
				s = [4]T{T((1-v)*(1-h)) * src[up*j.in[1]+left], T((1-v)*h) * src[up*j.in[1]+right],
					T(v*(1-h)) * src[down*j.in[1]+left], T(v*h) * src[down*j.in[1]+right]}
			}
			sum += s[0] + s[1] + s[2] + s[3]
			if m := max(s[0], s[1], s[2], s[3]); !some || m > most {
				most, some = m, true
			}
		}
	}
	if j.Max {
		return most
	}
	return sum / max(count, 1)
}
