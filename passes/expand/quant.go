package expand

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// quantised are the operators on quantised values, except products. They are computed in
// i32, and scaled, clamped and rounded in f32 as the kernels do it, to the same bits.
var quantised = merge(
	one(std.Quantize, quantize),
	one(std.Dequantize, dequantize),
	entry(std.DynamicQuantize, func(c *maker, _ op.None, in []op.Value) []op.Value {
		scale, zero := rangeOf(c, in[0])
		q := rounded(c, c.div(in[0], scale), c.byte(array.U8, zero))
		return []op.Value{c.cast(q, array.U8), scale, c.cast(zero, array.U8)}
	}),
	one(std.QAdd, func(c *maker, a std.QPairAttrs, in []op.Value) op.Value {
		x, y, out := quantAt(c, in, 0), quantAt(c, in, 3), quantAs(c, in, 6, in[0])
		sum := c.add(c.mul(float(c, x.whole), c.div(x.scale, out.scale)), c.mul(float(c, y.whole), c.div(y.scale, out.scale)))
		return requantised(c, sum, out, a.ReLU, 0)
	}),
	one(std.QMul, func(c *maker, a std.QPairAttrs, in []op.Value) op.Value {
		x, y, out := quantAt(c, in, 0), quantAt(c, in, 3), quantAs(c, in, 6, in[0])
		scale := c.div(c.mul(x.scale, y.scale), out.scale)
		return requantised(c, c.mul(float(c, c.mul(x.whole, y.whole)), scale), out, a.ReLU, 0)
	}),
	one(std.QTable, func(c *maker, _ op.None, in []op.Value) op.Value { return looked(c, in[0], in[1]) }),
	one(std.QConcat, concat),
	one(std.QMaxPool, func(c *maker, a std.MaxPoolAttrs, in []op.Value) op.Value {
		return c.call([...]*op.Op{std.MaxPool1d, std.MaxPool2d, std.MaxPool3d}[a.KernelSize.Len()-1], a, in[0])
	}),
	one(std.QAvgPool, quantAvgPool),
	one(std.QEmbedding, func(c *maker, _ op.None, in []op.Value) op.Value {
		rows := func(v op.Value) op.Value { // one for all, or those of the rows that are taken
			if v == nil || single(c, v) {
				return scalar(c, v)
			}
			v = c.take(v, 0, in[0])
			return c.reshape(v, append(c.dims(v), shape.Const(1))...)
		}
		x := c.cast(c.take(in[1], 0, in[0]), array.I32)
		if zero := rows(in[3]); zero != nil {
			x = c.sub(x, c.cast(zero, array.I32))
		}
		return c.mul(float(c, x), rows(in[2]))
	}),
	each(referred[std.Int4LinearAttrs], std.Int4Linear, std.Int4Embedding), each(referred[std.BlockAttrs], std.BlockLinear, std.BlockLinearDynamic, std.BlockEmbedding, std.BlockQuantize), one(std.BlockAttention, blockAttention), one(std.Int8Linear, int8Linear),
)

// referred is an operator on floats whose weight is quantised: its reference.
func referred[A any](c *maker, a A, in []op.Value) op.Value {
	return c.o.Reference(c.b, a, in)
}

// blockAttention is its reference, which repeats heads a number of times.
func blockAttention(c *maker, a std.BlockAttentionAttrs, in []op.Value) op.Value {
	for _, x := range in[:3] {
		if a.EnableGqa {
			c.int(x.Type().Dim(-3), "the number of heads")
		}
	}
	return c.o.Reference(c.b, a, in)
}

// int8Linear scales the sums, as the kernel does, not the weight.
func int8Linear(c *maker, _ op.None, in []op.Value) op.Value {
	x, w := float(c, in[0]), float(c, in[1])
	if zero := along1(c, in[3], 0, 2); zero != nil {
		w = c.sub(w, float(c, zero))
	}
	d := c.outDims(0)
	y := c.reshape(product(c, x, c.swap(w, 0, 1)), d...)
	if !c.dims(w)[1].Is(0) { // sums of nothing are 0, whatever the scale is
		y = c.mul(y, along1(c, in[2], len(d)-1, len(d)))
	}
	return affine(c, y, nil, c.widened(in[4]))
}

// quant is a quantised operand: less its zero point as i32, and its scale as one f32.
type quant struct{ whole, scale op.Value }

// quantAt is operand at, which its scale and its zero point follow.
func quantAt(c *maker, in []op.Value, at int) quant {
	x := c.cast(in[at], array.I32)
	if zero := in[at+2]; zero != nil {
		x = c.sub(x, c.cast(scalar(c, zero), array.I32))
	}
	return quant{x, unit(c, in[at+1])}
}

// unit is a scale of one element, 1 where there is none.
func unit(c *maker, scale op.Value) op.Value {
	if scale == nil {
		return c.full(array.F32, op.Float(1))
	}
	return scalar(c, scale)
}

// single reports whether a value certainly has one element.
func single(c *maker, v op.Value) bool {
	d := v.Type().Dims()
	return d.Len() == 0 || d.Len() == 1 && d.At(0).Is(1)
}

// scalar is a value of one element without dimensions; nil stays nil.
func scalar(c *maker, v op.Value) op.Value {
	if v == nil {
		return nil
	}
	return c.reshape(v)
}

func float(c *maker, x op.Value) op.Value { return c.cast(x, array.F32) }

// byteOut is what values are quantised to: the range of the type less the zero point, as
// f32, and the zero point as i32.
type byteOut struct{ scale, lo, hi, zero op.Value }

// byte is the output of an integer type with a zero point i32, nil for 0.
func (c *maker) byte(d array.DType, zero op.Value) byteOut {
	lo, hi := integers(d)
	limit := func(n int64) op.Value { return c.full(array.F32, op.Float(float64(n))) }
	if zero == nil {
		return byteOut{lo: limit(lo), hi: limit(hi), zero: c.full(array.I32, op.Int(0))}
	}
	less := float(c, zero)
	return byteOut{lo: c.sub(limit(lo), less), hi: c.sub(limit(hi), less), zero: zero}
}

// integers is the range of an integer type of up to 16 bits.
func integers(d array.DType) (lo, hi int64) {
	if d.IsNarrow() {
		return array.NarrowRange(d)
	}
	bits := 8 * d.Size()
	if d.IsSigned() {
		return -1 << (bits - 1), 1<<(bits-1) - 1
	}
	return 0, 1<<bits - 1
}

// quantAs is the output whose scale and zero point are operands at and after, of the
// type of the call's result; its scale is 1 and its zero point 0 where there are none.
func quantAs(c *maker, in []op.Value, at int, _ op.Value) byteOut {
	var zero op.Value
	if in[at+1] != nil {
		zero = c.cast(scalar(c, in[at+1]), array.I32)
	}
	out := c.byte(c.result(0).DType(), zero)
	out.scale = unit(c, in[at])
	return out
}

// rounded clamps f32 values to the range of an output, NaN to the least, rounds halves to
// even and adds the zero point, as i32.
func rounded(c *maker, x op.Value, out byteOut) op.Value {
	x = c.where(c.compare(std.Gt, x, out.lo), x, out.lo)
	x = c.where(c.compare(std.Lt, x, out.hi), x, out.hi)
	return c.add(c.cast(c.apply(std.Round, x), array.I32), out.zero)
}

// requantised is rounded in the type of the result, limited to real values from 0 and up
// to most, where these are asked for.
func requantised(c *maker, x op.Value, out byteOut, relu bool, most float64) op.Value {
	zero := c.full(array.F32, op.Float(0))
	if relu {
		out.lo = c.max(out.lo, zero)
	}
	if most > 0 {
		wide := byteOut{lo: zero, hi: c.full(array.F32, op.Float(1<<20)), zero: c.full(array.I32, op.Int(0))}
		bound := c.div(c.full(array.F32, op.Float(float64(float32(most)))), out.scale)
		out.hi = c.min(out.hi, c.max(out.lo, float(c, rounded(c, bound, wide))))
	}
	return c.back(rounded(c, x, out), 0)
}

// along1 lays a parameter of one element, or of one for each index of an axis, along a
// tensor of the given rank.
func along1(c *maker, v op.Value, dim, rank int) op.Value {
	if v == nil || single(c, v) || rank == 0 {
		return scalar(c, v)
	}
	return c.along(v, axis(dim, rank), rank)
}

func quantize(c *maker, a std.QuantizeAttrs, in []op.Value) op.Value {
	rank, d := in[0].Type().Rank(), c.result(0).DType()
	x := c.div(float(c, in[0]), float(c, along1(c, in[1], a.Axis, rank)))
	zero := along1(c, in[2], a.Axis, rank)
	if d.IsNarrowFloat() {
		if zero != nil { // one of 0 would make -0 another number
			zero = float(c, zero)
			x = c.where(c.compareN(std.Eq, zero, 0), x, c.add(x, zero))
		}
		return c.call(std.Cast, std.CastAttrs{DType: d, Unsaturated: a.Unsaturated}, x)
	}
	if zero != nil {
		zero = c.cast(zero, array.I32)
	}
	return c.cast(rounded(c, x, c.byte(d, zero)), d)
}

func dequantize(c *maker, a std.DequantizeAttrs, in []op.Value) op.Value {
	rank, d := in[0].Type().Rank(), in[0].Type().DType()
	zero, scale := along1(c, in[2], a.Axis, rank), float(c, along1(c, in[1], a.Axis, rank))
	var x op.Value
	switch {
	case d.IsNarrow():
		if x = float(c, in[0]); zero != nil {
			zero = float(c, zero)
			x = c.where(c.compareN(std.Eq, zero, 0), x, c.sub(x, zero))
		}
	default:
		if x = c.cast(in[0], array.I32); zero != nil {
			x = c.sub(x, c.cast(zero, array.I32))
		}
		x = float(c, x)
	}
	return c.back(c.mul(x, scale), 0)
}

// rangeOf is the scale, f32, and the zero point, i32, of u8 that cover 0 and what x holds;
// NaN is passed over.
func rangeOf(c *maker, x op.Value) (scale, zero op.Value) {
	for i, n := range c.dims(x) { // nothing has an extreme
		if _, ok := n.Int(); !ok || n.Is(0) {
			x = c.padAxis(x, i, 0, 1, 0)
		}
	}
	x = c.where(c.apply(std.Isnan, x), c.full(array.F32, op.Float(0)), x)
	lo, hi := c.minN(extreme(c, std.Amin, x, op.Ints{}, false), 0), c.maxN(extreme(c, std.Amax, x, op.Ints{}, false), 0)
	part := c.full(array.F32, op.Float(255))
	scale = c.div(c.sub(hi, lo), part)
	scale = c.where(c.compareN(std.Eq, scale, 0), c.full(array.F32, op.Float(1.0/255)), scale)
	beyond := c.call(std.Gt, std.BinaryAttrs{Other: op.Float(math.MaxFloat32)}, scale)
	scale = c.where(beyond, c.sub(c.div(hi, part), c.div(lo, part)), scale)
	return scale, rounded(c, c.div(c.apply(std.Neg, lo), scale), c.byte(array.U8, nil))
}

// looked replaces bytes by entries of a table, which their bits name.
func looked(c *maker, q, table op.Value) op.Value {
	bits := c.call(std.BitwiseAnd, std.BinaryAttrs{}, c.cast(q, array.I32), c.full(array.I32, op.Int(255)))
	return c.take(table, 0, bits)
}

// concat quantises again what is quantised in another way than the result.
func concat(c *maker, a std.DimAttrs, in []op.Value) op.Value {
	var parts []op.Value
	out := quantAs(c, in, 0, nil)
	for i := 2; i < len(in); i += 3 {
		x := quantAt(c, in, i)
		real := c.mul(float(c, x.whole), x.scale)
		again := c.back(rounded(c, c.div(real, out.scale), out), 0)
		zero := c.cast(scalar(c, in[i+2]), array.I32)
		same := c.and(c.compare(std.Eq, x.scale, out.scale), c.compare(std.Eq, zero, out.zero))
		parts = append(parts, c.where(same, in[i], again))
	}
	return c.cat(axis(a.Dim, len(c.outDims(0))), parts...)
}

// quantAvgPool takes exact sums of the windows and divides by the elements that count.
func quantAvgPool(c *maker, a std.QAvgPoolAttrs, in []op.Value) op.Value {
	n := a.KernelSize.Len()
	d, out := c.dims(in[0]), c.outDims(0)
	x := quantAt(c, in, 0)
	y := quantAs(c, in, 3, nil)
	if in[3] == nil { // the result is quantised as x is
		y = quantAs(c, in, 1, nil)
	}
	pool := [...]*op.Op{std.AvgPool1d, std.AvgPool2d, std.AvgPool3d}[n-1]
	sum := c.call(pool, std.AvgPoolAttrs{KernelSize: a.KernelSize, Stride: a.Stride, Padding: a.Padding, CeilMode: a.CeilMode, DivisorOverride: 1}, c.cast(x.whole, array.I64))
	kernel, pad, stride := list(a.KernelSize, n, 1), list(a.Padding, n, 0), list(a.KernelSize, n, 1)
	if a.Stride.Len() > 0 {
		stride = list(a.Stride, n, 1)
	}
	var count op.Value
	for i := range n {
		size := c.number(d[2+i])
		begin := c.addN(c.mulN(c.iota(out[2+i]), stride[i]), -pad[i])
		end := c.min(c.addN(begin, kernel[i]), c.addN(size, pad[i]))
		if a.CountExcludePad {
			begin, end = c.maxN(begin, 0), c.min(end, size)
		}
		count = plus(c, count, c.along(c.maxN(c.sub(end, begin), 0), i, n), c.mul)
	}
	scale := c.div(c.div(x.scale, y.scale), float(c, c.maxN(count, 1)))
	return requantised(c, c.mul(float(c, sum), scale), y, false, 0)
}
