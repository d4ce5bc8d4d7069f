package cpu

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// rule returns the step for a call and how many of its operands the step reads;
// nil when the operator's own kernel is to be used. Composite operators have none:
// their rule takes every call.
type rule func(n *graph.Node, attrs any, in []shape.Type) (step kernel.Step, operands int)

// rules are the operators for which a plan does better than their own kernel. A rule
// gives the bits that the interpreter gives: the operators' samples and the models
// are compared. So attention, whose steps round otherwise, is no rule.
var rules = lowering.Rules[rule]{
	std.Dropout: func(_ *graph.Node, attrs any, _ []shape.Type) (kernel.Step, int) {
		if attrs.(std.DropoutAttrs).Training {
			return nil, 0
		}
		return same()
	},
	// A plan writes nothing but state, which mayAlias knows, and its results have
	// memory of their own: a copy for its own sake is none.
	std.Clone: func(*graph.Node, any, []shape.Type) (kernel.Step, int) { return same() },
	std.Cast: func(n *graph.Node, _ any, in []shape.Type) (kernel.Step, int) {
		if d := n.Type().DType(); d == array.Invalid || d != in[0].DType() {
			return nil, 0
		}
		return same()
	},
}

// same is the step of what its first operand is already: a view of it.
func same() (kernel.Step, int) { return &kernel.Reshape{}, 1 }
