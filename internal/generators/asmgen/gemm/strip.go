package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

func emitStrips(c *build.Context) {
	for _, s := range []isa{{simd.AVX512(c)}, {simd.AVX2(c)}} {
		emitStrip(s)
	}
}

// strip has the registers of products of short rows, read where they lie, with all
// columns of a matrix. Every fourth row of a has a pointer.
type strip struct {
	isa
	a                                        []reg.GPVirtual
	rows, lda, lda3, b, p, ldb, left, c, ldc reg.GPVirtual
	cols                                     reg.GPVirtual
}

// part is a kind of tile: its vectors, of which the last may be masked, and how
// many steps of k lie between two moves of the rows of a.
type part struct {
	name         string
	vecs, unroll int
	mask         *simd.Mask
}

// emitStrip writes the product of as many rows as registers hold with all
// columns: where sums are short, packing the rows and calls for each tile would
// take a noticeable part of the time.
func emitStrip(s isa) {
	mr := s.Pick(6, 14)
	s.Begin("gemmStrip", "func(rows, k int, a *float32, lda int, b *float32, ldb, bstep int, c *float32, ldc, cols int, acc bool)",
		fmt.Sprintf("computes c = a·b, or c += a·b with acc, for rows of 1 to %d, cols >= 1\nand k >= 1: columns %d·i and following of row p of b are at b[i*bstep+p*ldb].",
			mr, 2*s.Lanes()))
	t := strip{isa: s, rows: s.Arg("rows"), lda: s.Bytes("lda"), lda3: s.GP64(), b: s.Arg("b"), p: s.GP64(), ldb: s.Bytes("ldb"),
		left: s.GP64(), c: s.Arg("c"), ldc: s.Bytes("ldc"), cols: s.Arg("cols"), a: []reg.GPVirtual{s.Arg("a")}}
	s.LEAQ(Mem{Base: t.lda, Index: t.lda, Scale: 2}, t.lda3)
	for r := 4; r < mr; r += 4 {
		t.a = append(t.a, s.GP64())
	}
	s.Split(t.rows, mr, 0, "again")
	t.columns(mr)
	s.Label("done")
	s.Rest(t.rows, mr, "again", func(above reg.GPVirtual) {
		s.Load(s.Param("b"), t.b)
		s.Load(s.Param("cols"), t.cols)
		s.Load(s.Param("a"), t.a[0])
		s.Load(s.Param("c"), t.c)
		s.MOVQ(above, t.p)
		s.IMULQ(t.lda, above)
		s.ADDQ(above, t.a[0])
		s.IMULQ(t.ldc, t.p)
		s.ADDQ(t.p, t.c)
	})
	s.End()
}

// columns writes the loop over tiles: pairs of vectors of columns, then the
// rest, whose last vector is masked. Before and after its sums, a tile of fewer
// rows goes through the code for the most.
func (t strip) columns(mr int) {
	t.Label("tile")
	for i := range t.a[1:] {
		t.LEAQ(Mem{Base: t.a[i], Index: t.lda, Scale: 4}, t.a[i+1])
	}
	for i := range 2 * mr {
		t.Zero(t.V(i))
	}
	tiles := func(name string, vecs int, m *simd.Mask) {
		t.tiles(mr, part{name: name, vecs: vecs, unroll: map[string]int{"whole": 2, "tail": 1, "one": 2}[name], mask: m})
	}
	t.Columns(t.cols, tiles, func() {
		t.Load(t.Param("bstep"), t.left)
		t.LEAQ(Mem{Base: t.b, Index: t.left, Scale: 4}, t.b)
		t.ADDQ(U32(8*t.Lanes()), t.c)
		t.Load(t.Param("k"), t.left)
		t.SHLQ(U8(2), t.left)
		t.SUBQ(t.left, t.a[0])
	})
}

// tiles writes tiles of one kind, for all numbers of rows. Sums stay in registers
// over all of k; rows of c are asked for before the first step, so that they are
// near when sums are added.
func (t strip) tiles(mr int, p part) {
	t.MOVQ(t.c, t.p)
	t.askRows(p.name+"ask", t.rows, t.p, t.ldc, p.vecs)
	t.MOVQ(t.b, t.p)
	t.Load(t.Param("k"), t.left)
	of := func(r int) string { return fmt.Sprintf("%s%d", p.name, r) }
	t.Enter(t.rows, simd.Heights(mr), of)
	for _, r := range simd.Heights(mr) {
		t.sums(of(r), r, p)
		t.JMP(LabelRef(p.name + "store"))
	}
	t.Label(p.name + "store")
	t.MOVQ(t.c, t.p)
	label := func(add bool) func(int) string {
		return func(rows int) string { return simd.Rung(fmt.Sprintf("%s%v", p.name, add), rows) }
	}
	t.Load(t.Param("acc"), t.left.As8())
	t.TESTB(t.left.As8(), t.left.As8())
	t.JEQ(LabelRef(p.name + "plain"))
	t.Enter(t.rows, simd.Heights(mr), label(true))
	t.Label(p.name + "plain")
	t.Enter(t.rows, simd.Heights(mr), label(false))
	for _, add := range []bool{true, false} {
		t.Ladder(mr, label(add), func(follow int) { t.storeRow(follow, p, add) })
		if add {
			t.JMP(LabelRef(p.name + "stored"))
		}
	}
	t.Label(p.name + "stored")
}

// sums writes the sums of a tile. Rows lie from the last register to the first, so
// that they are stored from the first on. It leaves the rows of a at their ends.
func (t strip) sums(name string, rows int, p part) {
	t.Label(name)
	if p.unroll > 1 {
		t.SUBQ(U8(p.unroll), t.left)
		t.JLT(LabelRef(name + "rest"))
		t.Label(name + "k")
		t.steps(rows, p.unroll, p)
		t.JGE(LabelRef(name + "k"))
		t.Label(name + "rest")
		t.ADDQ(U8(p.unroll), t.left)
		t.JEQ(LabelRef(p.name + "store"))
	}
	t.Label(name + "one")
	t.steps(rows, 1, p)
	t.JNE(LabelRef(name + "one"))
}

// steps writes n steps of k. Rows of a are read where they lie, each broadcast
// from its own stream, and b row by row; eight rows of b further on are asked for
// meanwhile, because rows may be pages apart.
func (t strip) steps(rows, n int, p part) {
	size := 4 * t.Lanes()
	// Twelve sums, two vectors and a factor leave AVX2 one register, the mask's.
	top := t.Pick(15, 32)
	b := func(v int) reg.VecPhysical { return t.V(top - 1 - v) }
	for u := range n {
		for v := range p.vecs {
			t.LoadLanes(simd.At(t.p, v*size), b(v), p.maskOf(v))
		}
		for r := range rows {
			if r == rows/2 {
				for line := 0; line < p.vecs*size; line += 64 {
					t.PREFETCHT0(Mem{Base: t.p, Index: t.ldb, Scale: 8, Disp: line})
				}
			}
			x := t.V(top - 1 - p.vecs - r%t.Pick(1, 2))
			t.VBROADCASTSS(simd.Row(t.a[:], t.lda, t.lda3, r, u), x)
			for v := range p.vecs {
				t.MultiplyAdd(b(v), x, t.V((rows-1-r)*p.vecs+v))
			}
		}
		t.ADDQ(t.ldb, t.p)
	}
	for _, a := range t.a[:(rows+3)/4] {
		t.ADDQ(U8(4*n), a)
	}
	t.SUBQ(U8(n), t.left)
}

// storeRow stores, or adds, the sums of the row that so many follow at p, and moves
// p down.
func (t strip) storeRow(follow int, p part, add bool) {
	size, x := 4*t.Lanes(), t.V(t.Pick(15, 32)-1)
	for v := range p.vecs {
		acc := t.V(follow*p.vecs + v)
		if add {
			t.LoadLanes(simd.At(t.p, v*size), x, p.maskOf(v))
			t.VADDPS(x, acc, acc)
		}
		t.StoreLanes(acc, simd.At(t.p, v*size), p.maskOf(v))
	}
	if follow > 0 {
		t.ADDQ(t.ldc, t.p)
	}
}

// maskOf is the mask of vector v, which only the last one may have.
func (p part) maskOf(v int) *simd.Mask {
	if v == p.vecs-1 {
		return p.mask
	}
	return nil
}
