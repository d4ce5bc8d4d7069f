package main

import (
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// value is a register of f64 or 64-bit integer lanes; every operation below
// writes a new one, so that functions read like their twins in package vmath.
type value = reg.VecVirtual

// mask says which lanes are chosen: a mask register, or with AVX2 a register
// whose lanes' top bits count.
type mask = Op

func numAt(c num) Mem {
	if c >= nSignBit {
		return global("vecInts", int(c-nSignBit), 8)
	}
	return global("vecNums", int(c), 8)
}

// broadcast returns memory's first number in all lanes.
func (s isa) broadcast(m Mem) value {
	d := s.vec()
	s.VBROADCASTSD(m, d)
	return d
}

// binary writes an operation whose second operand may be a number in memory.
func (s isa) binary(a value, b Op, reg3, bcst func(ops ...Op)) value {
	d := s.vec()
	switch m, isMem := b.(Mem); {
	case !isMem:
		reg3(b, a, d)
	case s.wide:
		bcst(m, a, d)
	default:
		reg3(s.broadcast(m), a, d)
	}
	return d
}

func (s isa) add(a value, b Op) value { return s.binary(a, b, s.VADDPD, s.VADDPD_BCST) }
func (s isa) sub(a value, b Op) value { return s.binary(a, b, s.VSUBPD, s.VSUBPD_BCST) }
func (s isa) mul(a value, b Op) value { return s.binary(a, b, s.VMULPD, s.VMULPD_BCST) }
func (s isa) div(a value, b Op) value { return s.binary(a, b, s.VDIVPD, s.VDIVPD_BCST) }

func (s isa) addq(a value, b Op) value { return s.binary(a, b, s.VPADDQ, s.VPADDQ_BCST) }
func (s isa) subq(a value, b Op) value { return s.binary(a, b, s.VPSUBQ, s.VPSUBQ_BCST) }

// mulLow is the product of the low 32 bits of the lanes.
func (s isa) mulLow(a value, b Op) value { return s.binary(a, b, s.VPMULUDQ, s.VPMULUDQ_BCST) }

// The second argument of these is never called with AVX2.
func two(f func(a, b, c Op)) func(ops ...Op) { return func(ops ...Op) { f(ops[0], ops[1], ops[2]) } }

func (s isa) andq(a value, b Op) value {
	if s.wide {
		return s.binary(a, b, s.VPANDQ, s.VPANDQ_BCST)
	}
	return s.binary(a, b, two(s.VPAND), nil)
}

func (s isa) orq(a value, b Op) value {
	if s.wide {
		return s.binary(a, b, s.VPORQ, s.VPORQ_BCST)
	}
	return s.binary(a, b, two(s.VPOR), nil)
}

func (s isa) xorq(a value, b Op) value {
	if s.wide {
		return s.binary(a, b, s.VPXORQ, s.VPXORQ_BCST)
	}
	return s.binary(a, b, two(s.VPXOR), nil)
}

func (s isa) shl(a value, n uint8) value {
	d := s.vec()
	s.VPSLLQ(U8(n), a, d)
	return d
}

func (s isa) shr(a value, n uint8) value {
	d := s.vec()
	s.VPSRLQ(U8(n), a, d)
	return d
}

func (s isa) shlBy(a, n value) value {
	d := s.vec()
	s.VPSLLVQ(n, a, d)
	return d
}

func (s isa) shrBy(a, n value) value {
	d := s.vec()
	s.VPSRLVQ(n, a, d)
	return d
}

func (s isa) sqrt(a value) value {
	d := s.vec()
	s.VSQRTPD(a, d)
	return d
}

// nearest rounds to an integer, halves to even.
func (s isa) nearest(a value) value {
	d := s.vec()
	if s.wide {
		s.VRNDSCALEPD(U8(8), a, d)
	} else {
		s.VROUNDPD(U8(8), a, d)
	}
	return d
}

// Predicates of comparisons.
const (
	eqOQ  = 0
	unord = 3
	neUQ  = 4
	nge   = 0x19
	ord   = 7
	ltOQ  = 0x11
	leOQ  = 0x12
	geOQ  = 0x1d
	gtOQ  = 0x1e
)

// cmp compares a with b.
func (s isa) cmp(p uint8, a value, b Op) mask {
	if !s.wide {
		if m, ok := b.(Mem); ok {
			b = s.broadcast(m)
		}
		d := s.vec()
		s.VCMPPD(U8(p), b, a, d)
		return d
	}
	k := s.K()
	if m, ok := b.(Mem); ok {
		s.VCMPPD_BCST(U8(p), m, a, k)
	} else {
		s.VCMPPD(U8(p), b, a, k)
	}
	return k
}

// bit chooses the lanes of a that have bit n set.
func (s isa) bit(a value, n uint8) mask {
	top := s.shl(a, 63-n)
	if !s.wide {
		return top
	}
	k := s.K()
	s.VPMOVQ2M(top, k)
	return k
}

// mask is a new register for a mask.
func (s isa) mask() mask {
	if s.wide {
		return s.K()
	}
	return s.vec()
}

// both chooses the lanes that a and b choose.
func (s isa) both(a, b mask) mask {
	d := s.mask()
	if s.wide {
		s.KANDB(b, a, d)
	} else {
		s.VANDPD(b, a, d)
	}
	return d
}

// without chooses the lanes that a chooses and b does not.
func (s isa) without(a, b mask) mask {
	d := s.mask()
	if s.wide {
		s.KANDNB(a, b, d)
	} else {
		s.VANDNPD(a, b, d)
	}
	return d
}

// choose returns t in the chosen lanes, f in the others.
func (s isa) choose(m mask, t Op, f value) value {
	if c, ok := t.(Mem); ok {
		t = s.broadcast(c)
	}
	d := s.vec()
	if s.wide {
		// avo takes a masked result for one that is also read.
		s.Instruction(&ir.Instruction{Opcode: "VBLENDMPD", Operands: []Op{t, f, m, d}, Inputs: []Op{t, f, m}, Outputs: []Op{d},
			ISA: []string{"AVX512F"}})
	} else {
		s.VBLENDVPD(m, t, f, d)
	}
	return d
}

// skipUnless jumps to label when no lane is chosen.
func (s isa) skipUnless(m mask, label string) {
	if s.wide {
		s.KORTESTB(m, m)
	} else {
		r := s.GP32()
		s.VMOVMSKPD(m, r)
		s.TESTL(r, r)
	}
	s.JEQ(LabelRef(label))
}

// narrow converts to f32 in a register of half the size.
func (s isa) narrow(a value) value {
	h := s.half()
	if s.wide {
		s.VCVTPD2PS(a, h)
	} else {
		s.VCVTPD2PSY(a, h)
	}
	return h
}

// join returns the two halves of a register.
func (s isa) join(part [2]value) value {
	d := s.vec()
	if s.wide {
		s.VINSERTF64X4(U8(1), part[1], part[0].AsZ(), d)
	} else {
		s.VINSERTF128(U8(1), part[1], part[0].AsY(), d)
	}
	return d
}

// move overwrites d.
func (s isa) move(a, d value) { s.VMOVUPD(a, d) }

// abs clears the sign.
func (s isa) abs(a value) value { return s.andq(a, numAt(nAbsMask)) }

// signOf keeps the sign alone.
func (s isa) signOf(a value) value { return s.andq(a, numAt(nSignBit)) }

// fromInt converts signed integers, rounding to nearest even.
func (s isa) fromInt(a value) value {
	d := s.vec()
	if s.wide {
		s.VCVTQQ2PD(a, d)
		return d
	}
	// The two halves become exact numbers; their sum rounds once.
	hi := s.xorq(s.shr(a, 32), numAt(nHighMagic))
	s.VPBLENDD(U8(0xaa), s.broadcast(numAt(nTwoTo52)), a, d)
	return s.add(d, s.sub(hi, numAt(nHighBias)))
}
