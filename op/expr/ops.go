package expr

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
)

// The operations. Semantics are those of the kernel.Code of the same name; both
// operands of a binary operation have one type.

// Add is x+y.
func (b *Builder) Add(x, y Value) Value { return b.Op(kernel.OpAdd, x, y) }

// Sub is x-y.
func (b *Builder) Sub(x, y Value) Value { return b.Op(kernel.OpSub, x, y) }

// Mul is x*y.
func (b *Builder) Mul(x, y Value) Value { return b.Op(kernel.OpMul, x, y) }

// Div is x/y, truncated for integers.
func (b *Builder) Div(x, y Value) Value { return b.Op(kernel.OpDiv, x, y) }

// FloorDiv is the quotient rounded down.
func (b *Builder) FloorDiv(x, y Value) Value { return b.Op(kernel.OpFloorDiv, x, y) }

// Rem is the remainder with the sign of x (C's fmod).
func (b *Builder) Rem(x, y Value) Value { return b.Op(kernel.OpRem, x, y) }

// Mod is the remainder with the sign of y (Python's %).
func (b *Builder) Mod(x, y Value) Value { return b.Op(kernel.OpMod, x, y) }

// Pow is x to the power y.
func (b *Builder) Pow(x, y Value) Value { return b.Op(kernel.OpPow, x, y) }

// Min is the smaller value; NaN wins.
func (b *Builder) Min(x, y Value) Value { return b.Op(kernel.OpMin, x, y) }

// Max is the larger value; NaN wins.
func (b *Builder) Max(x, y Value) Value { return b.Op(kernel.OpMax, x, y) }

// Neg is -x.
func (b *Builder) Neg(x Value) Value { return b.Op(kernel.OpNeg, x) }

// Abs is |x|.
func (b *Builder) Abs(x Value) Value { return b.Op(kernel.OpAbs, x) }

// Sign is -1, 0 or 1.
func (b *Builder) Sign(x Value) Value { return b.Op(kernel.OpSign, x) }

// Reciprocal is 1/x.
func (b *Builder) Reciprocal(x Value) Value { return b.Op(kernel.OpReciprocal, x) }

// Sqrt is the square root.
func (b *Builder) Sqrt(x Value) Value { return b.Op(kernel.OpSqrt, x) }

// Rsqrt is 1/sqrt(x).
func (b *Builder) Rsqrt(x Value) Value { return b.Op(kernel.OpRsqrt, x) }

// Exp is e**x.
func (b *Builder) Exp(x Value) Value { return b.Op(kernel.OpExp, x) }

// Expm1 is e**x - 1.
func (b *Builder) Expm1(x Value) Value { return b.Op(kernel.OpExpm1, x) }

// Log is the natural logarithm.
func (b *Builder) Log(x Value) Value { return b.Op(kernel.OpLog, x) }

// Log1p is log(1+x).
func (b *Builder) Log1p(x Value) Value { return b.Op(kernel.OpLog1p, x) }

// Log2 is the logarithm to base two.
func (b *Builder) Log2(x Value) Value { return b.Op(kernel.OpLog2, x) }

// Sin is the sine.
func (b *Builder) Sin(x Value) Value { return b.Op(kernel.OpSin, x) }

// Cos is the cosine.
func (b *Builder) Cos(x Value) Value { return b.Op(kernel.OpCos, x) }

// Tan is the tangent.
func (b *Builder) Tan(x Value) Value { return b.Op(kernel.OpTan, x) }

// Atan is the arc tangent.
func (b *Builder) Atan(x Value) Value { return b.Op(kernel.OpAtan, x) }

// Erf is the error function.
func (b *Builder) Erf(x Value) Value { return b.Op(kernel.OpErf, x) }

// Tanh is the hyperbolic tangent.
func (b *Builder) Tanh(x Value) Value { return b.Op(kernel.OpTanh, x) }

// Sigmoid is 1/(1+e**-x).
func (b *Builder) Sigmoid(x Value) Value { return b.Op(kernel.OpSigmoid, x) }

// Floor rounds down.
func (b *Builder) Floor(x Value) Value { return b.Op(kernel.OpFloor, x) }

// Ceil rounds up.
func (b *Builder) Ceil(x Value) Value { return b.Op(kernel.OpCeil, x) }

// Round rounds to nearest, halves to even.
func (b *Builder) Round(x Value) Value { return b.Op(kernel.OpRound, x) }

// Trunc rounds toward zero.
func (b *Builder) Trunc(x Value) Value { return b.Op(kernel.OpTrunc, x) }

// FMA is x*y+z rounded once.
func (b *Builder) FMA(x, y, z Value) Value { return b.Op(kernel.OpFMA, x, y, z) }

// IsNaN is the bool x != x.
func (b *Builder) IsNaN(x Value) Value { return b.Op(kernel.OpIsNaN, x) }

// Eq is the bool x == y.
func (b *Builder) Eq(x, y Value) Value { return b.Op(kernel.OpEq, x, y) }

// Ne is the bool x != y.
func (b *Builder) Ne(x, y Value) Value { return b.Op(kernel.OpNe, x, y) }

// Lt is the bool x < y.
func (b *Builder) Lt(x, y Value) Value { return b.Op(kernel.OpLt, x, y) }

// Le is the bool x <= y.
func (b *Builder) Le(x, y Value) Value { return b.Op(kernel.OpLe, x, y) }

// Gt is the bool x > y.
func (b *Builder) Gt(x, y Value) Value { return b.Op(kernel.OpGt, x, y) }

// Ge is the bool x >= y.
func (b *Builder) Ge(x, y Value) Value { return b.Op(kernel.OpGe, x, y) }

// And is the conjunction, bitwise for integers.
func (b *Builder) And(x, y Value) Value { return b.Op(kernel.OpAnd, x, y) }

// Or is the disjunction, bitwise for integers.
func (b *Builder) Or(x, y Value) Value { return b.Op(kernel.OpOr, x, y) }

// Xor is the exclusive disjunction, bitwise for integers.
func (b *Builder) Xor(x, y Value) Value { return b.Op(kernel.OpXor, x, y) }

// Not is the complement, bitwise for integers.
func (b *Builder) Not(x Value) Value { return b.Op(kernel.OpNot, x) }

// Shl is x << y.
func (b *Builder) Shl(x, y Value) Value { return b.Op(kernel.OpShl, x, y) }

// Shr is x >> y, arithmetic for signed types.
func (b *Builder) Shr(x, y Value) Value { return b.Op(kernel.OpShr, x, y) }

// MulHi is the high half of the product of u32 or u64 values.
func (b *Builder) MulHi(x, y Value) Value { return b.Op(kernel.OpMulHi, x, y) }

// Select is x where cond is true, else y. Both are evaluated.
func (b *Builder) Select(cond, x, y Value) Value { return b.Op(kernel.OpSelect, cond, x, y) }

// Widen returns x as f32 when it is f16 or bf16, else x: the type in which
// formulas of several operations are computed so that they round once, in the
// final Cast back.
func (b *Builder) Widen(x Value) Value {
	if d := x.DType(); d == array.F16 || d == array.BF16 {
		return b.Cast(x, array.F32)
	}
	return x
}
