package vmath

//go:generate go run -C ../../../internal/generators/asmgen ./vmath

// The steps of the strip machine, in the order of internal/generators/asmgen/vec. "a" is the
// accumulator, m and n are the operands in memory.
const (
	StepEnd = iota
	StepLoad
	StepStore
	StepStoreThrough
	StepPrefetch
	StepLoadF16
	StepLoadBF16
	StepLoadI8
	StepLoadU8
	StepLoadI16
	StepLoadU16
	StepLoadBool
	StepStoreF16
	StepStoreBF16
	StepStore16
	StepStore8
	StepStoreBool
	StepRoundF16
	StepRoundBF16
	StepAdd
	StepSub
	StepSubFrom
	StepMul
	StepDiv
	StepDivInto
	StepMin
	StepMax
	StepFMA
	StepFMAInto
	StepSelect
	StepNeg
	StepAbs
	StepSqrt
	StepReciprocal
	StepSign
	StepRound
	StepFloor
	StepCeil
	StepTrunc
	StepEq
	StepNe
	StepLt
	StepLe
	StepGt
	StepGe
	StepIsNaN
	StepAnd
	StepOr
	StepXor
	StepIntAdd
	StepIntSub
	StepIntSubFrom
	StepIntMul
	StepUintMulHi
	StepIntMin
	StepIntMax
	StepUintMin
	StepUintMax
	StepIntAbs
	StepIntShl
	StepIntShr
	StepUintShr
	StepIntEq
	StepIntGt
	StepIntLt
	StepUintLe
	StepUintGe
	StepFromInt
	StepFromUint
	StepToInt
	StepToUint
	StepIndex
	StepIndexHigh
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
	StepPow

	StripSteps
)
