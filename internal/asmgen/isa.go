package main

import (
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa writes instructions of one vector width: AVX2 with 16 registers of eight
// floats, or AVX-512 with 32 of sixteen.
type isa struct {
	*build.Context
	wide  bool
	table Mem // AVX2: lanes times all ones, then as many zeros
}

func avx2(c *build.Context) isa   { return isa{Context: c, table: laneTable(c)} }
func avx512(c *build.Context) isa { return isa{Context: c, wide: true} }

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

func (s isa) suffix() string {
	if s.wide {
		return "AVX512"
	}
	return "AVX2"
}

// lanes is the number of floats in a register.
func (s isa) lanes() int {
	if s.wide {
		return 16
	}
	return 8
}

// pick returns a with AVX2 and b with AVX-512.
func (s isa) pick(a, b int) int {
	if s.wide {
		return b
	}
	return a
}

// begin starts a function whose arguments do not escape.
func (s isa) begin(name, signature, doc string) {
	s.Function(name + s.suffix())
	s.Attributes(attr.NOSPLIT)
	s.Pragma("noescape")
	s.Doc(strings.Split(name+s.suffix()+" "+doc, "\n")...)
	s.SignatureExpr(signature)
}

// end restores the upper halves for SSE code and returns.
func (s isa) end() {
	s.VZEROUPPER()
	s.RET()
}

// arg loads a parameter into a general register.
func (s isa) arg(name string) reg.GPVirtual {
	r := s.GP64()
	s.Load(s.Param(name), r)
	return r
}

// bytes loads a parameter that counts floats and turns it into bytes.
func (s isa) bytes(name string) reg.GPVirtual {
	r := s.arg(name)
	s.SHLQ(U8(2), r)
	return r
}

// v returns vector register i.
func (s isa) v(i int) reg.VecPhysical {
	if s.wide {
		return [...]reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
			reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
			reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
			reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31}[i]
	}
	return [...]reg.VecPhysical{reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15}[i]
}

func (s isa) zero(r reg.VecPhysical) {
	if s.wide {
		s.VPXORD(r, r, r)
		return
	}
	s.VXORPS(r, r, r)
}

// mask is a set of lanes: an opmask register, or a vector of sign bits.
type mask struct {
	k reg.Register
	y reg.VecPhysical
}

// laneMask makes a mask of the first n lanes, n in 0..lanes, in opmask k or in
// vector register y.
func (s isa) laneMask(n reg.GPVirtual, k reg.Register, y int) mask {
	if s.wide {
		t := s.GP32()
		s.MOVL(U32(0xffff), t)
		s.BZHIL(n.As32(), t, t)
		s.KMOVW(t, k)
		return mask{k: k}
	}
	t, at := s.GP64(), s.GP64()
	s.LEAQ(s.table, t)
	s.MOVQ(U32(8), at)
	s.SUBQ(n, at)
	s.VMOVUPS(Mem{Base: t, Index: at, Scale: 4}, s.v(y))
	return mask{y: s.v(y)}
}

// load reads the lanes of m, all without one; the others become zero and their
// memory is not touched.
func (s isa) load(from Mem, to reg.VecPhysical, m *mask) {
	switch {
	case m == nil:
		s.VMOVUPS(from, to)
	case s.wide:
		s.VMOVUPS_Z(from, m.k, to)
	default:
		s.VMASKMOVPS(from, m.y, to)
	}
}

// store writes the lanes of m, all without one.
func (s isa) store(from reg.VecPhysical, to Mem, m *mask) {
	switch {
	case m == nil:
		s.VMOVUPS(from, to)
	case s.wide:
		s.VMOVUPS(from, m.k, to)
	default:
		s.VMASKMOVPS(from, m.y, to)
	}
}

// at is the memory disp bytes after a register.
func at(base reg.Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

// indexed is the memory disp bytes after base+index.
func indexed(base, index reg.Register, disp int) Mem {
	return Mem{Base: base, Index: index, Scale: 1, Disp: disp}
}
