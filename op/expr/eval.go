package expr

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
)

// Eval computes outs for one element at index 0, on scalars given and returned by
// their bits, as in kernel.Instr.Imm. in[i] is input i. A Coord has no axis to
// refer to in a scalar and is refused.
func (b *Builder) Eval(outs []Value, in []uint64) []uint64 {
	program := b.Compile(outs...)
	if len(in) < len(program.Inputs) {
		panic(bug("eval: " + strconv.Itoa(len(in)) + " inputs given, expected " + strconv.Itoa(len(program.Inputs))))
	}
	ins := make([]*array.Array, len(program.Inputs))
	for i, d := range program.Inputs {
		if d != array.Invalid {
			ins[i] = array.New(d)
			storeBits(ins[i], in[i])
		}
	}
	res := make([]*array.Array, len(outs))
	for i, d := range program.Outputs {
		res[i] = array.New(d)
	}
	run(program, res, ins)
	bits := make([]uint64, len(outs))
	for i, a := range res {
		bits[i] = loadBits(a)
	}
	return bits
}

// loadBits returns the only element of data; signed integers are extended.
func loadBits(data *array.Array) uint64 {
	switch data.DType() {
	case array.F32, array.U32:
		return uint64(array.Raw[uint32](data)[0])
	case array.F16, array.BF16, array.U16:
		return uint64(array.Raw[uint16](data)[0])
	case array.I8:
		return uint64(int64(array.Raw[int8](data)[0]))
	case array.I16:
		return uint64(int64(array.Raw[int16](data)[0]))
	case array.I32:
		return uint64(int64(array.Raw[int32](data)[0]))
	case array.I4, array.U4, array.I2, array.U2:
		return uint64(array.NarrowInt(data.DType(), array.Raw[uint8](data)[0]))
	}
	if data.DType().Size() == 1 {
		return uint64(array.Raw[uint8](data)[0])
	}
	return array.Raw[uint64](data)[0]
}

// Stored returns an array of one element, without dimensions, that has the bits of a constant.
func Stored(d array.DType, bits uint64) *array.Array {
	a := array.New(d)
	storeBits(a, bits)
	return a
}

func storeBits(a *array.Array, bits uint64) {
	switch a.DType().Size() {
	case 1:
		array.Raw[uint8](a)[0] = uint8(bits)
	case 2:
		array.Raw[uint16](a)[0] = uint16(bits)
	case 4:
		array.Raw[uint32](a)[0] = uint32(bits)
	default:
		array.Raw[uint64](a)[0] = bits
	}
}
