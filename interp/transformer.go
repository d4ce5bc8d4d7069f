package interp

import (
	"context"
	"errors"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
)

// Transformer writes a new graph from an old one, node by node. Node, when set,
// decides what becomes of a node: it may record other nodes at the cursor, which
// carries the old node's position and scope, and returns the one that stands for
// the old node; copy makes an ordinary copy. Returning nil for a node whose value
// is used is a mistake.
type Transformer struct {
	Node func(c *graph.Cursor, n *graph.Node, args []*graph.Node, copy func() *graph.Node) *graph.Node
}

// Run returns a new module with the transformed graph; the state's arrays are
// shared with m, whose graph is not changed.
func (t *Transformer) Run(m *graph.Module) (_ *graph.Module, err error) {
	defer diag.Catch(&err)
	g := graph.New(m.Graph.Name)
	out := m.WithGraph(g)
	copier := graph.NewCopier(g, m.Graph)
	c := g.At()
	_, err = graph.Fold(context.Background(), m.Graph, func(n *graph.Node, args []*graph.Node) (*graph.Node, error) {
		for i, a := range args {
			if a == nil && n.Arg(i) != nil {
				return nil, n.Error(Dropped, "its operand "+n.Arg(i).String()+" was dropped")
			}
		}
		copier.At(c, n)
		plain := func() *graph.Node { return copier.Copy(c, n, args) }
		var v *graph.Node
		if t.Node != nil {
			v = t.Node(c, n, append([]*graph.Node(nil), args...), plain)
		} else {
			v = plain()
		}
		copier.Map(n, v)
		return v, nil
	})
	var none *diag.Error
	if errors.As(err, &none) && none.Code == graph.NoOutput {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	copier.Finish()
	out.DropUnused()
	return out, nil
}
