package program

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
)

// Instr is one instruction: Dst = Op(A, B, C). Registers are numbered per
// RegClass; operands are of type From for casts, comparisons and OpIsNaN and of
// type DType otherwise, save OpSelect's A, which is bool.
//
//gofx:kernel
type Instr struct {
	Op           opcode.Code
	DType, From  array.DType
	Dst, A, B, C uint16
	// Imm is an input or output number, an axis, the array.Rounding of a cast, or the
	// bits of a constant: floats by their bits at the type's width, signed integers
	// extended to 64 bits, bools 0 or 1.
	Imm uint64
}

// Program is straight-line code over blocks of elements, plain data that code
// generation prints as a literal. Package op/expr compiles programs.
//
//gofx:kernel
type Program struct {
	// Inputs and Outputs are the element types of the operands; an input that is
	// Invalid is not read and may be nil.
	Inputs, Outputs []array.DType
	// Consts are OpConst instructions run once; nothing else writes their registers.
	Consts []Instr
	// Code is run for every block of elements.
	Code []Instr
	// Regs is the number of registers of each RegClass.
	Regs [3]int
}

// Check reports the first malformed instruction of p, nil when p is sound.
func (p *Program) Check() error {
	for i, in := range p.Consts {
		if in.Op != opcode.OpConst || in.DType == array.Invalid || int(in.Dst) >= p.Regs[opcode.RegClassOf(in.DType)] {
			return programBug("constant " + strconv.Itoa(i) + " is malformed")
		}
	}
	for i, in := range p.Code {
		if !p.sound(in) {
			return programBug("instruction " + strconv.Itoa(i) + " (" + in.Op.String() + ") is malformed")
		}
	}
	return nil
}

func (p *Program) sound(in Instr) bool {
	info := in.Op.Info()
	from := in.From
	if from == array.Invalid {
		from = in.DType
	}
	if info.Name == "" || in.Op == opcode.OpConst || in.DType == array.Invalid || !in.Op.Accepts(from) ||
		info.ToBool != (in.DType == array.Bool && in.From != array.Invalid && in.Op != opcode.OpCast) {
		return false
	}
	switch in.Op {
	case opcode.OpInput:
		if in.Imm >= uint64(len(p.Inputs)) || p.Inputs[in.Imm] != in.DType {
			return false
		}
	case opcode.OpOutput:
		if in.Imm >= uint64(len(p.Outputs)) || p.Outputs[in.Imm] != in.DType {
			return false
		}
	case opcode.OpCast:
		if in.From == array.Invalid {
			return false
		}
	case opcode.OpSelect:
		n := p.Regs[opcode.RegClassOf(in.DType)]
		return int(in.A) < p.Regs[opcode.RegI64] && int(in.B) < n && int(in.C) < n && int(in.Dst) < n
	}
	n := p.Regs[opcode.RegClassOf(from)]
	for i, r := range [3]uint16{in.A, in.B, in.C} {
		if i < info.Arity && int(r) >= n {
			return false
		}
	}
	return in.Op == opcode.OpOutput || int(in.Dst) < p.Regs[opcode.RegClassOf(in.DType)]
}

func programBug(msg string) *diag.Error {
	e := diag.Bug(msg)
	e.Op = "elementwise"
	return e
}
