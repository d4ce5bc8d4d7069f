package xla

import (
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// rule emits a call and returns its results, one for each member of a tuple. It panics
// with a refusal when it cannot.
type rule func(c *call) []*value

// rules is the table of what operators become. Those with a scalar expression need no
// rule, and what is defined by other operators is expanded.
var rules lowering.Rules[rule]

// excluded are the operators of this module that cannot be part of a program, with the reasons.
var excluded = map[*op.Op]string{
	std.GridSample: "positions that follow from values have no rule",
	std.RoiAlign:   "boxes that follow from values have no rule",
	std.Observe:    "it is calibration, which programs do not do",
	std.QLstm:      "it quantises activations in every round, for which there is no rule",
	std.QGru:       "it quantises activations in every round, for which there is no rule",
}

// one is the rule of operators with one result.
func one(f func(c *call) *value) rule { return func(c *call) []*value { return []*value{f(c)} } }

func init() {
	rules = lowering.Rules[rule]{}
	add := func(r rule, ops ...*op.Op) {
		for _, o := range ops {
			rules[o] = r
		}
	}
	add(one(reshape), std.Reshape, std.View, std.ViewAs, std.Flatten, std.Unflatten, std.Squeeze, std.Unsqueeze, std.Clone, std.Wait)
	add(one(permute), std.Permute, std.Transpose, std.T, std.Movedim)
	add(one(expand), std.Expand)
	add(one(slice), std.Slice)
	add(one(selects), std.Select)
	add(one(flip), std.Flip)
	add(one(cat), std.Cat)
	add(one(pad), std.Pad)
	add(one(roll), std.Roll)
	add(one(tile), std.Tile, std.Repeat)
	add(one(repeatInterleave), std.RepeatInterleave)
	add(split, std.Split, std.Chunk, std.Unbind)
	add(positions, std.Diagonal, std.DiagonalScatter, std.SelectScatter, std.SliceScatter, std.Unfold)
	add(one(fold), std.Fold)
	add(one(bitcast), std.Bitcast)

	add(one(reduce), std.Sum, std.Prod, std.Mean, std.Amax, std.Amin, std.Max, std.Min, std.All, std.Any)
	add(one(arg), std.Argmax, std.Argmin)
	add(minMaxDim, std.MaxDim, std.MinDim)
	add(one(variance), std.Var, std.Std)
	add(one(cumulate), std.Cumsum, std.Cumprod)
	add(one(softmax), std.Softmax)
	add(one(logSoftmax), std.LogSoftmax)
	add(one(layerNorm), std.LayerNorm)
	add(one(rmsNorm), std.RmsNorm)
	add(one(groupNorm), std.GroupNorm)
	add(one(batchNorm), std.BatchNormInference)
	add(batchNormStats, std.BatchNormStats)
	add(one(determinant), std.Det)

	add(one(matmul), std.Matmul, std.Bmm)
	add(one(linear), std.Linear)
	add(one(convolve), std.Conv1d, std.Conv2d, std.Conv3d)
	add(one(convTranspose), std.ConvTranspose1d, std.ConvTranspose2d, std.ConvTranspose3d)

	add(maxPool, std.MaxPool1d, std.MaxPool2d, std.MaxPool3d, std.MaxPool1dWithIndices, std.MaxPool2dWithIndices, std.MaxPool3dWithIndices)
	add(one(avgPool), std.AvgPool1d, std.AvgPool2d, std.AvgPool3d)
	add(one(adaptiveAvgPool), std.AdaptiveAvgPool1d, std.AdaptiveAvgPool2d, std.AdaptiveAvgPool3d)
	add(adaptiveMaxPool, std.AdaptiveMaxPool1d, std.AdaptiveMaxPool2d, std.AdaptiveMaxPool3d,
		std.AdaptiveMaxPool1dWithIndices, std.AdaptiveMaxPool2dWithIndices, std.AdaptiveMaxPool3dWithIndices)
	add(one(resample), std.Interpolate, std.Resize)

	add(one(gather), std.Gather)
	add(one(indexSelect), std.IndexSelect)
	add(one(embedding), std.Embedding)
	add(one(embeddingBag), std.EmbeddingBag)
	add(one(scatter), std.Scatter, std.ScatterAdd, std.ScatterReduce)
	add(sort, std.Sort)
	add(topK, std.Topk)
	add(one(searchsorted), std.Searchsorted)

	add(one(quantize), std.Quantize)
	add(one(dequantize), std.Dequantize)
	add(dynamicQuantize, std.DynamicQuantize)
	add(lstm, std.Lstm)
	add(gru, std.Gru)
	add(rnn, std.Rnn)
}
