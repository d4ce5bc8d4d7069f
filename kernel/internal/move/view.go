package move

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// View is a layout under construction; it lives on the stack.
type View struct {
	Rank           int
	Shape, Strides [operand.MaxRank]int
	off            int
}

// set makes dst that view of src's storage.
func (v *View) set(dst, src *array.Array) bool {
	dst.SetLayout(src, v.Shape[:v.Rank], v.Strides[:v.Rank], v.off)
	return true
}

// copyTo copies the view of src to out.
func (v *View) copyTo(w *par.Workspace, out, src *array.Array) {
	if out.Len() != operand.Prod(v.Shape[:v.Rank]) {
		operand.BadOperand("copy", "the result holds another number of elements")
	}
	var m Nest
	m.pushDense(v.Shape[:v.Rank], v.Strides[:v.Rank])
	Move(w, out, out.Offset(), src, v.off, &m)
}

// Of starts a view as that of the whole of src.
func (v *View) Of(step string, src *array.Array) {
	v.Rank = operand.CheckRank(step, src)
	copy(v.Shape[:], src.Shape())
	copy(v.Strides[:], src.Strides())
	v.off = src.Offset()
}

// Drop removes dimension d.
func (v *View) Drop(d int) {
	copy(v.Shape[d:v.Rank-1], v.Shape[d+1:v.Rank])
	copy(v.Strides[d:v.Rank-1], v.Strides[d+1:v.Rank])
	v.Rank--
}

// Copy writes in[0], of any layout, to out[0]; both have the same shape and type.
//
//gofx:kernel
type Copy struct{}

// Run implements Step.
func (Copy) Run(w *par.Workspace, out, in []*array.Array) { CopyInto(w, out[0], in[0]) }

// Reshape gives the elements of in[0] in row-major order another shape: that of
// out[0], or for View that which dst[0] has when View is called. It is also
// squeeze, unsqueeze, flatten, unflatten and view.
//
//gofx:kernel
type Reshape struct{}

// Run implements Step.
func (Reshape) Run(w *par.Workspace, out, in []*array.Array) { CopyInto(w, out[0], in[0]) }

// Copies implements PartialViewer.
func (Reshape) Copies() {}

// View implements Viewer. It reports false when in[0]'s layout cannot be
// expressed with strides in the wanted shape.
func (Reshape) View(dst, in []*array.Array) bool {
	to, src := dst[0], in[0]
	rank := operand.CheckRank("reshape", to)
	var shape, strides [operand.MaxRank]int
	copy(shape[:], to.Shape())
	if operand.Prod(shape[:rank]) != src.Len() {
		operand.BadOperand("reshape", "the shapes hold different numbers of elements")
	}
	if src.IsContiguous() || src.Len() == 0 {
		n := 1
		for i := rank - 1; i >= 0; i-- {
			strides[i] = n
			n *= shape[i]
		}
	} else if !reshapeStrides(src, shape[:rank], strides[:rank]) {
		return false
	}
	to.SetLayout(src, shape[:rank], strides[:rank], src.Offset())
	return true
}

// reshapeStrides finds the strides of a non-empty src in another shape: every
// run of source dimensions that are one strided run must be used up exactly by
// a group of new dimensions. It reports false where that is not possible.
func reshapeStrides(src *array.Array, shape, strides []int) bool {
	old, step := src.Shape(), src.Strides()
	j := len(shape) - 1
	run, base := 1, 1
	if len(old) > 0 {
		base = step[len(old)-1]
	}
	for i := len(old) - 1; i >= 0; i-- {
		run *= old[i]
		if i > 0 && (old[i-1] == 1 || step[i-1] == run*base) {
			continue
		}
		used := 1
		for j >= 0 && (used < run || shape[j] == 1) {
			strides[j] = used * base
			used *= shape[j]
			j--
		}
		if used != run {
			return false
		}
		if i > 0 {
			base, run = step[i-1], 1
		}
	}
	return j < 0
}

// Permute reorders dimensions: dimension i of the result is dimension Dims[i]
// of in[0].
//
//gofx:kernel
type Permute struct{ Dims []int }

// Run implements Step.
func (p Permute) Run(w *par.Workspace, out, in []*array.Array) {
	var v View
	p.layout(&v, in[0])
	v.copyTo(w, out[0], in[0])
}

// View implements Viewer.
func (p Permute) View(dst, in []*array.Array) bool {
	var v View
	p.layout(&v, in[0])
	return v.set(dst[0], in[0])
}

func (p Permute) layout(v *View, src *array.Array) {
	rank := operand.CheckRank("permute", src)
	if len(p.Dims) != rank {
		operand.BadOperand("permute", "the number of dimensions differs from the operand's rank")
	}
	v.Rank, v.off = rank, src.Offset()
	var seen [operand.MaxRank]bool
	for i, d := range p.Dims {
		d = operand.Axis("permute", d, rank)
		if seen[d] {
			operand.BadOperand("permute", "a dimension is named twice")
		}
		seen[d] = true
		v.Shape[i], v.Strides[i] = src.Shape()[d], src.Strides()[d]
	}
}

// Expand broadcasts in[0] to the shape of out[0], or for View to that which dst[0]
// has when View is called: dimensions of size 1 repeat, new ones lead.
//
//gofx:kernel
type Expand struct{}

// Run implements Step.
func (Expand) Run(w *par.Workspace, out, in []*array.Array) {
	var strides [operand.MaxRank]int
	s := expandStrides("expand", out[0].Shape(), in[0], &strides)
	var m Nest
	m.pushDense(out[0].Shape(), s)
	Move(w, out[0], out[0].Offset(), in[0], in[0].Offset(), &m)
}

// View implements Viewer.
func (Expand) View(dst, in []*array.Array) bool {
	var shape, strides [operand.MaxRank]int
	to := dst[0]
	rank := operand.CheckRank("expand", to)
	copy(shape[:], to.Shape())
	s := expandStrides("expand", shape[:rank], in[0], &strides)
	to.SetLayout(in[0], shape[:rank], s, in[0].Offset())
	return true
}

// expandStrides returns the strides that make src read as shape.
func expandStrides(step string, shape []int, src *array.Array, strides *[operand.MaxRank]int) []int {
	lead := len(shape) - src.Rank()
	if lead < 0 || len(shape) > operand.MaxRank {
		operand.BadOperand(step, "the operand has more dimensions than the result")
	}
	for i, n := range src.Shape() {
		switch {
		case n == shape[lead+i]:
			strides[lead+i] = src.Strides()[i]
		case n != 1:
			operand.BadOperand(step, "a dimension is neither 1 nor that of the result")
		}
	}
	return strides[:len(shape)]
}

// Slice takes elements Start, Start+Step, ... below Stop of dimension Dim.
// Negative bounds count from the end, bounds beyond the ends are clamped, and a
// stop before the start gives no elements. Step is positive.
//
//gofx:kernel
type Slice struct{ Dim, Start, Stop, Step int }

// Run implements Step.
func (s Slice) Run(w *par.Workspace, out, in []*array.Array) {
	var v View
	s.layout(&v, in[0])
	v.copyTo(w, out[0], in[0])
}

// View implements Viewer.
func (s Slice) View(dst, in []*array.Array) bool {
	var v View
	s.layout(&v, in[0])
	return v.set(dst[0], in[0])
}

func (s Slice) layout(v *View, src *array.Array) {
	v.Of("slice", src)
	d := operand.Axis("slice", s.Dim, v.Rank)
	if s.Step < 1 {
		operand.BadOperand("slice", "the step is not positive")
	}
	lo := clampBound(s.Start, v.Shape[d])
	hi := max(clampBound(s.Stop, v.Shape[d]), lo)
	// Written without lo+Step, which could overflow for huge steps.
	v.Shape[d] = 0
	if hi > lo {
		v.Shape[d] = (hi-lo-1)/s.Step + 1
		v.off += lo * v.Strides[d]
	}
	if v.Shape[d] > 1 {
		v.Strides[d] *= s.Step
	}
}

// clampBound resolves a slice bound of a dimension of n elements.
func clampBound(v, n int) int {
	if v < 0 {
		v += n
	}
	return min(max(v, 0), n)
}

// Select takes element Index of dimension Dim and drops that dimension; a
// negative index counts from the end.
//
//gofx:kernel
type Select struct{ Dim, Index int }

// Run implements Step.
func (s Select) Run(w *par.Workspace, out, in []*array.Array) {
	var v View
	s.layout(&v, in[0])
	v.copyTo(w, out[0], in[0])
}

// View implements Viewer.
func (s Select) View(dst, in []*array.Array) bool {
	var v View
	s.layout(&v, in[0])
	return v.set(dst[0], in[0])
}

func (s Select) layout(v *View, src *array.Array) {
	v.Of("select", src)
	d := operand.Axis("select", s.Dim, v.Rank)
	i, n := s.Index, v.Shape[d]
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		operand.BadIndex(int64(s.Index), d, n)
	}
	v.off += i * v.Strides[d]
	v.Drop(d)
}

// Diagonal takes the elements with index i in Dim1 and i+Offset in Dim2; the
// two dimensions vanish and the diagonal becomes the last one.
//
//gofx:kernel
type Diagonal struct{ Offset, Dim1, Dim2 int }

// Run implements Step.
func (d Diagonal) Run(w *par.Workspace, out, in []*array.Array) {
	var v View
	d.layout(&v, in[0])
	v.copyTo(w, out[0], in[0])
}

// View implements Viewer.
func (d Diagonal) View(dst, in []*array.Array) bool {
	var v View
	d.layout(&v, in[0])
	return v.set(dst[0], in[0])
}

func (d Diagonal) layout(v *View, src *array.Array) {
	v.Of("diagonal", src)
	d1, d2 := operand.Axis("diagonal", d.Dim1, v.Rank), operand.Axis("diagonal", d.Dim2, v.Rank)
	if d1 == d2 {
		operand.BadOperand("diagonal", "the two dimensions are the same")
	}
	s1, s2 := v.Strides[d1], v.Strides[d2]
	up, down := max(d.Offset, 0), max(-d.Offset, 0)
	n := max(min(v.Shape[d1]-down, v.Shape[d2]-up), 0)
	if n > 0 {
		v.off += up*s2 + down*s1
	}
	v.Drop(max(d1, d2))
	v.Drop(min(d1, d2))
	v.Shape[v.Rank], v.Strides[v.Rank] = n, s1+s2
	v.Rank++
}
