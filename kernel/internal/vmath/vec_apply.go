package vmath

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
)

const (
	// StepWords is the size of a step of the strip machine in words: the address of
	// its code, twice the address and the index mask of an operand, and the
	// operands' numbers (see stripCoder).
	StepWords = 6
	// MaxStrip is the longest strip of any level.
	MaxStrip = 128
)

// StripTemp is the scratch of steps, two strips.
type StripTemp [2 * MaxStrip]float32

// FunctionSteps has the steps of the functions of f32.
var FunctionSteps = [opcode.Count]uint8{
	opcode.OpExp: stepExp, opcode.OpExpm1: stepExpm1, opcode.OpLog: stepLog, opcode.OpLog1p: stepLog1p, opcode.OpLog2: stepLog2, opcode.OpSin: stepSin, opcode.OpCos: stepCos,
	opcode.OpTan: stepTan, opcode.OpAtan: stepAtan, opcode.OpErf: stepErf, opcode.OpTanh: stepTanh, opcode.OpSigmoid: stepSigmoid, opcode.OpRsqrt: stepRsqrt,
}

// ApplyFunction computes a function of f32, which Apply32 lists, at a level.
func ApplyFunction(level cpu.Level, op opcode.Code, d, a []float32) {
	code := StripCode(level)
	if code == nil {
		ApplyTwin(op, d, a)
		return
	}
	all := ^uint64(0)
	steps := [4 * StepWords]uint64{code[StepLoad], 0, all, 0, 0, 0, code[FunctionSteps[op]], 0, 0, 0, 0, 0,
		code[StepStore], 0, all, 0, 0, 0, code[StepEnd]}
	var temp StripTemp
	n := len(d) - len(d)%StripLen(level)
	applyStrips(level, &steps, d[:n], a[:n], &temp)
	if n < len(d) {
		var x, y [MaxStrip]float32
		copy(x[:], a[n:len(d)])
		applyStrips(level, &steps, y[:StripLen(level)], x[:], &temp)
		copy(d[n:], y[:])
	}
}
