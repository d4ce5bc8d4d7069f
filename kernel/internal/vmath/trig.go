package vmath

import "math"

const (
	// From trigLarge32 on sine and cosine of f32 compute in f64.
	trigLarge32, trigLargeBits32 = 1 << 17, 0x48000000
	twoOverPi32                  = 0x1.45f306p-1
	halfPi32                     = 0x1.921fb4p+0 // below pi/2 by the two others
	halfPiMid32                  = 0x1.4442d2p-24
	halfPiLast32                 = -0x1.ee59dap-50
	// sin(r) is ((sin7*r**2 + sin5)*r**2 + sin3)*r**3 + r, and cos(r) is
	// ((cos8*r**2 + cos6)*r**2 + cos4)*r**4 - r**2/2 + 1, within 0.07 units in the
	// last place for |r| <= pi/4.
	sin3, sin5, sin7 = -0x1.555546p-3, 0x1.11077ap-7, -0x1.995016p-13
	cos4, cos6, cos8 = 0x1.55554ap-5, -0x1.6c0c16p-10, 0x1.99deecp-16
)

// SinSingle is the sine, off by at most 0.92 units in the last place.
func SinSingle(x float32) float32 {
	v, large := quarterSingle(x, 0)
	if large {
		return float32(Sin32(float64(x)))
	}
	return math.Float32frombits(math.Float32bits(v) ^ math.Float32bits(x)&(1<<31))
}

// CosSingle is the cosine, off by at most 0.91 units in the last place.
func CosSingle(x float32) float32 {
	v, large := quarterSingle(x, 1)
	if large {
		return float32(Cos32(float64(x)))
	}
	return v
}

// quarterSingle is sin(|x| + ahead*pi/2), or says that x is large.
func quarterSingle(x float32, ahead uint32) (v float32, large bool) {
	t := math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
	if !(t < trigLarge32) {
		return 0, true
	}
	// t = k*pi/2 + r + low. The two sums in f64 are exact before they round, so
	// that fused operations of f32 give the same; the rounding error of r is exact
	// too.
	z := float32(t*twoOverPi32) + RoundMagic32
	k := z - RoundMagic32
	a := float32(float64(t) - float64(float64(k)*halfPi32))
	m := float32(k * halfPiMid32)
	mRest := float32(float64(float64(k)*halfPiMid32) - float64(m))
	r := a - m
	low := (((a - r) - m) - mRest) - float32(k*halfPiLast32)
	n := math.Float32bits(z) + ahead
	y := float32(r * r)
	if n&1 == 0 {
		p := float32((float32((float32(y*sin7)+sin5)*y)+sin3)*float32(y*r)) + low
		v = r + p
	} else {
		h := float32(y * 0.5)
		w := 1 - h
		rest := ((1 - w) - h) - float32(r*low)
		p := float32((float32((float32(y*cos8)+cos6)*y)+cos4)*float32(y*y)) + rest
		v = w + p
	}
	return math.Float32frombits(math.Float32bits(v) ^ n>>1<<31), false
}

// sinP is sin(r)/r in r*r for |r| <= pi/4, within 5e-12; cosP is cos(r), within 8e-14.
var (
	sinP = [5]float64{
		0x1.fffffffff679cp-1, -0x1.555555494598bp-3, 0x1.11110749b33f3p-7, -0x1.a00ee6c400e9cp-13, 0x1.6cb7064fa68a0p-19,
	}
	cosP = [6]float64{
		0x1.ffffffffffe0bp-1, -0x1.ffffffffe36efp-2, 0x1.5555554472cfap-5, -0x1.6c16b2d1a9e50p-10, 0x1.a00e955bbe076p-16,
		-0x1.23c58ba448ef7p-22,
	}
)

// atanP is atan(t)/t in t*t for |t| <= 1, within 2e-11.
var atanP = [13]float64{
	0x1.ffffffffe73c2p-1, -0x1.55555513c30a5p-2, 0x1.99997c85fb1a4p-3, -0x1.248fb9403e0cfp-3, 0x1.c6df94c4732acp-4,
	-0x1.72a7852a1bb8cp-4, 0x1.330185be386aep-4, -0x1.ed569cab9c1b6p-5, 0x1.658d8847a48c6p-5, -0x1.aa150d8e51b33p-6,
	0x1.7675ef99379b4p-7, -0x1.a2d4adcfc1d68p-9, 0x1.b7979f2e1b044p-12,
}

// turnBits are the bits of 1/(2*pi) after the binary point, with three zeros before them.
var turnBits = [4]uint64{0x0517cc1b727220a9, 0x4fe13abe8fa9a6ee, 0x06db14acc9e21c82, 0x0ff28b1d5ef5de2b}

const (
	// trigLarge is the argument from which the product with two thirds of a
	// hundred bits of pi/2 would no longer be exact.
	trigLarge = 1 << 20
	// halfPiHi has 32 bits, so that its products with counts below 2**20 are exact.
	halfPiHi, halfPiLo = 0x1.921fb54400000p+0, 0x1.0b4611a626331p-34
	turnUnit           = 0x1.921fb54442d18p-62 // 2*pi/2**64
)

// quarters returns r and n, whose low two bits count, with t = n*pi/2 + r and
// |r| <= pi/4, for t >= 0 that an f32 holds.
func quarters(t float64) (r float64, n uint64) {
	if !(t >= trigLarge) {
		z := float64(t*(2/math.Pi)) + roundMagic
		k := z - roundMagic
		return (t - float64(k*halfPiHi)) - float64(k*halfPiLo), math.Float64bits(z)
	}
	// Payne and Hanek: of the product with 1/(2*pi) only the fraction matters, so
	// only 96 bits of the factor do.
	bits := math.Float64bits(t)
	m := bits>>29&0xffffff | 0x800000
	s := bits>>52 - 1043
	w0, w1, w2 := turnBits[0], turnBits[1], turnBits[2]
	if s&64 != 0 {
		w0, w1, w2 = turnBits[1], turnBits[2], turnBits[3]
	}
	s &= 63
	turn := m*(w0<<s|w1>>(64-s)) + m*((w1<<s|w2>>(64-s))>>32)>>32
	n = (turn + 1<<61) >> 62
	return float64(float64(int64(turn-n<<62)) * turnUnit), n
}

// sinCos returns the sine and the cosine of r.
func sinCos(r float64) (sin, cos float64) {
	s := float64(r * r)
	return float64(r * horner(sinP[:], s)), horner(cosP[:], s)
}

// Sin32 is the sine for an x of f32, in f64.
func Sin32(x float64) float64 {
	if x-x != 0 {
		return math.NaN()
	}
	r, n := quarters(math.Abs(x))
	s, c := sinCos(r)
	if n&1 != 0 {
		s = c
	}
	return math.Float64frombits(math.Float64bits(s) ^ n>>1<<63 ^ math.Float64bits(x)&SignBit)
}

// Cos32 is the cosine for an x of f32, in f64.
func Cos32(x float64) float64 {
	if x-x != 0 {
		return math.NaN()
	}
	r, n := quarters(math.Abs(x))
	s, c := sinCos(r)
	if n&1 != 0 {
		c = s
	}
	return math.Float64frombits(math.Float64bits(c) ^ (n+1)>>1<<63)
}

// Tan32 is the tangent for an x of f32, in f64.
func Tan32(x float64) float64 {
	if x-x != 0 {
		return math.NaN()
	}
	r, n := quarters(math.Abs(x))
	s, c := sinCos(r)
	if n&1 != 0 {
		s, c = c, s
	}
	return math.Float64frombits(math.Float64bits(s/c) ^ n<<63 ^ math.Float64bits(x)&SignBit)
}

// Atan32 is the arc tangent for an x of f32, in f64.
func Atan32(x float64) float64 {
	t := math.Abs(x)
	u := t
	if t > 1 {
		u = 1 / t
	}
	p := float64(u * horner(atanP[:], float64(u*u)))
	if t > 1 {
		p = math.Pi/2 - p
	}
	return math.Copysign(p, x)
}
