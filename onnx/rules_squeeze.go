package onnx

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// squeezeAll drops the dimensions that are 1 when the model runs.
func squeezeAll(c *call) []op.Value {
	t := c.typ(0)
	axes, rely, known := c.dr.ones(t)
	if !t.Ranked() || !known {
		return c.one(std.Squeeze, nil, c.x(0))
	}
	v := c.x(0)
	if len(axes) > 0 {
		v = squeezed(c, axes)
	}
	for _, r := range rely {
		c.dr.rely(r, v.(*graph.Node))
	}
	return []op.Value{v}
}

// squeezed drops dimensions that are known to be 1: by their types, or by guards, which type rules do not
// ask.
func squeezed(c *call, axes []int) op.Value {
	v := c.do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(axes...)}, c.x(0))
	n, ok := v.(*graph.Node)
	if t := c.typ(0); ok && t.Ranked() && !n.Type().Ranked() {
		var dims []shape.Dim
		for i, d := range t.Dims().Slice() {
			if !slices.Contains(axes, i) {
				dims = append(dims, d)
			}
		}
		n.SetType(t.WithDims(shape.Of(dims...)))
	}
	return v
}
