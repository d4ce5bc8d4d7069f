package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func add512(w writer) {
	w.begin("qAddAVX512", addSignature,
		"adds n pairs: dst = round((a-zeroA)·scaleA + (b-zeroB)·scaleB) + zero,\nboth products rounded before the sum, which is clamped to lo and hi, integers.\nflip, four equal bytes, is applied to a and b first.")
	p := w.pairs()
	w.broadcast("scaleA", z(26))
	w.broadcast("scaleB", z(27))
	exponent := w.GP32()
	w.MOVL(U32(floatExponent), exponent)
	w.VPBROADCASTD(exponent, z(22))
	w.VPORD(z(22), z(24), z(24))
	w.VPORD(z(22), z(25), z(25))
	w.VPSRLD(U8(16), z(22), z(22))
	w.VPACKUSDW(z(22), z(22), z(22))
	p.loop(func() {
		for i, v := range []int{0, 8} {
			w.words(v, v+6)
			for h := range 2 {
				w.VPUNPCKLWD(z(22), z(v+6+h), z(v+2*h))
				w.VPUNPCKHWD(z(22), z(v+6+h), z(v+2*h+1))
			}
			for q := range 4 {
				w.VSUBPS(z(24+i), z(v+q), z(v+q))
				w.VMULPS(z(26+i), z(v+q), z(v+q))
			}
		}
		for q := range 4 {
			w.VADDPS(z(8+q), z(q), z(q))
		}
	})
}

// floatExponent is the upper half of a float whose lower half is an integer below 1<<16:
// 1<<23 more than that, so that a difference makes a float of it.
const floatExponent = 0x4b000000

func mul512(w writer) {
	w.begin("qMulAVX512", mulSignature,
		"multiplies n pairs: dst = round((a-zeroA)·(b-zeroB)·scale) + zero, the\nproduct clamped to lo and hi, integers. flip, four equal bytes, is applied to a and b\nfirst.")
	p := w.pairs()
	w.broadcast("scale", z(26))
	w.VPACKSSDW(z(24), z(24), z(24))
	w.VPACKSSDW(z(25), z(25), z(25))
	p.loop(func() {
		for i, v := range []int{0, 8} {
			w.words(v, v+6)
			for h := range 2 {
				w.VPSUBW(z(24+i), z(v+6+h), z(v+6+h))
			}
		}
		for h := range 2 {
			a, b := z(6+h), z(14+h)
			w.VPMULLW(b, a, z(4))
			w.VPMULHW(b, a, z(5))
			w.VPUNPCKLWD(z(5), z(4), z(2*h))
			w.VPUNPCKHWD(z(5), z(4), z(2*h+1))
		}
		for q := range 4 {
			w.VCVTDQ2PS(z(q), z(q))
			w.VMULPS(z(26), z(q), z(q))
		}
	})
}

// words widens the bytes of vector v to words, in two vectors from to on, in the order of
// unpacking. Z23 is zero.
func (w writer) words(v, to int) {
	w.VPUNPCKLBW(z(23), z(v), z(to))
	w.VPUNPCKHBW(z(23), z(v), z(to+1))
}

// pairs writes a function of two rows of bytes, 64 at a time. All widening and narrowing is
// within lanes of 128 bits, so that the order of bytes stays.
type pairs struct {
	writer
	n, a, b, dst reg.GPVirtual
}

// pairs loads what both functions have in common: Z23 is zero, zero points of the operands are in
// Z24 and Z25, and what makes bytes of floats in Z28 to Z30: the upper limit, the lower one
// below zero in words, and the byte that it is.
func (w writer) pairs() *pairs {
	p := &pairs{w, w.arg("n"), w.arg("a"), w.arg("b"), w.arg("dst")}
	w.VPXORD(z(23), z(23), z(23))
	w.broadcast("zeroA", z(24))
	w.broadcast("zeroB", z(25))
	w.broadcast("hi", z(28))
	w.broadcast("lo", z(29))
	w.broadcast("zero", z(30))
	w.broadcast("flip", z(31))
	w.VCVTPS2DQ(z(29), z(29))
	w.VPADDD(z(29), z(30), z(30))
	w.VPSUBD(z(29), z(23), z(29))
	w.VPACKSSDW(z(29), z(29), z(29))
	w.VPBROADCASTB(x(30), z(30))
	return p
}

// loop runs through the rows: combine makes the floats Z0 to Z3 of the bytes in Z0 and Z8. Bounds are
// those of saturation: a float that is no number or far below all becomes the least
// integer.
func (p *pairs) loop(combine func()) {
	p.each(64, p.n, func() {
		for i, row := range []reg.GPVirtual{p.a, p.b} {
			p.VMOVDQU8_Z(at(row, 0), reg.K1, z(8*i))
			p.VPXORD(z(31), z(8*i), z(8*i))
		}
		combine()
		for q := range 4 {
			p.VMINPS(z(q), z(28), z(q)) // of two that do not compare, the second one
			p.VCVTPS2DQ(z(q), z(q))
		}
		for h := range 2 {
			p.VPACKSSDW(z(2*h+1), z(2*h), z(h))
			p.VPADDSW(z(29), z(h), z(h))
		}
		p.VPACKUSWB(z(1), z(0), z(0))
		p.VPADDB(z(30), z(0), z(0))
		p.VMOVDQU8(z(0), reg.K1, at(p.dst, 0))
		for _, row := range []reg.GPVirtual{p.a, p.b, p.dst} {
			p.ADDQ(U8(64), row)
		}
	})
}

// spread512 writes the repetition of bytes, in whole vectors: the next byte's are stored over
// what is beyond a run.
func spread512(w writer) {
	w.begin("qSpreadAVX512", "func(count, run int, src, dst *uint8)",
		"writes each of count bytes run times, both above 0, and up to 63 bytes\nafter those.")
	count, run, src, dst := w.arg("count"), w.arg("run"), w.arg("src"), w.arg("dst")
	left, to := w.GP64(), w.GP64()
	w.Label("byte")
	w.VPBROADCASTB(at(src, 0), z(0))
	w.MOVQ(run, left)
	w.MOVQ(dst, to)
	w.Label("vector")
	w.VMOVDQU32(z(0), at(to, 0))
	w.ADDQ(U8(64), to)
	w.SUBQ(U8(64), left)
	w.JG(LabelRef("vector"))
	w.ADDQ(run, dst)
	w.INCQ(src)
	w.DECQ(count)
	w.JNZ(LabelRef("byte"))
	w.end()
}
