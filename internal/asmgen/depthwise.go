package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func emitDepthwise(c *build.Context) {
	for _, s := range []isa{avx512(c), avx2(c)} {
		emitPlane(s)
	}
}

// emitPlane writes the filter of one channel: four output rows at a time share
// each weight. The input lies so that neighbouring outputs read neighbouring
// elements, whatever the stride, and padding is part of it.
func emitPlane(s isa) {
	n := s.lanes()
	s.begin("depthwise", "func(rows, cols int, dst *float32, ldd int, src *float32, lds int, offsets *int64, weights *float32, taps int, bias, lo, hi float32)",
		"stores dst[y*ldd+x] = the sum of weights[t]·src[y*lds+x+offsets[t]]\nand bias, clamped to [lo, hi], for rows, cols and taps of at least 1.")
	rows, dst, ldd, src, lds := s.arg("rows"), s.arg("dst"), s.bytes("ldd"), s.arg("src"), s.bytes("lds")
	off, w, taps := s.arg("offsets"), s.arg("weights"), s.arg("taps")
	bias, lo, hi := s.v(10), s.v(11), s.v(12)
	for i, name := range []string{"bias", "lo", "hi"} {
		a, err := s.Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		s.VBROADCASTSS(a.Addr, s.v(10+i))
	}
	left, p, t, o := s.GP64(), s.GP64(), s.GP64(), s.GP64()
	block := func(name string, height int, m *mask) {
		for r := range height {
			s.VMOVAPS(bias, s.v(r))
		}
		s.XORQ(t, t)
		s.Label(name)
		s.MOVQ(Mem{Base: off, Index: t, Scale: 8}, o)
		s.VBROADCASTSS(Mem{Base: w, Index: t, Scale: 4}, s.v(8))
		s.LEAQ(Mem{Base: src, Index: o, Scale: 4}, p)
		for r := range height {
			if m != nil {
				s.load(at(p, 0), s.v(9), m)
				s.VFMADD231PS(s.v(9), s.v(8), s.v(r))
			} else {
				s.VFMADD231PS(at(p, 0), s.v(8), s.v(r))
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
			s.VMAXPS(s.v(r), lo, s.v(r))
			s.VMINPS(s.v(r), hi, s.v(r))
			s.store(s.v(r), at(p, 0), m)
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
		m := s.laneMask(left, reg.K1, 15)
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
	s.end()
}
