package lower

import (
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op/std"
)

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
