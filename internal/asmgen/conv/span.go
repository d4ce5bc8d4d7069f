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
	left, row, at, panel                    reg.GPVirtual
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
	t.left, t.row, t.at, t.panel = s.GP64(), s.GP64(), s.GP64(), s.GP64()
	for r := mr - 1; r >= 1; r-- {
		s.CMPQ(t.rows, U8(r))
		s.JEQ(LabelRef(fmt.Sprintf("r%d", r)))
	}
	for r := mr; r >= 1; r-- {
		s.span(t, r)
	}
}

// span writes the code for a number of rows: whole pairs of vectors of columns,
// then what is left, whose last vector is masked.
func (s isa) span(t spanArgs, rows int) {
	name := fmt.Sprintf("r%d", rows)
	size := 4 * s.Lanes()
	s.Label(name)
	s.CMPQ(t.cols, U8(2*s.Lanes()))
	s.JLT(LabelRef(name + "tail"))
	s.sums(t, name+"w", rows, 2, nil)
	s.ADDQ(U32(2*size), t.b)
	s.ADDQ(U32(2*size), t.c)
	s.SUBQ(U8(2*s.Lanes()), t.cols)
	s.JMP(LabelRef(name))
	s.Label(name + "tail")
	s.TESTQ(t.cols, t.cols)
	s.JEQ(LabelRef(name + "done"))
	s.CMPQ(t.cols, U8(s.Lanes()))
	s.JLE(LabelRef(name + "one"))
	s.SUBQ(U8(s.Lanes()), t.cols)
	m := s.LaneMask(t.cols, reg.K1, s.Pick(16, 32)-1)
	s.sums(t, name+"t", rows, 2, &m)
	s.End()
	s.Label(name + "one")
	m = s.LaneMask(t.cols, reg.K1, s.Pick(16, 32)-1)
	s.sums(t, name+"o", rows, 1, &m)
	s.Label(name + "done")
	s.End()
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
		s.VBROADCASTSS(simd.At(t.e, spanBias+4*r), acc(r, 0))
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
	s.finish(t, name, rows, vecs, acc, of)
}

// finish stores the sums of a tile through the rest of the epilogue.
func (s isa) finish(t spanArgs, name string, rows, vecs int, acc func(r, v int) reg.VecPhysical, of func(v int) *simd.Mask) {
	size := 4 * s.Lanes()
	top := s.Pick(15, 32)
	lo, hi, x := s.V(top-1), s.V(top-2), s.V(top-3)
	s.MOVQ(simd.At(t.e, spanResidual), t.row)
	s.TESTQ(t.row, t.row)
	s.JEQ(LabelRef(name + "e"))
	s.MOVQ(simd.At(t.e, spanResidualLD), t.left)
	s.ADDQ(simd.At(t.e, spanDone), t.row)
	s.ADDQ(U32(size*vecs), simd.At(t.e, spanDone))
	for r := range rows {
		for v := range vecs {
			s.LoadLanes(simd.At(t.row, v*size), x, of(v))
			s.VADDPS(x, acc(r, v), acc(r, v))
		}
		s.ADDQ(t.left, t.row)
	}
	s.Label(name + "e")
	s.VBROADCASTSS(simd.At(t.e, spanLo), lo)
	s.VBROADCASTSS(simd.At(t.e, spanHi), hi)
	s.MOVQ(t.c, t.row)
	for r := range rows {
		for v := range vecs {
			// The last source is what a comparison with NaN returns.
			s.VMAXPS(acc(r, v), lo, acc(r, v))
			s.VMINPS(acc(r, v), hi, acc(r, v))
			s.StoreLanes(acc(r, v), simd.At(t.row, v*size), of(v))
		}
		s.ADDQ(t.ldc, t.row)
	}
}
