package program

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// Lanes of integers hold 32 bits: the values of narrower types extended by their sign or by zeros, so that
// one step serves several types and a result of a narrower one is brought back to its range. Lanes of
// bool, all ones or zeros, compare as unsigned numbers.

// intSteps has the steps of operations on two integers, and those for exchanged operands.
var intSteps = [opcode.Count][2]uint8{
	opcode.OpAdd: {vmath.StepIntAdd, vmath.StepIntAdd}, opcode.OpSub: {vmath.StepIntSub, vmath.StepIntSubFrom}, opcode.OpMul: {vmath.StepIntMul, vmath.StepIntMul},
	opcode.OpMin: {vmath.StepIntMin, vmath.StepIntMin}, opcode.OpMax: {vmath.StepIntMax, vmath.StepIntMax}, opcode.OpMulHi: {vmath.StepUintMulHi, vmath.StepUintMulHi},
	opcode.OpAnd: {vmath.StepAnd, vmath.StepAnd}, opcode.OpOr: {vmath.StepOr, vmath.StepOr}, opcode.OpXor: {vmath.StepXor, vmath.StepXor},
	opcode.OpShl: {vmath.StepIntShl}, opcode.OpShr: {vmath.StepIntShr},
	opcode.OpEq: {vmath.StepIntEq, vmath.StepIntEq}, opcode.OpLt: {vmath.StepIntLt, vmath.StepIntGt}, opcode.OpGt: {vmath.StepIntGt, vmath.StepIntLt},
}

// uintSteps has those of u32, and of bool, that differ.
var uintSteps = [opcode.Count][2]uint8{
	opcode.OpMin: {vmath.StepUintMin, vmath.StepUintMin}, opcode.OpMax: {vmath.StepUintMax, vmath.StepUintMax}, opcode.OpShr: {vmath.StepUintShr},
	opcode.OpLe: {vmath.StepUintLe, vmath.StepUintGe}, opcode.OpGe: {vmath.StepUintGe, vmath.StepUintLe},
}

// opposites has the comparisons that are true where others are not.
var opposites = [opcode.Count]opcode.Code{
	opcode.OpEq: opcode.OpNe, opcode.OpNe: opcode.OpEq, opcode.OpLt: opcode.OpGe, opcode.OpGe: opcode.OpLt, opcode.OpLe: opcode.OpGt, opcode.OpGt: opcode.OpLe,
}

// fullUnsigned reports whether lanes of type t are unsigned numbers of 32 bits.
func fullUnsigned(t array.DType) bool { return t == array.U32 || t == array.Bool }

// intStep returns the steps of an operation on two values of type t, zero for none.
func intStep(op opcode.Code, t array.DType) [2]uint8 {
	signed := !fullUnsigned(t)
	switch {
	case !signed && uintSteps[op][0] != 0:
		return uintSteps[op]
	case !signed && (op == opcode.OpLt || op == opcode.OpGt):
		return [2]uint8{}
	}
	return intSteps[op]
}

func (c *stripCoder) compare(in *Instr, a, b int) bool {
	switch {
	case in.Op == opcode.OpIsNaN:
		c.unary(vmath.StepIsNaN, a)
	case opcode.RegClassOf(in.From) == opcode.RegF32:
		c.binary(pairSteps[in.Op][0], pairSteps[in.Op][1], a, b)
	case !stripType(in.From):
		return false
	default:
		c.compareInts(in, a, b)
	}
	return true
}

// compareInts compares, or takes the complement of the opposite comparison.
func (c *stripCoder) compareInts(in *Instr, a, b int) {
	if pair := intStep(in.Op, in.From); pair[0] != 0 {
		c.binary(pair[0], pair[1], a, b)
		return
	}
	ones := c.constant(^uint32(0))
	pair := intStep(opposites[in.Op], in.From)
	c.binary(pair[0], pair[1], a, b)
	c.emit(vmath.StepXor, ones, place{})
}

// integer translates operations on integers and bool.
func (c *stripCoder) integer(in *Instr, a, b int) bool {
	if !stripType(in.DType) {
		return false
	}
	switch pair := intStep(in.Op, in.DType); {
	case in.Op == opcode.OpShr && !in.DType.IsSigned():
		c.binary(vmath.StepUintShr, 0, a, b)
	case pair[0] != 0:
		c.binary(pair[0], pair[1], a, b)
	case in.Op == opcode.OpNot:
		c.withConst(vmath.StepXor, a, ^uint32(0))
	case in.Op == opcode.OpNeg:
		c.withConst(vmath.StepIntSubFrom, a, 0)
	case in.Op == opcode.OpAbs && in.DType.IsSigned():
		c.unary(vmath.StepIntAbs, a)
	case in.Op == opcode.OpAbs:
		c.take(a)
	case in.Op == opcode.OpSign && in.DType.IsSigned():
		least, most := c.constant(^uint32(0)), c.constant(1)
		c.take(a)
		c.emit(vmath.StepIntMax, least, place{})
		c.emit(vmath.StepIntMin, most, place{})
	case in.Op == opcode.OpSign:
		c.withConst(vmath.StepUintMin, a, 1)
	default:
		return false
	}
	if leavesRange[in.Op] {
		c.wrap(in.DType)
	}
	return true
}

// leavesRange says which operations on values of a type may give others.
var leavesRange = [opcode.Count]bool{
	opcode.OpAdd: true, opcode.OpSub: true, opcode.OpMul: true, opcode.OpNeg: true, opcode.OpAbs: true, opcode.OpNot: true, opcode.OpShl: true,
}

// wrap reduces the accumulator to the range of a type, by its low bits.
func (c *stripCoder) wrap(t array.DType) {
	switch bits := t.Bits(); {
	case bits >= 32 || t == array.Bool:
	case t.IsSigned():
		by := c.constant(uint32(32 - bits))
		c.emit(vmath.StepIntShl, by, place{})
		c.emit(vmath.StepIntShr, by, place{})
	default:
		c.emit(vmath.StepAnd, c.constant(1<<bits-1), place{})
	}
}
