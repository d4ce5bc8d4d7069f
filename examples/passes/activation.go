package recipes

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
)

// ReplaceActivation puts another activation, with its attributes, in the place of one,
// however the calls are spelt: as function, method or module.
func ReplaceActivation(old, by *op.Op, attrs any) passes.Pass {
	name := old.Name + "-to-" + by.Name
	return passes.EachNode(name, "Replaces "+old.Name+" by "+by.Name+".", func(c *passes.Ctx, n *graph.Node) error {
		if n.Op() != old {
			return nil
		}
		if d := n.Type().DType(); d != array.Invalid && !d.IsFloat() { // an unknown type may be a float
			c.Refuse(n, "it gives "+d.String()+", "+by.Name+" takes floats only")
			return nil
		}
		return c.Replace(n, n.Graph().Before(n).Function(by, attrs, n.Arg(0)), name)
	})
}
