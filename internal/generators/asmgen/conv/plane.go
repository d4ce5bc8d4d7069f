package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// plane has the registers of the filter of one channel.
type plane struct {
	simd.ISA
	rows, dst, ldd, src, lds reg.GPVirtual
	offsets, weights, taps   reg.GPVirtual
	left, p, t, o            reg.GPVirtual
}

// emitPlane writes the filter of one channel: four output rows at a time share
// each weight. The input lies so that neighbouring outputs read neighbouring
// elements, whatever the stride, and padding is part of it. A block's rows are
// registers over all taps, each tap one broadcast; the input is read again for
// every tap, from the first cache.
func emitPlane(s simd.ISA) {
	s.Begin("depthwise", "func(rows, cols int, dst *float32, ldd int, src *float32, lds int, offsets *int64, weights *float32, taps int, bias, lo, hi float32)",
		"stores dst[y*ldd+x] = the sum of weights[t]·src[y*lds+x+offsets[t]]\nand bias, clamped to [lo, hi], for rows, cols and taps of at least 1.")
	f := plane{ISA: s, rows: s.Arg("rows"), dst: s.Arg("dst"), ldd: s.Bytes("ldd"), src: s.Arg("src"), lds: s.Bytes("lds"),
		offsets: s.Arg("offsets"), weights: s.Arg("weights"), taps: s.Arg("taps")}
	for i, name := range []string{"bias", "lo", "hi"} {
		a, err := s.Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		s.VBROADCASTSS(a.Addr, s.V(10+i))
	}
	f.left, f.p, f.t, f.o = s.GP64(), s.GP64(), s.GP64(), s.GP64()
	f.band(4, "h1")
	f.band(1, "done")
	s.Label("done")
	s.End()
}

// block filters one vector of columns of some rows.
func (f plane) block(name string, height int, m *simd.Mask) {
	bias, lo, hi := f.V(10), f.V(11), f.V(12)
	for r := range height {
		f.VMOVAPS(bias, f.V(r))
	}
	f.XORQ(f.t, f.t)
	f.Label(name)
	f.MOVQ(Mem{Base: f.offsets, Index: f.t, Scale: 8}, f.o)
	f.VBROADCASTSS(Mem{Base: f.weights, Index: f.t, Scale: 4}, f.V(8))
	f.LEAQ(Mem{Base: f.src, Index: f.o, Scale: 4}, f.p)
	for r := range height {
		if m != nil {
			f.LoadLanes(simd.At(f.p, 0), f.V(9), m)
			f.VFMADD231PS(f.V(9), f.V(8), f.V(r))
		} else {
			f.VFMADD231PS(simd.At(f.p, 0), f.V(8), f.V(r))
		}
		if r < height-1 {
			f.ADDQ(f.lds, f.p)
		}
	}
	f.INCQ(f.t)
	f.CMPQ(f.t, f.taps)
	f.JLT(LabelRef(name))
	f.MOVQ(f.dst, f.p)
	for r := range height {
		f.VMAXPS(f.V(r), lo, f.V(r))
		f.VMINPS(f.V(r), hi, f.V(r))
		f.StoreLanes(f.V(r), simd.At(f.p, 0), m)
		if r < height-1 {
			f.ADDQ(f.ldd, f.p)
		}
	}
}

// band filters so many rows at a time while there are as many, then goes on at next.
func (f plane) band(height int, next string) {
	n, name := f.Lanes(), fmt.Sprintf("h%d", height)
	f.Label(name)
	f.CMPQ(f.rows, U8(height))
	f.JLT(LabelRef(next))
	f.Load(f.Param("cols"), f.left)
	f.Label(name + "x")
	f.CMPQ(f.left, U8(n))
	f.JLT(LabelRef(name + "tail"))
	f.block(name+"t", height, nil)
	f.ADDQ(U8(4*n), f.src)
	f.ADDQ(U8(4*n), f.dst)
	f.SUBQ(U8(n), f.left)
	f.JMP(LabelRef(name + "x"))
	f.Label(name + "tail")
	f.TESTQ(f.left, f.left)
	f.JEQ(LabelRef(name + "next"))
	m := f.LaneMask(f.left, reg.K1, 15)
	f.block(name+"m", height, &m)
	f.Label(name + "next")
	// Back to the first column, then down.
	f.Load(f.Param("cols"), f.t)
	f.SUBQ(f.left, f.t)
	f.SHLQ(U8(2), f.t)
	f.SUBQ(f.t, f.src)
	f.SUBQ(f.t, f.dst)
	for range height {
		f.ADDQ(f.lds, f.src)
		f.ADDQ(f.ldd, f.dst)
	}
	f.SUBQ(U8(height), f.rows)
	f.JMP(LabelRef(name))
}
