package fx

import (
	"context"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
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

// JVP returns a module that computes the results of g, and after them how those that hold
// floats change when the inputs and parameters of o.Wrt change in a direction: the
// Jacobian times a vector, which is given by inputs after those of g, one for each of o.Wrt,
// with its type.
func (g *GraphModule) JVP(ctx context.Context, o GradOptions) (*GraphModule, error) {
	return differentiated(grad.JVP(ctx, g.Module, o))
}

// HVP returns a module that computes the results of g; then the gradients of one, which has one
// element of a float type; then how these change when the inputs and parameters of o.Wrt change
// in a direction: the Hessian times a vector, which is given as for JVP.
func (g *GraphModule) HVP(ctx context.Context, o GradOptions) (*GraphModule, error) {
	return differentiated(grad.HVP(ctx, g.Module, o))
}

// ValueAndGrad calls f, which computes one number, at once, and returns it with its gradients
// by the tensors, in their order:
//
//	loss, grads, err := fx.ValueAndGrad(func() *tensor.Tensor {
//		return model.Forward(x).Sub(want).Square().Mean()
//	}, model.Fc.Weight, model.Fc.Bias)
//
// What f computes from the tensors is recorded while it runs, so that f may branch on values
// (Item), loop as long as data say, print, and ask for gradients itself (tensor.Grad). The
// gradient is that of the record, made as GraphModule.ValueAndGrad makes it; what other
// values were computed from, before f and in it, counts as constant. Buffers and parameters
// that f writes are written once.
//
// The tensors are parameters or any others with data. Afterwards all tensors are ordinary
// ones, those that f has kept as well. Mistakes are a diag.List, as those of
// GraphModule.ValueAndGrad; what f panics with is one of them. One goroutine at a time uses
// the tensors. For many steps of one function, capture the step with Trace: it runs faster.
func ValueAndGrad(f func() *tensor.Tensor, by ...*tensor.Tensor) (value *tensor.Tensor, grads []*tensor.Tensor, err error) {
	return ValueAndGradWith(context.Background(), f, by, tensor.GradOptions{})
}

// ValueAndGradWith is ValueAndGrad with options.
func ValueAndGradWith(ctx context.Context, f func() *tensor.Tensor, by []*tensor.Tensor, o tensor.GradOptions) (value *tensor.Tensor, grads []*tensor.Tensor, err error) {
	t := tracer.Tracer{Gradients: gradients}
	err = t.RunOnce(ctx, func() {
		value = f()
		grads = tensor.GradWith(value, by, o)
	}, by...)
	if err != nil {
		return nil, nil, err
	}
	return value, grads, nil
}

// gradients are those that a traced model asks for.
func gradients(ctx context.Context, c *graph.Cursor, loss *graph.Node, by []*graph.Node, o tensor.GradOptions) ([]*graph.Node, error) {
	return grad.Append(ctx, c, loss, by, grad.Options{AllowUnused: o.AllowUnused, AllowEvaluation: o.AllowEvaluation})
}

func differentiated(m *graph.Module, err error) (*GraphModule, error) {
	if err != nil {
		return nil, err
	}
	return NewGraphModule(m), nil
}
