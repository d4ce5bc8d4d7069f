package grad

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// byExpression differentiates an elementwise call: each operand's derivative is a call of
// the operator that op.Op.Derivative makes, or of a simpler one that computes the same.
func (d *differentiation) byExpression(n *graph.Node, seeds []*graph.Node) error {
	for i, a := range n.Args() {
		if a == nil || !d.depends[a] {
			continue
		}
		o := n.Op().Derivative(i)
		if o == nil {
			return diag.New(op.NoGradient, n.Op().Name+" is a derivative of the highest order that is made").WithHint("differentiate less often")
		}
		g, err := d.derivative(o, n, seeds)
		if err != nil {
			return err
		}
		if g != nil {
			d.give(a, 0, g)
		}
	}
	return nil
}

// derivative makes the call of a derivative, without the operands that it does not read;
// nil where it is zero.
func (d *differentiation) derivative(o *op.Op, n *graph.Node, seeds []*graph.Node) (*graph.Node, error) {
	of, attrs := n.Op(), n.Attrs()
	operands, results := len(of.In), len(seeds)
	types := make([]shape.Type, len(o.In))
	copy(types, n.OperandTypes())
	seed := array.Invalid
	for i, s := range seeds {
		types[operands+i] = resultType(n, i)
		if s != nil {
			types[operands+results+i] = s.Type()
			if seed == array.Invalid {
				seed = s.Type().DType()
			}
		}
	}
	body, err := o.Expression(attrs, types)
	if err != nil {
		return nil, err
	}
	out := body.Nodes[body.Outs[0]]
	switch {
	case out.Code == kernel.OpConst && number(out) == 0:
		return nil, nil
	case out.Code == kernel.OpInput && int(out.Imm) >= operands+results:
		return seeds[int(out.Imm)-operands-results], nil
	}
	reads := body.Reads(len(types))
	spare := append([]shape.Type{}, types...)
	for i := range spare {
		droppable := i >= operands || !of.In[i].Optional && types[i].DType() == seed
		if !reads[i] && droppable && i < operands+results {
			spare[i] = shape.Type{}
		}
	}
	if less, err := o.Expression(attrs, spare); err == nil && less.String() == body.String() {
		types = spare
	} else {
		for i := operands; i < operands+results; i++ {
			types[i] = spare[i]
		}
	}
	args := make([]*graph.Node, len(types))
	for i := range types {
		switch {
		case types[i].Kind() == shape.None:
		case i < operands:
			args[i] = n.Arg(i)
		case i < operands+results:
			args[i] = d.result(n, i-operands)
		default:
			args[i] = seeds[i-operands-results]
		}
	}
	if g := d.plain(body, args); g != nil {
		return g, nil
	}
	return d.call(o, attrs, args...), nil
}

// resultType is the type of result i of a call.
func resultType(n *graph.Node, i int) shape.Type {
	if t := n.Type(); t.Kind() == shape.Tuple {
		return t.Member(i)
	}
	return n.Type()
}

// number returns the value of a constant.
func number(n expr.Node) float64 {
	switch n.DType {
	case array.F64:
		return math.Float64frombits(n.Imm)
	case array.F32:
		return float64(math.Float32frombits(uint32(n.Imm)))
	}
	return array.Float64At(expr.Stored(n.DType, n.Imm), 0)
}

// spellings are the operations that a derivative is often nothing but.
var spellings = map[kernel.Code]struct {
	op    *op.Op
	attrs func(other op.Scalar) any
}{
	kernel.OpMul: {std.Mul, func(o op.Scalar) any { return std.BinaryAttrs{Other: o} }},
	kernel.OpDiv: {std.Div, func(o op.Scalar) any { return std.DivAttrs{Other: o} }},
	kernel.OpNeg: {std.Neg, func(op.Scalar) any { return op.None{} }},
}

// plain makes a derivative that is one operation on the operands, by the operator of that
// name, which passes and readers know; nil for others.
func (d *differentiation) plain(body expr.Graph, args []*graph.Node) *graph.Node {
	out := body.Nodes[body.Outs[0]]
	s, ok := spellings[out.Code]
	if !ok || out.DType != array.F32 && out.DType != array.F64 {
		return nil
	}
	var in []*graph.Node
	other := op.Scalar{}
	for k, a := range out.Args {
		switch x := body.Nodes[a]; {
		case x.Code == kernel.OpInput && x.DType == out.DType && args[x.Imm] != nil:
			in = append(in, args[x.Imm])
		case x.Code == kernel.OpConst && k == 1:
			other = op.Float(number(x))
		default:
			return nil
		}
	}
	return d.call(s.op, s.attrs(other), in...)
}
