package array

import (
	"math"
	"sync"
)

// The narrow types hold values and take part in no arithmetic: they are cast,
// quantised, dequantised and moved. In memory one element is one byte; files pack
// those of 4 and 2 bits.

// Float8E4M3FN is an 8-bit float by its bits: 4 of exponent, 3 of fraction, no
// infinities, NaN of either sign. Open Compute Project, "OFP8", 2023.
type Float8E4M3FN uint8

// Float8E4M3FNUZ has no infinities, no -0 and one NaN, 0x80.
// Noune et al., "8-bit Numerical Formats for Deep Neural Networks", 2022.
type Float8E4M3FNUZ uint8

// Float8E5M2 is an 8-bit float by its bits: 5 of exponent, 2 of fraction, with
// infinities and NaN as in IEEE 754.
type Float8E5M2 uint8

// Float8E5M2FNUZ has no infinities, no -0 and one NaN, 0x80.
type Float8E5M2FNUZ uint8

// Float8E8M0FNU is a power of two by its exponent, less 127: no sign, no zero; 0xff
// is NaN. Open Compute Project, "Microscaling Formats", 2023.
type Float8E8M0FNU uint8

// Float4E2M1FN is a 4-bit float in the low bits of a byte: 0, 0.5, 1, 1.5, 2, 3, 4
// and 6, of either sign; no infinities, no NaN.
type Float4E2M1FN uint8

// Int4 is an integer from -8 to 7, in a byte.
type Int4 int8

// Uint4 is an integer from 0 to 15, in a byte.
type Uint4 uint8

// Int2 is an integer from -2 to 1, in a byte.
type Int2 int8

// Uint2 is an integer from 0 to 3, in a byte.
type Uint2 uint8

// Rounding says how a conversion to a float of 8 bits treats values that the type
// cannot hold. The zero value is that of Cast: it saturates, and rounds to
// f8e8m0fnu up.
type Rounding uint8

// The roundings, of which one direction can be joined with Unsaturated.
const (
	// Unsaturated makes numbers out of range infinite, or NaN where the type has no
	// infinities. Floats of 4 bits saturate always.
	Unsaturated Rounding = 1 << iota
	// RoundDown takes the power of two below. For f8e8m0fnu only, as RoundNearest;
	// the other floats round to nearest, ties to even.
	RoundDown
	// RoundNearest takes the nearer power of two, the upper one of a tie.
	RoundNearest
)

// format describes a narrow float other than f8e8m0fnu.
type format struct {
	fraction  int   // bits of it
	bias      int   // of the exponent
	most      uint8 // the greatest finite number
	inf       uint8 // result for numbers out of range, without saturation
	nan       uint8
	signedNaN bool
	negZero   bool // there is a -0
	sign      uint8
}

var formats = [...]format{
	0:                     {3, 7, 0x7e, 0x7f, 0x7f, true, true, 0x80},
	F8E4M3FNUZ - F8E4M3FN: {3, 8, 0x7f, 0x80, 0x80, false, false, 0x80},
	F8E5M2 - F8E4M3FN:     {2, 15, 0x7b, 0x7c, 0x7e, true, true, 0x80},
	F8E5M2FNUZ - F8E4M3FN: {2, 16, 0x7f, 0x80, 0x80, false, false, 0x80},
	F4E2M1FN - F8E4M3FN:   {1, 1, 0x07, 0x07, 0x08, false, true, 0x08},
}

// NarrowFromFloat64 returns the code of x in a narrow float, rounded once: to
// nearest, ties to even, save for f8e8m0fnu. Where the type has no -0 that is 0; NaN
// in f4e2m1fn is -0. Numbers less than 0 are NaN in f8e8m0fnu. It panics for other types.
//
// Ref: ONNX, operator Cast 25 and its reference implementation, by which infinities
// saturate in all types.
func NarrowFromFloat64(d DType, x float64, r Rounding) uint8 {
	if d == F8E8M0FNU {
		return powerOf(x, r)
	}
	f := formatOf(d)
	bits := math.Float64bits(x)
	sign := uint8(bits>>63) * f.sign
	abs := math.Abs(x)
	switch {
	case x != x && f.signedNaN:
		return f.nan | sign
	case x != x:
		return f.nan
	}
	// Numbers from 2^e on are whole multiples of 2^(e-fraction), which the code counts.
	least := 1 - f.bias
	e := max(int(bits>>52&0x7ff)-1023, least)
	code := uint64(f.most) + 1
	if e <= 16 {
		unit := math.Float64frombits(uint64(1023+f.fraction-e) << 52)
		code = uint64(math.RoundToEven(float64(abs*unit))) + uint64(e-least)<<f.fraction
	}
	switch {
	case code == 0 && !f.negZero:
		return 0
	case code <= uint64(f.most):
		return uint8(code) | sign
	case r&Unsaturated == 0:
		return f.most | sign
	case f.inf == f.nan && !f.signedNaN:
		return f.nan
	}
	return f.inf | sign
}

// powerOf is NarrowFromFloat64 for f8e8m0fnu.
func powerOf(x float64, r Rounding) uint8 {
	const nan, bias = 0xff, 127
	saturates := r&Unsaturated == 0
	switch {
	case x != x || x < 0, !saturates && (x == 0 || math.IsInf(x, 1)):
		return nan
	case x == 0:
		return 0
	case math.IsInf(x, 1):
		return nan - 1
	}
	fraction, e := math.Frexp(x) // from 0.5 to 1
	e--
	switch {
	case r&RoundDown != 0:
	case r&RoundNearest != 0 && fraction >= 0.75, r&RoundNearest == 0 && fraction > 0.5:
		e++
	}
	switch code := e + bias; {
	case code >= 0 && code < nan:
		return uint8(code)
	case !saturates:
		return nan
	case code < 0:
		return 0
	}
	return nan - 1
}

// NarrowFloats returns the values of the 256 codes of a narrow float, exact; types of
// 4 bits look at the low ones of the code. The caller must not change them. It panics
// for other types.
func NarrowFloats(d DType) *[256]float32 {
	if !d.IsNarrowFloat() {
		panic("array: NarrowFloats: element type " + d.String())
	}
	t := &narrowTables[d-F8E4M3FN]
	t.once.Do(func() {
		for code := range t.values {
			t.values[code] = widened(d, uint8(code))
		}
	})
	return &t.values
}

var narrowTables [F4E2M1FN - F8E4M3FN + 1]struct {
	once   sync.Once
	values [256]float32
}

// widened returns the value of a code.
func widened(d DType, code uint8) float32 {
	nan := math.Float32frombits(0x7fc00000)
	if d == F8E8M0FNU {
		if code == 0xff {
			return nan
		}
		return float32(math.Ldexp(1, int(code)-127))
	}
	f := formatOf(d)
	negative := code&f.sign != 0
	abs := code & (f.sign - 1)
	e, fraction := int(abs>>f.fraction), int(abs)&(1<<f.fraction-1)
	var v float64
	switch {
	case !f.signedNaN && d != F4E2M1FN && code == f.nan:
		return nan
	case f.signedNaN && abs > f.most && f.inf != f.nan && abs == f.inf:
		v = math.Inf(1)
	case abs > f.most:
		return math.Float32frombits(math.Float32bits(nan) | uint32(code>>7)<<31)
	case e == 0:
		v = math.Ldexp(float64(fraction), 1-f.bias-f.fraction)
	default:
		v = math.Ldexp(float64(fraction|1<<f.fraction), e-f.bias-f.fraction)
	}
	if negative {
		v = -v
	}
	return float32(v)
}

func formatOf(d DType) *format {
	if !d.IsNarrowFloat() || d == F8E8M0FNU {
		panic("array: no narrow float: " + d.String())
	}
	return &formats[d-F8E4M3FN]
}

// NarrowInt returns the value of a byte in an integer type of 4 or 2 bits; it looks at
// the low bits only, for a byte from elsewhere may have others.
func NarrowInt(d DType, b uint8) int64 {
	shift := 64 - d.Bits()
	if d.IsSigned() {
		return int64(uint64(b)<<shift) >> shift
	}
	return int64(uint64(b) << shift >> shift)
}

// NarrowRange returns the ends of the range of an integer type of 4 or 2 bits.
func NarrowRange(d DType) (lo, hi int64) {
	if d.IsSigned() {
		return -1 << (d.Bits() - 1), 1<<(d.Bits()-1) - 1
	}
	return 0, 1<<d.Bits() - 1
}

// Unpack spreads packed elements of 4 or 2 bits, the first ones in the low bits of a
// byte as in ONNX's files, over a byte each. It panics where src is too short.
func Unpack(d DType, dst, src []byte) {
	bits := d.Bits()
	if bits == 8 {
		copy(dst, src[:len(dst)])
		return
	}
	each := 8 / bits
	for i := range dst {
		b := src[i/each] >> (i % each * bits)
		if d.IsNarrowInt() {
			dst[i] = uint8(NarrowInt(d, b))
		} else {
			dst[i] = b & (1<<bits - 1)
		}
	}
}

// Pack is the inverse of Unpack; the unused bits of the last byte are 0.
func Pack(d DType, dst, src []byte) {
	bits := d.Bits()
	if bits == 8 {
		copy(dst[:len(src)], src)
		return
	}
	each := 8 / bits
	clear(dst[:PackedLen(d, len(src))])
	for i, b := range src {
		dst[i/each] |= b & (1<<bits - 1) << (i % each * bits)
	}
}

// PackedLen returns the bytes that n elements of type d take in files.
func PackedLen(d DType, n int) int {
	bits := d.Bits()
	if bits >= 8 {
		return n * d.Size()
	}
	each := 8 / bits
	return n/each + min(1, n%each)
}
