package vmath

import "math"

// PowFloat is x**y. math.Pow squares repeatedly, which is exact where powers of
// integers are, but whose error grows with y: it serves small whole exponents and
// the special cases. Everything else is exp(y*log|x|).
func PowFloat[T float32 | float64](x, y T) T {
	a, b := float64(x), float64(y)
	whole := b == math.Trunc(b)
	if a == 0 || a-a != 0 || b-b != 0 || a < 0 && !whole || whole && math.Abs(b) <= 64 || math.Abs(b) == 0.5 {
		return T(math.Pow(a, b))
	}
	r := powPositive(math.Abs(a), b)
	if a < 0 && math.Mod(b, 2) != 0 {
		r = -r
	}
	return T(r)
}

// powPositive multiplies y by a logarithm of some 60 bits held in two numbers, so
// that the product, up to 745, is still good to the last places of its fraction.
func powPositive(x, y float64) float64 {
	hi, lo := logPair(x)
	p := y * hi
	q := math.FMA(y, hi, -p) + float64(y*lo)
	e := exp64(p)
	if e == 0 || math.IsInf(e, 0) {
		return e
	}
	return e + float64(e*q)
}

// logPair returns log(x) for finite x > 0 as an unevaluated sum. With x = m*2**k
// and s = (m-1)/(m+1), log(m) = 2*(s + s**3/3 + s**5/5 + ...); |s| < 0.1716, so
// that only the first term needs more than 53 bits.
func logPair(x float64) (hi, lo float64) {
	const ln2Hi, ln2Lo = 0x1.62e42fefa3800p-1, 0x1.ef35793c76730p-45 // k*ln2Hi is exact
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		k--
	}
	num, den := m-1, m+1 // num is exact
	denLo := (1 - den) + m
	s := num / den
	sLo := float64(math.FMA(-s, den, num)-float64(s*denLo)) / den
	s2 := s * s
	tail := 0.0
	for i := 27.0; i >= 3; i -= 2 {
		tail = float64(tail*s2) + 1/i
	}
	tail *= s2 * s
	a := float64(k) * ln2Hi
	hi = a + 2*s // |a| is 0 or larger than |2*s|: fast two-sum
	lo = (a - hi) + 2*s
	lo += float64(float64(k)*ln2Lo) + float64(2*float64(sLo+tail))
	sum := hi + lo
	return sum, (hi - sum) + lo
}
