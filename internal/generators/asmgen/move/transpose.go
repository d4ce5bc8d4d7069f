package main

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// emitTransposes writes the transposition of matrices in square blocks that fit
// into registers.
func emitTransposes(s isa) {
	lanes := s.Lanes()
	for _, stream := range []bool{false, true} {
		if stream && !s.Wide() {
			continue // a row of a block is half a cache line
		}
		s.transpose(4, lanes, stream, s.Transpose4)
		s.transpose(8, lanes/2, stream, s.Transpose8)
	}
	if !s.Wide() {
		for _, size := range []int{1, 2} {
			s.transpose(size, 8, false, func() []int { return simd.TransposeNarrow(s.Context, s.ISA, size) })
		}
	}
}

// transpose writes the function for elements of size bytes and blocks of n rows
// and columns.
func (s isa) transpose(size, n int, stream bool, shuffle func() []int) {
	name, doc, more, arguments := fmt.Sprintf("moveTranspose%d", size), "transposes", "", ""
	if stream {
		name, doc, arguments = name+"Stream", "transposes, past the caches,", ", next *byte, jump int"
		more = fmt.Sprintf(" Each block\nalso asks for %d lines of the cache at next, which then advances by jump.", n)
	}
	s.Function(name + s.Suffix())
	s.Attributes(attr.NOSPLIT)
	s.Pragma("noescape")
	s.Doc(strings.Split(fmt.Sprintf("%s%s %s rows·cols blocks of %d×%d elements of %d\nbytes, each at least one; ldd and lds are in bytes.%s",
		name, s.Suffix(), doc, n, n, size, more), "\n")...)
	s.SignatureExpr("func(dst *byte, ldd int, src *byte, lds, rows, cols int" + arguments + ")")
	dst, ldd, src, lds := s.Arg("dst"), s.Arg("ldd"), s.Arg("src"), s.Arg("lds")
	cols := s.Arg("cols")
	var next reg.GPVirtual
	var jump Mem
	if stream {
		next, jump = s.Arg("next"), s.argAt("jump")
	}
	from := newLines(s, lds)
	to := newLines(s, ldd)
	left, at, step := s.GP64(), s.GP64(), s.GP64()
	s.MOVQ(ldd, step)
	s.SHLQ(U8(bits.TrailingZeros(uint(n))), step)
	s.Label("column")
	s.MOVQ(s.argAt("rows"), left)
	s.MOVQ(src, from.p)
	s.MOVQ(dst, at)
	s.Label("block")
	for r := range n {
		if stream {
			s.PREFETCHT0(simd.At(next, r*line))
		}
		switch {
		case size == 1:
			s.VMOVQ(from.line(r, n), s.V(r).AsX())
		case size == 2:
			s.VMOVUPS(from.line(r, n), s.V(r).AsX())
		default:
			s.VMOVUPS(from.line(r, n), s.V(r))
		}
	}
	if stream {
		s.ADDQ(jump, next)
	}
	// The next block of rows follows the last line.
	s.ADDQ(lds, from.p)
	s.MOVQ(at, to.p)
	for i, v := range shuffle() {
		switch {
		case size == 1:
			s.VMOVQ(s.V(v).AsX(), to.line(2*i, n))
			s.VMOVHPS(s.V(v).AsX(), to.line(2*i+1, n))
		case size == 2:
			s.VMOVUPS(s.V(v).AsX(), to.line(i, n))
		case stream:
			s.VMOVNTPS(s.V(v), to.line(i, n))
		default:
			s.VMOVUPS(s.V(v), to.line(i, n))
		}
	}
	s.ADDQ(U32(uint32(n*size)), at)
	s.DECQ(left)
	s.JNE(LabelRef("block"))
	s.ADDQ(step, dst)
	s.ADDQ(U32(uint32(n*size)), src)
	s.DECQ(cols)
	s.JNE(LabelRef("column"))
	s.End()
}

// argAt is a parameter where it lies in memory.
func (s isa) argAt(name string) Mem {
	a, err := s.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return a.Addr
}

// lines addresses consecutive lines of memory.
type lines struct {
	s       isa
	p       reg.GPVirtual
	ld, ld3 reg.GPVirtual
}

func newLines(s isa, ld reg.GPVirtual) *lines {
	l := &lines{s: s, p: s.GP64(), ld: ld, ld3: s.GP64()}
	s.LEAQ(Mem{Base: ld, Index: ld, Scale: 2}, l.ld3)
	return l
}

// line returns line i of n, which are asked for in order; p ends at the last.
func (l *lines) line(i, n int) Mem {
	if i == n-1 {
		// p is at the last multiple of four.
		l.s.LEAQ(l.mem(i%4), l.p)
		return Mem{Base: l.p}
	}
	if i > 0 && i%4 == 0 {
		l.s.LEAQ(Mem{Base: l.p, Index: l.ld, Scale: 4}, l.p)
	}
	return l.mem(i % 4)
}

func (l *lines) mem(i int) Mem {
	switch i {
	case 1:
		return Mem{Base: l.p, Index: l.ld, Scale: 1}
	case 2:
		return Mem{Base: l.p, Index: l.ld, Scale: 2}
	case 3:
		return Mem{Base: l.p, Index: l.ld3, Scale: 1}
	}
	return Mem{Base: l.p}
}
