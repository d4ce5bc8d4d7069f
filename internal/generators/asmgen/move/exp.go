package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// The constants of expShifted, which kernel has too.
const (
	expLeast = iota
	expLog2e
	expMagic
	expLn2Hi
	expLn2Lo
	expOne
	expFit
)

var expValues = [...]float32{
	expLeast: -104, expLog2e: 0x1.715476p+0, expMagic: 0x1.8p23, expLn2Hi: 0x1.62e4p-1, expLn2Lo: 0x1.7f7d1cp-20, expOne: 1,
	expFit: 0x1.fffffcp-2, 0x1.555490p-3, 0x1.5558a6p-5, 0x1.123aecp-7, 0x1.6a5a16p-10,
}

// emitExp writes the exponentials of softmax. Every operation rounds by itself,
// as in Go.
func emitExp(s isa) {
	name, doc, signature := "expShifted", "stores exp(x-shift) for x that are at most shift.", "func(dst, src *float32, n int, shift float32)"
	table := s.expTable()
	if s.Wide() {
		s.expLoop(name, signature, doc+" n is at least one.", table)
		return
	}
	// AVX2 holds the constants in registers that no instruction takes from memory, and
	// those that are used twice.
	constant := map[int]reg.VecPhysical{expLeast: s.V(9), expMagic: s.V(10)}
	c := func(i int) Op {
		if v := constant[i]; v != nil {
			return v
		}
		return table.Offset(s.width() * i)
	}
	s.prologue = func() {
		for i := range expValues {
			if v := constant[i]; v != nil {
				s.VBROADCASTSS(table.Offset(s.width()*i), v)
			}
		}
	}
	s.affine(name, doc, signature, false, nil, []string{"shift"},
		func(x reg.VecPhysical, n []reg.VecPhysical, _ func(int) Op) { s.expStep(x, n[0], c) })
}

// expConstant is the register of AVX-512 for a constant, loadExp loads all.
func (s isa) expConstant(i int) Op { return s.V(16 + i) }

func (s isa) loadExp(table Mem) {
	for i := range expValues {
		s.VBROADCASTSS(table.Offset(4*i), s.V(16+i))
	}
}

// expLoop writes the function for AVX-512. All constants stay in registers;
// several vectors are computed step by step side by side, because one is a chain
// of dependent steps.
func (s isa) expLoop(name, signature, doc string, table Mem) {
	s.Begin(name, signature, doc)
	s.loadExp(table)
	shift := s.V(27)
	s.VBROADCASTSS(s.argAt("shift"), shift)
	dst, src, n := s.Arg("dst"), s.Arg("src"), s.Arg("n")
	turn := func(vectors int, m *simd.Mask) {
		for j := range vectors {
			s.LoadLanes(simd.At(src, j*s.width()), s.V(j), m)
		}
		s.expSteps(vectors, shift, s.expConstant)
		for j := range vectors {
			s.StoreLanes(s.V(j), simd.At(dst, j*s.width()), m)
		}
	}
	for _, group := range []int{unroll, 1} {
		label := map[int]string{unroll: "block", 1: "whole"}[group]
		s.wholes(label, n, group*s.Lanes(), func() {
			turn(group, nil)
			s.ADDQ(U32(uint32(group*s.width())), src)
			s.ADDQ(U32(uint32(group*s.width())), dst)
		})
	}
	s.Masked("done", n, reg.K1, 11, func(m *simd.Mask) { turn(1, m) })
	s.End()
}

// expTable declares the constants: for AVX2 a register of each, else one.
func (s isa) expTable() Mem {
	table := s.StaticGlobal("expTable" + s.Suffix())
	s.DataAttributes(attr.RODATA | attr.NOPTR)
	w := s.Pick(s.width(), 4)
	for i, v := range expValues {
		for j := 0; j < w; j += 4 {
			s.AddDatum(w*i+j, U32(math.Float32bits(v)))
		}
	}
	return table
}

// expSteps turns the first n registers, four at most, into e^(x-shift) with
// AVX-512 and the help of the twelve after these. Each operation is written for all
// of them in turn, since the processor does not look far enough ahead to find the
// next register's chain.
func (s isa) expSteps(n int, shift reg.VecPhysical, c func(i int) Op) {
	op := func(f func(x, k, p, q reg.VecPhysical)) {
		for j := range n {
			f(s.V(j), s.V(4+j), s.V(8+j), s.V(12+j))
		}
	}
	op(func(x, _, _, _ reg.VecPhysical) { s.VSUBPS(shift, x, x) })
	op(func(x, _, _, _ reg.VecPhysical) { s.VMAXPS(x, c(expLeast), x) }) // NaN stays
	op(func(x, k, _, _ reg.VecPhysical) { s.VMULPS(c(expLog2e), x, k) })
	op(func(_, k, _, _ reg.VecPhysical) { s.VADDPS(c(expMagic), k, k) })
	op(func(_, k, _, _ reg.VecPhysical) { s.VSUBPS(c(expMagic), k, k) })
	for _, part := range []int{expLn2Hi, expLn2Lo} {
		op(func(_, k, _, q reg.VecPhysical) { s.VMULPS(c(part), k, q) })
		op(func(x, _, _, q reg.VecPhysical) { s.VSUBPS(q, x, x) })
	}
	last := len(expValues) - 1
	op(func(x, _, p, _ reg.VecPhysical) { s.VMULPS(c(last), x, p) })
	op(func(x, _, _, q reg.VecPhysical) { s.VMULPS(x, x, q) })
	for i := last - 1; i > expFit; i-- {
		op(func(_, _, p, _ reg.VecPhysical) { s.VADDPS(c(i), p, p) })
		op(func(x, _, p, _ reg.VecPhysical) { s.VMULPS(x, p, p) })
	}
	op(func(_, _, p, _ reg.VecPhysical) { s.VADDPS(c(expFit), p, p) })
	op(func(_, _, p, q reg.VecPhysical) { s.VMULPS(q, p, p) })
	op(func(x, _, p, _ reg.VecPhysical) { s.VADDPS(x, p, p) })
	op(func(_, _, p, _ reg.VecPhysical) { s.VADDPS(c(expOne), p, p) })
	op(func(x, k, p, _ reg.VecPhysical) { s.VSCALEFPS(k, p, x) })
}

// expStep turns x into e^(x-shift), zero far below, with AVX2.
func (s isa) expStep(x, shift reg.VecPhysical, c func(int) Op) {
	z, k, q, p := s.V(4), s.V(5), s.V(6), s.V(7)
	s.VSUBPS(shift, x, x)
	s.VMAXPS(x, c(expLeast), x) // NaN stays
	s.VMULPS(c(expLog2e), x, z)
	s.VADDPS(c(expMagic), z, z)
	s.VSUBPS(c(expMagic), z, k)
	for _, part := range []int{expLn2Hi, expLn2Lo} {
		s.VMULPS(c(part), k, q)
		s.VSUBPS(q, x, x)
	}
	last := len(expValues) - 1
	s.VMULPS(c(last), x, p)
	for i := last - 1; i > expFit; i-- {
		s.VADDPS(c(i), p, p)
		s.VMULPS(x, p, p)
	}
	s.VADDPS(c(expFit), p, p)
	s.VMULPS(x, x, q)
	s.VMULPS(q, p, p)
	s.VADDPS(x, p, p)
	s.VADDPS(c(expOne), p, p)
	// The power of two in two halves, of which the first is exact.
	s.VPSUBD(c(expMagic), z, z)
	s.VPSRAD(U8(1), z, q)
	s.VPSUBD(q, z, z)
	for _, half := range []reg.VecPhysical{q, z} {
		s.VPSLLD(U8(23), half, half)
		s.VPADDD(c(expOne), half, half)
	}
	s.VMULPS(q, p, p)
	s.VMULPS(z, p, x)
}
