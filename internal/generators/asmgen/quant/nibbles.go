package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

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

// nibbleRow writes the product of one row with 4-bit weights in groups of 32. A vector of
// weights is 16 words of eight, shifted to bring each place down: half of the shuffles of
// widening bytes. Two columns share the loaded part of x. The terms of zero points go into
// the same sums.
func nibbleRow(w writer, table Mem) {
	quarters := w.StaticGlobal("quarters")
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		w.AddDatum(4*i, U32(i/4))
	}
	w.begin("int4RowAVX512", "func(n, blocks int, x *float32, w *uint8, scale *float32, zero *uint8, sums, dst *float32)",
		"computes dst[c] = Σ x[k]·(w[c][k]-8)·scale[c][k/32] for n columns of blocks\nof 128 weights, and adds Σ sums[g]·(8-zero[c][g])·scale[c][g] where zero is not nil.\nOf 128 elements of x those of places i, i+8, ... lie together.")
	r := rowRegs{writer: w, n: w.arg("n"), w: w.arg("w"), scale: w.arg("scale"), zero: w.arg("zero"), dst: w.arg("dst"),
		groups: w.arg("blocks"), bytes: w.GP64(), x: w.GP64(), count: w.GP64(), from: w.GP64(), some: w.GP64()}
	w.SHLQ(U8(2), r.groups)
	w.MOVQ(r.groups, r.bytes)
	w.SHLQ(U8(4), r.bytes)
	w.VMOVUPS(table, z(20))
	w.VMOVDQU32(quarters, z(21))
	w.MOVL(U32(8), r.some.As32())
	w.VPBROADCASTD(r.some.As32(), z(22))
	for cols := 2; cols >= 1; cols-- {
		w.Label(fmt.Sprintf("columns%d", cols))
		w.SUBQ(U8(cols), r.n)
		w.JLT(LabelRef(fmt.Sprintf("left%d", cols)))
		r.columns(cols)
		w.JMP(LabelRef(fmt.Sprintf("columns%d", cols)))
		w.Label(fmt.Sprintf("left%d", cols))
		w.ADDQ(U8(cols), r.n)
	}
	w.end()
}

// rowRegs are the registers of nibbleRow: groups and bytes are those of a column, from the
// first scale of a column.
type rowRegs struct {
	writer
	n, w, scale, zero, dst, groups, bytes, x, count, from, some reg.GPVirtual
}

// column is the content of a pointer in the column scale·by further on.
func (r *rowRegs) column(base, by reg.Register, scale int) Mem {
	if scale == 0 {
		return at(base, 0)
	}
	return indexed(base, by, uint8(scale), 0)
}

// columns computes columns: sums in Z0 and on, those of a block in pairs from Z2 on,
// weights in Z6, scales in Z8.
func (r *rowRegs) columns(cols int) {
	label := func(s string) string { return fmt.Sprintf("%s%d", s, cols) }
	r.Load(r.Param("x"), r.x)
	r.MOVQ(r.groups, r.count)
	r.MOVQ(r.scale, r.from)
	for c := range cols {
		r.VPXORD(z(c), z(c), z(c))
	}
	r.Label(label("block"))
	for c := range cols {
		r.VMOVDQU32(r.column(r.w, r.bytes, c), z(6+c))
		r.VBROADCASTF32X4(r.column(r.scale, r.groups, 4*c), z(8+c))
		r.VPERMPS(z(8+c), z(21), z(8+c))
	}
	for i := range 8 {
		r.VMOVUPS(at(r.x, 64*i), z(10))
		for c := range cols {
			from, sum := 6+c, 2+2*c+i%2
			if i > 0 {
				from = 11 + c
				r.VPSRLD(U8(4*i), z(6+c), z(from))
			}
			r.VPERMPS(z(20), z(from), z(11+c))
			if i < 2 {
				r.VMULPS(z(10), z(11+c), z(sum))
			} else {
				r.VFMADD231PS(z(10), z(11+c), z(sum))
			}
		}
	}
	for c := range cols {
		r.VADDPS(z(3+2*c), z(2+2*c), z(2+2*c))
		r.VFMADD231PS(z(8+c), z(2+2*c), z(c))
	}
	r.ADDQ(U8(64), r.w)
	r.ADDQ(U8(16), r.scale)
	r.ADDQ(I32(512), r.x)
	r.SUBQ(U8(4), r.count)
	r.JNZ(LabelRef(label("block")))
	r.TESTQ(r.zero, r.zero)
	r.JZ(LabelRef(label("sum")))
	r.zeros(cols, label("zeros"))
	r.Label(label("sum"))
	for c := range cols {
		r.VEXTRACTF64X4(U8(1), z(c), y(14))
		if c > 0 {
			r.VMOVAPS(y(c), y(0))
		}
		r.VADDPS(y(14), y(0), y(0))
		r.addUp()
		r.VMOVSS(x(0), at(r.dst, 4*c))
	}
	r.ADDQ(U8(4*cols), r.dst)
	if cols == 2 {
		r.ADDQ(r.bytes, r.w)
		r.LEAQ(indexed(r.scale, r.groups, 4, 0), r.scale)
	}
}

// zeros adds the terms of zero points, 16 groups at a time.
func (r *rowRegs) zeros(cols int, label string) {
	r.Load(r.Param("sums"), r.x)
	r.MOVQ(r.groups, r.count)
	r.Label(label)
	r.MOVQ(U32(16), r.some)
	r.CMPQ(r.count, r.some)
	r.CMOVQLT(r.count, r.some)
	r.lanes(r.some, reg.K1)
	r.VMOVUPS_Z(at(r.x, 0), reg.K1, z(10))
	for c := range cols {
		r.VPMOVZXBD_Z(r.column(r.zero, r.groups, c), reg.K1, z(11+c))
		r.VPSUBD(z(11+c), z(22), z(11+c))
		r.VCVTDQ2PS(z(11+c), z(11+c))
		r.VMULPS_Z(r.column(r.from, r.groups, 4*c), z(11+c), reg.K1, z(11+c))
		r.VFMADD231PS(z(10), z(11+c), z(c))
	}
	r.ADDQ(r.some, r.zero)
	r.LEAQ(indexed(r.from, r.some, 4, 0), r.from)
	r.ADDQ(U8(64), r.x)
	r.SUBQ(U8(16), r.count)
	r.JG(LabelRef(label))
	if cols == 2 {
		r.ADDQ(r.groups, r.zero)
	}
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
