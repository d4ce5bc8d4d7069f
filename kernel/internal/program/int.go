package program

import (
	"math/bits"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
)

// Integers live in int64 registers: signed types sign-extended, unsigned types
// zero-extended, so that one 64-bit loop serves all widths; only u64 needs loops
// of its own where the sign bit matters.

// intOp runs an integer or bool operation over a block.
func intOp(op opcode.Code, t array.DType, d, a, b []int64) {
	a, b = a[:len(d)], b[:len(d)]
	switch op {
	case opcode.OpAnd:
		for i := range d {
			d[i] = a[i] & b[i]
		}
	case opcode.OpOr:
		for i := range d {
			d[i] = a[i] | b[i]
		}
	case opcode.OpXor:
		for i := range d {
			d[i] = a[i] ^ b[i]
		}
	case opcode.OpMulHi:
		mulHi(t, d, a, b)
	default:
		wrappingOp(op, t, d, a, b)
		wrapInt(t, d)
	}
}

// wrappingOp runs the operations whose results may leave the range of t.
func wrappingOp(op opcode.Code, t array.DType, d, a, b []int64) {
	a, b = a[:len(d)], b[:len(d)]
	switch op {
	case opcode.OpAdd:
		for i := range d {
			d[i] = a[i] + b[i]
		}
	case opcode.OpSub:
		for i := range d {
			d[i] = a[i] - b[i]
		}
	case opcode.OpMul:
		for i := range d {
			d[i] = a[i] * b[i]
		}
	case opcode.OpNeg:
		for i := range d {
			d[i] = -a[i]
		}
	case opcode.OpShl:
		for i := range d {
			d[i] = a[i] << uint64(b[i])
		}
	case opcode.OpPow:
		for i := range d {
			d[i] = powInt(a[i], b[i], t == array.U64)
		}
	case opcode.OpNot:
		flip := int64(-1)
		if t == array.Bool {
			flip = 1
		}
		for i := range d {
			d[i] = a[i] ^ flip
		}
	default:
		if t == array.U64 {
			uintOp(op, asUnsigned(d), asUnsigned(a), asUnsigned(b))
		} else {
			sintOp(op, d, a, b)
		}
	}
}

// sintOp runs the operations that depend on the sign, for all types but u64.
func sintOp(op opcode.Code, d, a, b []int64) {
	a, b = a[:len(d)], b[:len(d)]
	switch op {
	case opcode.OpDiv:
		for i := range d {
			d[i] = divInt(a[i], b[i])
		}
	case opcode.OpFloorDiv:
		for i := range d {
			q := divInt(a[i], b[i])
			if b[i] != 0 && (a[i] < 0) != (b[i] < 0) && q*b[i] != a[i] {
				q--
			}
			d[i] = q
		}
	case opcode.OpRem:
		for i := range d {
			d[i] = remInt(a[i], b[i])
		}
	case opcode.OpMod:
		for i := range d {
			r := remInt(a[i], b[i])
			if r != 0 && (r < 0) != (b[i] < 0) {
				r += b[i]
			}
			d[i] = r
		}
	case opcode.OpMin:
		for i := range d {
			d[i] = min(a[i], b[i])
		}
	case opcode.OpMax:
		for i := range d {
			d[i] = max(a[i], b[i])
		}
	case opcode.OpAbs:
		for i := range d {
			d[i] = max(a[i], -a[i])
		}
	case opcode.OpSign:
		for i := range d {
			d[i] = boolBit(a[i] > 0) - boolBit(a[i] < 0)
		}
	case opcode.OpShr:
		for i := range d {
			d[i] = a[i] >> uint64(b[i])
		}
	default:
		panic(programBug("no integer operation " + op.String()))
	}
}

// uintOp is sintOp for u64.
func uintOp(op opcode.Code, d, a, b []uint64) {
	a, b = a[:len(d)], b[:len(d)]
	switch op {
	case opcode.OpDiv, opcode.OpFloorDiv:
		for i := range d {
			if y := b[i]; y != 0 {
				d[i] = a[i] / y
			} else {
				d[i] = 0
			}
		}
	case opcode.OpRem, opcode.OpMod:
		for i := range d {
			if y := b[i]; y != 0 {
				d[i] = a[i] % y
			} else {
				d[i] = 0
			}
		}
	case opcode.OpMin:
		for i := range d {
			d[i] = min(a[i], b[i])
		}
	case opcode.OpMax:
		for i := range d {
			d[i] = max(a[i], b[i])
		}
	case opcode.OpAbs:
		copy(d, a)
	case opcode.OpSign:
		for i := range d {
			d[i] = min(a[i], 1)
		}
	case opcode.OpShr:
		for i := range d {
			d[i] = a[i] >> b[i]
		}
	default:
		panic(programBug("no integer operation " + op.String()))
	}
}

func divInt(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func remInt(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return a % b
}

// powInt is exponentiation by squaring, modulo 2**64; 0**0 is 1.
func powInt(a, b int64, isU64 bool) int64 {
	if b < 0 && !isU64 {
		switch {
		case a == 1, a == -1 && b&1 == 0:
			return 1
		case a == -1:
			return -1
		}
		return 0
	}
	r := int64(1)
	for n := uint64(b); n != 0; n >>= 1 {
		if n&1 != 0 {
			r *= a
		}
		a *= a
	}
	return r
}

func mulHi(t array.DType, d, a, b []int64) {
	if t == array.U32 {
		for i := range d {
			d[i] = int64(uint64(a[i]) * uint64(b[i]) >> 32)
		}
		return
	}
	for i := range d {
		hi, _ := bits.Mul64(uint64(a[i]), uint64(b[i]))
		d[i] = int64(hi)
	}
}

// wrapInt reduces every element to the range of t, by its low bits.
func wrapInt(t array.DType, d []int64) {
	switch t {
	case array.I8:
		wrapTo[int8](d)
	case array.U8:
		wrapTo[uint8](d)
	case array.I16:
		wrapTo[int16](d)
	case array.U16:
		wrapTo[uint16](d)
	case array.I32:
		wrapTo[int32](d)
	case array.U32:
		wrapTo[uint32](d)
	case array.I4, array.U4, array.I2, array.U2:
		for i, v := range d {
			d[i] = array.NarrowInt(t, uint8(v))
		}
	}
}

func wrapTo[T int8 | uint8 | int16 | uint16 | int32 | uint32](d []int64) {
	for i, v := range d {
		d[i] = int64(T(v))
	}
}
