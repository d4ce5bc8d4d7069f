package lowering

import (
	"strconv"

	"github.com/gofx-dev/gofx/graph"
)

// Lift makes weights of what follows from attributes that are marked as data (`param`: a
// learning rate, say), of each call of an elementwise operator, so that what is compiled of
// the graph has none of their values in it and is found again with others. The module must
// be one that Prepare returned; its graph is changed.
func Lift(ready *graph.Module) {
	var calls []*graph.Node
	for n := range ready.Graph.All() {
		if n.Opcode() == graph.CallFunction && n.Op() != nil && n.Op().Scalar() && n.Op().Codec().HasParams() {
			calls = append(calls, n)
		}
	}
	made := 0
	for _, n := range calls {
		l, ok := n.Op().Lift(n.Attrs(), n.OperandTypes())
		if !ok {
			continue
		}
		args := make([]*graph.Node, len(n.Op().In), len(l.Op.In))
		copy(args, n.Args())
		c := n.Graph().Before(n).From(n)
		for _, a := range l.Values {
			path := "param:" + strconv.Itoa(made)
			for made++; ready.Param(path) != nil; made++ { // a tensor of the user's
				path = "param:" + strconv.Itoa(made)
			}
			ready.SetParam(graph.Param{Path: path, Value: a})
			args = append(args, c.GetAttr(path))
		}
		with := c.Function(l.Op, l.Attrs, args...)
		with.SetType(n.Type())
		Origin.Set(with, SourceOf(n))
		n.ReplaceUses(with, nil)
		_ = n.Graph().Erase(n) // nothing uses it
	}
}
