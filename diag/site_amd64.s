#include "textflag.h"

// func framePCs(buf *uintptr, n int) int
//
// The first is the caller's own. BP points to the saved frame pointer of the caller's caller; the return
// address lies above it. The chain ends in 0; a pointer that does not grow ends
// it too, so that a broken chain cannot loop.
TEXT ·framePCs(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ buf+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ 0(SP), BX
	MOVQ BX, (DI)
	MOVQ $1, AX
	MOVQ BP, DX

next:
	CMPQ AX, CX
	JGE  done
	TESTQ DX, DX
	JZ   done
	MOVQ 8(DX), BX
	MOVQ BX, (DI)(AX*8)
	INCQ AX
	MOVQ 0(DX), BX
	CMPQ BX, DX
	JLS  done
	MOVQ BX, DX
	JMP  next

done:
	MOVQ AX, ret+16(FP)
	RET
