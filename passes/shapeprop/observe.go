package shapeprop

import (
	"context"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// Observed is the type that the value of a node had in the runs of Observe: a
// size that differed between runs, or between the rounds of a loop, is unknown.
var Observed = graph.NewKey[shape.Type]("observed")

// Observe runs the module on the inputs and records under Observed the type of
// every value, regions included, as torch.fx's ShapeProp does. What was recorded
// before is widened to cover this run. Types of the nodes do not change, buffers
// that the graph writes do.
func Observe(ctx context.Context, m *graph.Module, inputs ...*tensor.Tensor) error {
	p := interp.Interpreter{State: interp.NewState(m)}
	p.Node = func(n *graph.Node, in []interp.Result, next func([]interp.Result) (interp.Result, error)) (interp.Result, error) {
		v, err := next(in)
		if err == nil {
			record(n, typeOf(v))
		}
		return v, err
	}
	_, err := p.Run(ctx, inputs...)
	return err
}

func typeOf(v interp.Result) shape.Type {
	if v.T != nil {
		return v.T.Type()
	}
	members := make([]shape.Type, len(v.Tuple))
	for i, t := range v.Tuple {
		if t != nil {
			members[i] = t.Type()
		}
	}
	return shape.TupleType(members...)
}

func record(n *graph.Node, t shape.Type) {
	if old, seen := Observed.Get(n); seen {
		t = shape.Join(old, t, shape.Dim.Equal)
	}
	Observed.Set(n, t)
}
