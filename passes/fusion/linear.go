package fusion

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// Linear makes a linear layer of a product by a transposed weight, as files of exporters have it. Folded ahead of time the
// transposed weight would be a copy; a plan lays out either in one pass over the weight.
//
// A kernel may add the products up in another order.
var Linear = passes.Pass{
	Name: "linear",
	Doc:  "Makes a linear layer of a product by a transposed weight.",
	Order: []passes.Before{
		{First: "linear", Then: "const-fold", Why: "a transposed weight is not copied"},
		{First: "linear", Then: "linear-bn", Why: "normalisations are folded into the layers"},
	},
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		s, params := simplify.NewSharing(g), passes.NewParams(c.Module, g)
		return c.Each(g, func(n *graph.Node) error {
			weight := transposedWeight(n)
			if weight == nil {
				return nil
			}
			if why := s.Written(weight, n.Arg(1)); why != "" {
				c.Refuse(n, why)
				return nil
			}
			turned := n.Arg(1)
			if why := params.Shared(turned, 0); why != "" { // such as a table that is read by rows, too, and stays as it lies
				c.Refuse(n, why)
				return nil
			}
			layer := g.Before(n).From(n).Function(std.Linear, op.None{}, n.Arg(0), weight, nil)
			layer.SetType(n.Type())
			if err := c.Replace(n, layer, "its weight is "+weight.String()+", transposed"); err != nil {
				return err
			}
			if turned.NumUses() == 0 {
				return g.Erase(turned)
			}
			return nil
		})
	},
}

// transposedWeight returns the matrix of the parameters whose transposed form is the right operand of a product, nil
// where n is none.
func transposedWeight(n *graph.Node) *graph.Node {
	if n.Op() != std.Matmul || n.NumArgs() != 2 || !n.Type().DType().IsFloat() {
		return nil
	}
	turned := n.Arg(1)
	if turned.Opcode() != graph.CallFunction && turned.Opcode() != graph.CallMethod || turned.NumArgs() != 1 || turned.Effect() != op.Pure {
		return nil
	}
	w := turned.Arg(0)
	if w.Opcode() != graph.GetAttr || w.Live() || !w.Type().Ranked() || w.Type().Rank() != 2 || !turned.Type().Ranked() || turned.Type().Rank() != 2 {
		return nil
	}
	if t := n.Arg(0).Type(); !t.Ranked() || t.Rank() < 1 || t.DType() != w.Type().DType() {
		return nil
	}
	at, ok := simplify.View(w, turned)
	if !ok || !at.Strides[0].Is(1) || !at.Strides[1].Equal(w.Type().Dim(1)) || !at.Sizes[0].Equal(w.Type().Dim(1)) || !at.Sizes[1].Equal(w.Type().Dim(0)) || at.Moved {
		return nil
	}
	return w
}
