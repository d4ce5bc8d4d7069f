package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// The numbers of the filter's matrix, without signs: those of point a, and of b.
const (
	factorA  = 2 * pointA * pointA * (pointA*pointA - pointB*pointB)
	factorB  = 2 * pointB * pointB * (pointB*pointB - pointA*pointA)
	factor0  = 1 / (pointA * pointA * pointB * pointB)
	factorA0 = 1 / factorA
	factorA1 = pointA / factorA
	factorA2 = pointA * pointA / factorA
	factorB0 = 1 / factorB
	factorB1 = pointB / factorB
	factorB2 = pointB * pointB / factorB
)

// emitSeed4 writes the transform of tiles of a gradient, the output transform of F(4x4,3x3)
// turned round. Lanes are channels. Columns come first, two rows of results at a time.
func (s *isa) emitSeed4() {
	const a, b = pointA, pointB
	s.Begin("winogradSeed4", "func(tiles int, dst *float32, ps int, src *float32, col, row int)",
		"transforms a vector of channels of at least one tile of 4x4: element\n(y, x) of tile t is at src[y*row+(4*t+x)*col], position p goes to dst[p*ps] and the\nnext tile follows after a vector.")
	tiles, dst, ps, src, col, row := s.Arg("tiles"), s.Arg("dst"), s.Bytes("ps"), s.Arg("src"), s.Bytes("col"), s.Bytes("row")
	ps3, ps5 := s.scaled(ps)
	row3, d, at := s.GP64(), s.GP64(), s.GP64()
	s.LEAQ(Mem{Base: row, Index: row, Scale: 2}, row3)
	s.constants(a, b, a*a, b*b, a*a*a, b*b*b)
	t := [4]reg.VecPhysical{s.V(12), s.V(13), s.V(14), s.V(15)}
	columns := func(f func(j int, x [4]Op)) {
		s.MOVQ(src, at)
		for j := range 4 {
			f(j, [4]Op{simd.At(at, 0), simd.Indexed(at, row, 0), Mem{Base: at, Index: row, Scale: 2}, simd.Indexed(at, row3, 0)})
			s.ADDQ(col, at)
		}
	}
	// along transforms the row in registers first to first+3 and stores it.
	along := func(first int) {
		v := [4]Op{s.V(first), s.V(first + 1), s.V(first + 2), s.V(first + 3)}
		to := multiples(d, ps, ps3, ps5)
		s.VMOVUPS(v[0], to[0])
		for i, p := range []float64{a, b} {
			s.bothSigns(p, v, s.V(8), s.V(9), t)
			s.VMOVUPS(s.V(8), to[1+2*i])
			s.VMOVUPS(s.V(9), to[2+2*i])
		}
		s.VMOVUPS(v[3], to[5])
		s.LEAQ(Mem{Base: d, Index: ps3, Scale: 2}, d)
	}
	s.Label("tile")
	s.MOVQ(dst, d)
	columns(func(j int, x [4]Op) { s.VMOVUPS(x[0], s.V(j)) })
	along(0)
	for _, p := range []float64{a, b} {
		columns(func(j int, x [4]Op) { s.bothSigns(p, x, s.V(j), s.V(4+j), t) })
		along(0)
		along(4)
	}
	columns(func(j int, x [4]Op) { s.VMOVUPS(x[3], s.V(j)) })
	along(0)
	s.LEAQ(Mem{Base: src, Index: col, Scale: 4}, src)
	s.ADDQ(U8(s.Size()), dst)
	s.DECQ(tiles)
	s.JNZ(LabelRef("tile"))
	s.End()
}

// bothSigns sets plus and minus to the polynomial with coefficients x at p and -p.
func (s *isa) bothSigns(p float64, x [4]Op, plus, minus reg.VecPhysical, t [4]reg.VecPhysical) {
	s.times(p*p, x[2], t[0])
	s.VADDPS(x[0], t[0], t[0])
	s.times(p, x[1], t[1])
	s.times(p*p*p, x[3], t[2])
	s.VADDPS(t[2], t[1], t[1])
	s.VADDPS(t[1], t[0], plus)
	s.VSUBPS(t[1], t[0], minus)
}

// emitTaps4 writes the way back from the sums of positions to the taps of filters, the
// transform of filters turned round. Lanes are channels. Columns come first; the first and the last
// row of taps share their operands.
func (s *isa) emitTaps4() {
	s.Begin("winogradTaps4", "func(vecs int, dst *float32, ldd int, src *float32, ps int)",
		"transforms sums to filters: position p of at least one vector is at\nsrc[p*ps], tap t goes to dst[t*ldd]. The next vector follows both.")
	vecs, dst, ldd, src, ps := s.Arg("vecs"), s.Arg("dst"), s.Bytes("ldd"), s.Arg("src"), s.Bytes("ps")
	six, six3, six5, col, to, ldd3 := s.GP64(), s.GP64(), s.GP64(), s.GP64(), s.GP64(), s.GP64()
	s.LEAQ(Mem{Base: ps, Index: ps, Scale: 2}, six)
	s.ADDQ(six, six)
	s.LEAQ(Mem{Base: six, Index: six, Scale: 2}, six3)
	s.LEAQ(Mem{Base: six, Index: six, Scale: 4}, six5)
	s.LEAQ(Mem{Base: ldd, Index: ldd, Scale: 2}, ldd3)
	s.constants(factor0, factorA0, factorA1, factorA2, factorB0, factorB1, factorB2)
	t := [4]reg.VecPhysical{s.V(12), s.V(13), s.V(14), s.V(15)}
	columns := func(f func(j int, m [6]Mem)) {
		s.MOVQ(src, col)
		for j := range 6 {
			f(j, multiples(col, six, six3, six5))
			s.ADDQ(ps, col)
		}
	}
	along := func(first int) {
		v := func(i int) reg.VecPhysical { return s.V(first + i) }
		s.VADDPS(v(2), v(1), t[0])
		s.VSUBPS(v(2), v(1), v(1))
		s.VADDPS(v(4), v(3), t[1])
		s.VSUBPS(v(4), v(3), v(3))
		s.outer(v(0), t[0], t[1], v(5), v(2), v(4), t)
		s.VMOVUPS(v(2), simd.At(to, 0))
		s.VMOVUPS(v(4), Mem{Base: to, Index: ldd, Scale: 2})
		s.combine(factorA1, factorB1, v(1), v(3), v(1))
		s.VMOVUPS(v(1), simd.Indexed(to, ldd, 0))
	}
	s.Label("vector")
	columns(func(j int, m [6]Mem) {
		s.VMOVUPS(m[1], t[0])
		s.VADDPS(m[2], t[0], t[0])
		s.VMOVUPS(m[3], t[1])
		s.VADDPS(m[4], t[1], t[1])
		s.outer(m[0], t[0], t[1], m[5], s.V(j), s.V(6+j), t)
	})
	s.MOVQ(dst, to)
	along(0)
	s.LEAQ(Mem{Base: dst, Index: ldd3, Scale: 2}, to)
	along(6)
	columns(func(j int, m [6]Mem) {
		s.VMOVUPS(m[1], t[0])
		s.VSUBPS(m[2], t[0], t[0])
		s.VMOVUPS(m[3], t[1])
		s.VSUBPS(m[4], t[1], t[1])
		s.combine(factorA1, factorB1, t[0], t[1], s.V(j))
	})
	s.LEAQ(simd.Indexed(dst, ldd3, 0), to)
	along(0)
	s.ADDQ(U8(s.Size()), src)
	s.ADDQ(U8(s.Size()), dst)
	s.DECQ(vecs)
	s.JNZ(LabelRef("vector"))
	s.End()
}

// outer sets the first and the last tap of a row from its ends and the sums of pairs. The
// pairs are t[0] and t[1].
func (s *isa) outer(first Op, pairA, pairB reg.VecPhysical, last Op, tap0, tap2 reg.VecPhysical, t [4]reg.VecPhysical) {
	s.times(factor0, first, t[2])
	s.times(factorA0, pairA, t[3])
	s.VADDPS(t[3], t[2], t[2])
	s.times(factorB0, pairB, t[3])
	s.VADDPS(t[3], t[2], tap0)
	s.times(factorA2, pairA, t[2])
	s.times(factorB2, pairB, t[3])
	s.VADDPS(t[3], t[2], t[2])
	s.VADDPS(last, t[2], tap2)
}
