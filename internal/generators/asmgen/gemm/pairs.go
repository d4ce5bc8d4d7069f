package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// emitPairs writes products of words that have two bf16 each, and what makes such words.
func emitPairs(c *build.Context) {
	s := isa{simd.Pairs(c)}
	emitTile(s)
	emitTilePack(s)
	emitStrip(s)
	emitThinTile(s)
	emitPanels(s.ISA)
	emitDense(s.ISA)
	emitJoinAlong(s)
	emitJoinAcross(s)
}

// emitJoinAlong writes the rounding of floats that follow each other.
func emitJoinAlong(s isa) {
	s.Begin("joinAlong", "func(n int, src, dst *float32)",
		"rounds n floats of src to bf16 and stores two of them in each word of dst: float 2i is the\nlower half of word i, float 2i+1 the upper one. The upper half after an odd number of floats is 0.\nSubnormal floats become 0.")
	n, src, dst := s.Arg("n"), s.Arg("src"), s.Arg("dst")
	s.Wholes("whole", "rest", n, 2*s.Lanes(), func() {
		s.VMOVUPS(simd.At(src, 0), s.V(0))
		s.VMOVUPS(simd.At(src, s.Size()), s.V(1))
		s.NarrowPairs(s.V(0), s.V(1), s.V(0))
		s.VMOVUPS(s.V(0), simd.At(dst, 0))
		s.ADDQ(U32(2*s.Size()), src)
		s.ADDQ(U8(s.Size()), dst)
	})
	s.TESTQ(n, n)
	s.JEQ(LabelRef("done"))
	high, zero, lanes := s.GP64(), s.GP64(), s.GP64()
	s.XORQ(zero, zero)
	s.MOVQ(U32(s.Lanes()), lanes)
	s.MOVQ(n, high)
	s.SUBQ(lanes, high)
	s.CMOVQLT(zero, high)
	second := s.LaneMask(high, reg.K2, 14)
	s.LEAQ(Mem{Base: n, Disp: 1}, high)
	s.SHRQ(U8(1), high)
	words := s.LaneMask(high, reg.K3, 13)
	s.CMPQ(n, lanes)
	s.CMOVQGT(lanes, n)
	first := s.LaneMask(n, reg.K1, 15)
	s.LoadLanes(simd.At(src, 0), s.V(0), &first)
	s.LoadLanes(simd.At(src, s.Size()), s.V(1), &second)
	s.NarrowPairs(s.V(0), s.V(1), s.V(0))
	s.StoreLanes(s.V(0), simd.At(dst, 0), &words)
	s.Label("done")
	s.End()
}

// emitJoinAcross writes the rounding of floats of two rows.
func emitJoinAcross(s isa) {
	s.Begin("joinAcross", "func(n int, lo, hi, dst *float32)",
		"rounds n floats of lo and of hi to bf16 and stores two of them in each word of dst: float i\nof lo is the lower half of word i, that of hi the upper one, which is 0 if hi is nil. Subnormal floats become 0.")
	n, lo, hi, dst := s.Arg("n"), s.Arg("lo"), s.Arg("hi"), s.Arg("dst")
	turns := s.StaticGlobal("turns")
	s.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 2 * s.Lanes() {
		s.AddDatum(2*i, U16(i/2+i%2*s.Lanes()))
	}
	s.VMOVDQU32(turns, s.V(2))
	s.Zero(s.V(1))
	s.TESTQ(hi, hi)
	s.JEQ(LabelRef("alone"))
	for _, both := range []bool{true, false} {
		name := "both"
		if !both {
			name = "alone"
			s.Label(name)
		}
		join := func(m *simd.Mask) {
			s.LoadLanes(simd.At(lo, 0), s.V(0), m)
			if both {
				s.LoadLanes(simd.At(hi, 0), s.V(1), m)
			}
			s.NarrowPairs(s.V(0), s.V(1), s.V(0))
			s.VPERMW(s.V(0), s.V(2), s.V(0))
			s.StoreLanes(s.V(0), simd.At(dst, 0), m)
		}
		s.Wholes(name+"whole", name+"rest", n, s.Lanes(), func() {
			join(nil)
			for _, p := range []reg.GPVirtual{lo, hi, dst} {
				if p != hi || both {
					s.ADDQ(U8(s.Size()), p)
				}
			}
		})
		s.Masked(name+"done", n, reg.K1, 15, join)
		s.End()
	}
}
