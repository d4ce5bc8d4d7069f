package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scales256 makes the scales of eight groups in vector v, and their minima in the next one: six
// bits each, in twelve bytes. Two more vectors are free to use.
func (b *block) scales256(v int) {
	first, second, third, lower, upper := b.GP32(), b.GP32(), b.GP32(), b.GP64(), b.GP64()
	b.MOVL(b.at(4), first)
	b.MOVL(b.at(8), second)
	b.MOVL(b.at(12), third)
	for i, four := range []reg.GPVirtual{first, second} {
		b.MOVL(four, lower.As32())
		b.ANDL(U32(0x3f3f3f3f), lower.As32())
		b.SHRL(U8(2), four)
		b.ANDL(U32(0x30303030), four)
		b.MOVL(third, upper.As32())
		if i > 0 {
			b.SHRL(U8(4), upper.As32())
		}
		b.ANDL(U32(0x0f0f0f0f), upper.As32())
		b.ORL(four, upper.As32())
		b.SHLQ(U8(32), upper)
		b.ORQ(upper, lower)
		b.VMOVQ(lower, x(v+i))
		b.VPMOVZXBD(x(v+i), y(v+i))
		b.VCVTDQ2PS(y(v+i), y(v+i))
		b.VPBROADCASTW(b.at(2*i), x(v+i+2))
		b.VCVTPH2PS(x(v+i+2), y(v+i+2))
		b.VMULPS(y(v+i+2), y(v+i), y(v+i))
	}
}

// nibbles256 is a format of 256 elements in groups of 32; see nibbles32.
func (b *block) nibbles256(low, high int) {
	b.scales256(firstTemp)
	for i := range 2 {
		b.VMOVUPS(y(firstTemp+i), b.scales.Offset(32*i))
	}
	bits := firstTemp + 5
	if high != 0 && b.wide {
		b.VMOVDQU(b.at(high), y(bits))
	}
	for g := range 8 {
		b.VBROADCASTSS(b.scales.Offset(4*g), b.v(scaleReg))
		b.VBROADCASTSS(b.scales.Offset(32+4*g), b.v(leastReg))
		if high != 0 && b.wide {
			b.nextBits(bits)
		}
		for i := 0; i < 32; i += b.lanes() {
			v := firstTemp + i/b.lanes()%3
			b.VPMOVZXBD(b.at(low+g/2*32+i), b.v(v))
			if g%2 == 0 {
				b.and(maskReg, v)
			} else {
				b.VPSRLD(U8(4), b.v(v), b.v(v))
			}
			if high != 0 {
				b.highBit(v, high+i, 4-g, bits, i/16)
			}
			b.scaled(v, 32*g+i)
		}
	}
}

// nextBits makes masks of the lowest bits of 32 bytes, and brings down the bits above them.
func (b *block) nextBits(bits int) {
	b.VPTESTMB(y(otherReg), y(bits), reg.K1)
	b.KSHIFTRD(U8(16), reg.K1, reg.K2)
	b.VPSRLW(U8(1), y(bits), y(bits))
}

// highBit adds the bit that register zeroReg has to the elements of vector v whose bytes, from
// one on, have a bit that is so far from it: those of a mask, where nextBits has made it.
func (b *block) highBit(v, from, by, bits, mask int) {
	if b.wide {
		b.VPORD(z(zeroReg), z(v), []reg.OpmaskPhysical{reg.K1, reg.K2}[mask], z(v))
		return
	}
	b.VPMOVZXBD(b.at(from), y(bits))
	b.shift(bits, by)
	b.VPAND(y(zeroReg), y(bits), y(bits))
	b.VPOR(y(bits), y(v), y(v))
}

// bits2K is Q2_K.
func (b *block) bits2K() {
	b.float16(b.at(80), firstTemp)
	b.float16(b.at(82), firstTemp+1)
	for i := 0; i < 16; i += b.lanes() {
		v := firstTemp + 2
		b.VPMOVZXBD(b.at(i), b.v(v))
		b.VPSRLD(U8(4), b.v(v), b.v(v+1))
		b.and(maskReg, v)
		for k := range 2 {
			b.VCVTDQ2PS(b.v(v+k), b.v(v+k))
			b.VMULPS(b.v(firstTemp+k), b.v(v+k), b.v(v+k))
			b.VMOVUPS(b.v(v+k), b.scales.Offset(64*k+4*i))
		}
	}
	for i := 0; i < 256; i += b.lanes() {
		if i%16 == 0 {
			b.VBROADCASTSS(b.scales.Offset(i/16*4), b.v(scaleReg))
			b.VBROADCASTSS(b.scales.Offset(64+i/16*4), b.v(leastReg))
		}
		v := firstTemp + i/b.lanes()%4
		b.VPMOVZXBD(b.at(16+i/128*32+i%32), b.v(v))
		b.shift(v, -2*(i/32%4))
		b.and(otherReg, v)
		b.scaled(v, i)
	}
}

// bits3K is Q3_K. A third bit that is not set takes 4 away.
func (b *block) bits3K() {
	b.scales3K()
	bits := firstTemp + 5
	if b.wide {
		b.VMOVDQU(b.at(0), y(bits))
	}
	for i := 0; i < 256; i += b.lanes() {
		if i%32 == 0 && b.wide {
			b.nextBits(bits)
		}
		if i%16 == 0 {
			b.VBROADCASTSS(b.scales.Offset(i/16*4), b.v(scaleReg))
		}
		v := firstTemp + i/b.lanes()%4
		b.VPMOVZXBD(b.at(32+i/128*32+i%32), b.v(v))
		b.shift(v, -2*(i/32%4))
		b.and(maskReg, v)
		b.highBit(v, i%32, 2-i/32, bits, i/16%2)
		b.centred(v)
		b.scaled(v, i)
	}
}

// scales3K writes the sixteen scales of Q3_K to memory: four bits each in eight bytes, two in four.
func (b *block) scales3K() {
	low, four, mask := b.GP64(), b.GP64(), b.GP64()
	b.MOVQ(b.at(96), low)
	b.MOVQ(U64(0x0f0f0f0f0f0f0f0f), mask)
	b.float16(b.at(108), firstTemp)
	for i := range 2 {
		b.MOVQ(low, four)
		if i > 0 {
			b.SHRQ(U8(4), four)
		}
		b.ANDQ(mask, four)
		for k := range 2 { // two bits of each byte are those of four scales
			upper := b.GP64()
			b.MOVL(b.at(104), upper.As32())
			b.SHRL(U8(4*i+2*k), upper.As32())
			b.ANDL(U32(0x03030303), upper.As32())
			b.SHLQ(U8(4+32*k), upper)
			b.ORQ(upper, four)
		}
		v := firstTemp + 1 + i
		b.VMOVQ(four, x(v))
		b.VPMOVZXBD(x(v), y(v))
		b.VPSUBD(y(leastReg), y(v), y(v))
		b.VCVTDQ2PS(y(v), y(v))
		b.VMULPS(y(firstTemp), y(v), y(v))
		b.VMOVUPS(y(v), b.scales.Offset(32*i))
	}
}

// shift shifts the words of vector v to the left, or to the right where by is negative.
func (b *block) shift(v, by int) {
	switch {
	case by > 0:
		b.VPSLLD(U8(by), b.v(v), b.v(v))
	case by < 0:
		b.VPSRLD(U8(-by), b.v(v), b.v(v))
	}
}

// bits6K is Q6_K.
func (b *block) bits6K() {
	b.float16(b.at(208), firstTemp)
	for i := 0; i < 16; i += b.lanes() {
		v := firstTemp + 1
		b.VPMOVSXBD(b.at(192+i), b.v(v))
		b.VCVTDQ2PS(b.v(v), b.v(v))
		b.VMULPS(b.v(firstTemp), b.v(v), b.v(v))
		b.VMOVUPS(b.v(v), b.scales.Offset(4*i))
	}
	for h := range 2 {
		if b.wide {
			b.halfOf6K(h)
			continue
		}
		for i := 0; i < 128; i += 8 {
			if i%16 == 0 {
				b.VBROADCASTSS(b.scales.Offset(4*(8*h+i/16)), y(scaleReg))
			}
			v, t := firstTemp+i/8%2, firstTemp+4+i/8%2
			b.VPMOVZXBD(b.at(64*h+i%64), y(v))
			if i < 64 {
				b.and(maskReg, v)
			} else {
				b.VPSRLD(U8(4), y(v), y(v))
			}
			b.VPMOVZXBD(b.at(128+32*h+i%32), y(t))
			b.shift(t, 4-2*(i/32))
			b.VPAND(y(otherReg), y(t), y(t))
			b.VPOR(y(t), y(v), y(v))
			b.centred(v)
			b.scaled(v, 128*h+i)
		}
	}
}

// halfOf6K is 128 elements of Q6_K as bytes, 64 to a vector: lower halves of bytes, then upper ones.
func (b *block) halfOf6K(h int) {
	low, high, bits, v := firstTemp, firstTemp+1, firstTemp+2, firstTemp+3
	b.VMOVDQU32(b.at(64*h), z(low))
	b.VPSRLW(U8(4), z(low), z(high))
	b.VBROADCASTI64X4(b.at(128+32*h), z(bits))
	b.VPSLLVD(z(16), z(bits), z(18))
	b.VPSRLVD(z(17), z(bits), z(19))
	for k := range 2 {
		b.VPANDD(z(otherReg), z(18+k), z(18+k))
		b.VPTERNLOGD(U8(0xea), z(18+k), z(maskReg), z(low+k)) // the four lower bits, and those two
		b.VPSUBB(z(zeroReg), z(low+k), z(low+k))
		for i := range 4 {
			from := x(low + k)
			if i > 0 {
				from = x(bits)
				b.VEXTRACTI32X4(U8(i), z(low+k), from)
			}
			element := 128*h + 64*k + 16*i
			b.VPMOVSXBD(from, z(v))
			b.VBROADCASTSS(b.scales.Offset(element/16*4), z(scaleReg))
			b.scaled(v, element)
		}
	}
}
