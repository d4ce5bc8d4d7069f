package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// row writes reductions of rows to one number each: element i of a row goes to
// lane i modulo the number of lanes, which fill all accumulators, and the lanes
// are combined by halves.
type row struct {
	isa
	regs, lanes int // accumulators and the lanes of each
	// start prepares the accumulators for the row at x.
	start func(x reg.GPVirtual)
	// each combines the data at from, all of it or the lanes of m, with register i.
	each func(i int, from Mem, m *simd.Mask)
	// both combines lanes of b with those of a.
	both func(b, a reg.VecPhysical)
	// finish combines the element of acc with lane 0, or lanes 0 and 1.
	finish func()
}

const rowDoc = "\nThere are rows rows of n elements, at least one of either, one after the other; ahead\n" +
	"is the distance in bytes of what is asked for meanwhile."

// emitRows writes reductions of rows.
func emitRows(s isa) {
	s.rowSums("rowSums", "func(acc *float64, x *float32, n, rows, ahead int)", "adds the sum of each row to an element of acc."+rowDoc, false)
	s.rowSums("rowSquares", "func(acc, mean *float64, x *float32, n, rows, ahead int)",
		"adds the sum of the squares of each row, less its element of mean, to\nan element of acc."+rowDoc, true)
	s.rowExtreme("rowMax", "raises each element of acc to the greatest of a row. NaN is greater than all."+rowDoc, s.VMAXPS)
	s.rowExtreme("rowMin", "lowers each element of acc to the least of a row. NaN is less than all."+rowDoc, s.VMINPS)
}

// write writes the function that start has begun. A turn is a vector for each
// accumulator, which makes chains enough to hide the latency of an addition; they
// are combined by halves once a row, in an order that does not depend on the width
// of vectors.
func (r *row) write() {
	first, n, rows, ahead := r.Arg("x"), r.Arg("n"), r.Arg("rows"), r.Arg("ahead")
	x, left, all := r.GP64(), r.GP64(), r.GP64()
	step := 4 * r.lanes
	r.MOVQ(U32(uint32(r.lanes)), all)
	r.Label("row")
	r.start(first)
	r.MOVQ(first, x)
	r.MOVQ(n, left)
	r.wholes("turn", left, r.regs*r.lanes, func() {
		for i := 0; i < r.regs*step; i += line {
			r.PREFETCHT0(Mem{Base: x, Index: ahead, Scale: 1, Disp: i})
		}
		for i := range r.regs {
			r.each(i, simd.At(x, i*step), nil)
		}
		r.ADDQ(U32(uint32(r.regs*step)), x)
	})
	for i := range r.regs {
		r.TESTQ(left, left)
		r.JEQ(LabelRef("reduce"))
		part := r.GP64()
		r.MOVQ(left, part)
		r.CMPQ(left, all)
		r.CMOVQGT(all, part)
		r.SUBQ(part, left)
		m := r.LaneMask(part, reg.K1, 11)
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
	r.finish()
	r.LEAQ(Mem{Base: first, Index: n, Scale: 4}, first)
	r.DECQ(rows)
	r.JNE(LabelRef("row"))
	r.End()
}

// rowSums writes sums in 64 bits, of the elements or of their squares.
func (s isa) rowSums(name, signature, doc string, squares bool) {
	s.Begin(name, signature, doc)
	r := &row{isa: s, regs: s.Pick(8, 4), lanes: s.Lanes() / 2, both: func(b, a reg.VecPhysical) { s.VADDPD(b, a, a) }}
	c := &column{isa: s}
	work, mean := s.V(8), s.V(10)
	acc := s.Arg("acc")
	var means reg.GPVirtual
	if squares {
		means = s.Arg("mean")
	}
	r.start = func(reg.GPVirtual) {
		if squares {
			s.VBROADCASTSD(Mem{Base: means}, mean)
			s.ADDQ(U8(8), means)
		}
		for i := range r.regs {
			s.Zero(s.V(i))
		}
	}
	r.each = func(i int, from Mem, m *simd.Mask) {
		c.widen(from, work, m)
		if squares {
			r.deviate(work, mean, m)
		}
		s.VADDPD(work, s.V(i), s.V(i))
	}
	r.finish = func() {
		s.VADDSD(Mem{Base: acc}, reg.X0, reg.X0)
		s.VMOVSD(reg.X0, Mem{Base: acc})
		s.ADDQ(U8(8), acc)
	}
	r.write()
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
	s.Begin(name, "func(acc, x *float32, n, rows, ahead int)", doc)
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
	acc := s.Arg("acc")
	r.start = func(x reg.GPVirtual) {
		for i := range r.regs {
			s.VBROADCASTSS(Mem{Base: x}, s.V(i))
		}
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
	ax, bx := s.V(0).AsX().(reg.VecPhysical), s.V(1).AsX().(reg.VecPhysical)
	r.finish = func() {
		s.VMOVSHDUP(ax, bx)
		r.both(bx, ax)
		s.VMOVSS(Mem{Base: acc}, bx)
		r.both(ax, bx)
		s.VMOVSS(bx, Mem{Base: acc})
		s.ADDQ(U8(4), acc)
	}
	r.write()
}
