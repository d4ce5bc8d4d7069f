package resize

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Resize interpolates the last Spatial dimensions of in[0] (up to three) to
// the sizes that out[0] has. Mode is "nearest", "nearest-exact", "linear",
// "bilinear", "trilinear" or "bicubic" (a = -0.75). Scales, one per spatial
// dimension or empty, are the factors output/input to compute positions with
// instead of the ratio of the sizes; AlignCorners maps corners to corners and
// ignores them. The nearest modes serve every element type; of the others,
// integer results are rounded to nearest even and kept in range.
//
//gofx:kernel
type Resize struct {
	Mode         string
	AlignCorners bool
	Scales       []float64
	Spatial      int
}

// taps returns how many source positions one dimension combines.
func (r *Resize) taps() int {
	switch r.Mode {
	case "nearest", "nearest-exact":
		return 1
	case "linear", "bilinear", "trilinear":
		return 2
	case "bicubic":
		return 4
	}
	operand.BadOperand("interpolate", "unknown mode "+r.Mode)
	return 0
}

// resizeType returns the type that interpolating elements of type d computes in.
func resizeType(d array.DType) array.DType {
	if d == array.F32 || operand.IsHalf(d) {
		return array.F32
	}
	return array.F64
}

// ScratchBytes implements Scratcher.
func (r Resize) ScratchBytes(out, in []*array.Array) int {
	o, a := out[0], in[0]
	r.check(o, a)
	taps, d := r.taps(), resizeType(o.DType())
	n := move.AsBytes(a, d)
	if taps == 1 {
		d, n = array.F32, move.DenseBytes(a)
	}
	for i := -r.Spatial; i < 0; i++ {
		n += par.ScratchSize(o.Dim(i)*taps, 8) + par.ScratchSize(o.Dim(i)*taps, d.Size())
	}
	if taps == 1 {
		return n
	}
	if o.DType() != d {
		n += par.ScratchSize(o.Len(), d.Size())
	}
	return n + par.ScratchSize(resizeChunks*a.Dim(-1), d.Size())
}

func (r *Resize) check(o, a *array.Array) {
	n := r.Spatial
	if n < 1 || n > 3 || a.Rank() < n || o.Rank() != a.Rank() || len(r.Scales) != 0 && len(r.Scales) != n {
		operand.BadOperand("interpolate", "the operand's rank or the scales do not fit the number of spatial dimensions")
	}
	if operand.Prod(o.Shape()[:o.Rank()-n]) != operand.Prod(a.Shape()[:a.Rank()-n]) {
		operand.BadOperand("interpolate", "a dimension that is not spatial changes")
	}
}

// Run implements Step.
func (r Resize) Run(w *par.Workspace, out, in []*array.Array) {
	o, a := out[0], in[0]
	r.check(o, a)
	if o.Len() == 0 {
		return
	}
	if a.Len() == 0 {
		operand.BadOperand("interpolate", "the operand has no elements")
	}
	defer w.Release(w.Mark())
	switch {
	case r.taps() == 1:
		var ax [3]resizeAxis[float32]
		resizeTables(w, &r, &ax, o, a)
		nearestTo(w, &ax, r.Spatial, o, a)
	case resizeType(o.DType()) == array.F32:
		var ax [3]resizeAxis[float32]
		resizeTables(w, &r, &ax, o, a)
		resizeTo(w, &ax, r.Spatial, o, a)
	default:
		var ax [3]resizeAxis[float64]
		resizeTables(w, &r, &ax, o, a)
		resizeTo(w, &ax, r.Spatial, o, a)
	}
}

// resizeTables makes the tables of the spatial dimensions. They come last of
// three; missing ones have one position.
func resizeTables[T operand.Real](w *par.Workspace, r *Resize, ax *[3]resizeAxis[T], o, a *array.Array) {
	taps, step := r.taps(), 1
	for i := 2; i >= 3-r.Spatial; i-- {
		d := a.Rank() - 3 + i
		n, size, scale := o.Dim(d), a.Dim(d), 0.0
		if len(r.Scales) > 0 {
			scale = r.Scales[i-3+r.Spatial]
		}
		x := resizeAxis[T]{taps: taps, n: n, index: par.Scratch[int64](w, n*taps), weight: par.Scratch[T](w, n*taps)}
		switch taps {
		case 1:
			x.fillNearest(r.Mode == "nearest-exact", size, scale)
		case 2:
			x.fillLinear(r.AlignCorners, size, scale)
		default:
			x.fillCubic(r.AlignCorners, size, scale)
		}
		step *= x.place(size, step)
		ax[i] = x
	}
	for i := range 3 - r.Spatial {
		ax[i] = resizeAxis[T]{taps: 1, n: 1}
	}
}

// at returns tap t of output position i: where it reads and its weight.
func (x *resizeAxis[T]) at(i, t int) (int, T) {
	if x.index == nil {
		return 0, 1
	}
	return int(x.index[i*x.taps+t]), x.weight[i*x.taps+t]
}

// nearestTo picks elements of any type, by tables of one tap.
func nearestTo(w *par.Workspace, ax *[3]resizeAxis[float32], spatial int, o, a *array.Array) {
	plane := operand.Prod(a.Shape()[a.Rank()-spatial:])
	switch o.DType().Size() {
	case 1:
		resizeNearest(w, move.RawOut[uint8](o), move.RawDense[uint8](w, a), plane, ax)
	case 2:
		resizeNearest(w, move.RawOut[uint16](o), move.RawDense[uint16](w, a), plane, ax)
	case 4:
		resizeNearest(w, move.RawOut[uint32](o), move.RawDense[uint32](w, a), plane, ax)
	default:
		resizeNearest(w, move.RawOut[uint64](o), move.RawDense[uint64](w, a), plane, ax)
	}
}

// resizeNearestJob picks elements for rows of the output.
type resizeNearestJob[T array.Elem] struct {
	dst, src []T
	plane    int
	ax       [3]resizeAxis[float32]
	double   bool // each element of a row is taken twice
}

func resizeNearest[T array.Elem](w *par.Workspace, dst, src []T, plane int, ax *[3]resizeAxis[float32]) {
	j := par.TakeJob[resizeNearestJob[T]](w)
	*j = resizeNearestJob[T]{dst: dst, src: src, plane: plane, ax: *ax, double: true}
	for k, x := range ax[2].index {
		j.double = j.double && int(x) == k/2
	}
	w.Parallel(len(dst)/ax[2].n, max(1, par.PackWork/ax[2].n), j)
	par.PutJob(w, j)
}

// Do fills rows [lo, hi) of the output, counted over all planes. Rows are written
// in order, and a row that reads what the last one read is a copy of it, from the
// first cache.
func (j *resizeNearestJob[T]) Do(lo, hi int) {
	ax, width := &j.ax, j.ax[2].n
	was := -1
	for i := lo; i < hi; i++ {
		p, _ := ax[0].at(i/ax[1].n%ax[0].n, 0)
		q, _ := ax[1].at(i%ax[1].n, 0)
		from := i/(ax[0].n*ax[1].n)*j.plane + p + q
		dst, src := j.dst[i*width:(i+1)*width], j.src[from:]
		switch {
		case from == was: // the row before reads the same
			copy(dst, j.dst[(i-1)*width:])
		case j.double:
			for k := range dst[:width/2] {
				dst[2*k], dst[2*k+1] = src[k], src[k]
			}
			if width%2 == 1 {
				dst[width-1] = src[width/2]
			}
		default:
			for k, x := range ax[2].index {
				dst[k] = src[x]
			}
		}
		was = from
	}
}

// resizeJob interpolates rows of the output.
type resizeJob[T operand.Real] struct {
	dst, src, rows      []T
	width, plane, grain int
	ax                  [3]resizeAxis[T]
}

// Do computes parts [lo, hi) of the output's rows, counted over all planes. Down
// before along: source rows are added up to one row, in vectors, which stays in
// the first cache while its elements are combined.
func (j *resizeJob[T]) Do(lo, hi int) {
	ax := &j.ax
	row := j.rows[lo*j.width:][:j.width]
	lo, hi = lo*j.grain, min(hi*j.grain, len(j.dst)/ax[2].n)
	y := j.dst[lo*ax[2].n:]
	for i := lo; i < hi; i++ {
		src := j.src[i/(ax[0].n*ax[1].n)*j.plane:][:j.plane]
		resizeRows(row, src, ax, i/ax[1].n%ax[0].n, i%ax[1].n)
		y = resizeRow(y, row, &ax[2])
	}
}

// resizeTo combines source rows first, which lie contiguously, and then the
// elements of the combined row.
func resizeTo[T float32 | float64](w *par.Workspace, ax *[3]resizeAxis[T], spatial int, o, a *array.Array) {
	plane := operand.Prod(a.Shape()[a.Rank()-spatial:])
	dst := move.OutAs[T](w, o)
	j := par.TakeJob[resizeJob[T]](w)
	*j = resizeJob[T]{dst: dst, src: move.LoadAs[T](w, a), rows: par.Scratch[T](w, resizeChunks*a.Dim(-1)), width: a.Dim(-1), plane: plane, ax: *ax}
	rows := len(dst) / ax[2].n
	j.grain = max(1, (rows+resizeChunks-1)/resizeChunks)
	w.Parallel((rows+j.grain-1)/j.grain, 1, j)
	par.PutJob(w, j)
	if o.DType().IsInt() {
		roundInto(o.DType(), dst)
	}
	move.SaveAs(o, dst)
}

// resizeRows sets row to the weighted sum of the source rows that output row (i,
// j) combines. The row is added to in place; its sources are runs.
func resizeRows[T operand.Real](row, src []T, ax *[3]resizeAxis[T], i, j int) {
	first := true
	for s := range ax[0].taps {
		p, u := ax[0].at(i, s)
		for t := range ax[1].taps {
			q, v := ax[1].at(j, t)
			f := T(u * v)
			from, to := src[p+q:p+q+len(row)], row
			if first {
				first = false
				for k, e := range from {
					to[k] = T(f * e)
				}
				continue
			}
			for k, e := range from {
				to[k] += T(f * e)
			}
		}
	}
}

// resizeRow combines the elements of a row and returns the rest of dst.
func resizeRow[T operand.Real](dst, row []T, x *resizeAxis[T]) []T {
	if x.taps == 2 {
		at, weight := x.index, x.weight
		for k := range dst[:x.n] {
			dst[k] = T(weight[2*k]*row[at[2*k]]) + T(weight[2*k+1]*row[at[2*k+1]])
		}
		return dst[x.n:]
	}
	for k := range x.n {
		at, weight := x.index[k*x.taps:(k+1)*x.taps], x.weight[k*x.taps:(k+1)*x.taps]
		sum := T(weight[0] * row[at[0]])
		for t := 1; t < len(at); t++ {
			sum += T(weight[t] * row[at[t]])
		}
		dst[k] = sum
	}
	return dst[x.n:]
}

// roundInto rounds x to integers within the range of type d.
func roundInto[T operand.Real](d array.DType, x []T) {
	bits := 8 * d.Size()
	lo, hi := 0.0, math.Ldexp(1, bits)-1
	if d.IsSigned() {
		lo, hi = -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1)-1
	}
	for i, v := range x {
		x[i] = T(min(max(math.RoundToEven(float64(v)), lo), hi))
	}
}
