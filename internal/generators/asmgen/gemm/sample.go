package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

func emitSamples(c *build.Context) {
	for _, s := range []isa{{simd.AVX512(c)}, {simd.AVX2(c)}} {
		emitSample(s)
	}
}

// emitSample writes the copy of every other element of several rows, whose
// tails are masked: rows of images are short.
func emitSample(s isa) {
	n := s.Lanes()
	var even Mem
	if s.Wide() {
		even = s.StaticGlobal("evenLanes")
		s.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range 16 {
			s.AddDatum(4*i, U32(2*i))
		}
	}
	s.Begin("convSample", "func(dst *float32, ldd int, src *float32, lds, cols, rows int)",
		"stores dst[y*ldd+x] = src[y*lds+2*x] for x < cols and y < rows, both at\nleast 1. In a row of src it reads up to element 2*cols-2.")
	dst, ldd, src, lds := s.Arg("dst"), s.Bytes("ldd"), s.Arg("src"), s.Bytes("lds")
	cols, rows := s.Arg("cols"), s.Arg("rows")
	if s.Wide() {
		s.VMOVUPS(even, s.V(2))
	}
	d, from, left, blocks := s.GP64(), s.GP64(), s.GP64(), s.GP64()
	low, high := s.GP64(), s.GP64()
	// The last block, 1 to n columns, reads 2*left-1 elements in two parts.
	s.LEAQ(Mem{Base: cols, Disp: -1}, blocks)
	s.SHRQ(U8(map[bool]int{true: 4, false: 3}[s.Wide()]), blocks)
	s.MOVQ(blocks, left)
	s.SHLQ(U8(map[bool]int{true: 4, false: 3}[s.Wide()]), left)
	s.NEGQ(left)
	s.ADDQ(cols, left)
	s.LEAQ(Mem{Base: left, Index: left, Scale: 1, Disp: -1}, high)
	full := s.GP64()
	s.MOVQ(U32(n), full)
	s.MOVQ(high, low)
	s.CMPQ(low, full)
	s.CMOVQGT(full, low)
	s.SUBQ(low, high)
	first := s.LaneMask(low, reg.K1, 3)
	second := s.LaneMask(high, reg.K2, 4)
	stored := s.LaneMask(left, reg.K3, 5)
	s.Label("row")
	s.MOVQ(dst, d)
	s.MOVQ(src, from)
	s.MOVQ(blocks, left)
	s.TESTQ(left, left)
	s.JEQ(LabelRef("tail"))
	s.Label("block")
	s.VMOVUPS(simd.At(from, 0), s.V(0))
	s.VMOVUPS(simd.At(from, 4*n), s.V(1))
	s.evens()
	s.VMOVUPS(s.V(0), simd.At(d, 0))
	s.ADDQ(U32(8*n), from)
	s.ADDQ(U32(4*n), d)
	s.DECQ(left)
	s.JNZ(LabelRef("block"))
	s.Label("tail")
	s.LoadLanes(simd.At(from, 0), s.V(0), &first)
	s.LoadLanes(simd.At(from, 4*n), s.V(1), &second)
	s.evens()
	s.StoreLanes(s.V(0), simd.At(d, 0), &stored)
	s.ADDQ(ldd, dst)
	s.ADDQ(lds, src)
	s.DECQ(rows)
	s.JNZ(LabelRef("row"))
	s.End()
}

// evens leaves the even elements of the pair of the first two registers in the first.
func (s isa) evens() {
	if s.Wide() {
		s.VPERMT2PS(s.V(1), s.V(2), s.V(0))
		return
	}
	s.VSHUFPS(U8(0x88), s.V(1), s.V(0), s.V(0))
	s.VPERMPD(U8(0xd8), s.V(0), s.V(0))
}
