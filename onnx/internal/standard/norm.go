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

// normRules are the normalisations.
var normRules = map[string][]rule.Rule{
	"BatchNormalization":    rule.From(1, batchNorm),
	"InstanceNormalization": rule.From(1, instanceNorm),
	// ONNX's since set 17; ONNX Runtime's optimiser writes it into models of older ones.
	"LayerNormalization": rule.From(1, layerNorm),
	"RMSNormalization":   rule.From(23, rmsNorm),
	// ONNX Runtime's, in ONNX's domain.
	"SimplifiedLayerNormalization": rule.From(1, SimplifiedNorm),
	"GroupNormalization":           {{Since: 18, Build: func(c *rule.Call) []op.Value { return groupNorm(c, true) }}, {Since: 21, Build: func(c *rule.Call) []op.Value { return groupNorm(c, false) }}},
	"MeanVarianceNormalization":    rule.From(9, meanVarianceNorm),
	"LpNormalization":              rule.From(1, lpNorm),
	"LRN": rule.From(1, func(c *rule.Call) []op.Value {
		return c.One(std.LocalResponseNorm, std.LocalResponseNormAttrs{Size: c.Int("size", 0), Alpha: c.Float("alpha", 1e-4),
			Beta: c.Float("beta", 0.75), K: c.Float("bias", 1)}, c.X(0))
	}),
}

func batchNorm(c *rule.Call) []op.Value {
	eps := c.Float("epsilon", 1e-5)
	c.Ignore("momentum", "is_test", "consumed_inputs")
	if !c.Flag("spatial", true) && c.Rank(0) > 2 {
		panic(diag.New(spec.CodeAttribute, "attribute spatial is 0: statistics of each element are not supported"))
	}
	if c.Int("training_mode", 0) != 0 || c.Outputs() > 1 {
		panic(diag.New(spec.CodeAttribute, "training_mode is not supported"))
	}
	return c.One(std.BatchNormInference, std.EpsAttrs{Eps: eps}, c.X(0), c.X(3), c.X(4), c.X(1), c.X(2))
}

func instanceNorm(c *rule.Call) []op.Value {
	c.Ignore("consumed_inputs")
	return c.One(std.InstanceNorm, std.InstanceNormAttrs{Eps: c.Float("epsilon", 1e-5)}, c.X(0), nil, nil, c.X(1), c.X(2))
}

// layerNorm is over the axes from one on; its factors may have more dimensions of size 1, or fewer.
func layerNorm(c *rule.Call) []op.Value {
	rank := c.Rank(0)
	axis := c.Axis(c.Int("axis", -1), rank)
	c.Ignore("stash_type")
	last := c.Type(0).Dims().Sub(axis, rank)
	a := std.LayerNormAttrs{NormalizedShape: last, Eps: c.Float("epsilon", 1e-5)}
	out := c.One(std.LayerNorm, a, c.X(0), factorOperand(c, 1, last), factorOperand(c, 2, last))
	if c.Outputs() == 1 {
		return out
	}
	var axes []int
	for i := axis; i < rank; i++ {
		axes = append(axes, i)
	}
	wide := c.Do(std.Cast, std.CastAttrs{DType: array.F32}, c.X(0))
	mean := c.Do(std.Mean, std.ReduceAttrs{Dim: op.IntList(axes...), KeepDim: true}, wide)
	d := c.Do(std.Sub, nil, wide, mean)
	variance := c.Do(std.Mean, std.ReduceAttrs{Dim: op.IntList(axes...), KeepDim: true}, c.Do(std.Mul, nil, d, d))
	return append(out, mean, c.Do(std.Rsqrt, nil, c.Do(std.Add, std.AddAttrs{Other: op.Float(a.Eps)}, variance)))
}

// factorOperand is the weight or bias of a norm in the shape of the normalised values.
func factorOperand(c *rule.Call, i int, last shape.Dims) op.Value {
	if !c.Has(i) || c.Type(i).Dims().Equal(last) {
		return c.Opt(i)
	}
	return c.Do(std.Expand, std.ExpandAttrs{Shape: last}, c.X(i))
}

func rmsNorm(c *rule.Call) []op.Value {
	rank := c.Rank(0)
	axis := c.Axis(c.Int("axis", -1), rank)
	c.Ignore("stash_type")
	last := c.Type(0).Dims().Sub(axis, rank)
	return c.One(std.RmsNorm, std.LayerNormAttrs{NormalizedShape: last, Eps: c.Float("epsilon", 1e-5)}, c.X(0), factorOperand(c, 1, last))
}

// groupNorm has a factor for each group at first, for each channel since set 21.
func groupNorm(c *rule.Call, perGroup bool) []op.Value {
	groups := c.Int("num_groups", 0)
	if groups < 1 {
		panic(diag.New(spec.CodeModel, "num_groups is "+strconv.Itoa(groups)+", expected 1 or more"))
	}
	c.Ignore("stash_type")
	a := std.GroupNormAttrs{NumGroups: groups, Eps: c.Float("epsilon", 1e-5)}
	if !perGroup {
		return c.One(std.GroupNorm, a, c.X(0), c.X(1), c.X(2))
	}
	n, ok := c.Type(0).Dim(1).Int()
	if !ok || n%groups != 0 {
		panic(diag.New(spec.CodeModel, strconv.Itoa(groups)+" groups of "+c.Type(0).Dim(1).String()+" channels"))
	}
	each := func(i int) op.Value {
		v := c.Do(std.Unsqueeze, std.DimAttrs{Dim: 1}, c.X(i))
		return Reshape(c, c.Do(std.Expand, std.ExpandAttrs{Shape: shape.ConstDims(groups, n/groups)}, v), shape.Const(n))
	}
	return c.One(std.GroupNorm, a, c.X(0), each(1), each(2))
}

func meanVarianceNorm(c *rule.Call) []op.Value {
	axes := c.List("axes")
	if axes == nil {
		axes = []int{0, 2, 3}
	}
	a := std.ReduceAttrs{Dim: op.IntList(axes...), KeepDim: true}
	d := c.Do(std.Sub, nil, c.X(0), c.Do(std.Mean, a, c.X(0)))
	deviation := c.Do(std.Sqrt, nil, c.Do(std.Mean, a, c.Do(std.Mul, nil, d, d)))
	return c.One(std.Div, nil, d, c.Do(std.Add, std.AddAttrs{Other: op.Float(1e-9)}, deviation))
}

// lpNorm divides by the norm along an axis; 0 stays 0.
func lpNorm(c *rule.Call) []op.Value {
	p, axis := c.Int("p", 2), c.Axis(c.Int("axis", -1), c.Rank(0))
	if p != 1 && p != 2 {
		panic(diag.New(spec.CodeModel, "p is "+strconv.Itoa(p)+", expected 1 or 2"))
	}
	n := c.Do(std.Norm, std.NormAttrs{P: op.Float(float64(p)), Dim: op.IntList(axis), KeepDim: true}, c.X(0))
	zero := c.Do(std.Eq, std.BinaryAttrs{Other: op.Int(0)}, n)
	return c.One(std.Div, nil, c.X(0), c.Do(std.Where, nil, zero, c.Do(std.OnesLike, nil, n), n))
}

// SimplifiedNorm is RMSNormalization under the name that it had before it was one.
func SimplifiedNorm(c *rule.Call) []op.Value {
	if c.Outputs() < 2 {
		return rmsNorm(c)
	}
	rank := c.Rank(0)
	var axes []int
	for i := c.Axis(c.Int("axis", -1), rank); i < rank; i++ {
		axes = append(axes, i)
	}
	wide := c.Do(std.Cast, std.CastAttrs{DType: array.F32}, c.X(0))
	square := c.Do(std.Mean, std.ReduceAttrs{Dim: op.IntList(axes...), KeepDim: true}, c.Do(std.Mul, nil, wide, wide))
	inverse := c.Do(std.Rsqrt, nil, c.Do(std.Add, std.AddAttrs{Other: op.Float(c.Float("epsilon", 1e-5))}, square))
	return append(rmsNorm(c), inverse)
}
