//go:build amd64

#include "textflag.h"

// Streams over memory. n counts blocks of 256 bytes and is positive.

// func read512(a unsafe.Pointer, n int)
// Reads only.
TEXT ·read512(SB), NOSPLIT, $0-16
	MOVQ a+0(FP), SI
	MOVQ n+8(FP), CX

loop:
	VPORD 0(SI), Z0, Z0
	VPORD 64(SI), Z1, Z1
	VPORD 128(SI), Z2, Z2
	VPORD 192(SI), Z3, Z3
	ADDQ $256, SI
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func copy512(dst unsafe.Pointer, a unsafe.Pointer, n int)
// Copies with ordinary stores.
TEXT ·copy512(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ n+16(FP), CX

loop:
	VMOVUPS 0(SI), Z0
	VMOVUPS Z0, 0(DI)
	VMOVUPS 64(SI), Z1
	VMOVUPS Z1, 64(DI)
	VMOVUPS 128(SI), Z2
	VMOVUPS Z2, 128(DI)
	VMOVUPS 192(SI), Z3
	VMOVUPS Z3, 192(DI)
	ADDQ $256, DI
	ADDQ $256, SI
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func copynt512(dst unsafe.Pointer, a unsafe.Pointer, n int)
// Copies with non-temporal stores; dst is aligned to 64 bytes.
TEXT ·copynt512(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ n+16(FP), CX

loop:
	VMOVUPS 0(SI), Z0
	VMOVNTPS Z0, 0(DI)
	VMOVUPS 64(SI), Z1
	VMOVNTPS Z1, 64(DI)
	VMOVUPS 128(SI), Z2
	VMOVNTPS Z2, 128(DI)
	VMOVUPS 192(SI), Z3
	VMOVNTPS Z3, 192(DI)
	ADDQ $256, DI
	ADDQ $256, SI
	DECQ CX
	JNZ  loop
	SFENCE
	VZEROUPPER
	RET

// func triadnt512(dst unsafe.Pointer, a unsafe.Pointer, b unsafe.Pointer, n int)
// Adds two streams with non-temporal stores; dst is aligned to 64 bytes.
TEXT ·triadnt512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX

loop:
	VMOVUPS 0(SI), Z0
	VADDPS 0(DX), Z0, Z0
	VMOVNTPS Z0, 0(DI)
	VMOVUPS 64(SI), Z1
	VADDPS 64(DX), Z1, Z1
	VMOVNTPS Z1, 64(DI)
	VMOVUPS 128(SI), Z2
	VADDPS 128(DX), Z2, Z2
	VMOVNTPS Z2, 128(DI)
	VMOVUPS 192(SI), Z3
	VADDPS 192(DX), Z3, Z3
	VMOVNTPS Z3, 192(DI)
	ADDQ $256, DI
	ADDQ $256, SI
	ADDQ $256, DX
	DECQ CX
	JNZ  loop
	SFENCE
	VZEROUPPER
	RET

// func triad512(dst unsafe.Pointer, a unsafe.Pointer, b unsafe.Pointer, n int)
// Adds two streams with ordinary stores.
TEXT ·triad512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX

loop:
	VMOVUPS 0(SI), Z0
	VADDPS 0(DX), Z0, Z0
	VMOVUPS Z0, 0(DI)
	VMOVUPS 64(SI), Z1
	VADDPS 64(DX), Z1, Z1
	VMOVUPS Z1, 64(DI)
	VMOVUPS 128(SI), Z2
	VADDPS 128(DX), Z2, Z2
	VMOVUPS Z2, 128(DI)
	VMOVUPS 192(SI), Z3
	VADDPS 192(DX), Z3, Z3
	VMOVUPS Z3, 192(DI)
	ADDQ $256, DI
	ADDQ $256, SI
	ADDQ $256, DX
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func read256(a unsafe.Pointer, n int)
// Reads only.
TEXT ·read256(SB), NOSPLIT, $0-16
	MOVQ a+0(FP), SI
	MOVQ n+8(FP), CX

loop:
	VORPS 0(SI), Y0, Y0
	VORPS 32(SI), Y1, Y1
	VORPS 64(SI), Y2, Y2
	VORPS 96(SI), Y3, Y3
	VORPS 128(SI), Y4, Y4
	VORPS 160(SI), Y5, Y5
	VORPS 192(SI), Y6, Y6
	VORPS 224(SI), Y7, Y7
	ADDQ $256, SI
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func copy256(dst unsafe.Pointer, a unsafe.Pointer, n int)
// Copies with ordinary stores.
TEXT ·copy256(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ n+16(FP), CX

loop:
	VMOVUPS 0(SI), Y0
	VMOVUPS Y0, 0(DI)
	VMOVUPS 32(SI), Y1
	VMOVUPS Y1, 32(DI)
	VMOVUPS 64(SI), Y2
	VMOVUPS Y2, 64(DI)
	VMOVUPS 96(SI), Y3
	VMOVUPS Y3, 96(DI)
	VMOVUPS 128(SI), Y4
	VMOVUPS Y4, 128(DI)
	VMOVUPS 160(SI), Y5
	VMOVUPS Y5, 160(DI)
	VMOVUPS 192(SI), Y6
	VMOVUPS Y6, 192(DI)
	VMOVUPS 224(SI), Y7
	VMOVUPS Y7, 224(DI)
	ADDQ $256, DI
	ADDQ $256, SI
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET

// func copynt256(dst unsafe.Pointer, a unsafe.Pointer, n int)
// Copies with non-temporal stores; dst is aligned to 64 bytes.
TEXT ·copynt256(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ n+16(FP), CX

loop:
	VMOVUPS 0(SI), Y0
	VMOVNTPS Y0, 0(DI)
	VMOVUPS 32(SI), Y1
	VMOVNTPS Y1, 32(DI)
	VMOVUPS 64(SI), Y2
	VMOVNTPS Y2, 64(DI)
	VMOVUPS 96(SI), Y3
	VMOVNTPS Y3, 96(DI)
	VMOVUPS 128(SI), Y4
	VMOVNTPS Y4, 128(DI)
	VMOVUPS 160(SI), Y5
	VMOVNTPS Y5, 160(DI)
	VMOVUPS 192(SI), Y6
	VMOVNTPS Y6, 192(DI)
	VMOVUPS 224(SI), Y7
	VMOVNTPS Y7, 224(DI)
	ADDQ $256, DI
	ADDQ $256, SI
	DECQ CX
	JNZ  loop
	SFENCE
	VZEROUPPER
	RET

// func triadnt256(dst unsafe.Pointer, a unsafe.Pointer, b unsafe.Pointer, n int)
// Adds two streams with non-temporal stores; dst is aligned to 64 bytes.
TEXT ·triadnt256(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX

loop:
	VMOVUPS 0(SI), Y0
	VADDPS 0(DX), Y0, Y0
	VMOVNTPS Y0, 0(DI)
	VMOVUPS 32(SI), Y1
	VADDPS 32(DX), Y1, Y1
	VMOVNTPS Y1, 32(DI)
	VMOVUPS 64(SI), Y2
	VADDPS 64(DX), Y2, Y2
	VMOVNTPS Y2, 64(DI)
	VMOVUPS 96(SI), Y3
	VADDPS 96(DX), Y3, Y3
	VMOVNTPS Y3, 96(DI)
	VMOVUPS 128(SI), Y4
	VADDPS 128(DX), Y4, Y4
	VMOVNTPS Y4, 128(DI)
	VMOVUPS 160(SI), Y5
	VADDPS 160(DX), Y5, Y5
	VMOVNTPS Y5, 160(DI)
	VMOVUPS 192(SI), Y6
	VADDPS 192(DX), Y6, Y6
	VMOVNTPS Y6, 192(DI)
	VMOVUPS 224(SI), Y7
	VADDPS 224(DX), Y7, Y7
	VMOVNTPS Y7, 224(DI)
	ADDQ $256, DI
	ADDQ $256, SI
	ADDQ $256, DX
	DECQ CX
	JNZ  loop
	SFENCE
	VZEROUPPER
	RET

// func triad256(dst unsafe.Pointer, a unsafe.Pointer, b unsafe.Pointer, n int)
// Adds two streams with ordinary stores.
TEXT ·triad256(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX

loop:
	VMOVUPS 0(SI), Y0
	VADDPS 0(DX), Y0, Y0
	VMOVUPS Y0, 0(DI)
	VMOVUPS 32(SI), Y1
	VADDPS 32(DX), Y1, Y1
	VMOVUPS Y1, 32(DI)
	VMOVUPS 64(SI), Y2
	VADDPS 64(DX), Y2, Y2
	VMOVUPS Y2, 64(DI)
	VMOVUPS 96(SI), Y3
	VADDPS 96(DX), Y3, Y3
	VMOVUPS Y3, 96(DI)
	VMOVUPS 128(SI), Y4
	VADDPS 128(DX), Y4, Y4
	VMOVUPS Y4, 128(DI)
	VMOVUPS 160(SI), Y5
	VADDPS 160(DX), Y5, Y5
	VMOVUPS Y5, 160(DI)
	VMOVUPS 192(SI), Y6
	VADDPS 192(DX), Y6, Y6
	VMOVUPS Y6, 192(DI)
	VMOVUPS 224(SI), Y7
	VADDPS 224(DX), Y7, Y7
	VMOVUPS Y7, 224(DI)
	ADDQ $256, DI
	ADDQ $256, SI
	ADDQ $256, DX
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET
