package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// together is the number of rows that are summed at once.
const together = 4

// emitSums writes the sums of four rows, divided: each row's vectors are added up,
// then the lanes of the four sums. Four rows by two vectors are eight chains of
// additions, and four streams.
func emitSums(s simd.ISA) {
	s.Begin("meanRows", "func(n int, src *float32, ld int, divisor float32, dst *float32)",
		fmt.Sprintf("stores in dst[i] the sum of n >= 0 floats from src[i*ld] on, divided, for\n%d rows.", together))
	n, ld, divisor, dst := s.Arg("n"), s.Bytes("ld"), s.Param("divisor"), s.GP64()
	at := [together]reg.GPVirtual{s.Arg("src")}
	for i := range together {
		if i > 0 {
			at[i] = s.GP64()
			s.MOVQ(at[i-1], at[i])
			s.ADDQ(ld, at[i])
		}
		s.Zero(s.V(i))
		s.Zero(s.V(together + i))
	}
	lanes := s.Lanes()
	add := func(vectors, first int) {
		for i := range together {
			for v := range vectors {
				r := s.V(first + together*v + i)
				s.VADDPS(simd.At(at[i], 4*lanes*v), r, r)
			}
			s.ADDQ(U32(4*lanes*vectors), at[i])
		}
		s.SUBQ(U8(lanes*vectors), n)
	}
	s.Label("loop")
	s.CMPQ(n, U8(2*lanes))
	s.JLT(LabelRef("one"))
	add(2, 0)
	s.JMP(LabelRef("loop"))
	s.Label("one")
	s.CMPQ(n, U8(lanes))
	s.JLT(LabelRef("rest"))
	add(1, 0)
	s.Label("rest")
	s.TESTQ(n, n)
	s.JEQ(LabelRef("lanes"))
	m := s.LaneMask(n, reg.K1, 15)
	for i := range together {
		s.AddLanes(simd.At(at[i], 0), s.V(together+i), s.V(2*together), &m)
	}
	s.Label("lanes")
	for i := range together {
		s.VADDPS(s.V(together+i), s.V(i), s.V(i))
		y, x := s.V(i).AsY(), s.V(i).AsX()
		if s.Wide() {
			s.VEXTRACTF64X4(U8(1), s.V(i), reg.Y15)
			s.VADDPS(reg.Y15, y, y)
		}
		s.VEXTRACTF128(U8(1), y, reg.X15)
		s.VADDPS(reg.X15, x, x)
	}
	s.VHADDPS(reg.X1, reg.X0, reg.X0)
	s.VHADDPS(reg.X3, reg.X2, reg.X2)
	s.VHADDPS(reg.X2, reg.X0, reg.X0)
	a, err := divisor.Resolve()
	if err != nil {
		panic(err)
	}
	s.VBROADCASTSS(a.Addr, reg.X1)
	s.VDIVPS(reg.X1, reg.X0, reg.X0)
	s.Load(s.Param("dst"), dst)
	s.VMOVUPS(reg.X0, simd.At(dst, 0))
	s.End()
}
