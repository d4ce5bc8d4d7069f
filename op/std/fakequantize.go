package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// FakeQuantizeAttrs are the attributes of fake_quantize. DType is an integer type of 2 to 16
// bits, u8 where it is left out.
type FakeQuantizeAttrs struct {
	DType array.DType `fx:"dtype"`
}

// integerRanges are the least and the greatest value of each type that fake_quantize rounds to.
var integerRanges = map[array.DType][2]float64{
	array.U8: {0, 255}, array.I8: {-128, 127}, array.U16: {0, 65535}, array.I16: {-32768, 32767},
	array.U4: {0, 15}, array.I4: {-8, 7}, array.U2: {0, 3}, array.I2: {-2, 1},
}

// FakeQuantize is dequantize(quantize(x)) in floats, with gradients.
//
//	%y = call_function[fake_quantize](%x, %scale, %zero) {dtype=i8} : f32[N,64]
//
//gofx:torch fake_quantize(x, scale, zero, dtype)
var FakeQuantize = op.Define("fake_quantize", op.Spec[FakeQuantizeAttrs]{
	Doc: "fake_quantize is dequantize(quantize(x, scale, zero), scale, zero) in floats, bit for bit, for broadcast scales and zero points; a zero point in floats is rounded and clamped. " +
		"Its gradient goes straight through the rounding: by x it is that of the result where x/scale + zero, rounded, is in range, and 0 where it saturates; by scale and zero it is that of learned step sizes.",
	Ref: "Esser et al., Learned Step Size Quantization, ICLR 2020, arXiv:1902.08153",
	In:  op.Args("x", "scale", "zero?"), Quant: op.QuantNever,
	Promote: func(_ FakeQuantizeAttrs, in []shape.Type) array.DType { return op.Promote(in) },
	Expr: func(b *expr.Builder, a FakeQuantizeAttrs, x []expr.Value) []expr.Value {
		f := fakeQuantized(b, a, x)
		return []expr.Value{b.Cast(b.Mul(f.steps, f.scale), x[0].DType())}
	},
	Deriv: func(b *expr.Builder, a FakeQuantizeAttrs, x []expr.Value) []expr.Value {
		f := fakeQuantized(b, a, x)
		none := b.Like(f.scale, 0)
		by := []expr.Value{
			b.Select(f.inside, b.Like(f.scale, 1), none),
			b.Select(f.inside, b.Sub(f.steps, f.exact), f.steps),
		}
		if has(x[2]) {
			by = append(by, b.Select(f.inside, none, b.Neg(f.scale)))
		}
		return by
	},
	Samples: fakeQuantizeSamples, Bad: fakeQuantizeBad,
})

// faked are the parts of fake_quantize: exact = x/scale, and steps, which is that rounded and
// saturated, less the zero point.
type faked struct{ exact, steps, scale, inside expr.Value }

func fakeQuantized(b *expr.Builder, a FakeQuantizeAttrs, x []expr.Value) faked {
	onFloats.require(x[0].DType())
	d := a.DType
	if d == array.Invalid {
		d = array.U8
	}
	r, ok := integerRanges[d]
	if !ok {
		panic(badAttr("dtype", d.String(), "an integer type of 2 to 16 bits"))
	}
	f := faked{scale: b.Widen(x[1])}
	f.exact = b.Div(b.Widen(x[0]), f.scale)
	lo, hi := b.Like(f.scale, r[0]), b.Like(f.scale, r[1])
	least, most := lo, hi
	if has(x[2]) {
		zero := b.Round(b.Widen(x[2]))
		zero = b.Select(b.Gt(zero, lo), b.Select(b.Lt(zero, hi), zero, hi), lo)
		least, most = b.Sub(lo, zero), b.Sub(hi, zero)
	}
	// The sum makes 0 of -0, which no integer is.
	q := b.Add(b.Round(f.exact), b.Like(f.scale, 0))
	f.inside = b.And(b.Ge(q, least), b.Le(q, most))
	q = b.Select(b.Gt(q, least), q, least) // NaN is the least, as in quantize
	f.steps = b.Select(b.Lt(q, most), q, most)
	return f
}
