package interp

import (
	"errors"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/tensor"
)

// sub runs the sub-graph that a node calls: with symbols of its own, on the state of
// the module. The hooks see its nodes, each call again. Under a trace what it computes
// is recorded, not the call.
func (f *frame) sub(node *graph.Node, in []Result) (Result, error) {
	if err := node.CheckCall(); err != nil {
		return Result{}, err
	}
	callee := node.Callee()
	if callee == nil {
		return Result{}, node.Error(graph.BadCall, "the graph belongs to no module, expected one with the sub-graph")
	}
	for g := f; g != nil; g = g.before() {
		if g.g == callee {
			return Result{}, node.Error(graph.Recursive, "sub-graph "+callee.Name+" calls itself")
		}
	}
	args := make([]*tensor.Tensor, len(in))
	for i, v := range in {
		if args[i] = v.T; v.T == nil {
			return Result{}, node.Error(Undefined, "operand "+strconv.Itoa(i)+" is not a tensor")
		}
	}
	inner := &frame{p: f.p, ctx: f.ctx, g: callee, inputs: args, from: f, copies: f.copies}
	out, err := inner.run()
	if err != nil {
		return Result{}, calledBy(node, err)
	}
	if callee.Output().Structure() == nil && len(out) == 1 {
		return Result{T: out[0]}, nil
	}
	return Result{Tuple: out}, nil
}

// before returns the run that this one is part of.
func (f *frame) before() *frame {
	if f.outer != nil {
		return f.outer
	}
	return f.from
}

// calledBy adds the call to what went wrong in a sub-graph.
func calledBy(node *graph.Node, err error) error {
	var one *diag.Error
	if !errors.As(err, &one) {
		return err
	}
	var list diag.List
	list.Add(err)
	for i, e := range list {
		c := *e
		c.Related = append(c.Related[:len(c.Related):len(c.Related)], diag.Related{Pos: node.Pos(), Msg: "called by " + node.String()})
		list[i] = &c
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
}
