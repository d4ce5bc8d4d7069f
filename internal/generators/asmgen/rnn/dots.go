package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// dotsRows is the number of rows that are multiplied side by side: as many sums
// hide the time that one addition takes.
const dotsRows = 8

// emitDots writes the product of one state with a matrix that is read once, row by
// row, at the pace of the cache that it comes from. Eight sums stay in registers
// along k, and a vector of the state serves eight rows of the matrix, each a
// stream.
func emitDots(s isa) {
	s.Begin("stateDots", "func(groups, k int, h, w *float32, ldw, stepW int, c *float32, stepC int)",
		"adds to each of 8 elements of c the product of h, k long, with one of 8\nrows of w, ldw apart, groups times over; w and c move on by stepW and stepC.")
	groups, h, w, ldw, c := s.Arg("groups"), s.Arg("h"), s.Arg("w"), s.Bytes("ldw"), s.Arg("c")
	base := [3]reg.GPVirtual{s.GP64(), s.GP64(), s.GP64()}
	k, at, t := s.GP64(), s.GP64(), s.GP64()
	top := s.Pick(16, 32)
	x := s.V(top - 1)
	s.Label("group")
	for i := range dotsRows {
		s.Zero(s.V(i))
	}
	s.MOVQ(w, base[0])
	for i := 1; i < 3; i++ {
		s.LEAQ(Mem{Base: base[i-1], Index: ldw, Scale: 2}, base[i])
		s.ADDQ(ldw, base[i])
	}
	s.MOVQ(h, at)
	s.Load(s.Param("k"), k)
	row := func(r int) Mem {
		m := Mem{Base: base[r/3]}
		if r%3 > 0 {
			m.Index, m.Scale = ldw, uint8(r%3)
		}
		return m
	}
	s.Wholes("whole", "rest", k, s.Lanes(), func() {
		s.VMOVUPS(simd.At(at, 0), x)
		for r := range dotsRows {
			s.VFMADD231PS(row(r), x, s.V(r))
		}
		for _, p := range append(base[:], at) {
			s.ADDQ(U8(s.Size()), p)
		}
	})
	s.Masked("sum", k, reg.K1, top-2, func(m *simd.Mask) {
		s.LoadLanes(simd.At(at, 0), x, m)
		for r := range dotsRows {
			y := s.V(top - 3)
			s.LoadLanes(row(r), y, m)
			s.VFMADD231PS(y, x, s.V(r))
		}
	})
	s.sum8()
	y := s.V(0).AsY()
	s.VADDPS(simd.At(c, 0), y, y)
	s.VMOVUPS(y, simd.At(c, 0))
	for _, p := range []struct {
		name string
		r    reg.GPVirtual
	}{{"stepW", w}, {"stepC", c}} {
		s.Load(s.Param(p.name), t)
		s.LEAQ(Mem{Base: p.r, Index: t, Scale: 4}, p.r)
	}
	s.DECQ(groups)
	s.JNZ(LabelRef("group"))
	s.End()
}

// sum8 puts the sums of the lanes of the first eight registers into the first.
func (s isa) sum8() {
	var v [dotsRows]reg.Register
	for i := range v {
		r := s.V(i)
		v[i] = r.AsY()
		if s.Wide() {
			half := s.V(16 + i).AsY()
			s.VEXTRACTF64X4(U8(1), r, half)
			s.VADDPS(half, v[i], v[i])
		}
	}
	for _, gap := range []int{1, 2} {
		for i := 0; i < dotsRows; i += 2 * gap {
			s.VHADDPS(v[i+gap], v[i], v[i])
		}
	}
	// Each half now has the sums of its lanes for four rows.
	t := s.V(1).AsY()
	s.VPERM2F128(U8(0x20), v[4], v[0], t)
	s.VPERM2F128(U8(0x31), v[4], v[0], v[0])
	s.VADDPS(t, v[0], v[0])
}
