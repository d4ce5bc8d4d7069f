package kernel

import (
	"math"
	"math/bits"

	"github.com/gofx-dev/gofx/array"
)

// Concat joins any number of inputs along Dim. One-dimensional inputs without
// elements are skipped whatever the rank of the others, as PyTorch does.
type Concat struct{ Dim int }

// Run implements Step.
func (c Concat) Run(w *Workspace, out, in []*array.Array) {
	o := out[0]
	d := axis("cat", c.Dim, checkRank("cat", o))
	at := 0
	for _, a := range in {
		if a.Len() == 0 {
			continue
		}
		if a.Rank() != o.Rank() || at+a.Dim(d) > o.Dim(d) {
			badOperand("cat", "an input has another rank or the inputs hold more elements than the result")
		}
		var m moveNest
		for i, size := range a.Shape() {
			if i != d && size != o.Dim(i) {
				badOperand("cat", "the inputs differ in a dimension that is not joined")
			}
			m.push(size, o.Strides()[i], a.Strides()[i])
		}
		move(w, o, o.Offset()+at*o.Strides()[d], a, a.Offset(), &m)
		at += a.Dim(d)
	}
}

// Tile repeats in[0] to the shape of out[0], which is a multiple of in[0]'s in
// every dimension; missing leading dimensions of in[0] count as 1.
type Tile struct{}

// Run implements Step.
func (Tile) Run(w *Workspace, out, in []*array.Array) {
	o, a := out[0], in[0]
	lead := o.Rank() - a.Rank()
	if lead < 0 {
		badOperand("tile", "the operand has more dimensions than the result")
	}
	if o.Len() == 0 {
		return
	}
	var m moveNest
	for i, n := range o.Shape() {
		size, step := 1, 0
		if i >= lead {
			size, step = a.Shape()[i-lead], a.Strides()[i-lead]
		}
		if size == 0 || n%size != 0 {
			badOperand("tile", "the result is not a multiple of the operand")
		}
		m.push(n/size, size*o.Strides()[i], 0)
		m.push(size, o.Strides()[i], step)
	}
	move(w, o, o.Offset(), a, a.Offset(), &m)
}

// RepeatInterleave repeats every element of dimension Dim Repeats times in place.
type RepeatInterleave struct{ Repeats, Dim int }

// Run implements Step.
func (r RepeatInterleave) Run(w *Workspace, out, in []*array.Array) {
	o, a := out[0], in[0]
	d := axis("repeat_interleave", r.Dim, checkRank("repeat_interleave", a))
	if r.Repeats < 0 {
		badOperand("repeat_interleave", "the number of repeats is negative")
	}
	if o.Len() == 0 {
		return
	}
	var m moveNest
	for i, size := range a.Shape() {
		if i != d {
			m.push(size, o.Strides()[i], a.Strides()[i])
			continue
		}
		m.push(size, r.Repeats*o.Strides()[i], a.Strides()[i])
		m.push(r.Repeats, o.Strides()[i], 0)
	}
	move(w, o, o.Offset(), a, a.Offset(), &m)
}

// Flip reverses the order of elements along Dims.
type Flip struct{ Dims []int }

// Run implements Step.
func (f Flip) Run(w *Workspace, out, in []*array.Array) {
	var v view
	v.of("flip", in[0])
	var set [maxRank]bool
	axes("flip", &set, f.Dims, v.rank)
	for d := range v.rank {
		if set[d] && v.shape[d] > 0 {
			v.off += (v.shape[d] - 1) * v.strides[d]
			v.strides[d] = -v.strides[d]
		}
	}
	v.copyTo(w, out[0], in[0])
}

// Roll shifts the elements of dimension Dims[i] by Shifts[i] places towards
// higher indices, around the end. Without Dims the elements shift by Shifts[0]
// as if in[0] were one-dimensional.
type Roll struct{ Shifts, Dims []int }

// ScratchBytes implements Scratcher.
func (r Roll) ScratchBytes(_, in []*array.Array) int {
	if len(r.Dims) > 0 {
		return 0
	}
	return denseBytes(in[0])
}

// Run implements Step.
func (r Roll) Run(w *Workspace, out, in []*array.Array) {
	o, a := out[0], in[0]
	if len(r.Shifts) == 0 || len(r.Dims) > 0 && len(r.Dims) != len(r.Shifts) {
		badOperand("roll", "the numbers of shifts and dimensions differ")
	}
	if a.Len() == 0 {
		return
	}
	if len(r.Dims) == 0 {
		r.flat(w, o, a)
		return
	}
	var shift [maxRank]int
	rank := checkRank("roll", a)
	for i, d := range r.Dims {
		d = axis("roll", d, rank)
		shift[d] = mod(shift[d]+mod(r.Shifts[i], a.Shape()[d]), a.Shape()[d])
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
		var m moveNest
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
			m.push(size, o.Strides()[d], a.Strides()[d])
		}
		move(w, o, do, a, so, &m)
	}
}

// flat rolls all elements as one dimension.
func (r Roll) flat(w *Workspace, o, a *array.Array) {
	defer w.Release(w.Mark())
	s := mod(r.Shifts[0], a.Len())
	switch o.DType().Size() {
	case 1:
		rollFlat(rawOut[uint8](o), rawDense[uint8](w, a), s)
	case 2:
		rollFlat(rawOut[uint16](o), rawDense[uint16](w, a), s)
	case 4:
		rollFlat(rawOut[uint32](o), rawDense[uint32](w, a), s)
	default:
		rollFlat(rawOut[uint64](o), rawDense[uint64](w, a), s)
	}
}

func rollFlat[T array.Elem](dst, src []T, s int) {
	copy(dst[s:], src)
	copy(dst[:s], src[len(src)-s:])
}

// mod returns a modulo n, in [0, n).
func mod(a, n int) int {
	if a %= n; a < 0 {
		a += n
	}
	return a
}

// Tri keeps, in every matrix that the last two dimensions make, the elements
// on and below (Upper: on and above) the given diagonal and zeroes the others.
type Tri struct {
	Upper    bool
	Diagonal int
}

// Run implements Step.
func (t Tri) Run(w *Workspace, out, in []*array.Array) {
	o := out[0]
	if o.Rank() < 2 {
		badOperand("tri", "the operand is not a matrix")
	}
	copyInto(w, o, in[0])
	if o.Len() == 0 {
		return
	}
	size := o.DType().Size()
	rows, cols := o.Dim(-2), o.Dim(-1)
	buf := o.Storage().Bytes()[o.Offset()*size : (o.Offset()+o.Len())*size]
	for i := 0; len(buf) > 0; i++ {
		r := i % rows
		lo, hi := 0, clampAdd(r, t.Diagonal, cols)
		if !t.Upper {
			lo, hi = clampAdd(r+1, t.Diagonal, cols), cols
		}
		clear(buf[lo*size : hi*size])
		buf = buf[cols*size:]
	}
}

// clampAdd returns a+b limited to [0, n], for a in [0, n'] and any b.
func clampAdd(a, b, n int) int {
	if sum, over := bits.Add64(uint64(a), uint64(max(b, 0)), 0); b >= 0 {
		if over != 0 || sum > uint64(n) {
			return n
		}
		return int(sum)
	}
	return min(max(a+b, 0), n)
}

// valueBits returns the bits of v as an element of type d: floats round to
// nearest even, integers truncate, and bool is v != 0.
func valueBits(d array.DType, v float64) uint64 {
	switch d {
	case array.F32:
		return uint64(math.Float32bits(float32(v)))
	case array.F64:
		return math.Float64bits(v)
	case array.F16:
		return uint64(array.HalfFromFloat64(v))
	case array.BF16:
		return uint64(array.BFloatFromFloat64(v))
	case array.Bool:
		if v != 0 {
			return 1
		}
		return 0
	case array.U64:
		if v >= 1<<63 {
			return uint64(v-1<<63) + 1<<63
		}
	}
	return uint64(int64(v))
}

// fillBits sets every element of a contiguous out to the low bits of v.
func fillBits(out *array.Array, v uint64) {
	switch out.DType().Size() {
	case 1:
		fillSlice(rawOut[uint8](out), uint8(v))
	case 2:
		fillSlice(rawOut[uint16](out), uint16(v))
	case 4:
		fillSlice(rawOut[uint32](out), uint32(v))
	default:
		fillSlice(rawOut[uint64](out), v)
	}
}
