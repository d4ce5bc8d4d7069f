package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

func emitThin(c *build.Context) {
	for _, s := range []isa{{simd.AVX512(c)}, {simd.AVX2(c)}} {
		emitDots(s)
		emitAddRows(s)
		emitThinTile(s)
	}
}

// dotArgs are the registers of a product of rows with rows.
type dotArgs struct {
	k, a, lda, ldb, cols, c, ldc reg.GPVirtual
	b                            [4]reg.GPVirtual // four rows at a time
}

// emitDots writes the product of rows with rows: nothing is packed, each
// operand is read along its rows. AVX-512 has registers for 4×4 sums, AVX2 for
// 2×4.
func emitDots(s isa) {
	most := s.Pick(2, 4)
	s.Begin("dots", "func(rows, k int, a *float32, lda int, b *float32, ldb, cols int, c *float32, ldc int, acc bool)",
		fmt.Sprintf("stores the product of row i of a with row j of b, k >= 0 long, in\nc[i*ldc+j], or adds it with acc, for i < rows (1 to %d) and j < cols, at least 1.", most))
	rows := s.Arg("rows")
	t := dotArgs{k: s.Arg("k"), a: s.Arg("a"), lda: s.Bytes("lda"), ldb: s.Bytes("ldb"), cols: s.Arg("cols"), c: s.Arg("c"), ldc: s.Bytes("ldc"),
		b: [4]reg.GPVirtual{s.Arg("b"), s.GP64(), s.GP64(), s.GP64()}}
	for r := most - 1; r >= 1; r-- {
		s.CMPQ(rows, U8(r))
		s.JEQ(LabelRef(fmt.Sprintf("r%d", r)))
	}
	for r := most; r >= 1; r-- {
		s.dots(t, r)
	}
}

// dots writes the product for so many rows of a: four rows of b at a time are
// vectors along k, each multiplied with every row of a, and the sums, one register
// for each pair, are added across only at the end.
func (s isa) dots(t dotArgs, rows int) {
	name := fmt.Sprintf("r%d", rows)
	n := s.Lanes()
	top := s.Pick(16, 32)
	j, row, left := s.GP64(), s.GP64(), s.GP64()
	s.Label(name)
	// Rows of b past cols repeat the last one.
	s.XORQ(left, left)
	for q := 1; q < 4; q++ {
		s.MOVQ(t.ldb, row)
		s.CMPQ(t.cols, U8(q))
		s.CMOVQLE(left, row)
		s.LEAQ(Mem{Base: t.b[q-1], Index: row, Scale: 1}, t.b[q])
	}
	for i := range 4 * rows {
		s.Zero(s.V(i))
	}
	s.XORQ(j, j)
	s.MOVQ(t.k, left)
	// step adds one vector of every row. AVX2 has fewer spare registers: a mask
	// takes one of them.
	step := func(m *simd.Mask) {
		s.MOVQ(t.a, row)
		for q := range 4 {
			s.LoadLanes(simd.Indexed(t.b[q], j, 0), s.V(top-1-q), m)
		}
		for r := range rows {
			x := s.V(top - 5)
			s.LoadLanes(simd.Indexed(row, j, 0), x, m)
			if r < rows-1 {
				s.ADDQ(t.lda, row)
			}
			for q := range 4 {
				s.VFMADD231PS(s.V(top-1-q), x, s.V(4*r+q))
			}
		}
	}
	s.Label(name + "k")
	s.CMPQ(left, U8(n))
	s.JLT(LabelRef(name + "tail"))
	step(nil)
	s.ADDQ(U8(4*n), j)
	s.SUBQ(U8(n), left)
	s.JMP(LabelRef(name + "k"))
	s.Label(name + "tail")
	s.TESTQ(left, left)
	s.JEQ(LabelRef(name + "sum"))
	m := s.LaneMask(left, reg.K1, top-6)
	step(&m)
	s.Label(name + "sum")
	s.MOVQ(U32(4), left)
	s.CMPQ(t.cols, left)
	s.CMOVQLT(t.cols, left)
	stored := s.LaneMask(left, reg.K2, top-7)
	s.storeDots(t, name, rows, row, stored)
	s.LEAQ(Mem{Base: t.b[0], Index: t.ldb, Scale: 4}, t.b[0])
	s.ADDQ(U8(16), t.c)
	s.SUBQ(U8(4), t.cols)
	s.JGT(LabelRef(name))
	s.End()
}

// storeDots stores the sums of the lanes of the first registers, four in a row of
// c, or adds them. Adding across is shared: four sums become the lanes of one
// register.
func (s isa) storeDots(t dotArgs, name string, rows int, row reg.GPVirtual, m simd.Mask) {
	for r := range rows {
		s.sum4(4 * r)
	}
	s.Load(s.Param("acc"), row.As8())
	s.TESTB(row.As8(), row.As8())
	s.MOVQ(t.c, row)
	s.JEQ(LabelRef(name + "store"))
	old := s.V(s.Pick(15, 31)).AsX()
	for r := range rows {
		if s.Wide() {
			s.VMOVUPS_Z(simd.At(row, 0), m.Opmask(), old)
		} else {
			s.VMASKMOVPS(simd.At(row, 0), m.Vector().AsX(), old)
		}
		s.VADDPS(old, s.V(4*r).AsX(), s.V(4*r).AsX())
		s.ADDQ(t.ldc, row)
	}
	s.MOVQ(t.c, row)
	s.Label(name + "store")
	for r := range rows {
		if s.Wide() {
			s.VMOVUPS(s.V(4*r).AsX(), m.Opmask(), simd.At(row, 0))
		} else {
			s.VMASKMOVPS(s.V(4*r).AsX(), m.Vector().AsX(), simd.At(row, 0))
		}
		if r < rows-1 {
			s.ADDQ(t.ldc, row)
		}
	}
}

// sum4 puts the sums of the lanes of registers first to first+3 into the lanes
// of the first one.
func (s isa) sum4(first int) {
	var x [4]reg.Register
	spare := s.Pick(15, 31)
	for i := range 4 {
		r := s.V(first + i)
		if s.Wide() {
			s.VEXTRACTF64X4(U8(1), r, s.V(spare).AsY())
			s.VADDPS(s.V(spare).AsY(), r.AsY(), r.AsY())
			s.VEXTRACTF32X4(U8(1), r.AsY(), s.V(spare).AsX())
		} else {
			s.VEXTRACTF128(U8(1), r, s.V(spare).AsX())
		}
		s.VADDPS(s.V(spare).AsX(), r.AsX(), r.AsX())
		x[i] = r.AsX()
	}
	s.VHADDPS(x[1], x[0], x[0])
	s.VHADDPS(x[3], x[2], x[2])
	s.VHADDPS(x[2], x[0], x[0])
}

// emitAddRows writes the sum of scaled rows, the product of a row with a matrix
// whose rows are streamed. A block of c, four vectors, stays in registers
// over the rows, of which each is a piece; c is loaded and stored once for all of
// them.
func emitAddRows(s isa) {
	n := s.Lanes()
	s.Begin("addRows", "func(n int, c, a *float32, k int, b *float32, ldb int)",
		"adds a[0]·b[0:n] + ... + a[k-1]·b[(k-1)*ldb:][0:n] to c[0:n], k >= 1.")
	left, c, a, k := s.Arg("n"), s.Arg("c"), s.Arg("a"), s.Arg("k")
	b, ldb := s.Arg("b"), s.Bytes("ldb")
	p, pa, pb := s.GP64(), s.GP64(), s.GP64()
	block := func(name string, vecs int, m *simd.Mask) {
		for v := range vecs {
			s.LoadLanes(simd.At(c, 4*n*v), s.V(v), m)
		}
		s.MOVQ(k, p)
		s.MOVQ(a, pa)
		s.MOVQ(b, pb)
		s.Label(name)
		s.VBROADCASTSS(simd.At(pa, 0), s.V(8))
		// The next rows, of which hardware would follow too few.
		for line := 0; vecs > 1 && line < 4*n*vecs; line += 64 {
			s.PREFETCHT0(Mem{Base: pb, Index: ldb, Scale: 8, Disp: line})
		}
		for v := range vecs {
			if m != nil {
				s.LoadLanes(simd.At(pb, 4*n*v), s.V(9), m)
				s.VFMADD231PS(s.V(9), s.V(8), s.V(v))
			} else {
				s.VFMADD231PS(simd.At(pb, 4*n*v), s.V(8), s.V(v))
			}
		}
		s.ADDQ(U8(4), pa)
		s.ADDQ(ldb, pb)
		s.DECQ(p)
		s.JNZ(LabelRef(name))
		for v := range vecs {
			s.StoreLanes(s.V(v), simd.At(c, 4*n*v), m)
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
	s.Wholes("one", "tail", left, n, func() {
		block("onek", 1, nil)
		s.ADDQ(U32(4*n), c)
		s.ADDQ(U32(4*n), b)
	})
	s.Masked("done", left, reg.K1, 15, func(m *simd.Mask) { block("tailk", 1, m) })
	s.End()
}
