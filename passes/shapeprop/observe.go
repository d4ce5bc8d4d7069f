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
	p.Node = func(n *graph.Node, in []interp.Value, next func([]interp.Value) (interp.Value, error)) (interp.Value, error) {
		v, err := next(in)
		if err == nil {
			record(n, typeOf(v))
		}
		return v, err
	}
	_, err := p.Run(ctx, inputs...)
	return err
}

func typeOf(v interp.Value) shape.Type {
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
		t = widen(old, t)
	}
	Observed.Set(n, t)
}

// widen returns the narrowest type that covers both.
func widen(a, b shape.Type) shape.Type {
	switch {
	case a.Kind() != b.Kind() || a.DType() != b.DType():
		return shape.Type{}
	case a.Kind() == shape.Tuple:
		if a.Len() != b.Len() {
			return shape.Type{}
		}
		m := make([]shape.Type, a.Len())
		for i := range m {
			m[i] = widen(a.Member(i), b.Member(i))
		}
		return shape.TupleType(m...)
	case !a.Ranked() || a.Rank() != b.Rank():
		return shape.Unranked(a.DType())
	}
	dims := a.Dims().Slice()
	for i := range dims {
		if !dims[i].Equal(b.Dim(i)) {
			dims[i] = shape.Unknown
		}
	}
	return a.WithDims(shape.Of(dims...))
}
