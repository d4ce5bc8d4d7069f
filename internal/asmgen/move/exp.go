package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
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
	w, table := s.Pick(s.width(), 4), s.expTable()
	// AVX-512 holds all constants in registers, AVX2 those that no instruction takes
	// from memory and those that are used twice.
	constant := map[int]reg.VecPhysical{expLeast: s.V(9), expMagic: s.V(10)}
	if s.Wide() {
		for i := range expValues {
			constant[i] = s.V(16 + i)
		}
	}
	c := func(i int) Op {
		if v := constant[i]; v != nil {
			return v
		}
		return table.Offset(w * i)
	}
	s.prologue = func() {
		for i := range expValues {
			if v := constant[i]; v != nil {
				s.VBROADCASTSS(table.Offset(w*i), v)
			}
		}
	}
	s.affine("expShifted", "stores exp(x-shift) for x that are at most shift.", "func(dst, src *float32, n int, shift float32)", false,
		nil, []string{"shift"}, func(x reg.VecPhysical, n []reg.VecPhysical, _ func(int) Op) { s.expStep(x, n[0], c) })
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

// expStep turns x into e^(x-shift), zero far below.
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
	if s.Wide() {
		s.VSCALEFPS(k, p, x)
		return
	}
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
