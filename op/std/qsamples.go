package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

// qArgs are the operands of a product of x and weight of these types, with scales of
// whole tensors and a bias for n channels.
func qArgs(g *op.Gen, x, w *array.Array, n int) []*array.Array {
	zero := func(d array.DType, v int64) *array.Array { return array.Cast(array.Scalar(v), d) }
	return []*array.Array{x, scaleOf(0.02), zero(x.DType(), 3), w, scaleOf(0.01), zero(w.DType(), -2), scaleOf(0.3), zero(x.DType(), 90),
		array.Cast(g.Int(2000, n), array.I32)}
}

// with returns operands of which one is another.
func with(in []*array.Array, at int, a *array.Array) []*array.Array {
	out := make([]*array.Array, max(len(in), at+1))
	copy(out, in)
	out[at] = a
	return out
}

// sumsOnly are the operands without parameters of a result.
func sumsOnly(in []*array.Array) []*array.Array {
	return with(with(in, qY, nil), qY+1, nil)
}

// tableOf is a table of 256 bytes.
func tableOf(g *op.Gen, d array.DType) *array.Array { return quantised(g, d, 256) }

// qProductSamples are the calls that all products take; args makes operands of two
// element types, out the attributes. The weight has n channels, the result its sizes.
func qProductSamples(g *op.Gen, n int, result []int, args func(x, w array.DType) []*array.Array, out func(a QLinearAttrs) any) []op.Sample {
	added := func(in []*array.Array, d array.DType, zero *array.Array) []*array.Array {
		return with(with(with(in, qResidual, quantised(g, d, result...)), qResidual+1, scaleOf(0.4)), qResidual+2, zero)
	}
	call := func(name string, a QLinearAttrs, in []*array.Array) op.Sample { return okCall(name, out(a), in...) }
	u8, i8 := args(array.U8, array.I8), args(array.I8, array.I8)
	return []op.Sample{
		call("u8 by i8", QLinearAttrs{}, u8),
		call("i8 by i8", QLinearAttrs{}, i8),
		call("u8 by u8", QLinearAttrs{}, args(array.U8, array.U8)),
		call("i8 by u8", QLinearAttrs{}, args(array.I8, array.U8)),
		call("another type", QLinearAttrs{DType: array.I8}, with(u8, qY+1, array.Scalar(int8(-5)))),
		call("no zeros", QLinearAttrs{}, with(with(with(u8, 2, nil), 5, nil), qY+1, nil)),
		call("no bias", QLinearAttrs{}, u8[:qBias]),
		call("per channel", QLinearAttrs{}, with(with(u8, 4, g.Uniform(0.005, 0.02, n)), 5, quantised(g, array.I8, n))),
		call("per channel, no zeros", QLinearAttrs{}, with(with(i8, 4, g.Uniform(0.005, 0.02, n)), 5, nil)),
		call("relu", QLinearAttrs{ReLU: true}, u8),
		call("relu6", QLinearAttrs{ReLU: true, Max: 6}, i8),
		call("max", QLinearAttrs{Max: 2.5}, u8),
		call("table", QLinearAttrs{}, with(u8, qTable, tableOf(g, array.U8))),
		call("signed table", QLinearAttrs{ReLU: true}, with(i8, qTable, tableOf(g, array.I8))),
		call("residual", QLinearAttrs{ReLU: true}, added(u8, array.U8, array.Scalar(uint8(100)))),
		call("residual of another type", QLinearAttrs{Max: 20}, added(u8, array.I8, array.Scalar(int8(5)))),
		call("residual, table", QLinearAttrs{}, with(added(i8, array.I8, nil), qTable, tableOf(g, array.I8))),
		call("f32", QLinearAttrs{DType: array.F32}, sumsOnly(u8)),
		call("f32, f32 bias", QLinearAttrs{DType: array.F32}, with(sumsOnly(i8), qBias, g.Normal(n))),
		call("f32, per channel", QLinearAttrs{DType: array.F32}, with(sumsOnly(i8), 4, g.Uniform(0.005, 0.02, n))),
		call("i32", QLinearAttrs{DType: array.I32}, sumsOnly(u8)),
		call("i32, nothing else", QLinearAttrs{DType: array.I32}, []*array.Array{u8[0], nil, nil, u8[3]}),
		call("saturates", QLinearAttrs{}, with(u8, qY, scaleOf(1e-3))),
		call("vectors of one", QLinearAttrs{}, with(with(with(u8, 1, g.Uniform(0.01, 0.02, 1)), 5, quantised(g, array.I8, 1)), qY, g.Uniform(0.1, 0.2, 1))),
		call("strided", QLinearAttrs{}, with(with(u8, 0, g.Strided(u8[0])), 3, g.Strided(u8[3]))),
	}
}

// qProductBad are mistakes in calls of all products.
func qProductBad(g *op.Gen, n int, in []*array.Array, out func(a QLinearAttrs) any) []op.BadSample {
	a := out(QLinearAttrs{})
	return []op.BadSample{
		badCall(op.DTypeMismatch, "x is f32", a, with(in, 0, array.Cast(in[0], array.F32))...),
		badCall(op.DTypeMismatch, "weight is i32", a, with(in, 3, array.Cast(in[3], array.I32))...),
		badCall(op.DTypeMismatch, "scale is f64", a, with(in, 1, array.Cast(in[1], array.F64))...),
		badCall(op.DTypeMismatch, "zero is not of x's type", a, with(in, 2, array.Scalar(int8(0)))...),
		badCall(op.DTypeMismatch, "y_zero is not of dtype", out(QLinearAttrs{DType: array.I8}), in...),
		badCall(op.DTypeMismatch, "bias is f32", a, with(in, qBias, g.Normal(n))...),
		badCall(op.DTypeMismatch, "table is i8", a, with(in, qTable, tableOf(g, array.I8))...),
		badCall(op.SizeMismatch, "table", a, with(in, qTable, quantised(g, array.U8, 255))...),
		badCall(op.SizeMismatch, "scales of x", a, with(in, 1, g.Uniform(1, 2, 3))...),
		badCall(op.SizeMismatch, "scales of the weight", a, with(in, 4, g.Uniform(1, 2, n+1))...),
		badCall(op.SizeMismatch, "zeros of the weight", a, with(in, 5, quantised(g, array.I8, n+1))...),
		badCall(op.RankMismatch, "residual", a, with(in, qResidual, quantised(g, array.U8, 7))...),
		badCall(op.DTypeMismatch, "residual is i32", a, with(in, qResidual, array.Cast(g.Int(9, 3, 4), array.I32))...),
		badCall(op.OperandCount, "residual of sums", out(QLinearAttrs{DType: array.I32}), with(sumsOnly(in), qResidual, quantised(g, array.U8, 3, 4))...),
		badCall(op.SizeMismatch, "scales of y", a, with(in, qY, g.Uniform(1, 2, n))...),
		badCall(op.SizeMismatch, "bias", a, with(in, qBias, array.Cast(g.Int(9, n+1), array.I32))...),
		badCall(op.RankMismatch, "matrix of scales", a, with(in, 4, g.Uniform(1, 2, n, 1))...),
		badCall(op.BadAttr, "dtype", out(QLinearAttrs{DType: array.F64}), in...),
		badCall(op.BadAttr, "max", out(QLinearAttrs{Max: -1}), in...),
		badCall(op.BadAttr, "relu of f32", out(QLinearAttrs{DType: array.F32, ReLU: true}), sumsOnly(in)...),
		badCall(op.OperandCount, "scale of sums", out(QLinearAttrs{DType: array.I32}), in...),
		badCall(op.OperandCount, "no weight", a, in[:3]...),
	}
}

func sameAttrs(a QLinearAttrs) any { return a }

func qLinearSamples(g *op.Gen) []op.Sample {
	args := func(m, n, k int) func(x, w array.DType) []*array.Array {
		return func(x, w array.DType) []*array.Array {
			return qArgs(g, quantised(g, x, m, k), quantised(g, w, n, k), n)
		}
	}
	a := QLinearAttrs{}
	return append(qProductSamples(g, 4, []int{3, 4}, args(3, 4, 5), sameAttrs),
		okCall("leading dimensions", a, qArgs(g, quantised(g, array.U8, 2, 3, 5), quantised(g, array.I8, 4, 5), 4)...),
		okCall("vector", a, qArgs(g, quantised(g, array.U8, 5), quantised(g, array.I8, 4, 5), 4)...),
		okCall("wide", a, args(17, 67, 133)(array.U8, array.I8)...),
		okCall("wide, unsigned", a, args(5, 35, 64)(array.I8, array.U8)...),
		okCall("no rows", a, args(0, 4, 5)(array.U8, array.I8)...),
		okCall("no features", a, args(3, 4, 0)(array.U8, array.I8)...))
}

func qLinearBad(g *op.Gen) []op.BadSample {
	in := qArgs(g, quantised(g, array.U8, 3, 5), quantised(g, array.I8, 4, 5), 4)
	a := QLinearAttrs{}
	return append(qProductBad(g, 4, in, sameAttrs),
		badCall(op.SizeMismatch, "features", a, with(in, 0, quantised(g, array.U8, 3, 6))...),
		badCall(op.RankMismatch, "scalar", a, with(in, 0, quantised(g, array.U8))...),
		badCall(op.RankMismatch, "weight rank", a, with(in, 3, quantised(g, array.I8, 4, 5, 1))...))
}

func qMatmulSamples(g *op.Gen) []op.Sample {
	args := func(m, n, k int) func(x, w array.DType) []*array.Array {
		return func(x, w array.DType) []*array.Array {
			return qArgs(g, quantised(g, x, m, k), quantised(g, w, k, n), n)
		}
	}
	a := QLinearAttrs{}
	batch := func(x, w []int) []*array.Array {
		return qArgs(g, quantised(g, array.U8, x...), quantised(g, array.I8, w...), w[len(w)-1])
	}
	return append(qProductSamples(g, 4, []int{3, 4}, args(3, 4, 5), sameAttrs),
		okCall("batch", a, batch([]int{2, 3, 5}, []int{2, 5, 4})...),
		okCall("one right operand", a, batch([]int{2, 3, 5}, []int{5, 4})...),
		okCall("one left operand", a, batch([]int{3, 5}, []int{2, 5, 4})...),
		okCall("broadcast", a, batch([]int{2, 1, 3, 5}, []int{1, 3, 5, 4})...),
		okCall("batch per column", a, with(batch([]int{2, 3, 5}, []int{2, 5, 4}), 4, g.Uniform(0.005, 0.02, 4))...),
		okCall("wide", a, args(17, 67, 133)(array.U8, array.I8)...),
		okCall("no rows", a, args(0, 4, 5)(array.U8, array.I8)...),
		okCall("nothing to add up", a, args(3, 4, 0)(array.U8, array.I8)...))
}

func qMatmulBad(g *op.Gen) []op.BadSample {
	in := qArgs(g, quantised(g, array.U8, 3, 5), quantised(g, array.I8, 5, 4), 4)
	a := QLinearAttrs{}
	return append(qProductBad(g, 4, in, sameAttrs),
		badCall(op.ShapeMismatch, "inner sizes", a, with(in, 0, quantised(g, array.U8, 3, 6))...),
		badCall(op.RankMismatch, "vector", a, with(in, 0, quantised(g, array.U8, 5))...),
		badCall(op.ShapeMismatch, "batch", a, with(with(in, 0, quantised(g, array.U8, 2, 3, 5)), 3, quantised(g, array.I8, 3, 5, 4))...))
}

// qConvArgs are the operands of a convolution of n spatial dimensions.
func qConvArgs(g *op.Gen, n, batch, chans, filters, perGroup, k int) func(x, w array.DType) []*array.Array {
	return func(x, w array.DType) []*array.Array {
		return qArgs(g, quantised(g, x, sized(n, []int{batch, chans}, 7, 6, 5)...), quantised(g, w, sized(n, []int{filters, perGroup}, k, k, k)...), filters)
	}
}

func qConvSamples(g *op.Gen, n int) []op.Sample {
	list := func(v ...int) op.Ints { return op.IntList(v[:n]...) }
	padded := func(a QLinearAttrs) any {
		return QConvAttrs{Padding: op.IntList(1), DType: a.DType, ReLU: a.ReLU, Max: a.Max}
	}
	plain := qConvArgs(g, n, 2, 3, 4, 3, 3)(array.U8, array.I8)
	return append(qProductSamples(g, 4, sized(n, []int{2, 4}, 7, 6, 5), qConvArgs(g, n, 2, 3, 4, 3, 3), padded),
		okCall("plain", QConvAttrs{}, plain...),
		okCall("stride and padding", QConvAttrs{Stride: op.IntList(2), Padding: op.IntList(1)}, plain...),
		okCall("per dimension", QConvAttrs{Stride: list(2, 1, 3), Padding: list(1, 2, 0), Dilation: list(1, 2, 1)}, plain...),
		okCall("dilation", QConvAttrs{Dilation: op.IntList(2), Padding: op.IntList(2)}, plain...),
		okCall("groups", QConvAttrs{Groups: 2, Padding: op.IntList(1)}, qConvArgs(g, n, 2, 4, 6, 2, 3)(array.I8, array.I8)...),
		okCall("depthwise", QConvAttrs{Groups: 4, Padding: op.IntList(1), ReLU: true}, qConvArgs(g, n, 2, 4, 4, 1, 3)(array.U8, array.U8)...),
		okCall("several filters a channel", QConvAttrs{Groups: 4}, qConvArgs(g, n, 2, 4, 8, 1, 3)(array.U8, array.I8)...),
		okCall("pointwise", QConvAttrs{}, qConvArgs(g, n, 2, 3, 5, 3, 1)(array.U8, array.I8)...),
		okCall("many channels", QConvAttrs{Padding: op.IntList(1)}, qConvArgs(g, n, 1, 35, 40, 35, 3)(array.U8, array.I8)...),
		okCall("same", QConvAttrs{PadMode: "same"}, plain...),
		okCall("same, even kernel", QConvAttrs{PadMode: "same"}, qConvArgs(g, n, 1, 2, 3, 2, 2)(array.I8, array.I8)...),
		okCall("empty batch", QConvAttrs{}, qConvArgs(g, n, 0, 3, 4, 3, 3)(array.U8, array.I8)...))
}

func qConvBad(g *op.Gen, n int) []op.BadSample {
	in := qConvArgs(g, n, 2, 3, 4, 3, 3)(array.U8, array.I8)
	return append(qProductBad(g, 4, in, func(a QLinearAttrs) any { return QConvAttrs{DType: a.DType, ReLU: a.ReLU, Max: a.Max} }),
		badCall(op.RankMismatch, "unbatched", QConvAttrs{}, with(in, 0, array.Select(in[0], 0, 0))...),
		badCall(op.RankMismatch, "weight rank", QConvAttrs{}, with(in, 3, quantised(g, array.I8, 4, 3))...),
		badCall(op.SizeMismatch, "channels", QConvAttrs{}, qConvArgs(g, n, 2, 5, 4, 3, 3)(array.U8, array.I8)...),
		badCall(op.SizeMismatch, "kernel too large", QConvAttrs{Dilation: op.IntList(4)}, in...),
		badCall(op.BadAttr, "stride", QConvAttrs{Stride: op.IntList(0)}, in...),
		badCall(op.BadAttr, "groups", QConvAttrs{Groups: -1}, in...),
		badCall(op.BadAttr, "pad mode", QConvAttrs{PadMode: "full"}, in...))
}
