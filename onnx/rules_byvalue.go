package onnx

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// byValueRules are the operators whose results have sizes that follow from values.
var byValueRules = map[string][]rule{
	"NonZero": from(9, func(c *call) []op.Value {
		return c.one(std.Transpose, std.TransposeAttrs{Dim0: 0, Dim1: 1}, c.do(std.Nonzero, nil, c.x(0)))
	}),
	"Compress":          from(9, compress),
	"Unique":            from(11, unique),
	"NonMaxSuppression": from(10, suppress),
}

// compress takes the elements that a condition selects: it finds their indices, which
// may be fewer than the elements.
func compress(c *call) []op.Value {
	x, axis := c.x(0), 0
	if c.rank(1) != 1 {
		panic(diag.New(CodeModel, "the condition is "+c.typ(1).String()+", expected one dimension"))
	}
	if c.given("axis") {
		axis = c.axis(c.int("axis", 0), c.rank(0))
	} else {
		x = c.do(std.Flatten, std.FlattenAttrs{EndDim: -1}, x)
	}
	index := c.do(std.Select, std.SelectAttrs{Dim: 1, Index: 0}, c.do(std.Nonzero, nil, c.x(1)))
	return c.one(std.IndexSelect, std.DimAttrs{Dim: axis}, x, index)
}

func unique(c *call) []op.Value {
	a := std.UniqueAttrs{Flat: !c.given("axis"), Unsorted: !c.flag("sorted", true)}
	if !a.Flat {
		a.Dim = c.axis(c.int("axis", 0), c.rank(0))
	}
	return c.items(c.do(std.Unique, a, c.x(0)), 4)
}

// suppress has its limits as attributes where they are known.
func suppress(c *call) []op.Value {
	center := c.flag("center_point_box", false)
	for i := 2; i < 5; i++ {
		if c.has(i) && c.in[i].arr == nil {
			return suppressWithin(c, center)
		}
	}
	a := std.NonMaxSuppressionAttrs{Center: center}
	if c.has(2) {
		a.Most = int(max(c.number(2).Int64(), 0))
	}
	if c.has(3) {
		a.Overlap = c.number(3).Float64()
	}
	if c.has(4) {
		a.Score = c.number(4)
	}
	return c.one(std.NonMaxSuppression, a, c.x(0), c.x(1))
}

// suppressWithin has limits that the model computes, or that are its inputs.
func suppressWithin(c *call, center bool) []op.Value {
	limit := func(i int, d array.DType) op.Value {
		if !c.has(i) {
			return c.do(std.Full, std.FullAttrs{Value: op.Int(0), DType: d})
		}
		return c.x(i)
	}
	return c.one(std.NonMaxSuppressionLimits, std.NonMaxSuppressionLimitsAttrs{Center: center},
		c.x(0), c.x(1), limit(2, array.I64), limit(3, array.F32), c.opt(4))
}
