package std

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
)

// Inverses of sine and cosine, by the arc tangent, and hyperbolic functions, by
// exponentials and logarithms. The forms keep their precision where a sum of two
// exponentials or a difference of squares would cancel, and are finite as long as the
// result is.
var (
	Asin = function("asin", "asin is the arc sine in radians, NaN beyond [-1, 1].", func(b *expr.Builder, x expr.Value) expr.Value {
		one := b.Like(x, 1)
		return b.Atan(b.Div(x, b.Sqrt(b.Mul(b.Sub(one, x), b.Add(one, x)))))
	}, func(b *expr.Builder, x expr.Value) expr.Value { return b.Rsqrt(lessSquare(b, x)) })
	Acos = function("acos", "acos is the arc cosine in radians, NaN beyond [-1, 1].", func(b *expr.Builder, x expr.Value) expr.Value {
		one := b.Like(x, 1)
		return b.Mul(b.Like(x, 2), b.Atan(b.Sqrt(b.Div(b.Sub(one, x), b.Add(one, x)))))
	}, func(b *expr.Builder, x expr.Value) expr.Value { return b.Neg(b.Rsqrt(lessSquare(b, x))) })
	Sinh = function("sinh", "sinh is the hyperbolic sine.", func(b *expr.Builder, x expr.Value) expr.Value {
		return odd(b, x, func(a expr.Value) expr.Value {
			e, half := b.Expm1(a), b.Like(x, 0.5)
			small := b.Mul(half, b.Add(e, b.Div(e, b.Add(e, b.Like(x, 1)))))
			return b.Select(b.Lt(a, b.Like(x, manyExponents)), small, halfExp(b, a))
		})
	})
	Cosh = function("cosh", "cosh is the hyperbolic cosine.", func(b *expr.Builder, x expr.Value) expr.Value {
		a, half := b.Abs(x), b.Like(x, 0.5)
		e := b.Exp(a)
		small := b.Add(b.Mul(half, e), b.Div(half, e))
		return b.Select(b.Lt(a, b.Like(x, manyExponents)), small, halfExp(b, a))
	})
	Asinh = function("asinh", "asinh is the inverse of sinh.", func(b *expr.Builder, x expr.Value) expr.Value {
		return odd(b, x, func(a expr.Value) expr.Value {
			one, s := b.Like(x, 1), b.Mul(a, a)
			small := b.Log1p(b.Add(a, b.Div(s, b.Add(one, b.Sqrt(b.Add(s, one))))))
			return b.Select(b.Lt(a, b.Like(x, 1/negligible)), small, logTwice(b, a))
		})
	})
	Acosh = defineUnary("acosh", unary[op.None]{
		doc: "acosh is the inverse of cosh that is not negative, NaN below 1.", on: onFloatMath, inPlace: true,
		differs: []op.Difference[op.None]{departs[op.None](op.GradAlters, "that below 1, where the result is NaN, is NaN; PyTorch has numbers below -1", func(in []*array.Array) bool {
			for i := range in[0].Len() {
				if array.Float64At(in[0], i) <= -1 {
					return true
				}
			}
			return false
		})},
		f: plain(func(b *expr.Builder, x expr.Value) expr.Value {
			one := b.Like(x, 1)
			t := b.Sub(x, one)
			small := b.Log1p(b.Add(t, b.Sqrt(b.Mul(t, b.Add(t, b.Like(x, 2))))))
			y := b.Select(b.Lt(x, b.Like(x, 1/negligible)), small, logTwice(b, x))
			return b.Select(b.Lt(x, one), b.Like(x, math.NaN()), y)
		}),
		deriv: plain(func(b *expr.Builder, x expr.Value) expr.Value {
			one := b.Like(x, 1)
			y := b.Mul(b.Rsqrt(b.Sub(x, one)), b.Rsqrt(b.Add(x, one)))
			return b.Select(b.Lt(x, one), b.Like(x, math.NaN()), y)
		})})
	Atanh = function("atanh", "atanh is the inverse of tanh, NaN beyond [-1, 1].", func(b *expr.Builder, x expr.Value) expr.Value {
		return odd(b, x, func(a expr.Value) expr.Value {
			return b.Mul(b.Like(x, 0.5), b.Log1p(b.Div(b.Add(a, a), b.Sub(b.Like(x, 1), a))))
		})
	}, func(b *expr.Builder, x expr.Value) expr.Value { return b.Reciprocal(lessSquare(b, x)) })
)

// lessSquare is 1 - x*x, without cancellation.
func lessSquare(b *expr.Builder, x expr.Value) expr.Value {
	one := b.Like(x, 1)
	return b.Mul(b.Sub(one, x), b.Add(one, x))
}

const (
	// negligible is a number whose square is lost when added to 1 in f64.
	negligible = 0x1p-28
	// manyExponents is an argument the exponential of which is finite in f32, and
	// makes that of its opposite negligible in f64.
	manyExponents = 64
)

// odd is f of |x| with the sign of x, for an f that is x near 0.
func odd(b *expr.Builder, x expr.Value, f func(a expr.Value) expr.Value) expr.Value {
	a := b.Abs(x)
	y := f(a)
	y = b.Select(b.Lt(x, b.Like(x, 0)), b.Neg(y), y)
	return b.Select(b.Lt(a, b.Like(x, negligible)), x, y)
}

// halfExp is exp(a)/2, which is finite somewhat longer than exp(a) is.
func halfExp(b *expr.Builder, a expr.Value) expr.Value {
	e := b.Exp(b.Mul(b.Like(a, 0.5), a))
	return b.Mul(b.Mul(b.Like(a, 0.5), e), e)
}

// logTwice is log(2a), which is finite where 2a is not.
func logTwice(b *expr.Builder, a expr.Value) expr.Value {
	return b.Add(b.Log(a), b.Like(a, math.Ln2))
}
