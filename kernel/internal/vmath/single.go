package vmath

import (
	"math"

	"github.com/gofx-dev/gofx/kernel/internal/opcode"
)

// The functions that networks spend their time in are computed in f32, every
// product and every sum rounded by itself, so that any machine gives the same
// bits. Polynomials are weighted minimax fits whose coefficients were rounded to
// f32 one after the other, the remaining ones fitted again each time.

var (
	// ExpTail is (e**r - 1 - r)/r**2 for |r| <= log(2)/2, within 3.2e-9 of e**r.
	ExpTail = [5]float32{0x1.fffffcp-2, 0x1.555490p-3, 0x1.5558a6p-5, 0x1.123aecp-7, 0x1.6a5a16p-10}
	// logTail is (log(1+f) - f + f**2/2)/f**3 for sqrt(1/2) <= 1+f <= sqrt(2), within
	// 5.9e-9 of log(1+f).
	logTail = [8]float32{
		0x1.555554p-2, -0x1.000228p-2, 0x1.99a022p-3, -0x1.54721ap-3, 0x1.22d87ep-3, -0x1.0d8562p-3, 0x1.0563d2p-3, -0x1.38c5bep-4,
	}
)

const (
	oneBits32 = 0x3f800000
	// RoundMagic32 is the sum with which a number rounds to an integer that is then
	// held in the low bits.
	RoundMagic32     = 0x1.8p23
	roundMagicBits32 = 0x4b400000
	Log2e32          = 0x1.715476p+0
	// Ln2Hi32 has 16 bits: its products with exponents are exact.
	Ln2Hi32, Ln2Lo32 = 0x1.62e4p-1, 0x1.7f7d1cp-20
	// Sixteenths of log(2) go into a number expSteps times. Products of counts of
	// them with expStep, which has 12 bits, are exact; expStepLo is the rest.
	expSteps, expStep, expStepLo = 0x1.715476p+4, 0x1.62ep-5, 0x1.0bfbe8p-19
	// e**r is r + expCubic*r**3 + expSquare*r**2 + 1, within 1.7e-9, for |r| <= log(2)/32.
	expSquare, expCubic = 0x1.000222p-1, 0x1.5556b6p-3
	// Beyond these e**x overflows, and is less than half of the least subnormal.
	expMax32, ExpMin32 = 89, -104
	// tanh is 1 from tanhFar on, erf from erfFar on. The bases are the upper halves
	// of numbers that are the width of an interval below the end of the first one.
	tanhFar, tanhBase, tanhShift = 9, 0x3e50, 6
	erfFar, erfBase, erfShift    = 0x1.ffp+1, 0x3e80, 5
	sqrtHalfBits32               = 0x3f3504f3
	leastNormal32                = 0x1p-126
)

// Single32 returns the f32 code of an operation that has one.
func Single32(op opcode.Code) func(float32) float32 {
	switch op {
	case opcode.OpExp:
		return expSingle
	case opcode.OpLog:
		return LogSingle
	case opcode.OpErf:
		return erfSingle
	case opcode.OpTanh:
		return tanhSingle
	case opcode.OpSigmoid:
		return sigmoidSingle
	case opcode.OpSin:
		return SinSingle
	case opcode.OpCos:
		return CosSingle
	}
	return nil
}

// HornerSingle evaluates the polynomial with coefficients c, lowest first.
func HornerSingle(c []float32, x float32) float32 {
	s := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		s = float32(s*x) + c[i]
	}
	return s
}

// expParts returns head, rest and z with e**x = 2**(k>>4) * (head + rest), where
// head is 2**((k&15)/16) rounded and k is in the low bits of z.
func expParts(x float32) (head, rest, z float32) {
	z = float32(x*expSteps) + RoundMagic32
	k := z - RoundMagic32
	r := (x - float32(k*expStep)) - float32(k*expStepLo)
	q := r + float32((float32(r*expCubic)+expSquare)*float32(r*r))
	j := math.Float32bits(z) % tableWide
	head = expTable[0][j]
	return head, float32(head*q) + expTable[1][j], z
}

// CountIn returns the integer in the low bits of a sum with RoundMagic32.
func CountIn(z float32) int32 { return int32(math.Float32bits(z) - roundMagicBits32) }

// ScaleSingle is p * 2**n, rounded once.
func ScaleSingle(p float32, n int32) float32 {
	h := n >> 1
	p = float32(p * math.Float32frombits(uint32(h)<<23+oneBits32))
	return float32(p * math.Float32frombits(uint32(n-h)<<23+oneBits32))
}

// expSingle is e**x, off by at most 0.77 units in the last place, 0.58 where the
// result is not subnormal.
func expSingle(x float32) float32 {
	if x > expMax32 {
		x = expMax32
	}
	if x < ExpMin32 {
		x = ExpMin32
	}
	head, rest, z := expParts(x)
	return ScaleSingle(head+rest, CountIn(z)>>4)
}

// sigmoidSingle is 1/(1+e**-x), off by at most 2.49 units in the last place: the
// roundings of the exponential, the sum and the quotient. Below -88.7, where the
// exponential overflows, it is zero.
func sigmoidSingle(x float32) float32 { return float32(1 / (1 + expSingle(-x))) }

// tableSingle evaluates a table for an odd function. The index of the interval
// comes of the bits of |x| above those that shift drops.
func tableSingle(table *[tableRows][tableWide]float32, x, far float32, base, shift uint32) float32 {
	t := math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
	m := t
	if m > far {
		m = far
	}
	i := uint32(0)
	if upper := math.Float32bits(m) >> 16; upper > base {
		i = (upper - base) >> shift % tableWide // NaN alone goes beyond
	}
	y := m - table[0][i]
	s := float32(table[7][i]*y) + table[6][i]
	s = float32(s*y) + table[5][i]
	s = float32(s*y) + table[4][i]
	s = float32(s*y) + table[3][i]
	s = float32(s*y) + table[2][i]
	v := table[1][i]
	if i == 0 {
		v = t
	}
	v += float32(s * y)
	return math.Float32frombits(math.Float32bits(v) | math.Float32bits(x)&(1<<31))
}

// tanhSingle is the hyperbolic tangent, off by at most 0.77 units in the last place.
func tanhSingle(x float32) float32 { return tableSingle(&tanhTable, x, tanhFar, tanhBase, tanhShift) }

// erfSingle is the error function, off by at most 0.96 units in the last place.
func erfSingle(x float32) float32 { return tableSingle(&erfTable, x, erfFar, erfBase, erfShift) }

// LogSingle is the natural logarithm, off by at most 0.91 units in the last place.
func LogSingle(x float32) float32 {
	switch {
	case x == 0:
		return NegInf32
	case !(x > 0):
		return float32(math.NaN())
	case x > math.MaxFloat32:
		return x
	}
	bias := float32(-127)
	y := x
	if x < leastNormal32 {
		y, bias = float32(x*(1<<23)), -150
	}
	// y = 2**k * (1+f); the sum of k's part and f is kept together with its rounding error.
	u := math.Float32bits(y) + (oneBits32 - sqrtHalfBits32)
	k := float32(u>>23) + bias
	f := math.Float32frombits(u&(1<<23-1)+sqrtHalfBits32) - 1
	f2 := float32(f * f)
	rest := float32(float32(HornerSingle(logTail[:], f)*f)*f2) - float32(f2*0.5)
	h := float32(k * Ln2Hi32)
	s := h + f
	low := float32(float32(h-s)+f) + float32(k*Ln2Lo32)
	return s + float32(low+rest)
}

var NegInf32 = float32(math.Inf(-1))
