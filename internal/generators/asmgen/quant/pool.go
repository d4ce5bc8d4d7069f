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
	for stride := 1; stride <= 2; stride++ {
		meanPlane(w, stride)
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

// Places of those that its qMeanTile has after 16 masks.
const (
	meanBias  = poolMasks + 16*8
	meanScale = meanBias + 32*4
	meanLo    = meanScale + 32*4
	meanHi    = meanLo + 4
	meanZero  = meanHi + 4
	meanFlip  = meanZero + 4
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
	k := w.windows()
	tapStep, keep := k.field(poolTapStep), k.field(poolKeep)
	w.KMOVQ(keep, reg.K2)
	k.q, k.mask, k.taps, k.p, k.rows = w.GP64(), w.GP64(), w.GP64(), w.GP64(), w.GP64()
	w.MOVQ(U32(0x01010101*least), k.p)
	w.VPBROADCASTD(k.p.As32(), z(1))
	k.walk(func() { w.VMOVDQA32(z(1), z(0)) },
		func() { most(at(k.p, 0), z(0), reg.K1, z(0)) },
		func() { w.ADDQ(tapStep, k.q) },
		func() {
			w.CMPQ(at(k.s, poolEven), U8(0))
			w.JEQ(LabelRef("store"))
			w.VPMOVWB(z(0), y(0))
			w.Label("store")
			w.VMOVDQU8(z(0), reg.K2, at(k.dst, 0))
		})
}

// windows are those that a qPoolTile says, for a vector of results at a time.
type windows struct {
	writer
	field                                     func(int) reg.GPVirtual
	s, src, dst, lines, ld, lineStep, rowStep reg.GPVirtual
	q, mask, taps, p, rows                    reg.GPVirtual // for walk: the first row of a tap, its mask, what is left, and the place
}

// windows loads what all of them need.
func (w writer) windows() *windows {
	k := &windows{writer: w, s: w.arg("s")}
	k.field = w.fields(k.s)
	k.src, k.dst, k.lines, k.ld, k.lineStep = k.field(poolSrc), k.field(poolDst), k.field(poolLines), k.field(poolLd), k.field(poolLineStep)
	k.rowStep = k.field(poolRowStep)
	return k
}

// walk writes the loops: for each line of results begin, for each row of each tap add, which reads the bytes at p
// under the mask K1, step to the next tap, and store.
func (k *windows) walk(begin, add, step, store func()) {
	k.ADDQ(at(k.s, poolAt), k.src)
	k.Label("line")
	begin()
	k.MOVQ(k.src, k.q)
	k.LEAQ(at(k.s, poolMasks), k.mask)
	k.MOVQ(at(k.s, poolTaps), k.taps)
	k.Label("tap")
	k.KMOVQ(at(k.mask, 0), reg.K1)
	k.MOVQ(k.q, k.p)
	k.MOVQ(at(k.s, poolRows), k.rows)
	k.Label("row")
	add()
	k.ADDQ(k.rowStep, k.p)
	k.DECQ(k.rows)
	k.JNZ(LabelRef("row"))
	step()
	k.ADDQ(U8(8), k.mask)
	k.DECQ(k.taps)
	k.JNZ(LabelRef("tap"))
	store()
	k.ADDQ(k.lineStep, k.src)
	k.ADDQ(k.ld, k.dst)
	k.DECQ(k.lines)
	k.JNZ(LabelRef("line"))
	k.end()
}

// meanPlane writes the means of windows: sums of 32 windows next to each other are words, of bytes
// under masks of those that lie in the line, the others being what stands for 0. Of stride
// 2 a pair of bytes is a window's.
func meanPlane(w writer, stride int) {
	w.begin(fmt.Sprintf("qMeanBy%dAVX512", stride), "func(s *uint8)",
		fmt.Sprintf("takes the means of the windows, %d apart, that s, a qMeanTile, says.", stride))
	k := w.windows()
	k.q = k.field(poolKeep)
	w.KMOVQ(k.q, reg.K2)
	w.KSHIFTRQ(U8(16), reg.K2, reg.K3)
	for i, off := range []int{meanFlip, meanLo, meanHi, meanZero} {
		w.VBROADCASTSS(at(k.s, off), z(27+i))
	}
	k.mask, k.taps, k.p, k.rows = w.GP64(), w.GP64(), w.GP64(), w.GP64()
	w.MOVL(U32(0x01010101), k.p.As32())
	w.VPBROADCASTD(k.p.As32(), z(1))
	for i, off := range []int{meanBias, meanScale} {
		for h := range 2 {
			w.VMOVDQU32(at(k.s, off+64*h), z(10+2*i+h))
		}
	}
	k.walk(func() { w.VPXORD(z(0), z(0), z(0)) },
		func() { k.words(stride) },
		func() { w.ADDQ(U8(stride), k.q) },
		k.means)
}

// words adds the bytes at p, or pairs of them, to words.
func (k *windows) words(stride int) {
	k.VMOVDQA32(z(27), z(2))
	if stride == 1 {
		k.VMOVDQU8(at(k.p, 0), reg.K1, y(2))
		k.VPXORD(y(27), y(2), y(2))
		k.VPMOVZXBW(y(2), z(2))
	} else {
		k.VMOVDQU8(at(k.p, 0), reg.K1, z(2))
		k.VPXORD(z(27), z(2), z(2))
		k.VPMADDUBSW(z(1), z(2), z(2))
	}
	k.VPADDW(z(2), z(0), z(0))
}

// means stores the means of words, the upper half where it has any.
func (k *windows) means() {
	k.VEXTRACTI64X4(U8(1), z(0), y(2))
	for h, mask := range []reg.Register{reg.K2, reg.K3} {
		v := z(2 * h)
		if h == 1 {
			k.KTESTW(mask, mask)
			k.JZ(LabelRef("next"))
		}
		k.VPMOVZXWD(v.AsY(), v)
		k.VPADDD(z(10+h), v, v)
		k.VCVTDQ2PS(v, v)
		k.VMULPS(z(12+h), v, v)
		k.clamp512(v)
		k.VPMOVDB(v, v.AsX())
		k.VMOVDQU8(v.AsX(), mask, at(k.dst, 16*h))
	}
	k.Label("next")
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
		e.totals512()
		return
	}
	e.begin(e.name("qTotal"), "func(n int, src *uint8, flip uint32, sum *int64)",
		"writes eight sums, of all n bytes together, "+doc+"; flip, four\nequal bytes, is applied to them first.")
	n, src, sum := e.arg("n"), e.arg("src"), e.arg("sum")
	e.broadcast("flip", e.v(2))
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

// totals512 writes the sums of rows, each of whole vectors and what is left.
func (e elements) totals512() {
	e.begin("qTotalsAVX512", "func(rows, n int, src *uint8, flip uint32, sums *int64)",
		"writes the sums of rows of n bytes each, both above 0; flip, four equal\nbytes, is applied to them first.")
	rows, n, src, sums := e.arg("rows"), e.arg("n"), e.arg("src"), e.arg("sums")
	e.broadcast("flip", z(2))
	e.VPXORD(z(1), z(1), z(1))
	left, p := e.GP64(), e.GP64()
	e.MOVQ(n, left)
	e.ANDQ(U8(63), left)
	e.lanes(left, reg.K1)
	e.Label("row")
	// What is left comes first, other bytes being what stands for 0.
	e.VMOVDQA32(z(2), z(0))
	e.VMOVDQU8(at(src, 0), reg.K1, z(0))
	e.VPXORD(z(2), z(0), z(0))
	e.VPSADBW(z(1), z(0), z(0))
	e.ADDQ(left, src)
	e.MOVQ(n, p)
	e.SUBQ(left, p)
	e.JZ(LabelRef("sum"))
	e.Label("vector")
	e.VPXORD(at(src, 0), z(2), z(3))
	e.VPSADBW(z(1), z(3), z(3))
	e.VPADDQ(z(3), z(0), z(0))
	e.ADDQ(U8(64), src)
	e.SUBQ(U8(64), p)
	e.JNZ(LabelRef("vector"))
	e.Label("sum")
	e.VEXTRACTI64X4(U8(1), z(0), y(3))
	e.VPADDQ(y(3), y(0), y(0))
	e.VEXTRACTI128(U8(1), y(0), x(3))
	e.VPADDQ(x(3), x(0), x(0))
	e.VPSHUFD(U8(0x4e), x(0), x(3))
	e.VPADDQ(x(3), x(0), x(0))
	e.VMOVQ(x(0), at(sums, 0))
	e.ADDQ(U8(8), sums)
	e.DECQ(rows)
	e.JNZ(LabelRef("row"))
	e.end()
}
