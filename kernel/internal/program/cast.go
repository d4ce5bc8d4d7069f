package program

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
)

// cast converts a block from In.From to In.DType, by the rules of array.Cast. Strips
// have them again in internal/generators/asmgen/vmath/convert.go.
func (m *machine) cast(in *Instr) {
	switch opcode.RegClassOf(in.From) {
	case opcode.RegF32:
		m.castFromF32(in, m.rF32(in.A))
	case opcode.RegF64:
		m.castFromF64(in, m.rF64(in.A))
	default:
		m.castFromInt(in, m.rI64(in.A))
	}
}

func (m *machine) castFromF32(in *Instr, a []float32) {
	switch opcode.RegClassOf(in.DType) {
	case opcode.RegF32:
		d := m.wF32(in.Dst)
		copy(d, a)
		switch {
		case in.DType.IsNarrow():
			roundNarrowBlock(in.DType, array.Rounding(in.Imm), d)
		case in.DType != array.F32 && in.DType != in.From:
			roundHalfBlock(in.DType, d)
		}
	case opcode.RegF64:
		d := m.wF64(in.Dst)
		for i, x := range a {
			d[i] = float64(x)
		}
	default:
		floatToInt(in.DType, m.wI64(in.Dst), a)
	}
}

func (m *machine) castFromF64(in *Instr, a []float64) {
	switch opcode.RegClassOf(in.DType) {
	case opcode.RegF32:
		d := m.wF32(in.Dst)
		if in.DType == array.F32 {
			for i, x := range a {
				d[i] = float32(x)
			}
			return
		}
		for i, x := range a {
			d[i] = smallOf(in.DType, x, array.Rounding(in.Imm))
		}
	case opcode.RegF64:
		copy(m.wF64(in.Dst), a)
	default:
		floatToInt(in.DType, m.wI64(in.Dst), a)
	}
}

func (m *machine) castFromInt(in *Instr, a []int64) {
	isU64 := in.From == array.U64
	switch opcode.RegClassOf(in.DType) {
	case opcode.RegF32:
		d := m.wF32(in.Dst)
		intToF32(in.DType, array.Rounding(in.Imm), isU64, d, a)
	case opcode.RegF64:
		d := m.wF64(in.Dst)
		if isU64 {
			for i, v := range asUnsigned(a) {
				d[i] = float64(v)
			}
			return
		}
		for i, v := range a {
			d[i] = float64(v)
		}
	default:
		d := m.wI64(in.Dst)
		if in.DType == array.Bool {
			for i, v := range a {
				d[i] = boolBit(v != 0)
			}
			return
		}
		copy(d, a)
		wrapInt(in.DType, d)
	}
}

func intToF32(t array.DType, r array.Rounding, isU64 bool, d []float32, a []int64) {
	switch {
	case t == array.F32 && isU64:
		for i, v := range asUnsigned(a) {
			d[i] = float32(v)
		}
	case t == array.F32:
		for i, v := range a {
			d[i] = float32(v)
		}
	case isU64:
		for i, v := range asUnsigned(a) {
			d[i] = smallOf(t, array.OddFloat64(v), r)
		}
	default:
		for i, v := range a {
			d[i] = smallOf(t, array.OddFloat64(v), r)
		}
	}
}

// floatToInt converts to an integer type or bool.
func floatToInt[T float32 | float64](t array.DType, d []int64, a []T) {
	a = a[:len(d)]
	switch t {
	case array.Bool:
		for i, x := range a {
			d[i] = boolBit(x != 0)
		}
	case array.U64:
		for i, x := range a {
			d[i] = int64(array.UintFromFloat64(float64(x)))
		}
	default:
		lo, hi := intRange(t)
		for i, x := range a {
			d[i] = min(max(array.IntFromFloat64(float64(x)), lo), hi)
		}
	}
}

// intRange returns the range of an integer type other than u64.
func intRange(t array.DType) (lo, hi int64) {
	n := t.Bits()
	if t.IsSigned() {
		return -1 << (n - 1), 1<<(n-1) - 1
	}
	return 0, 1<<n - 1
}
