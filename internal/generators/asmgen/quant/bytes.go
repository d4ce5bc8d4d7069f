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
