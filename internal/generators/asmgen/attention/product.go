package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// Both products have the queries in the lanes of the right operand and of the
// result, so that no key and no value is ever rearranged: a tile broadcasts single
// elements of them from where they lie.

// rowsAtOnce is the most rows of a tile.
func (s isa) rowsAtOnce() int { return s.Pick(6, 14) }

// tiles writes the loop over tiles: body computes one of so many rows and moves the
// operands on. Up to 8 rows have code of their own; between those and the most that
// registers hold there are two tiles of half the rows, which are still as many
// independent sums as can be under way.
func (s isa) tiles(rows reg.GPVirtual, body func(rows int)) {
	most := s.rowsAtOnce()
	s.Label("tiles")
	s.CMPQ(rows, U8(most))
	s.JGE(LabelRef(fmt.Sprintf("r%d", most)))
	for r := most - 1; r >= 1; r-- {
		own := r
		if r > 8 {
			own = r - r/2
		}
		s.CMPQ(rows, U8(r))
		s.JEQ(LabelRef(fmt.Sprintf("r%d", own)))
	}
	s.Label("end")
	s.End()
	for r := most; r >= 1; r-- {
		if r > 8 && r < most {
			continue
		}
		s.Label(fmt.Sprintf("r%d", r))
		for i := range vecs * r {
			s.Zero(s.V(i))
		}
		body(r)
		s.SUBQ(U8(r), rows)
		s.JEQ(LabelRef("end"))
		s.JMP(LabelRef("tiles"))
	}
}

func acc(s isa, r, v int) reg.VecPhysical { return s.V(vecs*r + v) }

// step adds the products of one element of every row with a row of b.
func (s isa) step(rows int, b reg.Register, disp int, element func(r int) Mem) {
	top := s.Pick(16, 32)
	for v := range vecs {
		s.VMOVUPS(simd.At(b, disp+v*s.Size()), s.V(top-1-v))
	}
	for r := range rows {
		x := s.V(top - vecs - 1 - r%s.Pick(1, 2))
		s.VBROADCASTSS(element(r), x)
		for v := range vecs {
			s.VFMADD231PS(s.V(top-1-v), x, acc(s, r, v))
		}
	}
}

// emitScores writes the product of keys, whose rows lie along k, with queries. A
// tile of keys by all queries, two vectors of them, stays in registers over k; a
// step loads the queries' element of k once and broadcasts that of each key, whose
// rows are as many streams from the first cache, addressed three to a pointer.
func emitScores(s isa) {
	const unroll = 4
	s.Begin("attentionScores", "func(rows, k int, a *float32, lda int, b, c *float32)",
		fmt.Sprintf("stores in row r of c, %d floats, the sum over p < k of a[r*lda+p]\ntimes row p of b, as long; rows and k >= 1.", vecs*s.Lanes()))
	rows, a, lda, c := s.Arg("rows"), s.Arg("a"), s.Bytes("lda"), s.Arg("c")
	var base []reg.GPVirtual
	for range (s.rowsAtOnce() + 2) / 3 {
		base = append(base, s.GP64())
	}
	b, k := s.GP64(), s.GP64()
	element := func(r, p int) Mem {
		m := Mem{Base: base[r/3], Disp: 4 * p}
		if r%3 > 0 {
			m.Index, m.Scale = lda, uint8(r%3)
		}
		return m
	}
	s.tiles(rows, func(n int) {
		s.Load(s.Param("b"), b)
		s.Load(s.Param("k"), k)
		s.MOVQ(a, base[0])
		last := (n - 1) / 3
		for i := 1; i <= last; i++ {
			s.LEAQ(Mem{Base: base[i-1], Index: lda, Scale: 2}, base[i])
			s.ADDQ(lda, base[i])
		}
		some := func(name string, steps int) {
			for p := range steps {
				s.step(n, b, p*s.row(), func(r int) Mem { return element(r, p) })
			}
			for i := range last + 1 {
				s.ADDQ(U8(4*steps), base[i])
			}
			s.ADDQ(U32(uint32(steps*s.row())), b)
			s.SUBQ(U8(steps), k)
			s.CMPQ(k, U8(steps))
			s.JGE(LabelRef(name))
		}
		name := fmt.Sprintf("r%d", n)
		s.CMPQ(k, U8(unroll))
		s.JLT(LabelRef(name + "rest"))
		s.Label(name + "k")
		some(name+"k", unroll)
		s.Label(name + "rest")
		s.TESTQ(k, k)
		s.JEQ(LabelRef(name + "store"))
		s.Label(name + "one")
		some(name+"one", 1)
		s.Label(name + "store")
		for r := range n {
			for v := range vecs {
				s.VMOVUPS(acc(s, r, v), simd.At(c, r*s.row()+v*s.Size()))
			}
		}
		s.ADDQ(U32(uint32(n*s.row())), c)
		for _, bit := range []int{8, 4, 2, 1} {
			if n&bit != 0 {
				s.LEAQ(Mem{Base: a, Index: lda, Scale: uint8(bit)}, a)
			}
		}
	})
}

// emitValues writes the product of values, whose rows lie across k, with weights.
// The tile of features by queries stays in registers over the keys of a block; a
// step is one row of values, of which neighbouring elements are broadcast. The
// old contents are scaled and added at the end, when the sums no longer wait.
func emitValues(s isa) {
	s.Begin("attentionValues", "func(rows, k int, a *float32, lda int, b, c, scale *float32)",
		fmt.Sprintf("stores in row r of c, %d floats, the sum over p < k of a[p*lda+r]\ntimes row p of b, as long, and unless scale is nil adds what was there times\nscale, a row; rows and k >= 1.", vecs*s.Lanes()))
	rows, a, lda, c, scale := s.Arg("rows"), s.Arg("a"), s.Bytes("lda"), s.Arg("c"), s.Arg("scale")
	b, k, at := s.GP64(), s.GP64(), s.GP64()
	top := s.Pick(16, 32)
	s.tiles(rows, func(n int) {
		name := fmt.Sprintf("r%d", n)
		s.Load(s.Param("b"), b)
		s.Load(s.Param("k"), k)
		s.MOVQ(a, at)
		s.Label(name + "k")
		s.step(n, b, 0, func(r int) Mem { return simd.At(at, 4*r) })
		s.ADDQ(lda, at)
		s.ADDQ(U32(uint32(s.row())), b)
		s.DECQ(k)
		s.JNZ(LabelRef(name + "k"))
		s.TESTQ(scale, scale)
		s.JEQ(LabelRef(name + "store"))
		for v := range vecs {
			s.VMOVUPS(simd.At(scale, v*s.Size()), s.V(top-1-v))
		}
		for r := range n {
			for v := range vecs {
				s.VFMADD231PS(simd.At(c, r*s.row()+v*s.Size()), s.V(top-1-v), acc(s, r, v))
			}
		}
		s.Label(name + "store")
		for r := range n {
			for v := range vecs {
				s.VMOVUPS(acc(s, r, v), simd.At(c, r*s.row()+v*s.Size()))
			}
		}
		s.ADDQ(U8(4*n), a)
		s.ADDQ(U32(uint32(n*s.row())), c)
	})
}
