package expand

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// quantProducts are the products of quantised values: of i32, whose sums are exact.
var quantProducts = func() simplify.Expansions {
	all := merge(
		one(std.QLinear, func(c *maker, a std.QLinearAttrs, in []op.Value) op.Value {
			x, rank := quantAt(c, in, 0), in[0].Type().Rank()
			w := weightLess(c, in, 0)
			sum := c.reshape(product(c, x.whole, c.swap(w, 0, 1)), c.outDims(0)...)
			return scaled(c, a, sum, x.scale, in, rank-1)
		}),
		one(std.QMatmul, func(c *maker, a std.QLinearAttrs, in []op.Value) op.Value {
			x, rank := quantAt(c, in, 0), len(c.outDims(0))
			sum := c.reshape(product(c, x.whole, weightLess(c, in, -1)), c.outDims(0)...)
			return scaled(c, a, sum, x.scale, in, rank-1)
		}),
		entry(std.QLstm, func(c *maker, a std.LstmAttrs, in []op.Value) []op.Value {
			return lstm(c, sequential{layers: a.NumLayers, both: a.Bidirectional, batchFirst: a.BatchFirst, bias: !a.NoBias, bytes: true}, in)
		}),
		entry(std.QGru, func(c *maker, a std.GruAttrs, in []op.Value) []op.Value {
			return gru(c, sequential{layers: a.NumLayers, both: a.Bidirectional, batchFirst: a.BatchFirst, bias: !a.NoBias, bytes: true}, in)
		}),
	)
	for n, o := range []*op.Op{std.QConv1d, std.QConv2d, std.QConv3d} {
		all = merge(all, one(o, func(c *maker, a std.QConvAttrs, in []op.Value) op.Value { return quantConv(c, n+1, a, in) }))
	}
	return all
}()

// Places of operands of products of quantised values.
const (
	weightAt   = 3
	yAt        = 6
	biasAt     = 8
	tableAt    = 9
	residualAt = 10
)

// weightLess is the weight less its zero points, which go along an axis, as i32.
func weightLess(c *maker, in []op.Value, dim int) op.Value {
	w := c.cast(in[weightAt], array.I32)
	if zero := in[weightAt+2]; zero != nil {
		w = c.sub(w, c.cast(along1(c, zero, dim, w.Type().Rank()), array.I32))
	}
	return w
}

// scaled turns sums i32 into the result; channels lie along axis dim.
func scaled(c *maker, a std.QLinearAttrs, sum, xScale op.Value, in []op.Value, dim int) op.Value {
	rank, d := sum.Type().Rank(), c.result(0).DType()
	bias := in[biasAt]
	if bias != nil {
		bias = c.along(bias, dim, rank)
	}
	floats := bias != nil && bias.Type().DType() == array.F32
	if bias != nil && !floats {
		sum = c.add(sum, bias)
	}
	if d == array.I32 {
		return sum
	}
	scale := xScale
	if in[weightAt+1] != nil {
		scale = c.mul(xScale, along1(c, in[weightAt+1], dim, rank))
	}
	if d == array.F32 {
		y := c.mul(float(c, sum), scale)
		if floats {
			y = c.add(y, bias)
		}
		return y
	}
	out := quantAs(c, in, yAt, nil)
	y := c.mul(float(c, sum), c.div(scale, out.scale))
	if in[residualAt] != nil {
		r := quantAt(c, in, residualAt)
		y = c.add(y, c.mul(float(c, r.whole), c.div(r.scale, out.scale)))
	}
	q := requantised(c, y, out, a.ReLU, a.Max)
	if in[tableAt] != nil {
		q = looked(c, q, in[tableAt])
	}
	return q
}

// quantConv multiplies the filters with the windows; padding is the zero point of x, 0
// when that is taken away.
func quantConv(c *maker, n int, a std.QConvAttrs, in []op.Value) op.Value {
	x, w := quantAt(c, in, 0), weightLess(c, in, 0)
	dx, dw, out := c.dims(x.whole), c.dims(w), c.outDims(0)
	stride, pad, dilation := list(a.Stride, n, 1), list(a.Padding, n, 0), list(a.Dilation, n, 1)
	spans := make([]span, n)
	for i := range spans {
		k := c.int(dw[2+i], "the size of the kernel")
		if a.PadMode == "same" {
			pad[i] = dilation[i] * (k - 1) / 2
		}
		spans[i] = sliding(c, dx[2+i], out[2+i], k, stride[i], pad[i], dilation[i])
	}
	taps, _, _ := windows(c, x.whole, spans, op.Int(0)) // [N,C,counts...,taps]
	groups := shape.Const(max(a.Groups, 1))
	plane, window := prod(out[2:]...), prod(dw[2:]...)
	each, filters := dw[1], dw[0].FloorDiv(groups)
	rows := c.reshape(taps, dx[0].Mul(groups), each, plane, window)
	rows = c.reshape(c.swap(rows, 2, 3), dx[0].Mul(groups), each.Mul(window), plane)
	w = c.reshape(w, shape.Const(1), groups, filters, each.Mul(window))
	w = c.reshape(c.expand(w, dx[0], groups, filters, each.Mul(window)), dx[0].Mul(groups), filters, each.Mul(window))
	sum := c.reshape(c.call(std.Bmm, op.None{}, w, rows), out...)
	return scaled(c, std.QLinearAttrs{DType: a.DType, ReLU: a.ReLU, Max: a.Max}, sum, x.scale, in, 1)
}

// dynamic multiplies floats, quantised by the range that they have, with a weight of i8
// [n,k]; sums of integers are exact and rescaled once.
func dynamic(c *maker, x, weight, scale op.Value) op.Value {
	unit, zero := rangeOf(c, x)
	whole := c.sub(rounded(c, c.div(x, unit), c.byte(array.U8, zero)), zero)
	sum := times(c, whole, c.swap(c.cast(weight, array.I32), 0, 1))
	return c.mul(float(c, sum), c.mul(unit, along1(c, scale, 1, 2)))
}
