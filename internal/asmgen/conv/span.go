package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/asmgen/simd"
)

// Fields of kernel.spanEpilogue, in bytes.
const (
	spanResidual   = 0
	spanResidualLD = 8
	spanDone       = 16
	spanLo         = 24
	spanHi         = 28
	spanBias       = 32
)

// spanArgs are the registers of a span kernel.
type spanArgs struct {
	rows, k, cols, a, b, offsets, c, ldc, e reg.GPVirtual
	left, row, at, panel, bias              reg.GPVirtual
}

// emitSpan writes the product of a panel of channels and a span of positions
// that follow each other. Sums are short here: they begin with the bias, and
// what else the epilogue does happens before they are stored.
func emitSpan(s isa) {
	mr := s.Pick(6, 14)
	s.Begin("convSpan", "func(rows, k, cols int, a, b *float32, offsets *int64, c *float32, ldc int, e *byte)",
		fmt.Sprintf("stores in c, rows of ldc floats, for rows of 1 to %d and at least one\ncolumn the sums over k >= 1 steps p of a, a panel of %d floats a step, times\nb[offsets[p]+column], with the epilogue e, a\nspanEpilogue, whose field done it changes.", mr, s.Lanes()))
	t := spanArgs{rows: s.Arg("rows"), k: s.Arg("k"), cols: s.Arg("cols"), a: s.Arg("a"), b: s.Arg("b"),
		offsets: s.Arg("offsets"), c: s.Arg("c"), ldc: s.Bytes("ldc"), e: s.Arg("e")}
	t.left, t.row, t.at, t.panel, t.bias = s.GP64(), s.GP64(), s.GP64(), s.GP64(), s.GP64()
	s.LEAQ(simd.At(t.e, spanBias), t.bias)
	rest := s.Heights(t.rows, mr, 0, "again", func(r int) string { return fmt.Sprintf("r%d", r) })
	var m simd.Mask
	for _, r := range simd.Heights(mr) {
		m = s.span(t, r)
	}
	for _, vecs := range []int{2, 1} {
		for _, residual := range []bool{true, false} {
			s.Ladder(mr, func(rows int) string { return lastLabel(vecs, residual, rows) }, func(r int) {
				s.storeRow(t, r, vecs, residual, &m)
				if r > 0 {
					s.SUBQ(t.ldc, t.row)
					if residual {
						s.SUBQ(t.left, t.at)
					}
				}
			})
			if vecs == 2 || residual {
				s.JMP(LabelRef("done"))
			}
		}
	}
	s.Label("done")
	s.Rest(rest, t.rows, mr, "again", func(above reg.GPVirtual) { s.restore(t, above) })
	s.End()
}

// restore sets the registers for the rows below so many.
func (s isa) restore(t spanArgs, above reg.GPVirtual) {
	s.Load(s.Param("b"), t.b)
	s.Load(s.Param("cols"), t.cols)
	s.Load(s.Param("c"), t.c)
	s.LEAQ(Mem{Base: t.a, Index: above, Scale: 4}, t.a)
	s.LEAQ(Mem{Base: t.bias, Index: above, Scale: 4}, t.bias)
	s.MOVQ(U32(0), simd.At(t.e, spanDone))
	s.MOVQ(above, t.row)
	s.IMULQ(t.ldc, t.row)
	s.ADDQ(t.row, t.c)
	s.MOVQ(simd.At(t.e, spanResidual), t.row)
	s.TESTQ(t.row, t.row)
	s.JEQ(LabelRef("belowAlone"))
	s.IMULQ(simd.At(t.e, spanResidualLD), above)
	s.ADDQ(above, simd.At(t.e, spanResidual))
	s.Label("belowAlone")
}

// span writes the code for a number of rows: whole pairs of vectors of columns,
// then what is left, whose last vector is masked.
func (s isa) span(t spanArgs, rows int) simd.Mask {
	name := fmt.Sprintf("r%d", rows)
	size := 4 * s.Lanes()
	s.Label(name)
	s.CMPQ(t.cols, U8(2*s.Lanes()))
	s.JLT(LabelRef(name + "tail"))
	s.sums(t, name+"w", rows, 2, nil)
	s.store(t, name+"w", rows)
	s.ADDQ(U32(2*size), t.b)
	s.ADDQ(U32(2*size), t.c)
	s.SUBQ(U8(2*s.Lanes()), t.cols)
	s.JMP(LabelRef(name))
	s.Label(name + "tail")
	s.TESTQ(t.cols, t.cols)
	s.JEQ(LabelRef("done"))
	var m simd.Mask
	for vecs := 2; vecs >= 1; vecs-- {
		part := name + map[int]string{2: "two", 1: "one"}[vecs]
		s.Label(part)
		if vecs == 2 {
			s.CMPQ(t.cols, U8(s.Lanes()))
			s.JLE(LabelRef(name + "one"))
			s.SUBQ(U8(s.Lanes()), t.cols)
		}
		m = s.LaneMask(t.cols, reg.K1, s.Pick(16, 32)-1)
		s.sums(t, part, rows, vecs, &m)
		s.limits(t)
		s.IMUL3Q(U8(rows-1), t.ldc, t.row)
		s.ADDQ(t.c, t.row)
		s.residual(t, lastLabel(vecs, false, rows))
		s.IMUL3Q(U8(rows-1), t.left, t.panel)
		s.ADDQ(t.panel, t.at)
		s.JMP(LabelRef(lastLabel(vecs, true, rows)))
	}
	return m
}

func lastLabel(vecs int, residual bool, rows int) string {
	return simd.Rung(fmt.Sprintf("last%d%v", vecs, residual), rows)
}

// sums writes one tile of the given vectors, of which the last may be masked.
func (s isa) sums(t spanArgs, name string, rows, vecs int, m *simd.Mask) {
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
	factor := func(r int) reg.VecPhysical { return s.V(top - 1 - vecs - r%s.Pick(1, 2)) }
	for r := range rows {
		s.VBROADCASTSS(simd.At(t.bias, 4*r), acc(r, 0))
		if vecs == 2 {
			s.VMOVAPS(acc(r, 0), acc(r, 1))
		}
	}
	s.MOVQ(t.k, t.left)
	s.MOVQ(t.offsets, t.at)
	s.MOVQ(t.a, t.panel)
	s.Label(name + "k")
	s.MOVQ(simd.At(t.at, 0), t.row)
	s.LEAQ(Mem{Base: t.b, Index: t.row, Scale: 4}, t.row)
	for v := range vecs {
		s.LoadLanes(simd.At(t.row, v*size), b(v), of(v))
	}
	for r := range rows {
		x := factor(r)
		s.VBROADCASTSS(simd.At(t.panel, 4*r), x)
		for v := range vecs {
			s.VFMADD231PS(b(v), x, acc(r, v))
		}
	}
	s.ADDQ(U8(8), t.at)
	s.ADDQ(U8(size), t.panel)
	s.DECQ(t.left)
	s.JNZ(LabelRef(name + "k"))
}

// limits loads the bounds of results.
func (s isa) limits(t spanArgs) {
	lo, hi, _ := s.ends()
	s.VBROADCASTSS(simd.At(t.e, spanLo), lo)
	s.VBROADCASTSS(simd.At(t.e, spanHi), hi)
}

// ends are the registers of the bounds of results, and one that is free.
func (s isa) ends() (lo, hi, free reg.VecPhysical) {
	top := s.Pick(15, 32)
	return s.V(top - 1), s.V(top - 2), s.V(top - 3)
}

// residual leaves the place of the tile's residual in at and the distance of its
// rows in left, or jumps to none.
func (s isa) residual(t spanArgs, none string) {
	s.MOVQ(simd.At(t.e, spanResidual), t.at)
	s.TESTQ(t.at, t.at)
	s.JEQ(LabelRef(none))
	s.MOVQ(simd.At(t.e, spanResidualLD), t.left)
	s.ADDQ(simd.At(t.e, spanDone), t.at)
}

// store writes the end of a tile of whole vectors.
func (s isa) store(t spanArgs, name string, rows int) {
	s.limits(t)
	s.MOVQ(t.c, t.row)
	s.residual(t, name+"alone")
	s.ADDQ(U32(2*4*s.Lanes()), simd.At(t.e, spanDone))
	for _, residual := range []bool{true, false} {
		for r := range rows {
			s.storeRow(t, r, 2, residual, nil)
			s.ADDQ(t.ldc, t.row)
			if residual {
				s.ADDQ(t.left, t.at)
			}
		}
		if residual {
			s.JMP(LabelRef(name + "stored"))
			s.Label(name + "alone")
		}
	}
	s.Label(name + "stored")
}

// storeRow stores the sums of row r at row, through the rest of the epilogue.
func (s isa) storeRow(t spanArgs, r, vecs int, residual bool, m *simd.Mask) {
	size := 4 * s.Lanes()
	lo, hi, x := s.ends()
	for v := range vecs {
		of, acc := m, s.V(r*vecs+v)
		if v < vecs-1 {
			of = nil
		}
		if residual {
			s.LoadLanes(simd.At(t.at, v*size), x, of)
			s.VADDPS(x, acc, acc)
		}
		// The last source is what a comparison with NaN returns.
		s.VMAXPS(acc, lo, acc)
		s.VMINPS(acc, hi, acc)
		s.StoreLanes(acc, simd.At(t.row, v*size), of)
	}
}
