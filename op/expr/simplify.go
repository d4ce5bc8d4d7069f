package expr

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
)

// Simplify rebuilds body in b as Inline does, by laws that change no bit of any result
// but the payload of a NaN:
//
//	-(-x), not (not x)                   x
//	|-x|, ||x||                          |x|
//	floor, ceil, round, trunc of one     the inner one
//	sign (sign x)                        sign x
//	min(x, x), max(x, x), x&x, x|x       x
//	max(x, c), min(x, c)                 x, where it lies beyond c anyway
//	|x|                                  x, where it has no sign
//	x*1, x/1, x-0, x+(-0)                x; x+0, too, for integers
//	x&ones, x|zeros, x^zeros             x
//	a cast of a cast                     one cast, where the inner one loses nothing
//
// It leaves alone what differs for a few numbers: x+0 is 0 for -0, x*0 and x-x are
// NaN for infinities, (x*a)*b rounds twice, log(exp x) overflows, a float that is cast to an integer saturates.
func (b *Builder) Simplify(body Graph, in []Value) []Value { return b.rebuild(body, in, apply) }

// apply makes a value by the laws, or as it is written.
func apply(b *Builder, n Node, x []Value) Value {
	if v, ok := law(b, n, x); ok {
		return v
	}
	return written(b, n, x)
}

// law returns what an operation is by a law.
func law(b *Builder, n Node, x []Value) (v Value, ok bool) {
	code := n.Code
	switch len(x) {
	case 1:
		return law1(b, n, x[0])
	case 2:
		if _, left := x[0].ConstBits(); left && commutes(code) {
			return law2(code, x[1], x[0], 0)
		}
		return law2(code, x[0], x[1], 1)
	}
	return v, false
}

// commutes reports whether operands may be exchanged to the bit, except for zeros that
// min and max choose from.
func commutes(code kernel.Code) bool {
	switch code {
	case kernel.OpAdd, kernel.OpMul, kernel.OpAnd, kernel.OpOr, kernel.OpXor, kernel.OpMin, kernel.OpMax:
		return true
	}
	return false
}

func law1(b *Builder, n Node, x Value) (v Value, ok bool) {
	code, d, inner := n.Code, n.DType, x.Code()
	switch code {
	case kernel.OpNeg, kernel.OpNot:
		if inner == code {
			return x.arg(0), true
		}
	case kernel.OpAbs:
		switch {
		case inner == kernel.OpNeg && d.IsSigned():
			return apply(b, n, []Value{x.arg(0)}), true
		case inner == kernel.OpAbs, unsigned(x):
			return x, true
		}
	case kernel.OpSign:
		return x, inner == kernel.OpSign
	case kernel.OpFloor, kernel.OpCeil, kernel.OpRound, kernel.OpTrunc:
		return x, inner == kernel.OpFloor || inner == kernel.OpCeil || inner == kernel.OpRound || inner == kernel.OpTrunc
	case kernel.OpCast:
		if inner == kernel.OpCast && between(x.arg(0).DType(), x.DType(), d) {
			return apply(b, n, []Value{x.arg(0)}), true
		}
		return x, x.DType() == d
	}
	return v, false
}

// law2 is law for two operands, of which y is the one at the given place.
func law2(code kernel.Code, x, y Value, place int) (v Value, ok bool) {
	switch code {
	case kernel.OpMin, kernel.OpMax:
		return x, x == y || beyond(code, x, y, place)
	case kernel.OpAnd:
		return x, x == y || y.isBits(^uint64(0))
	case kernel.OpOr:
		return x, x == y || y.isBits(0)
	case kernel.OpXor:
		return x, y.isBits(0)
	case kernel.OpMul, kernel.OpDiv:
		return x, y.isNumber(1)
	case kernel.OpSub:
		return x, y.isNumber(0)
	case kernel.OpAdd:
		return x, y.isNumber(math.Copysign(0, -1))
	}
	return v, false
}

// arg returns operand i.
func (v Value) arg(i int) Value { return Value{v.b, v.node().args[i]} }

// isNumber reports whether v is the constant x of its type, to the bit.
func (v Value) isNumber(x float64) bool {
	_, constant := v.ConstBits()
	return constant && v.DType() != array.Bool && v == v.b.Like(v, x)
}

// isBits reports whether v is the constant of these bits.
func (v Value) isBits(bits uint64) bool {
	_, constant := v.ConstBits()
	return constant && v == v.b.ConstBits(v.DType(), bits)
}

// number returns the value of a constant float; ok is false for NaN and all else.
func (v Value) number() (x float64, ok bool) {
	bits, constant := v.ConstBits()
	if !constant {
		return 0, false
	}
	switch v.DType() {
	case array.F32:
		x = float64(math.Float32frombits(uint32(bits)))
	case array.F64:
		x = math.Float64frombits(bits)
	default:
		return 0, false
	}
	return x, x == x
}

// beyond reports whether x lies on the far side of the constant c, the operand at the
// given place, so that its maximum or minimum with c is x. Of two zeros max and min give
// the one or the other, by their places.
func beyond(code kernel.Code, x, c Value, place int) bool {
	if _, constant := c.ConstBits(); !constant {
		return false
	}
	n, ok := c.number()
	if x.Code() == code && (x.arg(place) == c || x.arg(1-place) == c && (ok && n != 0 || !c.DType().IsFloat())) {
		return true // the outer one chooses as the inner one did
	}
	if !ok {
		return false
	}
	lo, hi := bounds(x)
	switch {
	case code == kernel.OpMin:
		return hi < n || hi == n && n != 0
	case n == 0:
		return lo > 0 || unsigned(x) && c.isNumber(0)
	}
	return lo >= n
}

// bounds returns between which numbers a float lies that is not NaN.
func bounds(v Value) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if x, ok := v.number(); ok {
		return x, x
	}
	switch v.Code() {
	case kernel.OpMax, kernel.OpMin:
		a, b := v.arg(0), v.arg(1)
		if nan(a) || nan(b) {
			return lo, hi
		}
		la, ha := bounds(a)
		lb, hb := bounds(b)
		if v.Code() == kernel.OpMax {
			return math.Max(la, lb), math.Max(ha, hb)
		}
		return math.Min(la, lb), math.Min(ha, hb)
	case kernel.OpAbs:
		if v.DType().IsFloat() {
			return 0, hi
		}
	}
	return lo, hi
}

// nan reports whether v is a constant that is no number.
func nan(v Value) bool {
	_, constant := v.ConstBits()
	_, ok := v.number()
	return constant && !ok
}

// unsigned reports whether a float is never less than 0 nor -0.
func unsigned(v Value) bool {
	switch v.Code() {
	case kernel.OpAbs:
		return v.DType().IsFloat()
	case kernel.OpMul:
		return v.DType().IsFloat() && v.arg(0) == v.arg(1)
	case kernel.OpMax:
		lo, _ := bounds(v)
		return lo > 0
	case kernel.OpMin:
		lo, _ := bounds(v)
		return lo > 0 || unsignedOrConst(v.arg(0)) && unsignedOrConst(v.arg(1))
	}
	return false
}

func unsignedOrConst(v Value) bool {
	if x, ok := v.number(); ok {
		return x > 0 || v.isNumber(0)
	}
	return unsigned(v)
}

// between reports whether a cast of from by way of mid to to is the one without mid.
func between(from, mid, to array.DType) bool {
	if !contains(mid, from) {
		return false
	}
	floats := from.IsFloat() && to.IsFloat()
	ints := from.IsInt() && mid.IsInt() && to.IsInt()
	return from == to || to == array.Bool || floats || ints || from == array.Bool
}

// contains reports whether each value of type d is one of type wide.
func contains(wide, d array.DType) bool {
	switch {
	case d.IsNarrow() || wide.IsNarrow(): // their casts round in several ways
		return false
	case wide == d || d == array.Bool:
		return true
	case d.IsFloat():
		return wide.IsFloat() && wide.Size() > d.Size()
	case wide.IsFloat():
		return digits(d) <= mantissa[wide]
	case !wide.IsInt():
		return false
	case d.IsSigned():
		return wide.IsSigned() && wide.Size() > d.Size()
	}
	return wide.Size() > d.Size()
}

// digits returns how many binary digits an integer has besides its sign.
func digits(d array.DType) int {
	if d.IsSigned() {
		return 8*d.Size() - 1
	}
	return 8 * d.Size()
}

var mantissa = map[array.DType]int{array.F16: 11, array.BF16: 8, array.F32: 24, array.F64: 53}
