package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// byteLayout is a format of package internal/blocks: what it takes to bring its elements to registers as
// bytes, and its scales. Package half says in which order both lie: see half.ByteRow.
type byteLayout struct {
	name         string
	bytes        int  // of a pass: four blocks of 32 elements, or one of 256
	groups       int  // of 128 elements in a pass
	zero         bool // bytes stand for more than they are, which sums begin with
	signed       bool // with AVX2 bytes stay signed
	least        bool // minima are multiplied by sums of x
	scales, each func(b *byteDot, g int)
}

var byteLayouts = []byteLayout{
	{name: "Q80", bytes: 136, groups: 1, zero: true, signed: true, scales: (*byteDot).scales32, each: (*byteDot).bytes80},
	{name: "Q40", bytes: 72, groups: 1, zero: true, scales: (*byteDot).scales32, each: func(b *byteDot, g int) { b.nibbles32(18, 2, 0) }},
	{name: "Q41", bytes: 80, groups: 1, least: true, scales: (*byteDot).scales32, each: func(b *byteDot, g int) { b.nibbles32(20, 4, 0) }},
	{name: "Q50", bytes: 88, groups: 1, zero: true, scales: (*byteDot).scales32, each: func(b *byteDot, g int) { b.nibbles32(22, 6, 2) }},
	{name: "Q51", bytes: 96, groups: 1, least: true, scales: (*byteDot).scales32, each: func(b *byteDot, g int) { b.nibbles32(24, 8, 4) }},
	{name: "Q4K", bytes: 144, groups: 2, scales: (*byteDot).scales256, each: func(b *byteDot, g int) { b.nibbles256(g, 16, 0) }},
	{name: "Q5K", bytes: 176, groups: 2, scales: (*byteDot).scales256, each: func(b *byteDot, g int) { b.nibbles256(g, 48, 16) }},
	{name: "Q6K", bytes: 210, groups: 2, zero: true, scales: (*byteDot).scales6K, each: (*byteDot).bits6K},
}

// Registers of a product of bytes; those below are sums of rows, with AVX2 of their halves.
const (
	lowReg   = 8  // elements of the first half of each run
	highReg  = 9  // and of the second
	scaleOf  = 10 // the scale of each lane
	leastOf  = 11 // and its minimum
	spare    = 12 // and three more
	tableReg = 16 // with AVX-512 constants, from here on
)

// Places of a group of half.ByteRow.
const (
	groupHigh  = 64
	groupFirst = 128
	groupScale = 192
	groupBytes = 256
)

// byteDot writes a product at one vector width: groups of 128 elements are one vector with AVX-512 and
// two with AVX2, of which half is the one that is being written.
type byteDot struct {
	writer
	wide       bool
	f          byteLayout
	rows, half int
	consts     *byteConsts
	table      map[string]int // registers of constants, with AVX-512

	p, off reg.GPVirtual
	x      []reg.GPVirtual // of rows; of eight the first, the fourth and the seventh
	ldx    reg.GPVirtual   // bytes from one row to the next, of eight
	scales Mem             // room for scales of a block of 256
}

// byteConsts are the tables of all products, by name: 64 bytes, of which AVX2 reads halves.
type byteConsts struct {
	writer
	made map[string]Mem
}

// get returns a table, which at fills.
func (c *byteConsts) get(name string, at func(i int) Constant) Mem {
	m, ok := c.made[name]
	if !ok {
		m = c.StaticGlobal("bytes" + name)
		c.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := 0; i*at(0).Bytes() < 64; i++ {
			c.AddDatum(i*at(0).Bytes(), at(i))
		}
		c.made[name] = m
	}
	return m
}

// emitProducts writes products of weights in blocks with activations of 8 bits, and what rounds these.
func emitProducts(w writer) {
	consts := &byteConsts{writer: w, made: map[string]Mem{}}
	for _, wide := range []bool{true, false} {
		for _, f := range byteLayouts {
			for _, rows := range []int{1, 4, 8} {
				if rows == 8 && !wide { // which has no registers for them
					continue
				}
				b := &byteDot{writer: w, wide: wide, f: f, rows: rows, consts: consts, table: map[string]int{}}
				b.product()
			}
		}
	}
	emitRounding(w, consts)
}

func (b *byteDot) v(i int) reg.VecPhysical {
	if b.wide {
		return z(i)
	}
	return y(i)
}

// halves is how many vectors a group is.
func (b *byteDot) halves() int {
	if b.wide {
		return 1
	}
	return 2
}

// acc is the sum of a row, of its lower or upper eight lanes with AVX2.
func (b *byteDot) acc(r int) reg.VecPhysical { return b.v(r*b.halves() + b.half) }

// constant is a table in memory, of this half with AVX2.
func (b *byteDot) constant(name string, at func(i int) Constant) Mem {
	return b.consts.get(name, at).Offset(32 * b.half)
}

// kept is a constant in a register: with AVX-512 in that of keep, with AVX2 in t, which it is loaded to.
func (b *byteDot) kept(name string, t int, at func(i int) Constant) reg.VecPhysical {
	if b.wide {
		if r, ok := b.table[name]; ok {
			return z(r)
		}
		panic("no register for " + name)
	}
	b.VMOVDQU(b.constant(name, at), y(t))
	return y(t)
}

// keep loads a constant of AVX-512 before the loops.
func (b *byteDot) keep(name string, at func(i int) Constant) {
	if b.wide {
		r := tableReg + len(b.table)
		b.table[name] = r
		b.VMOVDQU32(b.consts.get(name, at), z(r))
	}
}

func (b *byteDot) name(op string) string {
	suffix := "AVX2"
	if b.wide {
		suffix = "VNNI"
	}
	return fmt.Sprintf("%s%s%s", op, b.f.name, suffix)
}

// product writes dst[r][c] of one row, or of four or eight whose results are 64 apart.
func (b *byteDot) product() {
	xs, what := "x, w *uint8", "one row"
	switch b.rows {
	case 4:
		xs, what = "x0, x1, x2, x3, w *uint8", "four rows,\nwhose results are 64 apart,"
	case 8:
		xs, what = "x *uint8, ldx int, w *uint8", "eight rows, ldx bytes apart,\nwhose results are 64 apart,"
	}
	b.begin(b.name(fmt.Sprintf("bytes%d", b.rows)), "func(n, count int, "+xs+", ldw int, tail *uint8, dst *float32)",
		"computes the products of "+what+" with n columns of count\npasses, ldw bytes apart, and one more at tail for each where that is not nil.")
	n, w, ldw, tail, dst := b.arg("n"), b.arg("w"), b.arg("ldw"), b.arg("tail"), b.arg("dst")
	b.x = nil
	b.p, b.off = b.GP64(), b.GP64()
	switch b.rows {
	case 1:
		b.x = append(b.x, b.arg("x"))
	case 4:
		for r := range b.rows {
			b.x = append(b.x, b.arg(fmt.Sprintf("x%d", r)))
		}
	case 8:
		b.ldx = b.arg("ldx")
		b.x = []reg.GPVirtual{b.GP64(), b.GP64(), b.GP64()}
	}
	count, rest := b.GP64(), b.GP64()
	b.constants()

	b.Label("column")
	for r := range b.rows * b.halves() {
		b.clear(b.v(r))
	}
	b.MOVQ(w, b.p)
	b.MOVQ(tail, rest)
	b.begins()
	b.Load(b.Param("count"), count)
	b.TESTQ(count, count)
	b.JZ(LabelRef("last"))
	b.Label("pass")
	for line := 0; line < b.f.bytes; line += 64 { // pages end the processor's own asking ahead
		b.PREFETCHT1(at(b.p, simd.FarAhead+line))
	}
	b.pass()
	b.ADDQ(I32(b.f.bytes), b.p)
	b.goesOn(groupBytes * b.f.groups)
	b.DECQ(count)
	b.JNZ(LabelRef("pass"))
	b.Label("last")
	b.TESTQ(rest, rest)
	b.JZ(LabelRef("sum"))
	b.MOVQ(rest, b.p)
	b.XORQ(rest, rest)
	b.MOVQ(I32(1), count)
	b.ADDQ(I32(b.f.bytes), tail)
	b.JMP(LabelRef("pass"))
	b.Label("sum")
	b.sum(dst)
	b.ADDQ(U8(4), dst)
	b.ADDQ(ldw, w)
	b.DECQ(n)
	b.JNZ(LabelRef("column"))
	b.end()
}

// begins goes to the beginning of the rows.
func (b *byteDot) begins() {
	if b.rows < 8 {
		b.XORQ(b.off, b.off)
		return
	}
	b.Load(b.Param("x"), b.x[0])
	for i := 1; i < len(b.x); i++ {
		b.LEAQ(Mem{Base: b.x[i-1], Index: b.ldx, Scale: 2}, b.x[i])
		b.ADDQ(b.ldx, b.x[i])
	}
}

// goesOn goes so many bytes along the rows.
func (b *byteDot) goesOn(bytes int) {
	if b.rows < 8 {
		b.ADDQ(I32(bytes), b.off)
		return
	}
	for _, x := range b.x {
		b.ADDQ(I32(bytes), x)
	}
}

// sum adds the lanes up: eight apart, four, two, one.
func (b *byteDot) sum(dst reg.GPVirtual) {
	for r := range b.rows {
		lo, hi := r, spare
		if b.wide {
			b.VEXTRACTF64X4(U8(1), z(r), y(hi))
		} else {
			lo, hi = 2*r, 2*r+1
		}
		b.VADDPS(y(hi), y(lo), y(lo))
		b.VEXTRACTF128(U8(1), y(lo), x(hi))
		b.VADDPS(x(hi), x(lo), x(lo))
		b.VPERMILPS(U8(0x4e), x(lo), x(hi))
		b.VADDPS(x(hi), x(lo), x(lo))
		b.VPERMILPS(U8(0xb1), x(lo), x(hi))
		b.VADDSS(x(hi), x(lo), x(lo))
		b.VMOVSS(x(lo), at(dst, 256*r))
	}
}

func (b *byteDot) clear(r reg.VecPhysical) {
	if b.wide {
		b.VPXORD(r, r, r)
	} else {
		b.VPXOR(r, r, r)
	}
}

// pass adds the products of four blocks of 32 elements, or of a block of 256.
func (b *byteDot) pass() {
	for b.half = range b.halves() {
		if b.f.groups == 2 {
			b.f.scales(b, 0)
		}
	}
	for g := range b.f.groups {
		for b.half = range b.halves() {
			b.f.each(b, g)
			if b.f.groups == 1 {
				b.f.scales(b, 0)
			} else {
				b.lanesOf(g)
			}
			for r := range b.rows {
				b.multiply(g, r)
			}
		}
	}
	b.half = 0
}

// row is a place of a group of row r, of this half with AVX2.
func (b *byteDot) row(g, r, disp int) Mem {
	disp += groupBytes*g + 32*b.half
	switch {
	case b.rows < 8:
		return indexed(b.x[r], b.off, 1, disp)
	case r%3 == 0:
		return at(b.x[r/3], disp)
	}
	return indexed(b.x[r/3], b.ldx, uint8(r%3), disp)
}

// multiply adds the products of group g of a row: whole numbers, then scaled by that of x, then by the weight's.
func (b *byteDot) multiply(g, r int) {
	t := b.v(spare)
	switch {
	case b.wide:
		t = z(spare + r%4)
		if b.f.zero {
			b.VMOVDQU32(b.row(g, r, groupFirst), t)
		} else {
			b.VPXORD(t, t, t)
		}
		b.VPDPBUSD(b.row(g, r, 0), z(lowReg), t)
		b.VPDPBUSD(b.row(g, r, groupHigh), z(highReg), t)
	case b.f.signed:
		for i, from := range []int{lowReg, highReg} {
			s, size := y(spare+i), y(spare+2)
			b.VMOVDQU(b.row(g, r, groupHigh*i), s)
			b.VPSIGNB(y(from), s, s)
			b.VPABSB(y(from), size)
			b.VPMADDUBSW(s, size, s)
			b.VPMADDWD(b.constant("ones", sixteenths), s, s)
		}
		b.VPADDD(y(spare+1), t, t)
	default:
		b.VPMADDUBSW(b.row(g, r, 0), y(lowReg), t)
		b.VPMADDUBSW(b.row(g, r, groupHigh), y(highReg), y(spare+1))
		b.VPADDW(y(spare+1), t, t)
		b.VPMADDWD(b.constant("ones", sixteenths), t, t)
		if b.f.zero {
			b.VPADDD(b.row(g, r, groupFirst), t, t)
		}
	}
	b.VCVTDQ2PS(t, t)
	b.VMULPS(b.row(g, r, groupScale), t, t)
	b.VMULPS(b.v(scaleOf), t, t)
	b.VADDPS(t, b.acc(r), b.acc(r))
	if b.f.least {
		b.VMULPS(b.row(g, r, groupFirst), b.v(leastOf), t)
		b.VADDPS(t, b.acc(r), b.acc(r))
	}
}

func sixteenths(int) Constant { return U16(1) }
