package kernel

import "math"

// The f32 functions of neural networks, in f64 arithmetic with explicit rounding:
// the result is the same on every architecture and off by at most 0.55 units in
// the last place. Polynomials are Chebyshev fits made with 200 bits.

// expQ is (e**r - 1)/r for |r| <= log(2)/2, within 2.5e-10.
var expQ = [7]float64{
	1, 0x1.00000028b7ad4p-1, 0x1.555555676c1bbp-3, 0x1.5554ac342f261p-5,
	0x1.1110c5ed7d6c9p-7, 0x1.6d75e5bb8107bp-10, 0x1.a152099da25bap-13,
}

// erf0 is erf(x)/x in x*x for |x| <= 1, within 1e-12.
var erf0 = [9]float64{
	0x1.20dd750428cb9p+0, -0x1.812746ade3c08p-2, 0x1.ce2f20a7415c6p-4, -0x1.b82cbae7577a7p-6, 0x1.56588b32275a7p-8,
	-0x1.bfe158a7be278p-11, 0x1.f57e9cee106c1p-14, -0x1.d2b8522d6f7cbp-17, 0x1.1c41ab6eec487p-20,
}

// erf1 is erf(1.5+t) for |t| <= 0.5, within 3e-10.
var erf1 = [10]float64{
	0x1.eea555706f28ap-1, 0x1.e723724ba51f0p-4, -0x1.6d5a935976f50p-3, 0x1.1c2a0f324dd08p-3, -0x1.6d5bdd53cc32ap-5,
	-0x1.e73c6627a6c23p-7, 0x1.3cc2d2a2ecb09p-6, -0x1.34a5dfedd6b5fp-8, -0x1.3adc10176c1cap-9, 0x1.97bc823596cbfp-10,
}

// erf2 is erf(3+t) for |t| <= 1, within 1e-9.
var erf2 = [12]float64{
	0x1.fffd1abd16605p-1, 0x1.2408c5d8ad040p-13, -0x1.b5fd9638396c1p-12, 0x1.9db9cef5e361fp-11, -0x1.11f747c27e1fcp-10,
	0x1.0a6ce64768424p-10, -0x1.8152051503305p-11, 0x1.9a791be7d7775p-12, -0x1.2819a08b5a7a6p-13,
	0x1.9d560ecd0af15p-17, 0x1.7387609aa5473p-16, -0x1.42d2ed12abb10p-17,
}

// vmath32 runs the transcendental operations over f32.
func vmath32(level cpuLevel, op Code, d, a []float32) bool {
	if function32(op) == nil {
		return false
	}
	applyFunction(level, op, d, a)
	return true
}

// function32 returns the f32 code of an operation, nil where there is none.
func function32(op Code) func(float64) float64 {
	switch op {
	case OpExp:
		return exp32
	case OpExpm1:
		return expm132
	case OpLog:
		return log32
	case OpLog1p:
		return log1p32
	case OpLog2:
		return log2of32
	case OpSin:
		return sin32
	case OpCos:
		return cos32
	case OpTan:
		return tan32
	case OpAtan:
		return atan32
	case OpErf:
		return erf32
	case OpTanh:
		return tanh32
	case OpSigmoid:
		return sigmoid32
	case OpRsqrt:
		return rsqrt32
	}
	return nil
}

// twin32 converts a few elements ahead: the processor's conversion waits for the
// last value of its destination register, which would chain the elements to
// each other.
func twin32(f func(float64) float64, d, a []float32) {
	var buf [64]float64
	for lo := 0; lo < len(d); lo += len(buf) {
		src, dst := a[lo:min(lo+len(buf), len(d))], d[lo:min(lo+len(buf), len(d))]
		t := buf[:len(src)]
		for i := range t {
			t[i] = float64(src[i])
		}
		for i := range t {
			t[i] = f(t[i])
		}
		for i := range t {
			dst[i] = float32(t[i])
		}
	}
}

// Bits of f64 numbers, and the sum with which a small number rounds to an
// integer that is then held in the low bits.
const (
	signBit      = 1 << 63
	oneBits      = 0x3ff << 52
	twoTo52Bits  = 0x433 << 52
	sqrtHalfBits = 0x3fe6a09e667f3bcd
	roundMagic   = 0x1.8p52
)

// expSmall is e**x for |x| <= 700, with a relative error below 1e-10.
func expSmall(x float64) float64 {
	z := float64(x*math.Log2E) + roundMagic
	p := 1 + expRest(x-float64((z-roundMagic)*math.Ln2))
	return math.Float64frombits(math.Float64bits(p) + math.Float64bits(z)<<52)
}

// expRest is e**r - 1 for |r| <= log(2)/2.
func expRest(r float64) float64 {
	q := &expQ
	r2 := float64(r * r)
	lo := float64(q[1]*r) + q[0]
	mid := float64(q[3]*r) + q[2]
	hi := float64(float64(q[6]*r2)+float64(q[5]*r)) + q[4]
	return float64(r * (float64(float64(float64(hi*r2)+mid)*r2) + lo))
}

// The functions below take an f32 value and return what rounds to its result.

func exp32(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 89:
		return math.Inf(1)
	case x < -104: // half of the least subnormal is e**-103.97
		return 0
	}
	return expSmall(x)
}

func sigmoid32(x float64) float64 {
	switch {
	case x != x:
		return x
	case x < -104:
		return 0
	case x > 104:
		return 1
	}
	e := expSmall(-math.Abs(x))
	num := 1.0
	if x < 0 {
		num = e
	}
	return num / (1 + e)
}

func tanh32(x float64) float64 {
	t := math.Abs(x)
	switch {
	case t < 1.0/64:
		// The next term of the series is below 2**-40 of the result; -0 stays -0.
		s := float64(x * x)
		return float64(x * (1 + float64(s*(float64(s*(2.0/15))-1.0/3))))
	case t < 10:
		t = 1 - 2/(expSmall(2*t)+1)
	case t >= 10:
		t = 1
	}
	return math.Copysign(t, x)
}

func erf32(x float64) float64 {
	t := math.Abs(x)
	switch {
	case t <= 1:
		return float64(x * horner(erf0[:], float64(x*x)))
	case t <= 2:
		t = horner(erf1[:], t-1.5)
	case t <= 4:
		t = horner(erf2[:], t-3)
	case t > 4:
		t = 1
	}
	return math.Copysign(t, x)
}

func rsqrt32(x float64) float64 { return 1 / math.Sqrt(x) }

// horner evaluates the polynomial with coefficients c, lowest first.
func horner(c []float64, x float64) float64 {
	s := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		s = float64(s*x) + c[i]
	}
	return s
}
