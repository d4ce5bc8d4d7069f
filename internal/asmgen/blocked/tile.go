package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/asmgen/simd"
)

// Fields of kernel.blockTile, in bytes.
const (
	tileX        = 0
	tileOffsets  = 8
	tileTaps     = 16
	tileInner    = 32
	tileStep     = 48
	tileW        = 56
	tileWStep    = 64
	tileY        = 72
	tileYStep    = 80
	tileResidual = 88
	tileScale    = 96
	tileBias     = 104
	tileDivisors = 112
	tileLo       = 120
	tileHi       = 124
	tileYPos     = 128
)

// blockBytes is a block of channels of one position.
const blockBytes = 64

// positions is the most positions that a tile has.
func (s isa) positions() int { return s.Pick(6, 14) }

// vectors is the registers that a block of channels takes.
func (s isa) vectors() int { return s.Pick(2, 1) }

// tile holds the registers of a tile kernel: rows positions of blocks blocks.
type tile struct {
	isa
	rows, blocks      int
	args              reg.GPVirtual
	x, offsets, taps  reg.GPVirtual
	step, step3       reg.GPVirtual
	step5, near, far  reg.GPVirtual
	w, wStep          reg.GPVirtual
	phase, inner, any reg.GPVirtual
}

// newTile allocates what all tiles of a function share.
func (s isa) newTile(args reg.GPVirtual) tile {
	return tile{isa: s, args: args, x: s.GP64(), offsets: s.GP64(), taps: s.GP64(), step: s.GP64(), step3: s.GP64(),
		step5: s.GP64(), near: s.GP64(), far: s.GP64(), w: s.GP64(), wStep: s.GP64(), phase: s.GP64(), inner: s.GP64(), any: s.GP64()}
}

func (t tile) name() string { return fmt.Sprintf("r%db%d", t.rows, t.blocks) }

// acc is the sum of position r in vector v of all blocks'.
func (t tile) acc(r, v int) reg.VecPhysical { return t.V(r*t.width() + v) }

// width is the vectors of a position.
func (t tile) width() int { return t.blocks * t.vectors() }

// top is register i from the end.
func (t tile) top(i int) reg.VecPhysical { return t.V(t.Pick(15, 31) - i) }

// part is the displacement of vector v within its block.
func (t tile) part(v int) int { return v % t.vectors() * 4 * t.Lanes() }

// begin loads what all positions share.
func (t tile) begin() {
	t.Label(t.name())
	for i := range t.rows * t.width() {
		t.Zero(t.V(i))
	}
	t.MOVQ(simd.At(t.args, tileX), t.x)
	t.MOVQ(simd.At(t.args, tileOffsets), t.offsets)
	t.MOVQ(simd.At(t.args, tileStep), t.step)
	t.multiples()
}

// multiples computes those of the step between positions.
func (t tile) multiples() {
	t.LEAQ(Mem{Base: t.step, Index: t.step, Scale: 2}, t.step3)
	t.LEAQ(Mem{Base: t.step, Index: t.step, Scale: 4}, t.step5)
}

// place sets the addresses of the positions for the next tap.
func (t tile) place() {
	t.MOVQ(simd.At(t.offsets, 0), t.near)
	t.ADDQ(U8(8), t.offsets)
	t.ADDQ(t.x, t.near)
	t.spread()
}

// spread sets the address of the eighth position from that of the first.
func (t tile) spread() {
	if t.rows > 7 {
		t.LEAQ(Mem{Base: t.near, Index: t.step3, Scale: 2}, t.far)
		t.ADDQ(t.step, t.far)
	}
}

// position is the memory disp bytes after position r of the current tap.
func (t tile) position(r, disp int) Mem {
	m := Mem{Base: t.near, Disp: disp}
	if r >= 7 {
		m.Base, r = t.far, r-7
	}
	switch r {
	case 1, 2, 4:
		m.Index, m.Scale = t.step, uint8(r)
	case 3, 6:
		m.Index, m.Scale = t.step3, uint8(r/3)
	case 5:
		m.Index, m.Scale = t.step5, 1
	}
	return m
}

// rowsFrom jumps to the tile for the number of rows in n.
func (t tile) rowsFrom(n reg.GPVirtual, most int) {
	for r := 1; r < most; r++ {
		t.rows = r
		t.CMPQ(n, U8(r))
		t.JEQ(LabelRef(t.name()))
	}
	t.rows = most
	t.JMP(LabelRef(t.name()))
}

// operand is the memory of vector v of an operand with one value a channel.
func (t tile) operand(base reg.GPVirtual, v int) Mem {
	return simd.At(base, v/t.vectors()*blockBytes+t.part(v))
}

// finish applies the epilogue and stores the tile; for tiles of one block see stores.
func (t tile) finish() {
	p, x := t.near, t.top(0)
	optional := func(field int, label string, body func()) {
		label = t.name() + label
		t.MOVQ(simd.At(t.args, field), p)
		t.TESTQ(p, p)
		t.JEQ(LabelRef(label))
		body()
		t.Label(label)
	}
	perChannel := func(op func(_, _, _ Op)) func() {
		return func() {
			for v := range t.width() {
				t.VMOVUPS(t.operand(p, v), x)
				for r := range t.rows {
					op(x, t.acc(r, v), t.acc(r, v))
				}
			}
		}
	}
	optional(tileScale, "unscaled", perChannel(func(a, b, c Op) { t.VMULPS(a, b, c) }))
	optional(tileBias, "unbiased", perChannel(func(a, b, c Op) { t.VADDPS(a, b, c) }))
	t.MOVQ(simd.At(t.args, tileYStep), t.w)
	t.MOVQ(simd.At(t.args, tileYPos), t.step)
	t.multiples()
	optional(tileResidual, "alone", func() {
		t.results(func(at Mem, acc reg.VecPhysical) { t.VADDPS(at, acc, acc) })
	})
	t.VBROADCASTSS(simd.At(t.args, tileLo), t.top(0))
	t.VBROADCASTSS(simd.At(t.args, tileHi), t.top(1))
	t.MOVQ(simd.At(t.args, tileY), p)
	if t.blocks == 1 {
		t.spread()
		t.JMP(LabelRef(storeLabel(t.rows)))
		return
	}
	t.results(t.store)
	t.End()
}

// store stores a sum within the bounds of results.
func (t tile) store(at Mem, acc reg.VecPhysical) {
	// The last source is what a comparison with NaN returns.
	t.VMAXPS(acc, t.top(0), acc)
	t.VMINPS(acc, t.top(1), acc)
	t.VMOVUPS(acc, at)
}

func storeLabel(rows int) string { return simd.Rung("store", rows) }

// stores writes the end of the tiles of one block, which finish jumps to. Several
// blocks are stored one after the other: position by position, their lines are
// farther apart than memory likes.
func (t tile) stores(most int) {
	t.rows, t.blocks = most, 1
	t.Ladder(most, storeLabel, func(r int) {
		for v := range t.vectors() {
			t.store(t.position(r, t.part(v)), t.acc(r, v))
		}
	})
	t.End()
}

// results calls f with the place of every sum, block by block, in memory that
// begins at near and lies as the result does; w holds the bytes between blocks.
func (t tile) results(f func(at Mem, acc reg.VecPhysical)) {
	for b := range t.blocks {
		if b > 0 {
			t.ADDQ(t.w, t.near)
		}
		t.spread()
		for v := b * t.vectors(); v < (b+1)*t.vectors(); v++ {
			for r := range t.rows {
				f(t.position(r, t.part(v)), t.acc(r, v))
			}
		}
	}
}
