package array

import "strconv"

// At returns the element at the given index; negative numbers count from the
// end. It panics when T is not the element type or the index does not exist.
func At[T Elem](a *Array, idx ...int) T {
	if DTypeOf[T]() != a.dtype {
		panic("array: At: element type is " + a.dtype.String() + ", asked for " + DTypeOf[T]().String())
	}
	if len(idx) != a.Rank() {
		panic("array: At: " + strconv.Itoa(len(idx)) + " indices for an array of rank " + strconv.Itoa(a.Rank()))
	}
	at := a.offset
	for d, i := range idx {
		if i < 0 {
			i += a.shape[d]
		}
		if i < 0 || i >= a.shape[d] {
			panic("array: At: index " + strconv.Itoa(idx[d]) + " of a dimension of size " + strconv.Itoa(a.shape[d]))
		}
		at += i * a.strides[d]
	}
	return Raw[T](a)[at]
}

// index returns the place in the storage of element flat in row-major order.
func (a *Array) index(flat int) int {
	if flat < 0 || flat >= a.Len() {
		panic("array: element " + strconv.Itoa(flat) + " of an array of " + strconv.Itoa(a.Len()))
	}
	at := a.offset
	for d := len(a.shape) - 1; d >= 0; d-- {
		at += flat % a.shape[d] * a.strides[d]
		flat /= a.shape[d]
	}
	return at
}

// element returns the element flat in row-major order as an array of its own.
func (a *Array) element(flat int) *Array {
	return &Array{dtype: a.dtype, offset: a.index(flat), store: a.store}
}

// Float64At returns the element flat in row-major order, converted to float64
// by the rules of Cast. It panics when there is no such element. It is meant
// for tests, printing and scalars, not for loops that must be fast.
func Float64At(a *Array, flat int) float64 {
	i := a.index(flat)
	switch a.dtype {
	case F32:
		return float64(Raw[float32](a)[i])
	case F64:
		return Raw[float64](a)[i]
	case F16:
		return float64(Raw[Half](a)[i].Float32())
	case BF16:
		return float64(Raw[BFloat](a)[i].Float32())
	case U64:
		return float64(Raw[uint64](a)[i])
	}
	if a.dtype.IsNarrowFloat() {
		return float64(NarrowFloats(a.dtype)[a.store.bytes[i]])
	}
	return float64(Int64At(a, flat))
}

// Int64At returns the element flat in row-major order, converted to int64 by the
// rules of Cast. It panics when there is no such element.
func Int64At(a *Array, flat int) int64 {
	i := a.index(flat)
	switch a.dtype {
	case I64:
		return Raw[int64](a)[i]
	case I32:
		return int64(Raw[int32](a)[i])
	case I16:
		return int64(Raw[int16](a)[i])
	case I8:
		return int64(Raw[int8](a)[i])
	case U32:
		return int64(Raw[uint32](a)[i])
	case U16:
		return int64(Raw[uint16](a)[i])
	case U8:
		return int64(Raw[uint8](a)[i])
	case Bool:
		return int64(min(a.store.bytes[i], 1))
	}
	return Data[int64](Cast(a.element(flat), I64))[0]
}

// SetFloat64At sets the element flat in row-major order to v, converted by the
// rules of Cast. It panics when there is no such element.
func SetFloat64At(a *Array, flat int, v float64) {
	i := a.index(flat)
	switch a.dtype {
	case F32:
		Raw[float32](a)[i] = float32(v)
	case F64:
		Raw[float64](a)[i] = v
	default:
		Copy(a.element(flat), Cast(Scalar(v), a.dtype))
	}
}

// SetInt64At sets the element flat in row-major order to v, converted by the
// rules of Cast. It panics when there is no such element.
func SetInt64At(a *Array, flat int, v int64) {
	Copy(a.element(flat), Cast(Scalar(v), a.dtype))
}

// describe returns "f32[2,3]" for messages.
func describe(a *Array) string { return Describe(a.dtype, a.shape) }

// Describe returns a type for messages: "f32[2,3]".
func Describe(d DType, shape []int) string {
	s := d.String() + "["
	for i, n := range shape {
		if i > 0 {
			s += ","
		}
		s += strconv.Itoa(n)
	}
	return s + "]"
}
