package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The functions below repeat, operation by operation, their twins in
// kernel/internal/vmath/*.go, so that the results are the same bits. Branches of the
// twins are computed in all lanes and chosen.

// horner evaluates the n coefficients of a kernel variable, lowest first.
func (s isa) horner(name string, n int, x value) value {
	v := s.broadcast(global(name, n-1, 8))
	for i := n - 2; i >= 0; i-- {
		v = s.add(s.mul(v, x), global(name, i, 8))
	}
	return v
}

// evenOdd evaluates the coefficients of even and of odd powers side by side.
func (s isa) evenOdd(name string, n int, x value) value {
	x2 := s.mul(x, x)
	var part [2]value
	part[(n-1)&1] = s.broadcast(global(name, n-1, 8))
	part[n&1] = s.broadcast(global(name, n-2, 8))
	for i := n - 3; i >= 0; i-- {
		part[i&1] = s.add(s.mul(part[i&1], x2), global(name, i, 8))
	}
	return s.add(s.mul(part[1], x), part[0])
}

// expParts returns e**r - 1 and the integer k in the low bits of a number, where
// e**x = 2**k * e**r.
func (s isa) expParts(x value) (rest, k value) {
	q := func(i int) Mem { return global("expQ", i, 8) }
	z := s.add(s.mul(x, numAt(nLog2e)), numAt(nMagic))
	r := s.sub(x, s.mul(s.sub(z, numAt(nMagic)), numAt(nLn2)))
	r2 := s.mul(r, r)
	lo := s.add(s.mul(r, q(1)), q(0))
	mid := s.add(s.mul(r, q(3)), q(2))
	hi := s.add(s.add(s.mul(r2, q(6)), s.mul(r, q(5))), q(4))
	p := s.add(s.mul(s.add(s.mul(hi, r2), mid), r2), lo)
	return s.mul(r, p), z
}

func (s isa) expSmall(x value) value {
	rest, k := s.expParts(x)
	return s.addq(s.add(rest, numAt(nOne)), s.shl(k, 52))
}

func (s isa) exp(x value) value {
	v := s.expSmall(x)
	v = s.choose(s.cmp(gtOQ, x, numAt(nExpMax)), numAt(nInf), v)
	v = s.choose(s.cmp(ltOQ, x, numAt(nExpMin)), numAt(nZero), v)
	return s.choose(s.cmp(unord, x, x), x, v)
}

func (s isa) expm1(x value) value {
	rest, k := s.expParts(x)
	scale := s.addq(s.shl(k, 52), numAt(nOne)) // the sum of bits
	v := s.add(s.mul(rest, scale), s.sub(scale, numAt(nOne)))
	v = s.choose(s.cmp(gtOQ, x, numAt(nExpMax)), numAt(nInf), v)
	v = s.choose(s.cmp(ltOQ, x, numAt(nExpm1Min)), numAt(nMinusOne), v)
	v = s.choose(s.cmp(eqOQ, x, numAt(nZero)), x, v)
	return s.choose(s.cmp(unord, x, x), x, v)
}

func (s isa) splitLog(x value) (k, f value) {
	u := s.addq(x, numAt(nLogBias))
	k = s.sub(s.orq(s.shr(u, 52), numAt(nTwoTo52)), numAt(nLogExp))
	return k, s.sub(s.addq(s.andq(u, numAt(nFracMask)), numAt(nSqrtHalf)), numAt(nOne))
}

func (s isa) logEdge(x, y value) value {
	y = s.choose(s.cmp(gtOQ, x, numAt(nMaxF64)), x, y)
	y = s.choose(s.cmp(eqOQ, x, numAt(nZero)), numAt(nMinusInf), y)
	// Unordered or below zero: not (x >= 0).
	return s.choose(s.cmp(nge, x, numAt(nZero)), numAt(nNaN), y)
}

func (s isa) logOf(name string, n int, x value) value {
	k, f := s.splitLog(x)
	return s.logEdge(x, s.add(s.mul(k, numAt(nLn2)), s.mul(s.evenOdd(name, n, f), f)))
}

func (s isa) log(x value) value { return s.logOf("logP", 13, x) }

func (s isa) log2(x value) value {
	k, f := s.splitLog(x)
	return s.logEdge(x, s.add(s.mul(s.mul(s.evenOdd("logP", 13, f), f), numAt(nInvLn2)), k))
}

func (s isa) log1p(x value) value {
	third := s.sub(s.broadcast(numAt(nThird)), s.mul(x, numAt(nQuarter)))
	half := s.sub(s.broadcast(numAt(nHalf)), s.mul(x, third))
	small := s.sub(x, s.mul(s.mul(x, x), half))
	v := s.log(s.add(x, numAt(nOne)))
	return s.choose(s.cmp(ltOQ, s.abs(x), numAt(nLog1pSmall)), small, v)
}

func (s isa) rsqrt(x value) value { return s.div(s.broadcast(numAt(nOne)), s.sqrt(x)) }

func (s isa) pow(x, y value) value {
	t := s.abs(x)
	p := s.exp(s.mul(y, s.logOf("logQ", 17, t)))
	p = s.choose(s.both(s.cmp(eqOQ, t, numAt(nOne)), s.cmp(ord, y, y)), numAt(nOne), p)
	whole := s.cmp(eqOQ, s.nearest(y), y)
	half := s.mul(y, numAt(nHalf))
	odd := s.both(whole, s.cmp(neUQ, s.nearest(half), half))
	p = s.choose(odd, s.xorq(p, s.signOf(x)), p)
	below := s.both(s.cmp(ltOQ, x, numAt(nZero)), s.cmp(leOQ, t, numAt(nMaxF64)))
	p = s.choose(s.without(below, whole), numAt(nNaN), p)
	p = s.choose(s.cmp(eqOQ, x, numAt(nOne)), numAt(nOne), p)
	return s.choose(s.cmp(eqOQ, y, numAt(nZero)), numAt(nOne), p)
}

// quarters writes both ways of the twin, the second after a jump, since large
// angles are rare.
func (s isa) quarters(t value, label string) (r, n value) {
	n = s.add(s.mul(t, numAt(nTwoOverPi)), numAt(nMagic))
	k := s.sub(n, numAt(nMagic))
	r = s.sub(s.sub(t, s.mul(k, numAt(nHalfPiHi))), s.mul(k, numAt(nHalfPiLo)))
	large := s.cmp(geOQ, t, numAt(nTrigLarge))
	s.skipUnless(large, label)
	w := func(i int) value { return s.broadcast(global("turnBits", i, 8)) }
	m := s.orq(s.andq(s.shr(t, 29), numAt(nManMask)), numAt(nManTop))
	e := s.subq(s.shr(t, 52), numAt(nTrigExp))
	far := s.bit(e, 6)
	sh := s.andq(e, numAt(n63))
	back := s.subq(s.broadcast(numAt(n64)), sh)
	w0, w1, w2 := s.choose(far, w(1), w(0)), s.choose(far, w(2), w(1)), s.choose(far, w(3), w(2))
	hi := s.orq(s.shlBy(w0, sh), s.shrBy(w1, back))
	lo := s.shr(s.orq(s.shlBy(w1, sh), s.shrBy(w2, back)), 32)
	turn := s.addq(s.mulLow(m, hi), s.shl(s.mulLow(m, s.shr(hi, 32)), 32))
	turn = s.addq(turn, s.shr(s.mulLow(m, lo), 32))
	q := s.shr(s.addq(turn, numAt(nTurnRound)), 62)
	f := s.mul(s.fromInt(s.subq(turn, s.shl(q, 62))), numAt(nTurnUnit))
	s.move(s.choose(large, f, r), r)
	s.move(s.choose(large, q, n), n)
	s.Label(label)
	return r, n
}

func (s isa) sinCos(r value) (sin, cos value) {
	r2 := s.mul(r, r)
	return s.mul(s.horner("sinP", 5, r2), r), s.horner("cosP", 6, r2)
}

// finite returns NaN where x is not finite, else v.
func (s isa) finite(x, v value) value {
	return s.choose(s.cmp(unord, s.sub(x, x), x), numAt(nNaN), v)
}

func (s isa) sin(x value, label string) value {
	r, n := s.quarters(s.abs(x), label)
	sin, cos := s.sinCos(r)
	v := s.choose(s.bit(n, 0), cos, sin)
	v = s.xorq(s.xorq(v, s.shl(s.shr(n, 1), 63)), s.signOf(x))
	return s.finite(x, v)
}

func (s isa) cos(x value, label string) value {
	r, n := s.quarters(s.abs(x), label)
	sin, cos := s.sinCos(r)
	v := s.choose(s.bit(n, 0), sin, cos)
	v = s.xorq(v, s.shl(s.shr(s.addq(n, numAt(nIntOne)), 1), 63))
	return s.finite(x, v)
}

func (s isa) tan(x value, label string) value {
	r, n := s.quarters(s.abs(x), label)
	sin, cos := s.sinCos(r)
	odd := s.bit(n, 0)
	v := s.div(s.choose(odd, cos, sin), s.choose(odd, sin, cos))
	v = s.xorq(s.xorq(v, s.shl(n, 63)), s.signOf(x))
	return s.finite(x, v)
}

func (s isa) atan(x value) value {
	t := s.abs(x)
	large := s.cmp(gtOQ, t, numAt(nOne))
	u := s.choose(large, s.div(s.broadcast(numAt(nOne)), t), t)
	p := s.mul(s.horner("atanP", 13, s.mul(u, u)), u)
	p = s.choose(large, s.sub(s.broadcast(numAt(nHalfPi)), p), p)
	return s.orq(p, s.signOf(x))
}

// function is an operation on f32 elements that is computed in f64, or in f32;
// where both are given, in f64 from trigLarge32 on.
type function struct {
	name   string
	f      func(s isa, x, y value, label string) value
	args   int
	single func(b batch, x vals) vals
	batch  [2]int // registers side by side with AVX2 and AVX-512
}

func unary(f func(isa, value) value) func(isa, value, value, string) value {
	return func(s isa, x, _ value, _ string) value { return f(s, x) }
}

func angle(f func(isa, value, string) value) func(isa, value, value, string) value {
	return func(s isa, x, _ value, label string) value { return f(s, x, label) }
}

var functions = []function{
	{name: "Exp", single: batch.exp, batch: [2]int{2, 4}},
	{name: "Expm1", f: unary(isa.expm1), args: 1},
	{name: "Log", single: batch.log, batch: [2]int{2, 4}},
	{name: "Log1p", f: unary(isa.log1p), args: 1},
	{name: "Log2", f: unary(isa.log2), args: 1},
	{name: "Sin", f: angle(isa.sin), args: 1, single: batch.sin, batch: [2]int{1, 4}},
	{name: "Cos", f: angle(isa.cos), args: 1, single: batch.cos, batch: [2]int{1, 4}},
	{name: "Tan", f: angle(isa.tan), args: 1},
	{name: "Atan", f: unary(isa.atan), args: 1},
	{name: "Erf", single: batch.erf, batch: [2]int{2, 8}},
	{name: "Tanh", single: batch.tanh, batch: [2]int{2, 8}},
	{name: "Sigmoid", single: batch.sigmoid, batch: [2]int{2, 4}},
	{name: "Rsqrt", f: unary(isa.rsqrt), args: 1},
	{name: "Pow", f: func(s isa, x, y value, _ string) value { return s.pow(x, y) }, args: 2},
}

// emitFunction writes a step that applies f to the accumulator. All registers
// serve the function: the accumulator waits in the strip of scratch.
func emitFunction(s isa, f function) {
	s.begin("vec" + f.name)
	switch {
	case f.single != nil && f.f != nil:
		emitEither(s, f)
		return
	case f.single != nil:
		emitSingle(s, f)
		return
	}
	s.spill(0)
	if f.args == 2 {
		s.operand(0, 4, reg.RBX)
	} else {
		s.MOVQ(rTemp, reg.RBX)
	}
	emitDoubles(s, f, func(v value) { s.VMOVUPS(v, Mem{Base: reg.RDX}) })
	s.fetch(0)
	s.next()
}

// spill stores the accumulator to the given strip of scratch, fetch loads it.
func (s isa) spill(strip int) {
	s.each(func(i int, a reg.Register) { s.VMOVUPS(a, Mem{Base: rTemp, Disp: (strip*stripRegs + i) * s.size()}) })
}

func (s isa) fetch(strip int) {
	s.each(func(i int, a reg.Register) { s.VMOVUPS(Mem{Base: rTemp, Disp: (strip*stripRegs + i) * s.size()}, a) })
}

// emitDoubles applies f to the strip at rTemp, with second operands at RBX, and
// hands every register of results to store, the place of the operand in RDX.
func emitDoubles(s isa, f function, store func(v value)) {
	s.MOVQ(rTemp, reg.RDX)
	s.MOVQ(U32(stripRegs), reg.RCX)
	s.Label("doubles")
	var part [2]reg.VecVirtual
	for i := range part {
		x, y := s.vec(), value(nil)
		s.VCVTPS2PD(Mem{Base: reg.RDX, Disp: i * s.size() / 2}, x)
		if f.args == 2 {
			y = s.vec()
			s.VCVTPS2PD(Mem{Base: reg.RBX, Disp: i * s.size() / 2}, y)
		}
		part[i] = s.narrow(f.f(s, x, y, []string{"first", "second"}[i]))
	}
	store(s.join(part))
	s.ADDQ(U8(s.size()), reg.RDX)
	if f.args == 2 {
		s.ADDQ(U8(s.size()), reg.RBX)
	}
	s.DECQ(reg.RCX)
	s.JNE(LabelRef("doubles"))
}
