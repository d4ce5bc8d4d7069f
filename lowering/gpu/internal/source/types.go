package source

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
)

// storage is the C type of an element in memory.
func storage(d array.DType) string {
	switch d {
	case array.F32:
		return "float"
	case array.F64:
		return "double"
	case array.F16, array.BF16, array.U16:
		return "ushort"
	case array.I16:
		return "short"
	case array.I32:
		return "int"
	case array.U32:
		return "uint"
	case array.I64:
		return "i64"
	case array.U64:
		return "u64"
	case array.I8:
		return "schar"
	}
	return "uchar" // bool, u8 and the types that only hold values
}

// register is the C type that values of type d are computed in: floats of 16 bits in
// float, rounded after each operation, integers and bool in 64 bits.
func register(d array.DType) string {
	switch d {
	case array.F32, array.F16, array.BF16:
		return "float"
	case array.F64:
		return "double"
	}
	return "i64"
}

// load reads element index of a buffer as a register.
func load(d array.DType, buffer, index string) string {
	return loaded(d, buffer+"["+index+"]")
}

// loaded prints a stored element as a register.
func loaded(d array.DType, e string) string {
	switch d {
	case array.F32, array.F64:
		return e
	case array.F16:
		return "h2f(" + e + ")"
	case array.BF16:
		return "b2f(" + e + ")"
	case array.Bool:
		return "(i64)(" + e + " != 0)"
	}
	return "(i64)" + e
}

// store writes a register, which is a value of type d.
func store(d array.DType, buffer, index, value string) string {
	return buffer + "[" + index + "] = " + stored(d, value) + ";"
}

// stored prints a register as it is stored.
func stored(d array.DType, value string) string {
	switch d {
	case array.F32, array.F64:
		return value
	case array.F16:
		return "f2h(" + value + ")"
	case array.BF16:
		return "f2b(" + value + ")"
	}
	return "(" + storage(d) + ")(" + value + ")"
}

// round prints a float register as a value of type d.
func round(d array.DType, value string) string {
	switch d {
	case array.F16:
		return "h2f(f2h(" + value + "))"
	case array.BF16:
		return "b2f(f2b(" + value + "))"
	}
	return value
}

// literal prints the constant of the bits, as kernel.Instr.Imm has them.
func literal(d array.DType, bits uint64) string {
	switch d {
	case array.F32:
		return float32Literal(uint32(bits))
	case array.F16:
		return float32Literal(math.Float32bits(array.Half(bits).Float32()))
	case array.BF16:
		return float32Literal(math.Float32bits(array.BFloat(bits).Float32()))
	case array.F64:
		f := math.Float64frombits(bits)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return "AS_F64(U64(0x" + strconv.FormatUint(bits, 16) + "))"
		}
		return "(" + strconv.FormatFloat(f, 'x', -1, 64) + ")"
	}
	return intLiteral(int64(bits))
}

func float32Literal(bits uint32) string {
	f := math.Float32frombits(bits)
	if f != f || math.IsInf(float64(f), 0) {
		return "AS_F32(0x" + strconv.FormatUint(uint64(bits), 16) + "u)"
	}
	return "(" + strconv.FormatFloat(float64(f), 'x', -1, 32) + "f)"
}

// F32 prints a number as a float literal.
func f32(x float64) string { return float32Literal(math.Float32bits(float32(x))) }

// real prints a number in the register type of d.
func realLiteral(d array.DType, x float64) string {
	if d == array.F64 {
		return literal(array.F64, math.Float64bits(x))
	}
	return f32(x)
}

func intLiteral(v int64) string {
	if v == math.MinInt64 {
		return "(-I64(9223372036854775807) - 1)"
	}
	if v < 0 {
		return "(-I64(" + strconv.FormatInt(-v, 10) + "))"
	}
	return "I64(" + strconv.FormatInt(v, 10) + ")"
}

// Computes reports whether kernels compute with the type; others are only moved.
func Computes(d array.DType) bool { return d != array.Invalid && !d.IsNarrow() }
