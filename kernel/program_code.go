package kernel

import (
	"unsafe"

	"github.com/gofx-dev/gofx/array"
)

// stripCoder translates a program to steps of the strip machine. One value is in
// the accumulator; the others have a place: memory of an input, or a slot of one
// strip. A value moves to its slot when another one needs the accumulator.
type stripCoder struct {
	code   *[stripSteps]uint64
	steps  []uint64
	used   int
	places []place // of the f32 registers, then of the others
	ints   int     // index of the first of the others
	last   []int32 // for each instruction the last one that reads its result
	slots  uint64  // address of the first slot
	slot   uint64  // bytes in a slot
	extra  int     // slots of constants beyond those of registers
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

// extraSlots is the number of constants that conversions may need.
const extraSlots = 4

func addressOf[T array.Elem](s []T) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(s))))
}

func (c *stripCoder) reg(t array.DType, r uint16) int {
	if RegClassOf(t) == RegF32 {
		return int(r)
	}
	return c.ints + int(r)
}

func (c *stripCoder) slotOf(r int) uint64 { return c.slots + uint64(r)*c.slot }

func (c *stripCoder) emit(step uint8, a, b place) {
	s := c.steps[c.used:][:stepWords]
	s[0], s[1], s[2], s[3], s[4], s[5] = c.code[step], a.addr, a.mask, b.addr, b.mask, a.tag|b.tag<<32
	c.used += stepWords
}

// constant returns the place of a slot filled with bits.
func (c *stripCoder) constant(bits uint32) place {
	n := int(c.slot / 4)
	for i := range c.extra {
		if s := viewAs[uint32](c.f32s[(len(c.places)+i)*n:][:n]); s[0] == bits {
			return place{addr: addressOf(s)}
		}
	}
	if c.extra == extraSlots {
		c.failed = true
		return place{}
	}
	s := viewAs[uint32](c.f32s[(len(c.places)+c.extra)*n:][:n])
	fillBlock(s, bits)
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
		if in.Op != OpOutput {
			d := c.reg(in.DType, in.Dst)
			c.last[i], read[d] = read[d], -1
		}
		for k, r := range [3]uint16{in.A, in.B, in.C} {
			if k < codeTable[in.Op].Arity {
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
	case in.Op == OpSelect && k == 0:
		return array.Bool
	case in.From != array.Invalid && in.Op != OpSelect:
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
		c.emit(stepStore, *p, place{})
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
	c.emit(stepLoad, c.places[r], place{})
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
	case in.Op == OpCast:
		ok = c.cast(in.From, in.DType, a)
	case in.Op == OpSelect:
		ok = stripType(in.DType)
		c.ternary(stepSelect, a, b, c.reg(in.DType, in.C))
	case in.Op >= OpIsNaN && in.Op <= OpGe:
		ok = c.compare(in, a, b)
	case RegClassOf(in.DType) == RegF32:
		ok = c.float(in, a, b)
	default:
		ok = c.integer(in, a, b)
	}
	c.give(c.reg(in.DType, in.Dst))
	return ok && !c.failed
}

// stripType reports whether the machine has values of type t: f32 lanes, lanes
// of ones or zeros for bool, and i32 lanes for the integers that fit.
func stripType(t array.DType) bool {
	switch t {
	case array.F32, array.F16, array.BF16, array.Bool, array.I32, array.I16, array.I8, array.U16, array.U8:
		return true
	}
	return false
}

// pairSteps has the steps of operations on two f32 values, and those for
// exchanged operands.
var pairSteps = [numCodes][2]uint8{
	OpAdd: {stepAdd, stepAdd}, OpSub: {stepSub, stepSubFrom}, OpMul: {stepMul, stepMul}, OpDiv: {stepDiv, stepDivInto},
	OpMin: {stepMin, stepMin}, OpMax: {stepMax, stepMax}, OpPow: {stepPow, 0},
	OpEq: {stepEq, stepEq}, OpNe: {stepNe, stepNe}, OpLt: {stepLt, stepGt}, OpLe: {stepLe, stepGe},
	OpGt: {stepGt, stepLt}, OpGe: {stepGe, stepLe},
}

// singleSteps has the steps of operations on one f32 value besides functionSteps.
var singleSteps = [numCodes]uint8{
	OpNeg: stepNeg, OpAbs: stepAbs, OpSign: stepSign, OpReciprocal: stepReciprocal, OpSqrt: stepSqrt, OpFloor: stepFloor,
	OpCeil: stepCeil, OpRound: stepRound, OpTrunc: stepTrunc, OpIsNaN: stepIsNaN,
}

func (c *stripCoder) float(in *Instr, a, b int) bool {
	switch pair := pairSteps[in.Op]; {
	case pair[0] != 0:
		c.binary(pair[0], pair[1], a, b)
	case singleSteps[in.Op] != 0:
		c.unary(singleSteps[in.Op], a)
	case functionSteps[in.Op] != 0:
		c.unary(functionSteps[in.Op], a)
	case in.Op == OpFMA:
		if d := c.reg(in.DType, in.C); c.acc == d && d != a && d != b {
			c.ternary(stepFMAInto, d, a, b)
		} else {
			c.ternary(stepFMA, a, b, d)
		}
	default:
		return false
	}
	c.round(in.DType)
	return true
}

// round rounds the accumulator to what f16 or bf16 holds.
func (c *stripCoder) round(t array.DType) {
	switch t {
	case array.F16:
		c.emit(stepRoundF16, place{}, place{})
	case array.BF16:
		c.emit(stepRoundBF16, place{}, place{})
	}
}

func (c *stripCoder) compare(in *Instr, a, b int) bool {
	switch {
	case in.Op == OpIsNaN:
		c.unary(stepIsNaN, a)
	case RegClassOf(in.From) == RegF32:
		c.binary(pairSteps[in.Op][0], pairSteps[in.Op][1], a, b)
	case !stripType(in.From) || in.From == array.Bool:
		return false
	case in.Op == OpEq:
		c.binary(stepIntEq, stepIntEq, a, b)
	case in.Op == OpLt:
		c.binary(stepIntLt, stepIntGt, a, b)
	case in.Op == OpGt:
		c.binary(stepIntGt, stepIntLt, a, b)
	default:
		c.compareNot(in.Op, a, b)
	}
	return true
}

// compareNot compares integers by the complement.
func (c *stripCoder) compareNot(op Code, a, b int) {
	k := c.constant(^uint32(0))
	switch op {
	case OpNe:
		c.binary(stepIntEq, stepIntEq, a, b)
	case OpLe:
		c.binary(stepIntGt, stepIntLt, a, b)
	default:
		c.binary(stepIntLt, stepIntGt, a, b)
	}
	c.emit(stepXor, k, place{})
}

// integer translates operations on i32, and the bitwise ones on bool.
func (c *stripCoder) integer(in *Instr, a, b int) bool {
	if in.DType != array.I32 && (in.DType != array.Bool || in.Op < OpAnd) {
		return false
	}
	switch in.Op {
	case OpAnd:
		c.binary(stepAnd, stepAnd, a, b)
	case OpOr:
		c.binary(stepOr, stepOr, a, b)
	case OpXor:
		c.binary(stepXor, stepXor, a, b)
	case OpNot:
		c.withConst(stepXor, a, ^uint32(0))
	case OpAdd:
		c.binary(stepIntAdd, stepIntAdd, a, b)
	case OpSub:
		c.binary(stepIntSub, stepIntSubFrom, a, b)
	case OpMul:
		c.binary(stepIntMul, stepIntMul, a, b)
	case OpMin:
		c.binary(stepIntMin, stepIntMin, a, b)
	case OpMax:
		c.binary(stepIntMax, stepIntMax, a, b)
	case OpNeg:
		c.withConst(stepIntSubFrom, a, 0)
	default:
		return false
	}
	return true
}
