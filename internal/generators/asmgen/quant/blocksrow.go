package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// blockRows writes products of one row with 4-bit blocks, whose instructions bound them more
// than memory does. As in nibbleRow a vector is 16 words of eight elements, which shifts bring
// down, and a table makes floats of them; scales multiply sums. Minima of Q4_K are multiplied by the
// sums of groups of x, made once.
func blockRows(w writer) {
	constant := func(name string, at func(i int) Constant) Mem {
		m := w.StaticGlobal(name)
		w.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := 0; i*at(0).Bytes() < 64; i++ {
			w.AddDatum(i*at(0).Bytes(), at(i))
		}
		return m
	}
	centred := constant("centred", func(i int) Constant { return F32(i - 8) })
	plain := constant("plain", func(i int) Constant { return F32(i) })
	// The words of four blocks of Q4_0 in their first 64 bytes, and from 32 on in those that end with them.
	elements := constant("elements", func(i int) Constant {
		at := 9*(i/8) + 1 + i%8
		if at >= 32 {
			at += 32 - 4
		}
		return U16(at)
	})
	quarters := constant("quarter", func(i int) Constant { return U16(9 * (i / 4 % 4)) })
	var groups []Mem // of the scales of Q4_K, for the lower and the upper halves of bytes of each 64
	for g := range 4 {
		groups = append(groups, constant(fmt.Sprintf("groups%d", g), func(i int) Constant { return U32(4*(g/2) + g%2 + 2*(i/8)) }))
	}

	r := &blockRow{block: block{dots: dots{writer: w, wide: true}}}
	r.begin("rowQ40AVX512", "func(n, count int, x *float32, w *uint8, ldw int, dst *float32)",
		"computes dst[c] = Σ x[k]·w[c][k] for n columns of count times four blocks, ldw bytes\napart. Of 128 elements of x those of places 4·(i%4)+32·(i/4) lie first; see half.BlockOrder.")
	r.size, r.elements = 72, 128
	r.each = func(cols int) {
		for c := range cols {
			r.column(c)
			r.four(c)
		}
		r.words(cols)
		for c := range cols {
			r.VADDPS(z(3+2*c), z(2+2*c), z(2+2*c))
			r.VFMADD231PS(z(8+c), z(2+2*c), z(c))
		}
	}
	r.emit(centred, map[int]Mem{22: elements, 23: quarters})

	r.begin("rowQ4KAVX512", "func(n, count int, x, sums *float32, w *uint8, ldw int, dst *float32)",
		"computes dst[c] = Σ x[k]·w[c][k] for n columns of count blocks, ldw bytes\napart; sums are those of 32 elements of x. See half.BlockOrder for the order of x.")
	r.size, r.elements, r.sums = 144, 256, w.GP64()
	r.each = r.block4K
	r.emit(plain, map[int]Mem{28: groups[0], 29: groups[1], 30: groups[2], 31: groups[3]})
}

// blockRow writes one row's product: sums in Z0 and Z1, those of some words from Z2 on, words from
// Z6 on, the table in Z20.
type blockRow struct {
	block
	size, elements int // of a pass
	each           func(cols int)
	sums, stride   reg.GPVirtual
}

// column chooses the column that at is in.
func (r *blockRow) column(c int) {
	if r.second = nil; c > 0 {
		r.second = r.stride
	}
}

// emit writes the function, with two columns to a pass while there are as many.
func (r *blockRow) emit(table Mem, constants map[int]Mem) {
	r.n, r.w, r.dst, r.stride = r.arg("n"), r.arg("w"), r.arg("dst"), r.arg("ldw")
	r.x, r.p, r.count = r.GP64(), r.GP64(), r.GP64()
	r.VMOVUPS(table, z(20))
	for v := range 32 {
		if m, ok := constants[v]; ok {
			r.VMOVUPS(m, z(v))
		}
	}
	for cols := 2; cols >= 1; cols-- {
		columns, block, left := fmt.Sprintf("columns%d", cols), fmt.Sprintf("block%d", cols), fmt.Sprintf("left%d", cols)
		r.Label(columns)
		r.SUBQ(U8(cols), r.n)
		r.JLT(LabelRef(left))
		r.MOVQ(r.w, r.p)
		r.Load(r.Param("x"), r.x)
		r.Load(r.Param("count"), r.count)
		if r.sums != nil {
			r.Load(r.Param("sums"), r.sums)
		}
		for c := range cols {
			r.VPXORD(z(c), z(c), z(c))
			r.VPXORD(z(16+c), z(16+c), z(16+c))
		}
		r.Label(block)
		for c := range cols {
			r.column(c)
			for line := 0; line < r.size; line += 64 {
				r.PREFETCHT1(r.at(simd.FarAhead + line))
			}
		}
		r.each(cols)
		r.ADDQ(I32(r.size), r.p)
		r.ADDQ(I32(4*r.elements), r.x)
		r.DECQ(r.count)
		r.JNZ(LabelRef(block))
		for c := range cols {
			r.VSUBPS(z(16+c), z(c), z(c))
			r.VEXTRACTF64X4(U8(1), z(c), y(14))
			if c > 0 {
				r.VMOVAPS(y(c), y(0))
			}
			r.VADDPS(y(14), y(0), y(0))
			r.addUp()
			r.VMOVSS(x(0), at(r.dst, 4*c))
			r.ADDQ(r.stride, r.w)
		}
		r.ADDQ(U8(4*cols), r.dst)
		r.JMP(LabelRef(columns))
		r.Label(left)
		r.ADDQ(U8(cols), r.n)
	}
	r.end()
}

// four brings four blocks of Q4_0 together: their elements in Z6, the scale of each in four lanes of Z8, for the
// first column. All lie at even bytes.
func (r *blockRow) four(c int) {
	r.VMOVDQU32(r.at(0), z(6+c))
	r.VPERMW(z(6+c), z(23), z(8+c))
	r.VPERMT2W(r.at(8), z(22), z(6+c))
	r.VCVTPH2PS(y(8+c), z(8+c))
}

// words multiplies x by the eight elements of each word: those of even places are summed in Z2, of
// odd ones in Z3, for the first column.
func (r *blockRow) words(cols int) {
	for i := range 8 {
		r.VMOVUPS(at(r.x, r.disp+64*i), z(10))
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
}

// block4K is a block of Q4_K: in each half, words whose halves of bytes are of two groups.
func (r *blockRow) block4K(cols int) {
	for c := range cols {
		r.column(c)
		r.scales256(22 + 2*c)
		r.VFMADD231PS(at(r.sums, 0), y(23+2*c), y(16+c))
	}
	for h := range 2 {
		for c := range cols {
			r.column(c)
			r.VMOVDQU32(r.at(16+64*h), z(6+c))
		}
		r.disp = 512 * h
		r.words(cols)
		r.disp = 0
		for c := range cols {
			for odd := range 2 {
				r.VPERMPS(z(22+2*c), z(28+2*h+odd), z(14))
				r.VFMADD231PS(z(14), z(2+2*c+odd), z(c))
			}
		}
	}
	r.ADDQ(U8(32), r.sums)
}
