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
	numDTypes
)

var dtypeInfo = [numDTypes]struct {
	name string
	size int
}{
	{"?", 0}, {"f32", 4}, {"f64", 8}, {"f16", 2}, {"bf16", 2}, {"i8", 1}, {"u8", 1}, {"i16", 2},
	{"u16", 2}, {"i32", 4}, {"u32", 4}, {"i64", 8}, {"u64", 8}, {"bool", 1},
}

// String returns the name used in the text form: "f32", "i64", "bool"; "?" for Invalid.
func (d DType) String() string {
	if d >= numDTypes {
		return "?"
	}
	return dtypeInfo[d].name
}

// Size returns the bytes one element takes; 0 for Invalid.
func (d DType) Size() int {
	if d >= numDTypes {
		return 0
	}
	return dtypeInfo[d].size
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

// DTypes returns every valid element type, in declaration order.
func DTypes() []DType {
	all := make([]DType, 0, numDTypes-1)
	for d := F32; d < numDTypes; d++ {
		all = append(all, d)
	}
	return all
}

// IsFloat reports whether d is f16, bf16, f32 or f64.
func (d DType) IsFloat() bool { return d >= F32 && d <= BF16 }

// IsInt reports whether d is a signed or unsigned integer type; bool is not.
func (d DType) IsInt() bool { return d >= I8 && d <= U64 }

// IsSigned reports whether d is a float or a signed integer type.
func (d DType) IsSigned() bool {
	return d.IsFloat() || d == I8 || d == I16 || d == I32 || d == I64
}

// Half is an IEEE 754 binary16 value, by its bits.
type Half uint16

// BFloat is a bfloat16 value, by its bits.
type BFloat uint16

// Elem is the set of Go types that array elements have.
type Elem interface {
	float32 | float64 | Half | BFloat | int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | bool
}

// DTypeOf returns the DType whose elements are Go's T.
//
//go:noinline
func DTypeOf[T Elem]() DType {
	var z T
	switch any(z).(type) {
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
	}
	return Bool
}
