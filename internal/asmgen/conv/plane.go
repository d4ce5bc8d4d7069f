package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/asmgen/simd"
)

// emitPlane writes the filter of one channel: four output rows at a time share
// each weight. The input lies so that neighbouring outputs read neighbouring
// elements, whatever the stride, and padding is part of it.
func emitPlane(s simd.ISA) {
	n := s.Lanes()
	s.Begin("depthwise", "func(rows, cols int, dst *float32, ldd int, src *float32, lds int, offsets *int64, weights *float32, taps int, bias, lo, hi float32)",
		"stores dst[y*ldd+x] = the sum of weights[t]·src[y*lds+x+offsets[t]]\nand bias, clamped to [lo, hi], for rows, cols and taps of at least 1.")
	rows, dst, ldd, src, lds := s.Arg("rows"), s.Arg("dst"), s.Bytes("ldd"), s.Arg("src"), s.Bytes("lds")
	off, w, taps := s.Arg("offsets"), s.Arg("weights"), s.Arg("taps")
	bias, lo, hi := s.V(10), s.V(11), s.V(12)
	for i, name := range []string{"bias", "lo", "hi"} {
		a, err := s.Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		s.VBROADCASTSS(a.Addr, s.V(10+i))
	}
	left, p, t, o := s.GP64(), s.GP64(), s.GP64(), s.GP64()
	block := func(name string, height int, m *simd.Mask) {
		for r := range height {
			s.VMOVAPS(bias, s.V(r))
		}
		s.XORQ(t, t)
		s.Label(name)
		s.MOVQ(Mem{Base: off, Index: t, Scale: 8}, o)
		s.VBROADCASTSS(Mem{Base: w, Index: t, Scale: 4}, s.V(8))
		s.LEAQ(Mem{Base: src, Index: o, Scale: 4}, p)
		for r := range height {
			if m != nil {
				s.LoadLanes(simd.At(p, 0), s.V(9), m)
				s.VFMADD231PS(s.V(9), s.V(8), s.V(r))
			} else {
				s.VFMADD231PS(simd.At(p, 0), s.V(8), s.V(r))
			}
			if r < height-1 {
				s.ADDQ(lds, p)
			}
		}
		s.INCQ(t)
		s.CMPQ(t, taps)
		s.JLT(LabelRef(name))
		s.MOVQ(dst, p)
		for r := range height {
			s.VMAXPS(s.V(r), lo, s.V(r))
			s.VMINPS(s.V(r), hi, s.V(r))
			s.StoreLanes(s.V(r), simd.At(p, 0), m)
			if r < height-1 {
				s.ADDQ(ldd, p)
			}
		}
	}
	band := func(height int) {
		name := fmt.Sprintf("h%d", height)
		s.Label(name)
		s.CMPQ(rows, U8(height))
		next := "done"
		if height > 1 {
			next = "h1"
		}
		s.JLT(LabelRef(next))
		s.Load(s.Param("cols"), left)
		s.Label(name + "x")
		s.CMPQ(left, U8(n))
		s.JLT(LabelRef(name + "tail"))
		block(name+"t", height, nil)
		s.ADDQ(U8(4*n), src)
		s.ADDQ(U8(4*n), dst)
		s.SUBQ(U8(n), left)
		s.JMP(LabelRef(name + "x"))
		s.Label(name + "tail")
		s.TESTQ(left, left)
		s.JEQ(LabelRef(name + "next"))
		m := s.LaneMask(left, reg.K1, 15)
		block(name+"m", height, &m)
		s.Label(name + "next")
		// Back to the first column, then down.
		s.Load(s.Param("cols"), t)
		s.SUBQ(left, t)
		s.SHLQ(U8(2), t)
		s.SUBQ(t, src)
		s.SUBQ(t, dst)
		for range height {
			s.ADDQ(lds, src)
			s.ADDQ(ldd, dst)
		}
		s.SUBQ(U8(height), rows)
		s.JMP(LabelRef(name))
	}
	band(4)
	band(1)
	s.Label("done")
	s.End()
}
