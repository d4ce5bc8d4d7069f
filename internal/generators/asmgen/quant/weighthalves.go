package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

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
