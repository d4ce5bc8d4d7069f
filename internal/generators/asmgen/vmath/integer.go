package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// integerSteps compute with lanes of 32 bits: those called Int with signed ones, those called Uint with
// unsigned ones, where that makes a difference.
func integerSteps(add func(string, func(isa))) {
	add("IntAdd", with(func(s isa, m Mem, a reg.Register, _ int) { s.VPADDD(m, a, a) }))
	add("IntSub", with(func(s isa, m Mem, a reg.Register, _ int) { s.VPSUBD(m, a, a) }))
	add("IntSubFrom", from(func(s isa, m, a reg.Register) { s.VPSUBD(a, m, a) }))
	add("IntMul", with(func(s isa, m Mem, a reg.Register, _ int) { s.VPMULLD(m, a, a) }))
	add("UintMulHi", emitMulHi)
	add("IntMin", with(func(s isa, m Mem, a reg.Register, _ int) { s.VPMINSD(m, a, a) }))
	add("IntMax", with(func(s isa, m Mem, a reg.Register, _ int) { s.VPMAXSD(m, a, a) }))
	add("UintMin", with(func(s isa, m Mem, a reg.Register, _ int) { s.VPMINUD(m, a, a) }))
	add("UintMax", with(func(s isa, m Mem, a reg.Register, _ int) { s.VPMAXUD(m, a, a) }))
	add("IntAbs", over(func(s isa, a reg.Register, _ int) { s.VPABSD(a, a) }))
	// Counts are unsigned: from 32 on nothing is left, save the sign.
	add("IntShl", with(func(s isa, m Mem, a reg.Register, _ int) { s.VPSLLVD(m, a, a) }))
	add("IntShr", with(func(s isa, m Mem, a reg.Register, _ int) { s.VPSRAVD(m, a, a) }))
	add("UintShr", with(func(s isa, m Mem, a reg.Register, _ int) { s.VPSRLVD(m, a, a) }))
	add("IntEq", from(func(s isa, m, a reg.Register) { s.intCompare(true, m, a, a) }))
	add("IntGt", from(func(s isa, m, a reg.Register) { s.intCompare(false, m, a, a) }))
	add("IntLt", from(func(s isa, m, a reg.Register) { s.intCompare(false, a, m, a) }))
	// The smaller of two is a where a is at most the other.
	add("UintLe", with(func(s isa, m Mem, a reg.Register, i int) {
		s.VPMINUD(m, a, s.tmp(i))
		s.intCompare(true, s.tmp(i), a, a)
	}))
	add("UintGe", with(func(s isa, m Mem, a reg.Register, i int) {
		s.VPMAXUD(m, a, s.tmp(i))
		s.intCompare(true, s.tmp(i), a, a)
	}))
	add("FromInt", over(func(s isa, a reg.Register, _ int) { s.VCVTDQ2PS(a, a) }))
	add("FromUint", emitFromUint)
	add("ToInt", emitToInt)
	add("ToUint", emitToUint)
	add("Index", emitIndex)
	add("IndexHigh", func(s isa) {
		s.MOVQ(rAt, reg.RBX)
		s.SHRQ(U8(32), reg.RBX)
		s.spread(reg.EBX, 0)
		s.each(func(i int, a reg.Register) {
			if i > 0 {
				s.VMOVUPS(s.acc(0), a)
			}
		})
	})
}

// intCompare sets lanes where a == b, or a > b.
func (s isa) intCompare(equal bool, b, a, d reg.Register) {
	switch {
	case s.wide && equal:
		s.VPCMPEQD(b, a, reg.K1)
		s.VPMOVM2D(reg.K1, d)
	case s.wide:
		s.VPCMPGTD(b, a, reg.K1)
		s.VPMOVM2D(reg.K1, d)
	case equal:
		s.VPCMPEQD(b, a, d)
	default:
		s.VPCMPGTD(b, a, d)
	}
}

// emitMulHi takes the upper halves of products. The instruction multiplies the lanes of even
// number, so that those of odd number are brought there first.
func emitMulHi(s isa) {
	m := s.operand(0, 4, reg.RBX)
	if s.wide {
		s.MOVQ(U32(0x5555), reg.RDX)
		s.KMOVW(reg.EDX, reg.K1)
	}
	s.each(func(i int, a reg.Register) {
		t, u := s.tmp(i&3), s.tmp(4+i&3)
		s.VMOVSHDUP(m.Offset(i*s.size()), t)
		s.VMOVSHDUP(a, u)
		s.VPMULUDQ(m.Offset(i*s.size()), a, a)
		s.VPMULUDQ(t, u, u)
		if s.wide {
			s.VMOVSHDUP(a, reg.K1, u)
			s.VMOVAPS(u, a)
			return
		}
		s.VMOVSHDUP(a, a)
		s.VPBLENDD(U8(0xaa), u, a, a)
	})
}

// emitFromUint rounds once: with AVX2 it adds the two halves, which are exact.
func emitFromUint(s isa) {
	if s.wide {
		s.each(func(_ int, a reg.Register) { s.VCVTUDQ2PS(a, a) })
		return
	}
	scale := s.tmp(7)
	s.fill32(wTwo16, scale)
	s.each(func(i int, a reg.Register) {
		low := s.tmp(i % 3)
		s.VPSLLD(U8(16), a, low)
		s.VPSRLD(U8(16), low, low)
		s.VPSRLD(U8(16), a, a)
		s.VCVTDQ2PS(low, low)
		s.VCVTDQ2PS(a, a)
		s.VMULPS(scale, a, a)
		s.VADDPS(low, a, a)
	})
}

// emitToInt truncates to i32. The instruction gives the least integer where it
// overflows: flipping all bits makes it the greatest one for large values; NaN
// becomes zero.
func emitToInt(s isa) {
	limit := s.tmp(7)
	s.fill32(wTwo31, limit)
	s.each(func(i int, a reg.Register) {
		large, valid := s.tmp(i%3), s.tmp(3+i%3)
		s.cmp32(geOQ, limit, a, large)
		s.cmp32(ord, a, a, valid)
		s.VCVTTPS2DQ(a, a)
		s.xor(large, a, a)
		s.and(valid, a, a)
	})
}

// emitToUint truncates to u32. The maximum with zero is zero for NaN: the instruction gives its second source. What
// is then too large becomes all ones, in AVX-512 by the conversion itself.
func emitToUint(s isa) {
	zero, limit := s.tmp(7), s.tmp(6)
	s.xor(zero, zero, zero)
	if s.wide {
		s.each(func(_ int, a reg.Register) {
			s.VMAXPS(zero, a, a)
			s.VCVTTPS2UDQ(a, a)
		})
		return
	}
	// Values from 2**31 on are converted less 2**31, whose bit is then set; from 2**32 on the
	// conversion gives that bit alone, which becomes all ones.
	s.fill32(wTwo31, limit)
	s.each(func(i int, a reg.Register) {
		rest, over := s.tmp(i%3), s.tmp(3+i%3)
		s.VMAXPS(zero, a, a)
		s.VSUBPS(limit, a, rest)
		s.VCVTTPS2DQ(a, a)
		s.VCVTTPS2DQ(rest, rest)
		// The first conversion gives 2**31 for all that is not below it; the rest is negative otherwise.
		s.VPSRAD(U8(31), a, over)
		s.VPAND(over, rest, rest)
		s.VPSRAD(U8(31), rest, over)
		s.VPOR(rest, a, a)
		s.VPOR(over, a, a)
	})
}

// spread sets all lanes of register i of the accumulator to a number.
func (s isa) spread(r reg.Register, i int) {
	if s.wide {
		s.VPBROADCASTD(r, s.acc(i))
		return
	}
	low := []reg.Register{reg.X0, reg.X1}[i]
	s.VMOVD(r, low)
	s.VPBROADCASTD(low, s.acc(i))
}

// emitIndex counts from the strip's first element: the lower half of 64 bits.
func emitIndex(s isa) {
	s.MOVL(U32(uint32(s.lanes())), reg.EBX)
	s.spread(reg.EBX, 1)
	s.VMOVUPS(s.acc(1), s.tmp(0))
	s.spread(rAt.As32(), 0)
	s.VPADDD(global("vecCount", 0, 4), s.acc(0), s.acc(0))
	for i := 1; i < stripRegs; i++ {
		s.VPADDD(s.tmp(0), s.acc(i-1), s.acc(i))
	}
}
