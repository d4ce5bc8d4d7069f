package resize

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Resample interpolates the last Spatial dimensions of in[0] (up to three) to the
// sizes that out[0] has, as ONNX defines Resize. Mode is "nearest", "linear" or
// "cubic", with the coefficient CubicCoeff. Coordinates says which position of in[0]
// an output position is: "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
// "align_corners", "asymmetric", "tf_half_pixel_for_nn" or "tf_crop_and_resize", which
// reads the region from Roi[:Spatial] to Roi[Spatial:], in units of the sizes, and
// gives Extrapolation where that leaves in[0]. Rounding is the rounding of nearest:
// "round_prefer_floor", "round_prefer_ceil", "floor" or "ceil". Scales, one per
// spatial dimension or empty, replace the ratio of the sizes. Antialias widens the
// taps where an image shrinks; ExcludeOutside gives no weight to positions beyond the
// ends; otherwise they read the edge. nearest serves every element type, the others
// floats.
//
//gofx:kernel
type Resample struct {
	Mode, Coordinates, Rounding string
	Scales, Roi                 []float64
	CubicCoeff, Extrapolation   float64
	ExcludeOutside, Antialias   bool
	Spatial                     int
}

// sampling is how one dimension is read.
type sampling struct {
	*Resample
	size, n    int     // source and output positions
	scale      float64 // n/size, or as given
	start, end float64 // of the region
}

// along returns how spatial dimension d, counted from the first one, is read.
func (r *Resample) along(o, a *array.Array, d int) sampling {
	s := sampling{Resample: r, size: a.Dim(d - r.Spatial), n: o.Dim(d - r.Spatial), end: 1}
	s.scale = float64(s.n) / float64(s.size)
	if len(r.Scales) > 0 {
		s.scale = r.Scales[d]
	}
	if len(r.Roi) > 0 {
		s.start, s.end = r.Roi[d], r.Roi[r.Spatial+d]
	}
	return s
}

// position returns the source position of output position i. That of nearest is computed in
// f32, as ONNX's reference and ONNX Runtime do: where a position is a whole number except for
// rounding, it decides which element is taken.
func (s *sampling) position(i int) float64 {
	if s.Mode == "nearest" {
		return float64(positionOf(s, float32(i)))
	}
	return positionOf(s, float64(i))
}

func positionOf[T float32 | float64](s *sampling, x T) T {
	last, scale := T(s.size-1), T(s.scale)
	switch s.Coordinates {
	case "align_corners":
		if s.n == 1 {
			return 0
		}
		return T(x*last) / T(s.n-1)
	case "asymmetric":
		return x / scale
	case "tf_half_pixel_for_nn":
		return (x + 0.5) / scale
	case "tf_crop_and_resize":
		start, end := T(s.start), T(s.end)
		if s.n == 1 {
			return T((start+end)*last) / 2
		}
		return T(start*last) + T(T(x*(end-start))*last)/T(s.n-1)
	}
	half := (x + 0.5) / scale
	switch {
	case s.Coordinates == "pytorch_half_pixel" && s.n == 1:
		return 0
	case s.Coordinates == "half_pixel_symmetric":
		// The part that scaling made and rounding the size removed is left out at both ends.
		size := T(s.size)
		half += T(size / 2 * (1 - T(s.n)/T(scale*size)))
	}
	return half - 0.5
}

// outside reports whether output position i has the value of Extrapolation.
func (s *sampling) outside(i int) bool {
	x := s.position(i)
	return s.Coordinates == "tf_crop_and_resize" && !(x >= 0 && x <= float64(s.size-1))
}

// copies reports whether the dimension stays as it is.
func (s *sampling) copies() bool {
	return s.n == s.size && s.scale == 1 && s.Coordinates != "tf_crop_and_resize" && s.Coordinates != "tf_half_pixel_for_nn"
}

// reach returns the distance between taps in units of the interpolating function,
// and the first tap, counted from the position's left neighbour; the taps lie
// symmetrically.
func (s *sampling) reach() (step float64, first int) {
	support := 1.0
	if s.Mode == "cubic" {
		support = 2
	}
	step = 1
	if s.Antialias {
		step = min(s.scale, 1)
	}
	return step, int(math.Floor(-support/step)) + 1
}

// taps returns how many source positions are combined.
func (s *sampling) taps() int {
	if s.Mode == "nearest" || s.copies() {
		return 1
	}
	_, first := s.reach()
	return 2 - 2*first
}

// nearest picks one source position: base is the left neighbour, at the distance
// ratio, more than 0 and at most 1.
func (s *sampling) nearest(base int, ratio float64) int {
	left := false
	switch s.Rounding {
	case "round_prefer_floor":
		left = ratio <= 0.5
	case "round_prefer_ceil":
		left = ratio < 0.5
	case "floor":
		left = ratio < 1
	}
	if !left {
		base++
	}
	return min(max(base, 0), s.size-1)
}

// weight is the interpolating function at a distance.
func (s *sampling) weight(x float64) float64 {
	x = math.Abs(x)
	if s.Mode == "linear" {
		return max(1-x, 0)
	}
	a := s.CubicCoeff
	switch {
	case x <= 1:
		p := float64((a+2)*x) - (a + 3)
		return float64(float64(p*x)*x) + 1
	case x < 2:
		p := float64(a*x) - float64(5*a)
		p = float64(p*x) + float64(8*a)
		return float64(p*x) - float64(4*a)
	}
	return 0
}

// fill makes the table of a dimension.
func fill[T operand.Real](x *resizeAxis[T], s *sampling) {
	step, first := s.reach()
	for i := range x.n {
		index, weight := x.index[i*x.taps:(i+1)*x.taps], x.weight[i*x.taps:(i+1)*x.taps]
		if s.outside(i) { // overwritten, but read
			clear(index)
			continue
		}
		pos := s.position(i)
		base := int(math.Ceil(pos)) - 1
		switch {
		case s.copies():
			index[0], weight[0] = int64(i), 1
			continue
		case s.Mode == "nearest":
			index[0], weight[0] = int64(s.nearest(base, pos-float64(base))), 1
			continue
		}
		sum := 0.0
		for t := range index {
			k := base + first + t
			f := s.weight((float64(k) - pos) * step)
			if s.ExcludeOutside && (k < 0 || k >= s.size) {
				f = 0
			}
			index[t], weight[t] = int64(min(max(k, 0), s.size-1)), T(f)
			sum += f
		}
		if (s.Antialias || s.ExcludeOutside) && sum != 0 {
			for t := range weight {
				weight[t] = T(float64(weight[t]) / sum)
			}
		}
	}
}

// resampleTables makes the tables of the spatial dimensions, which come last.
func resampleTables[T operand.Real](w *par.Workspace, r *Resample, ax *[3]resizeAxis[T], o, a *array.Array) {
	for i := range 3 - r.Spatial {
		ax[i] = resizeAxis[T]{taps: 1, n: 1}
	}
	step := 1
	for i := 2; i >= 3-r.Spatial; i-- {
		s := r.along(o, a, i-3+r.Spatial)
		taps := s.taps()
		x := resizeAxis[T]{taps: taps, n: s.n, index: par.Scratch[int64](w, s.n*taps), weight: par.Scratch[T](w, s.n*taps)}
		fill(&x, &s)
		step *= x.place(s.size, step)
		ax[i] = x
	}
}

// check refuses the same arguments as op/std, for steps that are written by hand or
// whose sizes become known when they run. Scales stay near the ratio of the sizes,
// so that taps are few.
func (r *Resample) check(o, a *array.Array) {
	n := r.Spatial
	if n < 1 || n > 3 || a.Rank() < n || o.Rank() != a.Rank() || len(r.Scales) != 0 && len(r.Scales) != n || len(r.Roi) != 0 && len(r.Roi) != 2*n {
		operand.BadOperand("resize", "the operand's rank, the scales or the region do not fit the number of spatial dimensions")
	}
	if operand.Prod(o.Shape()[:o.Rank()-n]) != operand.Prod(a.Shape()[:a.Rank()-n]) {
		operand.BadOperand("resize", "a dimension that is not spatial changes")
	}
	if o.Len() == 0 {
		return
	}
	if a.Len() == 0 {
		operand.BadOperand("resize", "the operand has no elements")
	}
	for d := range r.Scales {
		if s := r.along(o, a, d); !(s.scale*float64(s.size) >= float64(s.n)/2 && s.scale*float64(s.size) <= 2*float64(s.n)) {
			operand.BadOperand("resize", "a scale is far from the ratio of the sizes")
		}
	}
}

// ScratchBytes implements Scratcher.
func (r Resample) ScratchBytes(out, in []*array.Array) int {
	o, a := out[0], in[0]
	r.check(o, a)
	if o.Len() == 0 {
		return 0
	}
	d := resizeType(o.DType())
	if r.Mode == "nearest" {
		d = array.F32
	}
	n := 0
	for i := range r.Spatial {
		s := r.along(o, a, i)
		n += par.ScratchSize(s.n*s.taps(), 8) + par.ScratchSize(s.n*s.taps(), d.Size())
	}
	if r.Mode == "nearest" {
		return n + move.DenseBytes(a)
	}
	if o.DType() != d {
		n += par.ScratchSize(o.Len(), d.Size())
	}
	return n + move.AsBytes(a, d) + par.ScratchSize(resizeChunks*a.Dim(-1), d.Size())
}

// Run implements Step.
func (r Resample) Run(w *par.Workspace, out, in []*array.Array) {
	o, a := out[0], in[0]
	r.check(o, a)
	if o.Len() == 0 {
		return
	}
	defer w.Release(w.Mark())
	switch {
	case r.Mode == "nearest":
		var ax [3]resizeAxis[float32]
		resampleTables(w, &r, &ax, o, a)
		nearestTo(w, &ax, r.Spatial, o, a)
	case resizeType(o.DType()) == array.F32:
		var ax [3]resizeAxis[float32]
		resampleTables(w, &r, &ax, o, a)
		resizeTo(w, &ax, r.Spatial, o, a)
	default:
		var ax [3]resizeAxis[float64]
		resampleTables(w, &r, &ax, o, a)
		resizeTo(w, &ax, r.Spatial, o, a)
	}
	r.extrapolate(o, a)
}

// extrapolate writes the values outside.
func (r *Resample) extrapolate(o, a *array.Array) {
	if r.Coordinates != "tf_crop_and_resize" {
		return
	}
	inner := 1
	for d := r.Spatial - 1; d >= 0; d-- {
		s := r.along(o, a, d)
		for i := range s.n {
			if !s.outside(i) {
				continue
			}
			for at := i * inner; at < o.Len(); at += s.n * inner {
				for k := range inner {
					array.SetFloat64At(o, at+k, r.Extrapolation)
				}
			}
		}
		inner *= s.n
	}
}
