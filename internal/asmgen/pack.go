package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func emitPack(c *build.Context) {
	for _, s := range []isa{avx512(c), avx2(c)} {
		emitTranspose(s)
		emitCopy(s)
		emitSegment(s)
		emitEven(s)
	}
}

// emitTranspose writes the packing of rows that lie along k: blocks of as many
// rows and columns as a register has lanes are transposed in registers.
func emitTranspose(s isa) {
	n := s.lanes()
	s.begin("packTranspose", "func(dst *float32, stride int, src *float32, ld, rows, k int)",
		fmt.Sprintf("stores dst[p*stride+r] = src[r*ld+p] for p < k and r < %d, where\nrows r past the given number (1 to %d) repeat the last one.", n, n))
	dst, stride, src, ld, rows, k := s.arg("dst"), s.bytes("stride"), s.arg("src"), s.bytes("ld"), s.arg("rows"), s.arg("k")
	row, step, none := s.GP64(), s.GP64(), s.GP64()
	s.XORQ(none, none)
	loads := func(m *mask) {
		s.MOVQ(src, row)
		for r := range n {
			s.load(at(row, 0), s.v(r), m)
			if r == n-1 {
				break
			}
			s.MOVQ(ld, step)
			s.CMPQ(rows, U8(r+1))
			s.CMOVQLE(none, step)
			s.ADDQ(step, row)
		}
	}
	s.Label("block")
	s.CMPQ(k, U8(n))
	s.JLT(LabelRef("tail"))
	loads(nil)
	for _, r := range s.transpose() {
		s.VMOVUPS(s.v(r), at(dst, 0))
		s.ADDQ(stride, dst)
	}
	s.ADDQ(U8(4*n), src)
	s.SUBQ(U8(n), k)
	s.JMP(LabelRef("block"))
	s.Label("tail")
	s.TESTQ(k, k)
	s.JEQ(LabelRef("done"))
	m := s.laneMask(k, reg.K1, 15)
	loads(&m)
	for i, r := range s.transpose() {
		if i == n-1 {
			break
		}
		s.VMOVUPS(s.v(r), at(dst, 0))
		s.ADDQ(stride, dst)
		s.DECQ(k)
		s.JEQ(LabelRef("done"))
	}
	s.Label("done")
	s.end()
}

// transpose transposes the matrix whose rows are the first registers and
// returns the registers that then hold its columns.
func (s isa) transpose() []int {
	n := s.lanes()
	a, b := make([]int, n), make([]int, n) // registers of the rows, and spare ones
	for i := range n {
		a[i], b[i] = i, n+i
	}
	// Pairs of rows, then quadruples, within each 128-bit part.
	for i := 0; i < n; i += 2 {
		s.VUNPCKLPS(s.v(a[i+1]), s.v(a[i]), s.v(b[i]))
		s.VUNPCKHPS(s.v(a[i+1]), s.v(a[i]), s.v(b[i+1]))
	}
	for i := 0; i < n; i += 4 {
		s.VUNPCKLPD(s.v(b[i+2]), s.v(b[i]), s.v(a[i]))
		s.VUNPCKHPD(s.v(b[i+2]), s.v(b[i]), s.v(a[i+1]))
		s.VUNPCKLPD(s.v(b[i+3]), s.v(b[i+1]), s.v(a[i+2]))
		s.VUNPCKHPD(s.v(b[i+3]), s.v(b[i+1]), s.v(a[i+3]))
	}
	// a[4g+c] now has columns c, c+4, ... of rows 4g to 4g+3, a part each.
	out := make([]int, n)
	if !s.wide {
		for c := range 4 {
			s.VPERM2F128(U8(0x20), s.v(a[4+c]), s.v(a[c]), s.v(b[c]))
			s.VPERM2F128(U8(0x31), s.v(a[4+c]), s.v(a[c]), s.v(b[4+c]))
			out[c], out[4+c] = b[c], b[4+c]
		}
		return out
	}
	for c := range 4 {
		s.VSHUFF32X4(U8(0x88), s.v(a[4+c]), s.v(a[c]), s.v(b[c]))      // columns c, c+8 of rows 0-7
		s.VSHUFF32X4(U8(0xdd), s.v(a[4+c]), s.v(a[c]), s.v(b[4+c]))    // columns c+4, c+12
		s.VSHUFF32X4(U8(0x88), s.v(a[12+c]), s.v(a[8+c]), s.v(b[8+c])) // the same of rows 8-15
		s.VSHUFF32X4(U8(0xdd), s.v(a[12+c]), s.v(a[8+c]), s.v(b[12+c]))
	}
	for c := range 4 {
		s.VSHUFF32X4(U8(0x88), s.v(b[8+c]), s.v(b[c]), s.v(a[c]))
		s.VSHUFF32X4(U8(0x88), s.v(b[12+c]), s.v(b[4+c]), s.v(a[4+c]))
		s.VSHUFF32X4(U8(0xdd), s.v(b[8+c]), s.v(b[c]), s.v(a[8+c]))
		s.VSHUFF32X4(U8(0xdd), s.v(b[12+c]), s.v(b[4+c]), s.v(a[12+c]))
	}
	for c := range n {
		out[c] = a[c]
	}
	return out
}

// emitCopy writes the packing of rows that lie across k.
func emitCopy(s isa) {
	n := s.lanes()
	s.begin("packCopy", "func(dst *float32, stride int, src *float32, ld, cols, k int)",
		fmt.Sprintf("stores dst[p*stride+r] = src[p*ld+r] for p < k and r < %d, zero\nfor r >= cols (1 to %d). k is at least 1.", n, n))
	dst, stride, src, ld, cols, k := s.arg("dst"), s.bytes("stride"), s.arg("src"), s.bytes("ld"), s.arg("cols"), s.arg("k")
	m := s.laneMask(cols, reg.K1, 15)
	s.CMPQ(cols, U8(n))
	s.JEQ(LabelRef("full"))
	for _, part := range []string{"part", "full"} {
		s.Label(part)
		if part == "full" {
			s.load(at(src, 0), s.v(0), nil)
		} else {
			s.load(at(src, 0), s.v(0), &m)
		}
		s.VMOVUPS(s.v(0), at(dst, 0))
		s.ADDQ(ld, src)
		s.ADDQ(stride, dst)
		s.DECQ(k)
		s.JNZ(LabelRef(part))
		s.end()
	}
}

// emitSegment writes the packing of one run of neighbouring output positions
// of a convolution.
func emitSegment(s isa) {
	n := s.lanes()
	s.begin("packSegment", "func(dst *float32, stride int, src *float32, offsets *int64, cols, k int)",
		fmt.Sprintf("stores dst[p*stride+r] = src[offsets[p]+r] for p < k and\nr < cols (1 to %d). k is at least 1.", n))
	dst, stride, src, off, cols, k := s.arg("dst"), s.bytes("stride"), s.arg("src"), s.arg("offsets"), s.arg("cols"), s.arg("k")
	m := s.laneMask(cols, reg.K1, 15)
	o := s.GP64()
	s.CMPQ(cols, U8(n))
	s.JEQ(LabelRef("full"))
	for _, part := range []string{"part", "full"} {
		p := &m
		if part == "full" {
			p = nil
		}
		s.Label(part)
		s.MOVQ(at(off, 0), o)
		s.load(Mem{Base: src, Index: o, Scale: 4}, s.v(0), p)
		s.store(s.v(0), at(dst, 0), p)
		s.ADDQ(U8(8), off)
		s.ADDQ(stride, dst)
		s.DECQ(k)
		s.JNZ(LabelRef(part))
		s.end()
	}
}

// emitEven writes the packing of every other element.
func emitEven(s isa) {
	n := s.lanes()
	var even Mem
	if s.wide {
		even = s.StaticGlobal("even")
		s.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range 16 {
			s.AddDatum(4*i, U32(2*i))
		}
	}
	s.begin("packEven", "func(dst, src *float32, n int)", "stores dst[i] = src[2*i] for i < n, reading src up to element 2*n-2.")
	dst, src, left := s.arg("dst"), s.arg("src"), s.arg("n")
	if s.wide {
		s.VMOVUPS(even, s.v(2))
	}
	s.Label("block")
	s.CMPQ(left, U8(n)) // a whole block would read one element too many at the end
	s.JLE(LabelRef("tail"))
	if s.wide {
		s.VMOVUPS(at(src, 0), s.v(0))
		s.VMOVAPS(s.v(2), s.v(1))
		s.VPERMI2PS(at(src, 4*n), s.v(0), s.v(1))
	} else {
		s.VMOVUPS(at(src, 0), s.v(0))
		s.VSHUFPS(U8(0x88), at(src, 4*n), s.v(0), s.v(1))
		s.VPERMPD(U8(0xd8), s.v(1), s.v(1))
	}
	s.VMOVUPS(s.v(1), at(dst, 0))
	s.ADDQ(U32(8*n), src)
	s.ADDQ(U32(4*n), dst)
	s.SUBQ(U8(n), left)
	s.JMP(LabelRef("block"))
	s.Label("tail")
	s.TESTQ(left, left)
	s.JLE(LabelRef("done"))
	x := s.GP32()
	s.Label("one")
	s.MOVL(at(src, 0), x)
	s.MOVL(x, at(dst, 0))
	s.ADDQ(U8(8), src)
	s.ADDQ(U8(4), dst)
	s.DECQ(left)
	s.JNZ(LabelRef("one"))
	s.Label("done")
	s.end()
}
