package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func emitThin(c *build.Context) {
	for _, s := range []isa{avx512(c), avx2(c)} {
		emitDots(s)
		emitAddRows(s)
	}
}

// emitDots writes the product of rows with rows: nothing is packed, each
// operand is read along its rows. AVX-512 has registers for 4×4 sums, AVX2 for
// 2×4.
func emitDots(s isa) {
	most := s.pick(2, 4)
	s.begin("dots", "func(rows, k int, a *float32, lda int, b *float32, ldb, cols int, out *[16]float32)",
		fmt.Sprintf("stores the product of row i of a with row j of b, k >= 0 long, in\nout[4*i+j], for i < rows (1 to %d) and j < 4, where rows j past cols repeat the\nlast one.", most))
	rows, k, a, lda := s.arg("rows"), s.arg("k"), s.arg("a"), s.bytes("lda")
	b, ldb, cols, out := s.arg("b"), s.bytes("ldb"), s.arg("cols"), s.arg("out")
	bs := [4]reg.GPVirtual{b, s.GP64(), s.GP64(), s.GP64()}
	none := s.GP64()
	s.XORQ(none, none)
	for j := 1; j < 4; j++ {
		s.CMPQ(cols, U8(j))
		s.CMOVQLE(none, ldb)
		s.MOVQ(bs[j-1], bs[j])
		s.ADDQ(ldb, bs[j])
	}
	for r := most - 1; r >= 1; r-- {
		s.CMPQ(rows, U8(r))
		s.JEQ(LabelRef(fmt.Sprintf("r%d", r)))
	}
	for r := most; r >= 1; r-- {
		s.dots(r, k, a, lda, bs, out)
	}
}

func (s isa) dots(rows int, k, a, lda reg.GPVirtual, bs [4]reg.GPVirtual, out reg.GPVirtual) {
	name := fmt.Sprintf("r%d", rows)
	n := s.lanes()
	top := s.pick(16, 32)
	s.Label(name)
	for i := range 4 * rows {
		s.zero(s.v(i))
	}
	j, row := s.GP64(), s.GP64()
	s.XORQ(j, j)
	// step adds one vector of every row. AVX2 has fewer spare registers: a mask
	// takes one of them.
	step := func(m *mask) {
		s.MOVQ(a, row)
		for q := range 4 {
			s.load(indexed(bs[q], j, 0), s.v(top-1-q), m)
		}
		for r := range rows {
			x := s.v(top - 5)
			s.load(indexed(row, j, 0), x, m)
			if r < rows-1 {
				s.ADDQ(lda, row)
			}
			for q := range 4 {
				s.VFMADD231PS(s.v(top-1-q), x, s.v(4*r+q))
			}
		}
	}
	s.Label(name + "k")
	s.CMPQ(k, U8(n))
	s.JLT(LabelRef(name + "tail"))
	step(nil)
	s.ADDQ(U8(4*n), j)
	s.SUBQ(U8(n), k)
	s.JMP(LabelRef(name + "k"))
	s.Label(name + "tail")
	s.TESTQ(k, k)
	s.JEQ(LabelRef(name + "sum"))
	m := s.laneMask(k, reg.K1, top-6)
	step(&m)
	s.Label(name + "sum")
	for r := range rows {
		s.sum4(4*r, out, 16*r)
	}
	s.end()
}

// sum4 stores the sums of the lanes of registers first to first+3.
func (s isa) sum4(first int, out reg.GPVirtual, disp int) {
	var x [4]reg.Register
	spare := s.pick(15, 31)
	for i := range 4 {
		r := s.v(first + i)
		if s.wide {
			s.VEXTRACTF64X4(U8(1), r, s.v(spare).AsY())
			s.VADDPS(s.v(spare).AsY(), r.AsY(), r.AsY())
			s.VEXTRACTF32X4(U8(1), r.AsY(), s.v(spare).AsX())
		} else {
			s.VEXTRACTF128(U8(1), r, s.v(spare).AsX())
		}
		s.VADDPS(s.v(spare).AsX(), r.AsX(), r.AsX())
		x[i] = r.AsX()
	}
	s.VHADDPS(x[1], x[0], x[0])
	s.VHADDPS(x[3], x[2], x[2])
	s.VHADDPS(x[2], x[0], x[0])
	s.VMOVUPS(x[0], at(out, disp))
}

// emitAddRows writes the sum of scaled rows, the product of a row with a matrix
// whose rows are streamed.
func emitAddRows(s isa) {
	n := s.lanes()
	s.begin("addRows", "func(n int, c, a *float32, k int, b *float32, ldb int)",
		"adds a[0]·b[0:n] + ... + a[k-1]·b[(k-1)*ldb:][0:n] to c[0:n], k >= 1.")
	left, c, a, k := s.arg("n"), s.arg("c"), s.arg("a"), s.arg("k")
	b, ldb := s.arg("b"), s.bytes("ldb")
	p, pa, pb := s.GP64(), s.GP64(), s.GP64()
	block := func(name string, vecs int, m *mask) {
		for v := range vecs {
			s.load(at(c, 4*n*v), s.v(v), m)
		}
		s.MOVQ(k, p)
		s.MOVQ(a, pa)
		s.MOVQ(b, pb)
		s.Label(name)
		s.VBROADCASTSS(at(pa, 0), s.v(8))
		for v := range vecs {
			if m != nil {
				s.load(at(pb, 4*n*v), s.v(9), m)
				s.VFMADD231PS(s.v(9), s.v(8), s.v(v))
			} else {
				s.VFMADD231PS(at(pb, 4*n*v), s.v(8), s.v(v))
			}
		}
		s.ADDQ(U8(4), pa)
		s.ADDQ(ldb, pb)
		s.DECQ(p)
		s.JNZ(LabelRef(name))
		for v := range vecs {
			s.store(s.v(v), at(c, 4*n*v), m)
		}
	}
	s.Label("four")
	s.CMPQ(left, U8(4*n))
	s.JLT(LabelRef("one"))
	block("fourk", 4, nil)
	s.ADDQ(U32(16*n), c)
	s.ADDQ(U32(16*n), b)
	s.SUBQ(U8(4*n), left)
	s.JMP(LabelRef("four"))
	s.Label("one")
	s.CMPQ(left, U8(n))
	s.JLT(LabelRef("tail"))
	block("onek", 1, nil)
	s.ADDQ(U32(4*n), c)
	s.ADDQ(U32(4*n), b)
	s.SUBQ(U8(n), left)
	s.JMP(LabelRef("one"))
	s.Label("tail")
	s.TESTQ(left, left)
	s.JEQ(LabelRef("done"))
	m := s.laneMask(left, reg.K1, 15)
	block("tailk", 1, &m)
	s.Label("done")
	s.end()
}
