package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// What operators on quantised values stand for (op.Spec.Reference) is written with
// the functions of this file.

// quantValue is a quantised operand; the scale and the zero point may be nil, for 1
// and 0.
type quantValue struct{ q, scale, zero op.Value }

// quantAt is the quantised operand in[at], which its scale and its zero point follow.
func quantAt(in []op.Value, at int) quantValue {
	return quantValue{in[at], valueAt(in, at+1), valueAt(in, at+2)}
}

// unit is the scale.
func (v quantValue) unit(b op.Builder) op.Value {
	if v.scale != nil {
		return v.scale
	}
	return number0(b, 1, array.F32)
}

// real is what the operand stands for.
func (v quantValue) real(b op.Builder, axis int) op.Value {
	return b.Call(Dequantize, DequantizeAttrs{Axis: axis}, v.q, v.unit(b), v.zero)
}

// whole is the operand less its zero point, in f64: products of it are exact.
func (v quantValue) whole(b op.Builder, axis int) op.Value {
	x := b.Call(Cast, CastAttrs{DType: array.F64}, v.q)
	if v.zero == nil {
		return x
	}
	zero := b.Call(Cast, CastAttrs{DType: array.F64}, v.zero)
	if zero.Type().Rank() == 1 && axis >= 0 {
		for range x.Type().Rank() - 1 - axis {
			zero = b.Call(Unsqueeze, DimAttrs{-1}, zero)
		}
	}
	return b.Call(Sub, nil, x, zero)
}

// number0 is a 0-dimensional number.
func number0(b op.Builder, v int, d array.DType) op.Value {
	return b.Call(Full, FullAttrs{shape.ConstDims(), op.Int(int64(v)), d})
}

// quantParam is a scale and a zero point.
type quantParam struct{ scale, zero op.Value }

// quantised8 quantises y to type d, else to that of the zero point, else to that of x.
func quantised8(b op.Builder, y op.Value, d array.DType, p quantParam, x op.Value) op.Value {
	switch {
	case d != array.Invalid:
	case p.zero != nil:
		d = p.zero.Type().DType()
	default:
		d = x.Type().DType()
	}
	scale := quantValue{scale: p.scale}.unit(b)
	return b.Call(Quantize, QuantizeAttrs{DType: d}, y, scale, p.zero)
}

// looked replaces bytes by entries of a table.
func looked(b op.Builder, q, table op.Value) op.Value {
	at := b.Call(BitwiseAnd, nil, b.Call(Cast, CastAttrs{DType: array.I32}, q), number0(b, 255, array.I32))
	rows := b.Call(Embedding, nil, at, b.Call(Unsqueeze, DimAttrs{-1}, table))
	return b.Call(Squeeze, SqueezeAttrs{op.IntList(-1)}, rows)
}
