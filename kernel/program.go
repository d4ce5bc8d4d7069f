package kernel

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/program"
	"github.com/gofx-dev/gofx/kernel/internal/random"
)

// The operations of scalar programs.
type (
	// Code is a scalar operation.
	Code = opcode.Code

	// CodeInfo describes a Code.
	CodeInfo = opcode.CodeInfo

	// RegClass is a register file of the block machine.
	RegClass = opcode.RegClass
)

// The scalar operations. a, b, c are the operands in order.
const (
	OpInvalid = opcode.OpInvalid
	// OpInput reads element Imm of the inputs, broadcast to the output's shape.
	OpInput = opcode.OpInput
	// OpConst is the constant whose bits are Imm (see Instr.Imm).
	OpConst = opcode.OpConst
	// OpOutput stores a as output Imm.
	OpOutput = opcode.OpOutput
	// OpIndex is the flat row-major index of the output element.
	OpIndex = opcode.OpIndex
	// OpCoord is the output coordinate along axis int64(Imm); negative axes count
	// from the end.
	OpCoord = opcode.OpCoord
	// OpCast converts a from Instr.From.
	OpCast = opcode.OpCast
	// OpSelect is b where the bool a is true, else c.
	OpSelect = opcode.OpSelect
	// OpAdd is a+b.
	OpAdd = opcode.OpAdd
	// OpSub is a-b.
	OpSub = opcode.OpSub
	// OpMul is a*b.
	OpMul = opcode.OpMul
	// OpDiv is a/b: IEEE for floats; truncated for integers, 0 when b is 0.
	OpDiv = opcode.OpDiv
	// OpFloorDiv is the quotient rounded down, 0 for integers when b is 0.
	OpFloorDiv = opcode.OpFloorDiv
	// OpRem is the remainder of truncated division, with the sign of a; integers: 0
	// when b is 0.
	OpRem = opcode.OpRem
	// OpMod is the remainder of floored division, with the sign of b; integers: 0
	// when b is 0.
	OpMod = opcode.OpMod
	// OpPow is a to the power b.
	OpPow = opcode.OpPow
	// OpMin is the smaller operand; NaN if either is; -0 is below +0.
	OpMin = opcode.OpMin
	// OpMax is the larger operand; NaN if either is; -0 is below +0.
	OpMax = opcode.OpMax
	// OpNeg is -a.
	OpNeg = opcode.OpNeg
	// OpAbs is |a|; the least integer stays as it is.
	OpAbs = opcode.OpAbs
	// OpSign is (a>0) - (a<0); 0 for NaN and both zeros.
	OpSign = opcode.OpSign
	// OpReciprocal is 1/a.
	OpReciprocal = opcode.OpReciprocal
	// OpSqrt is the square root.
	OpSqrt = opcode.OpSqrt
	// OpRsqrt is 1/sqrt(a).
	OpRsqrt = opcode.OpRsqrt
	// OpExp is e**a.
	OpExp = opcode.OpExp
	// OpExpm1 is e**a - 1.
	OpExpm1 = opcode.OpExpm1
	// OpLog is the natural logarithm.
	OpLog = opcode.OpLog
	// OpLog1p is log(1+a).
	OpLog1p = opcode.OpLog1p
	// OpLog2 is the logarithm to base two.
	OpLog2 = opcode.OpLog2
	// OpSin is the sine of a in radians.
	OpSin = opcode.OpSin
	// OpCos is the cosine of a in radians.
	OpCos = opcode.OpCos
	// OpTan is the tangent of a in radians.
	OpTan = opcode.OpTan
	// OpAtan is the arc tangent.
	OpAtan = opcode.OpAtan
	// OpErf is the error function.
	OpErf = opcode.OpErf
	// OpTanh is the hyperbolic tangent.
	OpTanh = opcode.OpTanh
	// OpSigmoid is 1/(1+e**-a), in f32 zero where e**-a overflows.
	OpSigmoid = opcode.OpSigmoid
	// OpFloor rounds down.
	OpFloor = opcode.OpFloor
	// OpCeil rounds up.
	OpCeil = opcode.OpCeil
	// OpRound rounds to the nearest integer, halves to even.
	OpRound = opcode.OpRound
	// OpTrunc rounds toward zero.
	OpTrunc = opcode.OpTrunc
	// OpFMA is a*b+c rounded once.
	OpFMA = opcode.OpFMA
	// OpIsNaN is the bool a != a.
	OpIsNaN = opcode.OpIsNaN
	// OpEq is the bool a == b.
	OpEq = opcode.OpEq
	// OpNe is the bool a != b.
	OpNe = opcode.OpNe
	// OpLt is the bool a < b.
	OpLt = opcode.OpLt
	// OpLe is the bool a <= b.
	OpLe = opcode.OpLe
	// OpGt is the bool a > b.
	OpGt = opcode.OpGt
	// OpGe is the bool a >= b.
	OpGe = opcode.OpGe
	// OpAnd is the logical or bitwise conjunction.
	OpAnd = opcode.OpAnd
	// OpOr is the logical or bitwise disjunction.
	OpOr = opcode.OpOr
	// OpXor is the logical or bitwise exclusive disjunction.
	OpXor = opcode.OpXor
	// OpNot is the logical or bitwise complement.
	OpNot = opcode.OpNot
	// OpShl is a << b; 0 when b, taken as unsigned, is the width or more.
	OpShl = opcode.OpShl
	// OpShr is a >> b, arithmetic for signed types; a negative b counts as a huge
	// one.
	OpShr = opcode.OpShr
	// OpMulHi is the high half of the double-width product of u32 or u64 operands.
	OpMulHi = opcode.OpMulHi
	RegF32  = opcode.RegF32
	RegF64  = opcode.RegF64
	RegI64  = opcode.RegI64
)

// Codes returns every valid code in numerical order.
func Codes() []Code {
	return opcode.Codes()
}

// RegClassOf returns the register file that holds values of type d.
func RegClassOf(d array.DType) RegClass {
	return opcode.RegClassOf(d)
}

// Scalar programs, and the steps that run them.
type (
	// Instr is one instruction: Dst = Op(A, B, C).
	Instr = program.Instr

	// Program is straight-line code over blocks of elements, plain data that code
	// generation prints as a literal.
	Program = program.Program

	// ElementwiseReduce runs Program over the elements of Shape, to which the inputs
	// broadcast as for Elementwise, and reduces the dimensions Dims (all when empty)
	// of its outputs: output i by Kinds[i], one of the kinds of Reduce, into out[i],
	// whose type decides the type of the result; the kind "" stores the elements.
	ElementwiseReduce = program.ElementwiseReduce

	// Elementwise runs Program over every element of the outputs, which all have the
	// same shape.
	Elementwise = program.Elementwise

	// ElementwiseRows is a softmax or a norm of f32 between elementwise calls: Before
	// makes f32 of its operands, Kind ("softmax", "log_softmax", "layer_norm", "rms_norm",
	// "group_norm") says what becomes of its rows, After makes the result of them and
	// further operands. Operands are Before's, or the rows where it is nil, weight and
	// bias or nil, and those of After behind its first, which are the rows.
	ElementwiseRows = program.ElementwiseRows
)

// The constants of Philox.
const (
	PhiloxM0 = random.PhiloxM0
	PhiloxM1 = random.PhiloxM1
	PhiloxW0 = random.PhiloxW0
	PhiloxW1 = random.PhiloxW1
	// PhiloxRounds is the number of rounds that gofx uses.
	PhiloxRounds = random.PhiloxRounds
)

// Philox4x32 returns the four random words of a counter under a key: the
// counter-based generator Philox4x32-10 of Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). Equal arguments give
// equal words on every target; package op/expr has the same function as a DAG.
func Philox4x32(ctr [4]uint32, key [2]uint32) [4]uint32 {
	return random.Philox4x32(ctr, key)
}

// UniformF32 maps a random word to [0, 1): its upper 24 bits times 2**-24.
func UniformF32(word uint32) float32 {
	return random.UniformF32(word)
}

// NormalF32 maps two random words to two independent standard normal values, by
// Box and Muller's transformation (1958) in f32. The largest magnitude is 6.77.
func NormalF32(a, b uint32) (float32, float32) {
	return random.NormalF32(a, b)
}
