package safetensors

import "github.com/gofx-dev/gofx/array"

// formats lists the element types of the format in the reference writer's order, which
// is that of alignment: it writes the last ones first. A type that arrays have is one
// line; those with array.Invalid are known by their size alone, and a tensor of one is
// refused when it is read. Elements of fewer than eight bits are packed in files, the
// first in the lowest bits, and take a byte each in memory. The last byte may be used in
// part only, where the reference refuses an odd number of F4; it knows no integers of
// fewer than eight bits, which are ours.
var formats = [...]struct {
	name  string
	bits  int64
	dtype array.DType
}{
	{"I2", 2, array.I2},
	{"U2", 2, array.U2},
	{"I4", 4, array.I4},
	{"U4", 4, array.U4},
	{"BOOL", 8, array.Bool},
	{"F4", 4, array.F4E2M1FN},
	{"F6_E2M3", 6, array.Invalid},
	{"F6_E3M2", 6, array.Invalid},
	{"U8", 8, array.U8},
	{"I8", 8, array.I8},
	{"F8_E5M2", 8, array.F8E5M2},
	{"F8_E4M3", 8, array.F8E4M3FN},
	{"F8_E8M0", 8, array.F8E8M0FNU},
	{"F8_E4M3FNUZ", 8, array.F8E4M3FNUZ},
	{"F8_E5M2FNUZ", 8, array.F8E5M2FNUZ},
	{"I16", 16, array.I16},
	{"U16", 16, array.U16},
	{"F16", 16, array.F16},
	{"BF16", 16, array.BF16},
	{"I32", 32, array.I32},
	{"U32", 32, array.U32},
	{"F32", 32, array.F32},
	{"C64", 64, array.Invalid},
	{"F64", 64, array.F64},
	{"I64", 64, array.I64},
	{"U64", 64, array.U64},
}

// unknown is the format of types that the table lacks: newer ones than it.
const unknown = 0xff

func formatNamed(name string) uint8 {
	for i := range formats {
		if formats[i].name == name {
			return uint8(i)
		}
	}
	return unknown
}

func formatOf(d array.DType) uint8 {
	for i := range formats {
		if formats[i].dtype == d && d != array.Invalid {
			return uint8(i)
		}
	}
	return unknown
}

// dtype returns the element type of arrays, Invalid where they have none.
func (e *entry) dtype() array.DType {
	if e.format == unknown {
		return array.Invalid
	}
	return formats[e.format].dtype
}

// packed reports whether elements have fewer bits in the file than in memory.
func packed(format uint8) bool { return formats[format].bits < 8 }

// fits reports whether n elements take this many bytes.
func fits(format uint8, n, bytes int64) bool {
	bits := formats[format].bits
	switch {
	case bits >= 8:
		return n <= bytes && n*(bits/8) == bytes
	case n > bytes*8/bits:
		return false
	case formats[format].dtype.IsNarrow():
		return (n*bits+7)/8 == bytes
	}
	return n*bits == bytes*8
}
