package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// emitPairs writes, for each size of elements, the copy of two rows to every other element of
// one: shuffles of a half of a register interleave the halves of its operands, and rows
// end with a vector that overlaps the one before.
func emitPairs(s isa) {
	if s.Wide() {
		return // two stores of half a line are as fast
	}
	type shuffle func(...Op)
	for i, by := range [][2]shuffle{
		{s.VPUNPCKLBW, s.VPUNPCKHBW}, {s.VPUNPCKLWD, s.VPUNPCKHWD},
		{s.VPUNPCKLDQ, s.VPUNPCKHDQ}, {s.VPUNPCKLQDQ, s.VPUNPCKHQDQ},
	} {
		size := 1 << i
		s.Begin(fmt.Sprintf("movePairs%d", size), "func(dst *byte, ldd int, src *byte, lds, odd, n, rows int)",
			fmt.Sprintf("sets rows to pairs of elements of %d bytes: of n bytes\nof src, at least 16, and of those odd bytes further on. ldd and lds are the distances\nbetween rows in bytes.", size))
		dst, ldd, src, lds, odd, n, rows := s.Arg("dst"), s.Arg("ldd"), s.Arg("src"), s.Arg("lds"), s.Arg("odd"), s.Arg("n"), s.Arg("rows")
		to, from, left := s.GP64(), s.GP64(), s.GP64()
		half := func(from reg.Register, at func(int) Mem) {
			s.VMOVDQU(Mem{Base: from}, s.V(0).AsX())
			s.VMOVDQU(Mem{Base: from, Index: odd, Scale: 1}, s.V(1).AsX())
			for h := range 2 {
				by[h](s.V(1).AsX(), s.V(0).AsX(), s.V(2+h).AsX())
				s.VMOVDQU(s.V(2+h).AsX(), at(16*h))
			}
		}
		s.Label("row")
		s.MOVQ(dst, to)
		s.MOVQ(src, from)
		s.MOVQ(n, left)
		s.wholes("whole", left, 32, func() {
			s.VMOVDQU(Mem{Base: from}, s.V(0))
			s.VMOVDQU(Mem{Base: from, Index: odd, Scale: 1}, s.V(1))
			by[0](s.V(1), s.V(0), s.V(2))
			by[1](s.V(1), s.V(0), s.V(3))
			s.VPERM2I128(U8(0x20), s.V(3), s.V(2), s.V(0))
			s.VPERM2I128(U8(0x31), s.V(3), s.V(2), s.V(1))
			s.VMOVDQU(s.V(0), simd.At(to, 0))
			s.VMOVDQU(s.V(1), simd.At(to, 32))
			s.ADDQ(U8(32), from)
			s.ADDQ(U8(64), to)
		})
		s.wholes("half", left, 16, func() {
			half(from, func(i int) Mem { return simd.At(to, i) })
			s.ADDQ(U8(16), from)
			s.ADDQ(U8(32), to)
		})
		s.TESTQ(left, left)
		s.JEQ(LabelRef("next"))
		s.LEAQ(Mem{Base: from, Index: left, Scale: 1, Disp: -16}, from)
		s.LEAQ(Mem{Base: to, Index: left, Scale: 2, Disp: -32}, to)
		half(from, func(i int) Mem { return simd.At(to, i) })
		s.nextRow(dst, ldd, src, lds, rows)
	}
}
