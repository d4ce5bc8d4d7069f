package expr

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
)

// Partials returns the derivative of each of body's outputs with respect to input wrt,
// made in b; the zero Value stands for an output that does not change with the input, or
// changes in steps only. in[i] stands for input i. results, where it has a value for an
// output, stands for what body computes there, so that a derivative by the result reads
// it. Derivatives of f16 and bf16 are f32.
//
// They are made forwards, from the input to the outputs, and no seed takes part in them:
// a select stays outermost, so that what the branch not taken makes (an infinity, say)
// never meets a zero.
func Partials(b *Builder, body Graph, wrt int, in, results []Value) []Value {
	given := map[int]Value{}
	for k, o := range body.Outs {
		if k < len(results) && results[k].b != nil && len(body.Nodes[o].Args) > 0 {
			given[o] = results[k]
		}
	}
	duals := Fold(body, func(i int, n Node, args []dual) dual {
		if v, ok := leaf(b, n, in); ok {
			if n.Code == kernel.OpInput && int(n.Imm) == wrt && n.DType.IsFloat() {
				return dual{v, b.Like(b.Widen(v), 1)}
			}
			return dual{v: v}
		}
		x := make([]Value, len(args))
		for k, a := range args {
			x[k] = a.v
		}
		v, ok := given[i]
		if !ok {
			v = written(b, n, x)
		}
		return dual{v, tangentOf(b, n, v, args)}
	})
	partials := make([]Value, len(duals))
	for k, p := range duals {
		partials[k] = p.d
	}
	return partials
}

// dual is a value with its derivative, the zero Value where there is none.
type dual struct{ v, d Value }

// tangentOf returns the derivative of an operation from those of its operands.
func tangentOf(b *Builder, n Node, v Value, args []dual) (d Value) {
	if !n.DType.IsFloat() {
		return d
	}
	if n.Code == kernel.OpCast {
		if args[0].d.b == nil {
			return d
		}
		return b.Cast(args[0].d, b.Widen(v).DType())
	}
	t := tangent{b: b, v: b.Widen(v)}
	some := false
	for _, a := range args {
		if a.v.DType().IsFloat() {
			a.v = b.Widen(a.v)
		}
		t.x, t.d = append(t.x, a.v), append(t.d, a.d)
		some = some || a.d.b != nil
	}
	if !some {
		return d
	}
	return forward.Of(n.Code)(t)
}

// tangent is one operation whose derivative is made: its value, its operands, and their
// derivatives, at least one of which is not the zero Value. Floats of 16 bits are widened.
type tangent struct {
	b    *Builder
	v    Value
	x, d []Value
}

// c is a constant of the type that is computed in.
func (t tangent) c(x float64) Value { return t.b.Like(t.v, x) }

// by returns f times the derivative of operand k, the zero Value where it has none; f is
// made only where it is needed.
func (t tangent) by(k int, f func() Value) Value {
	switch d := t.d[k]; {
	case d.b == nil:
		return d
	case d.isNumber(1):
		return f()
	case d.isNumber(-1):
		return t.b.Neg(f())
	default:
		return t.b.Mul(f(), d)
	}
}

// over returns the derivative of operand k divided by y.
func (t tangent) over(k int, y func() Value) Value {
	if t.d[k].b == nil {
		return t.d[k]
	}
	return t.b.Div(t.d[k], y())
}

// neg is -d, the zero Value for itself.
func (t tangent) neg(d Value) Value {
	if d.b == nil {
		return d
	}
	return t.b.Neg(d)
}

// sum adds two terms, of which either may be the zero Value.
func (t tangent) sum(x, y Value) Value {
	switch {
	case x.b == nil:
		return y
	case y.b == nil:
		return x
	}
	return t.b.Add(x, y)
}

// or0 is the derivative of operand k, as a number.
func (t tangent) or0(k int) Value {
	if t.d[k].b == nil {
		return t.c(0)
	}
	return t.d[k]
}

// rule makes the derivative of one operation.
type rule = func(t tangent) Value

// scale is the rule of a function of one operand: the derivative times f.
func scale(f func(t tangent) Value) rule {
	return func(t tangent) Value { return t.by(0, func() Value { return f(t) }) }
}

// divide is the rule of a function of one operand: the derivative divided by f.
func divide(f func(t tangent) Value) rule {
	return func(t tangent) Value { return t.over(0, func() Value { return f(t) }) }
}

// flat is the rule of what changes in steps only, or is no float.
func flat(tangent) Value { return Value{} }

// forward has a rule for each operation.
var forward = Forms[rule]{
	kernel.OpAdd: func(t tangent) Value { return t.sum(t.d[0], t.d[1]) },
	kernel.OpSub: func(t tangent) Value { return t.sum(t.d[0], t.neg(t.d[1])) },
	kernel.OpMul: product,
	kernel.OpFMA: func(t tangent) Value { return t.sum(product(t), t.d[2]) },
	kernel.OpDiv: func(t tangent) Value {
		return t.sum(t.over(0, func() Value { return t.x[1] }),
			t.neg(t.by(1, func() Value { return t.b.Div(t.v, t.x[1]) })))
	},
	kernel.OpRem: func(t tangent) Value {
		return t.sum(t.d[0], t.neg(t.by(1, func() Value { return t.b.Trunc(t.b.Div(t.x[0], t.x[1])) })))
	},
	kernel.OpMod: func(t tangent) Value {
		return t.sum(t.d[0], t.neg(t.by(1, func() Value { return t.b.FloorDiv(t.x[0], t.x[1]) })))
	},
	kernel.OpPow: power,
	kernel.OpMin: func(t tangent) Value { return t.beats((*Builder).Lt, (*Builder).Ge) },
	kernel.OpMax: func(t tangent) Value { return t.beats((*Builder).Gt, (*Builder).Le) },
	kernel.OpSelect: func(t tangent) Value {
		return t.b.Select(t.x[0], t.or0(1), t.or0(2))
	},
	kernel.OpNeg:        func(t tangent) Value { return t.neg(t.d[0]) },
	kernel.OpAbs:        scale(func(t tangent) Value { return t.b.Sign(t.x[0]) }),
	kernel.OpReciprocal: scale(func(t tangent) Value { return t.b.Neg(t.b.Mul(t.v, t.v)) }),
	kernel.OpSqrt:       divide(func(t tangent) Value { return t.b.Mul(t.c(2), t.v) }),
	kernel.OpRsqrt:      scale(func(t tangent) Value { return t.b.Mul(t.c(-0.5), t.b.Mul(t.v, t.b.Mul(t.v, t.v))) }),
	kernel.OpExp:        scale(func(t tangent) Value { return t.v }),
	kernel.OpExpm1:      scale(func(t tangent) Value { return t.b.Add(t.v, t.c(1)) }),
	kernel.OpLog:        divide(func(t tangent) Value { return t.x[0] }),
	kernel.OpLog1p:      divide(func(t tangent) Value { return t.b.Add(t.x[0], t.c(1)) }),
	kernel.OpLog2:       divide(func(t tangent) Value { return t.b.Mul(t.x[0], t.c(math.Ln2)) }),
	kernel.OpSin:        scale(func(t tangent) Value { return t.b.Cos(t.x[0]) }),
	kernel.OpCos:        scale(func(t tangent) Value { return t.b.Neg(t.b.Sin(t.x[0])) }),
	kernel.OpTan:        scale(func(t tangent) Value { return t.b.Add(t.c(1), t.b.Mul(t.v, t.v)) }),
	kernel.OpAtan:       divide(func(t tangent) Value { return t.b.Add(t.c(1), t.b.Mul(t.x[0], t.x[0])) }),
	kernel.OpErf: scale(func(t tangent) Value {
		return t.b.Mul(t.c(2/math.Sqrt(math.Pi)), t.b.Exp(t.b.Neg(t.b.Mul(t.x[0], t.x[0]))))
	}),
	kernel.OpTanh:    scale(func(t tangent) Value { return t.b.Sub(t.c(1), t.b.Mul(t.v, t.v)) }),
	kernel.OpSigmoid: scale(func(t tangent) Value { return t.b.Mul(t.v, t.b.Sub(t.c(1), t.v)) }),

	kernel.OpFloorDiv: flat, kernel.OpSign: flat, kernel.OpFloor: flat, kernel.OpCeil: flat, kernel.OpRound: flat, kernel.OpTrunc: flat,
	kernel.OpIsNaN: flat, kernel.OpEq: flat, kernel.OpNe: flat, kernel.OpLt: flat, kernel.OpLe: flat, kernel.OpGt: flat, kernel.OpGe: flat,
	kernel.OpAnd: flat, kernel.OpOr: flat, kernel.OpXor: flat, kernel.OpNot: flat, kernel.OpShl: flat, kernel.OpShr: flat, kernel.OpMulHi: flat,
	kernel.OpInput: flat, kernel.OpConst: flat, kernel.OpIndex: flat, kernel.OpCoord: flat, kernel.OpCast: flat, // tangent and leaf see to them
}

func product(t tangent) Value {
	return t.sum(t.by(0, func() Value { return t.x[1] }), t.by(1, func() Value { return t.x[0] }))
}

// power: the derivative by the base is 0 for the exponent 0, and the one by the exponent
// is 0 for the base 0, at which the logarithm is infinite and the power is not.
func power(t tangent) Value {
	b, x, y := t.b, t.x[0], t.x[1]
	base := t.by(0, func() Value {
		if y.isNumber(0) { // a zero in both branches, so that it meets no seed
			return b.Select(b.IsNaN(x), t.c(math.Copysign(0, -1)), t.c(0))
		}
		return b.Select(b.Eq(y, t.c(0)), t.c(0), b.Mul(y, b.Pow(x, b.Sub(y, t.c(1)))))
	})
	exponent := t.by(1, func() Value {
		return b.Select(b.And(b.Eq(x, t.c(0)), b.Ge(y, t.c(0))), t.c(0), b.Mul(t.v, b.Log(x)))
	})
	return t.sum(base, exponent)
}

// beats is the derivative of the one of two operands that the result is. Of equal ones
// both have a half; an operand that equals a constant has none. NaN, which the result is
// then, has the whole derivative, and so has what meets it, as in PyTorch.
func (t tangent) beats(wins, loses func(b *Builder, x, y Value) Value) Value {
	b, x, y := t.b, t.x[0], t.x[1]
	_, left := x.ConstBits()
	_, right := y.ConstBits()
	switch {
	case right:
		return b.Select(loses(b, x, y), t.c(0), t.or0(0))
	case left:
		return b.Select(loses(b, y, x), t.c(0), t.or0(1))
	}
	both := b.Add(t.or0(0), t.or0(1))
	level := b.Select(b.Eq(x, y), b.Mul(both, t.c(0.5)), both)
	return b.Select(wins(b, x, y), t.or0(0), b.Select(wins(b, y, x), t.or0(1), level))
}

// times is seed times p. A select in p chooses between products, so that a branch with the
// derivative 0 gives 0 whatever the seed is.
func times(b *Builder, seed, p Value, made map[Value]Value) (product Value) {
	if v, ok := made[p]; ok {
		return v
	}
	defer func() { made[p] = product }()
	switch {
	case p.isNumber(1):
		return seed
	case p.isNumber(-1):
		return b.Neg(seed)
	case p.isZero():
		return p
	case p.Code() == kernel.OpSelect:
		return b.Select(p.arg(0), times(b, seed, p.arg(1), made), times(b, seed, p.arg(2), made))
	case p.Code() == kernel.OpDiv && p.arg(0).isNumber(1):
		return b.Div(seed, p.arg(1))
	}
	return b.Mul(seed, p)
}

// isZero reports whether v is the number 0 of either sign.
func (v Value) isZero() bool { return v.isNumber(0) || v.isNumber(math.Copysign(0, -1)) }

// Chain returns the sum of partials times seeds, in the element type d: the derivative of
// what is computed of the outputs. Absent seeds are zero. ok is false where nothing is
// added: no output changes with the input, or all change in steps. A partial derivative
// that is the number 0 (of x*0) is multiplied as others are: what comes back may be infinite.
func Chain(b *Builder, d array.DType, partials, seeds []Value) (sum Value, ok bool) {
	for k, p := range partials {
		if p.b == nil || k >= len(seeds) || seeds[k].b == nil {
			continue
		}
		p = b.Widen(p)
		seed := b.Cast(b.Widen(seeds[k]), p.DType())
		term := b.Mul(seed, p)
		if !p.isZero() {
			term = times(b, seed, p, map[Value]Value{})
		}
		if ok {
			term = b.Add(sum, b.Cast(term, sum.DType()))
		}
		sum, ok = term, true
	}
	if !ok {
		return b.Const(d, 0), false
	}
	return b.Cast(sum, d), true
}
