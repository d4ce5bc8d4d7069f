package oracle

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

// fill returns an array of a's shape and the element type t with fresh values.
// Operands often mean something by their range, such as indices, probabilities
// and variances, so that most keep it.
func (d *drawing) fill(a *array.Array, t array.DType) *array.Array {
	out := array.New(t, a.Shape()...)
	switch {
	case t == array.Bool:
		p := pick(d, 0, 0.1, 0.5, 0.5, 0.9, 1)
		for i := range out.Len() {
			if d.chance(p) {
				array.SetInt64At(out, i, 1)
			}
		}
	case t.IsFloat():
		next := d.floats(a)
		for i := range out.Len() {
			array.SetFloat64At(out, i, next())
		}
	default:
		next := d.integers(a, t)
		for i := range out.Len() {
			array.SetInt64At(out, i, next())
		}
	}
	return out
}

// span returns the range of the finite elements.
func span(a *array.Array) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i := range a.Len() {
		if v := array.Float64At(a, i); !math.IsNaN(v) && !math.IsInf(v, 0) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		return 0, 1
	}
	return lo, hi
}

// specials are numbers at the edges of the types. Sums of products of the huge ones
// overflow in one order of the terms and not in another, which nobody promises.
var specials = append([]float64{math.MaxFloat32, -math.MaxFloat32, 1e300, 0x1p63, -0x1p63}, products...)

// products are those for operators that multiply and add.
var products = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, 1e-42, -1e-42, 5e-324,
	0x1p-126, 0x1p-149, 6e-8, 65504, 65520,
	0.5, 2.5, -2.5, 1.5, 0x1p24, 0x1p31, 1e10, 88.8, -104}

// floats draws one way of drawing floats.
func (d *drawing) floats(a *array.Array) func() float64 {
	lo, hi := span(a)
	scale := pick(d, 1, 1, 1, 0.01, 10, 100)
	inRange := func() float64 { return lo + (hi-lo)*d.Float64() }
	normal := func() float64 { return scale * d.NormFloat64() }
	base := normal
	if lo >= 0 && d.chance(0.8) {
		base = inRange
	}
	edges := specials
	switch d.op.Class {
	case op.Contraction:
		edges = products
	case op.Reduction: // at the very end of the range it is the last bit that overflows
		edges = append([]float64{0x1p110, -0x1p110, 1e300, 0x1p63}, products...)
	}
	special := pick(d, edges...)
	switch d.IntN(10) {
	case 0: // ties
		return func() float64 { return float64(d.IntN(7) - 3) }
	case 1: // any magnitude
		wide := pick(d, 6, 20, 38, 45)
		if d.op.Class == op.Contraction {
			wide = 6
		}
		return func() float64 {
			return math.Copysign(math.Pow(10, float64(wide)*(2*d.Float64()-1)), d.Float64()-0.5)
		}
	case 2, 3: // a few special ones
		return func() float64 {
			if d.chance(0.15) {
				return pick(d, edges...)
			}
			return base()
		}
	case 4: // one special one
		return func() float64 {
			if d.chance(0.1) {
				return special
			}
			return base()
		}
	}
	return base
}

// integers draws one way of drawing integers of type t.
func (d *drawing) integers(a *array.Array, t array.DType) func() int64 {
	lo, hi := span(a)
	bits := 8 * t.Size()
	least, most := int64(math.MinInt64)>>(64-bits), int64(math.MaxInt64)>>(64-bits)
	if !t.IsSigned() {
		least, most = 0, most<<1|1
	}
	small := func() int64 { return int64(d.IntN(12) - 3) }
	switch d.IntN(10) {
	case 0, 1:
		return small
	case 2:
		return func() int64 {
			if d.chance(0.3) {
				return pick(d, least, most, 0, -1, least+1)
			}
			return small()
		}
	case 3:
		if t.IsSigned() {
			return func() int64 { return int64(d.Uint64()) >> (64 - bits) }
		}
		return func() int64 { return int64(d.Uint64() >> (64 - bits)) }
	}
	first, count := int64(max(lo, -1000)), int64(min(hi, 1000))-int64(max(lo, -1000))+1
	if count < 1 {
		return small
	}
	return func() int64 { return first + d.Int64N(count) }
}

// layout returns a with the same or repeated values in another order of memory.
func (d *drawing) layout(a *array.Array) *array.Array {
	if a.Rank() == 0 || d.chance(0.6) {
		return a
	}
	k := d.IntN(a.Rank())
	switch d.IntN(4) {
	case 0: // axes in another order
		perm := d.Perm(a.Rank())
		back := make([]int, len(perm))
		for i, p := range perm {
			back[p] = i
		}
		return array.Permute(array.Contiguous(array.Permute(a, perm...)), back...)
	case 1: // every step-th element of a larger one, from an offset
		dims := append([]int(nil), a.Shape()...)
		step := 1 + d.IntN(3)
		dims[k] = dims[k]*step + 2
		big := array.New(a.DType(), dims...)
		view := array.Slice(big, k, 1, 1+a.Dim(k)*step, step)
		array.Copy(view, a)
		return view
	case 2: // one slice for all
		if a.Dim(k) > 0 {
			return array.Expand(array.Slice(a, k, 0, 1, 1), a.Shape()...)
		}
	}
	return array.Flip(array.Contiguous(array.Flip(a, k)), k)
}
