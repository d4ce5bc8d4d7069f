package array

import "unsafe"

// Cast returns a's elements converted to d, contiguous in a storage of its own
// also when d is a's type. The rules are the same on every architecture:
//
//   - float to integer truncates towards zero, saturates at the ends of the
//     integer's range, and makes NaN 0;
//   - integer to integer keeps the low bits (two's complement wrap-around);
//   - anything to bool is "not equal to 0", so NaN is true; bool to anything is 0 or 1;
//   - to a float type rounds once, to nearest, ties to even; overflow gives infinity,
//     in floats of 8 and 4 bits the greatest number, see NarrowFromFloat64.
func Cast(a *Array, d DType) *Array { return CastRounded(a, d, 0) }

// CastRounded is Cast with another rounding to floats of 8 bits.
func CastRounded(a *Array, d DType, r Rounding) *Array {
	if d == a.dtype {
		return Clone(a)
	}
	out := New(d, a.shape...)
	if out.Len() == 0 {
		return out
	}
	src := Contiguous(a)
	if d.IsNarrow() || a.dtype.IsNarrow() {
		castNarrow(out, src, r)
	} else {
		castWide(out, src)
	}
	return out
}

// castWide converts contiguous arrays of types that are computed in.
func castWide(out, src *Array) {
	switch src.dtype {
	case F32:
		castFloat(Data[float32](src), out, 0)
	case F64:
		castFloat(Data[float64](src), out, 0)
	case F16:
		castSmall(Data[Half](src), out, Half.Float32)
	case BF16:
		castSmall(Data[BFloat](src), out, BFloat.Float32)
	case I8:
		castInt(Data[int8](src), out, 0)
	case U8:
		castInt(Data[uint8](src), out, 0)
	case I16:
		castInt(Data[int16](src), out, 0)
	case U16:
		castInt(Data[uint16](src), out, 0)
	case I32:
		castInt(Data[int32](src), out, 0)
	case U32:
		castInt(Data[uint32](src), out, 0)
	case I64:
		castInt(Data[int64](src), out, 0)
	case U64:
		castInt(Data[uint64](src), out, 0)
	case Bool:
		castBool(Bytes(src), out)
	default:
		panic("array: Cast: element type " + src.dtype.String())
	}
}

type integer interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64
}

type float interface{ float32 | float64 }

// chunk is the number of elements that sources without Go arithmetic are
// widened by at a time.
const chunk = 512

func castSmall[S Half | BFloat](s []S, out *Array, wide func(S) float32) {
	var buf [chunk]float32
	for at := 0; at < len(s); at += chunk {
		part := s[at:min(at+chunk, len(s))]
		for i, v := range part {
			buf[i] = wide(v)
		}
		castFloat(buf[:len(part)], out, at)
	}
}

// castBool reads bytes, since a byte from a file may be neither 0 nor 1.
func castBool(s []byte, out *Array) {
	var buf [chunk]uint8
	for at := 0; at < len(s); at += chunk {
		part := s[at:min(at+chunk, len(s))]
		for i, v := range part {
			buf[i] = min(v, 1)
		}
		castInt(buf[:len(part)], out, at)
	}
}

// castFloat converts s into out's elements from at on.
func castFloat[S float](s []S, out *Array, at int) {
	switch out.dtype {
	case I8:
		saturate(s, Data[int8](out)[at:])
	case U8:
		saturate(s, Data[uint8](out)[at:])
	case I16:
		saturate(s, Data[int16](out)[at:])
	case U16:
		saturate(s, Data[uint16](out)[at:])
	case I32:
		saturate(s, Data[int32](out)[at:])
	case U32:
		saturate(s, Data[uint32](out)[at:])
	case I64:
		saturate(s, Data[int64](out)[at:])
	case U64:
		saturate(s, Data[uint64](out)[at:])
	default:
		castReal(s, out, at, func(v S) float64 { return float64(v) })
	}
}

// castInt converts s into out's elements from at on.
func castInt[S integer](s []S, out *Array, at int) {
	switch out.dtype {
	case I8:
		convert(s, Data[int8](out)[at:])
	case U8:
		convert(s, Data[uint8](out)[at:])
	case I16:
		convert(s, Data[int16](out)[at:])
	case U16:
		convert(s, Data[uint16](out)[at:])
	case I32:
		convert(s, Data[int32](out)[at:])
	case U32:
		convert(s, Data[uint32](out)[at:])
	case I64:
		convert(s, Data[int64](out)[at:])
	case U64:
		convert(s, Data[uint64](out)[at:])
	default:
		castReal(s, out, at, OddFloat64[S])
	}
}

// castReal converts s where out holds no integers. wide is the source of rounded halves.
func castReal[S integer | float](s []S, out *Array, at int, wide func(S) float64) {
	switch out.dtype {
	case F32:
		convert(s, Data[float32](out)[at:])
	case F64:
		convert(s, Data[float64](out)[at:])
	case F16:
		for i, d := 0, Data[Half](out)[at:]; i < len(s); i++ {
			d[i] = HalfFromFloat64(wide(s[i]))
		}
	case BF16:
		for i, d := 0, Data[BFloat](out)[at:]; i < len(s); i++ {
			d[i] = BFloatFromFloat64(wide(s[i]))
		}
	case Bool:
		truth(s, Data[bool](out)[at:])
	default:
		panic("array: Cast: element type " + out.dtype.String())
	}
}

// convert is for the conversions whose result Go defines and that follow the rules.
func convert[S, D integer | float](s []S, d []D) {
	for i, v := range s {
		d[i] = D(v)
	}
}

func truth[S integer | float](s []S, d []bool) {
	for i, v := range s {
		d[i] = v != 0
	}
}

func saturate[S float, D integer](s []S, d []D) {
	lo, hi := limits[D]()
	if uint64(hi) == 1<<64-1 {
		for i, v := range s {
			d[i] = D(UintFromFloat64(float64(v)))
		}
		return
	}
	least, most := int64(lo), int64(hi)
	for i, v := range s {
		d[i] = D(min(max(IntFromFloat64(float64(v)), least), most))
	}
}

// IntFromFloat64 truncates x as Cast does. Ranges that are smaller than int64's are
// for the caller to saturate to.
func IntFromFloat64(x float64) int64 {
	switch {
	case -0x1p63 < x && x < 0x1p63:
		return int64(x)
	case x > 0:
		return 1<<63 - 1
	case x < 0:
		return -1 << 63
	}
	return 0
}

// UintFromFloat64 truncates x as Cast does; negative numbers are 0.
func UintFromFloat64(x float64) uint64 {
	switch {
	case x >= 0x1p64:
		return 1<<64 - 1
	case x > 0:
		return uint64(x)
	}
	return 0
}

// limits returns the ends of D's range.
func limits[D integer]() (lo, hi D) {
	var zero D
	hi = ^zero
	if hi > 0 { // unsigned
		return 0, hi
	}
	lo = D(1) << (8*unsafe.Sizeof(zero) - 1)
	return lo, ^lo
}

// OddFloat64 returns v as a float64, rounded to odd where it does not fit: its last
// bit is set, so that rounding the result again is like rounding v once.
func OddFloat64[S integer](v S) float64 {
	if v >= 0 {
		return oddUint64(uint64(v))
	}
	return -oddUint64(-uint64(v))
}

func oddUint64(u uint64) float64 {
	const low = 1<<11 - 1 // bits that do not fit next to 53 others
	if u >= 1<<53 && u&low != 0 {
		u = u&^low | 1<<11
	}
	return float64(u)
}
