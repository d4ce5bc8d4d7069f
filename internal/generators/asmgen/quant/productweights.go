package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Constants of weights in bytes.

func lowNibbles(int) Constant { return U8(15) }
func fifthBits(int) Constant  { return U8(16) }
func upperBits(int) Constant  { return U8(0x30) }
func topBits(int) Constant    { return U8(0x80) }

// word16 is where the scales of four blocks lie in two vectors: the first and the one that begins second bytes on.
func word16(size, second, disp int) func(i int) Constant {
	return func(i int) Constant {
		at := i/4%4*size + disp
		if at >= 64 {
			at += 64 - second
		}
		return U16(at / 2)
	}
}

// second is where the second vector of a pass begins: both together hold all scales.
func (b *byteDot) second() int { return min(64, b.f.bytes-64) }

// fifthsOf chooses for each byte of a vector the byte of its block's fifth bits, of elements from 8·from on.
func fifthsOf(from int) func(i int) Constant {
	return func(i int) Constant { return U8(from + i%16/8) }
}

// ownBit is the bit of a byte in those.
func ownBit(i int) Constant { return U8(1 << (i % 8)) }

// by256 is how far what lies in the lanes of 16 bytes of a group is shifted, in words of 32 bits, or of 16.
func by256(list ...int) func(i int) Constant {
	return func(i int) Constant { return U32(list[i/4]) }
}

// header256 chooses the byte of the scale of each group of a block of 256, or of its minimum: the one that has its
// lower bits or all, and the one that has the upper ones.
func header256(upper bool) func(i int) Constant {
	return func(i int) Constant {
		lane, none := i/4, i%4 != 0
		g, least := lane%8, lane/8
		at := 4 + g + 4*least
		switch {
		case g >= 4 && upper:
			at = 4 + g - 4 + 4*least
		case g >= 4:
			at = 4 + g + 4
		case upper:
			none = true
		}
		if none {
			return U8(0x80)
		}
		return U8(at)
	}
}

func headerShift(i int) Constant {
	if i >= 12 {
		return U32(4)
	}
	return U32(0)
}

func headerMask(i int) Constant {
	if i%8 >= 4 {
		return U32(15)
	}
	return U32(63)
}

func headerUpper(int) Constant { return U32(0x30) }

// headerFloat is where the scale of scales lies, and that of minima.
func headerFloat(i int) Constant { return U16(i / 8 % 2) }

// quarterOf are the groups of 32 whose scales lanes have.
func quarterOf(g int) func(i int) Constant { return func(i int) Constant { return U32(4*g + i/4) } }

// pairsOf are the places of elements, eight by eight, of two vectors: even or odd ones.
func pairsOf(odd int) func(i int) Constant { return func(i int) Constant { return U64(2*i + odd) } }

// constants loads what AVX-512 has in registers.
func (b *byteDot) constants() {
	if b.f.groups == 2 && b.f.name != "Q6K" {
		b.scales = b.AllocLocal(64)
	}
	if !b.wide {
		return
	}
	lanes := b.GP32()
	for j, k := range []reg.Register{reg.K1, reg.K2, reg.K3} {
		b.MOVL(U32(0xf0<<(4*j)), lanes)
		b.KMOVW(lanes, k)
	}
	size := b.f.bytes / 4
	switch b.f.name {
	case "Q80":
		b.keep("top", topBits)
	default:
		b.keep("low", lowNibbles)
	}
	if b.f.groups == 1 {
		b.keep("scale"+b.f.name, word16(size, b.second(), 0))
		if b.f.least {
			b.keep("least"+b.f.name, word16(size, b.second(), 2))
		}
	}
	switch b.f.name {
	case "Q50", "Q51":
		b.keep("fifth", fifthBits)
		b.keep("fifths0", fifthsOf(0))
		b.keep("fifths2", fifthsOf(2))
		b.keep("bit", ownBit)
	case "Q4K", "Q5K":
		b.keep("nibble", by256(0, 4, 0, 4))
		b.keep("header", header256(false))
		b.keep("headerup", header256(true))
		b.keep("hshift", headerShift)
		b.keep("hmask", headerMask)
		b.keep("hupper", headerUpper)
		b.keep("hfloat", headerFloat)
		b.keep("quarter0", quarterOf(0))
		b.keep("quarter1", quarterOf(1))
		if b.f.name == "Q5K" {
			b.keep("fifth", fifthBits)
			b.keep("left0", by256(4, 3, 2, 1))
			b.keep("right1", by256(0, 1, 2, 3))
		}
	case "Q6K":
		b.keep("upper", upperBits)
		b.keep("left6", by256(4, 4, 2, 2))
		b.keep("right6", by256(0, 0, 2, 2))
		b.keep("even", pairsOf(0))
		b.keep("odd", pairsOf(1))
	}
}

// sixteen brings 16 bytes of each of four blocks together, of two with AVX2.
func (b *byteDot) sixteen(r, size, disp int) {
	if !b.wide {
		b.VMOVDQU(at(b.p, 2*b.half*size+disp), x(r))
		b.VINSERTI128(U8(1), at(b.p, (2*b.half+1)*size+disp), y(r), y(r))
		return
	}
	b.VMOVDQU(at(b.p, disp), x(r))
	for j, k := range []reg.Register{reg.K1, reg.K2, reg.K3} {
		b.VBROADCASTI32X4(at(b.p, (j+1)*size+disp), k, z(r))
	}
}

// bytes80 is Q8_0, with AVX-512 as many more than the bytes as make them positive.
func (b *byteDot) bytes80(int) {
	for i, r := range []int{lowReg, highReg} {
		b.sixteen(r, 34, 2+16*i)
		if b.wide {
			b.VPXORD(z(b.table["top"]), z(r), z(r))
		}
	}
}

func (b *byteDot) and(mask, r reg.VecPhysical) {
	if b.wide {
		b.VPANDD(mask, r, r)
	} else {
		b.VPAND(mask, r, r)
	}
}

// nibbles32 is a format of 32 elements whose bytes of four bits begin at a place, and fifth bits at high, where that is not 0.
func (b *byteDot) nibbles32(size, low, high int) {
	b.sixteen(lowReg, size, low)
	b.VPSRLW(U8(4), b.v(lowReg), b.v(highReg))
	mask := b.kept("low", spare, lowNibbles)
	b.and(mask, b.v(lowReg))
	b.and(mask, b.v(highReg))
	if high == 0 {
		return
	}
	t := b.v(spare)
	if b.wide {
		b.VPBROADCASTD(at(b.p, high), x(spare))
		for j, k := range []reg.Register{reg.K1, reg.K2, reg.K3} {
			b.VPBROADCASTD(at(b.p, (j+1)*size+high), k, z(spare))
		}
	} else {
		b.VPBROADCASTD(at(b.p, 2*b.half*size+high), x(spare))
		b.VPBROADCASTD(at(b.p, (2*b.half+1)*size+high), x(spare+1))
		b.VINSERTI128(U8(1), x(spare+1), y(spare), y(spare))
	}
	for i, r := range []int{lowReg, highReg} {
		name, from := []string{"fifths0", "fifths2"}[i], 2*i
		bits := b.v(spare + 1)
		if b.wide {
			b.VPSHUFB(z(b.table[name]), t, bits)
			b.VPTESTMB(z(b.table["bit"]), bits, reg.K4)
			b.VPADDB(z(b.table["fifth"]), z(r), reg.K4, z(r))
			continue
		}
		b.VPSHUFB(b.constant(name, fifthsOf(from)), t, bits)
		own := b.kept("bit", spare+2, ownBit)
		b.VPAND(own, bits, bits)
		b.VPCMPEQB(own, bits, bits)
		b.VPAND(b.constant("fifth", fifthBits), bits, bits)
		b.VPOR(bits, y(r), y(r))
	}
}

// scales32 are the scales of blocks of 32 elements in their lanes, and minima.
func (b *byteDot) scales32(int) {
	size := b.f.bytes / 4
	get := func(r, disp int, name string) {
		if b.wide {
			b.VMOVDQU32(at(b.p, 0), z(r))
			b.VPERMT2W(at(b.p, b.second()), z(b.table[name]), z(r))
			b.VCVTPH2PS(y(r), z(r))
			return
		}
		b.VPXOR(x(r), x(r), x(r))
		for j := range 2 {
			b.VPINSRW(U8(j), at(b.p, (2*b.half+j)*size+disp), x(r), x(r))
		}
		b.VCVTPH2PS(x(r), x(r))
		b.VMOVDQU(b.consts.get("quarter0", quarterOf(0)), y(spare))
		b.VPERMPS(y(r), y(spare), y(r))
	}
	get(scaleOf, 0, "scale"+b.f.name)
	if b.f.least {
		get(leastOf, 2, "least"+b.f.name)
	}
}

// nibbles256 is Q4_K, and Q5_K where fifth bits are at high.
func (b *byteDot) nibbles256(g, low, high int) {
	for i, r := range []int{lowReg, highReg} {
		from := low + 64*g + 32*b.half + 16*i
		if b.wide {
			b.VPERMQ(U8([]int{0x44, 0xee}[i]), at(b.p, low+64*g), z(r))
		} else {
			b.VBROADCASTI128(at(b.p, from), y(r))
		}
		b.VPSRLVD(b.kept("nibble", spare, by256(0, 4, 0, 4)), b.v(r), b.v(r))
		b.and(b.kept("low", spare, lowNibbles), b.v(r))
		if high == 0 {
			continue
		}
		t := b.v(spare)
		if b.wide {
			b.VBROADCASTI32X4(at(b.p, high+16*i), t)
		} else {
			b.VBROADCASTI128(at(b.p, high+16*i), t)
		}
		if g == 0 {
			b.VPSLLVD(b.kept("left0", spare+1, by256(4, 3, 2, 1)), t, t)
		} else {
			b.VPSRLVD(b.kept("right1", spare+1, by256(0, 1, 2, 3)), t, t)
		}
		b.orAnd(r, spare, "fifth", fifthBits)
	}
}

// orAnd adds to r the bits of t that a constant has.
func (b *byteDot) orAnd(r, t int, name string, bits func(int) Constant) {
	if b.wide {
		b.VPTERNLOGD(U8(0xf8), z(b.table[name]), z(t), z(r))
		return
	}
	b.VPAND(b.constant(name, bits), y(t), y(t))
	b.VPOR(y(t), y(r), y(r))
}

// scales256 makes floats of the scales and minima of a block: eight scales, and eight minima, in the upper half of a
// vector. Minima are multiplied by sums of x at once.
func (b *byteDot) scales256(int) {
	r, t := scaleOf, spare
	if b.wide {
		b.VBROADCASTI32X4(at(b.p, 0), z(t))
		b.VPSHUFB(z(b.table["header"]), z(t), z(r))
		b.VPSHUFB(z(b.table["headerup"]), z(t), z(t+1))
		b.VPERMW(z(t), z(b.table["hfloat"]), z(t))
		b.VCVTPH2PS(y(t), z(t))
	} else {
		b.VBROADCASTI128(at(b.p, 0), y(t))
		b.VPSHUFB(b.constant("header", header256(false)), y(t), y(r))
		b.VPSHUFB(b.constant("headerup", header256(true)), y(t), y(t+1))
		b.VPBROADCASTW(at(b.p, 2*b.half), x(t))
		b.VCVTPH2PS(x(t), y(t))
	}
	b.VPSRLVD(b.kept("hshift", spare+2, headerShift), b.v(r), b.v(r))
	b.and(b.kept("hmask", spare+2, headerMask), b.v(r))
	b.VPSRLD(U8(2), b.v(t+1), b.v(t+1))
	b.orAnd(r, t+1, "hupper", headerUpper)
	b.VCVTDQ2PS(b.v(r), b.v(r))
	b.VMULPS(b.v(t), b.v(r), b.v(r))
	for row := range b.rows {
		b.VMULPS(b.row(0, row, groupFirst), b.v(r), b.v(spare))
		b.VSUBPS(b.v(spare), b.acc(row), b.acc(row))
	}
	if b.wide {
		b.VMOVAPS(z(r), z(leastOf))
	} else if b.half == 0 {
		b.VMOVUPS(y(r), b.scales)
	}
}

// lanesOf brings the scales of group g of a block of 256 to their lanes.
func (b *byteDot) lanesOf(g int) {
	if b.f.name == "Q6K" {
		b.scalesOf6K(g)
		return
	}
	if b.wide {
		b.VPERMPS(z(leastOf), z(b.table[[]string{"quarter0", "quarter1"}[g]]), z(scaleOf))
		return
	}
	b.VMOVDQU(b.constant([]string{"quarter0", "quarter1"}[g], quarterOf(g)), y(spare))
	b.VPERMPS(b.scales, y(spare), y(scaleOf))
}

// scales6K loads the scale of scales of Q6_K.
func (b *byteDot) scales6K(int) {
	if b.wide {
		b.VPBROADCASTW(at(b.p, 208), y(leastOf))
		b.VCVTPH2PS(y(leastOf), z(leastOf))
		return
	}
	b.VPBROADCASTW(at(b.p, 208), x(leastOf))
	b.VCVTPH2PS(x(leastOf), y(leastOf))
}

// scalesOf6K brings the scales of 16 elements to their two lanes.
func (b *byteDot) scalesOf6K(g int) {
	b.VPMOVSXBQ(at(b.p, 192+8*g+4*b.half), b.v(scaleOf))
	b.VPSHUFD(U8(0xa0), b.v(scaleOf), b.v(scaleOf))
	b.VCVTDQ2PS(b.v(scaleOf), b.v(scaleOf))
	b.VMULPS(b.v(leastOf), b.v(scaleOf), b.v(scaleOf))
}

// bits6K is Q6_K: bytes of lower bits have elements 64 apart, which with AVX2 are the halves of a group, bytes of upper bits
// elements 32 apart. Runs are of eight elements.
func (b *byteDot) bits6K(g int) {
	if !b.wide {
		b.narrow6K(g)
		return
	}
	low, high := z(b.table["low"]), z(spare)
	b.VMOVDQU32(at(b.p, 64*g), z(lowReg))
	b.VPSRLW(U8(4), z(lowReg), z(highReg))
	b.VPANDD(low, z(lowReg), z(lowReg))
	b.VPANDD(low, z(highReg), z(highReg))
	b.VBROADCASTI64X4(at(b.p, 128+32*g), high)
	b.VPSLLVD(z(b.table["left6"]), high, z(spare+1))
	b.VPSRLVD(z(b.table["right6"]), high, z(spare+2))
	b.orAnd(lowReg, spare+1, "upper", upperBits)
	b.orAnd(highReg, spare+2, "upper", upperBits)
	b.VMOVDQA32(z(lowReg), z(spare))
	b.VPERMT2Q(z(highReg), z(b.table["even"]), z(lowReg))
	b.VPERMT2Q(z(highReg), z(b.table["odd"]), z(spare))
	b.VMOVDQA32(z(spare), z(highReg))
}

// narrow6K is bits6K of half a group.
func (b *byteDot) narrow6K(g int) {
	for i := range 2 {
		r, t := spare+i, spare+2
		b.VMOVDQU(at(b.p, 64*g+32*i), y(r))
		b.VMOVDQU(at(b.p, 128+32*g), y(t))
		if b.half == 1 {
			b.VPSRLW(U8(4), y(r), y(r))
		}
		b.VPAND(b.constant("low", lowNibbles), y(r), y(r))
		switch by := 4 - 2*i - 4*b.half; {
		case by > 0:
			b.VPSLLD(U8(by), y(t), y(t))
		case by < 0:
			b.VPSRLD(U8(-by), y(t), y(t))
		}
		b.orAnd(r, t, "upper", upperBits)
	}
	b.VPUNPCKLQDQ(y(spare+1), y(spare), y(lowReg))
	b.VPERMQ(U8(0xd8), y(lowReg), y(lowReg))
	b.VPUNPCKHQDQ(y(spare+1), y(spare), y(highReg))
	b.VPERMQ(U8(0xd8), y(highReg), y(highReg))
}
