package standard

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// byValueRules are the operators whose results have sizes that follow from values.
var byValueRules = map[string][]rule.Rule{
	"NonZero": rule.From(9, func(c *rule.Call) []op.Value {
		return c.One(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, c.Do(std.Nonzero, nil, c.X(0)))
	}),
	"Compress":          rule.From(9, compress),
	"Unique":            rule.From(11, unique),
	"NonMaxSuppression": rule.From(10, suppress),
}

// compress takes the elements that a condition selects: it finds their indices, which
// may be fewer than the elements.
func compress(c *rule.Call) []op.Value {
	x, axis := c.X(0), 0
	if c.Rank(1) != 1 {
		panic(diag.New(spec.CodeModel, "the condition is "+c.Type(1).String()+", expected one dimension"))
	}
	if c.Given("axis") {
		axis = c.Axis(c.Int("axis", 0), c.Rank(0))
	} else {
		x = c.Do(std.Flatten, std.FlattenAttrs{EndDim: -1}, x)
	}
	index := c.Do(std.Select, std.SelectAttrs{Dim: 1, Index: 0}, c.Do(std.Nonzero, nil, c.X(1)))
	return c.One(std.IndexSelect, std.DimAttrs{Dim: axis}, x, index)
}

func unique(c *rule.Call) []op.Value {
	a := std.UniqueAttrs{Flat: !c.Given("axis"), Unsorted: !c.Flag("sorted", true)}
	if !a.Flat {
		a.Dim = c.Axis(c.Int("axis", 0), c.Rank(0))
	}
	return c.Items(c.Do(std.Unique, a, c.X(0)), 4)
}

// suppress has its limits as attributes where they are known.
func suppress(c *rule.Call) []op.Value {
	center := c.Flag("center_point_box", false)
	for i := 2; i < 5; i++ {
		if c.Has(i) && c.In[i].Arr == nil {
			return suppressWithin(c, center)
		}
	}
	a := std.NonMaxSuppressionAttrs{Center: center}
	if c.Has(2) {
		a.Most = int(max(c.Number(2).Int64(), 0))
	}
	if c.Has(3) {
		a.Overlap = c.Number(3).Float64()
	}
	if c.Has(4) {
		a.Score = c.Number(4)
	}
	return c.One(std.NonMaxSuppression, a, c.X(0), c.X(1))
}

// suppressWithin has limits that the model computes, or that are its inputs.
func suppressWithin(c *rule.Call, center bool) []op.Value {
	limit := func(i int, d array.DType) op.Value {
		if !c.Has(i) {
			return c.Do(std.Full, std.FullAttrs{Value: op.Int(0), DType: d})
		}
		return c.X(i)
	}
	return c.One(std.NonMaxSuppressionLimits, std.NonMaxSuppressionLimitsAttrs{Center: center},
		c.X(0), c.X(1), limit(2, array.I64), limit(3, array.F32), c.Opt(4))
}
