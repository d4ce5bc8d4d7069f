package main

import . "github.com/mmcloughlin/avo/operand"

// unpackNibbles writes what makes floats of 4-bit weights, in order. The bytes of a block become words, of
// which a shift by four bits makes two bytes with a weight each.
func (d *dots) unpackNibbles() {
	d.begin(d.name("int4Unpack"), "func(groups, blocks int, w *uint8, scale *float32, zero *uint8, dst *float32)",
		"computes dst[k] = (w[k]-zero[g])·scale[g] for groups of blocks of 32 weights;\nzero points are 8 where zero is nil.")
	groups, blocks, scale, zero := d.arg("groups"), d.arg("blocks"), d.arg("scale"), d.arg("zero")
	d.w, d.dst, d.left = d.arg("w"), d.arg("dst"), d.GP64()
	point := d.GP32()
	d.MOVL(U32(8), point)
	if d.wide {
		d.VMOVUPS(d.table, z(20))
		d.VPBROADCASTD(point, z(21))
	} else {
		d.VMOVD(point, x(10))
		d.VPBROADCASTD(x(10), y(10))
		low := d.GP32()
		d.MOVL(U32(0x0f0f0f0f), low)
		d.VMOVD(low, x(12))
		d.VPBROADCASTD(x(12), y(12))
	}
	d.Label("group")
	d.TESTQ(zero, zero)
	d.JZ(LabelRef("scale"))
	d.MOVBLZX(at(zero, 0), point)
	d.INCQ(zero)
	d.Label("scale")
	if d.wide { // the floats that weights of this group may be
		d.VPBROADCASTD(point, z(2))
		d.VPSUBD(z(2), z(21), z(2))
		d.VCVTDQ2PS(z(2), z(2))
		d.VADDPS(z(20), z(2), z(2))
		d.VMULPS_BCST(at(scale, 0), z(2), z(2))
	} else {
		d.VMOVD(point, x(10))
		d.VPBROADCASTD(x(10), y(10))
		d.VBROADCASTSS(at(scale, 0), y(11))
	}
	d.ADDQ(U8(4), scale)
	d.MOVQ(blocks, d.left)
	d.Label("block")
	d.VPMOVZXBW(at(d.w, 0), y(0))
	d.VPSLLW(U8(4), y(0), y(1))
	d.VPOR(y(1), y(0), y(0))
	if !d.wide {
		d.VPAND(y(12), y(0), y(0))
	}
	d.VEXTRACTI128(U8(1), y(0), x(1))
	for half := range 2 {
		if d.wide {
			d.VPMOVZXBD(x(half), z(3+half))
			d.VPERMPS(z(2), z(3+half), z(3+half))
			d.VMOVUPS(z(3+half), at(d.dst, 64*half))
			continue
		}
		d.VPSRLDQ(U8(8), x(half), x(3))
		for i, from := range []int{half, 3} {
			v := y(4 + i)
			d.VPMOVZXBD(x(from), v)
			d.VPSUBD(y(10), v, v)
			d.VCVTDQ2PS(v, v)
			d.VMULPS(y(11), v, v)
			d.VMOVUPS(v, at(d.dst, 64*half+32*i))
		}
	}
	d.ADDQ(U8(16), d.w)
	d.SUBQ(I32(-128), d.dst)
	d.DECQ(d.left)
	d.JNZ(LabelRef("block"))
	d.DECQ(groups)
	d.JNZ(LabelRef("group"))
	d.end()
}
