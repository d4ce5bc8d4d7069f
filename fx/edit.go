package fx

import (
	"context"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/passes/partition"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// Edit changes the graph by hand, all or nothing; see graph.Edit. It must not overlap a run.
func (g *GraphModule) Edit(edit func(g *graph.Graph) error) error {
	return graph.Edit(g.Module, edit)
}

// Record records tensor code at the place of a cursor: fn runs on tensors that stand
// for args, and Record returns the nodes of its results. It may use the module's own
// tensors (State) and others; see tracer.Tracer.Record.
func (g *GraphModule) Record(ctx context.Context, c *graph.Cursor, fn any, args ...*graph.Node) ([]*graph.Node, error) {
	t := tracer.Tracer{Root: g, Gradients: gradients}
	return t.Record(ctx, c, fn, args...)
}

// ReplaceModule puts a module of the user's in the place of the leaf at path, wherever
// the graph calls it. Its tensors have the leaf's path in front; results may have another
// type than the leaf's. When something is wrong, the graph is as it was.
func (g *GraphModule) ReplaceModule(ctx context.Context, path string, m any) error {
	t := tracer.Tracer{Root: m, Gradients: gradients}
	return t.ReplaceLeaf(ctx, g.Module, path, func(in ...*tensor.Tensor) []*tensor.Tensor { return nn.RunAll(m, in...) })
}

// Split makes a sub-graph of each part of the graph and returns the calls of them, in the
// order of their first nodes: of the nodes for which part gives the same name; those with
// "" stay where they are. See partition.Split; partition.ByTag is a function of marks.
func Split(g *GraphModule, part func(n *graph.Node) string) ([]*graph.Node, error) {
	return partition.Split(g.Module, part)
}

// Features returns a module that computes only intermediate values, by the names of
// nodes or the paths of modules; its output is a map of them. See graph.Features.
func (g *GraphModule) Features(names ...string) (*GraphModule, error) {
	m, err := graph.Features(g.Graph, names...)
	if err != nil {
		return nil, err
	}
	return NewGraphModule(m), nil
}
