package tensor

import (
	"github.com/gofx-dev/gofx/op"
)

// Bound is what a leaf module does: an operator, its attributes, and the
// module's own tensors that follow the call's operands.
type Bound struct {
	Op    *op.Op
	Attrs any
	Names []string // local names of Params: "weight", "bias"
	// Params are the module's tensors, nil for an absent optional one.
	Params []*Tensor
	// Inputs is the number of operands that precede Params in the operator's
	// signature; missing call inputs are filled with nil.
	Inputs int
}

// Leaf is the hook that library leaf modules call: an engine that records
// modules makes it one call_module; otherwise the operator runs on inputs and
// parameters.
func Leaf(m any, b *Bound, in ...*Tensor) []*Tensor {
	for len(in) < b.Inputs {
		in = append(in, nil)
	}
	if l, ok := engineOf(b.Op.Name, nil, in).(Capturer); ok {
		if out, ok := l.Leaf(m, b, in); ok {
			return out
		}
	}
	args := make([]*Tensor, 0, len(in)+len(b.Params))
	args = append(append(args, in...), b.Params...)
	for len(args) > 0 && args[len(args)-1] == nil {
		args = args[:len(args)-1]
	}
	return dispatch(callee{b.Op, b.Attrs, false}, args, nil)
}

// RunScope tells the inputs' engine that m's Forward runs with these inputs,
// around forward. nn.Run is the way to use it.
func RunScope(m any, in []*Tensor, forward func() []*Tensor) []*Tensor {
	s, ok := engineOf("Run", nil, in).(Capturer)
	if !ok {
		return forward()
	}
	out, leave, done := s.Enter(m, in)
	if done {
		return out
	}
	defer leave()
	return forward()
}
