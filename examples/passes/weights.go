package recipes

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

// QuantiseWeights stores the weights of linear layers as integers of 8 bits, with a scale for
// each feature, and multiplies them out where they are used: a quarter of the size, and each
// weight at most half a scale off. docs/quant.md describes computing with integers.
var QuantiseWeights = passes.Pass{
	Name: "quantise-weights", Doc: "Stores the weights of linear layers in 8 bits.",
	Requires: []passes.Fact{passes.Functional},
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		params := passes.NewParams(c.Module, g)
		for n := range g.Calls(std.Linear) {
			if n.Arg(1).Op() == std.Dequantize { // a weight that layers share
				continue
			}
			path, value, why := params.Constant(n, 1)
			if why == "" && value.DType() != array.F32 {
				why = "its weight is " + value.DType().String() + ", expected f32"
			}
			if why != "" {
				c.Refuse(n, why)
				continue
			}
			w := tensor.New(value)
			largest := w.Abs().AmaxWith(1, tensor.ReduceAttrs{KeepDim: true})
			if math.IsNaN(largest.Sum().Item()) || math.IsInf(largest.Sum().Item(), 1) {
				c.Refuse(n, "not all of its weights are finite")
				continue
			}
			scale := largest.DivScalar(127).MaximumScalar(math.SmallestNonzeroFloat32)
			at, m := g.Before(n.Arg(1)), c.Module
			param := func(hint string, value *tensor.Tensor) *graph.Node {
				fresh := m.FreshPath(path + hint)
				m.SetParam(graph.Param{Path: fresh, Value: value.Array()})
				return at.GetAttr(fresh)
			}
			q := param("_q", w.Div(scale).Round().Cast(array.I8))
			by := at.Function(std.Dequantize, tensor.DequantizeAttrs{}, q, param("_scale", scale.Flatten(0, 1)))
			if err := c.Replace(n.Arg(1), by, "in 8 bits"); err != nil {
				return true, err
			}
		}
		return c.Matches() > 0, nil
	},
}
