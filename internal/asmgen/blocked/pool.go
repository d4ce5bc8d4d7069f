package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/asmgen/simd"
)

// emitPool writes the pooling of a block of channels.
func emitPool(s isa) {
	least := s.StaticGlobal("least" + s.Suffix())
	s.DataAttributes(attr.RODATA | attr.NOPTR)
	s.AddDatum(0, U32(0xff800000)) // minus infinity
	s.pool("blockMax", "takes the greatest of the taps, of which NaN is one,", least, tile.greatest, func(tile, int) {})
	s.pool("blockSum", "divides the sum of the taps by divisors[r]", s.minusZero, tile.sum, tile.divide)
}

// pool writes a function that begins with start, takes each tap and then ends.
// Positions are accumulators, as many as a convolution has, so that their chains
// hide each other's latency.
func (s isa) pool(name, doc string, start Mem, take func(tile), end func(tile, int)) {
	s.Begin(name, "func(rows int, args *byte)", doc+" for a block of\nchannels at rows positions as args, a blockTile, says: 1 to 14 rows (AVX2: 6).")
	t := s.newTile(s.Arg("args"), s.Arg("rows"))
	t.blocks = 1
	t.begin()
	t.MOVQ(simd.At(t.args, tileTaps), t.taps)
	begin := func(r reg.VecPhysical) {
		if r == t.V(0) {
			t.VBROADCASTSS(start, r)
		} else {
			t.VMOVAPS(t.V(0), r)
		}
	}
	t.each(s.positions(), begin, func(t tile) {
		t.Label(t.name() + "tap")
		t.place()
		take(t)
		t.DECQ(t.taps)
		t.JNZ(LabelRef(t.name() + "tap"))
	})
	t.MOVQ(simd.At(t.args, tileDivisors), t.far)
	t.MOVQ(simd.At(t.args, tileY), t.near)
	label := func(rows int) string { return simd.Rung("store", rows) }
	t.Enter(t.count, down(s.positions()), label)
	t.rows = s.positions()
	t.Ladder(t.rows, label, func(follow int) {
		r := t.rows - 1 - follow // if rows are the most
		end(t, r)
		for v := range t.vectors() {
			t.VMOVUPS(t.acc(r, v), simd.At(t.near, t.part(v)))
		}
		if follow > 0 {
			t.ADDQ(U8(blockBytes), t.near)
		}
	})
	t.End()
}

func (t tile) sum() {
	t.sums(func(from Mem, acc reg.VecPhysical, _ int) { t.VADDPS(from, acc, acc) })
}

// greatest keeps NaN: a comparison with one returns the last source, the tap,
// so lanes that are NaN already are left alone.
func (t tile) greatest() {
	const ordered = 7
	t.sums(func(from Mem, acc reg.VecPhysical, _ int) {
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

// divide divides the sum of position r by the next divisor.
func (t tile) divide(r int) {
	d := t.top(r % 2)
	t.VBROADCASTSS(simd.At(t.far, 0), d)
	t.ADDQ(U8(4), t.far)
	for v := range t.vectors() {
		t.VDIVPS(d, t.acc(r, v), t.acc(r, v))
	}
}
