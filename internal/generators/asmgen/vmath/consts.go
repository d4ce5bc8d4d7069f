package main

// num is the place of a number in vecNums of package vmath, word that in vecWords.
type (
	num    int
	word   int
	single int // of vecSingles
)

// The order is that of vecNums and, from nSignBit on, of vecInts in kernel/internal/vmath/vec_const_amd64.go.
const (
	nLog2e num = iota
	nMagic
	nLn2
	nZero
	nQuarter
	nThird
	nHalf
	nOne
	nMinusOne
	nExpMax
	nExpMin
	nExpm1Min
	nLogExp
	nMaxF64
	nInvLn2
	nLog1pSmall
	nTwoOverPi
	nHalfPiHi
	nHalfPiLo
	nHalfPi
	nTrigLarge
	nTurnUnit
	nHighBias

	nSignBit
	nAbsMask
	nInf
	nMinusInf
	nNaN
	nLogBias
	nFracMask
	nSqrtHalf
	nTwoTo52
	nManMask
	nManTop
	nTrigExp
	n63
	n64
	nTurnRound
	nHighMagic
	nIntOne
)

const (
	wSign word = iota
	wAbs
	wOne
	wIntOne
	wOnes
	wHalfRound
	wQuiet
	wTwo31
	wMagicBits
	wLogBias
	wFracMask
	wSqrtHalf
	wMinusInf
	wNaN
	wTanhBase
	wErfBase
	wTrigSmall
	wTwo16
)

const (
	fZero single = iota
	fOne
	fHalf
	fExpMax
	fExpMin
	fMagic
	fLn2Hi
	fLn2Lo
	fExpSteps
	fExpStep
	fExpStepLo
	fExpSquare
	fExpCubic
	fSixteenth
	fTanhFar
	fErfFar
	fTwoOverPi
	fHalfPi
	fHalfPiMid
	fHalfPiLast
	fSin3
	fSin5
	fSin7
	fCos4
	fCos6
	fCos8
	fLeastNormal
	fTwo23
	fLogBias
	fLogBiasSubnormal
	fMax
)
