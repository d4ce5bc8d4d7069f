package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitBytes writes the elementwise routines.
func emitBytes(w writer) {
	pair256(w, "qAddAVX2", "is qAddAVX512 for n a multiple of 16.", addSignature, false)
	pair256(w, "qMulAVX2", "is qMulAVX512 for n a multiple of 16.", mulSignature, true)
	add512(w)
	mul512(w)
	spread512(w)
	quantize256(w)
	for _, wide := range []bool{true, false} {
		e := elements{writer: w, wide: wide}
		e.dequantize()
		e.limits()
	}
}

const (
	addSignature      = "func(n int, a, b *uint8, flip uint32, zeroA, zeroB int32, scaleA, scaleB, lo, hi float32, zero int32, dst *uint8)"
	mulSignature      = "func(n int, a, b *uint8, flip uint32, zeroA, zeroB int32, scale, lo, hi float32, zero int32, dst *uint8)"
	quantizeSignature = "func(n int, src *float32, scale, lo, hi float32, zero int32, dst *uint8)"
)

// pair256 writes an operation on two rows of bytes, 16 at a time.
func pair256(w writer, name, doc, signature string, multiply bool) {
	w.begin(name, signature, doc)
	n, a, b, dst := w.arg("n"), w.arg("a"), w.arg("b"), w.arg("dst")
	names := []string{"zeroA", "zeroB", "scaleA", "scaleB", "lo", "hi", "zero"}
	if multiply {
		names[2], names[3] = "scale", ""
	}
	for i, name := range names {
		if name != "" {
			w.broadcast(name, y(8+i))
		}
	}
	w.broadcast("flip", x(15))
	w.Label("loop")
	for h := range 2 {
		for i, p := range []reg.GPVirtual{a, b} {
			v := y(2*h + i)
			w.VMOVQ(at(p, 8*h), v.AsX())
			w.VPXOR(x(15), v.AsX(), v.AsX())
			w.VPMOVZXBD(v.AsX(), v)
			w.VPSUBD(y(8+i), v, v)
			w.VCVTDQ2PS(v, v)
		}
		v := y(2 * h)
		if multiply {
			w.VMULPS(y(2*h+1), v, v)
			w.VMULPS(y(10), v, v)
		} else {
			w.VMULPS(y(10), v, v)
			w.VMULPS(y(11), y(2*h+1), y(2*h+1))
			w.VADDPS(y(2*h+1), v, v)
		}
		w.clamp256(v)
	}
	w.join256(y(0), y(2), dst)
	for _, p := range []reg.GPVirtual{a, b, dst} {
		w.ADDQ(U8(16), p)
	}
	w.SUBQ(U8(16), n)
	w.JNZ(LabelRef("loop"))
	w.end()
}

// clamp256 is clamp512 with the limits in Y12 and Y13 and the zero point in Y14.
func (w writer) clamp256(v reg.VecPhysical) {
	w.VMAXPS(y(12), v, v)
	w.VMINPS(y(13), v, v)
	w.VCVTPS2DQ(v, v)
	w.VPADDD(y(14), v, v)
}

// join256 writes the lowest bytes of 16 elements of -128 to 255; Y4 is changed.
func (w writer) join256(a, b reg.VecPhysical, dst reg.GPVirtual) {
	w.VPCMPEQD(y(4), y(4), y(4))
	w.VPSRLD(U8(24), y(4), y(4))
	w.VPAND(y(4), a, a)
	w.VPAND(y(4), b, b)
	w.VPACKUSDW(b, a, a)
	w.VPERMQ(U8(0xd8), a, a)
	w.VEXTRACTI128(U8(1), a, x(4))
	w.VPACKUSWB(x(4), a.AsX(), a.AsX())
	w.VMOVDQU(a.AsX(), at(dst, 0))
}

func quantize256(w writer) {
	w.begin("qQuantizeAVX2", quantizeSignature, "is qQuantizeAVX512 for n a multiple of 16.")
	n, src, dst := w.arg("n"), w.arg("src"), w.arg("dst")
	for i, name := range []string{"scale", "lo", "hi", "zero"} {
		w.broadcast(name, y(11+i))
	}
	w.Label("loop")
	for h := range 2 {
		w.VMOVUPS(at(src, 32*h), y(h))
		w.VDIVPS(y(11), y(h), y(h))
		w.clamp256(y(h))
	}
	w.join256(y(0), y(1), dst)
	w.ADDQ(U8(64), src)
	w.ADDQ(U8(16), dst)
	w.SUBQ(U8(16), n)
	w.JNZ(LabelRef("loop"))
	w.end()
}

// elements writes functions of either vector width, whole vectors at a time.
type elements struct {
	writer
	wide bool
}

func (e elements) name(s string) string {
	if e.wide {
		return s + "AVX512"
	}
	return s + "AVX2"
}

func (e elements) v(i int) reg.VecPhysical {
	if e.wide {
		return z(i)
	}
	return y(i)
}

// size is the bytes of a vector.
func (e elements) size() int {
	if e.wide {
		return 64
	}
	return 32
}

// dequantize writes the conversion of bytes to floats.
func (e elements) dequantize() {
	lanes := e.size() / 4
	e.begin(e.name("qDequantize"), "func(n int, src *uint8, flip uint32, zero int32, scale float32, dst *float32)",
		fmt.Sprintf("sets dst to (src-zero)·scale for n elements, a multiple of %d.\nflip, four equal bytes, is applied to src first.", 2*lanes))
	n, src, dst := e.arg("n"), e.arg("src"), e.arg("dst")
	e.broadcast("flip", e.v(4))
	e.broadcast("zero", e.v(5))
	e.broadcast("scale", e.v(6))
	e.Label("loop")
	for h := range 2 {
		v := e.v(h)
		if e.wide {
			e.VMOVDQU(at(src, lanes*h), v.AsX())
		} else {
			e.VMOVQ(at(src, lanes*h), v.AsX())
		}
		e.VPXOR(x(4), v.AsX(), v.AsX())
		e.VPMOVZXBD(v.AsX(), v)
		e.VPSUBD(e.v(5), v, v)
		e.VCVTDQ2PS(v, v)
		e.VMULPS(e.v(6), v, v)
		e.VMOVUPS(v, at(dst, e.size()*h))
	}
	e.ADDQ(U8(2*lanes), src)
	e.ADDQ(I32(2*e.size()), dst)
	e.SUBQ(U8(2*lanes), n)
	e.JNZ(LabelRef("loop"))
	e.end()
}

// limits writes the search for the least and the greatest value.
func (e elements) limits() {
	lanes := e.size() / 4
	e.begin(e.name("qRange"), "func(n int, src, least, greatest *float32)",
		fmt.Sprintf("writes the least and the greatest of 0 and the elements with the same\nremainder by %d, for n elements, a multiple of %d. NaN is passed over.", lanes, 4*lanes))
	n, src, least, greatest := e.arg("n"), e.arg("src"), e.arg("least"), e.arg("greatest")
	for i := range 8 {
		if e.wide {
			e.VPXORD(z(i), z(i), z(i))
		} else {
			e.VPXOR(y(i), y(i), y(i))
		}
	}
	e.Label("loop")
	for i := range 4 {
		// Of two operands that do not compare, the second stays.
		e.VMOVUPS(at(src, e.size()*i), e.v(8+i))
		e.VMINPS(e.v(i), e.v(8+i), e.v(i))
		e.VMAXPS(e.v(4+i), e.v(8+i), e.v(4+i))
	}
	e.ADDQ(I32(4*e.size()), src)
	e.SUBQ(I32(4*lanes), n)
	e.JNZ(LabelRef("loop"))
	for i := 1; i < 4; i++ {
		e.VMINPS(e.v(i), e.v(0), e.v(0))
		e.VMAXPS(e.v(4+i), e.v(4), e.v(4))
	}
	e.VMOVUPS(e.v(0), at(least, 0))
	e.VMOVUPS(e.v(4), at(greatest, 0))
	e.end()
}

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

// emitLookup writes the replacement of bytes by entries of a table.
func emitLookup(w writer) {
	w.begin("qLookupVBMI", "func(n int, src, table, dst *uint8)",
		"sets dst[i] = table[src[i]] for n bytes and 256 entries.")
	n, src, table, dst := w.arg("n"), w.arg("src"), w.arg("table"), w.arg("dst")
	for i := range 4 {
		w.VMOVDQU8(at(table, 64*i), z(4+i))
	}
	w.each(64, n, func() {
		w.VMOVDQU8_Z(at(src, 0), reg.K1, z(0))
		w.VMOVDQA32(z(0), z(1))
		w.VPMOVB2M(z(0), reg.K2)
		w.VPERMI2B(z(5), z(4), z(0))
		w.VPERMI2B(z(7), z(6), z(1))
		w.VMOVDQU8(z(1), reg.K2, z(0))
		w.VMOVDQU8(z(0), reg.K1, at(dst, 0))
		w.ADDQ(U8(64), src)
		w.ADDQ(U8(64), dst)
	})
	lookup256(w)
}

// lookup256 picks from the sixteen parts of the table in turn. An index is moved
// down by sixteen each time; saturating addition of 112 sets the sign bit, which
// picks nothing, of all that are not below sixteen.
func lookup256(w writer) {
	w.begin("qLookupAVX2", "func(n int, src, table, dst *uint8)",
		"sets dst[i] = table[src[i]] for n bytes, a multiple of 32, and 256 entries.")
	n, src, table, dst := w.arg("n"), w.arg("src"), w.arg("table"), w.arg("dst")
	c := w.GP32()
	for i, v := range []uint32{0x70707070, 0x10101010} {
		w.MOVL(U32(v), c)
		w.VMOVD(c, x(6+i))
		w.VPBROADCASTD(x(6+i), y(6+i))
	}
	w.Label("loop")
	w.VMOVDQU(at(src, 0), y(0))
	w.VPXOR(y(1), y(1), y(1))
	for i := range 16 {
		w.VBROADCASTI128(at(table, 16*i), y(2))
		w.VPADDUSB(y(6), y(0), y(3))
		w.VPSHUFB(y(3), y(2), y(2))
		w.VPOR(y(2), y(1), y(1))
		if i < 15 {
			w.VPSUBB(y(7), y(0), y(0))
		}
	}
	w.VMOVDQU(y(1), at(dst, 0))
	w.ADDQ(U8(32), src)
	w.ADDQ(U8(32), dst)
	w.SUBQ(U8(32), n)
	w.JNZ(LabelRef("loop"))
	w.end()
}
