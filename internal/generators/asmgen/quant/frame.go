package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitFrame writes the code that lays an image out by fours of channels, and
// the code that packs panels from it.
func emitFrame(w writer) {
	even, odd := w.indices("qevens", 0), w.indices("qodds", 1)
	frameLines(w, false, even, odd)
	frameLines(w, true, even, odd)
	frameCopy(w)
	frameRows(w)
}

// indices declares the numbers of every second of 32 dwords.
func (w writer) indices(name string, first int) Mem {
	m := w.StaticGlobal(name)
	w.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		w.AddDatum(4*i, U32(2*i+first))
	}
	return m
}

// frameLines writes the interleaving of lines of four planes; with split even
// columns and odd ones go to different places. 64 bytes of each of four planes are
// four registers, whose bytes are interleaved in two steps and stored as four
// vectors: a load and a store a vector, and shuffles in between.
func frameLines(w writer, split bool, evens, odds Mem) {
	name, doc := "qFrameVNNI", "to dst; odd is not read."
	if split {
		name, doc = "qFrameSplitVNNI", "to dst where i is even and to\nodd where it is not."
	}
	w.begin(name, "func(lines, n, width int, src *uint8, plane int, dst, odd *uint8, step int, flip uint32)",
		"brings byte i of four planes together for n of the width bytes of each\nline, flips their bits and writes them "+doc+" Lines\nof dst are step bytes apart.")
	lines, n, src, plane := w.arg("lines"), w.arg("n"), w.arg("src"), w.arg("plane")
	dst, odd, step := w.arg("dst"), w.arg("odd"), w.arg("step")
	three, left, t, to, skip := w.GP64(), w.GP64(), w.GP64(), w.GP64(), w.arg("width")
	w.SUBQ(n, skip)
	w.LEAQ(indexed(plane, plane, 2, 0), three)
	w.broadcast("flip", z(31))
	if split {
		w.VMOVDQU32(evens, z(29))
		w.VMOVDQU32(odds, z(30))
	}
	w.MOVQ(n, left)
	w.ANDQ(I32(63), left)
	w.lanes(left, reg.K1)
	frameMasks(w, left, t, split)
	w.Label("line")
	w.XORQ(to, to)
	w.MOVQ(n, left)
	w.SUBQ(U8(64), left)
	w.JLT(LabelRef("few"))
	w.Label("full")
	chunk := func(masked bool) {
		for r, from := range []Mem{at(src, 0), indexed(src, plane, 1, 0), indexed(src, plane, 2, 0), indexed(src, three, 1, 0)} {
			if masked {
				w.VMOVDQU8_Z(from, reg.K1, z(r))
			} else {
				w.VMOVDQU8(from, z(r))
			}
		}
		w.interleave()
		putFrame(w, indexed(dst, to, 1, 0), indexed(odd, to, 1, 0), split, masked)
	}
	chunk(false)
	w.ADDQ(U8(64), src)
	bytes := 256
	if split {
		bytes = 128
	}
	w.ADDQ(I32(bytes), to)
	w.SUBQ(U8(64), left)
	w.JGE(LabelRef("full"))
	w.Label("few")
	w.ADDQ(U8(64), left)
	w.JZ(LabelRef("next"))
	chunk(true)
	w.ADDQ(left, src)
	w.Label("next")
	w.ADDQ(skip, src)
	w.ADDQ(step, dst)
	w.ADDQ(step, odd)
	w.DECQ(lines)
	w.JNZ(LabelRef("line"))
	w.end()
}

// frameMasks sets the masks of a chunk of left bytes, one for each register that it
// is stored from; it changes left and t.
func frameMasks(w writer, left, t reg.GPVirtual, split bool) {
	quarters := func(count reg.GPVirtual, masks ...reg.Register) {
		m := w.GP64()
		w.MOVQ(I32(-1), m)
		w.BZHIQ(count, m, m)
		for _, k := range masks {
			w.KMOVW(m.As32(), k)
			w.SHRQ(U8(16), m)
		}
	}
	if split {
		w.LEAQ(at(left, 1), t)
		w.SHRQ(U8(1), t)
		quarters(t, reg.K2, reg.K3)
		w.SHRQ(U8(1), left)
		quarters(left, reg.K4, reg.K5)
	} else {
		quarters(left, reg.K2, reg.K3, reg.K4, reg.K5)
	}
}

// putFrame writes the bytes of a chunk, brought together in four registers: all to
// dst, or those of even and of odd number to dst and odd.
func putFrame(w writer, dst, odd Mem, split, masked bool) {
	ks := []reg.Register{reg.K2, reg.K3, reg.K4, reg.K5}
	put := func(v reg.VecPhysical, to Mem, k reg.Register) {
		if masked {
			w.VMOVDQU32(v, k, to)
		} else {
			w.VMOVDQU32(v, to)
		}
	}
	if !split {
		for v := range 4 {
			put(z(4+v), dst.Offset(64*v), ks[v])
		}
		return
	}
	for h := range 2 {
		w.VMOVDQA32(z(29), z(8))
		w.VPERMI2D(z(5+2*h), z(4+2*h), z(8))
		put(z(8), dst.Offset(64*h), ks[h])
		w.VMOVDQA32(z(30), z(9))
		w.VPERMI2D(z(5+2*h), z(4+2*h), z(9))
		put(z(9), odd.Offset(64*h), ks[2+h])
	}
}

// interleave turns 64 bytes of Z0 to Z3 each into the fours of 16 positions in Z4
// to Z7 each, flipped by Z31. Z8 to Z15 are changed.
func (w writer) interleave() {
	w.flippedFours()
	for half := range 2 {
		w.VSHUFI32X4(U8([...]uint8{0x44, 0xee}[half]), z(9), z(8), z(12+2*half))
		w.VSHUFI32X4(U8([...]uint8{0x44, 0xee}[half]), z(11), z(10), z(13+2*half))
	}
	for half := range 2 {
		w.VSHUFI32X4(U8(0x88), z(13+2*half), z(12+2*half), z(4+2*half))
		w.VSHUFI32X4(U8(0xdd), z(13+2*half), z(12+2*half), z(5+2*half))
	}
}

// Places of fields of kernel's qFrameCopy.
const (
	copySrc = 8 * iota
	copyTaps
	copyCount
	copyQuads
	copyPlane
	copyDst
	copyStep
	copyParts
	copyAt
	copyLanes = copyAt + 8*copyMost

	copyMost = 4 // parts of lines among 16 positions
)

// frameCopy writes the packing of one vector of positions.
func frameCopy(w writer) {
	w.begin("qFrameCopyVNNI", "func(s *uint8)",
		"packs one vector of the fours of 16 positions for each tap and four of\nchannels, as s, a qFrameCopy, says.")
	s := w.arg("s")
	field := func(off int) reg.GPVirtual {
		r := w.GP64()
		w.MOVQ(at(s, off), r)
		return r
	}
	taps, count, plane, dst, step, parts := field(copyTaps), field(copyCount), field(copyPlane), field(copyDst), field(copyStep), field(copyParts)
	var offs [copyMost]reg.GPVirtual
	masks := []reg.Register{reg.K1, reg.K2, reg.K3, reg.K4}
	for i := range copyMost {
		offs[i] = field(copyAt + 8*i)
		w.KMOVQ(at(s, copyLanes+8*i), masks[i])
	}
	p, n := w.GP64(), w.GP64()
	for i := 1; i < copyMost; i++ {
		w.CMPQ(parts, U8(i))
		w.JEQ(LabelRef(fmt.Sprintf("tap%d", i)))
	}
	for i := copyMost; i >= 1; i-- {
		w.Label(fmt.Sprintf("tap%d", i))
		w.MOVQ(at(taps, 0), p)
		w.ADDQ(at(s, copySrc), p)
		w.MOVQ(at(s, copyQuads), n)
		w.Label(fmt.Sprintf("quad%d", i))
		w.VMOVDQU32(indexed(p, offs[0], 1, 0), z(0))
		for part := 1; part < i; part++ {
			w.VMOVDQU32(indexed(p, offs[part], 1, 0), masks[part], z(0))
		}
		w.VMOVDQU32(z(0), at(dst, 0))
		w.ADDQ(plane, p)
		w.ADDQ(step, dst)
		w.DECQ(n)
		w.JNZ(LabelRef(fmt.Sprintf("quad%d", i)))
		w.ADDQ(U8(8), taps)
		w.DECQ(count)
		w.JNZ(LabelRef(fmt.Sprintf("tap%d", i)))
		w.end()
	}
}

// frameRows writes the transposition of the first four positions of packed
// vectors.
func frameRows(w writer) {
	w.begin("qFrameRowsVNNI", "func(n int, src, dst *uint8, ld int)",
		"makes four rows, ld bytes apart, of the first four dwords of each of\n4n vectors of 64 bytes.")
	n, src, dst, ld := w.arg("n"), w.arg("src"), w.arg("dst"), w.arg("ld")
	three := w.GP64()
	w.LEAQ(indexed(ld, ld, 2, 0), three)
	w.Label("loop")
	for i := range 4 {
		w.VMOVDQU(at(src, 64*i), x(i))
	}
	for i := range 2 {
		w.VPUNPCKLDQ(x(2*i+1), x(2*i), x(4+2*i))
		w.VPUNPCKHDQ(x(2*i+1), x(2*i), x(5+2*i))
	}
	for r, to := range []Mem{at(dst, 0), indexed(dst, ld, 1, 0), indexed(dst, ld, 2, 0), indexed(dst, three, 1, 0)} {
		if r%2 == 0 {
			w.VPUNPCKLQDQ(x(6+r/2), x(4+r/2), x(8))
		} else {
			w.VPUNPCKHQDQ(x(6+r/2), x(4+r/2), x(8))
		}
		w.VMOVDQU(x(8), to)
	}
	w.ADDQ(I32(256), src)
	w.ADDQ(U8(16), dst)
	w.DECQ(n)
	w.JNZ(LabelRef("loop"))
	w.end()
}

// Places of fields of kernel's qPlanePack.
const (
	packSrc = 8 * iota
	packPlane
	packQuads
	packParts
	packCount
	packRows
	packDst
	packVectors
	packFill
	packFlip = packFill + 4
)

// planePack reads 64 positions of four channels at a time, in parts, and brings the
// four bytes of each position together. Unless rows are listed, they are those of
// channels, one plane after the other.
type planePack struct {
	writer
	listed bool

	s, src, plane, three, quads, part, parts, count, rows, dst reg.GPVirtual
}

// emit writes one of both: four planes, or listed rows, are loaded in parts under
// masks over a register of padding, turned in registers, and written as a panel.
func (k planePack) emit() {
	name, doc := "qPlanePackVNNI", "packs groups of four channels as s, a qPlanePack, says."
	if k.listed {
		name, doc = "qPlaneListVNNI", "packs four rows of the list at a time as s, a qPlanePack, says."
	}
	k.begin(name, "func(s *uint8)", doc)
	k.s = k.arg("s")
	field := k.fields(k.s)
	k.src, k.plane, k.quads, k.parts = field(packSrc), field(packPlane), field(packQuads), field(packParts)
	k.count, k.rows, k.dst = field(packCount), field(packRows), field(packDst)
	k.part, k.three = k.GP64(), k.GP64()
	k.LEAQ(indexed(k.plane, k.plane, 2, 0), k.three)
	k.VPBROADCASTD(at(k.s, packFill), z(30))
	k.VPBROADCASTD(at(k.s, packFlip), z(31))
	k.SHLQ(U8(4), k.count)
	if k.listed {
		k.loop(func() {
			for r := range 4 {
				k.listedRow(r)
			}
			k.ADDQ(U8(64), k.rows)
		})
	} else {
		k.loop(k.channels)
	}
	k.end()
}

// channels loads the parts of four planes into Z0 to Z3.
func (k *planePack) channels() {
	p, end := k.GP64(), k.GP64()
	for r := range 4 {
		k.VMOVDQA32(z(30), z(r))
	}
	k.MOVQ(k.parts, k.part)
	k.LEAQ(indexed(k.parts, k.count, 1, 0), end)
	k.Label("part")
	k.MOVQ(at(k.part, 0), p)
	k.KMOVQ(at(k.part, 8), reg.K1)
	k.ADDQ(k.src, p)
	k.VMOVDQU8(at(p, 0), reg.K1, z(0))
	k.VMOVDQU8(indexed(p, k.plane, 1, 0), reg.K1, z(1))
	k.VMOVDQU8(indexed(p, k.plane, 2, 0), reg.K1, z(2))
	k.VMOVDQU8(indexed(p, k.three, 1, 0), reg.K1, z(3))
	k.ADDQ(U8(16), k.part)
	k.CMPQ(k.part, end)
	k.JNE(LabelRef("part"))
	k.LEAQ(indexed(k.src, k.plane, 4, 0), k.src)
}

// listedRow loads the parts of row r of the list into Zr.
func (k *planePack) listedRow(r int) {
	p, from, end := k.GP64(), k.GP64(), k.GP64()
	label := fmt.Sprintf("part%d", r)
	k.VMOVDQA32(z(30), z(r))
	k.MOVQ(at(k.rows, 16*r), from)
	k.ADDQ(k.src, from)
	k.MOVQ(at(k.rows, 16*r+8), k.part)
	k.IMULQ(k.count, k.part)
	k.ADDQ(k.parts, k.part)
	k.LEAQ(indexed(k.part, k.count, 1, 0), end)
	k.Label(label)
	k.MOVQ(at(k.part, 0), p)
	k.KMOVQ(at(k.part, 8), reg.K1)
	k.VMOVDQU8(indexed(from, p, 1, 0), reg.K1, z(r))
	k.ADDQ(U8(16), k.part)
	k.CMPQ(k.part, end)
	k.JNE(LabelRef(label))
}

// loop packs quads groups. Four vectors of positions are written as interleaving
// leaves them, position p in dword p%4 of lane p/16 of vector p/4%4, which joining
// the sums undoes; fewer are written in order.
func (k *planePack) loop(load func()) {
	vectors := k.GP64()
	k.Label("quad")
	load()
	k.flippedFours()
	k.MOVQ(at(k.s, packVectors), vectors)
	k.CMPQ(vectors, U8(4))
	k.JNE(LabelRef("ordered"))
	for v := range 4 {
		k.VMOVDQU32(z(8+v), at(k.dst, 64*v))
	}
	k.ADDQ(I32(256), k.dst)
	k.JMP(LabelRef("next"))
	k.Label("ordered")
	k.VSHUFI32X4(U8(0x44), z(9), z(8), z(12))
	k.VSHUFI32X4(U8(0x44), z(11), z(10), z(13))
	k.VSHUFI32X4(U8(0x88), z(13), z(12), z(14))
	k.VMOVDQU32(z(14), at(k.dst, 0))
	k.ADDQ(U8(64), k.dst)
	k.CMPQ(vectors, U8(1))
	k.JEQ(LabelRef("next"))
	k.VSHUFI32X4(U8(0xdd), z(13), z(12), z(14))
	k.VMOVDQU32(z(14), at(k.dst, 0))
	k.ADDQ(U8(64), k.dst)
	k.CMPQ(vectors, U8(2))
	k.JEQ(LabelRef("next"))
	k.VSHUFI32X4(U8(0xee), z(9), z(8), z(12))
	k.VSHUFI32X4(U8(0xee), z(11), z(10), z(13))
	k.VSHUFI32X4(U8(0x88), z(13), z(12), z(14))
	k.VMOVDQU32(z(14), at(k.dst, 0))
	k.ADDQ(U8(64), k.dst)
	k.Label("next")
	k.DECQ(k.quads)
	k.JNZ(LabelRef("quad"))
}

// emitSplit writes the separation of even elements and odd ones.
func emitSplit(w writer) {
	w.begin("qSplitVNNI", "func(lines, n int, src, even, odd *uint8, step int)",
		"sets even[i] = src[2i] and, unless odd is nil, odd[i] = src[2i+1] for the n\nelements of each line of src; lines of even and odd are step apart.")
	lines, n, src, even, odd, step := w.arg("lines"), w.arg("n"), w.arg("src"), w.arg("even"), w.arg("odd"), w.arg("step")
	half, at0 := w.GP64(), w.GP64()
	to, left := w.GP64(), w.GP64()
	w.MOVQ(n, left)
	w.ANDQ(I32(63), left)
	w.lanes(left, reg.K1)
	w.LEAQ(at(left, 1), half)
	w.SHRQ(U8(1), half)
	w.lanes(half, reg.K2)
	w.SHRQ(U8(1), left)
	w.lanes(left, reg.K3)
	part := func(masked bool) {
		if masked {
			w.VMOVDQU8_Z(at(src, 0), reg.K1, z(0))
		} else {
			w.VMOVDQU8(at(src, 0), z(0))
		}
		put := func(base reg.GPVirtual, k reg.Register) {
			w.VPMOVWB(z(0), y(1))
			if masked {
				w.VMOVDQU8(y(1), k, indexed(base, to, 1, 0))
			} else {
				w.VMOVDQU8(y(1), indexed(base, to, 1, 0))
			}
		}
		put(even, reg.K2)
		name := fmt.Sprintf("even%v", masked)
		w.TESTQ(odd, odd)
		w.JZ(LabelRef(name))
		w.VPSRLW(U8(8), z(0), z(0))
		put(odd, reg.K3)
		w.Label(name)
	}
	w.XORQ(at0, at0)
	w.Label("line")
	w.MOVQ(at0, to)
	w.MOVQ(n, left)
	w.SUBQ(U8(64), left)
	w.JLT(LabelRef("few"))
	w.Label("full")
	part(false)
	w.ADDQ(U8(64), src)
	w.ADDQ(U8(32), to)
	w.SUBQ(U8(64), left)
	w.JGE(LabelRef("full"))
	w.Label("few")
	w.ADDQ(U8(64), left)
	w.JZ(LabelRef("next"))
	part(true)
	w.ADDQ(left, src)
	w.Label("next")
	w.ADDQ(step, at0)
	w.DECQ(lines)
	w.JNZ(LabelRef("line"))
	w.end()
}
