package kernel

//go:generate go run -C ../internal/asmgen ./vec

// The steps of the strip machine, in the order of internal/asmgen/vec. "a" is the
// accumulator, m and n are the operands in memory.
const (
	stepEnd = iota
	stepLoad
	stepStore
	stepStoreThrough
	stepLoadF16
	stepLoadBF16
	stepLoadI8
	stepLoadU8
	stepLoadI16
	stepLoadU16
	stepLoadBool
	stepStoreF16
	stepStoreBF16
	stepStore16
	stepStore8
	stepStoreBool
	stepRoundF16
	stepRoundBF16
	stepAdd
	stepSub
	stepSubFrom
	stepMul
	stepDiv
	stepDivInto
	stepMin
	stepMax
	stepFMA
	stepFMAInto
	stepSelect
	stepNeg
	stepAbs
	stepSqrt
	stepReciprocal
	stepSign
	stepRound
	stepFloor
	stepCeil
	stepTrunc
	stepEq
	stepNe
	stepLt
	stepLe
	stepGt
	stepGe
	stepIsNaN
	stepAnd
	stepOr
	stepXor
	stepIntAdd
	stepIntSub
	stepIntSubFrom
	stepIntMul
	stepIntMin
	stepIntMax
	stepIntEq
	stepIntGt
	stepIntLt
	stepFromInt
	stepToInt
	stepExp
	stepExpm1
	stepLog
	stepLog1p
	stepLog2
	stepSin
	stepCos
	stepTan
	stepAtan
	stepErf
	stepTanh
	stepSigmoid
	stepRsqrt
	stepPow

	stripSteps
)
