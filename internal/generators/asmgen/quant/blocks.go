package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// layout is a format of package internal/blocks, which describes it: what it takes to bring
// its elements to registers.
type layout struct {
	name            string
	elements, bytes int          // of a block
	consts          map[int]int  // words that fill the lanes of registers
	zero            int          // what stands for 0 is in register zeroReg, where it is not 0
	least           int          // 1 where a minimum is added, -1 where it is taken away
	weights         func(*block) // hands vectors of elements, as integers, to block.scaled
}

// Registers of a product with blocks; those below are sums.
const (
	scaleReg = 4 + iota
	leastReg
	firstTemp // and five more
	maskReg   = 12
	zeroReg   = 13
	// 14 is for finish.
	otherReg = 15
)

var layouts = []layout{
	{name: "Q80", elements: 32, bytes: 34, weights: (*block).bytes80},
	{name: "Q40", elements: 32, bytes: 18, consts: map[int]int{maskReg: 15}, zero: 8, weights: func(b *block) { b.nibbles32(2, 0) }},
	{name: "Q41", elements: 32, bytes: 20, consts: map[int]int{maskReg: 15}, least: 1, weights: func(b *block) { b.nibbles32(4, 0) }},
	{name: "Q50", elements: 32, bytes: 22, consts: map[int]int{maskReg: 15}, zero: 16, weights: func(b *block) { b.nibbles32(6, 2) }},
	{name: "Q51", elements: 32, bytes: 24, consts: map[int]int{maskReg: 15, zeroReg: 16}, least: 1, weights: func(b *block) { b.nibbles32(8, 4) }},
	{name: "Q4K", elements: 256, bytes: 144, consts: map[int]int{maskReg: 15}, least: -1, weights: func(b *block) { b.nibbles256(16, 0) }},
	{name: "Q5K", elements: 256, bytes: 176, consts: map[int]int{maskReg: 15, zeroReg: 16}, least: -1, weights: func(b *block) { b.nibbles256(48, 16) }},
	{name: "Q6K", elements: 256, bytes: 210, zero: 32, weights: (*block).bits6K},
	{name: "Q3K", elements: 256, bytes: 110, consts: map[int]int{maskReg: 3, leastReg: 32}, zero: 4, weights: (*block).bits3K},
	{name: "Q2K", elements: 256, bytes: 84, consts: map[int]int{maskReg: 15, otherReg: 3}, least: -1, weights: (*block).bits2K},
}

// emitBlocks writes products with weights in blocks of few bits, and the conversion of
// blocks. A weight becomes the float that it stands for, with all its bits: products of
// scales and small integers are exact, and a minimum is added in one rounding.
func emitBlocks(w writer) {
	places := w.StaticGlobal("places")
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		w.AddDatum(4*i, U32(i))
	}
	var pairs [2]Mem // how far bits of Q6_K are shifted, in the lower and the upper half of a vector
	for i, by := range [][2]int{{4, 2}, {0, 2}} {
		pairs[i] = w.StaticGlobal(fmt.Sprintf("pairs%d", i))
		w.DataAttributes(attr.RODATA | attr.NOPTR)
		for lane := range 16 {
			w.AddDatum(4*lane, U32(by[lane/8]))
		}
	}
	for _, wide := range []bool{true, false} {
		for _, l := range layouts {
			b := &block{dots: dots{writer: w, wide: wide}, f: l, places: places, pairs: pairs}
			b.product()
			b.convert()
		}
	}
	blockRows(w)
}

// block writes the code of a format at one vector width.
type block struct {
	dots
	f      layout
	places Mem
	pairs  [2]Mem

	p      reg.GPVirtual // where the block begins, disp bytes on
	disp   int
	second reg.GPVirtual        // how far on that of the next column begins, nil for this one's
	scales Mem                  // room for scales of a block of 256, and minima after them
	use    func(v, element int) // takes a vector of weights
}

func (b *block) lanes() int { return b.size() / 4 }

// at is a place of the block.
func (b *block) at(disp int) Mem {
	if b.second != nil {
		return indexed(b.p, b.second, 1, b.disp+disp)
	}
	return at(b.p, b.disp+disp)
}

// start loads the registers that are the same for all blocks.
func (b *block) start() {
	if b.f.elements == 256 {
		b.scales = b.AllocLocal(128)
	}
	if b.f.zero != 0 {
		b.splat(b.f.zero, zeroReg)
	}
	for _, r := range []int{leastReg, maskReg, zeroReg, otherReg} {
		if v := b.f.consts[r]; v != 0 {
			b.splat(v, r)
		}
	}
	switch {
	case b.f.name == "Q6K" && b.wide:
		b.splat(0x0f0f0f0f, maskReg)
		b.splat(0x20202020, zeroReg)
		b.splat(0x30303030, otherReg)
		b.VMOVDQU32(b.pairs[0], z(16))
		b.VMOVDQU32(b.pairs[1], z(17))
	case b.f.name == "Q6K":
		b.splat(15, maskReg)
		b.splat(0x30, otherReg)
	case (b.f.name == "Q5K" || b.f.name == "Q3K") && b.wide:
		b.splat(0x01010101, otherReg)
	case b.f.name == "Q50" || b.f.name == "Q51":
		if !b.wide {
			b.VMOVDQU(b.places, y(otherReg))
		}
	}
}

// splat fills the lanes of a register with a word.
func (b *block) splat(word, r int) {
	g := b.GP32()
	b.MOVL(U32(word), g)
	b.VMOVD(g, x(r))
	b.VPBROADCASTD(x(r), b.v(r))
}

// float16 fills the lanes of a register with a float of 16 bits.
func (b *block) float16(from Mem, r int) {
	if b.wide {
		b.VPBROADCASTW(from, y(r))
		b.VCVTPH2PS(y(r), z(r))
	} else {
		b.VPBROADCASTW(from, x(r))
		b.VCVTPH2PS(x(r), y(r))
	}
}

// scaled makes floats of the integers in vector v, the elements from one on, and has them used.
func (b *block) scaled(v, element int) {
	b.VCVTDQ2PS(b.v(v), b.v(v))
	switch b.f.least {
	case 0:
		b.VMULPS(b.v(scaleReg), b.v(v), b.v(v))
	case 1:
		b.VFMADD213PS(b.v(leastReg), b.v(scaleReg), b.v(v))
	case -1:
		b.VFMSUB213PS(b.v(leastReg), b.v(scaleReg), b.v(v))
	}
	b.use(v, element)
}

// centred takes what stands for 0 from the integers in vector v, where a layout has it.
func (b *block) centred(v int) {
	if b.f.zero != 0 {
		b.VPSUBD(b.v(zeroReg), b.v(v), b.v(v))
	}
}

// bytes80 is Q8_0.
func (b *block) bytes80() {
	b.float16(b.at(0), scaleReg)
	for i := 0; i < 32; i += b.lanes() {
		v := firstTemp + i/b.lanes()
		b.VPMOVSXBD(b.at(2+i), b.v(v))
		b.scaled(v, i)
	}
}

// nibbles32 is a format of 32 elements whose bytes of four bits begin at a place, and fifth bits
// at high, where that is not 0.
func (b *block) nibbles32(low, high int) {
	b.float16(b.at(0), scaleReg)
	if b.f.least != 0 {
		b.float16(b.at(2), leastReg)
	}
	if high != 0 && !b.wide {
		b.VPBROADCASTD(b.at(high), y(firstTemp+5))
	}
	for i := 0; i < 16; i += b.lanes() {
		v := firstTemp + 2*(i/b.lanes())
		b.VPMOVZXBD(b.at(low+i), b.v(v))
		b.VPSRLD(U8(4), b.v(v), b.v(v+1))
		b.and(maskReg, v)
		for k := range 2 {
			if high != 0 {
				b.fifth(v+k, high, 16*k+i)
			}
			b.centred(v + k)
			b.scaled(v+k, 16*k+i)
		}
	}
}

func (b *block) and(mask, v int) {
	if b.wide {
		b.VPANDD(z(mask), z(v), z(v))
	} else {
		b.VPAND(y(mask), y(v), y(v))
	}
}

// fifth adds the fifth bits, which lie in a word at high, of the elements from one on to vector v.
func (b *block) fifth(v, high, element int) {
	if b.wide {
		b.KMOVW(b.at(high+element/8), reg.K1)
		b.VPORD(z(zeroReg), z(v), reg.K1, z(v))
		return
	}
	word, t := firstTemp+5, firstTemp+4
	if element == 0 {
		b.VPSLLD(U8(4), y(word), y(t))
	} else {
		b.VPSRLD(U8(element-4), y(word), y(t))
	}
	b.VPSRLVD(y(otherReg), y(t), y(t))
	b.VPAND(y(zeroReg), y(t), y(t))
	b.VPOR(y(t), y(v), y(v))
}

// product writes the product of rows. One row has four sums, so that no addition waits for
// the one before: blocks of two vectors are taken in pairs there.
func (b *block) product() {
	b.begin(b.name("dot"+b.f.name), "func(n, rows, blocks int, x *float32, ldx int, w *uint8, ldw int, dst *float32, ldd int)",
		"computes dst[r][c] = Σ x[r][k]·w[c][k] for n columns of blocks, ldw bytes\napart, and rows of 1 to 4.")
	b.args()
	b.p = b.GP64()
	ldw := b.arg("ldw")
	b.start()
	choose(b.writer, rowsMax)
	for rows := rowsMax; rows >= 1; rows-- {
		label := func(s string) string { return fmt.Sprintf("%s%d", s, rows) }
		sums := max(1, 4/rows)
		b.Label(label("rows"))
		b.Load(b.Param("x"), b.x)
		b.MOVQ(b.w, b.p)
		b.ADDQ(ldw, b.w)
		for v := range sums * rows {
			b.zero(v)
		}
		b.Load(b.Param("blocks"), b.count)
		most := 1
		if sums*b.lanes() > b.f.elements {
			most = 2
			b.TESTQ(U32(1), b.count)
			b.JZ(LabelRef(label("even")))
			b.some(1, rows, sums)
			b.JZ(LabelRef(label("sum")))
			b.Label(label("even"))
		}
		b.Label(label("block"))
		b.some(most, rows, sums)
		b.JNZ(LabelRef(label("block")))
		b.Label(label("sum"))
		for v := rows; v < sums*rows; v++ {
			b.VADDPS(b.v(v), b.v(v%rows), b.v(v%rows))
		}
		b.finish(rows)
		b.DECQ(b.n)
		b.JNZ(LabelRef(label("rows")))
		b.end()
	}
}

// some adds the products of n blocks, and counts them.
func (b *block) some(n, rows, sums int) {
	for line := 0; rows == 1 && line < n*b.f.bytes; line += 64 { // more rows compute for longer
		b.PREFETCHT1(at(b.p, simd.FarAhead+line))
	}
	for k := range n {
		b.use = func(v, element int) {
			element += k * b.f.elements
			for r := range rows {
				b.VFMADD231PS(b.row(r, 4*element), b.v(v), b.v(rows*(element/b.lanes()%sums)+r))
			}
		}
		b.disp = k * b.f.bytes
		b.f.weights(b)
	}
	b.ADDQ(I32(n*b.f.bytes), b.p)
	b.ADDQ(I32(n*b.f.elements*4), b.x)
	b.SUBQ(U8(n), b.count)
}

// convert writes the conversion to floats.
func (b *block) convert() {
	b.begin(b.name("widen"+b.f.name), "func(n int, src *uint8, dst *float32)", "converts n blocks.")
	n, dst := b.arg("n"), b.arg("dst")
	b.p, b.disp = b.arg("src"), 0
	b.start()
	b.use = func(v, element int) { b.VMOVUPS(b.v(v), at(dst, 4*element)) }
	b.Label("block")
	b.f.weights(b)
	b.ADDQ(I32(b.f.bytes), b.p)
	b.ADDQ(I32(4*b.f.elements), dst)
	b.DECQ(n)
	b.JNZ(LabelRef("block"))
	b.end()
}
