package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// prepareUnroll is the vectors of a turn of the main loop.
const prepareUnroll = 4

// prepare has the registers for the prologue of rows of channels.
type prepare struct {
	isa
	to, from, left       reg.GPVirtual
	factor, term, lo, hi reg.VecPhysical
}

// emitPrepare writes a product, a sum and a clamp of rows, which a row has one factor
// and one term for. It is bound by the caches: two vectors are moved for four
// operations.
func emitPrepare(s isa) {
	s.Begin("convPrepare", "func(dst, src *float32, cols, rows int, e *byte)",
		"stores dst[y*cols+x] = src[y*cols+x]*factor[y] + term[y], each operation\nrounded, clamped to [lo, hi], for x < cols and y < rows, both at least 1, with what e,\na preparation, says.")
	t := prepare{isa: s, to: s.Arg("dst"), from: s.Arg("src"), left: s.GP64(), factor: s.V(8), term: s.V(9), lo: s.V(10), hi: s.V(11)}
	cols, rows, e := s.Arg("cols"), s.Arg("rows"), s.Arg("e")
	factor, term := s.GP64(), s.GP64()
	s.MOVQ(simd.At(e, 0), factor)
	s.MOVQ(simd.At(e, 8), term)
	s.VBROADCASTSS(simd.At(e, 16), t.lo)
	s.VBROADCASTSS(simd.At(e, 20), t.hi)
	tail := s.GP64()
	s.MOVQ(cols, tail)
	s.ANDQ(U8(uint8(s.Lanes()-1)), tail)
	m := s.LaneMask(tail, reg.K1, 12)
	s.Label("row")
	s.VBROADCASTSS(simd.At(factor, 0), t.factor)
	s.VBROADCASTSS(simd.At(term, 0), t.term)
	s.MOVQ(cols, t.left)
	t.wholes("turn", "one", prepareUnroll)
	t.wholes("one", "tail", 1)
	s.Label("tail")
	s.TESTQ(tail, tail)
	s.JEQ(LabelRef("next"))
	t.vector(0, &m)
	s.LEAQ(Mem{Base: t.to, Index: tail, Scale: 4}, t.to)
	s.LEAQ(Mem{Base: t.from, Index: tail, Scale: 4}, t.from)
	s.Label("next")
	s.ADDQ(U8(4), factor)
	s.ADDQ(U8(4), term)
	s.DECQ(rows)
	s.JNE(LabelRef("row"))
	s.End()
}

// wholes goes on with so many vectors at a time while there are as many, then at next.
func (t prepare) wholes(label, next string, n int) {
	t.Label(label)
	t.CMPQ(t.left, U8(uint8(n*t.Lanes())))
	t.JLT(LabelRef(next))
	for i := range n {
		t.vector(i, nil)
	}
	t.ADDQ(U32(uint32(n*t.Size())), t.from)
	t.ADDQ(U32(uint32(n*t.Size())), t.to)
	t.SUBQ(U8(uint8(n*t.Lanes())), t.left)
	t.JMP(LabelRef(label))
}

// vector writes the work on vector i.
func (t prepare) vector(i int, m *simd.Mask) {
	x := t.V(i)
	t.LoadLanes(simd.At(t.from, i*t.Size()), x, m)
	t.VMULPS(t.factor, x, x)
	t.VADDPS(t.term, x, x)
	// The last source is the result of a comparison with NaN.
	t.VMAXPS(x, t.lo, x)
	t.VMINPS(x, t.hi, x)
	t.StoreLanes(x, simd.At(t.to, i*t.Size()), m)
}
