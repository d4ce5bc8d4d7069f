// Command strip writes the assembly of products of short rows, read where they
// lie, with all columns of a matrix.
package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/asmgen/simd"
)

// isa has this command's kernels as methods.
type isa struct{ simd.ISA }

func generate() (map[string][]byte, error) {
	return simd.Files("asmgen/strip", []simd.Unit{{Family: "gemm", Name: "strip", Emit: func(c *build.Context) {
		for _, s := range []isa{{simd.AVX512(c)}, {simd.AVX2(c)}} {
			emitStrip(s)
		}
	}}})
}

func main() { simd.Main("asmgen/strip", generate) }

// unroll is the number of steps of k between two moves of the rows of a.
const unroll = 2

// stripArgs are the registers of a strip. Every fourth row of a has a pointer.
type stripArgs struct {
	a                                  []reg.GPVirtual
	lda, lda3, b, p, ldb, left, c, ldc reg.GPVirtual
	cols                               reg.GPVirtual
}

// row returns element u of row r of a.
func (t *stripArgs) row(r, u int) Mem {
	m := Mem{Base: t.a[r/4], Disp: 4 * u}
	switch r % 4 {
	case 1:
		m.Index, m.Scale = t.lda, 1
	case 2:
		m.Index, m.Scale = t.lda, 2
	case 3:
		m.Index, m.Scale = t.lda3, 1
	}
	return m
}

// emitStrip writes the product of as many rows as registers hold with all
// columns: where sums are short, packing the rows and calls for each tile would
// take a noticeable part of the time.
func emitStrip(s isa) {
	mr := s.Pick(6, 14)
	s.Begin("gemmStrip", "func(rows, k int, a *float32, lda int, b *float32, ldb, bstep int, c *float32, ldc, cols int, acc bool)",
		fmt.Sprintf("computes c = a·b, or c += a·b with acc, for rows of 1 to %d, cols >= 1\nand k >= 1: columns %d·i and following of row p of b are at b[i*bstep+p*ldb].",
			mr, 2*s.Lanes()))
	rows := s.Arg("rows")
	t := stripArgs{lda: s.Bytes("lda"), lda3: s.GP64(), b: s.Arg("b"), p: s.GP64(), ldb: s.Bytes("ldb"), left: s.GP64(),
		c: s.Arg("c"), ldc: s.Bytes("ldc"), cols: s.Arg("cols"), a: []reg.GPVirtual{s.Arg("a")}}
	s.LEAQ(Mem{Base: t.lda, Index: t.lda, Scale: 2}, t.lda3)
	for r := 4; r < mr; r += 4 {
		t.a = append(t.a, s.GP64())
	}
	of := func(r int) string { return fmt.Sprintf("r%d", r) }
	s.rowPointers(t)
	rest := s.Heights(rows, mr, 0, "again", of)
	var m simd.Mask
	for _, r := range simd.Heights(mr) {
		m = s.strip(t, r)
	}
	for _, vecs := range []int{2, 1} {
		for _, add := range []bool{true, false} {
			s.Ladder(mr, func(rows int) string { return lastLabel(vecs, add, rows) }, func(r int) {
				s.storeRow(t, r, vecs, add, &m)
				if r > 0 {
					s.SUBQ(t.ldc, t.p)
				}
			})
			if vecs == 2 || add {
				s.JMP(LabelRef("done"))
			}
		}
	}
	s.Label("done")
	s.Rest(rest, rows, mr, "again", func(above reg.GPVirtual) {
		s.Load(s.Param("b"), t.b)
		s.Load(s.Param("cols"), t.cols)
		s.Load(s.Param("a"), t.a[0])
		s.Load(s.Param("c"), t.c)
		s.MOVQ(above, t.p)
		s.IMULQ(t.lda, above)
		s.ADDQ(above, t.a[0])
		s.IMULQ(t.ldc, t.p)
		s.ADDQ(t.p, t.c)
		s.rowPointers(t)
	})
	s.End()
}

// rowPointers sets the pointers of all rows of a but the first.
func (s isa) rowPointers(t stripArgs) {
	for i := range t.a[1:] {
		s.LEAQ(Mem{Base: t.a[i], Index: t.lda, Scale: 4}, t.a[i+1])
	}
}

// strip writes the code for a number of rows: pairs of vectors of columns, then
// what is left, whose last vector is masked.
func (s isa) strip(t stripArgs, rows int) simd.Mask {
	name := fmt.Sprintf("r%d", rows)
	s.Label(name)
	s.CMPQ(t.cols, U8(2*s.Lanes()))
	s.JLT(LabelRef(name + "tail"))
	s.tile(t, name+"w", rows, 2, nil)
	s.store(t, name+"w", rows)
	s.Load(s.Param("bstep"), t.left)
	s.LEAQ(Mem{Base: t.b, Index: t.left, Scale: 4}, t.b)
	s.ADDQ(U32(8*s.Lanes()), t.c)
	s.Load(s.Param("k"), t.left)
	s.SHLQ(U8(2), t.left)
	for _, a := range t.a[:(rows+3)/4] {
		s.SUBQ(t.left, a)
	}
	s.SUBQ(U8(2*s.Lanes()), t.cols)
	s.JNE(LabelRef(name))
	s.JMP(LabelRef("done"))
	var m simd.Mask
	for vecs := 2; vecs >= 1; vecs-- {
		part := name + map[int]string{2: "tail", 1: "one"}[vecs]
		s.Label(part)
		if vecs == 2 {
			s.CMPQ(t.cols, U8(s.Lanes()))
			s.JLE(LabelRef(name + "one"))
			s.SUBQ(U8(s.Lanes()), t.cols)
		}
		m = s.LaneMask(t.cols, reg.K1, s.Pick(16, 32)-1)
		s.tile(t, part, rows, vecs, &m)
		s.IMUL3Q(U8(rows-1), t.ldc, t.p)
		s.ADDQ(t.c, t.p)
		s.Load(s.Param("acc"), t.left.As8())
		s.TESTB(t.left.As8(), t.left.As8())
		s.JNE(LabelRef(lastLabel(vecs, true, rows)))
		s.JMP(LabelRef(lastLabel(vecs, false, rows)))
	}
	return m
}

func lastLabel(vecs int, add bool, rows int) string {
	return simd.Rung(fmt.Sprintf("last%d%v", vecs, add), rows)
}

// tile writes one tile of the given vectors, of which the last may be masked.
// It leaves the rows of a at their ends.
func (s isa) tile(t stripArgs, name string, rows, vecs int, m *simd.Mask) {
	size := 4 * s.Lanes()
	acc := func(r, v int) reg.VecPhysical { return s.V(r*vecs + v) }
	of := func(v int) *simd.Mask {
		if v == vecs-1 {
			return m
		}
		return nil
	}
	// Twelve sums, two vectors and a factor leave AVX2 one register, the mask's.
	top := s.Pick(15, 32)
	b := func(v int) reg.VecPhysical { return s.V(top - 1 - v) }
	for i := range rows * vecs {
		s.Zero(s.V(i))
	}
	// The rows of c may lie pages apart, where no hardware looks ahead.
	s.MOVQ(t.c, t.p)
	for r := range rows {
		for line := 0; line < vecs*size; line += 64 {
			s.PREFETCHT0(simd.At(t.p, line))
		}
		if r < rows-1 {
			s.ADDQ(t.ldc, t.p)
		}
	}
	s.MOVQ(t.b, t.p)
	s.Load(s.Param("k"), t.left)
	steps := func(n int) {
		for u := range n {
			for v := range vecs {
				s.LoadLanes(simd.At(t.p, v*size), b(v), of(v))
			}
			for r := range rows {
				if r == rows/2 {
					for line := 0; line < vecs*size; line += 64 {
						s.PREFETCHT0(Mem{Base: t.p, Index: t.ldb, Scale: 8, Disp: line})
					}
				}
				x := s.V(top - 1 - vecs - r%s.Pick(1, 2))
				s.VBROADCASTSS(t.row(r, u), x)
				for v := range vecs {
					s.VFMADD231PS(b(v), x, acc(r, v))
				}
			}
			s.ADDQ(t.ldb, t.p)
		}
		for _, a := range t.a[:(rows+3)/4] {
			s.ADDQ(U8(4*n), a)
		}
		s.SUBQ(U8(n), t.left)
	}
	s.SUBQ(U8(unroll), t.left)
	s.JLT(LabelRef(name + "rest"))
	s.Label(name + "k")
	steps(unroll)
	s.JGE(LabelRef(name + "k"))
	s.Label(name + "rest")
	s.ADDQ(U8(unroll), t.left)
	s.JEQ(LabelRef(name + "sum"))
	s.Label(name + "one")
	steps(1)
	s.JNE(LabelRef(name + "one"))
	s.Label(name + "sum")
}

// store writes the end of a tile of whole vectors: its sums are stored or added.
func (s isa) store(t stripArgs, name string, rows int) {
	s.MOVQ(t.c, t.p)
	s.Load(s.Param("acc"), t.left.As8())
	s.TESTB(t.left.As8(), t.left.As8())
	s.JEQ(LabelRef(name + "store"))
	for _, add := range []bool{true, false} {
		for r := range rows {
			s.storeRow(t, r, 2, add, nil)
			if r < rows-1 {
				s.ADDQ(t.ldc, t.p)
			}
		}
		if add {
			s.JMP(LabelRef(name + "stored"))
			s.Label(name + "store")
		}
	}
	s.Label(name + "stored")
}

// storeRow stores, or adds, the sums of row r at p.
func (s isa) storeRow(t stripArgs, r, vecs int, add bool, m *simd.Mask) {
	size, x := 4*s.Lanes(), s.V(s.Pick(15, 32)-1)
	for v := range vecs {
		of := m
		if v < vecs-1 {
			of = nil
		}
		acc := s.V(r*vecs + v)
		if add {
			s.LoadLanes(simd.At(t.p, v*size), x, of)
			s.VADDPS(x, acc, acc)
		}
		s.StoreLanes(acc, simd.At(t.p, v*size), of)
	}
}
