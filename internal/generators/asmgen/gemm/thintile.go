package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// thinArgs are the registers of a thin tile.
type thinArgs struct {
	k, a, lda, lda3, a4, b, c, ldc, cols, acc reg.GPVirtual
}

// row returns element 0 of row r of a.
func (t *thinArgs) row(r int) Mem {
	return simd.Row([]reg.GPVirtual{t.a, t.a4}, t.lda, t.lda3, r, 0)
}

// emitThinTile writes the product of few rows, read where they lie, with a
// packed panel, which is streamed: so few rows leave it the greater operand.
func emitThinTile(s isa) {
	most := s.Pick(6, 8)
	s.Begin("thinTile", "func(rows, k int, a *float32, lda int, b, c *float32, ldc, cols int, acc bool)",
		fmt.Sprintf("computes c = a·b, or c += a·b with acc, for rows of 1 to %d,\ncols of 1 to %d and k >= 1: b is a panel of %d floats for each of k steps.", most, 2*s.Lanes(), 2*s.Lanes()))
	rows := s.Arg("rows")
	t := thinArgs{k: s.Arg("k"), a: s.Arg("a"), lda: s.Bytes("lda"), b: s.Arg("b"), c: s.Arg("c"), ldc: s.Bytes("ldc"), cols: s.Arg("cols")}
	t.acc, t.lda3, t.a4 = s.GP64(), s.GP64(), s.GP64()
	s.XORQ(t.acc, t.acc)
	s.Load(s.Param("acc"), t.acc.As8())
	s.LEAQ(Mem{Base: t.lda, Index: t.lda, Scale: 2}, t.lda3)
	s.LEAQ(Mem{Base: t.a, Index: t.lda, Scale: 4}, t.a4)
	for r := most - 1; r >= 1; r-- {
		s.CMPQ(rows, U8(r))
		s.JEQ(LabelRef(fmt.Sprintf("r%d", r)))
	}
	for r := most; r >= 1; r-- {
		s.thinTile(t, r)
	}
	s.thinStore(t, rows, most)
}

// askingRows is up to how many rows hardware asks for the panel early enough, except for the beginnings of pages: more rows
// compute for so long that it loses the lead.
const askingRows = 4

// thinTile writes the loop for so many rows of a: their sums, by the vectors of a
// panel of b, stay in registers over k; the panel, of which each element is used
// once a row and no more, is the stream that bounds it.
func (s isa) thinTile(t thinArgs, rows int) {
	name := fmt.Sprintf("r%d", rows)
	size, top := 4*s.Lanes(), s.Pick(16, 32)
	// Few rows are few independent sums: they are split, so that additions
	// do not wait for each other.
	sets := 1
	for 4*sets*rows <= 8 || sets < 2 && 4*sets*rows < top-3 {
		sets *= 2
	}
	acc := func(set, r, v int) reg.VecPhysical { return s.V((set*rows+r)*2 + v) }
	s.Label(name)
	for i := range sets * rows * 2 {
		s.Zero(s.V(i))
	}
	steps := func(n int) {
		for u := range n {
			b := [2]Op{simd.At(t.b, 2*u*size), simd.At(t.b, (2*u+1)*size)}
			switch {
			case rows > askingRows:
				for line := 0; line < 2*size; line += 64 {
					s.PREFETCHT1(simd.At(t.b, 2*u*size+simd.FarAhead+line))
				}
			case u%2 == 0:
				simd.NextPage(s.Context, t.b)
			}
			for v := range b {
				if rows > 1 {
					s.VMOVUPS(b[v], s.V(top-1-v))
					b[v] = s.V(top - 1 - v)
				}
			}
			for r := range rows {
				m := t.row(r)
				m.Disp = 4 * u
				s.VBROADCASTSS(m, s.V(top-3))
				for v := range b {
					s.MultiplyAdd(b[v], s.V(top-3), acc(u%sets, r, v))
				}
			}
		}
		s.ADDQ(U32(2*n*size), t.b)
		s.ADDQ(U8(4*n), t.a)
		if rows > 4 {
			s.ADDQ(U8(4*n), t.a4)
		}
		s.SUBQ(U8(n), t.k)
	}
	unroll := max(sets, 2)
	s.Label(name + "k")
	s.CMPQ(t.k, U8(unroll))
	s.JLT(LabelRef(name + "tail"))
	steps(unroll)
	s.JMP(LabelRef(name + "k"))
	s.Label(name + "tail")
	s.TESTQ(t.k, t.k)
	s.JEQ(LabelRef(name + "sum"))
	steps(1)
	s.JMP(LabelRef(name + "tail"))
	s.Label(name + "sum")
	for n := sets / 2; n >= 1; n /= 2 {
		for i := range 2 * rows * n {
			s.VADDPS(s.V(2*rows*n+i), s.V(i), s.V(i))
		}
	}
	s.JMP(LabelRef("sums"))
}

// thinStore writes the ends of thin tiles: sums in the first registers go to c, from
// row rows-1, where c is moved to, up.
func (s isa) thinStore(t thinArgs, rows reg.GPVirtual, most int) {
	size, top := 4*s.Lanes(), s.Pick(16, 32)
	x := s.V(top - 3)
	zero, lanes, rest := s.GP64(), s.GP64(), s.GP64()
	s.Label("sums")
	s.XORQ(zero, zero)
	s.MOVQ(U32(s.Lanes()), lanes)
	s.MOVQ(t.cols, rest)
	s.SUBQ(lanes, rest)
	s.CMOVQLT(zero, rest)
	s.CMPQ(t.cols, lanes)
	s.CMOVQGT(lanes, t.cols)
	masks := [2]simd.Mask{s.LaneMask(t.cols, reg.K1, top-1), s.LaneMask(rest, reg.K2, top-2)}
	s.LEAQ(Mem{Base: rows, Disp: -1}, rest)
	s.IMULQ(t.ldc, rest)
	s.ADDQ(rest, t.c)
	for _, add := range []bool{true, false} {
		label := func(rows int) string { return simd.Rung(fmt.Sprintf("store%v", add), rows) }
		if add {
			s.TESTQ(t.acc, t.acc)
			s.JEQ(LabelRef("store"))
		} else {
			s.Label("store")
		}
		for r := 1; r < most; r++ {
			s.CMPQ(rows, U8(r))
			s.JEQ(LabelRef(label(r)))
		}
		s.Ladder(most, label, func(r int) {
			for v := range masks {
				if add {
					s.LoadLanes(simd.At(t.c, v*size), x, &masks[v])
					s.VADDPS(x, s.V(2*r+v), s.V(2*r+v))
				}
				s.StoreLanes(s.V(2*r+v), simd.At(t.c, v*size), &masks[v])
			}
			if r > 0 {
				s.SUBQ(t.ldc, t.c)
			}
		})
		s.End()
	}
}
