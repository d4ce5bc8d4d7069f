package ptx

import (
	"math"
	"math/big"
	"sync"
)

// The truth about functions of doubles, in floats of many bits: series of Taylor after a
// reduction, and one step from Go's own value where the inverse function is the easy one.

// wide is how many bits are computed with, enough for what 1 + x and exp(x) - 1 cancel.
const wide = 320

func number(x float64) *big.Float { return new(big.Float).SetPrec(wide).SetFloat64(x) }
func whole(n int64) *big.Float    { return new(big.Float).SetPrec(wide).SetInt64(n) }
func add(x, y *big.Float) *big.Float {
	return new(big.Float).SetPrec(max(x.Prec(), y.Prec())).Add(x, y)
}
func sub(x, y *big.Float) *big.Float {
	return new(big.Float).SetPrec(max(x.Prec(), y.Prec())).Sub(x, y)
}
func mul(x, y *big.Float) *big.Float {
	return new(big.Float).SetPrec(max(x.Prec(), y.Prec())).Mul(x, y)
}
func quo(x, y *big.Float) *big.Float {
	return new(big.Float).SetPrec(max(x.Prec(), y.Prec())).Quo(x, y)
}

// series adds term, and what next makes of it and its number, until terms are small.
func series(term *big.Float, next func(*big.Float, int64) *big.Float) *big.Float {
	s := term
	for n := int64(1); term.Sign() != 0 && term.MantExp(nil) > s.MantExp(nil)-int(s.Prec())-8; n++ {
		term = next(term, n)
		s = add(s, term)
	}
	return s
}

// inverse is atan(1/n) or atanh(1/n) with prec bits.
func inverse(n int64, prec uint, sign int64) *big.Float {
	one := new(big.Float).SetPrec(prec).SetInt64(1)
	power := quo(one, whole(n))
	s, square := power, whole(n*n)
	for k := int64(3); power.MantExp(nil) > -int(prec)-8; k += 2 {
		power = quo(power, square)
		if sign < 0 {
			power.Neg(power)
		}
		s = add(s, quo(power, whole(k)))
	}
	return s
}

// pi by Machin's formula, with bits for the largest doubles; ln 2 is 2 atanh(1/3).
var (
	pi = sync.OnceValue(func() *big.Float {
		return sub(mul(whole(16), inverse(5, 1600, -1)), mul(whole(4), inverse(239, 1600, -1)))
	})
	ln2 = sync.OnceValue(func() *big.Float { return mul(whole(2), inverse(3, wide+32, 1)) })
)

func bigExp(x *big.Float) *big.Float {
	f, _ := x.Float64()
	k := int64(math.Round(f / math.Ln2))
	r := sub(x, mul(whole(k), ln2()))
	const halves = 12
	r.SetMantExp(r, -halves)
	e := series(whole(1), func(t *big.Float, n int64) *big.Float { return quo(mul(t, r), whole(n)) })
	for range halves {
		e = mul(e, e)
	}
	return e.SetMantExp(e, int(k))
}

// bigLog takes one step from the logarithm that Go has, whose error becomes its cube.
func bigLog(x *big.Float) *big.Float {
	m := new(big.Float)
	k := x.MantExp(m)
	f, _ := m.Float64()
	y := number(math.Log(f))
	d, _ := sub(m, whole(1)).Float64()
	if math.Abs(d) < 0.1 {
		y = number(math.Log1p(d))
	}
	for range 2 {
		e := bigExp(y)
		y = add(y, mul(whole(2), quo(sub(m, e), add(m, e))))
	}
	return add(y, mul(whole(int64(k)), ln2()))
}

// bigSinCos reduces by a quarter of a turn.
func bigSinCos(x *big.Float) (sin, cos *big.Float) {
	half := new(big.Float).SetMantExp(pi(), -1)
	q, _ := add(quo(x, half), new(big.Float).SetPrec(1600).SetFloat64(math.Copysign(0.5, float64(x.Sign())))).Int(nil)
	r := new(big.Float).SetPrec(wide).Set(sub(new(big.Float).SetPrec(1600).Set(x), mul(half, new(big.Float).SetPrec(1600).SetInt(q))))
	z := mul(r, r)
	z.Neg(z)
	sin = series(r, func(t *big.Float, n int64) *big.Float { return quo(mul(t, z), whole(2*n*(2*n+1))) })
	cos = series(whole(1), func(t *big.Float, n int64) *big.Float { return quo(mul(t, z), whole(2*n*(2*n-1))) })
	switch new(big.Int).And(q, big.NewInt(3)).Int64() { // of a negative number as of two's complement
	case 1:
		sin, cos = cos, sin.Neg(sin)
	case 2:
		sin.Neg(sin)
		cos.Neg(cos)
	case 3:
		sin, cos = cos.Neg(cos), sin
	}
	return sin, cos
}

func bigTan(x *big.Float) *big.Float {
	s, c := bigSinCos(x)
	return quo(s, c)
}

func bigAtan(x *big.Float) *big.Float {
	f, _ := x.Float64()
	y := number(math.Atan(f))
	t := bigTan(y)
	d := quo(sub(x, t), add(whole(1), mul(x, t)))
	return add(y, sub(d, quo(mul(d, mul(d, d)), whole(3))))
}

func bigTanh(x *big.Float) *big.Float {
	e := bigExp(mul(whole(2), x))
	return quo(sub(e, whole(1)), add(e, whole(1)))
}

func bigErf(x *big.Float) *big.Float {
	z := mul(x, x)
	z.Neg(z)
	power := x
	s := x
	for n := int64(1); power.MantExp(nil) > s.MantExp(nil)-wide; n++ {
		power = quo(mul(power, z), whole(n))
		s = add(s, quo(power, whole(2*n+1)))
	}
	root := new(big.Float).SetPrec(wide).Sqrt(pi())
	return quo(mul(whole(2), s), root)
}

// truths are functions of one argument, wherever their values are finite and not zero.
var truths = map[string]func(*big.Float) *big.Float{
	"exp": bigExp, "expm1": func(x *big.Float) *big.Float { return sub(bigExp(x), whole(1)) },
	"log": bigLog, "log2": func(x *big.Float) *big.Float { return quo(bigLog(x), ln2()) },
	"log1p": func(x *big.Float) *big.Float { return bigLog(add(whole(1), x)) },
	"sin":   func(x *big.Float) *big.Float { s, _ := bigSinCos(x); return s },
	"cos":   func(x *big.Float) *big.Float { _, c := bigSinCos(x); return c },
	"tan":   bigTan, "atan": bigAtan, "tanh": bigTanh, "erf": bigErf,
}
