package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

func emitPack(c *build.Context) {
	for _, s := range []isa{{simd.AVX512(c)}, {simd.AVX2(c)}} {
		emitTranspose(s)
		emitCopy(s)
		emitSegment(s)
	}
}

// ahead is how far, in bytes, rows that are transposed are asked for early:
// there are more of them than hardware follows.
const ahead = 384

// emitTranspose writes the packing of rows that lie along k: blocks of as many
// rows and columns as a register has lanes are transposed in registers. A block is
// read along its rows and written as rows of the panel, so that both sides are
// whole vectors; rows that are not there repeat the last one, which costs no
// branch.
func emitTranspose(s isa) {
	n := s.Lanes()
	s.Begin("packTranspose", "func(dst *float32, stride int, src *float32, ld, rows, k int)",
		fmt.Sprintf("stores dst[p*stride+r] = src[r*ld+p] for p < k and r < %d, where\nrows r past the given number (1 to %d) repeat the last one.", n, n))
	dst, stride, src, ld, rows, k := s.Arg("dst"), s.Bytes("stride"), s.Arg("src"), s.Bytes("ld"), s.Arg("rows"), s.Arg("k")
	row, step, none := s.GP64(), s.GP64(), s.GP64()
	s.XORQ(none, none)
	loads := func(m *simd.Mask) {
		s.MOVQ(src, row)
		for r := range n {
			if m == nil {
				s.PREFETCHT0(simd.At(row, ahead))
			}
			s.LoadLanes(simd.At(row, 0), s.V(r), m)
			if r == n-1 {
				break
			}
			s.MOVQ(ld, step)
			s.CMPQ(rows, U8(r+1))
			s.CMOVQLE(none, step)
			s.ADDQ(step, row)
		}
	}
	s.Wholes("block", "tail", k, n, func() {
		loads(nil)
		for _, r := range s.transpose() {
			s.VMOVUPS(s.V(r), simd.At(dst, 0))
			s.ADDQ(stride, dst)
		}
		s.ADDQ(U8(4*n), src)
	})
	s.Masked("done", k, reg.K1, 15, func(m *simd.Mask) {
		loads(m)
		for _, r := range s.transpose()[:n-1] {
			s.VMOVUPS(s.V(r), simd.At(dst, 0))
			s.ADDQ(stride, dst)
			s.DECQ(k)
			s.JEQ(LabelRef("done"))
		}
	})
	s.End()
}

// transpose is simd.ISA.Transpose4.
func (s isa) transpose() []int { return s.Transpose4() }

// emitCopy writes the packing of rows that lie across k, of one or two vectors.
// There is nothing to turn: a row of b is one or two vectors of the panel, which
// is written as one stream.
func emitCopy(s isa) {
	n := s.Lanes()
	s.Begin("packCopy", "func(dst *float32, stride int, src *float32, ld, cols, k int)",
		fmt.Sprintf("stores dst[p*stride+r] = src[p*ld+r] for p < k and r < %d, or r < %d\nfor cols <= %d; what is past cols (1 to %d) is zero. k is at least 1.", 2*n, n, n, 2*n))
	dst, stride, src, ld, cols, k := s.Arg("dst"), s.Bytes("stride"), s.Arg("src"), s.Bytes("ld"), s.Arg("cols"), s.Arg("k")
	s.CMPQ(cols, U8(n))
	s.JLE(LabelRef("one"))
	s.SUBQ(U8(n), cols)
	for vecs := 2; vecs >= 1; vecs-- {
		name := "two"
		if vecs == 1 {
			name = "one"
		}
		s.Label(name)
		m := s.LaneMask(cols, reg.K1, 15)
		s.CMPQ(cols, U8(n))
		s.JEQ(LabelRef(name + "full"))
		for _, part := range []string{"part", "full"} {
			s.Label(name + part)
			// Rows may be pages apart, where no hardware looks ahead.
			s.PREFETCHT0(Mem{Base: src, Index: ld, Scale: 8})
			for v := range vecs {
				if last := v == vecs-1; last && part == "part" {
					s.LoadLanes(simd.At(src, 4*n*v), s.V(v), &m)
				} else {
					s.LoadLanes(simd.At(src, 4*n*v), s.V(v), nil)
				}
			}
			if vecs == 2 {
				s.PREFETCHT0(Mem{Base: src, Index: ld, Scale: 8, Disp: 8*n - 4})
			}
			for v := range vecs {
				s.VMOVUPS(s.V(v), simd.At(dst, 4*n*v))
			}
			s.ADDQ(ld, src)
			s.ADDQ(stride, dst)
			s.DECQ(k)
			s.JNZ(LabelRef(name + part))
			s.End()
		}
	}
}

// emitSegment writes the packing of one run of neighbouring output positions of a
// convolution. Offsets stand for k: patches are read where the image lies, a run
// of positions at a time.
func emitSegment(s isa) {
	n := s.Lanes()
	s.Begin("packSegment", "func(dst *float32, stride int, src *float32, offsets *int64, cols, k int)",
		fmt.Sprintf("stores dst[p*stride+r] = src[offsets[p]+r] for p < k and\nr < cols (1 to %d). k is at least 1.", n))
	dst, stride, src, off, cols, k := s.Arg("dst"), s.Bytes("stride"), s.Arg("src"), s.Arg("offsets"), s.Arg("cols"), s.Arg("k")
	m := s.LaneMask(cols, reg.K1, 15)
	o := s.GP64()
	s.CMPQ(cols, U8(n))
	s.JEQ(LabelRef("full"))
	for _, part := range []string{"part", "full"} {
		p := &m
		if part == "full" {
			p = nil
		}
		s.Label(part)
		s.MOVQ(simd.At(off, 0), o)
		s.LoadLanes(Mem{Base: src, Index: o, Scale: 4}, s.V(0), p)
		s.StoreLanes(s.V(0), simd.At(dst, 0), p)
		s.ADDQ(U8(8), off)
		s.ADDQ(stride, dst)
		s.DECQ(k)
		s.JNZ(LabelRef(part))
		s.End()
	}
}
