package main

import (
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// batch writes f32 arithmetic for n registers side by side, whose operations
// hide each other's latency. Every operation writes new registers, so that
// functions read like their twins in kernel/internal/vmath/single.go.
type batch struct {
	isa
	n int
	// With park values wait in the strips of scratch, where registers are short.
	park bool
}

// later is an operand whose instruction is written where it is used, one register
// after the other: it takes a register where vals take a batch of them.
type later = func(i int) Op

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

// arg returns the operand that has the value of x in every register: a batch,
// or a number of package vmath, which is broadcast once for all of them.
func (b batch) arg(x any) func(i int) Op {
	var m Mem
	switch x := x.(type) {
	case later:
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

// lazy is op2 at the place of use.
func (b batch) lazy(f func(...Op), x, y any) later {
	p, q := b.arg(x), b.arg(y)
	return func(i int) Op {
		d := b.vec()
		f(q(i), p(i), d)
		return d
	}
}

// all writes the parts left for later.
func (b batch) all(x later) vals {
	v := make(vals, b.n)
	for i := range v {
		v[i] = x(i).(reg.Register)
	}
	return v
}

// keep stores x to a strip of scratch if values wait there.
func (b batch) keep(strip int, x vals) later {
	if !b.park {
		return b.arg(x)
	}
	at := func(i int) Op { return Mem{Base: rTemp, Disp: (strip*stripRegs + i) * b.size()} }
	for i, r := range x {
		b.VMOVUPS(r, at(i))
	}
	return at
}

func (b batch) add(x, y any) vals { return b.op2(b.VADDPS, x, y) }
func (b batch) sub(x, y any) vals { return b.op2(b.VSUBPS, x, y) }
func (b batch) mul(x, y any) vals { return b.op2(b.VMULPS, x, y) }

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

// withSign gives v, which is not negative, the sign of x. With AVX-512 v ends.
func (b batch) withSign(v vals, x later) vals {
	if !b.wide {
		return b.bits(b.or, v, b.all(b.lazy(b.VANDPS, x, wSign)))
	}
	sign := b.arg(wSign)
	for i, r := range v {
		b.VPTERNLOGD(U8(0xf8), x(i), sign(i), r) // r or (x and sign)
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
		m[i] = b.mask()
		b.VCMPPS(U8(p), q(i), x[i], m[i])
	}
	return m
}

// pick returns x in the chosen lanes, y in the others.
func (b batch) pick(m masks, x, y any) vals { return b.all(b.either(m, x, y)) }

// either is pick at the place of use.
func (b batch) either(m masks, x, y any) later {
	p, q := b.arg(x), b.arg(y)
	return func(i int) Op { return b.blend(m[i], p(i), q(i)) }
}

// blend returns x in the lanes that m chooses, y in the others.
func (b batch) blend(m, x, y Op) Op {
	d := b.vec()
	if !b.wide {
		b.VBLENDVPS(m, x, y, d)
		return d
	}
	// avo takes a masked result for one that is also read.
	b.Instruction(&ir.Instruction{Opcode: "VBLENDMPS", Operands: []Op{x, y, m, d},
		Inputs: []Op{x, y, m}, Outputs: []Op{d}, ISA: []string{"AVX512F"}})
	return d
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

// expParts is the twin's, with k as a number, too. x ends.
func (b batch) expParts(x vals) (head, rest, z, k vals) {
	z = b.add(b.mul(x, fExpSteps), fMagic)
	k = b.sub(z, fMagic)
	r := b.sub(b.lessProduct(x, k, fExpStep), b.lazy(b.VMULPS, k, fExpStepLo))
	q := b.mul(b.add(b.mul(r, fExpCubic), fExpSquare), b.lazy(b.VMULPS, r, r))
	q = b.add(r, q)
	look := b.lookup("expTable", z)
	head = b.all(look(0))
	return head, b.add(b.mul(q, head), look(1)), z, k
}

// scaler returns a function that multiplies by 2**(k>>4), rounding once, for
// the k in the low bits of z.
func (b batch) scaler(z, k vals) func(p vals) vals {
	if b.wide {
		k = b.mul(k, fSixteenth)
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
	head, rest, z, k := b.expParts(b.atLeast(b.atMost(x, fExpMax), fExpMin))
	return b.scaler(z, k)(b.add(head, rest))
}

func (b batch) sigmoid(x vals) vals {
	d := b.add(b.exp(b.bits(b.xor, x, wSign)), fOne)
	one := b.arg(fOne)
	return b.map1(func(i int, q reg.Register) { b.VDIVPS(d[i], one(i), q) })
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

// singleInPlace applies f to the accumulator using the other registers.
func (s isa) singleInPlace(f function) {
	n := f.batch[1]
	for i := 0; i < stripRegs; i += n {
		x := make(vals, n)
		for j := range x {
			x[j] = s.acc(i + j)
		}
		for j, v := range f.single(batch{isa: s, n: n, park: n == stripRegs}, x) {
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
