package xla

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
)

// legalize expands calls until the emitter takes all: operators on quantised values by
// what they stand for on floats, composite ones by their decompositions.
func legalize(g *graph.Graph) (err error) {
	defer diag.Catch(&err)
	for n := g.First(); n != nil; {
		next := n.Next()
		if o := n.Op(); o != nil && !o.Composite() && expandable(o) {
			lowering.Origin.Set(n, lowering.SourceOf(n))
			c := g.Before(n).From(n)
			out := o.Reference(c, n.Attrs(), values(n)).(*graph.Node)
			passes.KeepType(out, n.Type())
			graph.CopyMeta(out, n)
			n.ReplaceUses(out, nil)
			if err := g.Erase(n); err != nil {
				return err
			}
		}
		n = next
	}
	return lowering.Legalize(g, Name, func(n *graph.Node) (bool, string) { return direct(n) })
}

// values returns a call's operands for a builder; absent ones are nil.
func values(n *graph.Node) []op.Value {
	var list []op.Value
	for _, a := range n.Args() {
		if a == nil {
			list = append(list, nil)
		} else {
			list = append(list, a)
		}
	}
	return list
}
