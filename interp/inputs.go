package interp

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// value is a tensor as what an input is given. Under a trace its sizes may be expressions. The tensor
// is not embedded: a program would have all its methods again.
type value struct{ t *tensor.Tensor }

func (v value) Type() shape.Type        { return v.t.Type() }
func (v value) DType() array.DType      { return v.t.Type().DType() }
func (v value) Rank() int               { return guard.Of(v.t.Type()).Rank() }
func (v value) Size(axis int) shape.Dim { return v.t.Size(axis).Dim() }

func valueOf(t *tensor.Tensor) guard.Argument {
	if t == nil {
		return nil
	}
	return value{t}
}

// checkParam reports a parameter whose type does not fit that of the get_attr node which reads it.
func checkParam(node *graph.Node, got shape.Type) error {
	want := node.Type()
	if (guard.Type{Type: want}).Fits(guard.Of(got)) {
		return nil
	}
	return &diag.Error{Code: GuardFailed, Node: node.Name(), Pos: node.Pos(), Msg: "parameter " + diag.Quote(node.Target()) + " is " + got.String() + ", the graph reads " + want.String(),
		Hint: "give the parameter a tensor of that type (Module.SetParam)"}
}
