package grad

import (
	"context"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// JVP returns a graph that computes the results of m, and how they change when the tensors
// of o.Wrt change in a direction: the Jacobian times a vector. The direction is given by
// inputs after those of m, tangent_0 and so on, one for each of the tensors, in their
// order and of their types. After the results of m the graph returns the changes of those
// that hold floats, in their order. Options.Loss means nothing here.
//
// It is the gradient of a VJP by its seeds, in which a VJP is linear (J. Townsend, "A new
// trick for calculating Jacobian vector products", 2017), so that whatever has a gradient
// twice has it.
func JVP(ctx context.Context, m *graph.Module, o Options) (*graph.Module, error) {
	back, err := run(ctx, m, request{Options: o, values: true, seeds: true})
	if err != nil {
		return nil, err
	}
	given := len(m.Graph.Inputs())
	seeds := back.Graph.Inputs()[given:]
	q := request{Options: o, values: true, seeds: true, from: m.Graph.Output().NumArgs(), name: "tangent_"}
	q.Wrt, q.AllowUnused = nil, true
	for _, s := range seeds {
		q.Wrt = append(q.Wrt, s.Target())
	}
	out, err := run(ctx, back, q)
	if err != nil {
		return nil, err
	}
	if err := changes(out.Graph, m.Graph.Output(), given, len(seeds)); err != nil {
		return nil, err
	}
	_, err = passes.Run(ctx, out, []passes.Pass{simplify.DCE, simplify.DropUnused}, passes.Options{})
	return out, err
}

// changes leaves in a graph the results of the original, was, and the gradients by its
// seeds, and takes the seeds out: a function that is linear in them has a derivative that
// depends on none.
func changes(g *graph.Graph, was *graph.Node, given, seeds int) error {
	end := g.Output()
	args := end.Args()
	for _, n := range args[:was.NumArgs()] {
		if n == nil || !n.Type().DType().IsFloat() {
			continue
		}
		seed := g.Inputs()[given] // the next one
		seed.ReplaceUses(g.After(n).Function(std.ZerosLike, nil, n), nil)
		if err := g.Erase(seed); err != nil {
			return err
		}
	}
	out := resultFields(was)
	for i := range seeds {
		out.Fields = append(out.Fields, graph.Leaf(was.NumArgs()+i))
	}
	if err := g.Erase(end); err != nil {
		return err
	}
	g.At().Output(out, append(args[:was.NumArgs():was.NumArgs()], args[len(args)-seeds:]...)...)
	return nil
}

// HVP returns a graph that computes the results of m, and the Hessian of one, a scalar,
// times a vector: how the gradients change when the tensors of o.Wrt change in a
// direction. The direction is given as for JVP. After the results of m the graph returns
// two maps from the names of o.Wrt: the gradients, and the products.
func HVP(ctx context.Context, m *graph.Module, o Options) (*graph.Module, error) {
	first, err := run(ctx, m, request{Options: o, values: true})
	if err != nil {
		return nil, err
	}
	o.AllowUnused = true // a gradient that is constant has the Hessian 0
	return run(ctx, first, request{Options: o, values: true, seeds: true, from: m.Graph.Output().NumArgs(), name: "tangent_"})
}
