package standard

import (
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// squeezeAll drops the dimensions that are 1 when the model runs.
func squeezeAll(c *rule.Call) []op.Value {
	t := c.Type(0)
	axes, rely, known := c.Draft.Ones(t)
	if !t.Ranked() || !known {
		return c.One(std.Squeeze, nil, c.X(0))
	}
	v := c.X(0)
	if len(axes) > 0 {
		v = squeezed(c, axes)
	}
	for _, r := range rely {
		c.Draft.Rely(r, v.(*graph.Node))
	}
	return []op.Value{v}
}

// squeezed drops dimensions that are known to be 1: by their types, or by guards, which type rules do not
// ask.
func squeezed(c *rule.Call, axes []int) op.Value {
	v := c.Do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(axes...)}, c.X(0))
	n, ok := v.(*graph.Node)
	if t := c.Type(0); ok && t.Ranked() && !n.Type().Ranked() {
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
