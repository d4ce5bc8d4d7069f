package onnx

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// lossRules are the losses, which networks that were exported with them compute as well.
var lossRules = map[string][]rule{
	"NegativeLogLikelihoodLoss": from(12, func(c *call) []op.Value { return []op.Value{likelihoodLoss(c, c.x(0))} }),
	"SoftmaxCrossEntropyLoss":   from(12, crossEntropyLoss),
}

func crossEntropyLoss(c *call) []op.Value {
	logs := c.do(std.LogSoftmax, std.DimAttrs{Dim: 1}, c.x(0))
	out := []op.Value{likelihoodLoss(c, logs), logs}
	return out[:max(1, min(2, c.outputs()))]
}

// likelihoodLoss is the mean, or the sum, of the values of the classes at operand 1 in
// logs [N, class, ...], with the weights of classes at operand 2.
func likelihoodLoss(c *call, logs op.Value) op.Value {
	reduction := c.oneOf("reduction", "mean", "sum", "none")
	t := logs.Type()
	if t.Rank() < 2 || c.rank(1) != t.Rank()-1 {
		panic(diag.New(CodeModel, "scores are "+t.String()+", classes "+c.typ(1).String()+", expected the same dimensions without the second"))
	}
	target := c.do(std.Cast, std.CastAttrs{DType: array.I64}, c.x(1))
	var skipped op.Value
	if c.given("ignore_index") {
		skipped = c.do(std.Eq, std.BinaryAttrs{Other: op.Int(int64(c.int("ignore_index", 0)))}, target)
		target = c.do(std.Where, nil, skipped, c.do(std.ZerosLike, nil, target), target)
	}
	picked := c.do(std.Gather, std.DimAttrs{Dim: 1}, logs, c.do(std.Unsqueeze, std.DimAttrs{Dim: 1}, target))
	loss := c.do(std.Neg, nil, c.do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(1)}, picked))
	var weight op.Value
	if c.has(2) {
		flat := c.do(std.IndexSelect, std.DimAttrs{}, c.x(2), reshape(c, target, shape.Const(-1)))
		weight = reshape(c, flat, target.Type().Dims().Slice()...)
		loss = c.do(std.Mul, nil, loss, weight)
	}
	if skipped != nil {
		zero := c.do(std.ZerosLike, nil, loss)
		loss = c.do(std.Where, nil, skipped, zero, loss)
		if weight == nil {
			weight = c.do(std.OnesLike, nil, loss)
		}
		weight = c.do(std.Where, nil, skipped, zero, weight)
	}
	all := std.ReduceAttrs{}
	switch {
	case reduction == "none":
		return loss
	case reduction == "sum":
		return c.do(std.Sum, all, loss)
	case weight == nil:
		return c.do(std.Mean, all, loss)
	}
	return c.do(std.Div, nil, c.do(std.Sum, all, loss), c.do(std.Sum, all, weight))
}

// mostBins bounds how many parts a region of MaxRoiPool is cut into along one dimension.
const mostBins = 64

// maxRoiPool takes the maxima of parts of regions, first along the width, then along the
// height. A part without elements is 0.
func maxRoiPool(c *call) []op.Value {
	bins, scale := c.list("pooled_shape"), c.float("spatial_scale", 1)
	_, _, h, w := image(c)
	if len(bins) != 2 || min(bins[0], bins[1]) < 1 || max(bins[0], bins[1]) > mostBins {
		panic(diag.New(CodeModel, "pooled_shape has "+strconv.Itoa(len(bins))+" entries, expected two sizes up to "+strconv.Itoa(mostBins)))
	}
	column := func(k int) op.Value {
		v := c.do(std.Select, std.SelectAttrs{Dim: 1, Index: k}, c.x(1))
		return reshape(c, v, c.typ(1).Dim(0), shape.Const(1), shape.Const(1), shape.Const(1))
	}
	batch := c.do(std.Cast, std.CastAttrs{DType: array.I64}, reshape(c, column(0), c.typ(1).Dim(0)))
	x := c.do(std.IndexSelect, std.DimAttrs{}, c.x(0), batch)
	x, besides := roiMaxima(c, x, column(1), column(3), scale, bins[1], 3, w)
	x, above := roiMaxima(c, x, column(2), column(4), scale, bins[0], 2, h)
	empty := c.do(std.LogicalOr, nil, above, besides)
	return c.one(std.Where, nil, empty, c.do(std.Full, std.FullAttrs{Value: op.Float(0), DType: c.typ(0).DType()}), x)
}

// roiMaxima takes the maxima of bins between two places along a dimension of the size d;
// empty says which bins have no elements.
func roiMaxima(c *call, x, from, to op.Value, scale float64, bins, dim int, d shape.Dim) (y, empty op.Value) {
	round := func(v op.Value) op.Value {
		v = c.do(std.Mul, std.BinaryAttrs{Other: op.Float(scale)}, v)
		return c.do(std.Floor, nil, c.do(std.Add, std.AddAttrs{Other: op.Float(0.5)}, v))
	}
	from = round(from)
	length := c.do(std.Add, std.AddAttrs{Other: op.Int(1)}, c.do(std.Sub, nil, round(to), from))
	each := c.do(std.Div, std.DivAttrs{Other: op.Float(float64(bins))}, c.do(std.Clamp, std.ClampAttrs{Min: op.Float(1)}, length))
	t := from.Type().DType()
	at := c.do(std.Cast, std.CastAttrs{DType: t}, c.do(std.Arange, std.ArangeAttrs{End: d}))
	if dim == 2 {
		at = c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, at)
	}
	place := func(i int, o *op.Op) op.Value {
		v := c.do(o, nil, c.do(std.Mul, std.BinaryAttrs{Other: op.Int(int64(i))}, each))
		return c.do(std.Add, nil, from, v)
	}
	var parts, none []op.Value
	low := c.do(std.Full, std.FullAttrs{Value: op.Float(negInf), DType: x.Type().DType()})
	for i := range bins {
		first, last := place(i, std.Floor), place(i+1, std.Ceil)
		in := c.do(std.LogicalAnd, nil, c.do(std.Ge, nil, at, first), c.do(std.Lt, nil, at, last))
		a := std.ReduceAttrs{Dim: op.IntList(dim), KeepDim: true}
		parts = append(parts, c.do(std.Amax, a, c.do(std.Where, nil, in, x, low)))
		none = append(none, c.do(std.LogicalNot, nil, c.do(std.Any, a, in)))
	}
	return c.do(std.Cat, std.DimAttrs{Dim: dim}, parts...), c.do(std.Cat, std.DimAttrs{Dim: dim}, none...)
}
