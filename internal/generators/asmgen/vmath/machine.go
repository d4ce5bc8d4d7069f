package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// step is a step of the strip machine: code that changes the accumulator, with
// up to two operands in memory.
type step struct {
	name string
	emit func(s isa)
}

// emitMachine writes the machine that runs elementwise programs: threaded code
// over strips of the arrays. One value stays in registers, the accumulator; a
// step combines it with operands in memory and jumps to the next step, the last
// one to the first step of the next strip. The steps are separate symbols without
// frames, so that every one of them returns to the machine's caller.
func emitMachine(s isa) {
	s.Function("vecRun" + s.name())
	s.Attributes(attr.NOSPLIT)
	s.Pragma("noescape")
	s.Doc("vecRun" + s.name() + " runs the steps at code for the elements [lo, hi), whole strips, with two strips of scratch at temp.")
	s.SignatureExpr("func(code *uint64, lo, hi int, temp *float32)")
	s.Load(s.Param("code"), rHead)
	s.Load(s.Param("lo"), rAt)
	s.Load(s.Param("hi"), rEnd)
	s.Load(s.Param("temp"), rTemp)
	s.MOVQ(rHead, rCode)
	s.jump()

	s.Function("vecApply" + s.name())
	s.Attributes(attr.NOSPLIT)
	s.Pragma("noescape")
	s.Doc("vecApply"+s.name()+" runs three steps, of which the first reads src and the last but the end writes dst,",
		"for n elements, whole strips. The operands may be on the stack: no address outlives the call.")
	s.SignatureExpr("func(code *uint64, dst, src *float32, n int, temp *float32)")
	s.Load(s.Param("code"), rHead)
	s.Load(s.Param("dst"), reg.RAX)
	s.MOVQ(reg.RAX, Mem{Base: rHead, Disp: 2*stepBytes + 8})
	s.Load(s.Param("src"), reg.RAX)
	s.MOVQ(reg.RAX, Mem{Base: rHead, Disp: 8})
	s.XORQ(rAt, rAt)
	s.Load(s.Param("n"), rEnd)
	s.Load(s.Param("temp"), rTemp)
	s.MOVQ(rHead, rCode)
	s.jump()

	all := steps()
	s.Function("vecTable" + s.name())
	s.Attributes(attr.NOSPLIT)
	s.Pragma("noescape")
	s.Doc("vecTable" + s.name() + " stores the addresses of the steps in the order of the vec constants.")
	s.SignatureExpr("func(t *uint64)")
	s.Load(s.Param("t"), reg.RBX)
	for i, st := range all {
		s.LEAQ(NewDataAddr(Symbol{Name: "·vec" + st.name + s.name(), Static: true}, 0), reg.RAX)
		s.MOVQ(reg.RAX, Mem{Base: reg.RBX, Disp: 8 * i})
	}
	s.RET()
	for _, st := range all {
		st.emit(s)
	}
}

// steps lists all steps; kernel/internal/vmath/vec_const.go has their numbers in this order.
func steps() []step {
	var all []step
	add := func(name string, body func(s isa)) {
		all = append(all, step{name, func(s isa) {
			s.begin("vec" + name)
			body(s)
			s.next()
		}})
	}
	all = append(all, step{"End", emitEnd})
	memorySteps(add)
	arithmeticSteps(add)
	compareSteps(add)
	integerSteps(add)
	for _, f := range functions {
		all = append(all, step{f.name, func(s isa) { emitFunction(s, f) }})
	}
	return all
}

// emitEnd goes on with the next strip.
func emitEnd(s isa) {
	s.begin("vecEnd")
	s.ADDQ(U32(s.strip()), rAt)
	s.CMPQ(rAt, rEnd)
	s.JGE(LabelRef("done"))
	s.MOVQ(rHead, rCode)
	s.jump()
	s.Label("done")
	s.SFENCE()
	s.VZEROUPPER()
	s.RET()
}

// with returns the body of a step that combines every register of the
// accumulator with an operand.
func with(f func(s isa, m Mem, a reg.Register, i int)) func(s isa) {
	return func(s isa) {
		m := s.operand(0, 4, reg.RBX)
		s.each(func(i int, a reg.Register) { f(s, m.Offset(i*s.size()), a, i) })
	}
}

// from is with for instructions that do not take memory there: the operand is in a
// register.
func from(f func(s isa, m, a reg.Register)) func(s isa) {
	return with(func(s isa, m Mem, a reg.Register, i int) {
		s.VMOVUPS(m, s.tmp(i))
		f(s, s.tmp(i), a)
	})
}

// over returns the body of a step that changes the accumulator alone.
func over(f func(s isa, a reg.Register, i int)) func(s isa) {
	return func(s isa) { s.each(func(i int, a reg.Register) { f(s, a, i) }) }
}

func arithmeticSteps(add func(string, func(isa))) {
	add("Add", with(func(s isa, m Mem, a reg.Register, _ int) { s.VADDPS(m, a, a) }))
	add("Sub", with(func(s isa, m Mem, a reg.Register, _ int) { s.VSUBPS(m, a, a) }))
	add("SubFrom", from(func(s isa, m, a reg.Register) { s.VSUBPS(a, m, a) }))
	add("Mul", with(func(s isa, m Mem, a reg.Register, _ int) { s.VMULPS(m, a, a) }))
	add("Div", with(func(s isa, m Mem, a reg.Register, _ int) { s.VDIVPS(m, a, a) }))
	add("DivInto", from(func(s isa, m, a reg.Register) { s.VDIVPS(a, m, a) }))
	add("Min", extreme(func(s isa) func(...Op) { return s.VMINPS }, true))
	add("Max", extreme(func(s isa) func(...Op) { return s.VMAXPS }, false))
	add("FMA", fused(func(s isa, m1, m2 Mem, a, t reg.Register) {
		s.VMOVUPS(m1, t)
		s.VFMADD213PS(m2, t, a)
	}))
	add("FMAInto", fused(func(s isa, m1, m2 Mem, a, t reg.Register) {
		s.VMOVUPS(m1, t)
		s.VFMADD231PS(m2, t, a)
	}))
	add("Select", fused(func(s isa, m1, m2 Mem, a, t reg.Register) {
		s.VMOVUPS(m2, t)
		if s.wide {
			s.VPMOVD2M(a, reg.K1)
			s.VMOVUPS(m1, reg.K1, t)
			s.VMOVAPS(t, a)
			return
		}
		s.VBLENDVPS(a, m1, t, a)
	}))
	add("Neg", constant(wSign, func(s isa, c, a reg.Register, _ int) { s.xor(c, a, a) }))
	add("Abs", constant(wAbs, func(s isa, c, a reg.Register, _ int) { s.and(c, a, a) }))
	add("Sqrt", over(func(s isa, a reg.Register, _ int) { s.VSQRTPS(a, a) }))
	add("Reciprocal", constant(wOne, func(s isa, c, a reg.Register, _ int) { s.VDIVPS(a, c, a) }))
	add("Sign", emitSign)
	for _, r := range []struct {
		name string
		mode uint8
	}{{"Round", 8}, {"Floor", 9}, {"Ceil", 10}, {"Trunc", 11}} {
		add(r.name, over(func(s isa, a reg.Register, _ int) {
			if s.wide {
				s.VRNDSCALEPS(U8(r.mode), a, a)
			} else {
				s.VROUNDPS(U8(r.mode), a, a)
			}
		}))
	}
}

// constant returns the body of a step with a constant in a register beyond the
// accumulator's.
func constant(c word, f func(s isa, c, a reg.Register, i int)) func(isa) {
	return func(s isa) {
		s.fill32(c, s.tmp(7))
		s.each(func(i int, a reg.Register) { f(s, s.tmp(7), a, i) })
	}
}

// fused returns the body of a step with two operands.
func fused(f func(s isa, m1, m2 Mem, a, t reg.Register)) func(isa) {
	return func(s isa) {
		m1, m2 := s.operand(0, 4, reg.RBX), s.operand(1, 4, reg.RDX)
		s.each(func(i int, a reg.Register) {
			f(s, m1.Offset(i*s.size()), m2.Offset(i*s.size()), a, s.tmp(i))
		})
	}
}

// extreme returns the body of min or max. The instruction gives its second source
// when an operand is NaN or both are zeros, so it runs both ways round. For min
// the union of the bits is NaN when one is, and -0 when one is. For max, union
// less difference is the same for NaN, and -0 - -0 = +0 for zeros of both signs.
func extreme(f func(isa) func(...Op), least bool) func(isa) {
	return with(func(s isa, m Mem, a reg.Register, i int) {
		t, u := s.tmp(i&3), s.tmp(4+i&3)
		s.VMOVUPS(m, t)
		f(s)(a, t, u)
		f(s)(t, a, t)
		if least {
			s.or(t, u, a)
			return
		}
		s.or(t, u, a)
		s.xor(t, u, u)
		s.VSUBPS(u, a, a)
	})
}

// emitSign takes 1 where the value is above zero, less 1 where it is below.
func emitSign(s isa) {
	zero, one := s.tmp(7), s.tmp(6)
	s.fill32(wOne, one)
	s.xor(zero, zero, zero)
	s.each(func(i int, a reg.Register) {
		t, u := s.tmp(i%3), s.tmp(3+i%3)
		s.cmp32(gtOQ, zero, a, t)
		s.cmp32(ltOQ, zero, a, u)
		s.and(one, t, t)
		s.and(one, u, u)
		s.VSUBPS(u, t, a)
	})
}

func compareSteps(add func(string, func(isa))) {
	for _, c := range []struct {
		name string
		p    uint8
	}{{"Eq", eqOQ}, {"Ne", neUQ}, {"Lt", ltOQ}, {"Le", leOQ}, {"Gt", gtOQ}, {"Ge", geOQ}} {
		add(c.name, with(func(s isa, m Mem, a reg.Register, _ int) { s.cmp32(c.p, m, a, a) }))
	}
	add("IsNaN", over(func(s isa, a reg.Register, _ int) { s.cmp32(unord, a, a, a) }))
	add("And", with(func(s isa, m Mem, a reg.Register, _ int) { s.and(m, a, a) }))
	add("Or", with(func(s isa, m Mem, a reg.Register, _ int) { s.or(m, a, a) }))
	add("Xor", with(func(s isa, m Mem, a reg.Register, _ int) { s.xor(m, a, a) }))
}
