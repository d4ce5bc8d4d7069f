package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func emitGemm(c *build.Context) {
	for _, s := range []isa{avx512(c), avx2(c)} {
		emitTile(s)
		emitEpilogue(s)
		emitPeak(s)
	}
}

// tileArgs are the registers of a tile kernel.
type tileArgs struct {
	rows, k, a, b, ldb, c, ldc, acc reg.GPVirtual
	last                            reg.GPVirtual // columns in the last vector
}

// emitTile writes the micro-kernel. Every number of rows up to the most that
// registers hold has code of its own, with one or two vectors of columns, so
// that no tile computes rows that are thrown away.
func emitTile(s isa) {
	mr := s.pick(6, 14)
	s.begin("gemmTile", "func(rows, k int, a, b *float32, ldb int, c *float32, ldc, cols int, acc bool)",
		fmt.Sprintf("computes c = a·b, or c += a·b with acc, for rows of 1 to %d,\ncols of 1 to %d and k >= 1: a is a panel of %d floats for each of k steps, b\nhas rows of ldb floats of which whole vectors are read.",
			mr, 2*s.lanes(), s.lanes()))
	t := tileArgs{rows: s.arg("rows"), k: s.arg("k"), a: s.arg("a"), b: s.arg("b"), ldb: s.bytes("ldb"),
		c: s.arg("c"), ldc: s.bytes("ldc"), last: s.arg("cols")}
	t.acc = s.GP64()
	s.XORQ(t.acc, t.acc)
	s.Load(s.Param("acc"), t.acc.As8())
	s.CMPQ(t.last, U8(s.lanes()))
	s.JLE(LabelRef("v1"))
	s.SUBQ(U8(s.lanes()), t.last)
	for vecs := 2; vecs >= 1; vecs-- {
		if vecs == 1 {
			s.Label("v1")
		}
		for r := mr - 1; r >= 1; r-- {
			s.CMPQ(t.rows, U8(r))
			s.JEQ(LabelRef(fmt.Sprintf("r%dv%d", r, vecs)))
		}
		for r := mr; r >= 1; r-- {
			s.tile(t, r, vecs)
		}
	}
}

func (s isa) tile(t tileArgs, rows, vecs int) {
	name := fmt.Sprintf("r%dv%d", rows, vecs)
	size := 4 * s.lanes()
	acc := func(r, v int) reg.VecPhysical { return s.v(r*vecs + v) }
	top := s.pick(16, 32)
	b := func(v int) reg.VecPhysical { return s.v(top - 1 - v) }
	s.Label(name)
	for i := range rows * vecs {
		s.zero(s.v(i))
	}
	s.Label(name + "k")
	for v := range vecs {
		s.VMOVUPS(at(t.b, v*size), b(v))
	}
	for r := range rows {
		x := s.v(top - vecs - 1 - r%s.pick(1, 2))
		s.VBROADCASTSS(at(t.a, 4*r), x)
		for v := range vecs {
			s.VFMADD231PS(b(v), x, acc(r, v))
		}
	}
	s.ADDQ(U8(size), t.a)
	s.ADDQ(t.ldb, t.b)
	s.DECQ(t.k)
	s.JNZ(LabelRef(name + "k"))
	// The operands' registers are free now.
	m := s.laneMask(t.last, reg.K1, top-1)
	of := func(v int) *mask {
		if v == vecs-1 {
			return &m
		}
		return nil
	}
	s.TESTQ(t.acc, t.acc)
	s.JEQ(LabelRef(name + "store"))
	for r := range rows {
		for v := range vecs {
			s.load(at(t.c, v*size), s.v(top-2), of(v))
			s.VADDPS(s.v(top-2), acc(r, v), acc(r, v))
			s.store(acc(r, v), at(t.c, v*size), of(v))
		}
		s.ADDQ(t.ldc, t.c)
	}
	s.end()
	s.Label(name + "store")
	for r := range rows {
		for v := range vecs {
			s.store(acc(r, v), at(t.c, v*size), of(v))
		}
		s.ADDQ(t.ldc, t.c)
	}
	s.end()
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
	s.begin("epilogueTile", "func(rows, cols int, c *float32, ldc int, e *byte)",
		"applies e, a tileEpilogue, to a tile of at least one row and column.")
	rows, cols, c, ldc, e := s.arg("rows"), s.arg("cols"), s.arg("c"), s.bytes("ldc"), s.arg("e")
	size := 4 * s.lanes()
	sr, br, sc, bc, res, ldr := s.GP64(), s.GP64(), s.GP64(), s.GP64(), s.GP64(), s.GP64()
	for i, r := range []reg.GPVirtual{sr, br, sc, bc, res, ldr} {
		s.MOVQ(at(e, 8*i), r)
	}
	s.SHLQ(U8(2), ldr)
	s.VBROADCASTSS(at(e, epiLo), s.v(0))
	s.VBROADCASTSS(at(e, epiHi), s.v(1))
	s.wholeTile(wholeArgs{rows: rows, cols: cols, c: c, ldc: ldc, sr: sr, br: br, sc: sc, bc: bc, res: res, ldr: ldr})
	s.Label("general")
	x, rowScale, rowBias, t := s.v(2), s.v(3), s.v(4), s.v(5)
	j, left := s.GP64(), s.GP64()
	// optional emits body unless the pointer p is nil.
	optional := func(p reg.GPVirtual, label string, body func()) {
		s.TESTQ(p, p)
		s.JEQ(LabelRef(label))
		body()
		s.Label(label)
	}
	s.Label("row")
	optional(sr, "noScaleRow", func() { s.VBROADCASTSS(at(sr, 0), rowScale); s.ADDQ(U8(4), sr) })
	optional(br, "noBiasRow", func() { s.VBROADCASTSS(at(br, 0), rowBias); s.ADDQ(U8(4), br) })
	s.XORQ(j, j)
	s.MOVQ(cols, left)
	vector := func(name string, m *mask) {
		s.load(indexed(c, j, 0), x, m)
		optional(sr, name+"1", func() { s.VMULPS(rowScale, x, x) })
		optional(sc, name+"2", func() { s.load(indexed(sc, j, 0), t, m); s.VMULPS(t, x, x) })
		optional(br, name+"3", func() { s.VADDPS(rowBias, x, x) })
		optional(bc, name+"4", func() { s.load(indexed(bc, j, 0), t, m); s.VADDPS(t, x, x) })
		optional(res, name+"5", func() { s.load(indexed(res, j, 0), t, m); s.VADDPS(t, x, x) })
		// The last source is what a comparison with NaN returns.
		s.VMAXPS(x, s.v(0), x)
		s.VMINPS(x, s.v(1), x)
		s.store(x, indexed(c, j, 0), m)
	}
	s.Label("vec")
	s.CMPQ(left, U8(s.lanes()))
	s.JLT(LabelRef("tail"))
	vector("f", nil)
	s.ADDQ(U8(size), j)
	s.SUBQ(U8(s.lanes()), left)
	s.JMP(LabelRef("vec"))
	s.Label("tail")
	s.TESTQ(left, left)
	s.JEQ(LabelRef("next"))
	m := s.laneMask(left, reg.K1, 6)
	vector("m", &m)
	s.Label("next")
	s.ADDQ(ldc, c)
	s.TESTQ(res, res)
	s.JEQ(LabelRef("noResidual"))
	s.ADDQ(ldr, res)
	s.Label("noResidual")
	s.DECQ(rows)
	s.JNZ(LabelRef("row"))
	s.end()
}

// wholeArgs are the registers of an epilogue.
type wholeArgs struct {
	rows, cols, c, ldc, sr, br, sc, bc, res, ldr reg.GPVirtual
}

// wholeTile writes the common epilogues of a tile of two whole vectors: a bias
// of one kind, perhaps a residual. Others go on at label general.
func (s isa) wholeTile(t wholeArgs) {
	size := 4 * s.lanes()
	zero := s.StaticGlobal("minusZero" + s.suffix()) // adding it changes nothing
	s.DataAttributes(attr.RODATA | attr.NOPTR)
	s.AddDatum(0, U32(1<<31))
	s.CMPQ(t.cols, U8(2*s.lanes()))
	s.JNE(LabelRef("general"))
	s.TESTQ(t.sr, t.sr)
	s.JNE(LabelRef("general"))
	s.TESTQ(t.sc, t.sc)
	s.JNE(LabelRef("general"))
	bias, step := s.GP64(), s.GP64()
	loop := func(name string, perRow, residual bool) {
		s.Label(name)
		b0, b1 := s.v(5), s.v(6)
		if perRow {
			s.VBROADCASTSS(at(bias, 0), b0)
			s.ADDQ(step, bias)
			b1 = b0
		}
		for i, b := range []reg.VecPhysical{b0, b1} {
			x := s.v(2 + i)
			s.VADDPS(at(t.c, i*size), b, x)
			if residual {
				s.VADDPS(at(t.res, i*size), x, x)
			}
			s.VMAXPS(x, s.v(0), x)
			s.VMINPS(x, s.v(1), x)
			s.VMOVUPS(x, at(t.c, i*size))
		}
		s.ADDQ(t.ldc, t.c)
		if residual {
			s.ADDQ(t.ldr, t.res)
		}
		s.DECQ(t.rows)
		s.JNZ(LabelRef(name))
		s.end()
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
	s.VMOVUPS(at(t.bc, 0), s.v(5))
	s.VMOVUPS(at(t.bc, size), s.v(6))
	s.TESTQ(t.res, t.res)
	s.JNE(LabelRef("wholeColResidual"))
	loop("wholeColumns", false, false)
	loop("wholeColResidual", false, true)
}

// emitPeak writes the loop that measures what the machine can do.
func emitPeak(s isa) {
	s.begin("peak", "func(n int)", "runs n rounds of twelve independent multiply-adds on whole vectors,\nthe rate that products are compared with.")
	n := s.arg("n")
	for i := range 14 {
		s.zero(s.v(i))
	}
	s.Label("loop")
	for i := range 12 {
		s.VFMADD231PS(s.v(12), s.v(13), s.v(i))
	}
	s.DECQ(n)
	s.JNZ(LabelRef("loop"))
	s.end()
}
