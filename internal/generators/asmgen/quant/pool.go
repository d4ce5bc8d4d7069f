package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitPool writes the routines of pooling of bytes.
func emitPool(w writer) {
	for _, wide := range []bool{true, false} {
		e := elements{writer: w, wide: wide}
		e.most()
		e.add()
		e.total()
	}
	for _, signed := range []bool{false, true} {
		poolPlane(w, signed)
	}
}

// Places of fields of kernel's qPoolTile.
const (
	poolSrc = 8 * iota
	poolAt
	poolDst
	poolLines
	poolLineStep
	poolLd
	poolRows
	poolRowStep
	poolTaps
	poolTapStep
	poolEven
	poolKeep
	poolMasks
)

// poolPlane writes the greatest of windows: a vector of neighbouring bytes is kept
// while all taps pass, each under a mask of those that lie in the line, and every
// byte of it, or every second one, is a result.
func poolPlane(w writer, signed bool) {
	name, most, least := "qPoolU8AVX512", w.VPMAXUB, 0
	if signed {
		name, most, least = "qPoolI8AVX512", w.VPMAXSB, 0x80
	}
	w.begin(name, "func(s *uint8)", "takes the greatest of the windows that s, a qPoolTile, says.")
	s := w.arg("s")
	field := w.fields(s)
	src, dst, lines, ld, lineStep := field(poolSrc), field(poolDst), field(poolLines), field(poolLd), field(poolLineStep)
	rowStep, tapStep, keep := field(poolRowStep), field(poolTapStep), field(poolKeep)
	w.KMOVQ(keep, reg.K2)
	w.ADDQ(at(s, poolAt), src)
	q, mask, taps, p, rows := w.GP64(), w.GP64(), w.GP64(), w.GP64(), w.GP64()
	w.MOVQ(U32(0x01010101*least), p)
	w.VPBROADCASTD(p.As32(), z(1))
	w.Label("line")
	w.VMOVDQA32(z(1), z(0))
	w.MOVQ(src, q)
	w.LEAQ(at(s, poolMasks), mask)
	w.MOVQ(at(s, poolTaps), taps)
	w.Label("tap")
	w.KMOVQ(at(mask, 0), reg.K1)
	w.MOVQ(q, p)
	w.MOVQ(at(s, poolRows), rows)
	w.Label("row")
	most(at(p, 0), z(0), reg.K1, z(0))
	w.ADDQ(rowStep, p)
	w.DECQ(rows)
	w.JNZ(LabelRef("row"))
	w.ADDQ(tapStep, q)
	w.ADDQ(U8(8), mask)
	w.DECQ(taps)
	w.JNZ(LabelRef("tap"))
	w.CMPQ(at(s, poolEven), U8(0))
	w.JEQ(LabelRef("store"))
	w.VPMOVWB(z(0), y(0))
	w.Label("store")
	w.VMOVDQU8(z(0), reg.K2, at(dst, 0))
	w.ADDQ(lineStep, src)
	w.ADDQ(ld, dst)
	w.DECQ(lines)
	w.JNZ(LabelRef("line"))
	w.end()
}

// each runs body for vectors of size elements until n, a multiple, is 0.
func (e elements) each(size int, body func()) {
	n := e.arg("n")
	e.Label("vector")
	body()
	e.SUBQ(I32(size), n)
	e.JNZ(LabelRef("vector"))
	e.end()
}

// xor flips bits; both widths have a name of their own for it.
func (e elements) xor(a, v int) {
	if e.wide {
		e.VPXORD(z(a), z(v), z(v))
	} else {
		e.VPXOR(y(a), y(v), y(v))
	}
}

// most writes the greatest of elements a step apart. The maximum stays in a
// register while taps pass, each a vector some bytes further on.
func (e elements) most() {
	e.begin(e.name("qMost"), "func(n, count, step int, src, dst *uint8, in, out uint32)",
		fmt.Sprintf("sets dst[i] to the greatest of src[i+step·t], t below count, for n bytes,\na multiple of %d; in and out, four equal bytes each, are applied to the bytes\nbefore and after.", e.size()))
	count, step, src, dst := e.arg("count"), e.arg("step"), e.arg("src"), e.arg("dst")
	e.broadcast("in", e.v(2))
	e.broadcast("out", e.v(3))
	p, left := e.GP64(), e.GP64()
	e.each(e.size(), func() {
		if e.wide {
			e.VPXORD(z(0), z(0), z(0))
		} else {
			e.VPXOR(y(0), y(0), y(0))
		}
		e.MOVQ(src, p)
		e.MOVQ(count, left)
		e.Label("tap")
		if e.wide {
			e.VPXORD(at(p, 0), z(2), z(1))
		} else {
			e.VPXOR(at(p, 0), y(2), y(1))
		}
		e.VPMAXUB(e.v(1), e.v(0), e.v(0))
		e.ADDQ(step, p)
		e.DECQ(left)
		e.JNZ(LabelRef("tap"))
		e.xor(3, 0)
		if e.wide {
			e.VMOVDQU8(z(0), at(dst, 0))
		} else {
			e.VMOVDQU(y(0), at(dst, 0))
		}
		e.ADDQ(U8(e.size()), src)
		e.ADDQ(U8(e.size()), dst)
	})
}

// add writes the addition of bytes to sums. Sums are in the first cache, because a
// window's channels are more than registers hold.
func (e elements) add() {
	lanes := e.size() / 4
	e.begin(e.name("qAddUp"), "func(n int, src *uint8, flip uint32, acc *int32)",
		fmt.Sprintf("adds n bytes, a multiple of %d, to sums; flip, four equal bytes, is\napplied to them first.", lanes))
	src, acc := e.arg("src"), e.arg("acc")
	e.broadcast("flip", e.v(2))
	e.each(lanes, func() {
		if e.wide {
			e.VMOVDQU(at(src, 0), x(0))
		} else {
			e.VMOVQ(at(src, 0), x(0))
		}
		e.VPXOR(x(2), x(0), x(0))
		e.VPMOVZXBD(x(0), e.v(0))
		e.VPADDD(at(acc, 0), e.v(0), e.v(0))
		e.VMOVUPS(e.v(0), at(acc, 0))
		e.ADDQ(U8(lanes), src)
		e.ADDQ(U8(e.size()), acc)
	})
}

// total writes the sum of bytes.
func (e elements) total() {
	doc := fmt.Sprintf("a multiple of %d", e.size())
	if e.wide {
		doc = "at least one"
	}
	e.begin(e.name("qTotal"), "func(n int, src *uint8, flip uint32, sum *int64)",
		"writes eight sums, of all n bytes together, "+doc+"; flip, four\nequal bytes, is applied to them first.")
	n, src, sum := e.arg("n"), e.arg("src"), e.arg("sum")
	e.broadcast("flip", e.v(2))
	if e.wide {
		e.total512(n, src)
		e.VMOVDQU64(z(0), at(sum, 0))
		e.end()
		return
	}
	e.VPXOR(y(0), y(0), y(0))
	e.VPXOR(y(1), y(1), y(1))
	e.Label("vector")
	e.VPXOR(at(src, 0), y(2), y(3))
	e.VPSADBW(y(1), y(3), y(3))
	e.VPADDQ(y(3), y(0), y(0))
	e.ADDQ(U8(32), src)
	e.SUBQ(I32(32), n)
	e.JNZ(LabelRef("vector"))
	e.VMOVDQU(y(0), at(sum, 0))
	e.VMOVDQU(y(1), at(sum, 32))
	e.end()
}

func (e elements) total512(n, src reg.GPVirtual) {
	e.VPXORD(z(0), z(0), z(0))
	e.VPXORD(z(1), z(1), z(1))
	e.SUBQ(U8(64), n)
	e.JLT(LabelRef("few"))
	e.Label("vector")
	e.VPXORD(at(src, 0), z(2), z(3))
	e.VPSADBW(z(1), z(3), z(3))
	e.VPADDQ(z(3), z(0), z(0))
	e.ADDQ(U8(64), src)
	e.SUBQ(U8(64), n)
	e.JGE(LabelRef("vector"))
	e.Label("few")
	e.ADDQ(U8(64), n)
	e.lanes(n, reg.K1)
	e.VMOVDQU8_Z(at(src, 0), reg.K1, z(3))
	e.VPXORD(z(3), z(2), z(3))
	e.VMOVDQU8_Z(z(3), reg.K1, z(3))
	e.VPSADBW(z(1), z(3), z(3))
	e.VPADDQ(z(3), z(0), z(0))
}
