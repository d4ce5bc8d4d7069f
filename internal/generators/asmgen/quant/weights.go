package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// rowsMax is the most rows of x that one pass over the weights serves.
const rowsMax = 4

// emitWeights writes products with narrow weights and their conversions. Weights
// are the stream: they are unpacked in registers once for up to four rows of x,
// which come from the first cache.
func emitWeights(w writer) {
	table := w.StaticGlobal("nibbles")
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		w.AddDatum(4*i, F32(i-8))
	}
	for _, wide := range []bool{true, false} {
		d := dots{writer: w, wide: wide, table: table}
		d.nibbles()
		d.unpackNibbles()
		for _, f := range []string{"I8", "U8"} {
			d.bytes(f)
			d.widen(f)
		}
		for _, f := range []string{"F16", "BF16"} {
			d.halves(f)
			d.widen(f)
		}
	}
	nibbleZeros(w)
	emitNibbleTile(w, table)
}

// dots writes products of rows of floats with weights that are unpacked in
// registers, at one vector width.
type dots struct {
	writer
	wide  bool
	table Mem

	n, x, ldx, three, w, dst, ldd, count, left reg.GPVirtual
	rest                                       reg.GPVirtual // row 4 of x, where there are more than four
}

func (d *dots) name(s string) string {
	if d.wide {
		return s + "AVX512"
	}
	return s + "AVX2"
}

func (d *dots) v(i int) reg.VecPhysical {
	if d.wide {
		return z(i)
	}
	return y(i)
}

// size is the bytes of a vector.
func (d *dots) size() int {
	if d.wide {
		return 64
	}
	return 32
}

func (d *dots) zero(i int) {
	if d.wide {
		d.VPXORD(z(i), z(i), z(i))
	} else {
		d.VXORPS(y(i), y(i), y(i))
	}
}

// row is the memory of row r of x, disp bytes after the current position.
func (d *dots) row(r, disp int) Mem {
	base := d.x
	if r >= 4 {
		base, r = d.rest, r-4
	}
	switch r {
	case 0:
		return at(base, disp)
	case 3:
		return indexed(base, d.three, 1, disp)
	}
	return indexed(base, d.ldx, uint8(r), disp)
}

// args loads the arguments that both kinds of weights need.
func (d *dots) args() {
	d.n, d.x, d.ldx, d.w = d.arg("n"), d.GP64(), d.arg("ldx"), d.arg("w")
	d.dst, d.ldd, d.three = d.arg("dst"), d.arg("ldd"), d.GP64()
	d.count, d.left = d.GP64(), d.GP64()
	d.SHLQ(U8(2), d.ldx)
	d.SHLQ(U8(2), d.ldd)
	d.LEAQ(indexed(d.ldx, d.ldx, 2, 0), d.three)
}

// finish writes the sums of each row, spread over vector r, to the next column.
func (d *dots) finish(rows int) {
	p := d.GP64()
	d.MOVQ(d.dst, p)
	for r := range rows {
		if d.wide {
			d.VEXTRACTF64X4(U8(1), z(r), y(14))
			d.VADDPS(y(14), y(r), y(r))
		}
		d.VEXTRACTF128(U8(1), y(r), x(14))
		d.VADDPS(x(14), x(r), x(r))
		d.VMOVHLPS(x(r), x(r), x(14))
		d.VADDPS(x(14), x(r), x(r))
		d.VMOVSHDUP(x(r), x(14))
		d.VADDSS(x(14), x(r), x(r))
		d.VMOVSS(x(r), at(p, 0))
		if r < rows-1 {
			d.ADDQ(d.ldd, p)
		}
	}
	d.ADDQ(U8(4), d.dst)
}

// nibbles writes the product with 4-bit weights: 16 bytes hold 32 of them, those of
// even places in the lower halves, and x has even places first. A group's sums are scaled
// once, into the sums of the column: scales are no part of the inner loop.
func (d *dots) nibbles() {
	d.begin(d.name("int4Dot"), "func(n, rows, groups, blocks int, x *float32, ldx int, w *uint8, scale, dst *float32, ldd, skip, skipScale int)",
		"computes dst[r][c] = Σ x[r][k]·(w[c][k]-8)·scale[c][k/32/blocks] for n\ncolumns and rows of 1 to 4; each column has groups of blocks of 32 weights, and\nskip bytes and skipScale scales follow before the next.")
	groups, scale := d.arg("groups"), d.arg("scale")
	d.args()
	low := d.GP32()
	if d.wide {
		d.VMOVUPS(d.table, z(20))
	} else {
		d.MOVL(U32(15), low)
		d.VMOVD(low, x(12))
		d.VPBROADCASTD(x(12), y(12))
		d.MOVL(U32(8), low)
		d.VMOVD(low, x(13))
		d.VPBROADCASTD(x(13), y(13))
	}
	choose(d.writer, rowsMax)
	for rows := rowsMax; rows >= 1; rows-- {
		label := func(s string) string { return fmt.Sprintf("%s%d", s, rows) }
		d.Label(label("rows"))
		d.Load(d.Param("x"), d.x)
		for r := range rows {
			d.zero(r)
		}
		d.MOVQ(groups, d.count)
		if rows == 1 {
			d.single(scale)
		}
		d.Label(label("group"))
		for r := range rows {
			d.zero(4 + r)
		}
		d.Load(d.Param("blocks"), d.left)
		d.Label(label("block"))
		d.block(rows)
		d.ADDQ(U8(16), d.w)
		d.SUBQ(I32(-128), d.x)
		d.DECQ(d.left)
		d.JNZ(LabelRef(label("block")))
		d.VBROADCASTSS(at(scale, 0), d.v(8))
		d.ADDQ(U8(4), scale)
		for r := range rows {
			d.VFMADD231PS(d.v(4+r), d.v(8), d.v(r))
		}
		d.DECQ(d.count)
		d.JNZ(LabelRef(label("group")))
		d.Label(label("sum"))
		d.finish(rows)
		d.ADDQ(d.memory("skip"), d.w)
		d.MOVQ(d.memory("skipScale"), d.left)
		d.LEAQ(indexed(scale, d.left, 4, 0), scale)
		d.DECQ(d.n)
		d.JNZ(LabelRef(label("rows")))
		d.end()
	}
}

// single writes, for one row and groups of one block, four groups at a time with sums of
// their own, so that no scaling waits for the one before; up to three groups are left.
func (d *dots) single(scale reg.GPVirtual) {
	const groups = 4
	d.CMPQ(d.memory("blocks"), U8(1))
	d.JNE(LabelRef("group1"))
	for g := 1; g < groups; g++ {
		d.zero(g)
	}
	d.Label("groups")
	d.SUBQ(U8(groups), d.count)
	d.JLT(LabelRef("last"))
	for g := range groups {
		d.unpack(16*g, func(v, disp int) {
			if disp == 0 {
				d.VMULPS(at(d.x, 128*g), d.v(v), d.v(4+g))
			} else {
				d.VFMADD231PS(at(d.x, 128*g+disp), d.v(v), d.v(4+g))
			}
		})
		if d.wide {
			d.VFMADD231PS_BCST(at(scale, 4*g), d.v(4+g), d.v(g))
		} else {
			d.VBROADCASTSS(at(scale, 4*g), d.v(8))
			d.VFMADD231PS(d.v(4+g), d.v(8), d.v(g))
		}
	}
	d.ADDQ(U8(16*groups), d.w)
	d.ADDQ(I32(128*groups), d.x)
	d.ADDQ(U8(4*groups), scale)
	d.JMP(LabelRef("groups"))
	d.Label("last")
	for g := 1; g < groups; g++ {
		d.VADDPS(d.v(g), d.v(0), d.v(0))
	}
	d.ADDQ(U8(groups), d.count)
	d.JZ(LabelRef("sum1"))
}

// memory is where a parameter lies.
func (d *dots) memory(name string) Mem {
	p, err := d.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// block adds 32 products to the sums of the group.
func (d *dots) block(rows int) {
	d.unpack(0, func(v, disp int) {
		for r := range rows {
			d.VFMADD231PS(d.row(r, disp), d.v(v), d.v(4+r))
		}
	})
}

// unpack makes vectors of the 32 weights that lie disp bytes on, for use: those at an
// offset in bytes of the 32 elements of x that they are multiplied by.
func (d *dots) unpack(disp int, use func(v, offset int)) {
	if d.wide {
		d.VPMOVZXBD(at(d.w, disp), z(8))
		d.VPSRLD(U8(4), z(8), z(9))
		for h := range 2 {
			d.VPERMPS(z(20), z(8+h), z(8+h))
			use(8+h, 64*h)
		}
		return
	}
	for q := range 2 {
		d.VPMOVZXBD(at(d.w, disp+8*q), y(8))
		d.VPSRLD(U8(4), y(8), y(9))
		d.VPAND(y(12), y(8), y(8))
		for h := range 2 {
			d.VPSUBD(y(13), y(8+h), y(8+h))
			d.VCVTDQ2PS(y(8+h), y(8+h))
			use(8+h, 64*h+32*q)
		}
	}
}

// load widens a vector of 16-bit floats or of bytes.
func (d *dots) load(format string, from Mem, to int) {
	switch format {
	case "F16":
		d.VCVTPH2PS(from, d.v(to))
	case "BF16":
		d.VPMOVZXWD(from, d.v(to))
		d.VPSLLD(U8(16), d.v(to), d.v(to))
	case "I8":
		d.VPMOVSXBD(from, d.v(to))
		d.VCVTDQ2PS(d.v(to), d.v(to))
	case "U8":
		d.VPMOVZXBD(from, d.v(to))
		d.VCVTDQ2PS(d.v(to), d.v(to))
	}
}

// widen writes the conversion of 16-bit floats or of bytes.
func (d *dots) widen(format string) {
	lanes, size := d.size()/4, 2
	if format == "I8" || format == "U8" {
		size = 1
	}
	d.begin(d.name("widen"+format), fmt.Sprintf("func(n int, src *uint%d, dst *float32)", 8*size),
		fmt.Sprintf("converts n vectors of %d elements.", lanes))
	n, src, dst := d.arg("n"), d.arg("src"), d.arg("dst")
	d.Label("vector")
	d.load(format, at(src, 0), 0)
	d.VMOVUPS(d.v(0), at(dst, 0))
	d.ADDQ(U8(size*lanes), src)
	d.ADDQ(U8(4*lanes), dst)
	d.DECQ(n)
	d.JNZ(LabelRef("vector"))
	d.end()
}

const (
	halvesRun  = 4   // blocks of 32 elements at a time
	halvesCols = 4   // columns that share one long row of x
	halvesLong = 192 // blocks from which a row of x, 24 KiB, and weights do not stay in the first cache together
)

// halves writes the product with weights of 16-bit floats. Each row has two sums, which take vectors in
// turn. One row is bound by memory: a column is one stream, and columns of a long row take runs in turn, so that each part
// of the row comes from the second cache once for all of them. Sums are the same either way.
func (d *dots) halves(format string) {
	d.begin(d.name("dot"+format), "func(n, rows, blocks int, x *float32, ldx int, w *uint16, ldw int, dst *float32, ldd int)",
		"computes dst[r][c] = Σ x[r][k]·w[c][k] for n columns, rows of 1 to 4\nand k below 32·blocks.")
	h := halfTile{dots: d, format: format, blocks: d.arg("blocks")}
	d.args()
	h.ldw, h.p = d.arg("ldw"), d.GP64()
	d.ADDQ(h.ldw, h.ldw)
	choose(d.writer, rowsMax)
	for rows := rowsMax; rows > 1; rows-- {
		h.column(rows, fmt.Sprintf("rows%d", rows))
		d.end()
	}
	d.Label("rows1")
	d.CMPQ(h.blocks, U32(halvesLong))
	d.JLT(LabelRef("alone"))
	h.together()
	h.column(1, "alone")
	d.Label("end")
	d.end()
}

// halfTile writes the products of some rows with one column of 16-bit floats, or with halvesCols.
type halfTile struct {
	*dots
	format         string
	blocks, ldw, p reg.GPVirtual // p is the place in the first column
}

// column writes the loop over columns, one at a time.
func (h *halfTile) column(rows int, name string) {
	h.Label(name)
	h.Load(h.Param("x"), h.x)
	h.MOVQ(h.w, h.p)
	h.ADDQ(h.ldw, h.w)
	for r := range rows {
		h.zero(r)
		h.zero(4 + r)
	}
	h.MOVQ(h.blocks, h.count)
	if rows == 1 {
		h.runs(name, 1, func(int) (even, odd int) { return 0, 4 })
	} else {
		h.Label(name + "block")
		h.block(h.p, 0, rows, 0, 4)
		h.next(1)
		h.DECQ(h.count)
		h.JNZ(LabelRef(name + "block"))
	}
	for r := range rows {
		h.VADDPS(h.v(4+r), h.v(r), h.v(r))
	}
	h.finish(rows)
	h.DECQ(h.n)
	h.JNZ(LabelRef(name))
}

// together writes the loop over halvesCols columns at a time; up to three are left, and it goes to the end where
// none is.
func (h *halfTile) together() {
	h.Label("together")
	h.SUBQ(U8(halvesCols), h.n)
	h.JLT(LabelRef("left"))
	h.Load(h.Param("x"), h.x)
	h.MOVQ(h.w, h.p)
	h.LEAQ(indexed(h.w, h.ldw, halvesCols, 0), h.w)
	for i := range 2 * halvesCols {
		h.zero(i)
	}
	h.MOVQ(h.blocks, h.count)
	h.runs("together", halvesCols, func(c int) (even, odd int) { return 2 * c, 2*c + 1 })
	for c := range halvesCols {
		h.VADDPS(h.v(2*c+1), h.v(2*c), h.v(0))
		h.finish(1)
	}
	h.JMP(LabelRef("together"))
	h.Label("left")
	h.ADDQ(U8(halvesCols), h.n)
	h.JZ(LabelRef("end"))
}

// runs adds the products of one row with columns, whose sums are in the registers that sums names.
func (h *halfTile) runs(name string, cols int, sums func(c int) (even, odd int)) {
	each := func(blocks int) {
		from := h.p
		for c := range cols {
			if c > 0 {
				next := h.GP64()
				h.LEAQ(indexed(from, h.ldw, 1, 0), next)
				from = next
			}
			if blocks == halvesRun {
				simd.NextPage(h.Context, from)
			}
			even, odd := sums(c)
			for b := range blocks {
				h.block(from, b, 1, even, odd)
			}
		}
		h.next(blocks)
	}
	h.Label(name + "run")
	h.SUBQ(U8(halvesRun), h.count)
	h.JLT(LabelRef(name + "few"))
	each(halvesRun)
	h.JMP(LabelRef(name + "run"))
	h.Label(name + "few")
	h.ADDQ(U8(halvesRun), h.count)
	h.JZ(LabelRef(name + "sum"))
	h.Label(name + "block")
	each(1)
	h.DECQ(h.count)
	h.JNZ(LabelRef(name + "block"))
	h.Label(name + "sum")
}

// block adds the products of block b from p on to the sums of rows, in registers even and on, and odd and on.
func (h *halfTile) block(p reg.Register, b, rows, even, odd int) {
	for i := range 128 / h.size() {
		h.load(h.format, at(p, 64*b+i*h.size()/2), 8+i)
		for r := range rows {
			h.VFMADD231PS(h.row(r, 128*b+i*h.size()), h.v(8+i), h.v([2]int{even, odd}[i%2]+r))
		}
	}
}

// next goes on by so many blocks.
func (h *halfTile) next(blocks int) {
	h.ADDQ(I32(64*blocks), h.p)
	h.ADDQ(I32(128*blocks), h.x)
}
