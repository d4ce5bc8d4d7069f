package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// filterMatrix returns the matrix that takes three taps of a filter to the positions of
// F(e,3), as winogradFilter of kernel/internal/winograd does.
func filterMatrix(e int) [][3]float64 {
	if e == 2 {
		return [][3]float64{{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}}
	}
	const a2, b2 = pointA * pointA, pointB * pointB
	const na, nb = 2 * a2 * (a2 - b2), 2 * b2 * (b2 - a2)
	return [][3]float64{{1 / (a2 * b2), 0, 0}, {1 / na, pointA / na, a2 / na}, {1 / na, -pointA / na, a2 / na},
		{1 / nb, pointB / nb, b2 / nb}, {1 / nb, -pointB / nb, b2 / nb}, {0, 0, 1}}
}

// filterFactors declares the numbers of both matrices, eight times each.
func filterFactors(c *build.Context) map[float64]Mem {
	table := map[float64]Mem{}
	for _, e := range []int{4, 2} {
		for _, row := range filterMatrix(e) {
			for _, v := range row {
				if _, ok := table[v]; ok || v == 0 || v == 1 {
					continue
				}
				table[v] = c.StaticGlobal(fmt.Sprintf("filter%d", len(table)))
				c.DataAttributes(attr.RODATA | attr.NOPTR)
				for lane := range 8 {
					c.AddDatum(8*lane, U64(math.Float64bits(v)))
				}
			}
		}
	}
	return table
}

// emitFilter writes the transform of filters. Lanes are filters, which are transformed
// in float64, half a register at a time, and rounded once.
func (s *isa) emitFilter(e int, factors map[float64]Mem) {
	t, n := e+2, s.Lanes()
	s.Begin(fmt.Sprintf("winogradFilter%d", e), "func(chans int, dst *float32, ps int, src *float32)",
		fmt.Sprintf("transforms the filters of at least one channel, %d filters in the lanes of each of\nits nine taps at src: position p goes to dst[p*ps]. The next channel follows both.", n))
	chans, dst, ps, src := s.Arg("chans"), s.Arg("dst"), s.Bytes("ps"), s.Arg("src")
	down, column, at := s.GP64(), s.GP64(), s.GP64()
	s.MOVQ(ps, down)
	s.IMUL3Q(U8(t), down, down)
	m := filterMatrix(e)
	taps := func(y, x int) reg.VecPhysical { return s.V(3*y + x) }
	rows := [3]reg.VecPhysical{s.V(9), s.V(10), s.V(11)}
	s.Label("chan")
	for half := range 2 {
		for i := range 9 {
			s.VCVTPS2PD(simd.At(src, 4*n*i+2*n*half), s.V(i))
		}
		s.MOVQ(dst, column)
		for x := range t {
			along := rows
			for y := range 3 {
				along[y] = s.position(m[x], [3]reg.VecPhysical{taps(y, 0), taps(y, 1), taps(y, 2)}, rows[y], factors)
			}
			s.MOVQ(column, at)
			for y := range t {
				sum := s.position(m[y], along, s.V(12+y%2), factors)
				s.storeHalf(sum, simd.At(at, 2*n*half))
				if y < t-1 {
					s.ADDQ(down, at)
				}
			}
			if x < t-1 {
				s.ADDQ(ps, column)
			}
		}
	}
	s.ADDQ(U32(9*4*n), src)
	s.ADDQ(U8(4*n), dst)
	s.DECQ(chans)
	s.JNZ(LabelRef("chan"))
	s.End()
}

// position returns the sum of x times a row of the matrix, in dst if it is none of x.
func (s *isa) position(row [3]float64, x [3]reg.VecPhysical, dst reg.VecPhysical, factors map[float64]Mem) reg.VecPhysical {
	if row == [3]float64{0, 0, 1} {
		return x[2]
	}
	if row == [3]float64{1, 0, 0} {
		return x[0]
	}
	t := s.V(14)
	for i, v := range row {
		switch {
		case v == 0:
		case i == 0:
			s.VMULPD(factors[v], x[i], dst)
		default:
			s.VMULPD(factors[v], x[i], t)
			s.VADDPD(t, dst, dst)
		}
	}
	return dst
}

// storeHalf rounds float64s to float32 and stores them.
func (s *isa) storeHalf(x reg.VecPhysical, to Mem) {
	if s.Wide() {
		s.VCVTPD2PS(x, s.V(15).AsY())
		s.VMOVUPS(s.V(15).AsY(), to)
		return
	}
	s.VCVTPD2PSY(x, s.V(15).AsX())
	s.VMOVUPS(s.V(15).AsX(), to)
}
