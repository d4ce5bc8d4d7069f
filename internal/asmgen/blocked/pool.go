package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/asmgen/simd"
)

// emitPool writes the pooling of a block of channels.
func emitPool(s isa) {
	s.pool("blockMax", "takes the greatest of the taps, of which NaN is one,", tile.greatest, func(tile) {})
	s.pool("blockSum", "divides the sum of the taps by divisors[r]", tile.sum, tile.divide)
}

func (s isa) pool(name, doc string, take, end func(tile)) {
	s.Begin(name, "func(rows int, args *byte)", doc+" for a block of\nchannels at rows positions as args, a blockTile, says: 1 to 14 rows (AVX2: 6).")
	rows := s.Arg("rows")
	t := s.newTile(s.Arg("args"))
	t.blocks = 1
	t.rowsFrom(rows, s.positions())
	for r := 1; r <= s.positions(); r++ {
		t.rows = r
		t.begin()
		t.MOVQ(simd.At(t.args, tileTaps), t.taps)
		t.place()
		t.each(func(from Mem, acc reg.VecPhysical) { t.VMOVUPS(from, acc) })
		t.JMP(LabelRef(t.name() + "count"))
		t.Label(t.name() + "tap")
		t.place()
		take(t)
		t.Label(t.name() + "count")
		t.DECQ(t.taps)
		t.JNZ(LabelRef(t.name() + "tap"))
		end(t)
		t.MOVQ(simd.At(t.args, tileY), t.near)
		for r := range t.rows {
			for v := range t.vectors() {
				t.VMOVUPS(t.acc(r, v), simd.At(t.near, r*blockBytes+t.part(v)))
			}
		}
		t.End()
	}
}

// each calls f with the current tap of every position.
func (t tile) each(f func(from Mem, acc reg.VecPhysical)) {
	for r := range t.rows {
		for v := range t.vectors() {
			f(t.position(r, t.part(v)), t.acc(r, v))
		}
	}
}

func (t tile) sum() {
	t.each(func(from Mem, acc reg.VecPhysical) { t.VADDPS(from, acc, acc) })
}

// greatest keeps NaN: a comparison with one returns the last source, the tap,
// so lanes that are NaN already are left alone.
func (t tile) greatest() {
	const ordered = 7
	t.each(func(from Mem, acc reg.VecPhysical) {
		if t.Wide() {
			t.VCMPPS(U8(ordered), acc, acc, reg.K1)
			t.VMAXPS(from, acc, reg.K1, acc)
			return
		}
		m, x := t.top(0), t.top(1)
		t.VCMPPS(U8(ordered), acc, acc, m)
		t.VMAXPS(from, acc, x)
		t.VBLENDVPS(m, x, acc, acc)
	})
}

func (t tile) divide() {
	t.MOVQ(simd.At(t.args, tileDivisors), t.near)
	for r := range t.rows {
		d := t.top(r % 2)
		t.VBROADCASTSS(simd.At(t.near, 4*r), d)
		for v := range t.vectors() {
			t.VDIVPS(d, t.acc(r, v), t.acc(r, v))
		}
	}
}
