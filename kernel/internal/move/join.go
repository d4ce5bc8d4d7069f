package move

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Concat joins any number of inputs along Dim. One-dimensional inputs without
// elements are skipped whatever the rank of the others, as PyTorch does.
//
//gofx:kernel
type Concat struct{ Dim int }

// Run implements Step. Each input is one copy, whose nest merges dimensions as far
// as the result lets it.
func (c Concat) Run(w *par.Workspace, out, in []*array.Array) {
	o := out[0]
	d := operand.Axis("cat", c.Dim, operand.CheckRank("cat", o))
	at := 0
	for _, a := range in {
		if a.Len() == 0 {
			continue
		}
		if a.Rank() != o.Rank() || at+a.Dim(d) > o.Dim(d) {
			operand.BadOperand("cat", "an input has another rank or the inputs hold more elements than the result")
		}
		var m Nest
		for i, size := range a.Shape() {
			if i != d && size != o.Dim(i) {
				operand.BadOperand("cat", "the inputs differ in a dimension that is not joined")
			}
			m.Push(size, o.Strides()[i], a.Strides()[i])
		}
		Move(w, o, o.Offset()+at*o.Strides()[d], a, a.Offset(), &m)
		at += a.Dim(d)
	}
}

// Tile repeats in[0] to the shape of out[0], which is a multiple of in[0]'s in
// every dimension; missing leading dimensions of in[0] count as 1.
//
//gofx:kernel
type Tile struct{}

// Run implements Step.
func (Tile) Run(w *par.Workspace, out, in []*array.Array) {
	o, a := out[0], in[0]
	lead := o.Rank() - a.Rank()
	if lead < 0 {
		operand.BadOperand("tile", "the operand has more dimensions than the result")
	}
	if o.Len() == 0 {
		return
	}
	var m Nest
	for i, n := range o.Shape() {
		size, step := 1, 0
		if i >= lead {
			size, step = a.Shape()[i-lead], a.Strides()[i-lead]
		}
		if size == 0 || n%size != 0 {
			operand.BadOperand("tile", "the result is not a multiple of the operand")
		}
		m.Push(n/size, size*o.Strides()[i], 0)
		m.Push(size, o.Strides()[i], step)
	}
	Move(w, o, o.Offset(), a, a.Offset(), &m)
}

// RepeatInterleave repeats every element of dimension Dim Repeats times in place.
//
//gofx:kernel
type RepeatInterleave struct{ Repeats, Dim int }

// Run implements Step.
func (r RepeatInterleave) Run(w *par.Workspace, out, in []*array.Array) {
	o, a := out[0], in[0]
	d := operand.Axis("repeat_interleave", r.Dim, operand.CheckRank("repeat_interleave", a))
	if r.Repeats < 0 {
		operand.BadOperand("repeat_interleave", "the number of repeats is negative")
	}
	if o.Len() == 0 {
		return
	}
	var m Nest
	for i, size := range a.Shape() {
		if i != d {
			m.Push(size, o.Strides()[i], a.Strides()[i])
			continue
		}
		m.Push(size, r.Repeats*o.Strides()[i], a.Strides()[i])
		m.Push(r.Repeats, o.Strides()[i], 0)
	}
	Move(w, o, o.Offset(), a, a.Offset(), &m)
}

// Flip reverses the order of elements along Dims.
//
//gofx:kernel
type Flip struct{ Dims []int }

// Run implements Step.
func (f Flip) Run(w *par.Workspace, out, in []*array.Array) {
	var v View
	v.Of("flip", in[0])
	var set [operand.MaxRank]bool
	operand.Axes("flip", &set, f.Dims, v.Rank)
	for d := range v.Rank {
		if set[d] && v.Shape[d] > 0 {
			v.off += (v.Shape[d] - 1) * v.Strides[d]
			v.Strides[d] = -v.Strides[d]
		}
	}
	v.copyTo(w, out[0], in[0])
}

// Roll shifts the elements of dimension Dims[i] by Shifts[i] places towards
// higher indices, around the end. Without Dims the elements shift by Shifts[0]
// as if in[0] were one-dimensional.
//
//gofx:kernel
type Roll struct{ Shifts, Dims []int }

// ScratchBytes implements Scratcher.
func (r Roll) ScratchBytes(_, in []*array.Array) int {
	if len(r.Dims) > 0 {
		return 0
	}
	return DenseBytes(in[0])
}

// Run implements Step.
func (r Roll) Run(w *par.Workspace, out, in []*array.Array) {
	o, a := out[0], in[0]
	if len(r.Shifts) == 0 || len(r.Dims) > 0 && len(r.Dims) != len(r.Shifts) {
		operand.BadOperand("roll", "the numbers of shifts and dimensions differ")
	}
	if a.Len() == 0 {
		return
	}
	if len(r.Dims) == 0 {
		r.flat(w, o, a)
		return
	}
	var shift [operand.MaxRank]int
	rank := operand.CheckRank("roll", a)
	for i, d := range r.Dims {
		d = operand.Axis("roll", d, rank)
		shift[d] = Mod(shift[d]+Mod(r.Shifts[i], a.Shape()[d]), a.Shape()[d])
	}
	// Every shifted dimension falls into two pieces; piece p takes the second
	// one of the dimensions whose bits are set.
	pieces := uint64(1)
	for d := range rank {
		if shift[d] != 0 {
			pieces <<= 1
		}
	}
	for p := uint64(0); p < pieces; p++ {
		var m Nest
		do, so, bit := o.Offset(), a.Offset(), uint64(1)
		for d, n := range a.Shape() {
			size, s := n, shift[d]
			if s != 0 {
				size = n - s
				if p&bit != 0 {
					size = s
					so += (n - s) * a.Strides()[d]
				} else {
					do += s * o.Strides()[d]
				}
				bit <<= 1
			}
			m.Push(size, o.Strides()[d], a.Strides()[d])
		}
		Move(w, o, do, a, so, &m)
	}
}

// flat rolls all elements as one dimension.
func (r Roll) flat(w *par.Workspace, o, a *array.Array) {
	defer w.Release(w.Mark())
	s := Mod(r.Shifts[0], a.Len())
	switch o.DType().Size() {
	case 1:
		rollFlat(RawOut[uint8](o), RawDense[uint8](w, a), s)
	case 2:
		rollFlat(RawOut[uint16](o), RawDense[uint16](w, a), s)
	case 4:
		rollFlat(RawOut[uint32](o), RawDense[uint32](w, a), s)
	default:
		rollFlat(RawOut[uint64](o), RawDense[uint64](w, a), s)
	}
}

func rollFlat[T array.Elem](dst, src []T, s int) {
	copy(dst[s:], src)
	copy(dst[:s], src[len(src)-s:])
}

// Mod returns a modulo n, in [0, n).
func Mod(a, n int) int {
	if a %= n; a < 0 {
		a += n
	}
	return a
}

// fillBits sets every element of a contiguous out to the low bits of v.
func fillBits(out *array.Array, v uint64) {
	switch out.DType().Size() {
	case 1:
		operand.FillSlice(RawOut[uint8](out), uint8(v))
	case 2:
		operand.FillSlice(RawOut[uint16](out), uint16(v))
	case 4:
		operand.FillSlice(RawOut[uint32](out), uint32(v))
	default:
		operand.FillSlice(RawOut[uint64](out), v)
	}
}
