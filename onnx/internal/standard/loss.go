package standard

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// lossRules are the losses, which networks that were exported with them compute as well.
var lossRules = map[string][]rule.Rule{
	"NegativeLogLikelihoodLoss": rule.From(12, func(c *rule.Call) []op.Value { return []op.Value{likelihoodLoss(c, c.X(0))} }),
	"SoftmaxCrossEntropyLoss":   rule.From(12, crossEntropyLoss),
}

func crossEntropyLoss(c *rule.Call) []op.Value {
	logs := c.Do(std.LogSoftmax, std.DimAttrs{Dim: 1}, c.X(0))
	out := []op.Value{likelihoodLoss(c, logs), logs}
	return out[:max(1, min(2, c.Outputs()))]
}

// likelihoodLoss is the mean, or the sum, of the values of the classes at operand 1 in
// logs [N, class, ...], with the weights of classes at operand 2.
func likelihoodLoss(c *rule.Call, logs op.Value) op.Value {
	reduction := c.OneOf("reduction", "mean", "sum", "none")
	t := logs.Type()
	if t.Rank() < 2 || c.Rank(1) != t.Rank()-1 {
		panic(diag.New(spec.CodeModel, "scores are "+t.String()+", classes "+c.Type(1).String()+", expected the same dimensions without the second"))
	}
	target := c.Do(std.Cast, std.CastAttrs{DType: array.I64}, c.X(1))
	var skipped op.Value
	if c.Given("ignore_index") {
		skipped = c.Do(std.Eq, std.BinaryAttrs{Other: op.Int(int64(c.Int("ignore_index", 0)))}, target)
		target = c.Do(std.Where, nil, skipped, c.Do(std.ZerosLike, nil, target), target)
	}
	picked := c.Do(std.Gather, std.DimAttrs{Dim: 1}, logs, c.Do(std.Unsqueeze, std.DimAttrs{Dim: 1}, target))
	loss := c.Do(std.Neg, nil, c.Do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(1)}, picked))
	var weight op.Value
	if c.Has(2) {
		flat := c.Do(std.IndexSelect, std.DimAttrs{}, c.X(2), Reshape(c, target, shape.Const(-1)))
		weight = Reshape(c, flat, target.Type().Dims().Slice()...)
		loss = c.Do(std.Mul, nil, loss, weight)
	}
	if skipped != nil {
		zero := c.Do(std.ZerosLike, nil, loss)
		loss = c.Do(std.Where, nil, skipped, zero, loss)
		if weight == nil {
			weight = c.Do(std.OnesLike, nil, loss)
		}
		weight = c.Do(std.Where, nil, skipped, zero, weight)
	}
	all := std.ReduceAttrs{}
	switch {
	case reduction == "none":
		return loss
	case reduction == "sum":
		return c.Do(std.Sum, all, loss)
	case weight == nil:
		return c.Do(std.Mean, all, loss)
	}
	return c.Do(std.Div, nil, c.Do(std.Sum, all, loss), c.Do(std.Sum, all, weight))
}

// mostBins bounds how many parts a region of MaxRoiPool is cut into along one dimension.
const mostBins = 64

// maxRoiPool takes the maxima of parts of regions, first along the width, then along the
// height. A part without elements is 0.
func maxRoiPool(c *rule.Call) []op.Value {
	bins, scale := c.List("pooled_shape"), c.Float("spatial_scale", 1)
	_, _, h, w := Image(c)
	if len(bins) != 2 || min(bins[0], bins[1]) < 1 || max(bins[0], bins[1]) > mostBins {
		panic(diag.New(spec.CodeModel, "pooled_shape has "+strconv.Itoa(len(bins))+" entries, expected two sizes up to "+strconv.Itoa(mostBins)))
	}
	column := func(k int) op.Value {
		v := c.Do(std.Select, std.SelectAttrs{Dim: 1, Index: k}, c.X(1))
		return Reshape(c, v, c.Type(1).Dim(0), shape.Const(1), shape.Const(1), shape.Const(1))
	}
	batch := c.Do(std.Cast, std.CastAttrs{DType: array.I64}, Reshape(c, column(0), c.Type(1).Dim(0)))
	x := c.Do(std.IndexSelect, std.DimAttrs{}, c.X(0), batch)
	x, besides := roiMaxima(c, x, column(1), column(3), scale, bins[1], 3, w)
	x, above := roiMaxima(c, x, column(2), column(4), scale, bins[0], 2, h)
	empty := c.Do(std.LogicalOr, nil, above, besides)
	return c.One(std.Where, nil, empty, c.Do(std.Full, std.FullAttrs{Value: op.Float(0), DType: c.Type(0).DType()}), x)
}

// roiMaxima takes the maxima of bins between two places along a dimension of the size d;
// empty says which bins have no elements.
func roiMaxima(c *rule.Call, x, from, to op.Value, scale float64, bins, dim int, d shape.Dim) (y, empty op.Value) {
	round := func(v op.Value) op.Value {
		v = c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(scale)}, v)
		return c.Do(std.Floor, nil, c.Do(std.Add, std.AddAttrs{Other: op.Float(0.5)}, v))
	}
	from = round(from)
	length := c.Do(std.Add, std.AddAttrs{Other: op.Int(1)}, c.Do(std.Sub, nil, round(to), from))
	each := c.Do(std.Div, std.DivAttrs{Other: op.Float(float64(bins))}, c.Do(std.Clamp, std.ClampAttrs{Min: op.Float(1)}, length))
	t := from.Type().DType()
	at := c.Do(std.Cast, std.CastAttrs{DType: t}, c.Do(std.Arange, std.ArangeAttrs{End: d}))
	if dim == 2 {
		at = c.Do(std.Unsqueeze, std.DimAttrs{Dim: -1}, at)
	}
	place := func(i int, o *op.Op) op.Value {
		v := c.Do(o, nil, c.Do(std.Mul, std.BinaryAttrs{Other: op.Int(int64(i))}, each))
		return c.Do(std.Add, nil, from, v)
	}
	var parts, none []op.Value
	low := c.Do(std.Full, std.FullAttrs{Value: op.Float(negInf), DType: x.Type().DType()})
	for i := range bins {
		first, last := place(i, std.Floor), place(i+1, std.Ceil)
		in := c.Do(std.LogicalAnd, nil, c.Do(std.Ge, nil, at, first), c.Do(std.Lt, nil, at, last))
		a := std.ReduceAttrs{Dim: op.IntList(dim), KeepDim: true}
		parts = append(parts, c.Do(std.Amax, a, c.Do(std.Where, nil, in, x, low)))
		none = append(none, c.Do(std.LogicalNot, nil, c.Do(std.Any, a, in)))
	}
	return c.Do(std.Cat, std.DimAttrs{Dim: dim}, parts...), c.Do(std.Cat, std.DimAttrs{Dim: dim}, none...)
}
