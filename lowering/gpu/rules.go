package gpu

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op/std"
)

// rule is how calls of an operator become steps.
type rule struct {
	// supports judges a call by itself; its sizes may be unknown.
	supports func(n *graph.Node, doubles bool) (ok bool, reason string)
	// lower makes the steps of a call with known sizes.
	lower func(c *call) ([]*value, error)
}

// call is what a rule sees.
type call struct {
	b  *builder
	n  *graph.Node
	in []*value // nil for absent operands
}

// result returns a new value of the type of result i.
func (c *call) result(i int) *value { return c.b.result(c.n, i) }

// emit adds a step of the call.
func (c *call) emit(k *source.Kernel, out, in []*value) { c.b.emit(c.n, k, out, in) }

// placed returns operand i in a buffer, with any layout; nil when it is absent.
func (c *call) placed(i int) *value {
	if i >= len(c.in) || c.in[i] == nil {
		return nil
	}
	c.b.place(c.in[i])
	return c.in[i]
}

// dense returns operand i in order; nil when it is absent.
func (c *call) dense(i int) *value {
	if c.placed(i) == nil {
		return nil
	}
	return c.b.dense(c.in[i])
}

// one makes the step of a kernel with one result.
func (c *call) one(k *source.Kernel, in ...*value) ([]*value, error) {
	out := c.result(0)
	c.emit(k, []*value{out}, in)
	return []*value{out}, nil
}

// refuse is the error of a call that no kernel computes with these sizes.
func (c *call) refuse(why string) error { return lowering.Refuse(c.n, name, why) }

// group is how many work-items reduce n elements together.
func (c *call) group(n int) int {
	const together, least = 128, 256
	if c.b.info.Host || n < least {
		return 1
	}
	return min(together, max(c.b.info.Group, 1))
}

// moves takes every element type: elements are moved as bits.
func moves(*graph.Node, bool) (bool, string) { return true, "" }

// floats takes what kernels compute with and sums in floats.
func floats(n *graph.Node, doubles bool) (bool, string) {
	if ok, why := computes(n, doubles); !ok {
		return false, why
	}
	if t := n.OperandTypes()[0]; !t.DType().IsFloat() {
		return false, "there is no kernel for " + t.DType().String()
	}
	return true, ""
}

func isHalf(d array.DType) bool { return d == array.F16 || d == array.BF16 }

// rules are the operators that have kernels of their own. Elementwise operators and views
// need none; see direct.
var rules = lowering.Rules[rule]{
	std.Sum: {computes, reduce}, std.Mean: {computes, reduce}, std.Prod: {computes, reduce},
	std.Max: {computes, reduce}, std.Min: {computes, reduce}, std.Amax: {computes, reduce}, std.Amin: {computes, reduce},
	std.Any: {computes, reduce}, std.All: {computes, reduce},
	std.Var: {floats, variance}, std.Std: {floats, variance},
	std.Argmax: {computes, argReduce}, std.Argmin: {computes, argReduce},
	std.MaxDim: {computes, extremes}, std.MinDim: {computes, extremes},
	std.Cumsum: {computes, scan}, std.Cumprod: {computes, scan},
	std.Softmax: {floats, softmax}, std.LogSoftmax: {floats, softmax},
	std.LayerNorm: {floats, layerNorm}, std.RmsNorm: {floats, rmsNorm}, std.GroupNorm: {floats, groupNorm},
	std.BatchNormInference: {floats, batchNorm}, std.BatchNormStats: {floats, batchStats},

	std.ScaledDotProductAttention: {attends, attention},
	std.Matmul:                    {computes, matmul}, std.Bmm: {computes, matmul}, std.Linear: {floats, linear},
	std.Conv1d: {floats, conv}, std.Conv2d: {floats, conv}, std.Conv3d: {floats, conv},
	std.ConvTranspose1d: {floats, convTranspose}, std.ConvTranspose2d: {floats, convTranspose}, std.ConvTranspose3d: {floats, convTranspose},

	std.QLinear: {computes, quantLinear}, std.QMatmul: {computes, quantMatmul},
	std.QConv1d: {computes, quantConv}, std.QConv2d: {computes, quantConv}, std.QConv3d: {computes, quantConv},

	std.Quantize: {computes, quantize}, std.Dequantize: {computes, dequantize}, std.DynamicQuantize: {computes, dynamicQuantize},
	std.QAdd: {computes, quantAdd}, std.QMul: {computes, quantMul}, std.QConcat: {computes, quantConcat}, std.QTable: {computes, quantLookup},
	std.QMaxPool: {computes, quantMaxPool}, std.QAvgPool: {computes, quantAvgPool},
	std.Int8Linear: {computes, int8Linear}, std.Int4Linear: {computes, int4Linear},
	std.QEmbedding: {computes, quantEmbedding}, std.Int4Embedding: {computes, int4Embedding},

	std.MaxPool1d: {computes, maxPool}, std.MaxPool2d: {computes, maxPool}, std.MaxPool3d: {computes, maxPool},
	std.MaxPool1dWithIndices: {computes, maxPool}, std.MaxPool2dWithIndices: {computes, maxPool}, std.MaxPool3dWithIndices: {computes, maxPool},
	std.AvgPool1d: {computes, avgPool}, std.AvgPool2d: {computes, avgPool}, std.AvgPool3d: {computes, avgPool},
	std.AdaptiveAvgPool1d: {floats, adaptive}, std.AdaptiveAvgPool2d: {floats, adaptive}, std.AdaptiveAvgPool3d: {floats, adaptive},
	std.AdaptiveMaxPool1d: {floats, adaptive}, std.AdaptiveMaxPool2d: {floats, adaptive}, std.AdaptiveMaxPool3d: {floats, adaptive},
	std.AdaptiveMaxPool1dWithIndices: {floats, adaptive}, std.AdaptiveMaxPool2dWithIndices: {floats, adaptive}, std.AdaptiveMaxPool3dWithIndices: {floats, adaptive},

	std.Cat: {moves, cat}, std.Clone: {moves, clone}, std.Pad: {moves, pad}, std.Flip: {moves, flip}, std.Roll: {moves, roll},
	std.Repeat: {moves, tile}, std.Tile: {moves, tile}, std.RepeatInterleave: {moves, interleave}, std.Bitcast: {moves, bitcast},
	std.SelectScatter: {moves, scatterView}, std.SliceScatter: {moves, scatterView}, std.DiagonalScatter: {moves, scatterView},
	std.Sort: {computes, sorted}, std.Scatter: {scatters, scatter}, std.ScatterAdd: {scatters, scatter}, std.ScatterReduce: {scatters, scatter},
	std.Embedding: {moves, embedding}, std.Gather: {moves, gather}, std.IndexSelect: {moves, indexSelect}, std.EmbeddingBag: {bags, embeddingBag},
}
