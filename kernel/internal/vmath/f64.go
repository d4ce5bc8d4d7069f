package vmath

import (
	"math"
	"math/bits"
)

// Functions of f64 for arguments with which package math is wrong or loses digits
// on some processors: the ends of the range of the exponential, subnormal
// arguments of the logarithm, and angles beyond an eighth of a turn.

const (
	// ln2Top has 42 bits, so that its difference with a number beyond 512 and its
	// product with an exponent are exact; ln2Rest is the rest of log(2).
	ln2Top, ln2Rest = 0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45
	// The assembly of math.Exp overflows from 709.78 on, before the result does.
	expSafe64     = 709
	leastNormal64 = 0x1p-1022
	halfPiTop     = 0x1.921fb54442d18p+0
	halfPiRest    = 0x1.1a62633145c07p-54
	quarterCircle = math.Pi / 4
)

// exp64 is e**x.
func exp64(x float64) float64 {
	switch {
	case x > 710:
		return math.Inf(1)
	case !(x > expSafe64):
		return math.Exp(x)
	}
	e := math.Exp(x - ln2Top)
	return 2 * (e - float64(e*ln2Rest))
}

// expm164 is e**x - 1.
func expm164(x float64) float64 {
	if x > expSafe64 {
		return exp64(x)
	}
	return math.Expm1(x)
}

// log64 is the natural logarithm.
func log64(x float64) float64 {
	if x >= leastNormal64 || !(x > 0) {
		return math.Log(x)
	}
	frac, k := math.Frexp(x)
	return float64(float64(k)*ln2Top) + (math.Log(frac) + float64(float64(k)*ln2Rest))
}

// sin64, cos64 and tan64 take an angle below an eighth of a turn, where package
// math is accurate, and correct its result for the rest of the angle.

func sin64(x float64) float64 {
	if !(math.Abs(x) > quarterCircle) {
		return math.Sin(x)
	}
	n, r, rest := quadrant(math.Abs(x))
	return turned(n, r, rest, math.Signbit(x))
}

func cos64(x float64) float64 {
	if !(math.Abs(x) > quarterCircle) {
		return math.Cos(x)
	}
	n, r, rest := quadrant(math.Abs(x))
	return turned(n+1, r, rest, false)
}

func tan64(x float64) float64 {
	if !(math.Abs(x) > quarterCircle) {
		return smallTan(x)
	}
	n, r, rest := quadrant(math.Abs(x))
	t := smallTan(r)
	t += float64(rest * (1 + float64(t*t)))
	if n&1 != 0 {
		t = -1 / t
	}
	if math.Signbit(x) {
		return -t
	}
	return t
}

// smallTan is the tangent of an angle below an eighth of a turn. math.Tan drops
// the cube already where it counts.
func smallTan(x float64) float64 {
	if math.Abs(x) < 0x1p-16 {
		return x + float64(float64(x*x)*x)/3
	}
	return math.Tan(x)
}

// turned is the sine of n quarter turns and r + rest, negated on request.
func turned(n uint64, r, rest float64, neg bool) (y float64) {
	if n&1 == 0 {
		y = math.Sin(r) + float64(rest*(1-float64(float64(r*r)*0.5)))
	} else {
		y = math.Cos(r) - float64(rest*r)
	}
	if neg != (n&2 != 0) {
		return -y
	}
	return y
}

// twoOverPi is 2/pi after the binary point, following 64 zeros.
var twoOverPi = [21]uint64{0,
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
}

// quadrant returns n modulo 4, r and rest with x = n*pi/2 + r + rest, where r is
// within pi/4 of 0 and rest is the part that rounding r removes, for x >= pi/4. x
// is m*2**e with an integer m: of 2/pi * 2**e, the bits of weights 2 to 2**-190
// decide, since m times those above is a multiple of four. No f64 is closer to a
// multiple of pi/2 than 2**-62 of it, so that 2**-137 bounds the dropped part.
func quadrant(x float64) (n uint64, r, rest float64) {
	if math.IsInf(x, 0) || x != x {
		return 0, math.NaN(), 0
	}
	u := math.Float64bits(x)
	m := u&(1<<52-1) | 1<<52
	at := 64 + int(u>>52) - 1075 - 2 // the position of the bit of weight 2
	w, s := at/64, uint(at%64)
	bitsAt := func(i int) uint64 { return twoOverPi[i]<<s | twoOverPi[i+1]>>(64-s) }
	h1, p0 := bits.Mul64(bitsAt(w+2), m)
	h2, p1 := bits.Mul64(bitsAt(w+1), m)
	p2 := bitsAt(w) * m
	p1, c := bits.Add64(p1, h1, 0)
	p2, _ = bits.Add64(p2, h2, c)

	n = p2 >> 62
	f2, f1, f0 := p2<<2|p1>>62, p1<<2|p0>>62, p0<<2
	neg := f2>>63 != 0
	if neg { // the next quarter turn is nearer
		n++
		f0, c = bits.Sub64(0, f0, 0)
		f1, c = bits.Sub64(0, f1, c)
		f2, _ = bits.Sub64(0, f2, c)
	}
	scale := 1.0
	if f2 == 0 {
		f2, f1, f0, scale = f1, f0, 0, 0x1p-64
	}
	z := uint(bits.LeadingZeros64(f2))
	f2, f1 = f2<<z|f1>>(64-z), f1<<z|f0>>(64-z)
	scale = math.Ldexp(scale, -int(z))
	hi := float64(float64(f2>>11) * (0x1p-53 * scale))
	lo := float64(float64(f2<<53>>1|f1>>12) * (0x1p-116 * scale))
	r = float64(hi * halfPiTop)
	rest = math.FMA(hi, halfPiTop, -r) + float64(float64(hi*halfPiRest)+float64(lo*halfPiTop))
	if neg {
		return n, -r, -rest
	}
	return n, r, rest
}
