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
// a type and casts or compares the result, as one with the learning rate of an optimiser or with the key of random
// numbers does, has these instructions computed once, for one element, by the machine that computes
// blocks otherwise: the results are constants of the strips. So are values that follow from such results
// alone, up to foldedSlots of them. Of an element's index strips have the two halves: see index.

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

// foldedSlots is the number of results that may be constants of strips next to scalarResults.
const foldedSlots = 32

// mostFolds is how many of them there can be.
func (p *Program) mostFolds() int { return min(foldedSlots, len(p.Code)) }

// scalars is what is known of the registers of the one element.
type scalars struct {
	held  [3][]uint8
	slots []float32 // a strip for each result
	used  int
	folds int // of which are folded
}

// What a register of scalars holds.
const (
	heldNothing   = iota
	heldScalar    // the value, the same for all elements
	heldIndex     // nothing: the value is the element's index
	heldIndexHigh // nothing: the value is the upper half of that
)

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
		s.held[opcode.RegClassOf(k.DType)][k.Dst] = heldScalar
	}
	s.slots = par.Scratch[float32](w, (results+s.p.mostFolds())*s.strip)
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
	return n + alignScratch(8) + alignScratch(len(p.Inputs)*layoutLen(rank)*8) + alignScratch((rank+1)*8) + alignScratch((results+p.mostFolds())*vmath.MaxStrip*4)
}

// scalar computes an instruction for one element, and reports false where it does not have the
// same result for all.
func (s *stripRun) scalar(in *Instr) bool {
	switch in.Op {
	case opcode.OpOutput, opcode.OpIndex, opcode.OpCoord:
		return false
	case opcode.OpInput:
		if s.lies(int(in.Imm)) != layOne {
			return false
		}
	default:
		for k, r := range [3]uint16{in.A, in.B, in.C} {
			if k < opcode.Table[in.Op].Arity && s.held[opcode.RegClassOf(operandType(in, k))][r] != heldScalar {
				return false
			}
		}
	}
	at := s.start
	s.start, s.n = 0, 1
	s.exec(in)
	s.start = at
	s.held[opcode.RegClassOf(in.DType)][in.Dst] = heldScalar
	if stripType(in.DType) {
		s.repeat(in)
	}
	return true
}

// folded computes an instruction of strips as scalar does, if it follows from scalars and there is
// a slot for its result.
func (s *stripRun) folded(in *Instr) bool {
	if len(s.slots) == 0 || s.folds == s.p.mostFolds() || in.Op == opcode.OpInput || !s.scalar(in) {
		return false
	}
	s.folds++
	return true
}

// index follows the index of elements to its halves, which are steps. Strips begin at multiples of
// their length: the upper half is the same for all elements of one.
func (s *stripRun) index(in *Instr) bool {
	held := s.held[opcode.RegI64]
	switch isCast := in.Op == opcode.OpCast && wide(in.From); {
	case in.Op == opcode.OpIndex:
		held[in.Dst] = heldIndex
	case isCast && wide(in.DType) && held[in.A] != heldNothing:
		held[in.Dst] = held[in.A]
	case isCast && (in.DType == array.U32 || in.DType == array.I32) && held[in.A] != heldNothing:
		s.half(in, held[in.A])
	case in.Op == opcode.OpShr && wide(in.DType) && held[in.A] == heldIndex && held[in.B] == heldScalar && s.rI64(in.B)[0] == 32:
		held[in.Dst] = heldIndexHigh
	default:
		return false
	}
	return true
}

func wide(t array.DType) bool { return t == array.I64 || t == array.U64 }

// half gives the accumulator half of the index.
func (s *stripRun) half(in *Instr, of uint8) {
	c, step := &s.coder, uint8(vmath.StepIndex)
	if of == heldIndexHigh {
		step = vmath.StepIndexHigh
	}
	r := c.reg(in.DType, in.Dst)
	if c.acc == r {
		c.acc = -1
	}
	c.keep(true)
	c.emit(step, place{}, place{})
	c.give(r)
	s.lost(in)
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
