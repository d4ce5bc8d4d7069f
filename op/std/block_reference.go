package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/blocks"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// blockFloats is what a weight in blocks stands for: floats [n, k]. Package internal/blocks
// describes the layouts.
func blockFloats(b op.Builder, a BlockAttrs, w op.Value) op.Value {
	f := blocks.Lookup(a.Format)
	u := &unpacking{b: b, f: f}
	u.bytes = u.unflatten(w, 1, w.Type().Dim(1).FloorDivInt(f.Bytes), shape.Const(f.Bytes))
	return b.Call(Flatten, FlattenAttrs{StartDim: 1, EndDim: 2}, u.floats())
}

// roundedBlocks rounds x as block_linear_dynamic does, and gives the floats that its bytes stand for.
func roundedBlocks(b op.Builder, x op.Value) op.Value {
	const block = 32
	x = b.Call(Cast, CastAttrs{DType: array.F32}, x)
	last := x.Type().Rank() - 1
	x = b.Call(Unflatten, UnflattenAttrs{Dim: last, Sizes: shape.Of(x.Type().Dim(-1).FloorDivInt(block), shape.Const(block))}, x)
	size := b.Call(Amax, ReduceAttrs{Dim: op.IntList(-1), KeepDim: true}, b.Call(Abs, nil, x))
	d := b.Call(Div, DivAttrs{}, size, number0(b, 127, array.F32))
	least := b.Call(Full, FullAttrs{shape.ConstDims(), op.Float(0x1p-126), array.F32})
	by := b.Call(Where, WhereAttrs{}, b.Call(Ge, nil, d, least), b.Call(Reciprocal, nil, d), number0(b, 0, array.F32))
	q := b.Call(Round, nil, b.Call(Mul, nil, x, by))
	return b.Call(Flatten, FlattenAttrs{StartDim: last, EndDim: last + 1}, b.Call(Mul, nil, q, d))
}

// unpacking writes how the bytes of blocks, [n, blocks, bytes], become floats.
type unpacking struct {
	b     op.Builder
	f     *blocks.Format
	bytes op.Value
}

// floats returns [n, blocks, elements].
func (u *unpacking) floats() op.Value {
	switch u.f.Name {
	case "F16":
		return u.float(0, array.F16)
	case "BF16":
		return u.float(0, array.BF16)
	case "Q8_0":
		return u.mul(u.signed(2, 34), u.scale(0))
	case "Q4_0":
		return u.mul(u.centred(u.nibbles(2, 18), 8), u.scale(0))
	case "Q4_1":
		return u.affine(u.nibbles(4, 20))
	case "Q5_0":
		return u.mul(u.centred(u.or(u.nibbles(6, 22), u.fifth(2)), 16), u.scale(0))
	case "Q5_1":
		return u.affine(u.or(u.nibbles(8, 24), u.fifth(4)))
	case "Q4_K":
		return u.groups(u.runs(u.ints(16, 144), 4, 32, 2, 4))
	case "Q5_K":
		high := u.shifted(u.each(u.ints(16, 48)), 1, 8)
		return u.groups(u.or(u.runs(u.ints(48, 176), 4, 32, 2, 4), u.left(u.and(high, 1), 4)))
	case "Q6_K":
		high := u.left(u.runs(u.ints(128, 192), 2, 32, 4, 2), 4)
		return u.sixteens(u.centred(u.or(u.runs(u.ints(0, 128), 2, 64, 2, 4), high), 32), u.signed(192, 208))
	case "Q3_K":
		third := u.left(u.and(u.shifted(u.each(u.ints(0, 32)), 1, 8), 1), 2)
		return u.sixteens(u.centred(u.or(u.runs(u.ints(32, 96), 2, 32, 4, 2), third), 4), u.scales3K())
	}
	s, q := u.ints(0, 16), u.real(u.runs(u.ints(16, 80), 2, 32, 4, 2)) // Q2_K
	scale, least := u.mul(u.real(u.and(s, 15)), u.scale(0)), u.mul(u.real(u.right(s, 4)), u.scale(1))
	return u.together(u.b.Call(Sub, nil, u.mul(u.split(q, 16, 16), u.each(scale)), u.each(least)))
}

func (u *unpacking) unflatten(v op.Value, dim int, sizes ...shape.Dim) op.Value {
	return u.b.Call(Unflatten, UnflattenAttrs{Dim: dim, Sizes: shape.Of(sizes...)}, v)
}

// split parts the elements of a block into groups.
func (u *unpacking) split(v op.Value, groups, size int) op.Value {
	return u.unflatten(v, 2, shape.Const(groups), shape.Const(size))
}

// together makes one axis of groups.
func (u *unpacking) together(v op.Value) op.Value {
	return u.b.Call(Flatten, FlattenAttrs{StartDim: 2, EndDim: v.Type().Rank() - 1}, v)
}

// each is a number for each element of a group.
func (u *unpacking) each(v op.Value) op.Value { return u.b.Call(Unsqueeze, DimAttrs{-1}, v) }

// part is a range of the bytes of blocks.
func (u *unpacking) part(v op.Value, from, to int) op.Value {
	return u.b.Call(Slice, SliceAttrs{Dim: 2, Start: shape.Const(from), Stop: shape.Const(to)}, v)
}

// ints are bytes as integers, of a type whose bits can be shifted.
func (u *unpacking) ints(from, to int) op.Value { return u.cast(u.part(u.bytes, from, to), array.I32) }

// signed are bytes that are numbers from -128 to 127.
func (u *unpacking) signed(from, to int) op.Value {
	return u.real(u.b.Call(Bitcast, BitcastAttrs{array.I8}, u.part(u.bytes, from, to)))
}

func (u *unpacking) cast(v op.Value, d array.DType) op.Value {
	return u.b.Call(Cast, CastAttrs{DType: d}, v)
}

func (u *unpacking) real(v op.Value) op.Value { return u.cast(v, array.F32) }

// scale is one of the blocks' floats of 16 bits.
func (u *unpacking) scale(i int) op.Value { return u.float(u.f.Scales[i], array.F16) }

// float is the float of 16 bits that begins at a byte.
func (u *unpacking) float(at int, d array.DType) op.Value {
	word := u.or(u.ints(at, at+1), u.left(u.ints(at+1, at+2), 8))
	return u.real(u.b.Call(Bitcast, BitcastAttrs{d}, u.cast(word, array.U16)))
}

func (u *unpacking) and(v op.Value, mask int) op.Value {
	return u.b.Call(BitwiseAnd, nil, v, number0(u.b, mask, array.I32))
}

func (u *unpacking) or(v, w op.Value) op.Value { return u.b.Call(BitwiseOr, nil, v, w) }

func (u *unpacking) left(v op.Value, by int) op.Value {
	return u.b.Call(BitwiseLeftShift, nil, v, number0(u.b, by, array.I32))
}

func (u *unpacking) right(v op.Value, by int) op.Value {
	return u.b.Call(BitwiseRightShift, nil, v, number0(u.b, by, array.I32))
}

func (u *unpacking) mul(v, w op.Value) op.Value { return u.b.Call(Mul, nil, v, w) }

// centred are integers less what stands for 0.
func (u *unpacking) centred(v op.Value, zero int) op.Value {
	return u.real(u.b.Call(Sub, nil, v, number0(u.b, zero, array.I32)))
}

// affine is a block with a scale and a minimum.
func (u *unpacking) affine(v op.Value) op.Value {
	return u.b.Call(Add, nil, u.mul(u.real(v), u.scale(0)), u.scale(1))
}

// shifted puts v, shifted to the right by 0, bits, 2·bits and so on, one after the other along
// the last axis but one: [n, blocks, size, 1] becomes [n, blocks, count·size].
func (u *unpacking) shifted(v op.Value, bits, count int) op.Value {
	v = u.b.Call(Transpose, TransposeAttrs{Dim0: -1, Dim1: -2}, v)
	by := u.b.Call(Mul, nil, u.b.Call(Arange, ArangeAttrs{End: shape.Const(count), DType: array.I32}), number0(u.b, bits, array.I32))
	return u.together(u.b.Call(BitwiseRightShift, nil, v, u.each(by)))
}

// runs takes bytes in runs of a size apart: each run holds count runs of elements, of a few bits.
func (u *unpacking) runs(v op.Value, runs, size, count, bits int) op.Value {
	var parts []op.Value
	for i := range runs {
		parts = append(parts, u.and(u.shifted(u.each(u.part(v, i*size, (i+1)*size)), bits, count), 1<<bits-1))
	}
	return u.b.Call(Cat, DimAttrs{2}, parts...)
}

// nibbles are the lower halves of bytes, then the upper ones.
func (u *unpacking) nibbles(from, to int) op.Value { return u.runs(u.ints(from, to), 1, to-from, 2, 4) }

// fifth are the bits of four bytes, in the place of a fifth bit.
func (u *unpacking) fifth(at int) op.Value {
	by := u.b.Call(Arange, ArangeAttrs{End: shape.Const(8), DType: array.I32})
	bits := u.b.Call(BitwiseRightShift, nil, u.each(u.ints(at, at+4)), by)
	return u.left(u.and(u.together(bits), 1), 4)
}

// groups multiplies by scales of six bits, and takes minima away: twelve bytes hold those of
// eight groups.
func (u *unpacking) groups(v op.Value) op.Value {
	first, second, third := u.ints(4, 8), u.ints(8, 12), u.ints(12, 16)
	six := func(four, upper op.Value) op.Value {
		return u.real(u.b.Call(Cat, DimAttrs{2}, u.and(four, 63), u.or(u.and(upper, 15), u.left(u.right(four, 6), 4))))
	}
	scale, least := u.mul(six(first, third), u.scale(0)), u.mul(six(second, u.right(third, 4)), u.scale(1))
	return u.together(u.b.Call(Sub, nil, u.mul(u.split(u.real(v), 8, 32), u.each(scale)), u.each(least)))
}

// sixteens multiplies groups of 16 by scales.
func (u *unpacking) sixteens(v, scales op.Value) op.Value {
	return u.together(u.mul(u.split(v, 16, 16), u.each(u.mul(scales, u.scale(0)))))
}

// scales3K are the sixteen scales of Q3_K: four bits each in eight bytes, two in four.
func (u *unpacking) scales3K() op.Value {
	return u.centred(u.or(u.runs(u.ints(96, 104), 1, 8, 2, 4), u.left(u.runs(u.ints(104, 108), 1, 4, 4, 2), 4)), 32)
}
