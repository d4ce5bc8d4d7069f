package kernel

import (
	"github.com/gofx-dev/gofx/kernel/internal/reduce"
)

// Reductions, norms and softmax.
type (
	// ArgReduce gives the i64 index along Dim of the first greatest (Kind "argmax")
	// or least ("argmin") element; NaN counts as both.
	ArgReduce = reduce.ArgReduce

	// MinMaxDim gives the greatest (Kind "max") or least ("min") elements along Dim
	// as out[0] and their i64 indices, as of ArgReduce, as out[1].
	MinMaxDim = reduce.MinMaxDim

	// BatchNorm normalises each channel (dimension 1) of in[0] with given statistics:
	// (x-mean)/sqrt(var+Eps)·weight + bias.
	BatchNorm = reduce.BatchNorm

	// BatchNormStats computes the mean (out[0]) and the biased variance (out[1]) of
	// each channel (dimension 1) of in[0].
	BatchNormStats = reduce.BatchNormStats

	// LayerNorm normalises the last Axes dimensions of in[0] by their own mean and
	// biased variance (Ba, Kiros and Hinton, "Layer Normalization", 2016), then
	// scales by in[1] and adds in[2], both of the normalised shape or nil.
	LayerNorm = reduce.LayerNorm

	// RMSNorm divides the last Axes dimensions of in[0] by their root mean square,
	// sqrt(mean(x²)+Eps) (Zhang and Sennrich, 2019), then scales by in[1], of the
	// normalised shape or nil.
	RMSNorm = reduce.RMSNorm

	// GroupNorm normalises each of Groups groups of channels of in[0] [N, C, ...]
	// over its channels and all further dimensions (Wu and He, 2018), then scales by
	// in[1] and adds in[2], both [C] or nil.
	GroupNorm = reduce.GroupNorm

	// Reduce reduces the dimensions Dims of in[0] (all when empty) with Kind: "sum",
	// "prod", "mean", "max", "min", "any" or "all".
	Reduce = reduce.Reduce

	// Scan is the running sum (Kind "cumsum") or product ("cumprod") along Dim:
	// element i combines elements 0 to i.
	Scan = reduce.Scan

	// Softmax computes exp(x)/Σexp(x) along dimension Dim (not negative) of in[0],
	// after subtracting the maximum.
	Softmax = reduce.Softmax

	// LogSoftmax computes x - log Σexp(x) along dimension Dim (not negative) of
	// in[0], after subtracting the maximum.
	LogSoftmax = reduce.LogSoftmax

	// Var is the variance over Dims (all when empty): the sum of squared deviations
	// from the mean, divided by the element count less Correction, in float64 and two
	// passes.
	Var = reduce.Var
)
