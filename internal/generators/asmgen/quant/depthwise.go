package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const depthwiseSignature = "func(pixels, step int, src *uint8, offs *int64, groups, cols int, weight *int8, acc *int32, ld int)"

func emitDepthwise(w writer) {
	depthwise512(w)
	depthwise256(w)
}

// depthwise512 keeps the sums of 64 channels in Z0 to Z3. The bytes of four taps
// are interleaved in registers, so that VPDPBUSD adds the four products of a
// channel; sum j then holds channels 4j to 4j+3 of each block of 16.
func depthwise512(w writer) {
	w.begin("qDepthwiseVNNI", depthwiseSignature,
		"computes acc[p][c] = Σ src[p·step+offs[t]+c]·weight[t][c] for cols of 1\nto 64 channels over groups of four taps; weight is interleaved by four taps.\nAll 64 sums of a pixel are written.")
	pixels, step, src := w.arg("pixels"), w.arg("step"), w.arg("src")
	groups, acc, ld := w.arg("groups"), w.arg("acc"), w.arg("ld")
	w.lanes(w.arg("cols"), reg.K1)
	w.SHLQ(U8(2), ld)
	offs, weight, n := w.taps(groups, func(i int) { w.VPXORD(z(i), z(i), z(i)) },
		func(t int, p reg.GPVirtual) { w.VMOVDQU8_Z(indexed(src, p, 1, 0), reg.K1, z(4+t)) })
	w.fours(z, 4)
	for j := range 4 {
		w.VPDPBUSD(at(weight, 64*j), z(12+j), z(j))
	}
	w.ADDQ(U8(32), offs)
	w.ADDQ(I32(256), weight)
	w.DECQ(n)
	w.JNZ(LabelRef("group"))
	w.VSHUFI32X4(U8(0x44), z(1), z(0), z(4))
	w.VSHUFI32X4(U8(0xee), z(1), z(0), z(5))
	w.VSHUFI32X4(U8(0x44), z(3), z(2), z(6))
	w.VSHUFI32X4(U8(0xee), z(3), z(2), z(7))
	for i := range 4 {
		w.VSHUFI32X4(U8([...]uint8{0x88, 0xdd}[i%2]), z(6+i/2), z(4+i/2), z(8+i))
		w.VMOVDQU32(z(8+i), at(acc, 64*i))
	}
	w.ADDQ(step, src)
	w.ADDQ(ld, acc)
	w.DECQ(pixels)
	w.JNZ(LabelRef("pixel"))
	w.end()
}

// taps begins a pixel with four sums set to zero, and groups of four taps, which load
// reads at p from src on.
func (w writer) taps(groups reg.GPVirtual, zero func(i int), load func(t int, p reg.GPVirtual)) (offs, weight, n reg.GPVirtual) {
	offs, weight, n = w.GP64(), w.GP64(), w.GP64()
	p := w.GP64()
	w.Label("pixel")
	for i := range 4 {
		zero(i)
	}
	w.Load(w.Param("offs"), offs)
	w.Load(w.Param("weight"), weight)
	w.MOVQ(groups, n)
	w.Label("group")
	for t := range 4 {
		w.MOVQ(at(offs, 8*t), p)
		load(t, p)
	}
	return offs, weight, n
}

// depthwise256 does 16 channels, one block of the same weights, widened to 16
// bits. Four taps are brought together byte by byte in registers, so that one
// product of pairs serves two taps of a channel.
func depthwise256(w writer) {
	w.begin("qDepthwiseAVX2", depthwiseSignature,
		"is qDepthwiseVNNI for the 16 channels of a block; cols is not read\nand weight points at the block.")
	pixels, step, src := w.arg("pixels"), w.arg("step"), w.arg("src")
	groups, acc, ld := w.arg("groups"), w.arg("acc"), w.arg("ld")
	w.SHLQ(U8(2), ld)
	offs, weight, n := w.taps(groups, func(i int) { w.VPXOR(y(i), y(i), y(i)) },
		func(t int, p reg.GPVirtual) { w.VMOVDQU(indexed(src, p, 1, 0), x(4+t)) })
	w.fours(x, 4)
	for j := range 4 {
		w.VPMOVZXBW(x(12+j), y(12+j))
		w.VPMOVSXBW(at(weight, 64*j), y(4))
		w.VPMADDWD(y(4), y(12+j), y(4))
		w.VPADDD(y(4), y(j), y(j))
	}
	w.ADDQ(U8(32), offs)
	w.ADDQ(I32(256), weight)
	w.DECQ(n)
	w.JNZ(LabelRef("group"))
	for i := 0; i < 4; i += 2 {
		w.VPHADDD(y(i+1), y(i), y(i))
		w.VPERMQ(U8(0xd8), y(i), y(i))
		w.VMOVDQU(y(i), at(acc, 16*i))
	}
	w.ADDQ(step, src)
	w.ADDQ(ld, acc)
	w.DECQ(pixels)
	w.JNZ(LabelRef("pixel"))
	w.end()
}
