package join

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
)

// Expression is what calls compute, over what they read.
type Expression struct {
	// Operands are the values that are read; operand i is input i.
	Operands []*graph.Node

	b      *expr.Builder
	values map[*graph.Node]expr.Value
	outs   []expr.Value
}

// Give has the expression give the values of these calls of it.
func (e *Expression) Give(calls []*graph.Node) {
	e.outs = make([]expr.Value, len(calls))
	for i, n := range calls {
		e.outs[i] = e.values[n]
	}
}

// Graph returns the expression as data.
func (e *Expression) Graph() expr.Graph { return e.b.Graph(e.outs...) }

// Program returns the expression as a processor runs it.
func (e *Expression) Program() kernel.Program { return e.b.Compile(e.outs...) }

// Expression writes elementwise calls, of which the results of the last are wanted, as one
// expression. Its first operands are those that are given, read or not.
func (r Rules) Expression(nodes []*graph.Node, given ...*graph.Node) (*Expression, error) {
	values := map[*graph.Node]expr.Value{}
	e := &Expression{b: expr.NewBuilder(), values: values}
	read := func(n *graph.Node) expr.Value {
		v, ok := values[n]
		if !ok {
			v = e.b.Input(len(e.Operands), n.Type().DType())
			e.Operands = append(e.Operands, n)
			values[n] = v
		}
		return v
	}
	for _, n := range given {
		read(n)
	}
	for _, n := range nodes {
		x := make([]expr.Value, n.NumArgs())
		for i, a := range n.Args() {
			if a != nil {
				x[i] = read(a)
			}
		}
		if r.same(n) {
			e.outs = x[:1]
		} else {
			own, err := n.Op().Expression(n.Attrs(), n.OperandTypes())
			if err != nil {
				return nil, err
			}
			e.outs = e.b.Inline(own, x)
		}
		values[n] = e.outs[0]
	}
	return e, nil
}
