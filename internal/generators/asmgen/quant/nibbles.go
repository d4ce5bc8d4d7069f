package main

import . "github.com/mmcloughlin/avo/operand"

// nibbleZeros writes the terms that zero points add to a product with 4-bit weights.
func nibbleZeros(w writer) {
	w.begin("int4ZerosAVX2", "func(n, blocks int, sums *float32, zero *uint8, scale *float32, skip int, dst *float32)",
		"adds Σ sums[g]·(8-zero[c][g])·scale[c][g] to dst[c] for n columns of\nblocks of 8 groups, each followed by skip others.")
	n, blocks, zero, scale, skip, dst := w.arg("n"), w.arg("blocks"), w.arg("zero"), w.arg("scale"), w.arg("skip"), w.arg("dst")
	sums, count := w.GP64(), w.GP64()
	eight := w.GP32()
	w.MOVL(U32(8), eight)
	w.VMOVD(eight, x(13))
	w.VPBROADCASTD(x(13), y(13))
	w.Label("column")
	w.Load(w.Param("sums"), sums)
	w.MOVQ(blocks, count)
	w.VXORPS(y(0), y(0), y(0))
	w.Label("block")
	w.VPMOVZXBD(at(zero, 0), y(1))
	w.VPSUBD(y(1), y(13), y(1))
	w.VCVTDQ2PS(y(1), y(1))
	w.VMULPS(at(scale, 0), y(1), y(1))
	w.VFMADD231PS(at(sums, 0), y(1), y(0))
	w.ADDQ(U8(8), zero)
	w.ADDQ(U8(32), scale)
	w.ADDQ(U8(32), sums)
	w.DECQ(count)
	w.JNZ(LabelRef("block"))
	w.addUp()
	w.VADDSS(at(dst, 0), x(0), x(0))
	w.VMOVSS(x(0), at(dst, 0))
	w.ADDQ(U8(4), dst)
	w.ADDQ(skip, zero)
	w.LEAQ(indexed(scale, skip, 4, 0), scale)
	w.DECQ(n)
	w.JNZ(LabelRef("column"))
	w.end()
}

// addUp adds the elements of Y0 in X0.
func (w writer) addUp() {
	w.VEXTRACTF128(U8(1), y(0), x(14))
	w.VADDPS(x(14), x(0), x(0))
	w.VMOVHLPS(x(0), x(0), x(14))
	w.VADDPS(x(14), x(0), x(0))
	w.VMOVSHDUP(x(0), x(14))
	w.VADDSS(x(14), x(0), x(0))
}

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
