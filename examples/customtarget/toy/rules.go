package toy

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// rule says which unit computes an operator, and the attributes that the unit supports:
// the number that stands for a second operand, or why not.
type rule struct {
	do      unit
	operand func(attrs any) (number op.Scalar, why string)
}

// The operators that the machine has units for. It also runs operators composed of these
// alone.
var rules = lowering.Rules[rule]{
	std.Add: {adder, func(attrs any) (op.Scalar, string) {
		a := attrs.(std.AddAttrs)
		return a.Other, unless(a.Alpha.Present(), "the adder does not scale")
	}},
	std.Sub: {subtracter, func(attrs any) (op.Scalar, string) {
		a := attrs.(std.SubAttrs)
		return a.Other, unless(a.Alpha.Present() || a.Reverse, "the subtracter does not scale, nor swap")
	}},
	std.Mul:     {multiplier, other},
	std.Maximum: {maximum, other},
	std.Minimum: {minimum, other},
	std.Neg:     {negater, none},
	std.Relu:    {rectifier, none},
	std.Linear:  {products, none},
}

func none(any) (op.Scalar, string)        { return op.Scalar{}, "" }
func other(attrs any) (op.Scalar, string) { return attrs.(std.BinaryAttrs).Other, "" }

func unless(bad bool, why string) string {
	if bad {
		return why
	}
	return ""
}

// direct says whether one instruction computes a call; if not, why.
func direct(n *graph.Node) (bool, string) {
	r, known := rules.Find(n)
	if !known {
		return false, "the machine has no unit for it"
	}
	if _, why := r.operand(n.Attrs()); why != "" {
		return false, why
	}
	types := n.OperandTypes()
	for _, t := range append(types, n.Type()) {
		if t.DType() != array.F32 && t.DType() != array.Invalid || !t.Ranked() && t.DType() != array.Invalid {
			return false, "it has " + t.String() + ", the machine computes in f32"
		}
	}
	if len(types) == 0 || types[0].DType() == array.Invalid {
		return false, "the type of its operand is not known"
	}
	if r.do == products || len(types) < 2 || types[1].DType() == array.Invalid {
		return true, ""
	}
	x, y := types[0].Dims(), types[1].Dims()
	same := x.Len() == y.Len()
	for i := 0; same && i < x.Len(); i++ {
		same = x.At(i).Equal(y.At(i))
	}
	return same, "its operands are " + types[0].String() + " and " + types[1].String() + ", the units do not broadcast"
}
