package main

import (
	. "github.com/mmcloughlin/avo/operand"
)

// emitTranspose writes the transposition of bytes: eight rows of 16 become 16
// rows of eight.
func emitTranspose(w writer) {
	w.begin("qTransposeAVX2", "func(n int, src *uint8, lds int, dst *uint8, ldd int)",
		"sets dst[c·ldd+r] = src[r·lds+c] for 8 rows and 16n columns.")
	n, src, lds, dst, ldd := w.arg("n"), w.arg("src"), w.arg("lds"), w.arg("dst"), w.arg("ldd")
	three, down := w.GP64(), w.GP64()
	w.LEAQ(indexed(lds, lds, 2, 0), three)
	p := w.GP64()
	w.Label("block")
	w.MOVQ(src, p)
	for half := range 2 {
		w.VMOVDQU(at(p, 0), x(4*half))
		w.VMOVDQU(indexed(p, lds, 1, 0), x(4*half+1))
		w.VMOVDQU(indexed(p, lds, 2, 0), x(4*half+2))
		w.VMOVDQU(indexed(p, three, 1, 0), x(4*half+3))
		if half == 0 {
			w.LEAQ(indexed(p, lds, 4, 0), p)
		}
	}
	// Rows 2i and 2i+1 by bytes: columns 0-7 in X(8+2i), 8-15 in X(9+2i).
	for i := range 4 {
		w.VPUNPCKLBW(x(2*i+1), x(2*i), x(8+2*i))
		w.VPUNPCKHBW(x(2*i+1), x(2*i), x(9+2*i))
	}
	// Rows 0-3 and 4-7 by words: four columns in each of X0-X3 and X4-X7.
	for h := range 2 {
		for part := range 2 {
			a, b := 8+4*h+part, 10+4*h+part
			w.VPUNPCKLWD(x(b), x(a), x(4*h+2*part))
			w.VPUNPCKHWD(x(b), x(a), x(4*h+2*part+1))
		}
	}
	w.MOVQ(dst, down)
	for q := range 4 {
		w.VPUNPCKLDQ(x(4+q), x(q), x(8+2*q))
		w.VPUNPCKHDQ(x(4+q), x(q), x(9+2*q))
		for i := range 2 {
			v := x(8 + 2*q + i)
			w.VMOVQ(v, at(down, 0))
			w.VMOVHPS(v, indexed(down, ldd, 1, 0))
			w.LEAQ(indexed(down, ldd, 2, 0), down)
		}
	}
	w.MOVQ(down, dst)
	w.ADDQ(U8(16), src)
	w.DECQ(n)
	w.JNZ(LabelRef("block"))
	w.end()
}
