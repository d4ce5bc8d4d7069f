package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

func emitRNN(c *build.Context) {
	for _, s := range []isa{{simd.AVX512(c)}, {simd.AVX2(c)}} {
		emitDots(s)
		table := cellTable(s)
		emitLSTM(s, table)
		emitLSTMKept(s, table)
		emitLSTMBack(s, table)
		emitGRU(s, table)
	}
}

// Constants of the cells, after those of simd.Exp2Fit.
const (
	kLog2e = len(simd.Exp2Fit) + iota
	kOne
	kTwo
	kMinusTwo
	kSigmoidLeast // which exp takes for less, too
	kTanhLeast
	kSign
	cellConstants
)

// cellTable declares the constants, each a whole register.
func cellTable(s isa) Mem {
	m := s.StaticGlobal("cellTable" + s.Suffix())
	s.DataAttributes(attr.RODATA | attr.NOPTR)
	all := append(simd.Exp2Fit[:], math.Log2E, 1, 2, -2, -87, -40, float32(math.Copysign(0, -1)))
	for i, v := range all {
		for l := range s.Lanes() {
			s.AddDatum(i*s.Size()+4*l, U32(math.Float32bits(v)))
		}
	}
	return m
}

// cell writes the arithmetic of a cell; a value is a register of its own.
type cell struct {
	isa
	table Mem
	held  [cellConstants]reg.VecVirtual // AVX-512 has room for all
}

func newCell(s isa, table Mem) *cell {
	c := &cell{isa: s, table: table}
	if s.Wide() {
		for i := range c.held {
			c.held[i] = c.vec()
			c.VMOVUPS(table.Offset(i*s.Size()), c.held[i])
		}
	}
	return c
}

func (c *cell) vec() reg.VecVirtual {
	if c.Wide() {
		return c.ZMM()
	}
	return c.YMM()
}

// k is constant i, in a register or in memory.
func (c *cell) k(i int) Op {
	if c.Wide() {
		return c.held[i]
	}
	return c.table.Offset(i * c.Size())
}

// three writes an instruction with a result of its own.
func (c *cell) three(f func(...Op), b Op, a reg.VecVirtual) reg.VecVirtual {
	d := c.vec()
	f(b, a, d)
	return d
}

func (c *cell) mul(a reg.VecVirtual, b Op) reg.VecVirtual { return c.three(c.VMULPS, b, a) }
func (c *cell) add(a reg.VecVirtual, b Op) reg.VecVirtual { return c.three(c.VADDPS, b, a) }
func (c *cell) or(a reg.VecVirtual, b Op) reg.VecVirtual  { return c.three(c.VORPS, b, a) }
func (c *cell) div(a, b reg.VecVirtual) reg.VecVirtual    { return c.three(c.VDIVPS, b, a) }

// atLeast returns the maximum of x and a constant, NaN for NaN.
func (c *cell) atLeast(x reg.VecVirtual, i int) reg.VecVirtual {
	d := c.vec()
	c.VMOVUPS(c.k(i), d)
	c.VMAXPS(x, d, d)
	return d
}

// terms returns z and s with e^t = s·(1+z), s a power of two; t is no less than -87.
func (c *cell) terms(t reg.VecVirtual) (z, s reg.VecVirtual) {
	n := c.mul(t, c.k(kLog2e))
	if c.Wide() {
		c.VRNDSCALEPS(U8(8), n, n)
	} else {
		c.VROUNDPS(U8(8), n, n)
	}
	r := c.vec()
	c.VMOVAPS(t, r)
	c.VFMSUB132PS(c.k(kLog2e), n, r) // r·log2(e) - n
	p := c.vec()
	last := len(simd.Exp2Fit) - 1
	c.VMOVUPS(c.k(last), p)
	for i := last - 1; i >= 0; i-- {
		c.VFMADD213PS(c.k(i), r, p)
	}
	c.VMULPS(r, p, p)
	if c.Wide() {
		s = c.vec()
		c.VSCALEFPS(n, c.held[kOne], s)
		return p, s
	}
	c.VCVTPS2DQ(n, n)
	c.VPSLLD(U8(23), n, n)
	c.VPADDD(c.k(kOne), n, n)
	return p, n
}

// unlessLess returns v, and 0 where t is less than a constant: a closed gate lets
// nothing of a huge state through, and NaN of an infinite one.
func (c *cell) unlessLess(v, t reg.VecVirtual, i int) reg.VecVirtual {
	const notLess = 0x15
	if c.Wide() {
		m := c.K()
		c.VCMPPS(U8(notLess), c.held[i], t, m)
		d := c.vec()
		c.VMOVAPS_Z(v, m, d)
		return d
	}
	m := c.vec()
	c.VCMPPS(U8(notLess), c.k(i), t, m)
	return c.three(c.VANDPS, m, v)
}

// sigmoid returns the numerator and the denominator of 1/(1+e^-x), which is
// e^x/(1+e^x) where x is below zero, so that nothing overflows.
func (c *cell) sigmoid(x reg.VecVirtual) (num, den reg.VecVirtual) {
	t := c.or(x, c.k(kSign))
	z, s := c.terms(c.atLeast(t, kSigmoidLeast))
	e := c.vec()
	c.VMOVAPS(z, e)
	c.VFMADD213PS(s, s, e) // s·z + s
	e = c.unlessLess(e, t, kSigmoidLeast)
	den = c.add(e, c.k(kOne))
	num = c.vec()
	if c.Wide() {
		m := c.K()
		c.VPMOVD2M(x, m)
		c.VBLENDMPS(e, c.held[kOne], m, num)
		return num, den
	}
	one := c.vec()
	c.VMOVUPS(c.k(kOne), one)
	c.VBLENDVPS(x, e, one, num)
	return num, den
}

// tanh returns the numerator and the denominator of (1-e^-2|x|)/(1+e^-2|x|) with
// the sign of x. The difference from one is taken before it is rounded: small x
// keep their relative precision.
func (c *cell) tanh(x reg.VecVirtual) (num, den reg.VecVirtual) {
	t := c.or(c.mul(x, c.k(kTwo)), c.k(kSign))
	z, s := c.terms(c.atLeast(t, kTanhLeast))
	minus := c.vec() // e^-2|x| - 1
	c.VMOVAPS(s, minus)
	c.VSUBPS(c.k(kOne), minus, minus)
	c.VFMADD231PS(z, s, minus)
	den = c.add(minus, c.k(kTwo))
	sign := c.three(c.VANDPS, c.k(kSign), x)
	bit := c.vec()
	c.VMOVUPS(c.k(kSign), bit)
	num = c.vec()
	c.VANDNPS(minus, bit, num)
	c.VORPS(sign, num, num)
	return num, den
}

// each runs body for all of n elements, the last with a mask; pointers move on.
func (c *cell) each(n reg.GPVirtual, body func(m *simd.Mask), pointers ...reg.GPVirtual) {
	c.Wholes("whole", "rest", n, c.Lanes(), func() {
		body(nil)
		for _, p := range pointers {
			c.ADDQ(U8(c.Size()), p)
		}
	})
	c.Masked("done", n, reg.K1, 15, body)
	c.End()
}

func (c *cell) get(base, index reg.Register, m *simd.Mask) reg.VecVirtual {
	at := simd.At(base, 0)
	if index != nil {
		at = simd.Indexed(base, index, 0)
	}
	v := c.vec()
	c.LoadLanes(at, v, m)
	return v
}

func emitLSTM(s isa, table Mem) {
	s.Begin("lstmCell", "func(n int, x *float32, gate int, h, c, y *float32)",
		"advances the n elements of a state. x has the sums of the gates i, f, g\nand o, gate floats apart; h and y are set to the new output, c to the new cell.")
	n, x, gate := s.Arg("n"), s.Arg("x"), s.Bytes("gate")
	h, cc, y := s.Arg("h"), s.Arg("c"), s.Arg("y")
	xg := s.GP64() // of gate g
	s.LEAQ(Mem{Base: x, Index: gate, Scale: 2}, xg)
	c := newCell(s, table)
	c.each(n, func(m *simd.Mask) {
		c.lstm(x, xg, gate, cc, m, lstmStores{h: []reg.GPVirtual{h, y}, next: cc})
	}, x, xg, h, cc, y)
}

// lstmStores says where a cell's results go.
type lstmStores struct {
	h    []reg.GPVirtual
	next reg.GPVirtual
	kept bool // the gates take the places of their sums
}

// lstm advances the elements of a state by the sums of the gates.
func (c *cell) lstm(x, xg, gate, state reg.GPVirtual, m *simd.Mask, to lstmStores) {
	keep := func(num, den reg.VecVirtual, base, index reg.Register) {
		if !to.kept {
			return
		}
		at := simd.At(base, 0)
		if index != nil {
			at = simd.Indexed(base, index, 0)
		}
		c.StoreLanes(c.div(num, den), at, m)
	}
	iNum, iDen := c.sigmoid(c.get(x, nil, m))
	keep(iNum, iDen, x, nil)
	gNum, gDen := c.tanh(c.get(xg, nil, m))
	keep(gNum, gDen, xg, nil)
	num, den := c.mul(iNum, gNum), c.mul(iDen, gDen)
	fNum, fDen := c.sigmoid(c.get(x, gate, m))
	keep(fNum, fDen, x, gate)
	// (f·c·den + num·fDen) / (fDen·den)
	stays := c.mul(c.mul(fNum, c.get(state, nil, m)), den)
	c.VFMADD231PS(fDen, num, stays)
	next := c.div(stays, c.mul(fDen, den))
	c.StoreLanes(next, simd.At(to.next, 0), m)
	tNum, tDen := c.tanh(next)
	oNum, oDen := c.sigmoid(c.get(xg, gate, m))
	keep(oNum, oDen, xg, gate)
	out := c.div(c.mul(oNum, tNum), c.mul(oDen, tDen))
	for _, p := range to.h {
		c.StoreLanes(out, simd.At(p, 0), m)
	}
}

func emitLSTMKept(s isa, table Mem) {
	s.Begin("lstmCellKept", "func(n int, x *float32, gate int, c, next, y *float32)",
		"advances the n elements of the state c to next. The gates i, f, g and o, gate\nfloats apart, take the places of their sums x; y is set to the new output.")
	n, x, gate := s.Arg("n"), s.Arg("x"), s.Bytes("gate")
	cc, next, y := s.Arg("c"), s.Arg("next"), s.Arg("y")
	xg := s.GP64() // of gate g
	s.LEAQ(Mem{Base: x, Index: gate, Scale: 2}, xg)
	c := newCell(s, table)
	c.each(n, func(m *simd.Mask) {
		c.lstm(x, xg, gate, cc, m, lstmStores{h: []reg.GPVirtual{y}, next: next, kept: true})
	}, x, xg, cc, next, y)
}

func emitLSTMBack(s isa, table Mem) {
	s.Begin("lstmCellBack", "func(n int, x *float32, gate int, prev, c, h, dc, sums *float32)",
		"goes back through a step with the gates x, gate floats apart, of the n elements of\na state that was prev and became c. h has the gradient of the output, dc that of c and then\nthat of prev; sums is set to those of the sums of the gates, as far apart.")
	n, x, gate := s.Arg("n"), s.Arg("x"), s.Bytes("gate")
	prev, cc, h, dc, sums := s.Arg("prev"), s.Arg("c"), s.Arg("h"), s.Arg("dc"), s.Arg("sums")
	xg, sg := s.GP64(), s.GP64()
	s.LEAQ(Mem{Base: x, Index: gate, Scale: 2}, xg)
	s.LEAQ(Mem{Base: sums, Index: gate, Scale: 2}, sg)
	c := newCell(s, table)
	c.each(n, func(m *simd.Mask) {
		tNum, tDen := c.tanh(c.get(cc, nil, m))
		t := c.div(tNum, tDen)
		dh, out := c.get(h, nil, m), c.get(xg, gate, m)
		c.StoreLanes(c.mul(c.mul(dh, t), c.slope(out)), simd.Indexed(sg, gate, 0), m)
		back := c.get(dc, nil, m)
		c.VFMADD231PS(c.mul(dh, out), c.fromOne(t, t), back)
		in, cand := c.get(x, nil, m), c.get(xg, nil, m)
		c.StoreLanes(c.mul(c.mul(back, cand), c.slope(in)), simd.At(sums, 0), m)
		c.StoreLanes(c.mul(c.mul(back, in), c.fromOne(cand, cand)), simd.At(sg, 0), m)
		forget := c.get(x, gate, m)
		c.StoreLanes(c.mul(c.mul(back, c.get(prev, nil, m)), c.slope(forget)), simd.Indexed(sums, gate, 0), m)
		c.StoreLanes(c.mul(back, forget), simd.At(dc, 0), m)
	}, x, xg, prev, cc, h, dc, sums, sg)
}

// fromOne returns 1 - a·b.
func (c *cell) fromOne(a, b reg.VecVirtual) reg.VecVirtual {
	d := c.vec()
	c.VMOVUPS(c.k(kOne), d)
	c.VFNMADD231PS(a, b, d)
	return d
}

// slope returns the derivative of a sigmoid whose value is y.
func (c *cell) slope(y reg.VecVirtual) reg.VecVirtual {
	d := c.vec()
	c.VMOVUPS(c.k(kOne), d)
	c.VSUBPS(y, d, d)
	return c.mul(d, y)
}

func emitGRU(s isa, table Mem) {
	s.Begin("gruCell", "func(n int, x, s *float32, gate int, h, y *float32)",
		"advances the n elements of a state. x and s have what comes of the\ninput and of the state for the gates r, z and n, gate floats apart; h and y are\nset to the new state.")
	n, x, st, gate := s.Arg("n"), s.Arg("x"), s.Arg("s"), s.Bytes("gate")
	h, y := s.Arg("h"), s.Arg("y")
	xn, sn := s.GP64(), s.GP64()
	s.LEAQ(Mem{Base: x, Index: gate, Scale: 2}, xn)
	s.LEAQ(Mem{Base: st, Index: gate, Scale: 2}, sn)
	c := newCell(s, table)
	c.each(n, func(m *simd.Mask) {
		rNum, rDen := c.sigmoid(c.add(c.get(x, nil, m), c.get(st, nil, m)))
		reset := c.div(rNum, rDen)
		cand := c.get(xn, nil, m)
		c.VFMADD231PS(c.get(sn, nil, m), reset, cand)
		tNum, tDen := c.tanh(cand)
		zNum, zDen := c.sigmoid(c.add(c.get(x, gate, m), c.get(st, gate, m)))
		// (t·zDen + z·(h·tDen - t)) / (tDen·zDen)
		diff := c.get(h, nil, m)
		c.VFMSUB213PS(tNum, tDen, diff)
		sum := c.mul(tNum, zDen)
		c.VFMADD231PS(diff, zNum, sum)
		out := c.div(sum, c.mul(tDen, zDen))
		c.StoreLanes(out, simd.At(h, 0), m)
		c.StoreLanes(out, simd.At(y, 0), m)
	}, x, xn, st, sn, h, y)
}
