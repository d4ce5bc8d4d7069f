package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bytesRowsMax is that of weights of 8 bits with AVX-512.
const bytesRowsMax = 8

// bytes writes the product with weights of 8 bits, a block of four vectors at a time. Two columns share
// the rows of x that are loaded. Each row and column has as many sums as there are registers for, up to
// one for each vector; a column that is left has the same, so that its bits are the same.
func (d *dots) bytes(format string) {
	lanes, most := d.size()/4, rowsMax
	if d.wide {
		most = bytesRowsMax
	}
	d.begin(d.name("dot"+format), "func(n, rows, blocks int, x *float32, ldx int, w *uint8, ldw, ahead int, dst *float32, ldd int)",
		fmt.Sprintf("computes dst[r][c] = Σ x[r][k]·w[c][k] for n columns, rows of 1 to %d\nand k below %d·blocks; weights are asked for ahead bytes before.", most, 4*lanes))
	t := byteTile{dots: d, format: format, blocks: d.arg("blocks")}
	d.args()
	t.ldw, t.p, t.ahead = d.arg("ldw"), d.GP64(), d.GP64()
	if d.wide {
		d.rest = d.GP64()
	}
	choose(d.writer, most)
	for rows := most; rows >= 1; rows-- {
		d.Label(fmt.Sprintf("rows%d", rows))
		if rows > 1 {
			d.SUBQ(U8(2), d.n)
			d.JLT(LabelRef(fmt.Sprintf("last%d", rows)))
			t.columns(rows, 2)
			d.JMP(LabelRef(fmt.Sprintf("rows%d", rows)))
			d.Label(fmt.Sprintf("last%d", rows))
			d.ADDQ(U8(2), d.n)
			d.JZ(LabelRef(fmt.Sprintf("end%d", rows)))
		}
		t.columns(rows, 1)
		d.DECQ(d.n)
		d.JNZ(LabelRef(fmt.Sprintf("rows%d", rows)))
		d.Label(fmt.Sprintf("end%d", rows))
		d.end()
	}
}

// byteTile writes the products of some rows with one column of bytes, or with two.
type byteTile struct {
	*dots
	format             string
	blocks, ldw        reg.GPVirtual
	p, ahead           reg.GPVirtual // places in the first column
	rows, cols, chains int
}

// columns writes the next columns.
func (t *byteTile) columns(rows, cols int) {
	t.rows, t.cols = rows, cols
	room := 8 // registers for sums
	if t.wide {
		room = 16
	}
	if t.chains = 4; rows > 1 {
		t.chains = min(4, room/(2*rows))
	}
	t.Load(t.Param("x"), t.x)
	if rows > 4 {
		t.LEAQ(indexed(t.x, t.ldx, 4, 0), t.rest)
	}
	t.MOVQ(t.w, t.p)
	t.MOVQ(t.memory("ahead"), t.ahead)
	t.ADDQ(t.p, t.ahead)
	for range cols {
		t.ADDQ(t.ldw, t.w)
	}
	for i := range t.chains * cols * rows {
		t.zero(sumRegister(i))
	}
	t.MOVQ(t.blocks, t.count)
	loop := fmt.Sprintf("block%dx%d", rows, cols)
	t.Label(loop)
	t.block()
	t.DECQ(t.count)
	t.JNZ(LabelRef(loop))
	for i := rows * cols; i < t.chains*cols*rows; i++ {
		to := t.v(sumRegister(i % (rows * cols)))
		t.VADDPS(t.v(sumRegister(i)), to, to)
	}
	t.store()
}

// sumRegister is the register of a sum: two are left to add up with.
func sumRegister(i int) int {
	if i < 14 {
		return i
	}
	return i + 2
}

// block adds the products of four vectors of each column to the sums.
func (t *byteTile) block() {
	lanes, first := t.size()/4, 8
	if t.wide {
		first = 20
	}
	column := func(base reg.GPVirtual, c, disp int) Mem {
		if c == 0 {
			return at(base, disp)
		}
		return indexed(base, t.ldw, 1, disp)
	}
	for c := range t.cols {
		t.PREFETCHT1(column(t.ahead, c, 0))
	}
	for i := range 4 {
		for c := range t.cols {
			t.load(t.format, column(t.p, c, i*lanes), first+c)
		}
		for r := range t.rows {
			sum := func(c int) reg.VecPhysical { return t.v(sumRegister((i%t.chains*t.cols+c)*t.rows + r)) }
			if t.cols == 1 {
				t.VFMADD231PS(t.row(r, i*t.size()), t.v(first), sum(0))
				continue
			}
			x := t.v(first + 2 + r%2)
			t.VMOVUPS(t.row(r, i*t.size()), x)
			t.VFMADD231PS(x, t.v(first), sum(0))
			t.VFMADD231PS(x, t.v(first+1), sum(1))
		}
	}
	for _, p := range []reg.GPVirtual{t.p, t.ahead} {
		t.ADDQ(U8(4*lanes), p)
	}
	t.ADDQ(I32(16*lanes), t.x)
	if t.rows > 4 {
		t.ADDQ(I32(16*lanes), t.rest)
	}
}

// store adds up the sums of each row and column and writes them.
func (t *byteTile) store() {
	to := t.GP64()
	t.MOVQ(t.dst, to)
	for r := range t.rows {
		for c := range t.cols {
			t.addLanes(sumRegister(c*t.rows + r))
			t.VMOVSS(x(15), at(to, 4*c))
		}
		if r < t.rows-1 {
			t.ADDQ(t.ldd, to)
		}
	}
	t.ADDQ(U8(4*t.cols), t.dst)
}

// addLanes adds the lanes of a vector up in X15.
func (t *byteTile) addLanes(v int) {
	from := y(v)
	if t.wide {
		t.VEXTRACTF64X4(U8(1), z(v), y(14))
		t.VADDPS(y(14), from, y(15))
		from = y(15)
	}
	t.VEXTRACTF128(U8(1), from, x(14))
	t.VADDPS(x(14), from.AsX(), x(15))
	t.VMOVHLPS(x(15), x(15), x(14))
	t.VADDPS(x(14), x(15), x(15))
	t.VMOVSHDUP(x(15), x(14))
	t.VADDSS(x(14), x(15), x(15))
}
