package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// emitHalf writes the rounding of floats to 16 bits.
func emitHalf(c *build.Context) {
	for _, s := range []isa{{simd.AVX512(c)}, {simd.AVX2(c)}} {
		emitNarrowF16(s)
		emitNarrowBF16(s)
	}
}

// narrow writes a loop over registers of floats; body turns the one at src into
// half a register at dst.
func (s isa) narrow(name, doc string, prepare func(), body func(src, dst Mem)) {
	s.Begin(name, "func(n int, src *float32, dst *uint16)", doc)
	n, src, dst := s.Arg("n"), s.Arg("src"), s.Arg("dst")
	prepare()
	s.Label("loop")
	body(simd.At(src, 0), simd.At(dst, 0))
	s.ADDQ(U8(s.Size()), src)
	s.ADDQ(U8(s.Size()/2), dst)
	s.DECQ(n)
	s.JNZ(LabelRef("loop"))
	s.End()
}

func emitNarrowF16(s isa) {
	s.narrow("narrowF16", "rounds n registers of floats to f16, to nearest and ties to even.", func() {}, func(src, dst Mem) {
		s.VMOVUPS(src, s.V(0))
		s.VCVTPS2PH(U8(0), s.V(0), dst)
	})
}

// emitNarrowBF16 adds half a unit, less one where the last bit that stays is 0,
// and drops 16 bits; NaN keeps its upper bits and is made quiet.
func emitNarrowBF16(s isa) {
	one, half, quiet := s.V(10), s.V(11), s.V(12)
	s.narrow("narrowBF16", "rounds n registers of floats to bf16, to nearest and ties to even.", func() {
		t := s.GP32()
		for _, c := range []struct {
			bits uint32
			v    reg.VecPhysical
		}{{1, one}, {0x7fff, half}, {0x40, quiet}} {
			s.MOVL(U32(c.bits), t)
			s.VMOVD(t, c.v.AsX())
			s.VPBROADCASTD(c.v.AsX(), c.v)
		}
	}, func(src, dst Mem) {
		x, high, r, nan := s.V(0), s.V(1), s.V(2), s.V(3)
		s.VMOVUPS(src, x)
		s.VPSRLD(U8(16), x, high)
		if s.Wide() {
			s.VPANDD(one, high, r)
			s.VCMPPS(U8(unordered), x, x, reg.K1)
			s.VPORD(quiet, high, nan)
		} else {
			s.VPAND(one, high, r)
			s.VPOR(quiet, high, nan)
		}
		s.VPADDD(half, r, r)
		s.VPADDD(x, r, r)
		s.VPSRLD(U8(16), r, r)
		if s.Wide() {
			s.VMOVDQA32(nan, reg.K1, r)
			s.VPMOVDW(r, dst)
			return
		}
		s.VCMPPS(U8(unordered), x, x, x)
		s.VBLENDVPS(x, nan, r, r)
		s.VPACKUSDW(r, r, r)
		s.VPERMQ(U8(0x08), r, r)
		s.VMOVDQU(r.AsX(), dst)
	})
}

const unordered = 3
