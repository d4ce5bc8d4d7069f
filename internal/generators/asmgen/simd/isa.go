// Package simd is the common part of the generators of assembly: instructions
// written for AVX2 and AVX-512 alike, and the files that come of them.
package simd

import (
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Exp2Fit is (2^r - 1)/r for |r| <= 1/2; kernel.attentionExp2 has the same numbers.
var Exp2Fit = [...]float32{0x1.62e43p-1, 0x1.ebfbdcp-3, 0x1.c6aee8p-5, 0x1.3b2d4cp-7, 0x1.5f3e56p-10, 0x1.41fbbcp-13}

// ISA writes instructions of one vector width: AVX2 with 16 registers of eight
// floats, or AVX-512 with 32 of sixteen.
type ISA struct {
	*build.Context
	wide  bool
	pairs bool // products are of words that have two bf16 each
	table Mem  // AVX2: lanes times all ones, then as many zeros
}

// AVX2 writes for registers of eight floats.
func AVX2(c *build.Context) ISA { return ISA{Context: c, table: laneTable(c)} }

// AVX512 writes for registers of sixteen floats.
func AVX512(c *build.Context) ISA { return ISA{Context: c, wide: true} }

// laneTable declares the table that AVX2 lane masks are read from.
func laneTable(c *build.Context) Mem {
	m := c.StaticGlobal("lanes")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		v := uint32(0)
		if i < 8 {
			v = 1<<32 - 1
		}
		c.AddDatum(4*i, U32(v))
	}
	return m
}

// Suffix ends the names of functions for this instruction set.
func (s ISA) Suffix() string {
	if s.pairs {
		return "Pairs"
	}
	if s.wide {
		return "AVX512"
	}
	return "AVX2"
}

// Lanes is the number of floats in a register.
func (s ISA) Lanes() int {
	if s.wide {
		return 16
	}
	return 8
}

// Size is the bytes of a register.
func (s ISA) Size() int { return 4 * s.Lanes() }

// Pick returns a with AVX2 and b with AVX-512.
func (s ISA) Pick(a, b int) int {
	if s.wide {
		return b
	}
	return a
}

// Begin starts a function of this instruction set; see Begin.
func (s ISA) Begin(name, signature, doc string) {
	Begin(s.Context, name+s.Suffix(), signature, doc)
}

// Begin starts a function whose arguments do not escape.
func Begin(c *build.Context, name, signature, doc string) {
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.Doc(strings.Split(name+" "+doc, "\n")...)
	c.SignatureExpr(signature)
}

// End restores the upper halves for SSE code and returns.
func (s ISA) End() {
	s.VZEROUPPER()
	s.RET()
}

// Arg loads a parameter into a general register.
func (s ISA) Arg(name string) reg.GPVirtual {
	r := s.GP64()
	s.Load(s.Param(name), r)
	return r
}

// Bytes loads a parameter that counts floats and turns it into bytes.
func (s ISA) Bytes(name string) reg.GPVirtual {
	r := s.Arg(name)
	s.SHLQ(U8(2), r)
	return r
}

// V returns vector register i.
func (s ISA) V(i int) reg.VecPhysical {
	if s.wide {
		return [...]reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
			reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
			reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
			reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}[i]
	}
	return [...]reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}[i]
}

func (s ISA) Zero(r reg.VecPhysical) {
	if s.wide {
		s.VPXORD(r, r, r)
		return
	}
	s.VXORPS(r, r, r)
}

// Mask is a set of lanes: an opmask register, or a vector of sign bits.
type Mask struct {
	k reg.Register
	y reg.VecPhysical
}

// LaneMask makes a mask of the first n lanes, n in 0..lanes, in opmask k or in
// vector register y.
func (s ISA) LaneMask(n reg.GPVirtual, k reg.Register, y int) Mask {
	if s.wide {
		t := s.GP32()
		s.MOVL(U32(0xffff), t)
		s.BZHIL(n.As32(), t, t)
		s.KMOVW(t, k)
		return Mask{k: k}
	}
	t, at := s.GP64(), s.GP64()
	s.LEAQ(s.table, t)
	s.MOVQ(U32(8), at)
	s.SUBQ(n, at)
	s.VMOVUPS(Mem{Base: t, Index: at, Scale: 4}, s.V(y))
	return Mask{y: s.V(y)}
}

// MaskAt reads a mask from memory, bits of a word into opmask k or a vector of
// sign bits into y.
func (s ISA) MaskAt(from Mem, k reg.Register, y reg.VecPhysical) Mask {
	if s.wide {
		s.KMOVW(from, k)
		return Mask{k: k}
	}
	s.VMOVUPS(from, y)
	return Mask{y: y}
}

// AddLanes adds the lanes of m in memory to r; the others keep r or gain zero,
// and their memory is not touched. AVX2 uses the register spare.
func (s ISA) AddLanes(from Mem, r, spare reg.VecPhysical, m *Mask) {
	if s.wide {
		s.VADDPS(from, r, m.k, r)
		return
	}
	s.VMASKMOVPS(from, m.y, spare)
	s.VADDPS(spare, r, r)
}

// LoadLanes reads the lanes of m, all without one; the others become zero and their
// memory is not touched.
func (s ISA) LoadLanes(from Mem, to reg.Register, m *Mask) {
	switch {
	case m == nil:
		s.VMOVUPS(from, to)
	case s.wide:
		s.VMOVUPS_Z(from, m.k, to)
	default:
		s.VMASKMOVPS(from, m.y, to)
	}
}

// StoreLanes writes the lanes of m, all without one.
func (s ISA) StoreLanes(from reg.Register, to Mem, m *Mask) {
	switch {
	case m == nil:
		s.VMOVUPS(from, to)
	case s.wide:
		s.VMOVUPS(from, m.k, to)
	default:
		s.VMASKMOVPS(from, m.y, to)
	}
}

// At is the memory disp bytes after a register.
func At(base reg.Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

// Indexed is the memory disp bytes after base+index.
func Indexed(base, index reg.Register, disp int) Mem {
	return Mem{Base: base, Index: index, Scale: 1, Disp: disp}
}

// Wide reports whether the registers are those of AVX-512.
func (s ISA) Wide() bool { return s.wide }

// RangeMask makes a mask of the lanes from lo up to hi, both in 0..lanes, in
// opmask k or in vector register y; the spares are overwritten.
func (s ISA) RangeMask(lo, hi reg.GPVirtual, k, spareK reg.Register, y, spareY int) Mask {
	below, m := s.LaneMask(lo, spareK, spareY), s.LaneMask(hi, k, y)
	if s.wide {
		s.KANDNW(k, spareK, k)
	} else {
		s.VANDNPS(m.y, below.y, m.y)
	}
	return m
}

// Opmask is the mask as a register of AVX-512.
func (m *Mask) Opmask() reg.Register { return m.k }

// Vector is the mask as a register of AVX2.
func (m *Mask) Vector() reg.VecPhysical { return m.y }
