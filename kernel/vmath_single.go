package kernel

import "math"

// The functions that networks spend their time in are computed in f32, every
// product and every sum rounded by itself, so that any machine gives the same
// bits. Polynomials are weighted minimax fits whose coefficients were rounded to
// f32 one after the other, the remaining ones fitted again each time.

var (
	// expTail is (e**r - 1 - r)/r**2 for |r| <= log(2)/2, within 3.2e-9 of e**r.
	expTail = [5]float32{0x1.fffffcp-2, 0x1.555490p-3, 0x1.5558a6p-5, 0x1.123aecp-7, 0x1.6a5a16p-10}
	// tanhTail is (tanh(x)/x - 1)/x**2 in x*x for |x| <= 0.8, within 3.8e-9 of tanh(x).
	tanhTail = [6]float32{-0x1.55553ep-2, 0x1.110b58p-3, -0x1.b92b28p-5, 0x1.5d15b6p-6, -0x1.e5e212p-8, 0x1.9fff6ap-10}
	// erfNear is erf(x)/x - 1 in x*x - 1/2 for |x| <= 1, within 1.8e-9 of erf(x).
	erfNear = [7]float32{
		-0x1.1ae14ep-5, -0x1.1fd164p-2, 0x1.454372p-4, -0x1.2b8d9ap-6, 0x1.c81b0cp-9, -0x1.28969ep-11, 0x1.4f2ac0p-14,
	}
	// erfFar is (log2(1-erf(1)) - log2(1-erf(1+y)))/y for y <= 2.95; erf is within 5.2e-9.
	erfFar = [6]float32{0x1.e7530cp+1, 0x1.376578p+0, 0x1.e97780p-5, -0x1.cc6e16p-7, 0x1.438a96p-9, -0x1.d3ff40p-13}
	// logTail is (log(1+f) - f + f**2/2)/f**3 for sqrt(1/2) <= 1+f <= sqrt(2), within
	// 5.9e-9 of log(1+f).
	logTail = [8]float32{
		0x1.555554p-2, -0x1.000228p-2, 0x1.99a022p-3, -0x1.54721ap-3, 0x1.22d87ep-3, -0x1.0d8562p-3, 0x1.0563d2p-3, -0x1.38c5bep-4,
	}
	// exp2Tail is (2**f - 1)/f for |f| <= 1/2, within 3e-9 of 2**f.
	exp2Tail = [6]float32{0x1.62e430p-1, 0x1.ebfbdcp-3, 0x1.c6af7ap-5, 0x1.3b2dd4p-7, 0x1.5f094ap-10, 0x1.417856p-13}
)

const (
	oneBits32 = 0x3f800000
	// roundMagic32 is the sum with which a number rounds to an integer that is then
	// held in the low bits.
	roundMagic32     = 0x1.8p23
	roundMagicBits32 = 0x4b400000
	log2e32          = 0x1.715476p+0
	// ln2Hi32 has 16 bits: its products with exponents are exact.
	ln2Hi32, ln2Lo32 = 0x1.62e4p-1, 0x1.7f7d1cp-20
	// Beyond these e**x overflows, and is less than half of the least subnormal.
	expMax32, expMin32 = 89, -104
	tanhNear, tanhFar  = 0.8, 10
	erfFarMax          = 4
	erfAtOne           = 0x1.558eaep+1 // -log2(1-erf(1))
	sqrtHalfBits32     = 0x3f3504f3
	leastNormal32      = 0x1p-126
)

// single32 returns the f32 code of an operation that has one.
func single32(op Code) func(float32) float32 {
	switch op {
	case OpExp:
		return expSingle
	case OpLog:
		return logSingle
	case OpErf:
		return erfSingle
	case OpTanh:
		return tanhSingle
	case OpSigmoid:
		return sigmoidSingle
	}
	return nil
}

// hornerSingle evaluates the polynomial with coefficients c, lowest first.
func hornerSingle(c []float32, x float32) float32 {
	s := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		s = float32(s*x) + c[i]
	}
	return s
}

// expReduce returns r, m and z with e**x = 2**k * (1 + r + m), where k is in the
// low bits of z: m has what follows r in the series and what rounding r lost.
func expReduce(x float32) (r, m, z float32) {
	z = float32(x*log2e32) + roundMagic32
	k := z - roundMagic32
	r0 := x - float32(k*ln2Hi32)
	c := float32(k * ln2Lo32)
	r = r0 - c
	lost := float32(r0-r) - c
	return r, float32(float32(hornerSingle(expTail[:], r)*r)*r) + lost, z
}

// scaleSingle is p * 2**k, rounded once, for the k in the low bits of z.
func scaleSingle(p, z float32) float32 {
	k := int32(math.Float32bits(z) - roundMagicBits32)
	h := k >> 1
	p = float32(p * math.Float32frombits(uint32(h)<<23+oneBits32))
	return float32(p * math.Float32frombits(uint32(k-h)<<23+oneBits32))
}

// expSingle is e**x, off by at most 0.79 units in the last place, 0.54 where the
// result is not subnormal.
func expSingle(x float32) float32 {
	if x > expMax32 {
		x = expMax32
	}
	if x < expMin32 {
		x = expMin32
	}
	r, m, z := expReduce(x)
	u := 1 + r
	return scaleSingle(u+float32(float32(float32(1-u)+r)+m), z)
}

// sigmoidSingle is 1/(1+e**-x), off by at most 1.18 units in the last place. It
// takes e = e**-|x| and divides e or 1 by 1+e; what rounding the two lost then
// corrects the quotient.
func sigmoidSingle(x float32) float32 {
	t := math.Float32frombits(math.Float32bits(x) | 1<<31)
	if t < expMin32 {
		t = expMin32
	}
	r, m, z := expReduce(t)
	u := 1 + r
	rest := float32(float32(1-u)+r) + m
	p := u + rest
	lost := float32(float32(float32(u-p)+rest) * float32(1-r)) // of e, in parts of e
	e := scaleSingle(p, z)
	d := 1 + e
	below := float32(float32(1-d)+e) + float32(e*lost) // of d
	n := float32(1)
	if x < 0 {
		n = e
	}
	q := float32(n / d)
	if x < 0 {
		return q + float32(q*float32(lost-float32(below*float32(1-q))))
	}
	return q + float32(q*float32(0-float32(below*q)))
}

// tanhSingle is the hyperbolic tangent, off by at most 0.99 units in the last place.
func tanhSingle(x float32) float32 {
	t := math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
	if t < tanhNear {
		s := float32(t * t)
		v := t + float32(float32(t*s)*hornerSingle(tanhTail[:], s))
		return math.Float32frombits(math.Float32bits(v) | math.Float32bits(x)&(1<<31))
	}
	if t > tanhFar {
		t = tanhFar
	}
	// 1 - 2/(e**2t + 1); the sum comes divided by 2**k.
	r, m, z := expReduce(t + t)
	w := math.Float32frombits(oneBits32 - math.Float32bits(z)<<23)
	d := 1 + w
	u := d + r
	v := 1 - float32(float32(w+w)/float32(u+float32(float32(float32(d-u)+r)+m)))
	return math.Float32frombits(math.Float32bits(v) | math.Float32bits(x)&(1<<31))
}

// erfSingle is the error function, off by at most 0.94 units in the last place.
func erfSingle(x float32) float32 {
	t := math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
	if t < 1 {
		return x + float32(x*hornerSingle(erfNear[:], float32(x*x)-0.5))
	}
	if t > erfFarMax {
		t = erfFarMax
	}
	// 1 - 2**-(g + erfAtOne); the fraction of the sum is exact but for g's rounding,
	// which is small where the power is large.
	y := t - 1
	g := float32(hornerSingle(erfFar[:], y) * y)
	z := roundMagic32 - float32(g+erfAtOne)
	f := float32(-erfAtOne-float32(z-roundMagic32)) - g
	p := float32(hornerSingle(exp2Tail[:], f)*f) + 1
	v := 1 - float32(p*math.Float32frombits(math.Float32bits(z)<<23+oneBits32))
	return math.Float32frombits(math.Float32bits(v) | math.Float32bits(x)&(1<<31))
}

// logSingle is the natural logarithm, off by at most 0.91 units in the last place.
func logSingle(x float32) float32 {
	switch {
	case x == 0:
		return negInf32
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
	// y = 2**k * (1+f); the sum of k's part and f is kept with what rounding it lost.
	u := math.Float32bits(y) + (oneBits32 - sqrtHalfBits32)
	k := float32(u>>23) + bias
	f := math.Float32frombits(u&(1<<23-1)+sqrtHalfBits32) - 1
	f2 := float32(f * f)
	rest := float32(float32(hornerSingle(logTail[:], f)*f)*f2) - float32(f2*0.5)
	h := float32(k * ln2Hi32)
	s := h + f
	low := float32(float32(h-s)+f) + float32(k*ln2Lo32)
	return s + float32(low+rest)
}
