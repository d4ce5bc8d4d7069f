#include "textflag.h"

// func framePCs(buf *uintptr, n int) int
//
// The first is the caller's own. R29 points to the saved frame pointer of the caller's caller; the return
// address lies above it. The chain ends in 0; a pointer that does not grow ends
// it too, so that a broken chain cannot loop.
TEXT ·framePCs(SB), NOSPLIT|NOFRAME, $0-24
	MOVD buf+0(FP), R0
	MOVD n+8(FP), R1
	MOVD R30, (R0)
	MOVD $1, R2
	MOVD R29, R3

next:
	CMP  R1, R2
	BGE  done
	CBZ  R3, done
	MOVD 8(R3), R4
	MOVD R4, (R0)(R2<<3)
	ADD  $1, R2
	MOVD 0(R3), R4
	CMP  R3, R4
	BLS  done
	MOVD R4, R3
	B    next

done:
	MOVD R2, ret+16(FP)
	RET
