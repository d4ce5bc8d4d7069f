package vmath

import (
	"math"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
)

// Functions of f32 in f64 arithmetic with explicit rounding: the result is the
// same on every architecture and off by at most 0.55 units in the last place.
// Polynomials are Chebyshev fits made with 200 bits.

// expQ is (e**r - 1)/r for |r| <= log(2)/2, within 2.5e-10.
var expQ = [7]float64{
	1, 0x1.00000028b7ad4p-1, 0x1.555555676c1bbp-3, 0x1.5554ac342f261p-5,
	0x1.1110c5ed7d6c9p-7, 0x1.6d75e5bb8107bp-10, 0x1.a152099da25bap-13,
}

// Apply32 runs the transcendental operations over f32.
func Apply32(level cpu.Level, op opcode.Code, d, a []float32) bool {
	if function32(op) == nil && Single32(op) == nil {
		return false
	}
	ApplyFunction(level, op, d, a)
	return true
}

// ApplyTwin computes a function of f32 in Go.
func ApplyTwin(op opcode.Code, d, a []float32) {
	if f := Single32(op); f != nil {
		for i, x := range a[:len(d)] {
			d[i] = f(x)
		}
		return
	}
	twin32(function32(op), d, a)
}

// function32 returns the code of an operation on f32 that computes in f64, nil
// where there is none.
func function32(op opcode.Code) func(float64) float64 {
	switch op {
	case opcode.OpExpm1:
		return Expm132
	case opcode.OpLog1p:
		return Log1p32
	case opcode.OpLog2:
		return Log2of32
	case opcode.OpTan:
		return Tan32
	case opcode.OpAtan:
		return Atan32
	case opcode.OpRsqrt:
		return Rsqrt32
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
	SignBit      = 1 << 63
	oneBits      = 0x3ff << 52
	twoTo52Bits  = 0x433 << 52
	sqrtHalfBits = 0x3fe6a09e667f3bcd
	roundMagic   = 0x1.8p52
)

// ExpSmall is e**x for |x| <= 700, with a relative error below 1e-10.
func ExpSmall(x float64) float64 {
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

// Exp32 takes an f32 value or a difference of two and returns a number that
// rounds to its exponential; softmax and pow use it.
func Exp32(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 89:
		return math.Inf(1)
	case x < -104: // half of the least subnormal is e**-103.97
		return 0
	}
	return ExpSmall(x)
}

// Rsqrt32 is the reciprocal of the square root for an x of f32, in f64.
func Rsqrt32(x float64) float64 { return 1 / math.Sqrt(x) }

// horner evaluates the polynomial with coefficients c, lowest first.
func horner(c []float64, x float64) float64 {
	s := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		s = float64(s*x) + c[i]
	}
	return s
}
