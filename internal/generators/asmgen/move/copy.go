package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// line is the number of bytes of a line of the cache.
const line = 64

// unroll is the number of registers of a turn of the main loops.
const unroll = 4

// emitCopies writes the copy of rows and the fill with a pattern, through the
// caches and past them.
func emitCopies(s isa) {
	s.copyRows()
	s.copyStream()
	s.fill(false)
	s.fill(true)
	s.repeat()
	if s.Wide() {
		s.Function("moveFence")
		s.Attributes(attr.NOSPLIT)
		s.Doc("moveFence orders the stores past the caches before what follows.")
		s.SignatureExpr("func()")
		s.SFENCE()
		s.RET()
	}
}

// width is the number of bytes in a register.
func (s isa) width() int { return 4 * s.Lanes() }

// store writes a whole register, past the caches where stream says so; then the
// address must be a multiple of the width.
func (s isa) store(v reg.VecPhysical, to Mem, stream bool) {
	if stream {
		s.VMOVNTPS(v, to)
	} else {
		s.VMOVUPS(v, to)
	}
}

// wholes repeats body for as many groups of n bytes as left holds.
func (s isa) wholes(label string, left reg.GPVirtual, n int, body func()) {
	s.SUBQ(U32(uint32(n)), left)
	s.JLT(LabelRef(label + "_done"))
	s.Label(label)
	body()
	s.SUBQ(U32(uint32(n)), left)
	s.JGE(LabelRef(label))
	s.Label(label + "_done")
	s.ADDQ(U32(uint32(n)), left)
}

// byteMask makes opmask k1 select the first n of 64 bytes.
func (s isa) byteMask(n reg.GPVirtual) {
	t := s.GP64()
	s.MOVQ(I32(-1), t)
	s.BZHIQ(n, t, t)
	s.KMOVQ(t, reg.K1)
}

// nextRow ends a loop over rows, and the function.
func (s isa) nextRow(dst, ldd, src, lds, rows reg.GPVirtual) {
	s.Label("next")
	s.ADDQ(ldd, dst)
	s.ADDQ(lds, src)
	s.DECQ(rows)
	s.JNE(LabelRef("row"))
	s.End()
}

// copyRows copies short rows, which the processor's copies of strings are slow at.
// A turn loads several vectors before it stores the first, so that loads do not
// wait for stores to possibly the same address.
func (s isa) copyRows() {
	s.Begin("moveRows", "func(dst *byte, ldd int, src *byte, lds, n, rows int)",
		"copies rows of n bytes, both at least one; ldd and lds\nare the distances between rows in bytes.")
	dst, ldd, src, lds, n, rows := s.Arg("dst"), s.Arg("ldd"), s.Arg("src"), s.Arg("lds"), s.Arg("n"), s.Arg("rows")
	to, from, left := s.GP64(), s.GP64(), s.GP64()
	w := s.width()
	if !s.Wide() {
		s.CMPQ(n, U8(w))
		s.JLT(LabelRef("short"))
	}
	s.Label("row")
	s.MOVQ(dst, to)
	s.MOVQ(src, from)
	s.MOVQ(n, left)
	for _, group := range []int{unroll, 1} {
		label := map[int]string{unroll: "block", 1: "whole"}[group]
		s.wholes(label, left, group*w, func() {
			for i := range group {
				s.VMOVUPS(simd.At(from, i*w), s.V(i))
			}
			for i := range group {
				s.VMOVUPS(s.V(i), simd.At(to, i*w))
			}
			s.ADDQ(U32(uint32(group*w)), from)
			s.ADDQ(U32(uint32(group*w)), to)
		})
	}
	s.TESTQ(left, left)
	s.JEQ(LabelRef("next"))
	if s.Wide() {
		s.byteMask(left)
		s.VMOVDQU8_Z(Mem{Base: from}, reg.K1, s.V(0))
		s.VMOVDQU8(s.V(0), reg.K1, Mem{Base: to})
	} else {
		// The last bytes overlap those before.
		s.VMOVUPS(Mem{Base: from, Index: left, Scale: 1, Disp: -w}, s.V(0))
		s.VMOVUPS(s.V(0), Mem{Base: to, Index: left, Scale: 1, Disp: -w})
	}
	s.nextRow(dst, ldd, src, lds, rows)
	if !s.Wide() {
		s.shortRows(dst, ldd, src, lds, n, rows)
	}
}

// shortRows copies rows shorter than a register as two halves that overlap.
func (s isa) shortRows(dst, ldd, src, lds, n, rows reg.GPVirtual) {
	part := func(label, otherwise string, size int, copy func(from, to Mem)) {
		s.Label(label)
		s.CMPQ(n, U8(size))
		s.JLT(LabelRef(otherwise))
		s.Label(label + "_row")
		copy(Mem{Base: src}, Mem{Base: dst})
		copy(Mem{Base: src, Index: n, Scale: 1, Disp: -size}, Mem{Base: dst, Index: n, Scale: 1, Disp: -size})
		s.ADDQ(ldd, dst)
		s.ADDQ(lds, src)
		s.DECQ(rows)
		s.JNE(LabelRef(label + "_row"))
		s.End()
	}
	t := s.GP64()
	part("short", "eight", 16, func(from, to Mem) {
		s.VMOVUPS(from, s.V(0).AsX())
		s.VMOVUPS(s.V(0).AsX(), to)
	})
	part("eight", "four", 8, func(from, to Mem) {
		s.MOVQ(from, t)
		s.MOVQ(t, to)
	})
	part("four", "two", 4, func(from, to Mem) {
		s.MOVL(from, t.As32())
		s.MOVL(t.As32(), to)
	})
	part("two", "one", 2, func(from, to Mem) {
		s.MOVW(from, t.As16())
		s.MOVW(t.As16(), to)
	})
	part("one", "none", 1, func(from, to Mem) {
		s.MOVB(from, t.As8())
		s.MOVB(t.As8(), to)
	})
	s.Label("none")
	s.End()
}

// copyStream copies whole registers past the caches. Asking for the source ahead,
// in pieces of 256 to 4096 bytes, does not help: the loads of this loop reach far
// enough.
func (s isa) copyStream() {
	w := s.width()
	s.Begin("moveStream", "func(dst, src *byte, n int)", "copies n turns of 256 bytes past the caches; dst is a\nmultiple of 64, n at least one.")
	dst, src, n := s.Arg("dst"), s.Arg("src"), s.Arg("n")
	s.Label("turn")
	for i := range 256 / w {
		s.VMOVUPS(simd.At(src, i*w), s.V(i))
		s.VMOVNTPS(s.V(i), simd.At(dst, i*w))
	}
	s.ADDQ(U32(256), src)
	s.ADDQ(U32(256), dst)
	s.DECQ(n)
	s.JNE(LabelRef("turn"))
	s.End()
}

// fill stores a pattern. One register holds the pattern for all stores of a turn.
func (s isa) fill(stream bool) {
	name, doc := "moveFill", "sets n turns of 256 bytes to the pattern."
	if stream {
		name, doc = "moveFillStream", "is moveFill past the caches; dst is a multiple of 64."
	}
	s.Begin(name, "func(dst *byte, n int, pattern uint64)", doc+" n is at\nleast one.")
	dst, n := s.Arg("dst"), s.Arg("n")
	a, err := s.Param("pattern").Resolve()
	if err != nil {
		panic(err)
	}
	s.VBROADCASTSD(a.Addr, s.V(0))
	s.Label("turn")
	for i := range 256 / s.width() {
		s.store(s.V(0), simd.At(dst, i*s.width()), stream)
	}
	s.ADDQ(U32(256), dst)
	s.DECQ(n)
	s.JNE(LabelRef("turn"))
	s.End()
}

// repeat stores one element for each row. The last register of a row overlaps the one
// before, so that no row ends with a mask.
func (s isa) repeat() {
	w := s.width()
	s.Begin("moveRepeat", "func(dst, src *float32, step, n, rows int)",
		fmt.Sprintf("sets rows of n elements, at least %d, each to one of src, which are\nstep elements apart.", s.Lanes()))
	dst, src, step, n, rows := s.Arg("dst"), s.Arg("src"), s.Bytes("step"), s.Bytes("n"), s.Arg("rows")
	left := s.GP64()
	s.Label("row")
	s.VBROADCASTSS(simd.At(src, 0), s.V(0))
	s.MOVQ(n, left)
	s.wholes("whole", left, w, func() {
		s.VMOVUPS(s.V(0), simd.At(dst, 0))
		s.ADDQ(U32(uint32(w)), dst)
	})
	s.ADDQ(left, dst)
	s.VMOVUPS(s.V(0), simd.At(dst, -w))
	s.ADDQ(step, src)
	s.DECQ(rows)
	s.JNE(LabelRef("row"))
	s.End()
}
