package tensor

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

// GradOptions are the options of GradWith.
type GradOptions struct {
	// AllowUnused gives zeros for tensors that the loss does not depend on. Without it
	// they are mistakes.
	AllowUnused bool
	// AllowEvaluation differentiates calls in evaluation mode, such as batch_norm with
	// running statistics, as they are.
	AllowEvaluation bool
}

// Grad returns the gradients of loss, one number of a float type, by other tensors, each
// with the type of its tensor: parameters of the model, inputs, and what was computed on
// the way. They are tensors like others: they are added, clipped, written to parameters,
// and differentiated again.
//
// It is for code that is recorded: under fx.Trace the gradient becomes part of the graph;
// fx.ValueAndGrad runs code at once and records it; a session of package lazy with
// Options.Gradients records it and computes it later. Elsewhere it panics (FX1018), because
// nothing has noted how loss was computed.
//
// A tensor stands for its value at this place: what is written to it in place comes
// after, and a loss that was computed from an earlier value does not depend on it. All
// reads of one parameter count, through tied weights too. A tensor that the loss does not
// depend on is a mistake (FX3090), and so are integers (FX3091), a loss that is no number
// (FX3092), and operators without a gradient (FX3094).
func Grad(loss *Tensor, by ...*Tensor) []*Tensor { return GradWith(loss, by, GradOptions{}) }

// GradWith is Grad with options.
func GradWith(loss *Tensor, by []*Tensor, o GradOptions) []*Tensor {
	loss.check("grad")
	for _, x := range by {
		x.check("grad")
	}
	refuse := func(code diag.Code, msg, hint string) {
		panic((&diag.Error{Code: code, Op: "grad", Msg: msg, Hint: hint}).At(diag.Here()))
	}
	if len(by) == 0 {
		refuse(op.OperandCount, "no tensor is given to differentiate by", "name the parameters or inputs after the loss")
	}
	e := engineOf("grad", nil, append([]*Tensor{loss}, by...))
	if e == nil {
		refuse(NotRecorded, "the loss was computed at once, and nothing noted how", "compute it in a function that fx.ValueAndGrad runs, or that fx.Trace captures with tensors of the computation as inputs")
	}
	return e.Gradient(loss, by, o)
}
