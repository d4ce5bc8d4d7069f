package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/asmgen/simd"
)

// Positions of a tile by its blocks: what registers hold beside the weights.
func (s isa) shapes() [][2]int {
	if s.Wide() {
		return [][2]int{{1, 14}, {2, 14}, {3, 8}}
	}
	return [][2]int{{1, 6}}
}

// emitConv writes the convolution of a tile. A sum runs over all taps and their
// channels before it is stored, once. Sums fill the registers but for the weights
// of an input channel and two broadcast inputs, which take turns; inputs come from
// the first cache, weights as one stream from the second.
func emitConv(s isa) {
	s.Begin("blockConv", "func(rows, blocks int, args *byte)",
		"convolves a tile of rows positions and blocks blocks of output\nchannels as args, a blockTile, says: 1 to 14 rows of 1 or 2 blocks or 1 to 8 of 3\n(AVX2: 1 to 6 of 1).")
	blocks := s.Arg("blocks")
	t := s.newTile(s.Arg("args"), s.Arg("rows"))
	t.begin()
	shapes := s.shapes()
	for _, shape := range shapes[1:] {
		s.CMPQ(blocks, U8(shape[0]))
		s.JEQ(LabelRef(fmt.Sprintf("blocks%d", shape[0])))
	}
	for _, shape := range shapes {
		t.blocks = shape[0]
		s.Label(fmt.Sprintf("blocks%d", t.blocks))
		t.each(shape[1], t.Zero, tile.convolve)
		t.finish(shape[1])
	}
}

// convolve adds the products: taps with a whole block of input channels first,
// then those with fewer.
func (t tile) convolve() {
	name := t.name()
	t.XORQ(t.phase, t.phase)
	t.Label(name + "phase")
	t.MOVQ(Mem{Base: t.args, Index: t.phase, Scale: 8, Disp: tileTaps}, t.taps)
	t.TESTQ(t.taps, t.taps)
	t.JEQ(LabelRef(name + "next"))
	t.Label(name + "tap")
	t.place()
	t.MOVQ(Mem{Base: t.args, Index: t.phase, Scale: 8, Disp: tileInner}, t.inner)
	t.Label(name + "k")
	t.products()
	t.ADDQ(U8(4), t.near)
	if t.rows > 7 {
		t.ADDQ(U8(4), t.far)
	}
	t.ADDQ(U8(blockBytes), t.w)
	t.DECQ(t.inner)
	t.JNZ(LabelRef(name + "k"))
	t.DECQ(t.taps)
	t.JNZ(LabelRef(name + "tap"))
	t.Label(name + "next")
	t.INCQ(t.phase)
	t.CMPQ(t.phase, U8(2))
	t.JLT(LabelRef(name + "phase"))
}

// products adds those of one input channel of a tap. Weights are loaded once for
// all positions, and each position's input is broadcast for all blocks.
func (t tile) products() {
	weight := func(v int) reg.VecPhysical { return t.top(v) }
	for v := range t.width() {
		m := simd.At(t.w, t.part(v))
		if b := v / t.vectors(); b > 0 {
			m.Index, m.Scale = t.wStep, uint8(b)
		}
		t.VMOVUPS(m, weight(v))
	}
	for r := range t.rows {
		x := t.top(t.width() + r%2)
		t.VBROADCASTSS(t.position(r, 0), x)
		for v := range t.width() {
			t.VFMADD231PS(weight(v), x, t.acc(r, v))
		}
	}
}

// emitDepthwise writes the filter of a block of channels, each by itself. A tap's
// weights are loaded once for all positions, whose sums stay in registers over the
// taps.
func emitDepthwise(s isa) {
	s.Begin("blockDepthwise", "func(rows int, args *byte)",
		"filters a block of channels at rows positions as args, a\nblockTile, says: 1 to 14 rows (AVX2: 6).")
	t := s.newTile(s.Arg("args"), s.Arg("rows"))
	t.blocks = 1
	t.begin()
	t.MOVQ(simd.At(t.args, tileTaps), t.taps)
	t.each(s.positions(), t.Zero, func(t tile) {
		t.Label(t.name() + "tap")
		t.place()
		for v := range t.vectors() {
			t.VMOVUPS(simd.At(t.w, t.part(v)), t.top(v))
		}
		t.sums(func(from Mem, acc reg.VecPhysical, v int) { t.VFMADD231PS(from, t.top(v), acc) })
		t.ADDQ(U8(blockBytes), t.w)
		t.DECQ(t.taps)
		t.JNZ(LabelRef(t.name() + "tap"))
	})
	t.finish(s.positions())
}
