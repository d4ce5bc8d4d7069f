package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Registers of the strip machine; see emitMachine.
var (
	rCode = reg.R8  // the current step
	rAt   = reg.R9  // index of the strip's first element
	rEnd  = reg.R10 // index to stop at
	rHead = reg.R11 // the first step
	rTemp = reg.R13 // two strips of scratch
)

// stripRegs registers hold the accumulator.
const stripRegs = 8

// stepBytes is the size of a step: code address, two operands of an address and
// a mask each, and a word that only Go looks at.
const stepBytes = 48

// isa writes instructions of one vector width.
type isa struct {
	*build.Context
	wide bool
}

func (s isa) name() string {
	if s.wide {
		return "512"
	}
	return "256"
}

// size is the number of bytes in a register.
func (s isa) size() int {
	if s.wide {
		return 64
	}
	return 32
}

// lanes is the number of floats in a register.
func (s isa) lanes() int { return s.size() / 4 }

// strip is the number of elements the machine handles at a time.
func (s isa) strip() int { return stripRegs * s.lanes() }

// acc is the i-th register of the accumulator.
func (s isa) acc(i int) reg.Register {
	if s.wide {
		return []reg.Register{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7}[i]
	}
	return []reg.Register{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7}[i]
}

// tmp is the i-th of eight registers other than the accumulator.
func (s isa) tmp(i int) reg.Register {
	if s.wide {
		return []reg.Register{reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15}[i]
	}
	return []reg.Register{reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}[i]
}

// vec returns a new register.
func (s isa) vec() reg.VecVirtual {
	if s.wide {
		return s.ZMM()
	}
	return s.YMM()
}

// half returns a new register of half the width.
func (s isa) half() reg.VecVirtual {
	if s.wide {
		return s.YMM()
	}
	return s.XMM()
}

// global is element i, of the given size, of an array of package vmath.
func global(name string, i, size int) Mem {
	return NewDataAddr(Symbol{Name: "·" + name}, i*size)
}

// begin starts code that is jumped to.
func (s isa) begin(name string) {
	s.Function(name + s.name() + "<>")
	s.Attributes(attr.NOSPLIT | attr.NOFRAME)
	s.SignatureExpr("func()")
}

// next goes on to the step after this one.
func (s isa) next() {
	s.ADDQ(U8(stepBytes), rCode)
	s.jump()
}

// jump goes to the code of the current step. avo takes jumps to labels only.
func (s isa) jump() {
	s.MOVQ(Mem{Base: rCode}, reg.RAX)
	s.Instruction(&ir.Instruction{Opcode: "JMP", Operands: []Op{reg.RAX}, Inputs: []Op{reg.RAX}, IsTerminal: true})
}

// nextKeeping is next for code that also uses registers that avo assigns: the
// accumulator is in use until the end.
func (s isa) nextKeeping() {
	s.ADDQ(U8(stepBytes), rCode)
	s.MOVQ(Mem{Base: rCode}, reg.RAX)
	in := []Op{reg.RAX}
	s.each(func(_ int, a reg.Register) { in = append(in, a) })
	s.Instruction(&ir.Instruction{Opcode: "JMP", Operands: []Op{reg.RAX}, Inputs: in, IsTerminal: true})
}

// operand sets r to the address of operand i of the step, of elements of size bytes.
func (s isa) operand(i, size int, r reg.Register) Mem {
	s.MOVQ(Mem{Base: rCode, Disp: 16 + 16*i}, r)
	s.ANDQ(rAt, r)
	if size > 1 {
		s.SHLQ(U8(map[int]uint8{2: 1, 4: 2}[size]), r)
	}
	s.ADDQ(Mem{Base: rCode, Disp: 8 + 16*i}, r)
	return Mem{Base: r}
}

// each writes f for every register of the accumulator.
func (s isa) each(f func(i int, a reg.Register)) {
	for i := range stripRegs {
		f(i, s.acc(i))
	}
}

// cmp32 sets every lane of d to all ones where a and b compare as predicate p
// says, else to zero.
func (s isa) cmp32(p uint8, b Op, a, d reg.Register) {
	if !s.wide {
		s.VCMPPS(U8(p), b, a, d)
		return
	}
	s.VCMPPS(U8(p), b, a, reg.K1)
	s.VPMOVM2D(reg.K1, d)
}

// logic writes the bitwise operation of f32 lanes.
func (s isa) and(b, a, d Op) {
	if s.wide {
		s.VPANDD(b, a, d)
	} else {
		s.VPAND(b, a, d)
	}
}

func (s isa) or(b, a, d Op) {
	if s.wide {
		s.VPORD(b, a, d)
	} else {
		s.VPOR(b, a, d)
	}
}

func (s isa) xor(b, a, d Op) {
	if s.wide {
		s.VPXORD(b, a, d)
	} else {
		s.VPXOR(b, a, d)
	}
}

// andNot is b and not a.
func (s isa) andNot(b, a, d Op) {
	if s.wide {
		s.VPANDND(b, a, d)
	} else {
		s.VPANDN(b, a, d)
	}
}

// fill32 broadcasts element i of the array of 32-bit constants.
func (s isa) fill32(c word, d reg.Register) { s.VPBROADCASTD(global("vecWords", int(c), 4), d) }
