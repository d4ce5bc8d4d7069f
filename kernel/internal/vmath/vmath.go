package vmath

import (
	"math"

	"github.com/gofx-dev/gofx/kernel/internal/opcode"
)

// Apply runs a transcendental operation over a block. f32 without code of its own
// (Apply32) goes through f64 and is rounded once, so that the error stays below
// one unit in the last place and the result hardly ever differs between
// architectures; CodeInfo has the bounds.
func Apply[T float32 | float64](op opcode.Code, d, a []T) bool {
	a = a[:len(d)]
	switch op {
	case opcode.OpRsqrt:
		for i := range d {
			d[i] = T(1 / math.Sqrt(float64(a[i])))
		}
	case opcode.OpExp:
		for i := range d {
			d[i] = T(exp64(float64(a[i])))
		}
	case opcode.OpExpm1:
		for i := range d {
			d[i] = T(expm164(float64(a[i])))
		}
	case opcode.OpLog:
		for i := range d {
			d[i] = T(log64(float64(a[i])))
		}
	case opcode.OpLog1p:
		for i := range d {
			d[i] = T(math.Log1p(float64(a[i])))
		}
	case opcode.OpLog2:
		for i := range d {
			d[i] = T(Log2(float64(a[i])))
		}
	case opcode.OpErf:
		for i := range d {
			d[i] = T(math.Erf(float64(a[i])))
		}
	case opcode.OpTanh:
		for i := range d {
			d[i] = T(math.Tanh(float64(a[i])))
		}
	case opcode.OpSigmoid:
		for i := range d {
			d[i] = T(Sigmoid64(float64(a[i])))
		}
	default:
		return trigBlock(op, d, a)
	}
	return true
}

func trigBlock[T float32 | float64](op opcode.Code, d, a []T) bool {
	switch op {
	case opcode.OpSin:
		for i := range d {
			d[i] = T(sin64(float64(a[i])))
		}
	case opcode.OpCos:
		for i := range d {
			d[i] = T(cos64(float64(a[i])))
		}
	case opcode.OpTan:
		for i := range d {
			d[i] = T(tan64(float64(a[i])))
		}
	case opcode.OpAtan:
		for i := range d {
			d[i] = T(math.Atan(float64(a[i])))
		}
	default:
		return false
	}
	return true
}

// Sigmoid64 takes the exponential of a negative number only, so that it neither
// overflows nor loses the small results of large negative arguments.
func Sigmoid64(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

// Log2 keeps its relative accuracy near 1, where math.Log2 subtracts numbers of
// nearly equal size: the exponent is split off so that the rest is in
// [sqrt(1/2), sqrt(2)). Powers of two are exact.
func Log2(x float64) float64 {
	frac, exp := math.Frexp(x)
	if frac < math.Sqrt2/2 {
		frac *= 2
		exp--
	}
	return float64(math.Log(frac)*(1/math.Ln2)) + float64(exp)
}
