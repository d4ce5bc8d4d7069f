package main

import (
	"fmt"
	"math"

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

// Places of fields of kernel's int4Tile.
const (
	inNibblesX = 8 * iota
	inNibblesW
	inNibblesScale
	inNibblesZero
	inNibblesSums
	inNibblesDst
	inNibblesN
	inNibblesRows
	inNibblesChunks
	inNibblesLines
	inNibblesScales
	inNibblesLdx
	inNibblesLds
	inNibblesLdd
	inNibblesSkip
	inNibblesSkipScale
)

// nibbleTile writes the product of one row to four with 4-bit weights. A vector of them is 16 words of
// eight, so that nothing brings them together. Every fourth of a word's bits is shifted to the lowest
// ones for two places at a time: four are the index of a table of floats. Five of the upper half's are that
// of a table of 16-bit entries, which makes upper halves of floats; so small integers have nothing in the lower half.
type nibbleTile struct {
	writer
	rows, cols                              int
	s, x, ldx, three, w, bytes, scale, next reg.GPVirtual
	count, left, step                       reg.GPVirtual
}

// Registers: sums of columns in Z0 and on, those of a chunk in Z8 and on, for each column those of all rows.
const (
	nibbleSums   = 8
	nibbleLine   = 16
	nibbleFloats = 18
	nibbleX      = 20
	nibbleTable  = 21
	nibbleHalves = 22
	nibbleOrder  = 23
)

// Bytes from what is used to what is asked for, of weights and of scales.
const (
	nibblesAhead = 16384
	scalesAhead  = nibblesAhead / 4
)

// emitNibbleTile writes the function and its constants.
func emitNibbleTile(w writer, table Mem) {
	t := nibbleTile{writer: w}
	halves := w.StaticGlobal("halves")
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 32 {
		w.AddDatum(2*i, U16(math.Float32bits(float32(i%16-8))>>16))
	}
	orders := w.StaticGlobal("orders")
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 48 {
		w.AddDatum(4*i, U32(i%16<<(i/16)/16))
	}
	w.begin("int4TileAVX512", "func(s *uint8)", "computes dst[r][c] = Σ x[r][k]·(w[c][k]-zero[c][g])·scale[c][g] as s, an int4Tile,\nsays, and moves its pointers.")
	t.s = w.arg("s")
	t.prepare(table, halves, orders)
	for t.rows = rowsMax; t.rows >= 1; t.rows-- {
		t.Label(fmt.Sprintf("rows%d", t.rows))
		for t.cols = 2; t.cols >= 1; t.cols-- {
			t.Label(t.label("next"))
			t.SUBQ(U8(t.cols), at(t.s, inNibblesN))
			t.JLT(LabelRef(t.label("left")))
			t.columns()
			t.JMP(LabelRef(t.label("next")))
			t.Label(t.label("left"))
			t.ADDQ(U8(t.cols), at(t.s, inNibblesN))
		}
		t.end()
	}
}

// prepare loads constants and fields, and goes to the code of the number of rows.
func (t *nibbleTile) prepare(table, halves, orders Mem) {
	field := t.fields(t.s)
	t.x, t.ldx, t.three, t.count, t.left = t.GP64(), t.GP64(), t.GP64(), t.GP64(), t.GP64()
	t.VMOVUPS(table, z(nibbleTable))
	t.VMOVDQU32(halves, z(nibbleHalves))
	t.MOVL(U32(0xaaaaaaaa), t.left.As32())
	t.KMOVD(t.left.As32(), reg.K1)
	t.step = field(inNibblesScales)
	t.MOVQ(t.step, t.left)
	t.SHRQ(U8(1), t.left)
	t.SHLQ(U8(6), t.left)
	t.LEAQ(orders, t.x)
	t.VMOVDQU32(indexed(t.x, t.left, 1, 0), z(nibbleOrder))
	t.SHLQ(U8(2), t.step)
	t.w, t.scale = field(inNibblesW), field(inNibblesScale)
	t.bytes, t.next = field(inNibblesLines), field(inNibblesChunks)
	t.IMULQ(t.next, t.bytes)
	t.SHLQ(U8(6), t.bytes)
	t.ADDQ(at(t.s, inNibblesSkip), t.bytes)
	t.IMULQ(t.step, t.next)
	t.ADDQ(at(t.s, inNibblesSkipScale), t.next)
	for r := 1; r < rowsMax; r++ {
		t.CMPQ(at(t.s, inNibblesRows), U8(r))
		t.JEQ(LabelRef(fmt.Sprintf("rows%d", r)))
	}
}

func (t *nibbleTile) label(s string) string { return fmt.Sprintf("%s%dx%d", s, t.rows, t.cols) }

// enter points x and ldx to the rows of a matrix.
func (t *nibbleTile) enter(matrix, ld int) {
	t.MOVQ(at(t.s, matrix), t.x)
	t.MOVQ(at(t.s, ld), t.ldx)
	t.LEAQ(indexed(t.ldx, t.ldx, 2, 0), t.three)
}

// row is the memory of row r of the matrix, disp bytes after the current position.
func (t *nibbleTile) row(r, disp int) Mem {
	switch r {
	case 0:
		return at(t.x, disp)
	case 3:
		return indexed(t.x, t.three, 1, disp)
	}
	return indexed(t.x, t.ldx, uint8(r), disp)
}

// column is what column c has where base points to that of column 0.
func (t *nibbleTile) column(c int, base, by reg.Register) Mem {
	if c == 0 {
		return at(base, 0)
	}
	return indexed(base, by, 1, 0)
}

// columns computes the next columns.
func (t *nibbleTile) columns() {
	sums := t.rows * t.cols
	t.enter(inNibblesX, inNibblesLdx)
	t.MOVQ(at(t.s, inNibblesChunks), t.count)
	for i := range sums {
		t.VPXORD(z(i), z(i), z(i))
	}
	t.Label(t.label("chunk"))
	for i := range sums {
		t.VPXORD(z(nibbleSums+i), z(nibbleSums+i), z(nibbleSums+i))
	}
	t.MOVQ(at(t.s, inNibblesLines), t.left)
	t.Label(t.label("line"))
	t.line()
	t.DECQ(t.left)
	t.JNZ(LabelRef(t.label("line")))
	t.scales()
	for i := range sums {
		t.VFMADD231PS(z(nibbleFloats+i/t.rows), z(nibbleSums+i), z(i))
	}
	t.ADDQ(t.step, t.scale)
	t.DECQ(t.count)
	t.JNZ(LabelRef(t.label("chunk")))
	t.CMPQ(at(t.s, inNibblesZero), U8(0))
	t.JEQ(LabelRef(t.label("sum")))
	t.zeros()
	t.Label(t.label("sum"))
	t.store()
	t.ADDQ(at(t.s, inNibblesSkip), t.w)
	t.ADDQ(at(t.s, inNibblesSkipScale), t.scale)
	if t.cols == 2 {
		t.ADDQ(t.bytes, t.w)
		t.ADDQ(t.next, t.scale)
	}
}

// line adds the products of a vector of each column to the sums of the chunk.
func (t *nibbleTile) line() {
	for c := range t.cols {
		t.PREFETCHT1(t.column(c, t.w, t.bytes).Offset(nibblesAhead))
		t.VMOVDQU32(t.column(c, t.w, t.bytes), z(nibbleLine+c))
	}
	for place := range 4 {
		for c := range t.cols {
			if place > 0 {
				t.VPSRLD(U8(4), z(nibbleLine+c), z(nibbleLine+c))
			}
			t.VPERMPS(z(nibbleTable), z(nibbleLine+c), z(nibbleFloats+c))
		}
		t.products(64 * place)
		for c := range t.cols {
			t.VPERMW_Z(z(nibbleHalves), z(nibbleLine+c), reg.K1, z(nibbleFloats+c))
		}
		t.products(64 * (place + 4))
	}
	t.ADDQ(U8(64), t.w)
	t.ADDQ(I32(512), t.x)
}

// products adds those of the weights of a place, disp bytes on in x.
func (t *nibbleTile) products(disp int) {
	for r := range t.rows {
		if t.cols == 1 {
			t.VFMADD231PS(t.row(r, disp), z(nibbleFloats), z(nibbleSums+r))
			continue
		}
		t.VMOVUPS(t.row(r, disp), z(nibbleX))
		for c := range t.cols {
			t.VFMADD231PS(z(nibbleX), z(nibbleFloats+c), z(nibbleSums+c*t.rows+r))
		}
	}
}

// scales brings those of a chunk to the lanes of their groups.
func (t *nibbleTile) scales() {
	for c := range t.cols {
		t.PREFETCHT1(t.column(c, t.scale, t.next).Offset(scalesAhead))
	}
	each := func(load func(from, to Op)) {
		for c := range t.cols {
			load(t.column(c, t.scale, t.next), x(nibbleFloats+c))
		}
	}
	t.CMPQ(t.step, U8(8))
	t.JGT(LabelRef(t.label("four")))
	t.JEQ(LabelRef(t.label("two")))
	each(func(from, to Op) { t.VMOVSS(from, to) })
	t.JMP(LabelRef(t.label("scaled")))
	t.Label(t.label("two"))
	each(func(from, to Op) { t.VMOVSD(from, to) })
	t.JMP(LabelRef(t.label("scaled")))
	t.Label(t.label("four"))
	each(func(from, to Op) { t.VMOVUPS(from, to) })
	t.Label(t.label("scaled"))
	for c := range t.cols {
		t.VPERMPS(z(nibbleFloats+c), z(nibbleOrder), z(nibbleFloats+c))
	}
}

// zeros adds the terms of zero points, 16 groups at a time. The pointer to scales, which is at the end of the
// column, goes back and comes there again.
func (t *nibbleTile) zeros() {
	zero, by := t.GP64(), t.GP64()
	t.MOVL(U32(8), zero.As32())
	t.VPBROADCASTD(zero.As32(), z(nibbleX))
	t.MOVQ(t.next, by)
	t.SHRQ(U8(2), by)
	t.MOVQ(at(t.s, inNibblesZero), zero)
	for range t.cols {
		t.ADDQ(by, at(t.s, inNibblesZero))
	}
	t.enter(inNibblesSums, inNibblesLds)
	t.MOVQ(at(t.s, inNibblesChunks), t.count)
	t.IMULQ(t.step, t.count)
	t.SUBQ(t.count, t.scale)
	t.SHRQ(U8(2), t.count)
	t.Label(t.label("zeros"))
	t.MOVQ(U32(16), t.left)
	t.CMPQ(t.count, t.left)
	t.CMOVQLT(t.count, t.left)
	t.lanes(t.left, reg.K2)
	for c := range t.cols {
		v := z(nibbleFloats + c)
		t.VPMOVZXBD_Z(t.column(c, zero, by), reg.K2, v)
		t.VPSUBD(v, z(nibbleX), v)
		t.VCVTDQ2PS(v, v)
		t.VMULPS_Z(t.column(c, t.scale, t.next), v, reg.K2, v)
	}
	for r := range t.rows {
		t.VMOVUPS_Z(t.row(r, 0), reg.K2, z(nibbleSums))
		for c := range t.cols {
			t.VFMADD231PS(z(nibbleSums), z(nibbleFloats+c), z(c*t.rows+r))
		}
	}
	t.ADDQ(t.left, zero)
	t.LEAQ(indexed(t.scale, t.left, 4, 0), t.scale)
	t.ADDQ(U8(64), t.x)
	t.SUBQ(U8(16), t.count)
	t.JGT(LabelRef(t.label("zeros")))
}

// store adds up the sums of rows and columns and writes them.
func (t *nibbleTile) store() {
	t.enter(inNibblesDst, inNibblesLdd)
	t.ADDQ(U8(4*t.cols), at(t.s, inNibblesDst))
	for i := range t.rows * t.cols {
		t.VEXTRACTF64X4(U8(1), z(i), y(nibbleFloats))
		if i > 0 {
			t.VMOVAPS(y(i), y(0))
		}
		t.VADDPS(y(nibbleFloats), y(0), y(0))
		t.addUp()
		t.VMOVSS(x(0), t.row(i%t.rows, 4*(i/t.rows)))
	}
}
