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
