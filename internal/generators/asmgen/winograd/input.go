package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// inputArgs are the registers of an input transform. Plane px·e+py of src has
// input (py, px) of every patch; inputs e and e+1 down are 0 and 1 of the patch
// a row of tiles further.
type inputArgs struct {
	vecs, dst, ps, ps3, ps5, src, plane, plane3, row reg.GPVirtual
}

func (s *isa) beginInput(name string) inputArgs {
	s.Begin(name, "func(vecs int, dst *float32, ps int, src *float32, plane, row int)",
		"transforms the patches of whole vectors of tiles: position p goes to\ndst[p*ps]. Input (y, x) of a patch is in plane e*x+y, or for y >= e in plane\ne*x+y-e, row floats further. vecs is at least 1.")
	a := inputArgs{vecs: s.Arg("vecs"), dst: s.Arg("dst"), ps: s.Bytes("ps"), src: s.Arg("src"), plane: s.Bytes("plane"), row: s.Bytes("row")}
	a.ps3, a.ps5 = s.scaled(a.ps)
	a.plane3 = s.GP64()
	s.LEAQ(Mem{Base: a.plane, Index: a.plane, Scale: 2}, a.plane3)
	return a
}

// pairPlus sets plus and minus to (x4 - q·x2) ± p·(x3 - q·x1).
func (s *isa) pairPlus(p, q float64, x1, x2, x3, x4 Op, plus, minus reg.VecPhysical, t [4]reg.VecPhysical) {
	s.times(q, x2, t[0])
	s.less(x4, t[0], t[0+1])
	s.times(q, x1, t[2])
	s.less(x3, t[2], t[3])
	s.times(p, t[3], t[3])
	s.VADDPS(t[3], t[1], plus)
	s.VSUBPS(t[3], t[1], minus)
}

// edge sets dst to (x4 - (a²+b²)·x2) + a²b²·x0.
func (s *isa) edge(x0, x2, x4 Op, dst reg.VecPhysical, t [4]reg.VecPhysical) {
	const a2, b2 = pointA * pointA, pointB * pointB
	s.times(a2+b2, x2, t[0])
	s.less(x4, t[0], t[1])
	s.times(a2*b2, x0, t[2])
	s.VADDPS(t[2], t[1], dst)
}

// emitInput4 writes the input transform of F(4x4,3x3): columns first, two rows of
// results at a time, since sixteen registers hold no more.
func (s *isa) emitInput4() {
	const a, b = pointA, pointB
	args := s.beginInput("winogradInput4")
	s.constants(a, b, a*a, b*b, a*a+b*b, a*a*b*b)
	t := [4]reg.VecPhysical{s.V(12), s.V(13), s.V(14), s.V(15)}
	col, below, d := s.GP64(), s.GP64(), s.GP64()
	six := s.GP64()
	s.LEAQ(Mem{Base: args.ps3, Index: args.ps3, Scale: 1}, six)
	columns := func(f func(j int, x [6]Mem)) {
		s.MOVQ(args.src, col)
		for j := range 6 {
			s.LEAQ(simd.Indexed(col, args.row, 0), below)
			f(j, [6]Mem{simd.At(col, 0), simd.Indexed(col, args.plane, 0), {Base: col, Index: args.plane, Scale: 2},
				simd.Indexed(col, args.plane3, 0), simd.At(below, 0), simd.Indexed(below, args.plane, 0)})
			s.LEAQ(Mem{Base: col, Index: args.plane, Scale: 4}, col)
		}
	}
	// along transforms the row in registers first to first+5 and stores it.
	along := func(first int) {
		v, at := func(i int) reg.VecPhysical { return s.V(first + i) }, multiples(d, args.ps, args.ps3, args.ps5)
		s.edge(v(0), v(2), v(4), t[1], t)
		s.VMOVUPS(t[1], at[0])
		s.edge(v(1), v(3), v(5), t[1], t)
		s.VMOVUPS(t[1], at[5])
		s.pairPlus(a, b*b, v(1), v(2), v(3), v(4), t[0], t[2], t)
		s.VMOVUPS(t[0], at[1])
		s.VMOVUPS(t[2], at[2])
		s.pairPlus(b, a*a, v(1), v(2), v(3), v(4), t[0], t[2], t)
		s.VMOVUPS(t[0], at[3])
		s.VMOVUPS(t[2], at[4])
		s.ADDQ(six, d)
	}
	s.Label("vector")
	s.MOVQ(args.dst, d)
	columns(func(j int, x [6]Mem) {
		s.edge(x[0], x[2], x[4], s.V(j), t)
	})
	along(0)
	columns(func(j int, x [6]Mem) {
		s.pairPlus(a, b*b, x[1], x[2], x[3], x[4], s.V(j), s.V(6+j), t)
	})
	along(0)
	along(6)
	columns(func(j int, x [6]Mem) {
		s.pairPlus(b, a*a, x[1], x[2], x[3], x[4], s.V(j), s.V(6+j), t)
	})
	along(0)
	along(6)
	columns(func(j int, x [6]Mem) {
		s.edge(x[1], x[3], x[5], s.V(j), t)
	})
	along(0)
	s.nextInput(args)
}

// nextInput ends the loop over vectors.
func (s *isa) nextInput(args inputArgs) {
	s.ADDQ(U8(4*s.Lanes()), args.src)
	s.ADDQ(U8(4*s.Lanes()), args.dst)
	s.DECQ(args.vecs)
	s.JNZ(LabelRef("vector"))
	s.End()
}

// emitInput2 writes the input transform of F(2x2,3x3).
func (s *isa) emitInput2() {
	args := s.beginInput("winogradInput2")
	col, below, d := s.GP64(), s.GP64(), s.GP64()
	t := s.V(12)
	columns := func(f func(j int, x [4]Mem)) {
		s.MOVQ(args.src, col)
		for j := range 4 {
			s.LEAQ(simd.Indexed(col, args.row, 0), below)
			f(j, [4]Mem{simd.At(col, 0), simd.Indexed(col, args.plane, 0), simd.At(below, 0), simd.Indexed(below, args.plane, 0)})
			s.LEAQ(Mem{Base: col, Index: args.plane, Scale: 2}, col)
		}
	}
	along := func(first int) {
		v, at := func(i int) reg.VecPhysical { return s.V(first + i) }, multiples(d, args.ps, args.ps3, args.ps5)
		s.VSUBPS(v(2), v(0), t)
		s.VMOVUPS(t, at[0])
		s.VADDPS(v(1), v(2), t)
		s.VMOVUPS(t, at[1])
		s.VSUBPS(v(1), v(2), t)
		s.VMOVUPS(t, at[2])
		s.VSUBPS(v(1), v(3), t)
		s.VMOVUPS(t, at[3])
		s.LEAQ(Mem{Base: d, Index: args.ps, Scale: 4}, d)
	}
	s.Label("vector")
	s.MOVQ(args.dst, d)
	columns(func(j int, x [4]Mem) {
		s.VMOVUPS(x[0], s.V(j))
		s.VSUBPS(x[2], s.V(j), s.V(j))
	})
	along(0)
	columns(func(j int, x [4]Mem) {
		s.VMOVUPS(x[1], t)
		s.VMOVUPS(x[2], s.V(13))
		s.VADDPS(t, s.V(13), s.V(j))
		s.VSUBPS(t, s.V(13), s.V(4+j))
	})
	along(0)
	along(4)
	columns(func(j int, x [4]Mem) {
		s.VMOVUPS(x[3], s.V(j))
		s.VSUBPS(x[1], s.V(j), s.V(j))
	})
	along(0)
	s.nextInput(args)
}
