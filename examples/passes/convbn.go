package recipes

import (
	"cmp"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

// FoldBatchNorm folds batch normalisations into the convolutions before them, whose old
// weights are for dce and drop-unused. The built-in conv-bn knows more convolutions.
var FoldBatchNorm = passes.Pass{
	Name: "fold-batch-norm", Doc: "Folds batch normalisation into the convolution before it.",
	Requires: []passes.Fact{passes.Functional, passes.EvalMode},
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		params := passes.NewParams(c.Module, g)
		for bn := range g.Calls(std.BatchNorm) {
			if bn.Arg(0).Op() == std.Conv2d {
				if why := fold(c, params, bn.Arg(0), bn); why != "" {
					c.Refuse(bn, why)
				}
			}
		}
		return c.Matches() > 0, nil
	},
}

func fold(c *passes.Ctx, params *passes.Params, conv, bn *graph.Node) (why string) {
	read := func(n *graph.Node, i int, absent float64) *tensor.Tensor {
		_, value, reason := params.Constant(n, i)
		if why = cmp.Or(why, reason); value == nil { // PyTorch's weights may be absent
			return tensor.Scalar(absent)
		}
		return tensor.New(value)
	}
	weight, bias := read(conv, 1, 0), read(conv, 2, 0)
	mean, variance, gamma, beta := read(bn, 1, 0), read(bn, 2, 1), read(bn, 3, 1), read(bn, 4, 0)
	switch {
	case conv.NumUses() > 1 || conv.Type().Rank() != 4:
		return "the convolution has other uses, or is not one of a batch"
	case why != "" || bn.Arg(1) == nil || bn.Arg(2) == nil:
		return cmp.Or(why, "it normalises by the batch")
	}
	scale := gamma.Div(variance.AddScalar(bn.Attrs().(tensor.BatchNormAttrs).Eps).Sqrt())
	at, path := bn.Graph().Before(bn), params.Path(conv, 1)
	param := func(hint string, value *tensor.Tensor) *graph.Node {
		fresh := c.Module.FreshPath(path + hint)
		c.Module.SetParam(graph.Param{Path: fresh, Value: value.Array()})
		return at.GetAttr(fresh)
	}
	by := at.Function(std.Conv2d, conv.Attrs(), conv.Arg(0),
		param("_folded", weight.Mul(scale.Reshape(-1, 1, 1, 1))), param("_shift", bias.Sub(mean).Mul(scale).Add(beta)))
	if err := c.Replace(bn, by, "folded into the weights of "+conv.String()); err != nil {
		why = err.Error()
	}
	return why
}
