package vmath

import "math"

// Numbers that the generated code of vector functions and steps reads, in the
// order of internal/generators/asmgen/vec/consts.go.
var (
	//lint:ignore U1000 assembly reads it
	vecNums = [...]float64{
		math.Log2E, roundMagic, math.Ln2, 0, 0.25, 1.0 / 3, 0.5, 1, -1,
		89, -104, -18, 1<<52 + 1023, math.MaxFloat64, 1 / math.Ln2, 1.0 / 256,
		2 / math.Pi, halfPiHi, halfPiLo, math.Pi / 2, trigLarge, turnUnit, 1<<84 + 1<<63 + 1<<52,
	}
	//lint:ignore U1000 assembly reads it
	vecSingles = [...]float32{
		0, 1, 0.5, expMax32, ExpMin32, RoundMagic32, Ln2Hi32, Ln2Lo32,
		expSteps, expStep, expStepLo, expSquare, expCubic, 1.0 / 16, tanhFar, erfFar,
		twoOverPi32, halfPi32, halfPiMid32, halfPiLast32, sin3, sin5, sin7, cos4, cos6, cos8,
		leastNormal32, 1 << 23, -127, -150, math.MaxFloat32,
	}
	//lint:ignore U1000 assembly reads it
	vecInts = [...]uint64{
		SignBit, SignBit - 1, 0x7ff << 52, 0xfff << 52, 0x7ff8<<48 + 1,
		oneBits - sqrtHalfBits, 1<<52 - 1, sqrtHalfBits, twoTo52Bits,
		0xffffff, 0x800000, 1043, 63, 64, 1 << 61, 0x453<<52 + 1<<31, 1,
	}
	//lint:ignore U1000 assembly reads it
	vecWords = [...]uint32{
		1 << 31, 1<<31 - 1, 0x3f800000, 1, math.MaxUint32, 0x7fff, 0x400000, 0x4f000000, roundMagicBits32,
		oneBits32 - sqrtHalfBits32, 1<<23 - 1, sqrtHalfBits32, 0xff800000, 0x7fc00000, tanhBase << 16, erfBase << 16,
		trigLargeBits32 - 1, 0x47800000,
	}
	//lint:ignore U1000 assembly reads it
	vecCount = [...]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
)
