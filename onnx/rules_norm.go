package onnx

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// normRules are the normalisations.
var normRules = map[string][]rule{
	"BatchNormalization":    from(1, batchNorm),
	"InstanceNormalization": from(1, instanceNorm),
	// ONNX's since set 17; ONNX Runtime's optimiser writes it into models of older ones.
	"LayerNormalization": from(1, layerNorm),
	"RMSNormalization":   from(23, rmsNorm),
	// ONNX Runtime's, in ONNX's domain.
	"SimplifiedLayerNormalization": from(1, simplifiedNorm),
	"GroupNormalization":           {{since: 18, build: func(c *call) []op.Value { return groupNorm(c, true) }}, {since: 21, build: func(c *call) []op.Value { return groupNorm(c, false) }}},
	"MeanVarianceNormalization":    from(9, meanVarianceNorm),
	"LpNormalization":              from(1, lpNorm),
	"LRN": from(1, func(c *call) []op.Value {
		return c.one(std.LocalResponseNorm, std.LocalResponseNormAttrs{Size: c.int("size", 0), Alpha: c.float("alpha", 1e-4),
			Beta: c.float("beta", 0.75), K: c.float("bias", 1)}, c.x(0))
	}),
}

func batchNorm(c *call) []op.Value {
	eps := c.float("epsilon", 1e-5)
	c.ignore("momentum", "is_test", "consumed_inputs")
	if !c.flag("spatial", true) && c.rank(0) > 2 {
		panic(diag.New(CodeAttribute, "attribute spatial is 0: statistics of each element are not supported"))
	}
	if c.int("training_mode", 0) != 0 || c.outputs() > 1 {
		panic(diag.New(CodeAttribute, "training_mode is not supported"))
	}
	return c.one(std.BatchNormInference, std.EpsAttrs{Eps: eps}, c.x(0), c.x(3), c.x(4), c.x(1), c.x(2))
}

func instanceNorm(c *call) []op.Value {
	c.ignore("consumed_inputs")
	return c.one(std.InstanceNorm, std.InstanceNormAttrs{Eps: c.float("epsilon", 1e-5)}, c.x(0), nil, nil, c.x(1), c.x(2))
}

// layerNorm is over the axes from one on; its factors may have more dimensions of size 1, or fewer.
func layerNorm(c *call) []op.Value {
	rank := c.rank(0)
	axis := c.axis(c.int("axis", -1), rank)
	c.ignore("stash_type")
	last := c.typ(0).Dims().Sub(axis, rank)
	a := std.LayerNormAttrs{NormalizedShape: last, Eps: c.float("epsilon", 1e-5)}
	out := c.one(std.LayerNorm, a, c.x(0), factorOperand(c, 1, last), factorOperand(c, 2, last))
	if c.outputs() == 1 {
		return out
	}
	var axes []int
	for i := axis; i < rank; i++ {
		axes = append(axes, i)
	}
	wide := c.do(std.Cast, std.CastAttrs{DType: array.F32}, c.x(0))
	mean := c.do(std.Mean, std.ReduceAttrs{Dim: op.IntList(axes...), KeepDim: true}, wide)
	d := c.do(std.Sub, nil, wide, mean)
	variance := c.do(std.Mean, std.ReduceAttrs{Dim: op.IntList(axes...), KeepDim: true}, c.do(std.Mul, nil, d, d))
	return append(out, mean, c.do(std.Rsqrt, nil, c.do(std.Add, std.AddAttrs{Other: op.Float(a.Eps)}, variance)))
}

// factorOperand is the weight or bias of a norm in the shape of the normalised values.
func factorOperand(c *call, i int, last shape.Dims) op.Value {
	if !c.has(i) || c.typ(i).Dims().Equal(last) {
		return c.opt(i)
	}
	return c.do(std.Expand, std.ExpandAttrs{Shape: last}, c.x(i))
}

func rmsNorm(c *call) []op.Value {
	rank := c.rank(0)
	axis := c.axis(c.int("axis", -1), rank)
	c.ignore("stash_type")
	last := c.typ(0).Dims().Sub(axis, rank)
	return c.one(std.RmsNorm, std.LayerNormAttrs{NormalizedShape: last, Eps: c.float("epsilon", 1e-5)}, c.x(0), factorOperand(c, 1, last))
}

// groupNorm has a factor for each group at first, for each channel since set 21.
func groupNorm(c *call, perGroup bool) []op.Value {
	groups := c.int("num_groups", 0)
	if groups < 1 {
		panic(diag.New(CodeModel, "num_groups is "+strconv.Itoa(groups)+", expected 1 or more"))
	}
	c.ignore("stash_type")
	a := std.GroupNormAttrs{NumGroups: groups, Eps: c.float("epsilon", 1e-5)}
	if !perGroup {
		return c.one(std.GroupNorm, a, c.x(0), c.x(1), c.x(2))
	}
	n, ok := c.typ(0).Dim(1).Int()
	if !ok || n%groups != 0 {
		panic(diag.New(CodeModel, strconv.Itoa(groups)+" groups of "+c.typ(0).Dim(1).String()+" channels"))
	}
	each := func(i int) op.Value {
		v := c.do(std.Unsqueeze, std.DimAttrs{Dim: 1}, c.x(i))
		return reshape(c, c.do(std.Expand, std.ExpandAttrs{Shape: shape.ConstDims(groups, n/groups)}, v), shape.Const(n))
	}
	return c.one(std.GroupNorm, a, c.x(0), each(1), each(2))
}

func meanVarianceNorm(c *call) []op.Value {
	axes := c.list("axes")
	if axes == nil {
		axes = []int{0, 2, 3}
	}
	a := std.ReduceAttrs{Dim: op.IntList(axes...), KeepDim: true}
	d := c.do(std.Sub, nil, c.x(0), c.do(std.Mean, a, c.x(0)))
	deviation := c.do(std.Sqrt, nil, c.do(std.Mean, a, c.do(std.Mul, nil, d, d)))
	return c.one(std.Div, nil, d, c.do(std.Add, std.AddAttrs{Other: op.Float(1e-9)}, deviation))
}

// lpNorm divides by the norm along an axis; 0 stays 0.
func lpNorm(c *call) []op.Value {
	p, axis := c.int("p", 2), c.axis(c.int("axis", -1), c.rank(0))
	if p != 1 && p != 2 {
		panic(diag.New(CodeModel, "p is "+strconv.Itoa(p)+", expected 1 or 2"))
	}
	n := c.do(std.Norm, std.NormAttrs{P: op.Float(float64(p)), Dim: op.IntList(axis), KeepDim: true}, c.x(0))
	zero := c.do(std.Eq, std.BinaryAttrs{Other: op.Int(0)}, n)
	return c.one(std.Div, nil, c.x(0), c.do(std.Where, nil, zero, c.do(std.OnesLike, nil, n), n))
}

// simplifiedNorm is RMSNormalization under the name that it had before it was one.
func simplifiedNorm(c *call) []op.Value {
	if c.outputs() < 2 {
		return rmsNorm(c)
	}
	rank := c.rank(0)
	var axes []int
	for i := c.axis(c.int("axis", -1), rank); i < rank; i++ {
		axes = append(axes, i)
	}
	wide := c.do(std.Cast, std.CastAttrs{DType: array.F32}, c.x(0))
	square := c.do(std.Mean, std.ReduceAttrs{Dim: op.IntList(axes...), KeepDim: true}, c.do(std.Mul, nil, wide, wide))
	inverse := c.do(std.Rsqrt, nil, c.do(std.Add, std.AddAttrs{Other: op.Float(c.float("epsilon", 1e-5))}, square))
	return append(rmsNorm(c), inverse)
}
