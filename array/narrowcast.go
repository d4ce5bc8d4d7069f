package array

// castNarrow converts contiguous arrays, one of which or both are of narrow types. It
// goes by way of wide types, a piece at a time, which keeps programs small.
func castNarrow(out, src *Array, r Rounding) {
	const piece = 4096
	dst, n := Bytes(out), src.Len()
	size := out.dtype.Size()
	for at := 0; at < n; at += piece {
		part := Make(src.dtype, []int{min(piece, n-at)}, []int{1}, src.offset+at, src.store)
		if src.dtype.IsNarrow() {
			part = widenNarrow(part)
		}
		if out.dtype.IsNarrow() {
			narrow(out.dtype, dst[at:][:part.Len()], part, r)
			continue
		}
		copy(dst[at*size:], Bytes(Cast(part, out.dtype)))
	}
}

// widenNarrow returns the values of a narrow type as f32 or i8.
func widenNarrow(a *Array) *Array {
	src := Bytes(a)
	if a.dtype.IsNarrowFloat() {
		out, values := New(F32, len(src)), NarrowFloats(a.dtype)
		for i, d := 0, Data[float32](out); i < len(src); i++ {
			d[i] = values[src[i]]
		}
		return out
	}
	out := New(I8, len(src))
	for i, d := 0, Bytes(out); i < len(src); i++ {
		d[i] = uint8(NarrowInt(a.dtype, src[i]))
	}
	return out
}

// narrow writes the values of a wide type as codes of a narrow one.
func narrow(d DType, dst []uint8, a *Array, r Rounding) {
	switch {
	case d.IsNarrowInt():
		lo, hi := NarrowRange(d)
		floats := a.dtype.IsFloat()
		for i, v := range Data[int64](Cast(a, I64)) {
			if floats {
				v = min(max(v, lo), hi)
			}
			dst[i] = uint8(NarrowInt(d, uint8(v)))
		}
	case a.dtype == I64 || a.dtype == U64: // f64 would round
		for i, v := range Data[int64](Cast(a, I64)) {
			x := OddFloat64(v)
			if a.dtype == U64 {
				x = oddUint64(uint64(v))
			}
			dst[i] = NarrowFromFloat64(d, x, r)
		}
	default:
		for i, x := range Data[float64](Cast(a, F64)) {
			dst[i] = NarrowFromFloat64(d, x, r)
		}
	}
}
