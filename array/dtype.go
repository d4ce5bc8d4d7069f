package array

// DType is the element type of an array. The zero value is Invalid, which in
// types means "unknown".
type DType uint8

// The element types, named as in the text form of the IR.
const (
	Invalid DType = iota
	F32
	F64
	F16
	BF16
	I8
	U8
	I16
	U16
	I32
	U32
	I64
	U64
	Bool
	// The narrow types, see IsNarrow.
	F8E4M3FN
	F8E4M3FNUZ
	F8E5M2
	F8E5M2FNUZ
	F8E8M0FNU
	F4E2M1FN
	I4
	U4
	I2
	U2
	numDTypes
)

var dtypeInfo = [numDTypes]struct {
	name string
	size int
}{
	{"?", 0}, {"f32", 4}, {"f64", 8}, {"f16", 2}, {"bf16", 2}, {"i8", 1}, {"u8", 1}, {"i16", 2},
	{"u16", 2}, {"i32", 4}, {"u32", 4}, {"i64", 8}, {"u64", 8}, {"bool", 1},
	{"f8e4m3fn", 1}, {"f8e4m3fnuz", 1}, {"f8e5m2", 1}, {"f8e5m2fnuz", 1}, {"f8e8m0fnu", 1}, {"f4e2m1fn", 1},
	{"i4", 1}, {"u4", 1}, {"i2", 1}, {"u2", 1},
}

// String returns the name used in the text form: "f32", "i64", "bool"; "?" for Invalid.
func (d DType) String() string {
	if d >= numDTypes {
		return "?"
	}
	return dtypeInfo[d].name
}

// Size returns the bytes one element takes in memory; 0 for Invalid.
func (d DType) Size() int {
	if d >= numDTypes {
		return 0
	}
	return dtypeInfo[d].size
}

// Bits returns the bits that tell elements apart, and that one takes in files that pack
// them: 4 or 2 for the types of that name, else those of Size.
func (d DType) Bits() int {
	switch d {
	case F4E2M1FN, I4, U4:
		return 4
	case I2, U2:
		return 2
	}
	return 8 * d.Size()
}

// ParseDType is the inverse of String; ok is false for unknown names and "?".
func ParseDType(s string) (d DType, ok bool) {
	for d := F32; d < numDTypes; d++ {
		if dtypeInfo[d].name == s {
			return d, true
		}
	}
	return Invalid, false
}

// DTypes returns the element types that are computed in, in declaration order.
func DTypes() []DType { return types(F32, Bool) }

// NarrowDTypes returns the element types that only hold values, in declaration order.
func NarrowDTypes() []DType { return types(F8E4M3FN, U2) }

func types(first, last DType) []DType {
	all := make([]DType, 0, last-first+1)
	for d := first; d <= last; d++ {
		all = append(all, d)
	}
	return all
}

// IsFloat reports whether d is f16, bf16, f32 or f64.
func (d DType) IsFloat() bool { return d >= F32 && d <= BF16 }

// IsInt reports whether d is a signed or unsigned integer type of 8 bits or more; bool
// is not.
func (d DType) IsInt() bool { return d >= I8 && d <= U64 }

// IsNarrow reports whether d only holds values: floats of 8 and 4 bits and integers of
// 4 and 2. They are cast, quantised, dequantised and moved, one element a byte.
func (d DType) IsNarrow() bool { return d > Bool && d < numDTypes }

// IsNarrowFloat reports whether d is a float of 8 or 4 bits.
func (d DType) IsNarrowFloat() bool { return d >= F8E4M3FN && d <= F4E2M1FN }

// IsNarrowInt reports whether d is an integer type of 4 or 2 bits.
func (d DType) IsNarrowInt() bool { return d >= I4 && d <= U2 }

// IsSigned reports whether d is a float, other than f8e8m0fnu, or a signed integer type.
func (d DType) IsSigned() bool {
	switch d {
	case I8, I16, I32, I64, I4, I2:
		return true
	}
	return d.IsFloat() || d.IsNarrowFloat() && d != F8E8M0FNU
}

// Half is an IEEE 754 binary16 value, by its bits.
type Half uint16

// BFloat is a bfloat16 value, by its bits.
type BFloat uint16

// Elem is the set of Go types that array elements have.
type Elem interface {
	float32 | float64 | Half | BFloat | int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | bool |
		Float8E4M3FN | Float8E4M3FNUZ | Float8E5M2 | Float8E5M2FNUZ | Float8E8M0FNU | Float4E2M1FN | Int4 | Uint4 | Int2 | Uint2
}

// DTypeOf returns the DType whose elements are Go's T.
//
//go:noinline
func DTypeOf[T Elem]() DType {
	var v T
	z := any(v)
	switch z.(type) {
	case float32:
		return F32
	case float64:
		return F64
	case Half:
		return F16
	case BFloat:
		return BF16
	case int8:
		return I8
	case uint8:
		return U8
	case int16:
		return I16
	case uint16:
		return U16
	case int32:
		return I32
	case uint32:
		return U32
	case int64:
		return I64
	case uint64:
		return U64
	case bool:
		return Bool
	}
	return narrowOf(z)
}

func narrowOf(z any) DType {
	switch z.(type) {
	case Float8E4M3FN:
		return F8E4M3FN
	case Float8E4M3FNUZ:
		return F8E4M3FNUZ
	case Float8E5M2:
		return F8E5M2
	case Float8E5M2FNUZ:
		return F8E5M2FNUZ
	case Float8E8M0FNU:
		return F8E8M0FNU
	case Float4E2M1FN:
		return F4E2M1FN
	case Int4:
		return I4
	case Uint4:
		return U4
	case Int2:
		return I2
	}
	return U2
}
