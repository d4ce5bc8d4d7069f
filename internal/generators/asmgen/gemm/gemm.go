package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// panelAhead is how far, in bytes, a panel of a is asked for early.
const panelAhead = 2048

func emitGemm(c *build.Context) {
	for _, s := range []isa{{simd.AVX512(c)}, {simd.AVX2(c)}} {
		emitTile(s)
		emitTilePack(s)
		emitEpilogue(s)
		emitPeak(s)
	}
}

// tileArgs are the registers of a tile kernel.
type tileArgs struct {
	rows, k, a, b, ldb, c, ldc, acc reg.GPVirtual
	next, step                      reg.GPVirtual
	last                            reg.GPVirtual // columns in the last vector
	pack                            reg.GPVirtual // where whole rows of b are copied to, of emitTilePack
}

// emitTile writes the micro-kernel, with one or two vectors of columns. No tile
// computes rows that are thrown away: see simd.Heights. The sums of the tile stay
// in registers over the block of k: six rows by two vectors, or fourteen. A step
// loads the two vectors of b, from the first cache, and broadcasts the elements of
// a, which follow each other in the panel and come from the second.
func emitTile(s isa) {
	mr := s.Pick(6, 14)
	s.Begin("gemmTile", "func(rows, k int, a, b *float32, ldb int, c *float32, ldc, cols int, acc bool, next *float32, step int)",
		fmt.Sprintf("computes c = a·b, or c += a·b with acc, for rows of 1 to %d,\ncols of 1 to %d and k >= 1: a is a panel of %d floats for each of k steps, b\nhas rows of ldb floats of which whole vectors are read. Meanwhile it asks for\nthe memory at next, which moves by step bytes on each step of k.",
			mr, 2*s.Lanes(), s.Lanes()))
	t := tileArgs{rows: s.Arg("rows"), k: s.Arg("k"), a: s.Arg("a"), b: s.Arg("b"), ldb: s.Bytes("ldb"),
		c: s.Arg("c"), ldc: s.Bytes("ldc"), last: s.Arg("cols")}
	t.next, t.step = s.Arg("next"), s.Arg("step")
	t.loadAcc(s)
	s.CMPQ(t.last, U8(s.Lanes()))
	s.JLE(LabelRef("v1"))
	s.SUBQ(U8(s.Lanes()), t.last)
	for vecs := 2; vecs >= 1; vecs-- {
		if vecs == 1 {
			s.Label("v1")
		}
		s.tiles(t, simd.Heights(mr), vecs)
	}
}

// emitTilePack writes the micro-kernel for the first tile of a panel of b: it
// reads the panel where it lies and copies it as it goes, so that packing costs
// nothing but stores.
func emitTilePack(s isa) {
	mr := s.Pick(6, 14)
	s.Begin("gemmTilePack", "func(rows, k int, a, b *float32, ldb int, c *float32, ldc int, acc bool, next *float32, step int, pack *float32)",
		fmt.Sprintf("is gemmTile%s for %d columns and rows of %d or %d. It also stores\nthe columns of b, row after row, in pack.", s.Suffix(), 2*s.Lanes(), mr, mr-1))
	t := tileArgs{rows: s.Arg("rows"), k: s.Arg("k"), a: s.Arg("a"), b: s.Arg("b"), ldb: s.Bytes("ldb"), c: s.Arg("c"), ldc: s.Bytes("ldc"), pack: s.Arg("pack")}
	t.next, t.step = s.Arg("next"), s.Arg("step")
	t.loadAcc(s)
	s.tiles(t, []int{mr, mr - 1}, 2)
}

func (t *tileArgs) loadAcc(s isa) {
	t.acc = s.GP64()
	s.XORQ(t.acc, t.acc)
	s.Load(s.Param("acc"), t.acc.As8())
}

// tiles writes the code for every number of rows. Only products differ: the code
// before them is that for the most rows, and the code after them, for fewer rows,
// is that for the most from a later point on.
func (s isa) tiles(t tileArgs, heights []int, vecs int) {
	mr, name := heights[0], fmt.Sprintf("v%d", vecs)
	of := func(r int) string { return fmt.Sprintf("r%dv%d", r, vecs) }
	if t.pack == nil {
		s.Split(t.rows, mr, 0, "again"+name)
	}
	s.askRows(name+"ask", t.rows, t.c, t.ldc, vecs)
	for i := range mr * vecs {
		s.Zero(s.V(i))
	}
	s.Enter(t.rows, heights, of)
	for _, r := range heights {
		s.tile(t, of(r), r, vecs)
		s.JMP(LabelRef("finish" + name))
	}
	s.Label("finish" + name)
	s.finish(t, heights, vecs)
	s.Label("done" + name)
	if t.pack == nil {
		s.Rest(t.rows, mr, "again"+name, t.restore(s))
	}
	s.End()
}

// restore sets the registers for the rows below so many.
func (t *tileArgs) restore(s isa) func(above reg.GPVirtual) {
	return func(above reg.GPVirtual) {
		for _, p := range []struct {
			name string
			to   reg.GPVirtual
		}{{"k", t.k}, {"a", t.a}, {"b", t.b}, {"c", t.c}, {"next", t.next}} {
			s.Load(s.Param(p.name), p.to)
		}
		s.LEAQ(Mem{Base: t.a, Index: above, Scale: 4}, t.a)
		s.IMULQ(t.ldc, above)
		s.ADDQ(above, t.c)
	}
}

// askRows asks for the lines of a tile of c, whose rows may lie pages apart, where
// no hardware looks ahead. It leaves p, which is at the first row, at the last one.
func (s isa) askRows(label string, rows, p, ldc reg.GPVirtual, vecs int) {
	left := s.GP64()
	s.MOVQ(rows, left)
	s.SUBQ(ldc, p)
	s.Label(label)
	s.ADDQ(ldc, p)
	for line := 0; line < 4*vecs*s.Lanes(); line += 64 {
		s.PREFETCHT0(simd.At(p, line))
	}
	s.DECQ(left)
	s.JNZ(LabelRef(label))
}

// tile writes the sums of a tile. Two broadcast registers take turns where there
// are as many. Requests for memory stand in the middle of a step, between
// multiply-adds that do not wait for loads.
func (s isa) tile(t tileArgs, name string, rows, vecs int) {
	size := 4 * s.Lanes()
	acc := func(r, v int) reg.VecPhysical { return s.V(r*vecs + v) }
	top := s.Pick(16, 32)
	b := func(v int) reg.VecPhysical { return s.V(top - 1 - v) }
	s.Label(name)
	for v := range vecs {
		s.VMOVUPS(simd.At(t.b, v*size), b(v))
	}
	if t.pack != nil {
		for v := range vecs {
			s.PREFETCHT0(Mem{Base: t.b, Index: t.ldb, Scale: 8, Disp: v * size})
			s.VMOVUPS(b(v), simd.At(t.pack, v*size))
		}
		s.ADDQ(U32(vecs*size), t.pack)
	}
	for r := range rows {
		if r == rows/2 {
			// Requests cost AVX2 more: a step has half the work.
			s.PREFETCHT1(simd.At(t.next, 0))
			if s.Wide() {
				s.PREFETCHT0(simd.At(t.a, panelAhead))
				s.PREFETCHT1(simd.At(t.next, size))
			}
			s.ADDQ(t.step, t.next)
		}
		x := s.V(top - vecs - 1 - r%s.Pick(1, 2))
		s.VBROADCASTSS(simd.At(t.a, 4*r), x)
		for v := range vecs {
			s.MultiplyAdd(b(v), x, acc(r, v))
		}
	}
	s.ADDQ(U8(size), t.a)
	s.ADDQ(t.ldb, t.b)
	s.DECQ(t.k)
	s.JNZ(LabelRef(name))
}

// finish stores the sums of a tile, or adds them, from the last row of c, where c
// stands, to the first. Whole vectors are stored without a mask: later code reads
// them back, and processors do not forward masked stores.
func (s isa) finish(t tileArgs, heights []int, vecs int) {
	name := fmt.Sprintf("v%d", vecs)
	label := func(add bool, m *simd.Mask) func(rows int) string {
		return func(rows int) string {
			return simd.Rung(fmt.Sprintf("%sadd%vmask%v", name, add, m != nil), rows)
		}
	}
	masks := []*simd.Mask{nil}
	if t.pack == nil {
		s.CMPQ(t.last, U8(s.Lanes()))
		s.JEQ(LabelRef(name + "whole"))
		mask := s.LaneMask(t.last, reg.K1, s.Pick(16, 32)-1)
		masks = []*simd.Mask{&mask, nil}
	}
	for _, m := range masks {
		if m != masks[0] {
			s.Label(name + "whole")
		}
		plain := fmt.Sprintf("%splain%v", name, m != nil)
		s.TESTQ(t.acc, t.acc)
		s.JEQ(LabelRef(plain))
		s.Enter(t.rows, heights, label(true, m))
		s.Label(plain)
		s.Enter(t.rows, heights, label(false, m))
	}
	for i := range 2 * len(masks) {
		add, m := i%2 == 0, masks[i/2]
		s.Ladder(heights[0], label(add, m), func(r int) { s.finishRow(t, r, vecs, add, m) })
		s.JMP(LabelRef("done" + name))
	}
}

// finishRow stores or adds the sums of row r, where c stands, and moves c up.
func (s isa) finishRow(t tileArgs, r, vecs int, add bool, m *simd.Mask) {
	size, x := 4*s.Lanes(), s.V(s.Pick(16, 32)-2)
	for v := range vecs {
		of := m
		if v < vecs-1 {
			of = nil
		}
		if add {
			s.LoadLanes(simd.At(t.c, v*size), x, of)
			s.VADDPS(x, s.V(r*vecs+v), s.V(r*vecs+v))
		}
		s.StoreLanes(s.V(r*vecs+v), simd.At(t.c, v*size), of)
	}
	if r > 0 {
		s.SUBQ(t.ldc, t.c)
	}
}

// Fields of kernel.tileEpilogue, in bytes.
const (
	epiScaleRow = 8 * iota
	epiBiasRow
	epiScaleCol
	epiBiasCol
	epiResidual
	epiResidualLD
	epiLo
	epiHi = epiLo + 4
)

// emitEpilogue writes the pass over a stored tile. A vector is taken through
// all its operations at once; absent ones cost a predicted branch.
func emitEpilogue(s isa) {
	s.Begin("epilogueTile", "func(rows, cols int, c *float32, ldc int, e *byte)",
		"applies e, a tileEpilogue, to a tile of at least one row and column.")
	rows, cols, c, ldc, e := s.Arg("rows"), s.Arg("cols"), s.Arg("c"), s.Bytes("ldc"), s.Arg("e")
	size := 4 * s.Lanes()
	sr, br, sc, bc, res, ldr := s.GP64(), s.GP64(), s.GP64(), s.GP64(), s.GP64(), s.GP64()
	for i, r := range []reg.GPVirtual{sr, br, sc, bc, res, ldr} {
		s.MOVQ(simd.At(e, 8*i), r)
	}
	s.SHLQ(U8(2), ldr)
	s.VBROADCASTSS(simd.At(e, epiLo), s.V(0))
	s.VBROADCASTSS(simd.At(e, epiHi), s.V(1))
	s.wholeTile(wholeArgs{rows: rows, cols: cols, c: c, ldc: ldc, sr: sr, br: br, sc: sc, bc: bc, res: res, ldr: ldr})
	s.Label("general")
	x, rowScale, rowBias, t := s.V(2), s.V(3), s.V(4), s.V(5)
	j, left := s.GP64(), s.GP64()
	// optional emits body unless the pointer p is nil.
	optional := func(p reg.GPVirtual, label string, body func()) {
		s.TESTQ(p, p)
		s.JEQ(LabelRef(label))
		body()
		s.Label(label)
	}
	s.Label("row")
	optional(sr, "noScaleRow", func() { s.VBROADCASTSS(simd.At(sr, 0), rowScale); s.ADDQ(U8(4), sr) })
	optional(br, "noBiasRow", func() { s.VBROADCASTSS(simd.At(br, 0), rowBias); s.ADDQ(U8(4), br) })
	s.XORQ(j, j)
	s.MOVQ(cols, left)
	vector := func(name string, m *simd.Mask) {
		s.LoadLanes(simd.Indexed(c, j, 0), x, m)
		optional(sr, name+"1", func() { s.VMULPS(rowScale, x, x) })
		optional(sc, name+"2", func() { s.LoadLanes(simd.Indexed(sc, j, 0), t, m); s.VMULPS(t, x, x) })
		optional(br, name+"3", func() { s.VADDPS(rowBias, x, x) })
		optional(bc, name+"4", func() { s.LoadLanes(simd.Indexed(bc, j, 0), t, m); s.VADDPS(t, x, x) })
		optional(res, name+"5", func() { s.LoadLanes(simd.Indexed(res, j, 0), t, m); s.VADDPS(t, x, x) })
		// The last source is the result of a comparison with NaN.
		s.VMAXPS(x, s.V(0), x)
		s.VMINPS(x, s.V(1), x)
		s.StoreLanes(x, simd.Indexed(c, j, 0), m)
	}
	s.Label("vec")
	s.CMPQ(left, U8(s.Lanes()))
	s.JLT(LabelRef("tail"))
	vector("f", nil)
	s.ADDQ(U8(size), j)
	s.SUBQ(U8(s.Lanes()), left)
	s.JMP(LabelRef("vec"))
	s.Label("tail")
	s.TESTQ(left, left)
	s.JEQ(LabelRef("next"))
	m := s.LaneMask(left, reg.K1, 6)
	vector("m", &m)
	s.Label("next")
	s.ADDQ(ldc, c)
	s.TESTQ(res, res)
	s.JEQ(LabelRef("noResidual"))
	s.ADDQ(ldr, res)
	s.Label("noResidual")
	s.DECQ(rows)
	s.JNZ(LabelRef("row"))
	s.End()
}

// wholeArgs are the registers of an epilogue.
type wholeArgs struct {
	rows, cols, c, ldc, sr, br, sc, bc, res, ldr reg.GPVirtual
}

// wholeTile writes the common epilogues of a tile of two whole vectors: a bias
// of one kind, perhaps a residual. Others go on at label general.
func (s isa) wholeTile(t wholeArgs) {
	size := 4 * s.Lanes()
	zero := s.StaticGlobal("minusZero" + s.Suffix()) // adding it changes nothing
	s.DataAttributes(attr.RODATA | attr.NOPTR)
	s.AddDatum(0, U32(1<<31))
	s.CMPQ(t.cols, U8(2*s.Lanes()))
	s.JNE(LabelRef("general"))
	s.TESTQ(t.sr, t.sr)
	s.JNE(LabelRef("general"))
	s.TESTQ(t.sc, t.sc)
	s.JNE(LabelRef("general"))
	bias, step := s.GP64(), s.GP64()
	loop := func(name string, perRow, residual bool) {
		s.Label(name)
		b0, b1 := s.V(5), s.V(6)
		if perRow {
			s.VBROADCASTSS(simd.At(bias, 0), b0)
			s.ADDQ(step, bias)
			b1 = b0
		}
		for i, b := range []reg.VecPhysical{b0, b1} {
			x := s.V(2 + i)
			s.VADDPS(simd.At(t.c, i*size), b, x)
			if residual {
				s.VADDPS(simd.At(t.res, i*size), x, x)
			}
			s.VMAXPS(x, s.V(0), x)
			s.VMINPS(x, s.V(1), x)
			s.VMOVUPS(x, simd.At(t.c, i*size))
		}
		s.ADDQ(t.ldc, t.c)
		if residual {
			s.ADDQ(t.ldr, t.res)
		}
		s.DECQ(t.rows)
		s.JNZ(LabelRef(name))
		s.End()
	}
	s.TESTQ(t.bc, t.bc)
	s.JNE(LabelRef("wholeCol"))
	s.MOVQ(t.br, bias)
	s.MOVQ(U32(4), step)
	s.TESTQ(bias, bias)
	s.JNE(LabelRef("wholeBiased"))
	s.LEAQ(zero, bias)
	s.XORQ(step, step)
	s.Label("wholeBiased")
	s.TESTQ(t.res, t.res)
	s.JNE(LabelRef("wholeRowResidual"))
	loop("wholeRow", true, false)
	loop("wholeRowResidual", true, true)
	s.Label("wholeCol")
	s.TESTQ(t.br, t.br)
	s.JNE(LabelRef("general"))
	s.VMOVUPS(simd.At(t.bc, 0), s.V(5))
	s.VMOVUPS(simd.At(t.bc, size), s.V(6))
	s.TESTQ(t.res, t.res)
	s.JNE(LabelRef("wholeColResidual"))
	loop("wholeColumns", false, false)
	loop("wholeColResidual", false, true)
}

// emitPeak writes the loop that measures the machine's peak.
func emitPeak(s isa) {
	s.Begin("peak", "func(n int)", "runs n rounds of twelve independent multiply-adds on whole vectors,\nthe rate that products are compared with.")
	n := s.Arg("n")
	for i := range 14 {
		s.Zero(s.V(i))
	}
	s.Label("loop")
	for i := range 12 {
		s.VFMADD231PS(s.V(12), s.V(13), s.V(i))
	}
	s.DECQ(n)
	s.JNZ(LabelRef("loop"))
	s.End()
}
