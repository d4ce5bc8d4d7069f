package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// Further constants, after those of simd.Exp2Fit.
const (
	cLog2e = len(simd.Exp2Fit) + iota
	cOne
	cLeast  // the least power of two that is not taken as zero
	cLowest // the least finite number
	constants
)

// notLess is a comparison that is true of NaN.
const notLess = 5

// expRegs are the registers of the constants; the others are free.
type expRegs struct {
	isa
	at [constants]reg.VecPhysical
}

// table declares the constants.
func (s isa) table() Mem {
	m := s.StaticGlobal("attentionTable" + s.Suffix())
	s.DataAttributes(attr.RODATA | attr.NOPTR)
	all := append(simd.Exp2Fit[:], math.Log2E, 1, -125, -math.MaxFloat32)
	for i, v := range all {
		s.AddDatum(4*i, U32(math.Float32bits(v)))
	}
	return m
}

// constant returns constant i: in its register, or with AVX2, which has too few
// for all, in a spare one.
func (e expRegs) constant(i int, table Mem, spare reg.VecPhysical) reg.VecPhysical {
	if e.at[i] != nil {
		return e.at[i]
	}
	e.VBROADCASTSS(table.Offset(4*i), spare)
	return spare
}

// exp turns x into e^x for x <= 0: exactly 1 at 0, 0 below 2^-125, NaN for NaN.
// It needs two further registers.
func (e expRegs) exp(x, n, p reg.VecPhysical, table Mem) {
	e.VMULPS(e.at[cLog2e], x, n)
	if e.Wide() {
		e.VRNDSCALEPS(U8(8), n, n)
		e.VCMPPS(U8(notLess), e.at[cLeast], n, reg.K1)
	} else {
		e.VROUNDPS(U8(8), n, n)
	}
	e.VFMSUB213PS(n, e.at[cLog2e], x) // x = x·log2(e) - n
	c := func(i int) reg.VecPhysical { return e.constant(i, table, e.V(e.Pick(15, 31))) }
	last := len(simd.Exp2Fit) - 1
	e.VMOVAPS(c(last), p)
	for i := last - 1; i >= 0; i-- {
		e.VFMADD213PS(c(i), x, p)
	}
	e.VFMADD213PS(e.at[cOne], x, p)
	if e.Wide() {
		e.VSCALEFPS_Z(n, p, reg.K1, x)
		return
	}
	// x is free: the lanes that stay, then the exponent added to p's.
	e.VCMPPS(U8(notLess), e.at[cLeast], n, x)
	e.VCVTPS2DQ(n, n)
	e.VPSLLD(U8(23), n, n)
	e.VPADDD(n, p, p)
	e.VANDPS(p, x, x)
}

// emitSoftmax writes the step of the online softmax for a block of scores. Queries
// are lanes, so maxima and sums stay in registers and nothing is added across: one
// pass over the scores, which are in the first cache, for the maxima, one for the
// exponentials.
func emitSoftmax(s isa) {
	table := s.table()
	s.Begin("attentionSoftmax", "func(rows int, c, state *float32)",
		fmt.Sprintf("replaces rows of %d scores, one a query, by exp(score-high), high being\nthe highest score of the query yet. state has rows of so many floats: high, the\nsum of the exponentials, and by what earlier ones have to be multiplied.", vecs*s.Lanes()))
	rows, c, state := s.Arg("rows"), s.Arg("c"), s.Arg("state")
	e := expRegs{isa: s}
	next := 10
	for i := range constants {
		if s.Wide() || i >= cLog2e && i <= cLeast {
			e.at[i] = s.V(next)
			next++
			s.VBROADCASTSS(table.Offset(4*i), e.at[i])
		}
	}
	high := func(v int) reg.VecPhysical { return s.V(v) }
	sum := func(v int) reg.VecPhysical { return s.V(2 + v) }
	state3 := func(i, v int) Mem { return simd.At(state, i*s.row()+v*s.Size()) }
	at, left := s.GP64(), s.GP64()
	for v := range vecs {
		s.VMOVUPS(state3(0, v), high(v))
	}
	s.MOVQ(c, at)
	s.MOVQ(rows, left)
	s.Label("max")
	for v := range vecs {
		s.VMAXPS(simd.At(at, v*s.Size()), high(v), high(v))
	}
	s.ADDQ(U32(uint32(s.row())), at)
	s.DECQ(left)
	s.JNZ(LabelRef("max"))
	for v := range vecs {
		x := s.V(4)
		s.VMOVUPS(state3(0, v), x)
		s.VMOVUPS(high(v), state3(0, v))
		// Less than any number, -Inf would give NaN.
		s.VMAXPS(e.constant(cLowest, table, s.V(s.Pick(15, 31))), high(v), high(v))
		s.VSUBPS(high(v), x, x)
		e.exp(x, s.V(5), s.V(6), table)
		s.VMOVUPS(x, state3(2, v))
		s.VMULPS(state3(1, v), x, sum(v))
	}
	s.Label("exp")
	for v := range vecs {
		x := s.V(4 + 3*v)
		s.VMOVUPS(simd.At(c, v*s.Size()), x)
		s.VSUBPS(high(v), x, x)
		e.exp(x, s.V(5+3*v), s.V(6+3*v), table)
		s.VMOVUPS(x, simd.At(c, v*s.Size()))
		s.VADDPS(x, sum(v), sum(v))
	}
	s.ADDQ(U32(uint32(s.row())), c)
	s.DECQ(rows)
	s.JNZ(LabelRef("exp"))
	for v := range vecs {
		s.VMOVUPS(sum(v), state3(1, v))
	}
	s.End()
}

// each writes a function over the rows of c; body has the address of a row.
func (s isa) each(name, signature, doc string, body func(c reg.GPVirtual) (advance func())) {
	s.Begin(name, signature, doc)
	rows, c := s.Arg("rows"), s.Arg("c")
	loop := body(c)
	s.Label("row")
	loop()
	s.ADDQ(U32(uint32(s.row())), c)
	s.DECQ(rows)
	s.JNZ(LabelRef("row"))
	s.End()
}

func emitScale(s isa) {
	s.each("attentionScale", "func(rows int, c, scale *float32)", "multiplies rows of c by the row scale.", func(c reg.GPVirtual) func() {
		scale := s.Arg("scale")
		for v := range vecs {
			s.VMOVUPS(simd.At(scale, v*s.Size()), s.V(v))
		}
		return func() {
			for v := range vecs {
				s.VMULPS(simd.At(c, v*s.Size()), s.V(v), s.V(2+v))
				s.VMOVUPS(s.V(2+v), simd.At(c, v*s.Size()))
			}
		}
	})
}

// emitMasks writes the application of masks to scores: the minimum with rows of
// ±Inf, of a mask of bool, or the sum with those of floats.
func emitMasks(s isa) {
	const signature = "func(rows int, c, t *float32, ldt int)"
	apply := func(name, doc string, op func(x, t reg.VecPhysical)) {
		s.each(name, signature, doc, func(c reg.GPVirtual) func() {
			t, ldt := s.Arg("t"), s.Bytes("ldt")
			return func() {
				for v := range vecs {
					s.VMOVUPS(simd.At(t, v*s.Size()), s.V(v))
					s.VMOVUPS(simd.At(c, v*s.Size()), s.V(2+v))
					op(s.V(2+v), s.V(v))
					s.VMOVUPS(s.V(2+v), simd.At(c, v*s.Size()))
				}
				s.ADDQ(ldt, t)
			}
		})
	}
	// Of an unordered pair the minimum is the second operand: that of the mask.
	apply("attentionKeep", "replaces what in rows of c is greater than in those of t, ldt apart, or NaN.",
		func(x, t reg.VecPhysical) { s.VMINPS(t, x, x) })
	apply("attentionAdd", "adds the rows of t, ldt apart, to those of c.",
		func(x, t reg.VecPhysical) { s.VADDPS(t, x, x) })
}
