package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/asmgen/simd"
)

// row writes a reduction of a row of floats to one number: element i goes to
// lane i modulo the number of lanes, which fill all accumulators, and the lanes
// are combined by halves.
type row struct {
	isa
	regs, lanes int // accumulators and the lanes of each
	// each combines what is at from, all of it or the lanes of m, with register i.
	each func(i int, from Mem, m *simd.Mask)
	// both combines lanes of b with those of a.
	both func(b, a reg.VecPhysical)
}

// emitRows writes reductions of rows.
func emitRows(s isa) {
	s.rowSums("rowSum", "func(x *float32, n int) float64", "returns the sum of n elements, at least one.", false)
	s.rowSums("rowSquares", "func(x *float32, n int, mean float64) float64", "returns the sum of the squares of n elements, at least one, less mean.", true)
	s.rowExtreme("rowMax", "returns the greatest of n elements, at least one. NaN is greater than all.", s.VMAXPS)
	s.rowExtreme("rowMin", "returns the least of n elements, at least one. NaN is less than all.", s.VMINPS)
}

// write writes the function that start has begun; x and n are its parameters.
func (r *row) write() {
	x, n := r.Arg("x"), r.Arg("n")
	step := 4 * r.lanes
	r.wholes("turn", n, r.regs*r.lanes, func() {
		for i := range r.regs {
			r.each(i, simd.At(x, i*step), nil)
		}
		r.ADDQ(U32(uint32(r.regs*step)), x)
	})
	left, all := r.GP64(), r.GP64()
	r.MOVQ(U32(uint32(r.lanes)), all)
	for i := range r.regs {
		r.MOVQ(n, left)
		r.SUBQ(U8(i*r.lanes), left)
		r.JLE(LabelRef("reduce"))
		r.CMPQ(left, all)
		r.CMOVQGT(all, left)
		m := r.LaneMask(left, reg.K1, 11)
		r.each(i, simd.At(x, i*step), &m)
	}
	r.Label("reduce")
	for half := r.regs / 2; half > 0; half /= 2 {
		for i := range half {
			r.both(r.V(half+i), r.V(i))
		}
	}
	a, b := r.V(0), r.V(1)
	if r.Wide() {
		r.VEXTRACTF64X4(U8(1), a, b.AsY())
		r.both(b.AsY().(reg.VecPhysical), a.AsY().(reg.VecPhysical))
	}
	ax, bx := a.AsX().(reg.VecPhysical), b.AsX().(reg.VecPhysical)
	r.VEXTRACTF128(U8(1), a.AsY(), bx)
	r.both(bx, ax)
	r.VPERMILPD(U8(1), ax, bx)
	r.both(bx, ax)
}

// rowSums writes a sum in 64 bits, of the elements or of their squares.
func (s isa) rowSums(name, signature, doc string, squares bool) {
	s.Begin(name, signature, doc)
	r := &row{isa: s, regs: s.Pick(8, 4), lanes: s.Lanes() / 2, both: func(b, a reg.VecPhysical) { s.VADDPD(b, a, a) }}
	c := &column{isa: s}
	work, mean := s.V(8), s.V(10)
	if squares {
		a, err := s.Param("mean").Resolve()
		if err != nil {
			panic(err)
		}
		s.VBROADCASTSD(a.Addr, mean)
	}
	for i := range r.regs {
		s.Zero(s.V(i))
	}
	r.each = func(i int, from Mem, m *simd.Mask) {
		c.widen(from, work, m)
		if squares {
			r.deviate(work, mean, m)
		}
		s.VADDPD(work, s.V(i), s.V(i))
	}
	r.write()
	s.Store(reg.X0, s.ReturnIndex(0))
	s.End()
}

// deviate sets x to the squares of x less mean, and to zero outside of m.
func (r *row) deviate(x, mean reg.VecPhysical, m *simd.Mask) {
	switch {
	case m == nil:
		r.VSUBPD(mean, x, x)
	case r.Wide():
		r.VSUBPD_Z(mean, x, m.Opmask(), x)
	default:
		r.VSUBPD(mean, x, x)
		r.VPMOVSXDQ(m.Vector().AsX(), m.Vector())
		r.VANDPD(m.Vector(), x, x)
	}
	r.VMULPD(x, x, x)
}

// rowExtreme writes the search for the best element; better keeps its first
// operand unless the second one is better.
func (s isa) rowExtreme(name, doc string, better func(...Op)) {
	s.Begin(name, "func(x *float32, n int) float32", doc)
	r := &row{isa: s, regs: s.Pick(8, 4), lanes: s.Lanes()}
	work, nan := s.V(8), s.V(9)
	// Of registers that are not whole, opmasks or their vectors are as wide.
	r.both = func(b, a reg.VecPhysical) {
		better(a, b, a)
		if s.Wide() {
			s.VCMPPS(U8(3), b, b, reg.K2)
			s.VMOVAPS(b, reg.K2, a)
			return
		}
		var n Op = nan
		if a.Size() == 16 {
			n = nan.AsX()
		}
		s.VCMPPS(U8(3), b, b, n)
		s.VBLENDVPS(n, b, a, a)
	}
	first := s.GP64()
	s.Load(s.Param("x"), first)
	for i := range r.regs {
		s.VBROADCASTSS(Mem{Base: first}, s.V(i))
	}
	r.each = func(i int, from Mem, m *simd.Mask) {
		acc := s.V(i)
		switch {
		case m == nil:
			s.VMOVUPS(from, work)
		case s.Wide():
			s.VMOVAPS(acc, work)
			s.VMOVUPS(from, m.Opmask(), work)
		default:
			s.VMASKMOVPS(from, m.Vector(), work)
			s.VBLENDVPS(m.Vector(), work, acc, work)
		}
		r.both(work, acc)
	}
	r.write()
	ax, bx := s.V(0).AsX().(reg.VecPhysical), s.V(1).AsX().(reg.VecPhysical)
	s.VMOVSHDUP(ax, bx)
	r.both(bx, ax)
	s.Store(reg.X0, s.ReturnIndex(0))
	s.End()
}
