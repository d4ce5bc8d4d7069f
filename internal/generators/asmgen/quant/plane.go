package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Places of fields of kernel's qPlaneTile.
const (
	planeX = 8 * iota
	planeB
	planeBias
	planeScale
	planeDst
	planeLd
	planeGroups
	planeStep
	planeChannels
	planeMask
	planeFlip
	planeZero    = planeFlip + 4
	planeLo      = planeFlip + 8
	planeHi      = planeFlip + 12
	planeForm    = planeFlip + 16
	planeRes     = planeForm + 8
	planeAdds    = planeForm + 16
	planeAddFlip = planeForm + 24
	planeAddZero = planeForm + 28
	planeAddBy   = planeForm + 32
)

// planeRows are the channels of a block, by the vectors of positions: sixteen sums, or
// twelve, hide the latency of a product and leave registers for what packs sums.
var planeRows = [...]int{1: 16, 2: 8, 3: 4, 4: 4}

// planeWoven is how many groups of four k of a block are computed among the steps that
// turn the sums of the block before into bytes.
const planeWoven = 2

// planeAhead is how many groups before their use weights are asked for: a block reads a
// part of every second line or so, which processors do not foresee well.
const planeAhead = 48

func emitPlane(w writer) {
	order := permutation(w)
	for vectors := 4; vectors >= 1; vectors-- {
		planeTile{writer: w, vectors: vectors, rows: planeRows[vectors], order: order}.emit()
	}
	emitSplit(w)
	for _, listed := range []bool{false, true} {
		planePack{writer: w, listed: listed}.emit()
	}
}

// planeTile is the product whose columns are positions: channels of a panel of
// weights, of which four bytes are broadcast, by vectors of 16 positions, of which
// four channels each lie together. Results lie channels first.
type planeTile struct {
	writer
	vectors, rows int
	order         Mem // of positions in order

	s, x, xs, b, bs, bias, scale, dst, ld, n, groups, left, col, form reg.GPVirtual
}

// What packs sums stays in registers.
var (
	planeZeros = z(27)
	planeLows  = z(28)
	planeHighs = z(29)
	planeFlips = z(30)
	planeOrder = z(31)
)

// emit writes the product for a number of vectors. Channels pass in blocks that
// registers hold; the panel of positions, in the first cache, is read again for
// each.
func (k planeTile) emit() {
	k.begin(fmt.Sprintf("qPlane%dVNNI", k.vectors), "func(s *uint8)",
		fmt.Sprintf("computes all channels of s, a qPlaneTile, at %d positions.", 16*k.vectors)+
			"\nPositions that the mask leaves out are not written.")
	k.s = k.arg("s")
	field := k.fields(k.s)
	k.x, k.b, k.bias, k.scale = field(planeX), field(planeB), field(planeBias), field(planeScale)
	k.dst, k.ld, k.groups, k.left = field(planeDst), field(planeLd), field(planeGroups), field(planeChannels)
	k.xs, k.bs, k.n, k.col = k.GP64(), k.GP64(), k.GP64(), k.GP64()
	mask := field(planeMask)
	k.KMOVQ(mask, reg.K1)
	k.form = field(planeForm)
	k.VMOVDQU32(k.order, planeOrder)
	k.VPBROADCASTW(at(k.s, planeZero), planeZeros)
	k.VPBROADCASTB(at(k.s, planeLo), planeLows)
	k.VPBROADCASTB(at(k.s, planeHi), planeHighs)
	k.VPBROADCASTD(at(k.s, planeFlip), planeFlips)
	k.XORQ(k.col, k.col)
	k.sums()
	k.woven()
	k.Label("store")
	k.store()
	k.Label("done")
	k.end()
}

func (k *planeTile) acc(r, v int) reg.VecPhysical { return z(r*k.vectors + v) }

// sums writes the sums of a block of channels. They begin with the bias and stay in
// registers over all groups of k; a step loads the vectors of positions once for all
// channels and broadcasts four bytes of weights for each.
func (k *planeTile) sums() {
	const unroll = 2
	k.Label("block")
	for r := range k.rows {
		k.first(r)
	}
	k.near()
	k.MOVQ(k.x, k.xs)
	k.LEAQ(indexed(k.b, k.col, 4, 0), k.bs)
	k.MOVQ(k.groups, k.n)
	k.Label("groups")
	k.SUBQ(U8(unroll), k.n)
	k.JLT(LabelRef("few"))
	k.Label("loop")
	for g := range unroll {
		k.group(g)
	}
	k.along(unroll)
	k.SUBQ(U8(unroll), k.n)
	k.JGE(LabelRef("loop"))
	k.Label("few")
	k.ADDQ(U8(unroll), k.n)
	k.JZ(LabelRef("summed"))
	k.group(0)
	k.Label("summed")
}

// first sets the sums of channel r to the bias.
func (k *planeTile) first(r int) {
	k.VPBROADCASTD(at(k.bias, 4*r), k.acc(r, 0))
	for v := 1; v < k.vectors; v++ {
		k.VMOVDQA32(k.acc(r, 0), k.acc(r, v))
	}
}

// along goes on by some groups.
func (k *planeTile) along(groups int) {
	k.ADDQ(I32(64*k.vectors*groups), k.xs)
	k.ADDQ(I32(panelBytes*groups), k.bs)
}

// next goes on to the next block's weights, in this panel or the next.
func (k *planeTile) next(label string) {
	k.ADDQ(U8(4*k.rows), k.bias)
	k.ADDQ(U8(k.rows), k.col)
	k.CMPQ(k.col, U8(panelBytes/4))
	k.JLT(LabelRef(label))
	k.XORQ(k.col, k.col)
	k.ADDQ(at(k.s, planeStep), k.b)
	k.Label(label)
}

// woven writes the step from a block to the next one, except from the last and where a
// residual is added: each channel's sums become bytes, and the same registers take the
// first products of a channel of the next block. Converting sums and packing them, which
// wait for one another, are for other units of a processor than products are, which
// it computes meanwhile.
func (k *planeTile) woven() {
	k.CMPQ(k.left, U8(k.rows))
	k.JLE(LabelRef("store"))
	k.CMPQ(at(k.s, planeAdds), U8(0))
	k.JNE(LabelRef("store"))
	k.CMPQ(k.groups, U8(planeWoven))
	k.JLT(LabelRef("store"))
	k.next("near")
	k.MOVQ(k.x, k.xs)
	k.LEAQ(indexed(k.b, k.col, 4, 0), k.bs)
	k.LEAQ(indexed(k.dst, k.ld, uint8(min(k.rows, 8)), 0), k.n)
	if k.rows == 16 {
		k.LEAQ(indexed(k.n, k.ld, 8, 0), k.n)
	}
	for g := range planeWoven {
		k.positions(g, g*k.vectors)
	}
	for r := range k.rows {
		k.PREFETCHT0(at(k.n, 0))
		k.PREFETCHT0(at(k.n, 16*k.vectors-1))
		k.scaled(r)
		k.rounded(r, "woven")
		k.first(r)
		for g := range planeWoven {
			k.products(r, g, g*k.vectors, z(24+g))
		}
		if r < k.rows-1 {
			k.ADDQ(k.ld, k.n)
		}
	}
	k.ADDQ(U8(4*k.rows), k.scale)
	k.SUBQ(U8(k.rows), k.left)
	k.along(planeWoven)
	k.MOVQ(k.groups, k.n)
	k.SUBQ(U8(planeWoven), k.n)
	k.JNZ(LabelRef("groups"))
	k.JMP(LabelRef("summed"))
}

// near prefetches the lines that store will write, and the residual. Lines of
// different channels lie a plane apart, on pages that nothing else would
// foresee.
func (k *planeTile) near() {
	lines := func(p reg.GPVirtual) {
		for r := range k.rows {
			k.PREFETCHT0(at(p, 0))
			k.PREFETCHT0(at(p, 16*k.vectors-1))
			if r < k.rows-1 {
				k.ADDQ(k.ld, p)
			}
		}
	}
	k.MOVQ(k.dst, k.n)
	lines(k.n)
	k.CMPQ(at(k.s, planeAdds), U8(0))
	k.JEQ(LabelRef("alone"))
	k.MOVQ(at(k.s, planeRes), k.n)
	k.ADDQ(k.dst, k.n)
	lines(k.n)
	k.Label("alone")
}

// group adds one group of four k.
func (k *planeTile) group(g int) {
	k.PREFETCHT0(at(k.bs, panelBytes*(g+planeAhead)))
	k.positions(g, 0)
	for r := range k.rows {
		k.products(r, g, 0, z(24+r%2))
	}
}

// positions loads a group's vectors of positions into registers from a number past 16 on.
func (k *planeTile) positions(g, first int) {
	for v := range k.vectors {
		k.VMOVDQU32(at(k.xs, 64*(k.vectors*g+v)), z(16+first+v))
	}
}

// products adds a group of four k to the sums of channel r; weights is for its weights.
func (k *planeTile) products(r, g, first int, weights reg.VecPhysical) {
	from := at(k.bs, panelBytes*g+4*r)
	if k.vectors == 1 {
		k.VPDPBUSD_BCST(from, z(16+first), k.acc(r, 0))
		return
	}
	k.VPBROADCASTD(from, weights)
	for v := range k.vectors {
		k.VPDPBUSD(weights, z(16+first+v), k.acc(r, v))
	}
}

// store turns the sums into bytes, a channel at a time, until no channel is left.
// Scales are below one, and residuals small, so that nothing overflows before it
// saturates.
func (k *planeTile) store() {
	for r := range k.rows {
		k.scaled(r)
		alone := fmt.Sprintf("alone%d", r)
		k.CMPQ(at(k.s, planeAdds), U8(0))
		k.JEQ(LabelRef(alone))
		k.add(r)
		k.Label(alone)
		k.rounded(r, "last")
		k.DECQ(k.left)
		k.JZ(LabelRef("done"))
	}
	k.ADDQ(U8(4*k.rows), k.scale)
	k.next("begin")
	k.JMP(LabelRef("block"))
}

// scaled makes floats of channel r's sums and multiplies them by its factor.
func (k *planeTile) scaled(r int) {
	factor := z(26)
	k.VBROADCASTSS(at(k.scale, 4*r), factor)
	for v := range k.vectors {
		a := k.acc(r, v)
		k.VCVTDQ2PS(a, a)
		k.VMULPS(factor, a, a)
	}
}

// Bits of the form of a qPlaneTile.
const (
	formNatural = 1 // of 64 positions, which lie as interleaving leaves them
	formPlain   = 2
)

// unless jumps over what f writes if a bit of the form is set.
func (k *planeTile) unless(bit int32, label string, f func()) {
	k.TESTQ(I32(bit), k.form)
	k.JNE(LabelRef(label))
	f()
	k.Label(label)
}

// ordered brings positions into order, or bytes of them into that of interleaving.
func (k *planeTile) ordered(v reg.VecPhysical, label string) {
	order := func() { k.VPERMD(v, planeOrder, v) }
	if k.vectors < 4 {
		order()
		return
	}
	k.unless(formNatural, label, order)
}

// rounded makes bytes of them, writes them and goes on to the next channel's. Limits, a
// flip and an order that change nothing are left out: units of products compute them.
func (k *planeTile) rounded(r int, label string) {
	sum := func(v int) reg.VecPhysical { return k.acc(r, v) }
	a := sum(0)
	for v := range k.vectors {
		k.VCVTPS2DQ(sum(v), sum(v))
	}
	k.packed(k.vectors, sum, planeZeros)
	k.unless(formPlain, fmt.Sprintf("%splain%d", label, r), func() {
		k.limited(a, planeLows, planeHighs)
		k.VPXORD(planeFlips, a, a)
	})
	k.ordered(a, fmt.Sprintf("%sordered%d", label, r))
	k.VMOVDQU8(a, reg.K1, at(k.dst, 0))
	k.ADDQ(k.ld, k.dst)
}

// packedBytes packs the integers of up to four vectors into the bytes of the first one.
func (w writer) packedBytes(vectors int, v func(int) reg.VecPhysical, zero, lo, hi, order, flip reg.VecPhysical) {
	w.clamped(vectors, v, zero, lo, hi)
	w.VPERMD(v(0), order, v(0))
	w.VPXORD(flip, v(0), v(0))
}

// clamped is packedBytes before the bytes are ordered and flipped.
func (w writer) clamped(vectors int, v func(int) reg.VecPhysical, zero, lo, hi reg.VecPhysical) {
	w.packed(vectors, v, zero)
	w.limited(v(0), lo, hi)
}

// packed is clamped before the limits, which unsigned bytes have anyway.
func (w writer) packed(vectors int, v func(int) reg.VecPhysical, zero reg.VecPhysical) {
	halves := (vectors + 1) / 2
	for h := range halves {
		half := v(2 * h)
		w.VPACKSSDW(v(min(2*h+1, vectors-1)), half, half)
		w.VPADDSW(zero, half, half)
	}
	w.VPACKUSWB(v(2*(halves-1)), v(0), v(0))
}

// limited keeps unsigned bytes between others.
func (w writer) limited(a, lo, hi reg.VecPhysical) {
	w.VPMAXUB(lo, a, a)
	w.VPMINUB(hi, a, a)
}

// add adds the residual of channel r: its bytes are spread over the vectors by the
// steps, backwards, by which bytes are made of sums; the order is its own inverse.
func (k *planeTile) add(r int) {
	none, bytes, words, v := z(16), z(17), z(18), z(19)
	res := k.n
	k.MOVQ(at(k.s, planeRes), res)
	k.VPXORD(none, none, none)
	k.VMOVDQU8_Z(indexed(k.dst, res, 1, 0), reg.K1, bytes)
	k.VPXORD_BCST(at(k.s, planeAddFlip), bytes, bytes)
	k.ordered(bytes, fmt.Sprintf("added%d", r))
	for i := range k.vectors {
		switch i {
		case 0:
			k.VPUNPCKLBW(none, bytes, words)
		case 2:
			k.VPUNPCKHBW(none, bytes, words)
		}
		if i%2 == 0 {
			k.VPUNPCKLWD(none, words, v)
		} else {
			k.VPUNPCKHWD(none, words, v)
		}
		k.VPSUBD_BCST(at(k.s, planeAddZero), v, v)
		k.VCVTDQ2PS(v, v)
		k.VMULPS_BCST(at(k.s, planeAddBy), v, v)
		k.VADDPS(v, k.acc(r, i), k.acc(r, i))
	}
}
