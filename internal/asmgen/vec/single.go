package main

import (
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// batch writes f32 arithmetic for n registers side by side, whose operations
// hide each other's latency. Every operation writes new registers, so that
// functions read like their twins in kernel/vmath_single.go.
type batch struct {
	isa
	n    int
	park func(i int) Mem // memory that spares registers, nil where there are enough
}

// vals are the registers of a batch that hold one value, masks those that say
// which lanes are chosen.
type (
	vals  []reg.Register
	masks []Op
)

// map1 applies an instruction to every register.
func (b batch) map1(f func(i int, d reg.Register)) vals {
	v := make(vals, b.n)
	for i := range v {
		v[i] = b.vec()
		f(i, v[i])
	}
	return v
}

// arg returns what has the value of x in every register: a batch, or a number
// of package kernel, which is broadcast once for all of them.
func (b batch) arg(x any) func(i int) Op {
	var m Mem
	switch x := x.(type) {
	case vals:
		return func(i int) Op { return x[i] }
	case single:
		m = global("vecSingles", int(x), 4)
	case word:
		m = global("vecWords", int(x), 4)
	case Mem:
		m = x
	}
	d := b.vec()
	b.VBROADCASTSS(m, d)
	return func(int) Op { return d }
}

// op2 writes a three-operand instruction; the operands are vals, numbers, words
// or memory.
func (b batch) op2(f func(...Op), x, y any) vals {
	p, q := b.arg(x), b.arg(y)
	return b.map1(func(i int, d reg.Register) { f(q(i), p(i), d) })
}

func (b batch) add(x, y any) vals { return b.op2(b.VADDPS, x, y) }
func (b batch) sub(x, y any) vals { return b.op2(b.VSUBPS, x, y) }
func (b batch) mul(x, y any) vals { return b.op2(b.VMULPS, x, y) }
func (b batch) div(x, y any) vals { return b.op2(b.VDIVPS, x, y) }

// atMost and atLeast bound x, which stays NaN.
func (b batch) atMost(x vals, y single) vals  { return b.op2(b.VMINPS, y, x) }
func (b batch) atLeast(x vals, y single) vals { return b.op2(b.VMAXPS, y, x) }

func (b batch) addInt(x, y any) vals { return b.op2(b.VPADDD, x, y) }
func (b batch) subInt(x, y any) vals { return b.op2(b.VPSUBD, x, y) }

// bits writes a bitwise operation of isa.
func (b batch) bits(f func(b, a, d Op), x, y any) vals {
	return b.op2(func(o ...Op) { f(o[0], o[1], o[2]) }, x, y)
}

func (b batch) absolute(x vals) vals { return b.bits(b.and, x, wAbs) }
func (b batch) minus(x vals) vals    { return b.bits(b.or, x, wSign) }

// withSign gives v, which is not negative, the sign of x. With AVX-512 v ends.
func (b batch) withSign(v, x vals) vals {
	if !b.wide {
		return b.bits(b.or, v, b.bits(b.and, x, wSign))
	}
	sign := b.arg(wSign)
	for i, r := range v {
		b.VPTERNLOGD(U8(0xf8), sign(i), x[i], r) // r or (x and sign)
	}
	return v
}

// exponent is k<<23 for the k in the low bits of z.
func (b batch) exponent(z vals) vals {
	return b.map1(func(i int, d reg.Register) { b.VPSLLD(U8(23), z[i], d) })
}

// compare chooses the lanes where x and y compare as predicate p says.
func (b batch) compare(p uint8, x vals, y any) masks {
	q := b.arg(y)
	m := make(masks, b.n)
	for i := range m {
		if b.wide {
			m[i] = b.K()
		} else {
			m[i] = b.vec()
		}
		b.VCMPPS(U8(p), q(i), x[i], m[i])
	}
	return m
}

// pick returns x in the chosen lanes, y in the others.
func (b batch) pick(m masks, x, y any) vals {
	p, q := b.arg(x), b.arg(y)
	return b.map1(func(i int, d reg.Register) {
		if !b.wide {
			b.VBLENDVPS(m[i], p(i), q(i), d)
			return
		}
		// avo takes a masked result for one that is also read.
		b.Instruction(&ir.Instruction{Opcode: "VBLENDMPS", Operands: []Op{p(i), q(i), m[i], d},
			Inputs: []Op{p(i), q(i), m[i]}, Outputs: []Op{d}, ISA: []string{"AVX512F"}})
	})
}

// horner evaluates the n coefficients of a kernel variable, lowest first.
func (b batch) horner(name string, n int, x vals) vals {
	at := func(i int) Mem { return global(name, i, 4) }
	v := b.mul(x, at(n-1))
	for i := n - 2; i > 0; i-- {
		v = b.mul(b.add(v, at(i)), x)
	}
	return b.add(v, at(0))
}

// keep parks x until kept returns it, where registers are short.
func (b batch) keep(x vals) vals {
	if b.park == nil {
		return x
	}
	for i, r := range x {
		b.VMOVUPS(r, b.park(i))
	}
	return nil
}

func (b batch) kept(x vals) vals {
	if b.park == nil {
		return x
	}
	return b.map1(func(i int, d reg.Register) { b.VMOVUPS(b.park(i), d) })
}

// expReduce is the twin's; z is for kept.
func (b batch) expReduce(x vals) (r, m, z vals) {
	z = b.add(b.mul(x, fLog2e), fMagic)
	k := b.sub(z, fMagic)
	z = b.keep(z)
	r0 := b.sub(x, b.mul(k, fLn2Hi))
	c := b.mul(k, fLn2Lo)
	r = b.sub(r0, c)
	lost := b.sub(b.sub(r0, r), c)
	return r, b.add(b.mul(b.mul(b.horner("expTail", 5, r), r), r), lost), z
}

// scale is p * 2**k, rounded once, for the k in the low bits of z.
func (b batch) scale(p, z vals) vals {
	if b.wide {
		k := b.sub(z, fMagic)
		return b.map1(func(i int, d reg.Register) { b.VSCALEFPS(k[i], p[i], d) })
	}
	k := b.subInt(z, wMagicBits)
	h := b.map1(func(i int, d reg.Register) { b.VPSRAD(U8(1), k[i], d) })
	p = b.mul(p, b.addInt(b.exponent(h), fOne))
	return b.mul(p, b.addInt(b.exponent(b.subInt(k, h)), fOne))
}

func (b batch) exp(x vals) vals {
	r, m, z := b.expReduce(b.atLeast(b.atMost(x, fExpMax), fExpMin))
	u := b.add(r, fOne)
	p := b.add(u, b.add(b.add(b.sub(fOne, u), r), m))
	return b.scale(p, b.kept(z))
}

func (b batch) sigmoid(x vals) vals {
	r, m, z := b.expReduce(b.atLeast(b.minus(x), fExpMin))
	u := b.add(r, fOne)
	rest := b.add(b.add(b.sub(fOne, u), r), m)
	p := b.add(u, rest)
	lost := b.mul(b.add(b.sub(u, p), rest), b.sub(fOne, r))
	e := b.scale(p, z)
	d := b.add(e, fOne)
	below := b.add(b.add(b.sub(fOne, d), e), b.mul(e, lost))
	negative := b.compare(ltOQ, x, fZero)
	q := b.div(b.pick(negative, e, fOne), d)
	below = b.mul(below, b.pick(negative, b.sub(fOne, q), q))
	return b.add(q, b.mul(q, b.sub(b.pick(negative, lost, fZero), below)))
}

func (b batch) log(x vals) vals {
	least := b.compare(ltOQ, x, fLeastNormal)
	bias := b.pick(least, fLogBiasSubnormal, fLogBias)
	u := b.addInt(b.pick(least, b.mul(x, fTwo23), x), wLogBias)
	k := b.map1(func(i int, d reg.Register) { b.VPSRLD(U8(23), u[i], d) })
	k = b.add(b.map1(func(i int, d reg.Register) { b.VCVTDQ2PS(k[i], d) }), bias)
	f := b.sub(b.addInt(b.bits(b.and, u, wFracMask), wSqrtHalf), fOne)
	f2 := b.mul(f, f)
	rest := b.sub(b.mul(b.mul(b.horner("logTail", 8, f), f), f2), b.mul(f2, fHalf))
	h := b.mul(k, fLn2Hi)
	s := b.add(h, f)
	low := b.add(b.add(b.sub(h, s), f), b.mul(k, fLn2Lo))
	v := b.add(s, b.add(low, rest))
	v = b.pick(b.compare(gtOQ, x, fMax), x, v)
	v = b.pick(b.compare(eqOQ, x, fZero), wMinusInf, v)
	return b.pick(b.compare(nge, x, fZero), wNaN, v)
}

// emitSingle writes a step that applies a function of f32 to the accumulator: in
// the registers beside it with AVX-512, and with AVX2 in all of them while the
// accumulator waits in the strip of scratch.
func emitSingle(s isa, f function) {
	if s.wide {
		n := f.batch[1]
		b := batch{isa: s, n: n}
		if f.park {
			b.park = func(i int) Mem { return Mem{Base: rTemp, Disp: i * s.size()} }
		}
		for i := 0; i < stripRegs; i += n {
			x := make(vals, n)
			for j := range x {
				x[j] = s.acc(i + j)
			}
			for j, v := range f.single(b, x) {
				s.VMOVAPS(v, s.acc(i+j))
			}
		}
		s.nextKeeping()
		return
	}
	n := f.batch[0]
	s.each(func(i int, a reg.Register) { s.VMOVUPS(a, Mem{Base: rTemp, Disp: i * s.size()}) })
	s.MOVQ(rTemp, reg.RDX)
	s.MOVQ(U32(uint32(stripRegs/n)), reg.RCX)
	s.Label("loop")
	b := batch{isa: s, n: n}
	x := b.map1(func(i int, d reg.Register) { s.VMOVUPS(Mem{Base: reg.RDX, Disp: i * s.size()}, d) })
	for i, v := range f.single(b, x) {
		s.VMOVUPS(v, Mem{Base: reg.RDX, Disp: i * s.size()})
	}
	s.ADDQ(U8(uint8(n*s.size())), reg.RDX)
	s.DECQ(reg.RCX)
	s.JNE(LabelRef("loop"))
	s.each(func(i int, a reg.Register) { s.VMOVUPS(Mem{Base: rTemp, Disp: i * s.size()}, a) })
	s.next()
}
