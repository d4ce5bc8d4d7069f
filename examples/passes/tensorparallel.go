package recipes

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

// Cut is the side data of linear layers that several ranks compute together.
var Cut = graph.NewKey[Part]("cut")

// Part says which part of a weight [out,in] a rank has.
type Part string

const (
	Columns Part = "columns" // some of out, and of the bias: its result is a part of the features
	Rows    Part = "rows"    // some of in: the sum over all ranks, and the bias, is the result
)

// pointwise are activations of which each feature needs itself alone. Not all elementwise
// operators are: glu and tril look at where a feature stands.
var pointwise = []*op.Op{std.Relu, std.Gelu, std.Silu, std.Sigmoid, std.Tanh}

// TensorParallel says how pairs of linear layers, with activations between them, are cut
// among ranks, which then exchange nothing but one sum for each pair.
// Ref: Shoeybi et al., arXiv:1909.08053, section 3.
func TensorParallel(ranks int) passes.Pass {
	return passes.EachNode("tensor-parallel", "Cuts pairs of linear layers among ranks.", func(c *passes.Ctx, n *graph.Node) error {
		if _, second := Cut.Get(n); second || n.Op() != std.Linear {
			return nil
		}
		if k, known := n.Type().Dim(-1).Int(); !known || ranks < 1 || k%ranks != 0 {
			c.Refuse(n, n.Type().Dim(-1).String()+" features are not cut into "+strconv.Itoa(ranks))
			return nil
		}
		end := n
		for end == n || slices.Contains(pointwise, end.Op()) {
			if end.NumUses() != 1 {
				c.Refuse(n, end.String()+" has "+strconv.Itoa(end.NumUses())+" uses, of which each needs all features")
				return nil
			}
			before := end
			end = slices.Collect(end.Users())[0]
			if end.Op() == std.Linear && end.Arg(0) == before {
				Cut.Set(n, Columns)
				Cut.Set(end, Rows)
				c.Rewrote(n, nil, "cut by columns, "+end.String()+" by rows")
				return nil
			}
		}
		c.Refuse(n, end.String()+" needs all features")
		return nil
	})
}
