package array

import (
	"math"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
)

// narrowFormat is a narrow float as the papers describe it.
type narrowFormat struct {
	d                        DType
	exp, fraction, bias      int
	nans                     []uint8 // without sign where signed
	inf                      uint8   // 0 for none
	signed, negativeZero     bool
	greatest                 float64
	overflow, negOverflow    uint8 // codes for values that are too large, unsaturated
	infinite, negInfinite    uint8 // of infinities, saturated
	nanCode, negativeNaNCode uint8
}

var narrowFormats = []narrowFormat{
	{F8E4M3FN, 4, 3, 7, []uint8{0x7f, 0xff}, 0, true, true, 448, 0x7f, 0xff, 0x7e, 0xfe, 0x7f, 0xff},
	{F8E4M3FNUZ, 4, 3, 8, []uint8{0x80}, 0, true, false, 240, 0x80, 0x80, 0x7f, 0xff, 0x80, 0x80},
	{F8E5M2, 5, 2, 15, []uint8{0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff}, 0x7c, true, true, 57344, 0x7c, 0xfc, 0x7b, 0xfb, 0x7e, 0xfe},
	{F8E5M2FNUZ, 5, 2, 16, []uint8{0x80}, 0, true, false, 57344, 0x80, 0x80, 0x7f, 0xff, 0x80, 0x80},
	{F4E2M1FN, 2, 1, 1, nil, 0, true, true, 6, 0x07, 0x0f, 0x07, 0x0f, 0x08, 0x08},
}

// value is the value of a code, from the definition.
func (f narrowFormat) value(code uint8) float64 {
	for _, n := range f.nans {
		if code == n {
			return math.NaN()
		}
	}
	width := f.exp + f.fraction
	exp, frac := int(code>>f.fraction)&(1<<f.exp-1), float64(code&(1<<f.fraction-1))
	v := math.Pow(2, float64(1-f.bias)) * frac / float64(int(1)<<f.fraction)
	if exp > 0 {
		v = math.Pow(2, float64(exp-f.bias)) * (1 + frac/float64(int(1)<<f.fraction))
	}
	if f.inf != 0 && code&0x7f == f.inf {
		v = math.Inf(1)
	}
	if code>>width&1 != 0 {
		return math.Copysign(v, -1)
	}
	return v
}

// finite are the values from 0 to the greatest, and the one that would follow.
func (f narrowFormat) finite() (values []float64) {
	for code := 0; ; code++ {
		v := f.value(uint8(code))
		values = append(values, v)
		if v == f.greatest {
			return append(values, 2*v-values[code-1])
		}
	}
}

// round is the code of x by comparison with the middle of two neighbours among values,
// which finite returns.
func (f narrowFormat) round(values []float64, x float64, r Rounding) uint8 {
	negative := math.Signbit(x)
	pick := func(plus, minus uint8) uint8 {
		if negative {
			return minus
		}
		return plus
	}
	if x != x {
		return pick(f.nanCode, f.negativeNaNCode)
	}
	last := len(values) - 2
	abs := math.Abs(x)
	i := sort.SearchFloat64s(values, abs) // the first value that is not less
	if i > 0 && i < len(values) {
		middle := (values[i-1] + values[i]) / 2
		if abs < middle || abs == middle && i%2 == 1 {
			i--
		}
	}
	switch {
	case i <= last && i == 0 && !f.negativeZero:
		return 0
	case i <= last:
		return uint8(i) | pick(0, uint8(1)<<(f.exp+f.fraction))
	case r&Unsaturated == 0 || f.d == F4E2M1FN:
		return pick(f.infinite, f.negInfinite)
	}
	return pick(f.overflow, f.negOverflow)
}

// Every code has the value of its definition, and goes there and back.
func TestNarrowFloatValues(t *testing.T) {
	for _, f := range narrowFormats {
		values := NarrowFloats(f.d)
		greatest := 0.0
		for code := range 1 << (1 + f.exp + f.fraction) {
			v, want := float64(values[code]), f.value(uint8(code))
			require.Truef(t, same(v, want), "%s 0x%02x is %g, expected %g", f.d, code, v, want)
			if v == v && !math.IsInf(v, 0) {
				greatest = max(greatest, v)
			}
			if v == v {
				require.Equal(t, uint8(code), NarrowFromFloat64(f.d, v, Unsaturated), "%s 0x%02x", f.d, code)
			}
		}
		require.Equal(t, f.greatest, greatest, f.d)
	}
	for code, v := range NarrowFloats(F8E8M0FNU) {
		if code == 255 {
			require.True(t, v != v)
			continue
		}
		require.Equal(t, math.Pow(2, float64(code-127)), float64(v))
		require.Equal(t, uint8(code), NarrowFromFloat64(F8E8M0FNU, float64(v), 0))
	}
	for code := range 256 { // the high bits of a 4-bit float are not looked at
		require.Equal(t, NarrowFloats(F4E2M1FN)[code&15], NarrowFloats(F4E2M1FN)[code], "0x%02x", code)
	}
	require.Panics(t, func() { NarrowFloats(F16) })
	require.Panics(t, func() { NarrowFromFloat64(I4, 1, 0) })
}

// narrowInputs are all bit patterns of f16 and bf16, and around each of bf16 those of f32
// that round to it or its neighbours: halves of steps have fewer bits than bf16 has.
func narrowInputs() []*Array {
	var f16 []Half
	var bf16 []BFloat
	var f32 []float32
	for b := range 1 << 16 {
		f16, bf16 = append(f16, Half(b)), append(bf16, BFloat(b))
		for _, low := range []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff} {
			f32 = append(f32, math.Float32frombits(uint32(b)<<16|low))
		}
	}
	return []*Array{FromSlice(f16), FromSlice(bf16), FromSlice(f32)}
}

func TestCastToNarrowFloatsExhaustively(t *testing.T) {
	for _, a := range narrowInputs() {
		x := Data[float64](Cast(a, F64))
		for _, f := range narrowFormats {
			values := f.finite()
			for _, r := range []Rounding{0, Unsaturated} {
				for i, code := range Bytes(CastRounded(a, f.d, r)) {
					if want := f.round(values, x[i], r); code != want {
						t.Fatalf("%s %g to %s, rounding %d: 0x%02x, expected 0x%02x", a.DType(), x[i], f.d, r, code, want)
					}
				}
			}
		}
	}
}

// Powers of two by the tables of ONNX's Cast: up and saturated, and the others.
func TestCastToPowersExhaustively(t *testing.T) {
	powers := make([]float64, 401) // from 2^-200 on
	for i := range powers {
		powers[i] = math.Pow(2, float64(i-200))
	}
	reference := func(x float64, r Rounding) uint8 {
		switch {
		case x != x || x < 0:
			return 255
		case r&Unsaturated != 0 && (x == 0 || math.IsInf(x, 1)):
			return 255
		}
		e := sort.SearchFloat64s(powers, math.Nextafter(x, 1e300)) - 201 // the greatest power that is not greater than x
		low := math.Pow(2, float64(e))
		switch {
		case r&RoundDown != 0:
		case r&RoundNearest != 0 && x-low >= 2*low-x, r&(RoundDown|RoundNearest) == 0 && x > low:
			e++
		}
		if r&Unsaturated != 0 && (e < -127 || e > 127) {
			return 255
		}
		return uint8(min(max(e, -127), 127) + 127)
	}
	for _, a := range narrowInputs()[:2] {
		x := Data[float64](Cast(a, F64))
		for _, way := range []Rounding{0, RoundDown, RoundNearest} {
			for _, r := range []Rounding{way, way | Unsaturated} {
				for i, code := range Bytes(CastRounded(a, F8E8M0FNU, r)) {
					if want := reference(x[i], r); code != want {
						t.Fatalf("%g, rounding %d: %d, expected %d", x[i], r, code, want)
					}
				}
			}
		}
	}
	inf := math.Inf(1)
	for _, c := range []struct {
		x         float64
		saturated uint8
		nearest   uint8 // unsaturated
	}{{0, 0, 255}, {math.NaN(), 255, 255}, {inf, 254, 255}, {0x1p128, 254, 255}, {0x1p-129, 0, 255}, {1, 127, 127}, {1.5, 128, 128}, {1.49, 128, 127}} {
		require.Equal(t, c.saturated, NarrowFromFloat64(F8E8M0FNU, c.x, 0), "%g", c.x)
		require.Equal(t, c.nearest, NarrowFromFloat64(F8E8M0FNU, c.x, RoundNearest|Unsaturated), "%g", c.x)
	}
}

// Wide types are rounded once: f64 and i64 just next to the midpoint of two values.
func TestNarrowFloatsRoundOnce(t *testing.T) {
	middle := 17.0 // of 16 and 18 in f8e4m3fn; 16 is even
	next := math.Nextafter(middle, 18)
	require.Equal(t, float32(middle), float32(next), "f32 cannot tell them apart")
	require.Equal(t, 16., Float64At(Cast(Scalar(middle), F8E4M3FN), 0))
	require.Equal(t, 18., Float64At(Cast(Scalar(next), F8E4M3FN), 0))
	big := int64(1)<<15 + 1<<12 // of 2^15 and 1.25·2^15 in f8e5m2
	require.Equal(t, 32768., Float64At(Cast(Scalar(big), F8E5M2), 0))
	require.Equal(t, 40960., Float64At(Cast(Scalar(big+1), F8E5M2), 0))
	require.Equal(t, 57344., Float64At(Cast(Scalar(uint64(math.MaxUint64)), F8E5M2), 0))
}

func TestNarrowIntegers(t *testing.T) {
	f := FromSlice([]float32{-9, -8.9, -2.9, -1, 0, 0.9, 1.9, 3.9, 7, 8, 16, 1e30, float32(math.NaN())})
	ints := func(a *Array) (list []int64) {
		for i := range a.Len() {
			list = append(list, Int64At(a, i))
		}
		return list
	}
	for d, want := range map[DType][]int64{
		I4: {-8, -8, -2, -1, 0, 0, 1, 3, 7, 7, 7, 7, 0},
		U4: {0, 0, 0, 0, 0, 0, 1, 3, 7, 8, 15, 15, 0},
		I2: {-2, -2, -2, -1, 0, 0, 1, 1, 1, 1, 1, 1, 0},
		U2: {0, 0, 0, 0, 0, 0, 1, 3, 3, 3, 3, 3, 0},
	} {
		require.Equal(t, want, ints(Cast(f, d)), d)
		lo, hi := NarrowRange(d)
		for b := range 256 { // integers wrap, and so do bytes from elsewhere
			want := int64(b) & (hi - lo)
			if want > hi {
				want -= hi - lo + 1
			}
			require.Equal(t, want, NarrowInt(d, uint8(b)))
			require.Equal(t, []int64{want}, ints(Cast(Scalar(int16(b-256)), d)), "%s %d", d, b)
			require.Equal(t, []int64{want}, ints(Cast(Scalar(uint64(b)), d)), "%s %d", d, b)
			odd := Make(d, nil, nil, 0, WrapBytes([]byte{uint8(b)}))
			require.Equal(t, want, Data[int64](Cast(odd, I64))[0])
			require.Equal(t, float64(want), Float64At(odd, 0))
			require.Equal(t, want != 0, Data[bool](Cast(odd, Bool))[0])
		}
	}
}

// Values that two types share survive each way between them.
func TestNarrowCastsAmongAll(t *testing.T) {
	for _, from := range append(NarrowDTypes(), DTypes()...) {
		for _, to := range NarrowDTypes() {
			a := New(from, 3, chunk)
			for i := range a.Len() {
				SetInt64At(a, i, 1)
			}
			c := Cast(Permute(a, 1, 0), to)
			require.Equal(t, to, c.DType())
			for i := range c.Len() {
				if Float64At(c, i) != 1 {
					t.Fatalf("%s to %s: %g", from, to, Float64At(c, i))
				}
			}
			require.Equal(t, 1., Float64At(Cast(c, from), 0))
		}
	}
}

func TestPack(t *testing.T) {
	for _, d := range append(NarrowDTypes(), F32) {
		for n := range 10 {
			if d == F32 {
				require.Equal(t, 4*n, PackedLen(d, n))
				continue
			}
			a := New(d, n)
			for i := range n {
				SetInt64At(a, i, int64(i%2))
			}
			packed := make([]byte, PackedLen(d, n)+1)
			packed[len(packed)-1] = 0xaa
			Pack(d, packed, Bytes(a))
			require.Equal(t, byte(0xaa), packed[len(packed)-1], "the byte after the result changed")
			back := New(d, n)
			Unpack(d, Bytes(back), packed)
			require.True(t, Equal(a, back), "%s %d", d, n)
			require.Len(t, packed, (n*d.Bits()+7)/8+1)
		}
	}
	out := make([]byte, 5)
	Unpack(I4, out, []byte{0x87, 0xa9, 0xfb})
	require.Equal(t, []int8{7, -8, -7, -6, -5}, []int8{int8(out[0]), int8(out[1]), int8(out[2]), int8(out[3]), int8(out[4])})
	Unpack(U2, out, []byte{0b11100100, 0xff})
	require.Equal(t, []byte{0, 1, 2, 3, 3}, out)
	Unpack(I2, out, []byte{0b11100100, 0xff})
	require.Equal(t, []byte{0, 1, 0xfe, 0xff, 0xff}, out)
	Unpack(F4E2M1FN, out[:2], []byte{0xe1})
	require.Equal(t, []byte{1, 0xe}, out[:2])
}

func TestNarrowTypes(t *testing.T) {
	names := ""
	for _, d := range NarrowDTypes() {
		names += d.String() + " "
		back, ok := ParseDType(d.String())
		require.True(t, ok && back == d)
		require.Equal(t, 1, d.Size())
		require.True(t, d.IsNarrow() && d.IsNarrowFloat() != d.IsNarrowInt() && !d.IsFloat() && !d.IsInt())
	}
	require.Equal(t, "f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu f4e2m1fn i4 u4 i2 u2 ", names)
	for _, d := range append(DTypes(), Invalid) {
		require.False(t, d.IsNarrow() || d.IsNarrowFloat() || d.IsNarrowInt())
	}
	require.Equal(t, []DType{F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F4E2M1FN, I4, U4, I2, U2}, []DType{
		DTypeOf[Float8E4M3FN](), DTypeOf[Float8E4M3FNUZ](), DTypeOf[Float8E5M2](), DTypeOf[Float8E5M2FNUZ](), DTypeOf[Float8E8M0FNU](),
		DTypeOf[Float4E2M1FN](), DTypeOf[Int4](), DTypeOf[Uint4](), DTypeOf[Int2](), DTypeOf[Uint2]()})
	require.Equal(t, "tensor([ 0.5000, -6.0000], dtype=f4e2m1fn)", Format(FromSlice([]Float4E2M1FN{1, 15}), 10))
	require.Equal(t, "tensor([nan, inf,  1.], dtype=f8e5m2)", Format(FromSlice([]Float8E5M2{0x7e, 0x7c, 0x3c}), 10))
	require.Equal(t, "tensor([-8,  7], dtype=i4)", Format(FromSlice([]Int4{-8, 7}), 10))
	require.False(t, Equal(New(I4, 2), New(U4, 2)))
	require.Panics(t, func() { Data[uint8](New(U4, 2)) })
}
