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
	VLD1.P (R2)(R3), [V24.S4, V25.S4]
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

// func gemmRowsNEON(rows, k int, a, b *float32, ldb int, c *float32, ldc int, acc bool)
TEXT ·gemmRowsNEON(SB), NOSPLIT, $0-57
	MOVD  rows+0(FP), R8
	MOVD  k+8(FP), R0
	MOVD  a+16(FP), R1
	MOVD  b+24(FP), R2
	MOVD  ldb+32(FP), R3
	MOVD  c+40(FP), R4
	MOVD  ldc+48(FP), R5
	MOVBU acc+56(FP), R6
	LSL   $2, R3
	LSL   $2, R5
	MOVD  $32, R7
	ZERO(V0)
	ZERO(V1)
	ZERO(V2)
	ZERO(V3)
	ZERO(V4)
	ZERO(V5)
	ZERO(V6)
	ZERO(V7)
	CMP   $2, R8
	BLT   one
	BEQ   two

four:
	VLD1.P (R1)(R7), [V26.S4]
	VLD1.P (R2)(R3), [V24.S4, V25.S4]
	ROW(0, 1, 26, 0, 0)
	ROW(2, 3, 26, 0, 1)
	ROW(4, 5, 26, 1, 0)
	ROW(6, 7, 26, 1, 1)
	SUBS   $1, R0
	BNE    four
	CBZ    R6, store4
	ADDSTORE(V0, V1, 0, 1)
	ADDSTORE(V2, V3, 2, 3)
	ADDSTORE(V4, V5, 4, 5)
	ADDSTORE(V6, V7, 6, 7)
	RET

store4:
	STORE(V0, V1)
	STORE(V2, V3)
	STORE(V4, V5)
	STORE(V6, V7)
	RET

two:
	VLD1.P (R1)(R7), [V26.S4]
	VLD1.P (R2)(R3), [V24.S4, V25.S4]
	ROW(0, 1, 26, 0, 0)
	ROW(2, 3, 26, 0, 1)
	SUBS   $1, R0
	BNE    two
	CBZ    R6, store2
	ADDSTORE(V0, V1, 0, 1)
	ADDSTORE(V2, V3, 2, 3)
	RET

store2:
	STORE(V0, V1)
	STORE(V2, V3)
	RET

one:
	VLD1.P (R1)(R7), [V26.S4]
	VLD1.P (R2)(R3), [V24.S4, V25.S4]
	ROW(0, 1, 26, 0, 0)
	SUBS   $1, R0
	BNE    one
	CBZ    R6, store1
	ADDSTORE(V0, V1, 0, 1)
	RET

store1:
	STORE(V0, V1)
	RET

// FMUL Vd.4S, Vn.4S, Vm.4S
#define FMUL4(d, n, m) WORD $(0x6E20DC00 | ((m)<<16) | ((n)<<5) | (d))

// FCMGT Vd.4S, Vn.4S, Vm.4S: all bits of a lane where n is greater
#define FCMGT4(d, n, m) WORD $(0x6EA0E400 | ((m)<<16) | ((n)<<5) | (d))

// BIT Vd.16B, Vn.16B, Vm.16B: the bits of n where m has ones
#define BIT16(d, n, m) WORD $(0x6EA01C00 | ((m)<<16) | ((n)<<5) | (d))

// func epilogueNEON(rows, cols int, c *float32, ldc int, e *TileEpilogue)
// V0 numbers, V1 the row's factor, V2 its term, V4 and V5 limits. A factor of 1 and a term of -0
// change no number. Limits are compared and selected: a NaN stays, and so does the sign of a zero.
TEXT ·epilogueNEON(SB), NOSPLIT, $0-40
	MOVD  rows+0(FP), R0
	MOVD  cols+8(FP), R1
	MOVD  c+16(FP), R2
	MOVD  ldc+24(FP), R3
	MOVD  e+32(FP), R4
	MOVD  (R4), R5
	MOVD  8(R4), R6
	MOVD  16(R4), R7
	MOVD  24(R4), R8
	MOVD  32(R4), R9
	MOVD  40(R4), R10
	MOVWU 48(R4), R11
	VDUP  R11, V4.S4
	MOVWU 52(R4), R11
	VDUP  R11, V5.S4
	LSL   $2, R3
	LSL   $2, R10
	MOVD  $0x3f800000, R11
	VDUP  R11, V1.S4
	MOVD  $0x80000000, R11
	VDUP  R11, V2.S4

row:
	CBZ     R5, unscaled
	VLD1R.P 4(R5), [V1.S4]

unscaled:
	CBZ     R6, unbiased
	VLD1R.P 4(R6), [V2.S4]

unbiased:
	MOVD R2, R12
	MOVD R7, R13
	MOVD R8, R14
	MOVD R9, R15
	MOVD R1, R16

columns:
	VLD1   (R12), [V0.S4]
	FMUL4(0, 0, 1)
	CBZ    R13, plain
	VLD1.P 16(R13), [V3.S4]
	FMUL4(0, 0, 3)

plain:
	FADD4(0, 0, 2)
	CBZ    R14, unshifted
	VLD1.P 16(R14), [V3.S4]
	FADD4(0, 0, 3)

unshifted:
	CBZ    R15, alone
	VLD1.P 16(R15), [V3.S4]
	FADD4(0, 0, 3)

alone:
	FCMGT4(3, 4, 0)
	BIT16(0, 4, 3)
	FCMGT4(3, 0, 5)
	BIT16(0, 5, 3)
	VST1.P [V0.S4], 16(R12)
	SUBS   $4, R16
	BNE    columns
	ADD    R3, R2
	CBZ    R9, below
	ADD    R10, R9

below:
	SUBS $1, R0
	BNE  row
	RET
