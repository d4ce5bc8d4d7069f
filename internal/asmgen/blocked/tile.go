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
	rows, blocks     int
	args, count      reg.GPVirtual // the tile, and its positions
	x, offsets, taps reg.GPVirtual
	step, step3      reg.GPVirtual
	step5, near, far reg.GPVirtual
	w, wStep         reg.GPVirtual
	phase, inner     reg.GPVirtual
}

// newTile allocates what all tiles of a function share.
func (s isa) newTile(args, count reg.GPVirtual) tile {
	return tile{isa: s, args: args, count: count, x: s.GP64(), offsets: s.GP64(), taps: s.GP64(), step: s.GP64(), step3: s.GP64(),
		step5: s.GP64(), near: s.GP64(), far: s.GP64(), w: s.GP64(), wStep: s.GP64(), phase: s.GP64(), inner: s.GP64()}
}

func (t tile) name() string { return fmt.Sprintf("r%db%d", t.rows, t.blocks) }

// acc is the sum of position r in vector v of all blocks'. Positions lie from the
// last register to the first, so that they are stored from the first on.
func (t tile) acc(r, v int) reg.VecPhysical { return t.V((t.rows-1-r)*t.width() + v) }

// width is the vectors of a position.
func (t tile) width() int { return t.blocks * t.vectors() }

// top is register i from the end.
func (t tile) top(i int) reg.VecPhysical { return t.V(t.Pick(15, 31) - i) }

// part is the displacement of vector v within its block.
func (t tile) part(v int) int { return v % t.vectors() * 4 * t.Lanes() }

// begin loads what all tiles share.
func (t tile) begin() {
	t.MOVQ(simd.At(t.args, tileX), t.x)
	t.MOVQ(simd.At(t.args, tileOffsets), t.offsets)
	t.MOVQ(simd.At(t.args, tileStep), t.step)
	t.MOVQ(simd.At(t.args, tileW), t.w)
	t.MOVQ(simd.At(t.args, tileWStep), t.wStep)
	t.multiples()
}

// each writes the sums of tiles of 1 to most positions, whose registers begin as
// those of the most do, with start; all go on behind them.
func (t tile) each(most int, start func(reg.VecPhysical), sums func(tile)) {
	for i := range most * t.width() {
		start(t.V(i))
	}
	done := fmt.Sprintf("summed%d", t.blocks)
	t.Enter(t.count, down(most), func(rows int) string { t.rows = rows; return t.name() })
	for _, t.rows = range down(most) {
		t.Label(t.name())
		sums(t)
		t.JMP(LabelRef(done))
	}
	t.Label(done)
}

// sums calls f with the current tap of every position and vector.
func (t tile) sums(f func(from Mem, acc reg.VecPhysical, v int)) {
	for r := range t.rows {
		for v := range t.vectors() {
			f(t.position(r, t.part(v)), t.acc(r, v), v)
		}
	}
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

// operand is the memory of vector v of an operand with one value a channel.
func (t tile) operand(base reg.GPVirtual, v int) Mem {
	return simd.At(base, v/t.vectors()*blockBytes+t.part(v))
}

// finish applies the epilogue and stores the tiles of up to most positions, block by
// block: position by position, lines of several blocks are farther apart than
// memory likes. Scales are rare and scale the sums of the most positions.
func (t tile) finish(most int) {
	t.rows = most
	p, x := t.near, t.top(0)
	t.MOVQ(simd.At(t.args, tileScale), p)
	t.TESTQ(p, p)
	t.JEQ(LabelRef(fmt.Sprintf("unscaled%d", t.blocks)))
	for v := range t.width() {
		t.VMOVUPS(t.operand(p, v), x)
		for r := range most {
			t.VMULPS(x, t.acc(r, v), t.acc(r, v))
		}
	}
	t.Label(fmt.Sprintf("unscaled%d", t.blocks))
	t.MOVQ(simd.At(t.args, tileYStep), t.wStep)
	t.MOVQ(simd.At(t.args, tileYPos), t.step)
	lo, hi := t.limits()
	t.VBROADCASTSS(simd.At(t.args, tileLo), lo)
	t.VBROADCASTSS(simd.At(t.args, tileHi), hi)
	for v := range t.vectors() {
		t.VBROADCASTSS(t.minusZero, t.top(v))
	}
	for b := range t.blocks {
		t.block(b)
	}
	t.End()
}

// limits are the registers of the bounds of results, below those of a block's bias.
func (t tile) limits() (lo, hi reg.VecPhysical) {
	return t.top(t.vectors()), t.top(t.vectors() + 1)
}

// block stores one block of a tile. Tiles of fewer positions than the most are
// stored by the same code from further down on.
func (t tile) block(b int) {
	name := fmt.Sprintf("block%dof%d", b, t.blocks)
	label := func(residual bool) func(int) string {
		return func(rows int) string { return simd.Rung(fmt.Sprintf("%s%v", name, residual), rows) }
	}
	t.MOVQ(simd.At(t.args, tileBias), t.w)
	t.TESTQ(t.w, t.w)
	t.JEQ(LabelRef(name + "unbiased"))
	for v := range t.vectors() {
		t.VMOVUPS(t.operand(t.w, b*t.vectors()+v), t.top(v))
	}
	t.Label(name + "unbiased")
	y, residual := t.near, t.far
	t.MOVQ(simd.At(t.args, tileY), y)
	t.MOVQ(simd.At(t.args, tileResidual), residual)
	if b > 0 {
		t.LEAQ(Mem{Base: y, Index: t.wStep, Scale: uint8(b)}, y)
	}
	t.TESTQ(residual, residual)
	t.JEQ(LabelRef(name + "alone"))
	if b > 0 {
		t.LEAQ(Mem{Base: residual, Index: t.wStep, Scale: uint8(b)}, residual)
	}
	t.Enter(t.count, down(t.rows), label(true))
	t.Label(name + "alone")
	t.Enter(t.count, down(t.rows), label(false))
	lo, hi := t.limits()
	for _, with := range []bool{true, false} {
		t.Ladder(t.rows, label(with), func(follow int) {
			for v := range t.vectors() {
				acc := t.V(follow*t.width() + b*t.vectors() + v)
				t.VADDPS(t.top(v), acc, acc)
				if with {
					t.VADDPS(simd.At(residual, t.part(v)), acc, acc)
				}
				// The last source is what a comparison with NaN returns.
				t.VMAXPS(acc, lo, acc)
				t.VMINPS(acc, hi, acc)
				t.VMOVUPS(acc, simd.At(y, t.part(v)))
			}
			if follow > 0 {
				t.ADDQ(t.step, y)
				if with {
					t.ADDQ(t.step, residual)
				}
			}
		})
		if with {
			t.JMP(LabelRef(name + "stored"))
		}
	}
	t.Label(name + "stored")
}

// down returns the numbers from most to 1.
func down(most int) []int {
	var all []int
	for r := most; r >= 1; r-- {
		all = append(all, r)
	}
	return all
}
