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
	w := &scalarWriter{call: c, operands: in, dims: dims}
	return expr.Fold(g, func(_ int, n expr.Node, x []*value) *value {
		if stablehlo.ElemName(n.DType) == "" {
			refuse("values of type " + n.DType.String() + " have no rules")
		}
		return scalars.Of(n.Code)(w, n, x)
	})
}

// scalarWriter is what rules of scalar operations know: the operands that the expression
// reads, and the sizes of what it computes.
type scalarWriter struct {
	*call
	operands []*value
	dims     []int
}

// scalarRule emits a scalar operation.
type scalarRule func(w *scalarWriter, n expr.Node, x []*value) *value

func named(name string) scalarRule {
	return single(func(c *call, x []*value) *value { return c.Op(name, x...) })
}

func compared(word string) scalarRule {
	return single(func(c *call, x []*value) *value { return c.Compare(word, x[0], x[1]) })
}

// single is one operation of the dialect, in the type of the operands.
func single(f func(c *call, x []*value) *value) scalarRule {
	return func(w *scalarWriter, _ expr.Node, x []*value) *value { return f(w.call, x) }
}

// composed is several operations, which compute halves in f32, to be rounded once.
func composed(f func(c *call, x []*value) *value) scalarRule {
	return func(w *scalarWriter, n expr.Node, x []*value) *value {
		if wide(n.DType) == n.DType && wide(x[0].Type.Elem) == x[0].Type.Elem {
			return f(w.call, x)
		}
		widened := make([]*value, len(x))
		for i, v := range x {
			widened[i] = w.widen(v)
		}
		out := f(w.call, widened)
		if out.Type.Elem == array.Bool {
			return out
		}
		return w.Convert(out, n.DType)
	}
}

// scalars has a rule for each operation of expressions. Those that the dialect defines
// otherwise than package kernel, or not at all, are made of several.
var scalars = expr.Forms[scalarRule]{
	kernel.OpInput: func(w *scalarWriter, n expr.Node, _ []*value) *value { return w.Trailing(w.operands[n.Imm], w.dims) },
	kernel.OpConst: func(w *scalarWriter, n expr.Node, _ []*value) *value {
		return w.Const(stablehlo.Of(n.DType, w.dims...), n.Imm)
	},
	kernel.OpIndex: flatIndex, kernel.OpCoord: coordinate,
	kernel.OpCast: func(w *scalarWriter, n expr.Node, x []*value) *value { return w.cast(x[0], n.DType) },
	kernel.OpAdd:  named("add"), kernel.OpSub: named("subtract"), kernel.OpMul: named("multiply"), kernel.OpSelect: named("select"),
	kernel.OpNeg: named("negate"), kernel.OpSqrt: named("sqrt"), kernel.OpRsqrt: named("rsqrt"), kernel.OpExp: named("exponential"),
	kernel.OpExpm1: named("exponential_minus_one"), kernel.OpLog: named("log"), kernel.OpLog1p: named("log_plus_one"),
	kernel.OpSin: named("sine"), kernel.OpCos: named("cosine"), kernel.OpTanh: named("tanh"), kernel.OpSigmoid: named("logistic"),
	kernel.OpFloor: named("floor"), kernel.OpCeil: named("ceil"), kernel.OpRound: named("round_nearest_even"),
	kernel.OpAnd: named("and"), kernel.OpOr: named("or"), kernel.OpXor: named("xor"), kernel.OpNot: named("not"),
	kernel.OpEq: compared("EQ"), kernel.OpNe: compared("NE"), kernel.OpLt: compared("LT"), kernel.OpLe: compared("LE"),
	kernel.OpGt: compared("GT"), kernel.OpGe: compared("GE"), kernel.OpIsNaN: single(func(c *call, x []*value) *value { return c.isNaN(x[0]) }),
	kernel.OpMin: single(extreme("minimum", "and")), kernel.OpMax: single(extreme("maximum", "or")),
	kernel.OpAbs: single(absolute), kernel.OpSign: composed(sign), kernel.OpReciprocal: composed(func(c *call, x []*value) *value {
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

// flatIndex is the row-major index of each element.
func flatIndex(w *scalarWriter, _ expr.Node, _ []*value) *value {
	count := stablehlo.Of(array.I64, w.dims...).Len()
	return w.Reshape(w.Iota(stablehlo.Of(array.I64, count), 0), w.dims...)
}

// coordinate is the place of each element along an axis.
func coordinate(w *scalarWriter, n expr.Node, _ []*value) *value {
	axis := int(int64(n.Imm))
	if axis < 0 {
		axis += len(w.dims)
	}
	return w.Iota(stablehlo.Of(array.I64, w.dims...), axis)
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
