package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func (b batch) sin(x vals) vals {
	return b.quarter(x, func(n vals) vals { return n }, func(n vals) {
		for i, d := range x {
			s := b.vec()
			b.VPSLLD(U8(30), n[i], s)
			b.xor(s, d, d)
		}
	})
}

func (b batch) cos(x vals) vals {
	return b.quarter(x, func(n vals) vals { return b.addInt(n, wIntOne) }, func(n vals) {
		for i, d := range x {
			b.VPSLLD(U8(30), n[i], d)
		}
	})
}

// quarter is quarterSingle of package vmath, which counts as ahead does; sign
// replaces x by a number with the sign that the result is multiplied by.
func (b batch) quarter(x vals, ahead func(n vals) vals, sign func(n vals)) vals {
	t := b.absolute(x)
	n := b.add(b.mul(t, fTwoOverPi), fMagic)
	k := b.sub(n, fMagic)
	n = ahead(n)
	odd := b.odds(n)
	sign(n)
	a := b.lessProduct(t, k, fHalfPi)
	m := b.mul(k, fHalfPiMid)
	r := b.sub(a, m)
	low := b.sub(b.sub(a, r), m)
	low = b.sub(low, b.productLess(k, fHalfPiMid, m))
	low = b.sub(low, b.mul(k, fHalfPiLast))
	h := b.mul(b.mul(r, r), fHalf)
	w := b.sub(fOne, h)
	rest := b.sub(b.sub(b.sub(fOne, w), h), b.mul(r, low))
	rest = b.pick(odd, rest, low)
	head := b.pick(odd, w, r)
	y := b.mul(r, r) // once more, not kept
	r = b.mul(y, b.either(odd, y, r))
	p := b.mul(y, b.either(odd, fCos8, fSin7))
	p = b.mul(b.add(p, b.either(odd, fCos6, fSin5)), y)
	p = b.add(p, b.either(odd, fCos4, fSin3))
	p = b.mul(p, r)
	v := b.add(b.add(p, rest), head)
	if !b.wide {
		return b.bits(b.xor, v, b.bits(b.and, x, wSign))
	}
	top := b.arg(wSign)
	for i, r := range v {
		b.VPTERNLOGD(U8(0x78), top(i), x[i], r) // r xor (x and sign)
	}
	return v
}

// productLess is x*y - m, exact where m is the product rounded. m ends.
func (b batch) productLess(x vals, y single, m vals) vals {
	q := b.arg(y)
	for i, r := range m {
		b.VFMSUB231PS(q(i), x[i], r)
	}
	return m
}

// odds chooses the lanes of odd integers.
func (b batch) odds(n vals) masks {
	m := make(masks, b.n)
	if !b.wide {
		for i, v := range b.map1(func(i int, d reg.Register) { b.VPSLLD(U8(31), n[i], d) }) {
			m[i] = v
		}
		return m
	}
	one := b.arg(wIntOne)
	for i := range m {
		m[i] = b.K()
		b.VPTESTMD(one(i), n[i], m[i])
	}
	return m
}

// emitEither writes a step that computes in f32, and once more in f64 where
// lanes of the strip are large, which is rare.
func emitEither(s isa, f function) {
	anyLarge(s, reg.EBX)
	if s.wide {
		s.TESTL(reg.EBX, reg.EBX)
		s.JEQ(LabelRef("near"))
		s.spill(0)
		s.Label("near")
		s.singleInPlace(f)
		s.TESTL(reg.EBX, reg.EBX)
		s.JEQ(LabelRef("done"))
		s.spill(1)
	} else {
		s.spill(0)
		s.singleStrip(f, 1)
		s.TESTL(reg.EBX, reg.EBX)
		s.JEQ(LabelRef("done"))
	}
	emitDoubles(s, f, func(v value) {
		b := batch{isa: s, n: 1}
		x := b.map1(func(_ int, d reg.Register) { s.VMOVUPS(Mem{Base: reg.RDX}, d) })
		at := Mem{Base: reg.RDX, Disp: stripRegs * s.size()}
		near := b.map1(func(_ int, d reg.Register) { s.VMOVUPS(at, d) })
		s.VMOVUPS(b.blend(b.large(b.absolute(x))[0], v, near[0]), at)
	})
	if s.wide {
		s.fetch(1)
		s.Label("done")
	} else {
		s.Label("done")
		s.fetch(1)
	}
	s.nextKeeping()
}

// large chooses the lanes of x, without signs, from trigLarge32 on, and NaN.
func (b batch) large(x vals) masks {
	small := b.arg(wTrigSmall)
	m := make(masks, b.n)
	for i := range m {
		m[i] = b.mask()
		b.VPCMPGTD(small(i), x[i], m[i])
	}
	return m
}

// anyLarge sets r to zero where no lane of the accumulator is large.
func anyLarge(s isa, r reg.Register) {
	b := batch{isa: s, n: stripRegs}
	all := make(vals, stripRegs)
	s.each(func(i int, a reg.Register) { all[i] = a })
	m := b.absolute(all)
	for n := stripRegs / 2; n > 0; n /= 2 {
		for i := range n {
			s.VPMAXSD(m[i+n], m[i], m[i])
		}
	}
	large := batch{isa: s, n: 1}.large(m[:1])[0]
	if s.wide {
		s.KMOVW(large, r)
	} else {
		s.VMOVMSKPS(large, r)
	}
}
