package grad

import (
	"context"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// Options says of what and by what a gradient is made. The zero value asks for the first
// result by all parameters that hold floats and are no buffers.
type Options struct {
	// Wrt are the tensors by which is differentiated: names of inputs, paths of parameters,
	// and patterns of path.Match for paths ("encoder.*"). nil: the parameters that are
	// trained.
	Wrt []string
	// Loss is the index of the result that is differentiated.
	Loss int
	// AllowUnused gives zeros for tensors that the loss does not depend on. Without it
	// they are mistakes.
	AllowUnused bool
	// AllowEvaluation differentiates what was made for evaluation as it is: batch_norm with
	// running statistics that no training step changes, dropout that drops nothing, and
	// products with integer weights, which have gradients by x and by scales. Without it
	// they are mistakes.
	AllowEvaluation bool
}

// Gradient returns a graph that computes the gradients of one result of m, a scalar, and
// nothing else. Its results are a map from the names of o.Wrt, patterns resolved, to
// tensors with the types of the inputs and parameters.
//
// m stays as it is. Mistakes are a diag.List with all of them at once: FX3090 to FX3099.
func Gradient(ctx context.Context, m *graph.Module, o Options) (*graph.Module, error) {
	return run(ctx, m, request{Options: o})
}

// ValueAndGrad is Gradient of a graph that computes the results of m, too: first these,
// in their order, then the gradients.
func ValueAndGrad(ctx context.Context, m *graph.Module, o Options) (*graph.Module, error) {
	return run(ctx, m, request{Options: o, values: true})
}

// VJP returns a graph that computes the results of m, and the gradients of the sum of
// results times seeds. A seed is an input after those of m, one for each result that
// holds floats, called grad_0 and so on, of the type of the result. Options.Loss means
// nothing here.
func VJP(ctx context.Context, m *graph.Module, o Options) (*graph.Module, error) {
	return run(ctx, m, request{Options: o, values: true, seeds: true})
}

// Backward is the side data of the nodes that compute gradients, and of what passes make of
// them: the backward half of a graph, as far as the last differentiation added it. It is not in the text form.
var Backward = graph.NewInheritedKey[bool]("backward")

// request is what is to be made of a graph.
type request struct {
	Options
	values bool   // the results of the graph, too
	seeds  bool   // are inputs
	from   int    // the first result that is differentiated where seeds are inputs
	name   string // that the seeds' names begin with, "" for grad_
	by     []int  // results by which is differentiated, in place of Wrt
}

func run(ctx context.Context, m *graph.Module, q request) (*graph.Module, error) {
	out := graph.Clone(m)
	make := passes.Pass{
		Name: "grad", Doc: "Makes the gradient of a graph.", Breaks: passes.Facts, Module: true, Whole: true,
		Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) { return true, q.apply(c, g) },
	}
	_, err := passes.Run(ctx, out, []passes.Pass{simplify.Inline, simplify.Functionalize, make, simplify.DCE, simplify.DropUnused}, passes.Options{})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// apply makes the gradient of g in its place.
func (q request) apply(c *passes.Ctx, g *graph.Graph) error {
	d := &differentiation{request: q, ctx: c, g: g, m: c.Module}
	d.outputs()
	d.targets()
	d.deferWrites()
	if err := d.faults.Err(); err != nil {
		return d.sorted()
	}
	if err := d.prepare(); err != nil {
		return err
	}
	if d.faults.Err() != nil {
		return d.sorted()
	}
	before := d.forwardHalf()
	d.walk()
	if d.faults.Err() != nil { // what comes after them is not reached for that reason
		return d.sorted()
	}
	grads := d.gradients()
	if d.faults.Err() != nil {
		return d.sorted()
	}
	for n := before.Next(); n != d.g.Output(); n = n.Next() {
		Backward.Set(n, true)
	}
	d.finish(grads)
	return nil
}

// forwardHalf says of all nodes that they are no part of the gradient that is to be made, and
// returns the last one.
func (d *differentiation) forwardHalf() *graph.Node {
	for n := range d.g.All() {
		Backward.Delete(n)
	}
	return d.g.Output().Prev()
}

// sorted returns the mistakes in the order of the model's lines.
func (d *differentiation) sorted() error {
	d.faults.Sort()
	return d.faults.Err()
}
