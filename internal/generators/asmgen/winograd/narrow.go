package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// emitNarrow writes the product of a panel of filters with a few columns: filters
// are the lanes, so that no lane computes columns that are not there. Sums stay in
// registers over k.
func (s *isa) emitNarrow() {
	s.Begin("winogradNarrow", "func(rows, k int, a, b *float32, ldb int, c *float32, ldc, cols int, acc bool)",
		fmt.Sprintf("computes c = a·b, or c += a·b with acc, for rows of 1\nto %d, cols of 1 to 4 and k >= 1: a is a panel of %d floats for each of k steps.\nFour columns of c are written.", s.Lanes(), s.Lanes()))
	a, b, cols := s.Arg("a"), s.Arg("b"), s.Arg("cols")
	k, ldb := s.Arg("k"), s.Bytes("ldb")
	s.CMPQ(cols, U8(1))
	s.JEQ(LabelRef("c1"))
	s.CMPQ(cols, U8(2))
	s.JEQ(LabelRef("c2"))
	s.CMPQ(cols, U8(3))
	s.JEQ(LabelRef("c3"))
	for n := 4; n >= 1; n-- {
		s.narrow(n, a, b, ldb, k)
	}
	s.narrowStore()
}

// narrow writes the loop for n columns, with as many sums for each as keep the
// multipliers busy, and leaves the sums in registers 0 to 3.
func (s *isa) narrow(n int, a, b, ldb, k reg.GPVirtual) {
	name := fmt.Sprintf("c%d", n)
	sets := map[int]int{1: 4, 2: 4, 3: 2, 4: 2}[n]
	sum := func(set, col int) reg.VecPhysical { return s.V(8/sets*set + col) }
	s.Label(name)
	for i := range 8 {
		s.Zero(s.V(i))
	}
	step := func(set int) {
		x := s.V(8 + set)
		s.VMOVUPS(simd.At(a, 4*s.Lanes()*set), x)
		for col := range n {
			if s.Wide() {
				s.VFMADD231PS_BCST(simd.At(b, 4*col), x, sum(set, col))
				continue
			}
			s.VBROADCASTSS(simd.At(b, 4*col), s.V(12+col))
			s.VFMADD231PS(s.V(12+col), x, sum(set, col))
		}
		s.ADDQ(ldb, b)
	}
	s.Label(name + "many")
	s.SUBQ(U8(sets), k)
	s.JLT(LabelRef(name + "few"))
	for set := range sets {
		step(set)
	}
	s.ADDQ(U32(4*s.Lanes()*sets), a)
	s.JMP(LabelRef(name + "many"))
	s.Label(name + "few")
	s.ADDQ(U8(sets), k)
	s.JEQ(LabelRef(name + "sum"))
	s.Label(name + "one")
	step(0)
	s.ADDQ(U8(4*s.Lanes()), a)
	s.DECQ(k)
	s.JNZ(LabelRef(name + "one"))
	s.Label(name + "sum")
	for half := sets / 2; half >= 1; half /= 2 {
		for set := range half {
			for col := range n {
				s.VADDPS(sum(set+half, col), sum(set, col), sum(set, col))
			}
		}
	}
	for col := n; col < 4; col++ {
		s.Zero(s.V(col))
	}
	if n > 1 {
		s.JMP(LabelRef("store"))
	}
}

// narrowStore turns four columns of sums into rows and stores or adds those.
func (s *isa) narrowStore() {
	s.Label("store")
	x, t := [4]reg.VecPhysical{s.V(0), s.V(1), s.V(2), s.V(3)}, [4]reg.VecPhysical{s.V(8), s.V(9), s.V(10), s.V(11)}
	s.Unpack4(x, t)
	// Register i has rows i, i+4, ... now.
	rows, c, ldc, acc := s.Arg("rows"), s.Arg("c"), s.Bytes("ldc"), s.GP64()
	s.XORQ(acc, acc)
	s.Load(s.Param("acc"), acc.As8())
	y := s.V(12).AsX()
	for row := range s.Lanes() {
		from := x[row%4]
		switch {
		case row < 4:
			s.VMOVAPS(from.AsX(), y)
		case s.Wide():
			s.VEXTRACTF32X4(U8(row/4), from, y)
		default:
			s.VEXTRACTF128(U8(1), from, y)
		}
		label := fmt.Sprintf("row%d", row)
		s.TESTQ(acc, acc)
		s.JEQ(LabelRef(label))
		s.VADDPS(simd.At(c, 0), y, y)
		s.Label(label)
		s.VMOVUPS(y, simd.At(c, 0))
		if row < s.Lanes()-1 {
			s.ADDQ(ldc, c)
			s.DECQ(rows)
			s.JEQ(LabelRef("done"))
		}
	}
	s.Label("done")
	s.End()
}
