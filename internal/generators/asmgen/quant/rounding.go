package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitRounding writes how activations are rounded to 8 bits: half.ByteRow says to what. Runs are of 16
// elements, or of eight; sums of lanes are multiplied by what stands for 0, or those of blocks are kept
// for minima, four in a group or eight in two groups.
func emitRounding(w writer, consts *byteConsts) {
	for _, f := range []struct {
		name       string
		run, least int
	}{{"roundRowVNNI", 16, 0}, {"roundEightsVNNI", 8, 0}, {"roundSumsVNNI", 16, 4}, {"roundSums256VNNI", 16, 8}} {
		groups := max(1, f.least/4)
		r := &rounder{writer: w, run: f.run}
		if f.least == 0 {
			r.begin(f.name, "func(count int, x *float32, dst *uint8, zero int)",
				"rounds count groups of 128 floats to 8 bits, for bytes of which zero stands for 0.")
			r.VPBROADCASTB(r.arg("zero").As32(), z(20))
		} else {
			r.begin(f.name, "func(count int, x *float32, dst *uint8)", "rounds 128 floats to 8 bits, or 256, count times, with the sums of 32.")
			one := r.GP32()
			r.MOVL(U32(1), one)
			r.VPBROADCASTB(one, z(20))
			r.MOVL(U32(0x1111), one)
			r.KMOVW(one, reg.K2)
		}
		count := r.arg("count")
		r.x, r.dst = r.arg("x"), r.arg("dst")
		for i, word := range []uint32{0x7fffffff, 0x42fe0000, 0x00800000, 0x3f800000} {
			g := r.GP32()
			r.MOVL(U32(word), g)
			r.VPBROADCASTD(g, z(21+i))
		}
		r.VPXORD(z(19), z(19), z(19))
		r.Label("group")
		for g := range groups {
			r.group(g)
			r.sums(f.least, g)
		}
		r.ADDQ(I32(512*groups), r.x)
		r.ADDQ(I32(groupBytes*groups), r.dst)
		r.DECQ(count)
		r.JNZ(LabelRef("group"))
		r.end()
	}
}

// rounder writes one of these: bytes in Z10 and Z11, scales in Z12.
type rounder struct {
	writer
	run    int
	x, dst reg.GPVirtual
}

// group rounds 128 elements, block by block.
func (r *rounder) group(g int) {
	for j := range 4 {
		r.VMOVUPS(at(r.x, 512*g+128*j), z(0))
		r.VMOVUPS(at(r.x, 512*g+128*j+64), z(1))
		r.VPANDD(z(21), z(0), z(2))
		r.VPANDD(z(21), z(1), z(3))
		r.VPMAXUD(z(3), z(2), z(2))
		r.VEXTRACTI64X4(U8(1), z(2), y(3))
		r.VPMAXUD(y(3), y(2), y(2))
		r.VEXTRACTI128(U8(1), y(2), x(3))
		r.VPMAXUD(x(3), x(2), x(2))
		r.VPSHUFD(U8(0x4e), x(2), x(3))
		r.VPMAXUD(x(3), x(2), x(2))
		r.VPSHUFD(U8(0xb1), x(2), x(3))
		r.VPMAXUD(x(3), x(2), x(2))
		r.VDIVPS(x(22), x(2), x(4))
		r.VCMPPS(U8(13), x(23), x(4), reg.K1) // not less
		r.VDIVPS_Z(x(4), x(24), reg.K1, x(5))
		r.VSUBPS(x(2), x(2), x(6)) // NaN where the block is not finite
		r.VADDPS(x(6), x(4), x(4))
		r.VINSERTF32X4(U8(j), x(4), z(12), z(12))
		r.VBROADCASTSS(x(5), z(5))
		for i := range 2 {
			r.VMULPS(z(5), z(i), z(i))
			r.VCVTPS2DQ(z(i), z(i))
			r.VPMOVDB(z(i), x(i))
		}
		low, high := 0, 1
		if r.run == 8 {
			r.VPUNPCKLQDQ(x(1), x(0), x(6))
			r.VPUNPCKHQDQ(x(1), x(0), x(7))
			low, high = 6, 7
		}
		r.VINSERTI32X4(U8(j), x(low), z(10), z(10))
		r.VINSERTI32X4(U8(j), x(high), z(11), z(11))
	}
	r.VMOVDQU32(z(10), at(r.dst, groupBytes*g))
	r.VMOVDQU32(z(11), at(r.dst, groupBytes*g+groupHigh))
	r.VMOVUPS(z(12), at(r.dst, groupBytes*g+groupScale))
}

// sums writes what sums begin with, or what minima are multiplied by.
func (r *rounder) sums(least, g int) {
	r.VPXORD(z(13), z(13), z(13))
	r.VPDPBUSD(z(10), z(20), z(13))
	r.VPDPBUSD(z(11), z(20), z(13))
	if least == 0 {
		r.VPSUBD(z(13), z(19), z(13))
		r.VMOVDQU32(z(13), at(r.dst, groupBytes*g+groupFirst))
		return
	}
	for _, by := range []uint8{0xb1, 0x4e} {
		r.VPSHUFD(U8(by), z(13), z(14))
		r.VPADDD(z(14), z(13), z(13))
	}
	r.VCVTDQ2PS(z(13), z(13))
	r.VMULPS(z(12), z(13), z(13))
	if least == 4 {
		r.VMOVAPS_Z(z(13), reg.K2, z(13))
		r.VMOVUPS(z(13), at(r.dst, groupBytes*g+groupFirst))
		return
	}
	r.VCOMPRESSPS_Z(z(13), reg.K2, z(13))
	r.VMOVUPS(x(13), at(r.dst, groupFirst+32+16*g))
	if g == 0 {
		r.VMOVUPS(y(19), at(r.dst, groupFirst))
	}
}
