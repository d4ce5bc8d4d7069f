package main

import (
	"strings"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func emitScale(w writer) {
	for _, residual := range []bool{false, true} {
		requant512(w, residual)
		requant256(w, residual)
	}
	dequant512(w)
	dequant256(w)
	quantize512(w)
	rescale512(w)
	rescale256(w)
}

const (
	requantSignature = "func(rows, cols int, acc *int32, ldacc int, bias *int32, scale *float32, lo, hi float32, zero int32, dst *uint8, ld int)"
	residualArgs     = ", residual *uint8, flip uint32, less int32, weight float32)"
	dequantSignature = "func(rows, cols int, acc *int32, ldacc int, bias *int32, scale, add *float32, ldadd int, dst *float32, ld int)"
)

// broadcast fills vector v from a parameter of 32 bits.
func (w writer) broadcast(name string, v reg.VecPhysical) {
	p, err := w.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	w.VBROADCASTSS(p.Addr, v)
}

// halves makes K1 and K2 select cols of two vectors of 16 lanes.
func (w writer) halves(cols reg.GPVirtual) {
	t, zero := w.GP64(), w.GP64()
	w.XORQ(zero, zero)
	w.MOVQ(cols, t)
	w.SUBQ(U8(16), t)
	w.CMOVQLT(zero, t)
	w.lanes(cols, reg.K1)
	w.lanes(t, reg.K2)
}

// clamp512 turns floats into integers between the limits in Z28 and Z29, and adds
// the zero point in Z30.
func (w writer) clamp512(v reg.VecPhysical) {
	w.VMAXPS(z(28), v, v)
	w.VMINPS(z(29), v, v)
	w.VCVTPS2DQ(v, v)
	w.VPADDD(z(30), v, v)
}

// requant512 writes the second pass over a tile of sums, which is in the first
// cache: bias, scale and limits of the columns stay in registers over the rows.
func requant512(w writer, residual bool) {
	if residual {
		w.begin("qRequantAddAVX512", strings.TrimSuffix(requantSignature, ")")+residualArgs,
			"is qRequantAVX512 with (residual-less)·weight added to the product,\neach rounded before the sum, which is clamped. flip, four equal bytes, is applied\nto the residual first; its rows are ld bytes apart, as those of dst.")
	} else {
		w.begin("qRequantAVX512", requantSignature, "turns sums into eight bits: dst = round((acc+bias)·scale) + zero,\nthe product clamped to lo and hi, halves rounded to even, NaN as lo. cols is 1 to\n32; bias and scale have 32 elements.")
	}
	rows, acc, ldacc := w.arg("rows"), w.arg("acc"), w.arg("ldacc")
	bias, scale, dst, ld := w.arg("bias"), w.arg("scale"), w.arg("dst"), w.arg("ld")
	w.halves(w.arg("cols"))
	w.SHLQ(U8(2), ldacc)
	for v := range 2 {
		w.VMOVDQU32(at(bias, 64*v), z(24+v))
		w.VMOVDQU32(at(scale, 64*v), z(26+v))
	}
	w.broadcast("lo", z(28))
	w.broadcast("hi", z(29))
	w.broadcast("zero", z(30))
	var from reg.GPVirtual
	if residual {
		from = w.arg("residual")
		w.broadcast("flip", z(31))
		w.broadcast("less", z(23))
		w.broadcast("weight", z(22))
	}
	w.Label("row")
	for v, k := range []reg.Register{reg.K1, reg.K2} {
		w.VMOVDQU32(at(acc, 64*v), z(v))
		w.VPADDD(z(24+v), z(v), z(v))
		w.VCVTDQ2PS(z(v), z(v))
		w.VMULPS(z(26+v), z(v), z(v))
		if residual {
			w.bytes512(at(from, 16*v), k, z(23), z(2))
			w.VMULPS(z(22), z(2), z(2))
			w.VADDPS(z(2), z(v), z(v))
		}
		w.clamp512(z(v))
		w.VPMOVDB(z(v), x(v))
		w.VMOVDQU8(x(v), k, at(dst, 16*v))
	}
	if residual {
		w.ADDQ(ld, from)
	}
	w.nextRow(rows, ldacc, acc, ld, dst)
}

// requant256 is requant512 with half the registers: bias and scale come from the
// first cache, and four vectors of sums are packed to one of bytes, which a
// permutation puts in order.
func requant256(w writer, residual bool) {
	order := NewDataAddr(Symbol{Name: "qorder", Static: true}, 0)
	if residual {
		w.begin("qRequantAddAVX2", strings.TrimSuffix(requantSignature, ")")+residualArgs, "is qRequantAddAVX512 for cols of 32.")
	} else {
		order = w.StaticGlobal("qorder")
		w.DataAttributes(attr.RODATA | attr.NOPTR)
		for i, v := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
			w.AddDatum(4*i, U32(v))
		}
		w.begin("qRequantAVX2", requantSignature, "is qRequantAVX512 for cols of 32.")
	}
	rows, acc, ldacc := w.arg("rows"), w.arg("acc"), w.arg("ldacc")
	bias, scale, dst, ld := w.arg("bias"), w.arg("scale"), w.arg("dst"), w.arg("ld")
	w.SHLQ(U8(2), ldacc)
	w.broadcast("lo", y(10))
	w.broadcast("hi", y(11))
	w.broadcast("zero", y(12))
	w.VMOVDQU(order, y(13))
	w.VPCMPEQD(y(14), y(14), y(14))
	w.VPSRLD(U8(24), y(14), y(14))
	var from reg.GPVirtual
	if residual {
		from = w.arg("residual")
		w.broadcast("flip", y(7))
		w.VPAND(y(14), y(7), y(7))
		w.broadcast("less", y(8))
		w.broadcast("weight", y(9))
	}
	w.Label("row")
	for v := range 4 {
		w.VMOVDQU(at(acc, 32*v), y(v))
		w.VPADDD(at(bias, 32*v), y(v), y(v))
		w.VCVTDQ2PS(y(v), y(v))
		w.VMULPS(at(scale, 32*v), y(v), y(v))
		if residual {
			w.VPMOVZXBD(at(from, 8*v), y(4))
			w.VPXOR(y(7), y(4), y(4))
			w.VPSUBD(y(8), y(4), y(4))
			w.VCVTDQ2PS(y(4), y(4))
			w.VMULPS(y(9), y(4), y(4))
			w.VADDPS(y(4), y(v), y(v))
		}
		w.VMAXPS(y(10), y(v), y(v))
		w.VMINPS(y(11), y(v), y(v))
		w.VCVTPS2DQ(y(v), y(v))
		w.VPADDD(y(12), y(v), y(v))
		w.VPAND(y(14), y(v), y(v))
	}
	w.VPACKUSDW(y(1), y(0), y(0))
	w.VPACKUSDW(y(3), y(2), y(2))
	w.VPACKUSWB(y(2), y(0), y(0))
	w.VPERMD(y(0), y(13), y(0))
	w.VMOVDQU(y(0), at(dst, 0))
	if residual {
		w.ADDQ(ld, from)
	}
	w.nextRow(rows, ldacc, acc, ld, dst)
}

// dequant512 is requant512 for results that are floats: the term that is added
// after the product was rounded has a row of its own for each row of sums, or
// one for all.
func dequant512(w writer) {
	w.begin("qDequantAVX512", dequantSignature, "turns sums into floats: dst = (acc+bias)·scale + add, the product\nrounded before the sum. cols is 1 to 32; bias and scale have 32 elements; rows of add\nare ldadd floats apart.")
	rows, acc, ldacc := w.arg("rows"), w.arg("acc"), w.arg("ldacc")
	bias, scale, add, ldadd, dst, ld := w.arg("bias"), w.arg("scale"), w.arg("add"), w.arg("ldadd"), w.arg("dst"), w.arg("ld")
	w.halves(w.arg("cols"))
	w.SHLQ(U8(2), ldacc)
	w.SHLQ(U8(2), ldadd)
	w.SHLQ(U8(2), ld)
	for v := range 2 {
		w.VMOVDQU32(at(bias, 64*v), z(24+v))
		w.VMOVDQU32(at(scale, 64*v), z(26+v))
	}
	w.Label("row")
	for v, k := range []reg.Register{reg.K1, reg.K2} {
		w.VMOVDQU32(at(acc, 64*v), z(v))
		w.VPADDD(z(24+v), z(v), z(v))
		w.VCVTDQ2PS(z(v), z(v))
		w.VMULPS(z(26+v), z(v), z(v))
		w.VADDPS(at(add, 64*v), z(v), k, z(v))
		w.VMOVUPS(z(v), k, at(dst, 64*v))
	}
	w.ADDQ(ldadd, add)
	w.nextRow(rows, ldacc, acc, ld, dst)
}

// dequant256 is dequant512 with operands from the first cache.
func dequant256(w writer) {
	w.begin("qDequantAVX2", dequantSignature, "is qDequantAVX512 for cols of 32.")
	rows, acc, ldacc := w.arg("rows"), w.arg("acc"), w.arg("ldacc")
	bias, scale, add, ldadd, dst, ld := w.arg("bias"), w.arg("scale"), w.arg("add"), w.arg("ldadd"), w.arg("dst"), w.arg("ld")
	w.SHLQ(U8(2), ldacc)
	w.SHLQ(U8(2), ldadd)
	w.SHLQ(U8(2), ld)
	w.Label("row")
	for v := range 4 {
		w.VMOVDQU(at(acc, 32*v), y(v))
		w.VPADDD(at(bias, 32*v), y(v), y(v))
		w.VCVTDQ2PS(y(v), y(v))
		w.VMULPS(at(scale, 32*v), y(v), y(v))
		w.VADDPS(at(add, 32*v), y(v), y(v))
		w.VMOVUPS(y(v), at(dst, 32*v))
	}
	w.ADDQ(ldadd, add)
	w.nextRow(rows, ldacc, acc, ld, dst)
}

// nextRow moves on to the next row of sums and results, and ends after the last one.
func (w writer) nextRow(rows, ldacc, acc, ld, dst reg.GPVirtual) {
	w.ADDQ(ldacc, acc)
	w.ADDQ(ld, dst)
	w.DECQ(rows)
	w.JNZ(LabelRef("row"))
	w.end()
}

// bytes512 loads those of 16 bytes that k selects, flips their sign bits where X31 says so, and widens
// them to floats less the zero point in zero.
func (w writer) bytes512(from Mem, k reg.Register, zero, v reg.VecPhysical) {
	low := v.AsX()
	w.VMOVDQU8_Z(from, k, low)
	w.VPXORD(x(31), low, low)
	w.VPMOVZXBD(low, v)
	w.VPSUBD(zero, v, v)
	w.VCVTDQ2PS(v, v)
}

// each runs body for some elements at a time, 16 or 64; K1 selects those that are left.
func (w writer) each(elements int, n reg.GPVirtual, body func()) {
	w.KXNORQ(reg.K1, reg.K1, reg.K1)
	w.Label("loop")
	w.CMPQ(n, U8(elements))
	w.JGE(LabelRef("full"))
	w.TESTQ(n, n)
	w.JZ(LabelRef("done"))
	w.lanes(n, reg.K1)
	w.MOVQ(U32(elements), n)
	w.Label("full")
	body()
	w.SUBQ(U8(elements), n)
	w.JMP(LabelRef("loop"))
	w.Label("done")
	w.end()
}

func quantize512(w writer) {
	w.begin("qQuantizeAVX512", "func(n int, src *float32, scale, lo, hi float32, zero int32, dst *uint8)",
		"quantises n floats: dst = round(src/scale) + zero, the quotient\nclamped to lo and hi, NaN as lo.")
	n, src, dst := w.arg("n"), w.arg("src"), w.arg("dst")
	w.broadcast("scale", z(27))
	w.broadcast("lo", z(28))
	w.broadcast("hi", z(29))
	w.broadcast("zero", z(30))
	w.each(16, n, func() {
		w.VMOVUPS_Z(at(src, 0), reg.K1, z(0))
		w.VDIVPS(z(27), z(0), z(0))
		w.clamp512(z(0))
		w.VPMOVDB(z(0), x(0))
		w.VMOVDQU8(x(0), reg.K1, at(dst, 0))
		w.ADDQ(U8(64), src)
		w.ADDQ(U8(16), dst)
	})
}

const rescaleSignature = "func(n int, sums *int32, units *float32, zero int32, scale float32, bias *int32, by *float32)"

// rescale512 writes what a product of bytes with a zero point has of its own for each column.
func rescale512(w writer) {
	w.begin("qRescaleAVX512", rescaleSignature, "sets bias to -zero·sums and by to scale·units, of n columns, a multiple of 16\nabove 0.")
	w.broadcast("zero", z(0))
	w.VPXORD(z(2), z(2), z(2))
	rescale(w, 64, z, func(v reg.VecPhysical, to Mem) { w.VMOVDQU32(v, to) })
}

// rescale256 is rescale512 with half the lanes.
func rescale256(w writer) {
	w.begin("qRescaleAVX2", rescaleSignature, "is qRescaleAVX512.")
	w.broadcast("zero", y(0))
	w.VPXOR(y(2), y(2), y(2))
	rescale(w, 32, y, func(v reg.VecPhysical, to Mem) { w.VMOVDQU(v, to) })
}

// rescale takes the zero point and 0 in vectors 0 and 2 of size bytes.
func rescale(w writer, size int, v func(int) reg.VecPhysical, store func(reg.VecPhysical, Mem)) {
	n, sums, units, bias, by := w.arg("n"), w.arg("sums"), w.arg("units"), w.arg("bias"), w.arg("by")
	w.broadcast("scale", v(1))
	w.VPSUBD(v(0), v(2), v(0))
	w.Label("loop")
	w.VPMULLD(at(sums, 0), v(0), v(3))
	w.VMULPS(at(units, 0), v(1), v(4))
	store(v(3), at(bias, 0))
	w.VMOVUPS(v(4), at(by, 0))
	for _, p := range []reg.GPVirtual{sums, units, bias, by} {
		w.ADDQ(U8(size), p)
	}
	w.SUBQ(U8(size/4), n)
	w.JG(LabelRef("loop"))
	w.end()
}
