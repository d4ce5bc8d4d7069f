package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Places of fields of kernel's qGroupTile.
const (
	inGroupX = 8 * iota
	inGroupTaps
	inGroupCount
	inGroupQuads
	inGroupPlane
	inGroupB
	inGroupStep
	inGroupBias
	inGroupScale
	inGroupDst
	inGroupLd
	inGroupParts
	inGroupBlocks
	inGroupChannels
	inGroupFlip
	inGroupZero = inGroupFlip + 4
	inGroupLo   = inGroupFlip + 8
	inGroupHi   = inGroupFlip + 12
)

// groupRows are the channels of a block of sums: those of the narrowest groups of
// networks. Of 16 sums each waits for none of the others.
const groupRows = 4

// groupTile is the product of a group of channels with the windows of a frame, read
// where they lie: places of the frame next to each other are columns, four bytes of
// channels each. Places that are no positions are computed, too, and not written.
type groupTile struct {
	writer
	vectors int
	order   Mem

	s, x, plane, bs, b, p, n, tap, taps, chans, dst, part, parts reg.GPVirtual
}

func emitGroup(w writer) {
	order := permutation(w)
	for _, vectors := range []int{4, 2} {
		groupTile{writer: w, vectors: vectors, order: order}.emit()
	}
}

func (k *groupTile) acc(r, v int) reg.VecPhysical { return z(r*k.vectors + v) }

// emit writes the product for blocks of some vectors.
func (k groupTile) emit() {
	k.begin(fmt.Sprintf("qGroup%dVNNI", k.vectors), "func(s *uint8)",
		fmt.Sprintf("computes blocks of %d places as s, a qGroupTile, says.", 16*k.vectors))
	k.s = k.arg("s")
	field := k.fields(k.s)
	k.x, k.plane, k.parts = field(inGroupX), field(inGroupPlane), field(inGroupParts)
	k.b, k.bs, k.p, k.n, k.tap, k.taps = k.GP64(), k.GP64(), k.GP64(), k.GP64(), k.GP64(), k.GP64()
	k.chans, k.dst, k.part = k.GP64(), k.GP64(), k.GP64()
	k.VPBROADCASTW(at(k.s, inGroupZero), z(25))
	k.VPBROADCASTB(at(k.s, inGroupLo), z(26))
	k.VPBROADCASTB(at(k.s, inGroupHi), z(27))
	k.VPBROADCASTD(at(k.s, inGroupFlip), z(28))
	k.VMOVDQU32(k.order, z(29))
	k.Label("block")
	k.XORQ(k.chans, k.chans)
	k.MOVQ(at(k.s, inGroupB), k.b)
	k.MOVQ(at(k.s, inGroupDst), k.dst)
	k.Label("channels")
	k.MOVQ(at(k.s, inGroupBias), k.p)
	for r := range groupRows {
		k.VPBROADCASTD(indexed(k.p, k.chans, 4, 4*r), k.acc(r, 0))
		for v := 1; v < k.vectors; v++ {
			k.VMOVDQA32(k.acc(r, 0), k.acc(r, v))
		}
	}
	k.sums()
	k.store()
	k.next()
	k.LEAQ(at(k.part, 16), k.parts)
	k.ADDQ(U32(64*k.vectors), k.x)
	k.DECQ(at(k.s, inGroupBlocks))
	k.JNZ(LabelRef("block"))
	k.end()
}

// sums adds the products of all taps and fours of channels.
func (k *groupTile) sums() {
	first := groupRows * k.vectors
	k.MOVQ(k.b, k.bs)
	k.MOVQ(at(k.s, inGroupTaps), k.tap)
	k.MOVQ(at(k.s, inGroupCount), k.taps)
	k.Label("tap")
	k.MOVQ(at(k.tap, 0), k.p)
	k.ADDQ(k.x, k.p)
	k.MOVQ(at(k.s, inGroupQuads), k.n)
	k.Label("quad")
	for v := range k.vectors {
		k.VMOVDQU32(at(k.p, 64*v), z(first+v))
	}
	k.ADDQ(k.plane, k.p)
	for r := range groupRows {
		k.VPBROADCASTD(at(k.bs, 4*r), z(20+r))
		for v := range k.vectors {
			k.VPDPBUSD(z(20+r), z(first+v), k.acc(r, v))
		}
	}
	k.ADDQ(I32(panelBytes), k.bs)
	k.DECQ(k.n)
	k.JNZ(LabelRef("quad"))
	k.ADDQ(U8(8), k.tap)
	k.DECQ(k.taps)
	k.JNZ(LabelRef("tap"))
}

// store turns the sums into bytes and writes them, a channel at a time and of each
// those parts of the block that are positions. A part without lanes ends the list.
func (k *groupTile) store() {
	k.MOVQ(at(k.s, inGroupScale), k.p)
	for r := range groupRows {
		k.VBROADCASTSS(indexed(k.p, k.chans, 4, 4*r), z(24))
		for v := range k.vectors {
			a := k.acc(r, v)
			k.VCVTDQ2PS(a, a)
			k.VMULPS(z(24), a, a)
			k.VCVTPS2DQ(a, a)
		}
		k.packedBytes(k.vectors, func(v int) reg.VecPhysical { return k.acc(r, v) }, z(25), z(26), z(27), z(29), z(28))
	}
	for r := range groupRows {
		part, done := fmt.Sprintf("part%d", r), fmt.Sprintf("done%d", r)
		k.MOVQ(k.parts, k.part)
		k.Label(part)
		k.MOVQ(at(k.part, 8), k.n)
		k.TESTQ(k.n, k.n)
		k.JZ(LabelRef(done))
		k.KMOVQ(k.n, reg.K1)
		k.MOVQ(at(k.part, 0), k.tap)
		k.VMOVDQU8(k.acc(r, 0), reg.K1, indexed(k.dst, k.tap, 1, 0))
		k.ADDQ(U8(16), k.part)
		k.JMP(LabelRef(part))
		k.Label(done)
		k.ADDQ(at(k.s, inGroupLd), k.dst)
	}
}

// next goes to the next channels, of the next panel of weights after 32.
func (k *groupTile) next() {
	k.ADDQ(U8(4*groupRows), k.b)
	k.ADDQ(U8(groupRows), k.chans)
	k.TESTQ(U32(31), k.chans)
	k.JNZ(LabelRef("near"))
	k.ADDQ(at(k.s, inGroupStep), k.b)
	k.SUBQ(I32(panelBytes), k.b)
	k.Label("near")
	k.CMPQ(k.chans, at(k.s, inGroupChannels))
	k.JLT(LabelRef("channels"))
}
