package xla

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/op/expr"
)

// elementwise is the rule of all operators with a scalar expression: each of its
// operations is one of the dialect's, or a few, on tensors of the result's sizes.
func elementwise(c *call) []*value {
	g, err := c.node.Op().Expression(c.node.Attrs(), c.types())
	if err != nil {
		panic(err)
	}
	return c.expression(g, c.in, c.out[0].Dims)
}

// expression emits a scalar expression over the broadcast elements of in.
func (c *call) expression(g expr.Graph, in []*value, dims []int) []*value {
	vals := make([]*value, len(g.Nodes))
	for i, n := range g.Nodes {
		if stablehlo.ElemName(n.DType) == "" {
			refuse("values of type " + n.DType.String() + " have no rules")
		}
		t := stablehlo.Of(n.DType, dims...)
		x := make([]*value, len(n.Args))
		for k, a := range n.Args {
			x[k] = vals[a]
		}
		switch n.Code {
		case kernel.OpInput:
			vals[i] = c.Trailing(in[n.Imm], dims)
		case kernel.OpConst:
			vals[i] = c.Const(t, n.Imm)
		case kernel.OpIndex:
			vals[i] = c.Reshape(c.Iota(stablehlo.Of(array.I64, t.Len()), 0), dims...)
		case kernel.OpCoord:
			axis := int(int64(n.Imm))
			if axis < 0 {
				axis += len(dims)
			}
			vals[i] = c.Iota(stablehlo.Of(array.I64, dims...), axis)
		case kernel.OpCast:
			vals[i] = c.cast(x[0], n.DType)
		default:
			f := scalars[n.Code]
			if f == nil {
				refuse("its expression has " + n.Code.String() + ", which has no rule")
			}
			vals[i] = c.scalar(f, n.DType, x)
		}
	}
	out := make([]*value, len(g.Outs))
	for i, o := range g.Outs {
		out[i] = vals[o]
	}
	return out
}

// scalar applies a rule; those of several operations compute halves in f32, to be
// rounded once.
func (c *call) scalar(f *scalarRule, d array.DType, x []*value) *value {
	if !f.composed || wide(d) == d && (len(x) == 0 || wide(x[0].Type.Elem) == x[0].Type.Elem) {
		return f.emit(c, x)
	}
	w := make([]*value, len(x))
	for i, v := range x {
		w[i] = c.widen(v)
	}
	out := f.emit(c, w)
	if out.Type.Elem == array.Bool {
		return out
	}
	return c.Convert(out, d)
}

// scalarRule is what a scalar operation becomes.
type scalarRule struct {
	emit     func(c *call, x []*value) *value
	composed bool // of several operations
}

func named(name string) *scalarRule {
	return &scalarRule{emit: func(c *call, x []*value) *value { return c.Op(name, x...) }}
}

func compared(word string) *scalarRule {
	return &scalarRule{emit: func(c *call, x []*value) *value { return c.Compare(word, x[0], x[1]) }}
}

func composed(f func(c *call, x []*value) *value) *scalarRule { return &scalarRule{f, true} }

// scalars has a rule for each operation of expressions. Those that the dialect defines
// otherwise than package kernel, or not at all, are made of several.
var scalars = map[kernel.Code]*scalarRule{
	kernel.OpAdd: named("add"), kernel.OpSub: named("subtract"), kernel.OpMul: named("multiply"), kernel.OpSelect: named("select"),
	kernel.OpNeg: named("negate"), kernel.OpSqrt: named("sqrt"), kernel.OpRsqrt: named("rsqrt"), kernel.OpExp: named("exponential"),
	kernel.OpExpm1: named("exponential_minus_one"), kernel.OpLog: named("log"), kernel.OpLog1p: named("log_plus_one"),
	kernel.OpSin: named("sine"), kernel.OpCos: named("cosine"), kernel.OpTanh: named("tanh"), kernel.OpSigmoid: named("logistic"),
	kernel.OpFloor: named("floor"), kernel.OpCeil: named("ceil"), kernel.OpRound: named("round_nearest_even"),
	kernel.OpAnd: named("and"), kernel.OpOr: named("or"), kernel.OpXor: named("xor"), kernel.OpNot: named("not"),
	kernel.OpEq: compared("EQ"), kernel.OpNe: compared("NE"), kernel.OpLt: compared("LT"), kernel.OpLe: compared("LE"),
	kernel.OpGt: compared("GT"), kernel.OpGe: compared("GE"), kernel.OpIsNaN: {emit: func(c *call, x []*value) *value { return c.isNaN(x[0]) }},
	kernel.OpMin: {emit: extreme("minimum", "and")}, kernel.OpMax: {emit: extreme("maximum", "or")},
	kernel.OpAbs: {emit: absolute}, kernel.OpSign: composed(sign), kernel.OpReciprocal: composed(func(c *call, x []*value) *value {
		return c.Op("divide", c.number(x[0].Type, 1), x[0])
	}),
	kernel.OpDiv: composed(divide), kernel.OpRem: composed(remainder), kernel.OpMod: composed(modulo), kernel.OpFloorDiv: composed(floorDivide),
	kernel.OpPow: composed(power), kernel.OpTrunc: composed(truncate), kernel.OpFMA: composed(multiplyAdd),
	kernel.OpTan:  composed(func(c *call, x []*value) *value { return c.Op("divide", c.Op("sine", x[0]), c.Op("cosine", x[0])) }),
	kernel.OpAtan: composed(func(c *call, x []*value) *value { return c.Op("atan2", x[0], c.number(x[0].Type, 1)) }),
	kernel.OpLog2: composed(func(c *call, x []*value) *value {
		return c.Op("multiply", c.Op("log", x[0]), c.number(x[0].Type, 1.4426950408889634))
	}),
	kernel.OpErf: composed(errorFunction),
	kernel.OpShl: composed(shift), kernel.OpShr: composed(shiftRight), kernel.OpMulHi: composed(multiplyHigh),
}

func (c *call) isNaN(x *value) *value { return c.Compare("NE", x, x) }

func extreme(name, ofBools string) func(c *call, x []*value) *value {
	return func(c *call, x []*value) *value {
		if x[0].Type.Elem == array.Bool {
			return c.Op(ofBools, x...)
		}
		return c.Op(name, x...)
	}
}

func absolute(c *call, x []*value) *value {
	if d := x[0].Type.Elem; d.IsInt() && !d.IsSigned() {
		return x[0]
	}
	return c.Op("abs", x[0])
}

// sign is 0 for NaN and for both zeros, which the dialect's sign keeps.
func sign(c *call, x []*value) *value {
	t, zero := x[0].Type, c.Const(x[0].Type, 0)
	pos := c.Convert(c.Compare("GT", x[0], zero), t.Elem)
	if t.Elem.IsInt() && !t.Elem.IsSigned() {
		return pos
	}
	return c.Op("subtract", pos, c.Convert(c.Compare("LT", x[0], zero), t.Elem))
}
