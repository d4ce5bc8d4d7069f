package program

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// Strips have no f64 and no integers of 64 bits. A program that computes with a scalar of such
// a type and casts or compares the result, as one with the learning rate of an optimiser does, has these
// instructions computed once, for one element, by the machine that computes blocks otherwise:
// the results are constants of the strips.

// scalarResults is the number of casts and comparisons that give types of strips of others.
func (p *Program) scalarResults() (n int) {
	for i := range p.Code {
		if in := &p.Code[i]; in.From != array.Invalid && stripType(in.DType) && !stripType(in.From) {
			n++
		}
	}
	return n
}

// stripInstr reports whether strips have the types of an instruction.
func stripInstr(in *Instr) bool {
	return stripType(in.DType) && (in.From == array.Invalid || stripType(in.From))
}

// scalars is what is known of the registers of the one element.
type scalars struct {
	held  [3][]uint8 // 1 for registers that have their value
	slots []float32  // a strip for each result
	used  int
}

// beginScalars makes a machine of one element, for programs that need it.
func (s *stripRun) beginScalars(w *par.Workspace) {
	results := s.p.scalarResults()
	if results == 0 {
		return
	}
	at := s.start
	s.begin(w, 1)
	s.start = at
	for c := range s.held {
		s.held[c] = par.Scratch[uint8](w, s.p.Regs[c])
		clear(s.held[c])
	}
	for i := range s.p.Consts {
		k := &s.p.Consts[i]
		s.held[opcode.RegClassOf(k.DType)][k.Dst] = 1
	}
	s.slots = par.Scratch[float32](w, results*s.strip)
}

// scalarScratch bounds what beginScalars takes.
func (p *Program) scalarScratch(rank int) (n int) {
	results := p.scalarResults()
	if results == 0 {
		return 0
	}
	for c, r := range p.Regs {
		size := 8
		if opcode.RegClass(c) == opcode.RegF32 {
			size = 4
		}
		n += alignScratch(r*size) + alignScratch(2*r) + alignScratch(r)
	}
	return n + alignScratch(8) + alignScratch(len(p.Inputs)*layoutLen(rank)*8) + alignScratch((rank+1)*8) + alignScratch(results*vmath.MaxStrip*4)
}

// scalar computes an instruction for one element, and reports false where it does not have the
// same result for all.
func (s *stripRun) scalar(in *Instr) bool {
	switch in.Op {
	case opcode.OpOutput:
		return false
	case opcode.OpInput:
		if s.lies(int(in.Imm)) != layOne {
			return false
		}
	default:
		for k, r := range [3]uint16{in.A, in.B, in.C} {
			if k < opcode.Table[in.Op].Arity && s.held[opcode.RegClassOf(operandType(in, k))][r] == 0 {
				return false
			}
		}
	}
	at := s.start
	s.start, s.n = 0, 1
	s.exec(in)
	s.start = at
	s.held[opcode.RegClassOf(in.DType)][in.Dst] = 1
	if stripType(in.DType) {
		s.repeat(in)
	}
	return true
}

// repeat makes the result of a scalar instruction a constant of the strips, in a slot of its
// own: that of the register is written by whatever shares it.
func (s *stripRun) repeat(in *Instr) {
	c := &s.coder
	slot := viewAs[uint32](s.slots[s.used*s.strip:][:s.strip])
	s.used++
	switch {
	case opcode.RegClassOf(in.DType) == opcode.RegF32:
		operand.FillBlock(slot, math.Float32bits(s.rF32(in.Dst)[0]))
	case in.DType == array.Bool:
		operand.FillBlock(slot, -uint32(s.rI64(in.Dst)[0]&1))
	default:
		operand.FillBlock(slot, uint32(s.rI64(in.Dst)[0]))
	}
	r := c.reg(in.DType, in.Dst)
	if c.acc == r {
		c.acc = -1
	}
	c.places[r] = place{addr: addressOf(slot), last: int64(c.last[c.at])}
}

// lost says that an instruction of strips has written a register.
func (s *stripRun) lost(in *Instr) {
	if s.used+len(s.slots) > 0 && in.Op != opcode.OpOutput {
		s.held[opcode.RegClassOf(in.DType)][in.Dst] = 0
	}
}
