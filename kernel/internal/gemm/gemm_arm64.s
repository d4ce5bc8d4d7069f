#include "textflag.h"

// FMLA Vd.4S, Vn.4S, Vm.S[i], i = 2h+l: the assembler lacks the form by element.
#define FMLA(d, n, m, h, l) WORD $(0x4F801000 | ((l)<<21) | ((m)<<16) | ((h)<<11) | ((n)<<5) | (d))

// One row: register m and lane i of a, columns in V24 and V25.
#define ROW(d0, d1, m, h, l) \
	FMLA(d0, 24, m, h, l); \
	FMLA(d1, 25, m, h, l)

#define ZERO(d) VEOR d.B16, d.B16, d.B16

// FADD Vd.4S, Vn.4S, Vm.4S
#define FADD4(d, n, m) WORD $(0x4E20D400 | ((m)<<16) | ((n)<<5) | (d))

// Adds the old row of c and stores.
#define ADDSTORE(d0, d1, i0, i1) \
	VLD1 (R4), [V24.S4, V25.S4]; \
	FADD4(i0, i0, 24);           \
	FADD4(i1, i1, 25);           \
	VST1 [d0.S4, d1.S4], (R4);   \
	ADD  R5, R4

#define STORE(d0, d1) \
	VST1 [d0.S4, d1.S4], (R4); \
	ADD  R5, R4

// func gemmTileNEON(k int, a, b *float32, ldb int, c *float32, ldc int, acc bool)
TEXT ·gemmTileNEON(SB), NOSPLIT, $0-49
	MOVD  k+0(FP), R0
	MOVD  a+8(FP), R1
	MOVD  b+16(FP), R2
	MOVD  ldb+24(FP), R3
	MOVD  c+32(FP), R4
	MOVD  ldc+40(FP), R5
	MOVBU acc+48(FP), R6
	LSL   $2, R3
	LSL   $2, R5
	ZERO(V0)
	ZERO(V1)
	ZERO(V2)
	ZERO(V3)
	ZERO(V4)
	ZERO(V5)
	ZERO(V6)
	ZERO(V7)
	ZERO(V8)
	ZERO(V9)
	ZERO(V10)
	ZERO(V11)
	ZERO(V12)
	ZERO(V13)
	ZERO(V14)
	ZERO(V15)

loop:
	VLD1.P 32(R1), [V26.S4, V27.S4]
	VLD1   (R2), [V24.S4, V25.S4]
	ADD    R3, R2
	ROW(0, 1, 26, 0, 0)
	ROW(2, 3, 26, 0, 1)
	ROW(4, 5, 26, 1, 0)
	ROW(6, 7, 26, 1, 1)
	ROW(8, 9, 27, 0, 0)
	ROW(10, 11, 27, 0, 1)
	ROW(12, 13, 27, 1, 0)
	ROW(14, 15, 27, 1, 1)
	SUBS   $1, R0
	BNE    loop
	CBZ    R6, store
	ADDSTORE(V0, V1, 0, 1)
	ADDSTORE(V2, V3, 2, 3)
	ADDSTORE(V4, V5, 4, 5)
	ADDSTORE(V6, V7, 6, 7)
	ADDSTORE(V8, V9, 8, 9)
	ADDSTORE(V10, V11, 10, 11)
	ADDSTORE(V12, V13, 12, 13)
	ADDSTORE(V14, V15, 14, 15)
	RET

store:
	STORE(V0, V1)
	STORE(V2, V3)
	STORE(V4, V5)
	STORE(V6, V7)
	STORE(V8, V9)
	STORE(V10, V11)
	STORE(V12, V13)
	STORE(V14, V15)
	RET
