package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// emitOutput writes the loops of an output transform: vector, called with the
// address of the first position and of the result, transforms one vector of tiles.
func (s *isa) emitOutput(name string, e int, consts []float64, vector func(at, to, ps reg.GPVirtual)) {
	s.Begin(name, "func(rows, vecs int, dst, src *float32, ps int)",
		"transforms sums to outputs: for each of rows of src, one panel\nwide, positions ps apart, whole vectors of tiles go to a block of dst: e rows\nof a panel times e outputs. rows and vecs are at least 1.")
	rows, vecs, dst, src, ps := s.Arg("rows"), s.Arg("vecs"), s.Arg("dst"), s.Arg("src"), s.Bytes("ps")
	s.constants(consts...)
	left, at, to := s.GP64(), s.GP64(), s.GP64()
	n := s.Lanes()
	s.Label("row")
	s.MOVQ(vecs, left)
	s.MOVQ(src, at)
	s.MOVQ(dst, to)
	s.Label("vector")
	vector(at, to, ps)
	s.ADDQ(U8(4*n), at)
	s.ADDQ(U32(4*n*e), to)
	s.DECQ(left)
	s.JNZ(LabelRef("vector"))
	s.ADDQ(U32(8*n), src)
	s.ADDQ(U32(8*n*e*e), dst)
	s.DECQ(rows)
	s.JNZ(LabelRef("row"))
	s.End()
}

// emitOutput4 writes the output transform of F(4x4,3x3), columns first; even and
// odd rows of results share their operands.
func (s *isa) emitOutput4() {
	const a, b = pointA, pointB
	t := [4]reg.VecPhysical{s.V(12), s.V(13), s.V(14), s.V(15)}
	s.emitOutput("winogradOutput4", 4, []float64{a, b, a * a, b * b, a * a * a, b * b * b}, func(at, to, ps reg.GPVirtual) {
		six, six3, six5 := s.GP64(), s.GP64(), s.GP64()
		s.LEAQ(Mem{Base: ps, Index: ps, Scale: 2}, six)
		s.ADDQ(six, six)
		s.LEAQ(Mem{Base: six, Index: six, Scale: 2}, six3)
		s.LEAQ(Mem{Base: six, Index: six, Scale: 4}, six5)
		col := s.GP64()
		columns := func(f func(j int, m [6]Mem)) {
			s.MOVQ(at, col)
			for j := range 6 {
				f(j, multiples(col, six, six3, six5))
				s.ADDQ(ps, col)
			}
		}
		columns(func(j int, m [6]Mem) {
			s.VMOVUPS(m[1], t[0])
			s.VADDPS(m[2], t[0], t[0])
			s.VMOVUPS(m[3], t[1])
			s.VADDPS(m[4], t[1], t[1])
			s.VADDPS(t[1], t[0], t[2])
			s.VADDPS(m[0], t[2], s.V(j))
			s.combine(a*a, b*b, t[0], t[1], s.V(6+j))
		})
		s.along4(0, to, 0, t)
		s.along4(6, to, 2, t)
		columns(func(j int, m [6]Mem) {
			s.VMOVUPS(m[1], t[0])
			s.VSUBPS(m[2], t[0], t[0])
			s.VMOVUPS(m[3], t[1])
			s.VSUBPS(m[4], t[1], t[1])
			s.times(a, t[0], t[2])
			s.times(b, t[1], t[3])
			s.VADDPS(t[3], t[2], s.V(j))
			s.combine(a*a*a, b*b*b, t[0], t[1], t[0])
			s.VADDPS(m[5], t[0], s.V(6+j))
		})
		s.along4(0, to, 1, t)
		s.along4(6, to, 3, t)
	})
}

// combine sets dst to p·x + q·y and overwrites both.
func (s *isa) combine(p, q float64, x, y, dst reg.VecPhysical) {
	s.times(p, x, x)
	s.times(q, y, y)
	s.VADDPS(y, x, dst)
}

// along4 transforms the row in registers first to first+5 and stores it as row
// `row` of the result.
func (s *isa) along4(first int, to reg.GPVirtual, row int, t [4]reg.VecPhysical) {
	const a, b = pointA, pointB
	v := func(i int) reg.VecPhysical { return s.V(first + i) }
	s.VADDPS(v(2), v(1), t[0])
	s.VSUBPS(v(2), v(1), v(1))
	s.VADDPS(v(4), v(3), t[1])
	s.VSUBPS(v(4), v(3), v(3))
	s.VADDPS(t[1], t[0], t[2])
	s.VADDPS(v(0), t[2], v(0))
	s.combine(a*a, b*b, t[0], t[1], v(2))
	s.times(a, v(1), t[0])
	s.times(b, v(3), t[1])
	s.VADDPS(t[1], t[0], v(4))
	s.combine(a*a*a, b*b*b, v(1), v(3), v(1))
	s.VADDPS(v(5), v(1), v(5))
	z := [4]reg.VecPhysical{v(0), v(4), v(2), v(5)}
	n := s.Lanes()
	disp := 4 * (2 * n * 4) * row
	for i, r := range s.turns4(z, t) {
		s.VMOVUPS(r, simd.At(to, disp+4*n*i))
	}
}

// turns4 returns the lanes of z[0] to z[3] in turn: lane 0 of each, lane 1, ...
func (s *isa) turns4(z, t [4]reg.VecPhysical) [4]reg.VecPhysical {
	if !s.Wide() {
		s.Unpack4(z, t)
		s.VPERM2F128(U8(0x20), z[1], z[0], t[0])
		s.VPERM2F128(U8(0x20), z[3], z[2], t[1])
		s.VPERM2F128(U8(0x31), z[1], z[0], t[2])
		s.VPERM2F128(U8(0x31), z[3], z[2], t[3])
		return t
	}
	lo, hi := s.list("turnsLo", 22), s.list("turnsHi", 23)
	pairsLo, pairsHi := s.list("pairsLo", 24), s.list("pairsHi", 25)
	s.VMOVAPS(z[0], t[0])
	s.permute(lo, t[0], z[1])
	s.permute(hi, z[0], z[1])
	s.VMOVAPS(z[2], t[1])
	s.permute(lo, t[1], z[3])
	s.permute(hi, z[2], z[3])
	s.VMOVAPS(t[0], t[2])
	s.permute(pairsLo, t[0], t[1])
	s.permute(pairsHi, t[2], t[1])
	s.VMOVAPS(z[0], t[3])
	s.permute(pairsLo, z[0], z[2])
	s.permute(pairsHi, t[3], z[2])
	return [4]reg.VecPhysical{t[0], t[2], z[0], t[3]}
}

// emitOutput2 writes the output transform of F(2x2,3x3).
func (s *isa) emitOutput2() {
	n := s.Lanes()
	s.emitOutput("winogradOutput2", 2, nil, func(at, to, ps reg.GPVirtual) {
		four, four3, col := s.GP64(), s.GP64(), s.GP64()
		s.MOVQ(ps, four)
		s.SHLQ(U8(2), four)
		s.LEAQ(Mem{Base: four, Index: four, Scale: 2}, four3)
		s.MOVQ(at, col)
		for j := range 4 {
			m := multiples(col, four, four3, four3)
			s.VMOVUPS(m[1], s.V(12))
			s.VMOVUPS(m[2], s.V(13))
			s.VADDPS(m[0], s.V(12), s.V(j))
			s.VADDPS(s.V(13), s.V(j), s.V(j))
			s.VSUBPS(s.V(13), s.V(12), s.V(4+j))
			s.VADDPS(m[3], s.V(4+j), s.V(4+j))
			s.ADDQ(ps, col)
		}
		for row := range 2 {
			v := func(i int) reg.VecPhysical { return s.V(4*row + i) }
			s.VADDPS(v(1), v(0), v(0))
			s.VADDPS(v(2), v(0), v(0))
			s.VSUBPS(v(2), v(1), v(1))
			s.VADDPS(v(3), v(1), v(1))
			disp := 4 * (2 * n * 2) * row
			if s.Wide() {
				lo, hi := s.list("turnsLo", 22), s.list("turnsHi", 23)
				s.VMOVAPS(v(0), v(2))
				s.permute(lo, v(0), v(1))
				s.permute(hi, v(2), v(1))
				s.VMOVUPS(v(0), simd.At(to, disp))
				s.VMOVUPS(v(2), simd.At(to, disp+4*n))
				continue
			}
			s.VUNPCKLPS(v(1), v(0), v(2))
			s.VUNPCKHPS(v(1), v(0), v(3))
			s.VPERM2F128(U8(0x20), v(3), v(2), v(0))
			s.VPERM2F128(U8(0x31), v(3), v(2), v(1))
			s.VMOVUPS(v(0), simd.At(to, disp))
			s.VMOVUPS(v(1), simd.At(to, disp+4*n))
		}
	})
}
