package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// runRows is how many positions follow each other before the second run begins.
const runRows = 7

// tileArgs are the registers of a tile kernel.
type tileArgs struct {
	k, src, offsets, jump, b, next, tile, acc reg.GPVirtual
	row                                       reg.GPVirtual
}

// emitTile writes the product of positions and channels. Positions are read one
// by one where they lie, so that neither padding to whole vectors nor packing
// costs anything; channels fill the vectors.
func emitTile(s isa) {
	mr := s.Pick(6, 14)
	s.Begin("convTile", "func(rows, vecs, k int, src *float32, offsets *int64, jump int, b, next, tile *float32, acc bool)",
		fmt.Sprintf("stores the sums over k >= 1 steps p of position r, 1 to %d of them, times\nthe %d·vecs floats of row p of b in row r of tile, %d floats a row, or adds\nthem with acc. vecs is 1 or 2. Position r is src[offsets[p]+r], jump floats later\nfrom the eighth on. One line a step is fetched from next, which is not used otherwise.",
			mr, s.Lanes(), 2*s.Lanes()))
	rows, vecs := s.Arg("rows"), s.Arg("vecs")
	t := tileArgs{k: s.Arg("k"), src: s.Arg("src"), offsets: s.Arg("offsets"), jump: s.Bytes("jump"),
		b: s.Arg("b"), next: s.Arg("next"), tile: s.Arg("tile"), acc: s.GP64(), row: s.GP64()}
	s.XORQ(t.acc, t.acc)
	s.Load(s.Param("acc"), t.acc.As8())
	s.CMPQ(vecs, U8(1))
	s.JEQ(LabelRef("v1"))
	for n := 2; n >= 1; n-- {
		if n == 1 {
			s.Label("v1")
		}
		again := fmt.Sprintf("again%d", n)
		of := func(r int) string { return fmt.Sprintf("r%dv%d", r, n) }
		s.Split(rows, mr, runRows, again)
		for i := range mr * n {
			s.Zero(s.V(i))
		}
		s.Enter(rows, simd.Heights(mr), of)
		for _, r := range simd.Heights(mr) {
			s.tile(t, of(r), r, n)
		}
		for _, add := range []bool{true, false} {
			s.Ladder(mr, func(rows int) string { return storeLabel(n, add, rows) }, func(r int) {
				for v := range n {
					at := simd.At(t.tile, (2*r+v)*4*s.Lanes())
					if add {
						s.VADDPS(at, s.V(r*n+v), s.V(r*n+v))
					}
					s.VMOVUPS(s.V(r*n+v), at)
				}
			})
			if add {
				s.JMP(LabelRef(again + "done"))
			}
		}
		s.Label(again + "done")
		s.Rest(rows, mr, again, func(reg.GPVirtual) { s.secondRun(t) })
		s.End()
	}
}

// secondRun sets the registers for the rows after the first run, which are one run.
func (s isa) secondRun(t tileArgs) {
	s.Load(s.Param("k"), t.k)
	s.Load(s.Param("offsets"), t.offsets)
	s.Load(s.Param("b"), t.b)
	s.Load(s.Param("next"), t.next)
	s.LEAQ(Mem{Base: t.src, Index: t.jump, Scale: 1, Disp: 4 * runRows}, t.src)
	s.ADDQ(U32(runRows*2*4*s.Lanes()), t.tile)
}

func storeLabel(vecs int, add bool, rows int) string {
	return simd.Rung(fmt.Sprintf("store%d%v", vecs, add), rows)
}

// tile writes the loop over k of a tile: positions by one or two vectors of
// channels in registers. A step loads the weights once, from the second cache,
// asking for the next block's meanwhile, and broadcasts neighbouring positions of
// one input row, from the first.
func (s isa) tile(t tileArgs, name string, rows, vecs int) {
	size := 4 * s.Lanes()
	top := s.Pick(16, 32)
	b := func(v int) reg.VecPhysical { return s.V(top - 1 - v) }
	s.Label(name)
	s.MOVQ(simd.At(t.offsets, 0), t.row)
	s.LEAQ(Mem{Base: t.src, Index: t.row, Scale: 4}, t.row)
	for v := range vecs {
		s.VMOVUPS(simd.At(t.b, v*size), b(v))
	}
	s.PREFETCHT1(simd.At(t.next, 0))
	for r := range rows {
		x := s.V(top - vecs - 1 - r%s.Pick(1, 2))
		if r < runRows {
			s.VBROADCASTSS(simd.At(t.row, 4*r), x)
		} else {
			s.VBROADCASTSS(simd.Indexed(t.row, t.jump, 4*r), x)
		}
		for v := range vecs {
			s.MultiplyAdd(b(v), x, s.V(r*vecs+v))
		}
	}
	s.ADDQ(U8(8), t.offsets)
	s.ADDQ(U8(64), t.next)
	s.ADDQ(U32(size*vecs), t.b)
	s.DECQ(t.k)
	s.JNZ(LabelRef(name))
	s.TESTQ(t.acc, t.acc)
	s.JNE(LabelRef(storeLabel(vecs, true, rows)))
	s.JMP(LabelRef(storeLabel(vecs, false, rows)))
}
