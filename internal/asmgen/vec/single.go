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
	n int
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
	case func(int) Op:
		return x
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
	p := b.either(m, x, y)
	v := make(vals, b.n)
	for i := range v {
		v[i] = p(i).(reg.Register)
	}
	return v
}

// either is pick as an operand that each use writes at once, which takes fewer
// registers.
func (b batch) either(m masks, x, y any) func(i int) Op {
	p, q := b.arg(x), b.arg(y)
	return func(i int) Op {
		d := b.vec()
		if !b.wide {
			b.VBLENDVPS(m[i], p(i), q(i), d)
			return d
		}
		// avo takes a masked result for one that is also read.
		b.Instruction(&ir.Instruction{Opcode: "VBLENDMPS", Operands: []Op{p(i), q(i), m[i], d},
			Inputs: []Op{p(i), q(i), m[i]}, Outputs: []Op{d}, ISA: []string{"AVX512F"}})
		return d
	}
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

// lessProduct is d - x*y where the product is exact, so that a fused one is the
// same. d ends.
func (b batch) lessProduct(d, x vals, y single) vals {
	q := b.arg(y)
	for i, r := range d {
		b.VFNMADD231PS(q(i), x[i], r)
	}
	return d
}

// expParts is the twin's. x ends.
func (b batch) expParts(x vals) (head, rest, z vals) {
	z = b.add(b.mul(x, fExpSteps), fMagic)
	k := b.sub(z, fMagic)
	c := b.mul(k, fExpStepLo)
	r := b.sub(b.lessProduct(x, k, fExpStep), c)
	q := b.mul(b.add(b.mul(r, fExpCubic), fExpSquare), b.mul(r, r))
	q = b.add(r, q)
	look := b.lookup("expTable", z)
	head = look(0)
	return head, b.add(b.mul(q, head), look(1)), z
}

// scaler returns what multiplies by 2**(k>>4), rounding once, for the k in the
// low bits of z.
func (b batch) scaler(z vals) func(p vals) vals {
	if b.wide {
		k := b.mul(b.sub(z, fMagic), fSixteenth)
		return func(p vals) vals {
			return b.map1(func(i int, d reg.Register) { b.VSCALEFPS(k[i], p[i], d) })
		}
	}
	n := b.subInt(z, wMagicBits)
	n = b.map1(func(i int, d reg.Register) { b.VPSRAD(U8(4), n[i], d) })
	h := b.map1(func(i int, d reg.Register) { b.VPSRAD(U8(1), n[i], d) })
	n = b.addInt(b.exponent(b.subInt(n, h)), fOne)
	h = b.addInt(b.exponent(h), fOne)
	return func(p vals) vals { return b.mul(b.mul(p, h), n) }
}

func (b batch) exp(x vals) vals {
	head, rest, z := b.expParts(b.atLeast(b.atMost(x, fExpMax), fExpMin))
	return b.scaler(z)(b.add(head, rest))
}

func (b batch) sigmoid(x vals) vals {
	head, rest, z := b.expParts(b.atLeast(b.minus(x), fExpMin))
	scale := b.scaler(z)
	p := b.add(head, rest)
	lost := b.add(b.sub(head, p), rest)
	e := scale(p)
	lost = scale(lost)
	d := b.add(e, fOne)
	q := b.div(e, d)
	below := b.add(b.add(b.sub(fOne, d), e), lost)
	lost = b.sub(lost, b.mul(below, q))
	q = b.add(q, b.mul(lost, b.sub(fOne, q)))
	return b.pick(b.negative(x), q, b.sub(fOne, q))
}

// negative chooses the lanes with a sign.
func (b batch) negative(x vals) masks {
	m := make(masks, b.n)
	for i := range m {
		m[i] = x[i]
		if b.wide {
			m[i] = b.K()
			b.VPMOVD2M(x[i], m[i])
		}
	}
	return m
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

// emitSingle writes a step that applies a function of f32 to the accumulator.
func emitSingle(s isa, f function) {
	if s.wide {
		s.singleInPlace(f)
		s.nextKeeping()
		return
	}
	s.spill(0)
	s.singleStrip(f, 0)
	s.fetch(0)
	s.next()
}

// singleInPlace applies f to the accumulator in the registers beside it.
func (s isa) singleInPlace(f function) {
	n := f.batch[1]
	for i := 0; i < stripRegs; i += n {
		x := make(vals, n)
		for j := range x {
			x[j] = s.acc(i + j)
		}
		for j, v := range f.single(batch{isa: s, n: n}, x) {
			s.VMOVAPS(v, s.acc(i+j))
		}
	}
}

// singleStrip applies f to the strip at rTemp, in all registers, and stores to
// the given strip there.
func (s isa) singleStrip(f function, to int) {
	n := f.batch[0]
	s.MOVQ(rTemp, reg.RDX)
	s.MOVQ(U32(uint32(stripRegs/n)), reg.RCX)
	s.Label("singles")
	b := batch{isa: s, n: n}
	x := b.map1(func(i int, d reg.Register) { s.VMOVUPS(Mem{Base: reg.RDX, Disp: i * s.size()}, d) })
	for i, v := range f.single(b, x) {
		s.VMOVUPS(v, Mem{Base: reg.RDX, Disp: (to*stripRegs + i) * s.size()})
	}
	s.ADDQ(U8(uint8(n*s.size())), reg.RDX)
	s.DECQ(reg.RCX)
	s.JNE(LabelRef("singles"))
}
