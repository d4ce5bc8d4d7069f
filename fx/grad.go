package fx

import (
	"context"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes/grad"
)

// GradOptions says of which result, and by which inputs and parameters, a gradient is
// made. The zero value asks for the first result by all parameters that are trained.
type GradOptions = grad.Options

// Gradient returns a module with the inputs of g that computes the gradients of one
// result, which has one element of a float type. Its results are the gradients in the
// order of o.Wrt, each with the type of the input or parameter; for the zero options those
// of all parameters in their order. Capture the model in training mode, and differentiate
// before Optimise.
//
// g stays as it is. All mistakes are in one error, a diag.List (FX3090 to FX3098): tensors
// that the loss does not depend on, operators without a gradient, loops without a bound.
func (g *GraphModule) Gradient(ctx context.Context, o GradOptions) (*GraphModule, error) {
	return differentiated(grad.Gradient(ctx, g.Module, o))
}

// ValueAndGrad is Gradient of a module that computes the results of g, too, and gives
// them first.
func (g *GraphModule) ValueAndGrad(ctx context.Context, o GradOptions) (*GraphModule, error) {
	return differentiated(grad.ValueAndGrad(ctx, g.Module, o))
}

// VJP is ValueAndGrad of the sum of all results, each times a seed. The seeds are inputs
// after those of g, one for each result that holds floats, with its type.
func (g *GraphModule) VJP(ctx context.Context, o GradOptions) (*GraphModule, error) {
	return differentiated(grad.VJP(ctx, g.Module, o))
}

func differentiated(m *graph.Module, err error) (*GraphModule, error) {
	if err != nil {
		return nil, err
	}
	return NewGraphModule(m), nil
}
