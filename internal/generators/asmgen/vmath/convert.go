package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// prefetchAhead is how many bytes before it is read memory is asked for: a few strips of a long
// program, or many of a short one, which take as long as memory does.
const prefetchAhead = 2048

// memorySteps move the accumulator from and to memory, converting. Truth values
// are lanes of all ones or zeros.
func memorySteps(add func(string, func(isa))) {
	add("Load", with(func(s isa, m Mem, a reg.Register, _ int) { s.VMOVUPS(m, a) }))
	add("Store", with(func(s isa, m Mem, a reg.Register, _ int) { s.VMOVUPS(a, m) }))
	// Past the caches: the address is a multiple of the register's size.
	add("StoreThrough", with(func(s isa, m Mem, a reg.Register, _ int) { s.VMOVNTPS(a, m) }))
	// The strips some way on: processors foresee where arrays go on, but not in the next page.
	add("Prefetch", func(s isa) {
		m := s.operand(0, 4, reg.RBX)
		for at := 0; at < 4*s.strip(); at += 64 {
			s.PREFETCHT0(m.Offset(prefetchAhead + at))
		}
	})
	widen := func(name string, size int, load func(s isa, m Mem, a reg.Register)) {
		add(name, func(s isa) {
			m := s.operand(0, size, reg.RBX)
			s.each(func(i int, a reg.Register) { load(s, m.Offset(i*s.lanes()*size), a) })
		})
	}
	widen("LoadF16", 2, func(s isa, m Mem, a reg.Register) { s.VCVTPH2PS(m, a) })
	widen("LoadBF16", 2, func(s isa, m Mem, a reg.Register) {
		s.VPMOVZXWD(m, a)
		s.VPSLLD(U8(16), a, a)
	})
	widen("LoadI8", 1, func(s isa, m Mem, a reg.Register) { s.VPMOVSXBD(m, a) })
	widen("LoadU8", 1, func(s isa, m Mem, a reg.Register) { s.VPMOVZXBD(m, a) })
	widen("LoadI16", 2, func(s isa, m Mem, a reg.Register) { s.VPMOVSXWD(m, a) })
	widen("LoadU16", 2, func(s isa, m Mem, a reg.Register) { s.VPMOVZXWD(m, a) })
	add("LoadBool", func(s isa) {
		m := s.operand(0, 1, reg.RBX)
		zero, ones := s.tmp(7), s.tmp(6)
		s.xor(zero, zero, zero)
		s.fill32(wOnes, ones)
		s.each(func(i int, a reg.Register) {
			s.VPMOVZXBD(m.Offset(i*s.lanes()), a)
			if s.wide {
				s.VPTESTMD(a, a, reg.K1)
				s.VPMOVM2D(reg.K1, a)
				return
			}
			s.VPCMPEQD(zero, a, a)
			s.VPXOR(ones, a, a)
		})
	})
	add("StoreF16", func(s isa) {
		m := s.operand(0, 2, reg.RBX)
		s.each(func(i int, a reg.Register) { s.VCVTPS2PH(U8(0), a, m.Offset(i*s.lanes()*2)) })
	})
	add("StoreBF16", func(s isa) {
		m := s.operand(0, 2, reg.RBX)
		s.each(func(i int, a reg.Register) { s.storeWords(a, m.Offset(i*s.lanes()*2), 16) })
	})
	add("Store16", func(s isa) {
		m := s.operand(0, 2, reg.RBX)
		s.each(func(i int, a reg.Register) { s.storeWords(a, m.Offset(i*s.lanes()*2), 0) })
	})
	add("Store8", func(s isa) {
		m := s.operand(0, 1, reg.RBX)
		s.each(func(i int, a reg.Register) { s.storeBytes(a, m.Offset(i*s.lanes())) })
	})
	add("StoreBool", func(s isa) {
		m := s.operand(0, 1, reg.RBX)
		s.fill32(wIntOne, s.tmp(7))
		s.each(func(i int, a reg.Register) {
			s.and(s.tmp(7), a, s.tmp(1))
			s.storeBytes(s.tmp(1), m.Offset(i*s.lanes()))
		})
	})
	add("RoundF16", func(s isa) {
		s.each(func(i int, a reg.Register) {
			h := reg.Register(reg.Y8)
			if !s.wide {
				h = reg.X8
			}
			s.VCVTPS2PH(U8(0), a, h)
			s.VCVTPH2PS(h, a)
		})
	})
	add("RoundBF16", emitRoundBF16)
}

// emitRoundBF16 rounds to the upper 16 bits, halves to even; NaN stays NaN.
func emitRoundBF16(s isa) {
	half, one, quiet := s.tmp(7), s.tmp(6), s.tmp(5)
	s.fill32(wHalfRound, half)
	s.fill32(wIntOne, one)
	s.fill32(wQuiet, quiet)
	s.each(func(_ int, a reg.Register) {
		t, u, nan := s.tmp(0), s.tmp(1), s.tmp(2)
		s.cmp32(unord, a, a, nan)
		s.or(quiet, a, u)
		s.VPSRLD(U8(16), a, t)
		s.and(one, t, t)
		s.VPADDD(half, t, t)
		s.VPADDD(t, a, t)
		// Chosen without a blend: t and not nan, or u and nan.
		s.and(nan, u, u)
		s.andNot(t, nan, t)
		s.or(t, u, a)
		s.VPSRLD(U8(16), a, a)
		s.VPSLLD(U8(16), a, a)
	})
}

// storeWords stores 16 bits of every lane from the given one.
func (s isa) storeWords(a reg.Register, m Mem, from uint8) {
	t := s.tmp(0)
	if s.wide {
		s.VPSRLD(U8(from), a, t)
		s.VPMOVDW(t, m)
		return
	}
	if from == 0 {
		s.VPSLLD(U8(16), a, t)
		s.VPSRLD(U8(16), t, t)
	} else {
		s.VPSRLD(U8(from), a, t)
	}
	s.VPACKUSDW(t, t, t)
	s.VPERMQ(U8(0x08), t, t)
	s.VMOVDQU(reg.X8, m)
}

// storeBytes stores the low byte of every lane.
func (s isa) storeBytes(a reg.Register, m Mem) {
	if s.wide {
		s.VPMOVDB(a, m)
		return
	}
	t := s.tmp(0)
	s.VPSLLD(U8(24), a, t)
	s.VPSRLD(U8(24), t, t)
	s.VPACKUSDW(t, t, t)
	s.VPERMQ(U8(0x08), t, t)
	s.VPACKUSWB(reg.X8, reg.X8, reg.X8)
	s.VMOVQ(reg.X8, m)
}
