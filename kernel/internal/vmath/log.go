package vmath

import "math"

// logP is log(1+f)/f for sqrt(1/2) <= 1+f <= sqrt(2), within 2e-11; logQ, for
// powers, which multiply the error by up to 104, within 1.3e-14.
var (
	logP = [13]float64{
		0x1.ffffffffe46f8p-1, -0x1.0000000316962p-1, 0x1.555555f2addd8p-2, -0x1.fffff63d83a30p-3, 0x1.99990376c9a04p-3,
		-0x1.555735b4ac2f0p-3, 0x1.24ad02d454cb9p-3, -0x1.ffd022cb384b9p-4, 0x1.c2cead04c4cb8p-4, -0x1.97635437b23e7p-4,
		0x1.9b8894e04b194p-4, -0x1.9196cbb795019p-4, 0x1.acec8a6e9ee43p-5,
	}
	logQ = [17]float64{
		0x1.fffffffffffecp-1, -0x1.0000000001207p-1, 0x1.5555555563d29p-2, -0x1.fffffff9295f4p-3, 0x1.9999997be3014p-3,
		-0x1.5555584a6a38bp-3, 0x1.2492550d6860fp-3, -0x1.fffee70b4336ap-4, 0x1.c717cab802c92p-4, -0x1.99b2c1a3e0686p-4,
		0x1.74d87e6dff30bp-4, -0x1.545376652841bp-4, 0x1.34407f433c482p-4, -0x1.25e842cc2c6d4p-4, 0x1.3fd79666d763dp-4,
		-0x1.308552cd88743p-4, 0x1.22d63f85c5ab5p-5,
	}
)

// splitLog returns k and f with x = 2**k * (1+f), 1+f in [sqrt(1/2), sqrt(2)), for
// normal positive x.
func splitLog(x float64) (k, f float64) {
	u := math.Float64bits(x) + (oneBits - sqrtHalfBits)
	k = math.Float64frombits(u>>52|twoTo52Bits) - (1<<52 + 1023)
	return k, math.Float64frombits(u&(1<<52-1)+sqrtHalfBits) - 1
}

// logEdge gives the logarithm where it is not of a positive finite number.
func logEdge(x, y float64) float64 {
	switch {
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	case x > 0:
		return y
	}
	return math.NaN()
}

// Log32 is the natural logarithm for an x of f32, in f64.
func Log32(x float64) float64 {
	k, f := splitLog(x)
	return logEdge(x, float64(k*math.Ln2)+float64(f*evenOdd(logP[:], f)))
}

// Log2of32 is the logarithm to base two for an x of f32, in f64.
func Log2of32(x float64) float64 {
	k, f := splitLog(x)
	return logEdge(x, k+float64(float64(f*evenOdd(logP[:], f))*(1/math.Ln2)))
}

// Log1p32 is log(1+x) for an x of f32, in f64.
func Log1p32(x float64) float64 {
	if math.Abs(x) < 1.0/256 {
		// The next term of the series is below 2**-34 of the result; -0 stays -0.
		return x - float64(float64(x*x)*(0.5-float64(x*(1.0/3-float64(x*0.25)))))
	}
	return Log32(1 + x)
}

// Expm132 is exp(x)-1 for an x of f32, in f64.
func Expm132(x float64) float64 {
	switch {
	case x != x, x == 0:
		return x
	case x > 89:
		return math.Inf(1)
	case x < -18: // more than half a unit from -1
		return -1
	}
	z := float64(x*math.Log2E) + roundMagic
	r := x - float64((z-roundMagic)*math.Ln2)
	scale := math.Float64frombits(math.Float64bits(z)<<52 + oneBits)
	return float64(expRest(r)*scale) + (scale - 1)
}

// Pow32 is x**y, correctly rounded except for ties closer than 1e-10 units,
// with the special cases of C's pow.
func Pow32(x, y float64) float64 {
	t := math.Abs(x)
	k, f := splitLog(t)
	log := logEdge(t, float64(k*math.Ln2)+float64(f*evenOdd(logQ[:], f)))
	p := Exp32(float64(y * log))
	if t == 1 && y == y {
		p = 1
	}
	whole := math.RoundToEven(y) == y
	half := float64(y * 0.5)
	if whole && math.RoundToEven(half) != half {
		p = math.Float64frombits(math.Float64bits(p) ^ math.Float64bits(x)&SignBit)
	}
	if x < 0 && !whole && t <= math.MaxFloat64 {
		p = math.NaN()
	}
	if x == 1 || y == 0 {
		p = 1
	}
	return p
}

// evenOdd evaluates a polynomial as two in x*x, whose chains of operations run
// side by side.
func evenOdd(c []float64, x float64) float64 {
	x2 := float64(x * x)
	var part [2]float64
	for i := len(c) - 1; i >= 0; i-- {
		part[i&1] = float64(part[i&1]*x2) + c[i]
	}
	return float64(part[1]*x) + part[0]
}
