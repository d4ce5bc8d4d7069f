package array

import "math"

// HalfFromFloat32 rounds f to binary16, to nearest, ties to even. Magnitudes
// from 65520 become infinite; NaN stays NaN, made quiet, with the upper bits of
// its payload.
func HalfFromFloat32(f float32) Half {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	abs := b & 0x7fffffff
	switch {
	case abs > 0x7f800000:
		return Half(sign | 0x7e00 | uint16(abs>>13&0x3ff))
	case abs >= 0x477ff000: // 65520, half way between the largest half and the next
		return Half(sign | 0x7c00)
	case abs >= 0x38800000: // 2^-14, the least normal half
		abs += 0xfff + abs>>13&1
		return Half(sign | uint16((abs-0x38000000)>>13))
	case abs < 0x33000000: // below 2^-25, half of the least subnormal half
		return Half(sign)
	}
	// A subnormal half counts units of 2^-24: shift the significand there.
	shift := 126 - abs>>23
	m := abs&0x7fffff | 0x800000
	q, rest, half := m>>shift, m&(1<<shift-1), uint32(1)<<(shift-1)
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	return Half(sign | uint16(q))
}

// Float32 returns the value, exactly.
func (h Half) Float32() float32 {
	sign := uint32(h&0x8000) << 16
	exp, frac := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exp {
	case 0: // units of 2^-24; the product is exact
		f := float32(frac) * 0x1p-24
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// HalfFromFloat64 rounds f to binary16 once, to nearest, ties to even.
func HalfFromFloat64(f float64) Half { return HalfFromFloat32(roundToOdd(f)) }

// BFloatFromFloat32 rounds f to bfloat16, to nearest, ties to even. NaN stays
// NaN, made quiet, with the upper bits of its payload.
func BFloatFromFloat32(f float32) BFloat {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return BFloat(b>>16 | 0x40)
	}
	return BFloat((b + 0x7fff + b>>16&1) >> 16)
}

// Float32 returns the value, exactly.
func (b BFloat) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// BFloatFromFloat64 rounds f to bfloat16 once, to nearest, ties to even.
func BFloatFromFloat64(f float64) BFloat { return BFloatFromFloat32(roundToOdd(f)) }

// roundToOdd returns f if f is a float32, otherwise the neighbouring float32
// whose last bit is set. Rounding the result to 16 bits equals rounding f once,
// whereas rounding to nearest twice could be off by one unit (Boldo and
// Melquiond, "When double rounding is odd", 2005).
func roundToOdd(f float64) float32 {
	g := float32(f)
	if float64(g) == f || f != f || math.Float32bits(g)&1 == 1 {
		return g
	}
	// g was rounded to an even neighbour: the odd one is on the other side of f.
	b := math.Float32bits(g)
	if math.Abs(float64(g)) > math.Abs(f) {
		b--
	} else {
		b++
	}
	return math.Float32frombits(b)
}
