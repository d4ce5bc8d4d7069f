package program

import (
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// stripCoder translates a program to steps of the strip machine. One value is in
// the accumulator; the others have a place: memory of an input, or a slot of one
// strip. A value moves to its slot when another one needs the accumulator.
type stripCoder struct {
	code   *[vmath.StripSteps]uint64
	steps  []uint64
	used   int
	places []place // of the f32 registers, then of the others
	ints   int     // index of the first of the others
	last   []int32 // for each instruction the last one that reads its result
	slots  uint64  // address of the first slot
	slot   uint64  // bytes in a slot
	extra  int     // slots of constants beyond those of registers
	most   int     // of them that there is room for
	f32s   []float32

	at     int // the instruction
	acc    int // register in the accumulator, -1 for none
	saved  bool
	failed bool
}

// place is where a register's value is in memory.
type place struct {
	addr uint64
	mask uint64 // of the element index: 0 in slots
	tag  uint64 // operand number that Go may replace at the end of arrays, 0 for none
	last int64  // the last instruction that reads it
}

// placesOf returns memory as places.
func placesOf(words []uint64) []place {
	return unsafe.Slice((*place)(unsafe.Pointer(unsafe.SliceData(words))), len(words)/placeWords)
}

// extraSlots is the number of constants that conversions may need, and those of integers.
func extraSlots(p *Program) int {
	if p.Regs[opcode.RegI64] > 0 {
		return 12
	}
	return 4
}

func addressOf[T array.Elem](s []T) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(s))))
}

func (c *stripCoder) reg(t array.DType, r uint16) int {
	if opcode.RegClassOf(t) == opcode.RegF32 {
		return int(r)
	}
	return c.ints + int(r)
}

func (c *stripCoder) slotOf(r int) uint64 { return c.slots + uint64(r)*c.slot }

func (c *stripCoder) emit(step uint8, a, b place) {
	s := c.steps[c.used:][:vmath.StepWords]
	s[0], s[1], s[2], s[3], s[4], s[5] = c.code[step], a.addr, a.mask, b.addr, b.mask, a.tag|b.tag<<32
	c.used += vmath.StepWords
}

// constant returns the place of a slot filled with bits.
func (c *stripCoder) constant(bits uint32) place {
	n := int(c.slot / 4)
	for i := range c.extra {
		if s := viewAs[uint32](c.f32s[(len(c.places)+i)*n:][:n]); s[0] == bits {
			return place{addr: addressOf(s)}
		}
	}
	if c.extra == c.most {
		c.failed = true
		return place{}
	}
	s := viewAs[uint32](c.f32s[(len(c.places)+c.extra)*n:][:n])
	operand.FillBlock(s, bits)
	c.extra++
	return place{addr: addressOf(s)}
}

// lifetimes sets last for every instruction.
func (c *stripCoder) lifetimes(p *Program, read []int32) {
	for i := range read {
		read[i] = -1
	}
	for i := len(p.Code) - 1; i >= 0; i-- {
		in := &p.Code[i]
		if in.Op != opcode.OpOutput && stripType(in.DType) {
			d := c.reg(in.DType, in.Dst)
			c.last[i], read[d] = read[d], -1
		}
		if !stripInstr(in) {
			continue // see scalar.go
		}
		for k, r := range [3]uint16{in.A, in.B, in.C} {
			if k < opcode.Table[in.Op].Arity {
				if x := c.reg(operandType(in, k), r); read[x] < 0 {
					read[x] = int32(i)
				}
			}
		}
	}
}

// operandType returns the type of operand k.
func operandType(in *Instr, k int) array.DType {
	switch {
	case in.Op == opcode.OpSelect && k == 0:
		return array.Bool
	case in.From != array.Invalid && in.Op != opcode.OpSelect:
		return in.From
	}
	return in.DType
}

// keep saves the accumulator if it is still wanted after the current instruction;
// with now, if it is wanted by this one.
func (c *stripCoder) keep(now bool) {
	if c.acc < 0 || c.saved {
		return
	}
	p := &c.places[c.acc]
	if int(p.last) > c.at || now && int(p.last) == c.at {
		p.addr, p.mask, p.tag = c.slotOf(c.acc), 0, 0
		c.emit(vmath.StepStore, *p, place{})
		c.saved = true
	}
}

// take brings register r to the accumulator, whose content may then change.
func (c *stripCoder) take(r int) {
	if c.acc == r {
		c.keep(false)
		return
	}
	c.keep(true)
	c.emit(vmath.StepLoad, c.places[r], place{})
}

// memory returns the place of register r, which is also there after the
// accumulator changes.
func (c *stripCoder) memory(r int) place {
	if c.acc == r {
		c.keep(true)
	}
	return c.places[r]
}

// give says that the accumulator holds the result of the current instruction.
func (c *stripCoder) give(r int) {
	c.acc, c.saved = r, false
	c.places[r] = place{last: int64(c.last[c.at])}
}

// unary emits a step on one operand.
func (c *stripCoder) unary(step uint8, a int) {
	c.take(a)
	c.emit(step, place{}, place{})
}

// withConst emits a step on one operand and a constant.
func (c *stripCoder) withConst(step uint8, a int, bits uint32) {
	k := c.constant(bits)
	c.take(a)
	c.emit(step, k, place{})
}

// binary emits a step on two operands; swapped is the step for exchanged ones, 0
// for none.
func (c *stripCoder) binary(step, swapped uint8, a, b int) {
	if c.acc == b && a != b && swapped != 0 {
		a, b, step = b, a, swapped
	}
	m := c.memory(b)
	c.take(a)
	c.emit(step, m, place{})
}

// ternary emits a step on three operands, the first in the accumulator.
func (c *stripCoder) ternary(step uint8, a, b, d int) {
	m, n := c.memory(b), c.memory(d)
	c.take(a)
	c.emit(step, m, n)
}

// instruction translates one, and reports false where there are no steps for it.
func (c *stripCoder) instruction(in *Instr) bool {
	a, b := c.reg(operandType(in, 0), in.A), c.reg(operandType(in, 1), in.B)
	ok := true
	switch {
	case in.Op == opcode.OpCast:
		ok = c.cast(in.From, in.DType, a)
	case in.Op == opcode.OpSelect:
		ok = stripType(in.DType)
		c.ternary(vmath.StepSelect, a, b, c.reg(in.DType, in.C))
	case in.Op >= opcode.OpIsNaN && in.Op <= opcode.OpGe:
		ok = c.compare(in, a, b)
	case opcode.RegClassOf(in.DType) == opcode.RegF32:
		ok = c.float(in, a, b)
	default:
		ok = c.integer(in, a, b)
	}
	c.give(c.reg(in.DType, in.Dst))
	return ok && !c.failed
}

// stripType reports whether the machine has values of type t: f32 lanes, lanes
// of ones or zeros for bool, and lanes of 32 bits for the integers that fit.
func stripType(t array.DType) bool {
	switch t {
	case array.F32, array.F16, array.BF16, array.Bool, array.I32, array.I16, array.I8, array.U32, array.U16, array.U8:
		return true
	}
	return false
}

// pairSteps has the steps of operations on two f32 values, and those for
// exchanged operands.
var pairSteps = [opcode.Count][2]uint8{
	opcode.OpAdd: {vmath.StepAdd, vmath.StepAdd}, opcode.OpSub: {vmath.StepSub, vmath.StepSubFrom}, opcode.OpMul: {vmath.StepMul, vmath.StepMul}, opcode.OpDiv: {vmath.StepDiv, vmath.StepDivInto},
	opcode.OpMin: {vmath.StepMin, vmath.StepMin}, opcode.OpMax: {vmath.StepMax, vmath.StepMax}, opcode.OpPow: {vmath.StepPow, 0},
	opcode.OpEq: {vmath.StepEq, vmath.StepEq}, opcode.OpNe: {vmath.StepNe, vmath.StepNe}, opcode.OpLt: {vmath.StepLt, vmath.StepGt}, opcode.OpLe: {vmath.StepLe, vmath.StepGe},
	opcode.OpGt: {vmath.StepGt, vmath.StepLt}, opcode.OpGe: {vmath.StepGe, vmath.StepLe},
}

// singleSteps has the steps of operations on one f32 value besides vmath.FunctionSteps.
var singleSteps = [opcode.Count]uint8{
	opcode.OpNeg: vmath.StepNeg, opcode.OpAbs: vmath.StepAbs, opcode.OpSign: vmath.StepSign, opcode.OpReciprocal: vmath.StepReciprocal, opcode.OpSqrt: vmath.StepSqrt, opcode.OpFloor: vmath.StepFloor,
	opcode.OpCeil: vmath.StepCeil, opcode.OpRound: vmath.StepRound, opcode.OpTrunc: vmath.StepTrunc, opcode.OpIsNaN: vmath.StepIsNaN,
}

func (c *stripCoder) float(in *Instr, a, b int) bool {
	switch pair := pairSteps[in.Op]; {
	case pair[0] != 0:
		c.binary(pair[0], pair[1], a, b)
	case singleSteps[in.Op] != 0:
		c.unary(singleSteps[in.Op], a)
	case vmath.FunctionSteps[in.Op] != 0:
		c.unary(vmath.FunctionSteps[in.Op], a)
	case in.Op == opcode.OpFMA:
		if d := c.reg(in.DType, in.C); c.acc == d && d != a && d != b {
			c.ternary(vmath.StepFMAInto, d, a, b)
		} else {
			c.ternary(vmath.StepFMA, a, b, d)
		}
	default:
		return false
	}
	c.round(in.DType)
	return true
}

// round rounds the accumulator to a value of f16 or bf16.
func (c *stripCoder) round(t array.DType) {
	switch t {
	case array.F16:
		c.emit(vmath.StepRoundF16, place{}, place{})
	case array.BF16:
		c.emit(vmath.StepRoundBF16, place{}, place{})
	}
}
