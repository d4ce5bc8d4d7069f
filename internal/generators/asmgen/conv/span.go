package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
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

// span has the registers of a span kernel.
type span struct {
	isa
	rows, k, cols, a, b, offsets, c, ldc, e reg.GPVirtual
	left, row, at, panel, bias              reg.GPVirtual
}

// part is a kind of tile: its vectors, of which the last may be masked.
type part struct {
	name string
	vecs int
	mask *simd.Mask
}

// emitSpan writes the product of a panel of channels and a span of positions that
// follow each other. Sums are short here: they begin with the bias, and the rest
// of the epilogue happens before they are stored. A tile is channels by two
// vectors of positions in registers over all of k, which is short: so the bias is
// where sums begin, and nothing is stored in between.
func emitSpan(s isa) {
	mr := s.Pick(6, 14)
	s.Begin("convSpan", "func(rows, k, cols int, a, b *float32, offsets *int64, c *float32, ldc int, e *byte)",
		fmt.Sprintf("stores in c, rows of ldc floats, for rows of 1 to %d and at least one\ncolumn the sums over k >= 1 steps p of a, a panel of %d floats a step, times\nb[offsets[p]+column], with the epilogue e, a\nspanEpilogue, whose fields done and residual it changes.", mr, s.Lanes()))
	t := span{isa: s, rows: s.Arg("rows"), k: s.Arg("k"), cols: s.Arg("cols"), a: s.Arg("a"), b: s.Arg("b"),
		offsets: s.Arg("offsets"), c: s.Arg("c"), ldc: s.Bytes("ldc"), e: s.Arg("e")}
	t.left, t.row, t.at, t.panel, t.bias = s.GP64(), s.GP64(), s.GP64(), s.GP64(), s.GP64()
	s.LEAQ(simd.At(t.e, spanBias), t.bias)
	s.Split(t.rows, mr, 0, "again")
	s.Load(s.Param("rows"), t.row)
	s.SUBQ(t.rows, t.row)
	s.LEAQ(Mem{Base: t.bias, Index: t.row, Scale: 4}, t.bias)
	t.columns(mr)
	s.Label("done")
	s.Rest(t.rows, mr, "again", t.restore)
	s.End()
}

// restore sets the registers for the rows below so many. Their biases are the first
// ones, which is where label again moves to.
func (t span) restore(above reg.GPVirtual) {
	t.LEAQ(Mem{Base: t.a, Index: above, Scale: 4}, t.a)
	t.Load(t.Param("b"), t.b)
	t.Load(t.Param("cols"), t.cols)
	t.Load(t.Param("c"), t.c)
	t.MOVQ(above, t.row)
	t.IMULQ(t.ldc, t.row)
	t.ADDQ(t.row, t.c)
	t.MOVQ(above, t.row)
	t.NEGQ(t.row)
	t.LEAQ(Mem{Base: t.e, Index: t.row, Scale: 4, Disp: spanBias}, t.bias)
	t.MOVQ(U32(0), simd.At(t.e, spanDone))
	t.CMPQ(simd.At(t.e, spanResidual), U8(0))
	t.JEQ(LabelRef("belowAlone"))
	t.IMULQ(simd.At(t.e, spanResidualLD), above)
	t.ADDQ(above, simd.At(t.e, spanResidual))
	t.Label("belowAlone")
}

// columns writes the loop over tiles: pairs of vectors of columns, then the
// rest, whose last vector is masked.
func (t span) columns(mr int) {
	size := uint32(4 * t.Lanes())
	t.Label("tile")
	t.Columns(t.cols, func(name string, vecs int, m *simd.Mask) { t.tiles(mr, part{name, vecs, m}) }, func() {
		t.ADDQ(U32(2*size), t.b)
		t.ADDQ(U32(2*size), t.c)
	})
}

// tiles writes tiles of one kind. Only sums have code for every number of rows:
// they begin as those of the most, and fewer are stored by the code for the most
// from further down on. Rows lie from the last register to the first, so that they
// are stored from the first on: the other way round takes 2 % more.
func (t span) tiles(mr int, p part) {
	for r := range mr {
		t.VBROADCASTSS(simd.At(t.bias, 4*r), t.V(r*p.vecs))
		if p.vecs == 2 {
			t.VMOVAPS(t.V(2*r), t.V(2*r+1))
		}
	}
	t.MOVQ(t.k, t.left)
	t.MOVQ(t.offsets, t.at)
	t.MOVQ(t.a, t.panel)
	of := func(r int) string { return fmt.Sprintf("%s%d", p.name, r) }
	t.Enter(t.rows, simd.Heights(mr), of)
	for _, r := range simd.Heights(mr) {
		t.Label(of(r))
		t.sums(r, p)
		t.JNZ(LabelRef(of(r)))
		t.JMP(LabelRef(p.name + "store"))
	}
	t.Label(p.name + "store")
	t.store(mr, p)
	t.Label(p.name + "stored")
}

// sums writes one step of k.
func (t span) sums(rows int, p part) {
	size := 4 * t.Lanes()
	// Twelve sums, two vectors and a factor leave AVX2 one register, the mask's.
	top := t.Pick(15, 32)
	b := func(v int) reg.VecPhysical { return t.V(top - 1 - v) }
	t.MOVQ(simd.At(t.at, 0), t.row)
	t.LEAQ(Mem{Base: t.b, Index: t.row, Scale: 4}, t.row)
	for v := range p.vecs {
		t.LoadLanes(simd.At(t.row, v*size), b(v), p.maskOf(v))
	}
	for r := range rows {
		x := t.V(top - 1 - p.vecs - r%t.Pick(1, 2))
		t.VBROADCASTSS(simd.At(t.panel, 4*r), x)
		for v := range p.vecs {
			t.MultiplyAdd(b(v), x, t.V((rows-1-r)*p.vecs+v))
		}
	}
	t.ADDQ(U8(8), t.at)
	t.ADDQ(U8(size), t.panel)
	t.DECQ(t.left)
}

// store writes the end of a tile: its sums take the rest of the epilogue.
func (t span) store(mr int, p part) {
	lo, hi, _ := t.ends()
	t.VBROADCASTSS(simd.At(t.e, spanLo), lo)
	t.VBROADCASTSS(simd.At(t.e, spanHi), hi)
	t.MOVQ(t.c, t.row)
	label := func(residual bool) func(int) string {
		return func(rows int) string { return simd.Rung(fmt.Sprintf("%s%v", p.name, residual), rows) }
	}
	t.MOVQ(simd.At(t.e, spanResidual), t.at)
	t.TESTQ(t.at, t.at)
	t.JEQ(LabelRef(p.name + "alone"))
	t.MOVQ(simd.At(t.e, spanResidualLD), t.left)
	t.ADDQ(simd.At(t.e, spanDone), t.at)
	if p.mask == nil {
		t.ADDQ(U32(2*4*t.Lanes()), simd.At(t.e, spanDone))
	}
	t.Enter(t.rows, simd.Heights(mr), label(true))
	t.Label(p.name + "alone")
	t.Enter(t.rows, simd.Heights(mr), label(false))
	for _, residual := range []bool{true, false} {
		t.Ladder(mr, label(residual), func(follow int) { t.storeRow(follow, p, residual) })
		if residual {
			t.JMP(LabelRef(p.name + "stored"))
		}
	}
}

// ends are the registers of the bounds of results, and one that is free.
func (t span) ends() (lo, hi, free reg.VecPhysical) {
	top := t.Pick(15, 32)
	return t.V(top - 1), t.V(top - 2), t.V(top - 3)
}

// storeRow stores the sums of the row that so many follow at row and moves down.
func (t span) storeRow(follow int, p part, residual bool) {
	size := 4 * t.Lanes()
	lo, hi, x := t.ends()
	for v := range p.vecs {
		of, acc := p.maskOf(v), t.V(follow*p.vecs+v)
		if residual {
			t.LoadLanes(simd.At(t.at, v*size), x, of)
			t.VADDPS(x, acc, acc)
		}
		// The last source is the result of a comparison with NaN.
		t.VMAXPS(acc, lo, acc)
		t.VMINPS(acc, hi, acc)
		t.StoreLanes(acc, simd.At(t.row, v*size), of)
	}
	if follow == 0 {
		return
	}
	t.ADDQ(t.ldc, t.row)
	if residual {
		t.ADDQ(t.left, t.at)
	}
}

// maskOf is the mask of vector v, which only the last one may have.
func (p part) maskOf(v int) *simd.Mask {
	if v == p.vecs-1 {
		return p.mask
	}
	return nil
}
