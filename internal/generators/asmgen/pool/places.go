package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// Registers of the search: the maxima and what was found, the places of the first taps of the row
// at hand, operands; and what stays: the same of the last row relative to the first window, the
// floats of a row, and the numbers of taps.
const (
	placeBest, placeFound, placeRow, placeTap = 0, 1, 2, 3
	placeLoad                                 = 4 // and one more
	placeLast, placeWidth, placeOnes          = 8, 9, 10
	placeEvens, placeOdds                     = 12, 13
)

// lanesOf declares sixteen integers.
func lanesOf(c *build.Context, name string, f func(i int) int) Mem {
	m := c.StaticGlobal(name)
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		c.AddDatum(4*i, U32(f(i)))
	}
	return m
}

func emitPlaces(c *build.Context) {
	step := [3]Mem{1: lanesOf(c, "lanes1", func(i int) int { return i }), 2: lanesOf(c, "lanes2", func(i int) int { return 2 * i })}
	pairs := [2]Mem{step[2], lanesOf(c, "odds", func(i int) int { return 2*i + 1 })} // evens and odds
	for _, s := range []simd.ISA{simd.AVX512(c), simd.AVX2(c)} {
		for _, kernel := range []int{2, 3} {
			for _, stride := range []int{1, 2} {
				emitPlace(s, kernel, stride, step[stride], pairs)
			}
		}
	}
}

// emitPlace writes the search for the first tap that has the value of a window's maximum: from
// the last one back, so that no lane leaves early.
func emitPlace(s simd.ISA, kernel, stride int, step Mem, pairs [2]Mem) {
	n := s.Lanes()
	s.Begin(fmt.Sprintf("places%ds%d", kernel, stride), "func(n int, places *int64, best, src *float32, width, rows, from int)",
		fmt.Sprintf("sets the places of n windows, %d or more, of %d columns and at least one row with stride\n%d: where the first tap is that equals the maximum, if src, the first tap of all, has place from.\nRows are width floats apart.", n, kernel, stride))
	left, places, best, src := s.Arg("n"), s.Arg("places"), s.Arg("best"), s.Arg("src")
	width, rows, from := s.Arg("width"), s.Arg("rows"), s.Arg("from")
	last, p, r := s.GP64(), s.GP64(), s.GP64()
	spread := func(x reg.GPVirtual, v int) {
		s.VMOVD(x.As32(), s.V(v).AsX())
		s.VPBROADCASTD(s.V(v).AsX(), s.V(v))
	}
	spread(width, placeWidth)
	s.LEAQ(Mem{Base: rows, Disp: -1}, last)
	s.IMULQ(width, last)
	spread(last, placeLast)
	s.VPADDD(step, s.V(placeLast), s.V(placeLast))
	for x := 1; x < kernel; x++ {
		s.MOVQ(U32(x), r)
		spread(r, placeOnes+x-1)
	}
	s.SHLQ(U8(2), width)
	s.SHLQ(U8(2), last)
	if s.Wide() && stride == 2 {
		s.VMOVDQU32(pairs[0], s.V(placeEvens))
		s.VMOVDQU32(pairs[1], s.V(placeOdds))
	}
	s.Label("block")
	s.VMOVUPS(simd.At(best, 0), s.V(placeBest))
	spread(from, placeRow)
	s.VPADDD(s.V(placeLast), s.V(placeRow), s.V(placeRow))
	s.LEAQ(simd.Indexed(src, last, 0), p)
	s.MOVQ(rows, r)
	s.Label("row")
	for x := kernel - 1; x >= 0; x-- {
		v := loadTap(s, p, x, stride)
		place := s.V(placeRow)
		if x > 0 {
			s.VPADDD(s.V(placeOnes+x-1), place, s.V(placeTap))
			place = s.V(placeTap)
		}
		if s.Wide() {
			s.VCMPPS(U8(0), s.V(placeBest), v, reg.K1)
			s.VMOVDQA32(place, reg.K1, s.V(placeFound))
		} else {
			s.VCMPPS(U8(0), s.V(placeBest), v, v)
			s.VBLENDVPS(v, place, s.V(placeFound), s.V(placeFound))
		}
	}
	s.VPSUBD(s.V(placeWidth), s.V(placeRow), s.V(placeRow))
	s.SUBQ(width, p)
	s.DECQ(r)
	s.JNZ(LabelRef("row"))
	storePlaces(s, places)
	s.ADDQ(U32(4*n), best)
	s.ADDQ(U32(8*n), places)
	s.ADDQ(U32(4*n*stride), src)
	s.ADDQ(U32(n*stride), from)
	s.SUBQ(U8(n), left)
	s.JEQ(LabelRef("done"))
	s.CMPQ(left, U8(n))
	s.JGE(LabelRef("block"))
	// The last windows are searched with some before them.
	s.SUBQ(U8(n), left)
	s.LEAQ(Mem{Base: best, Index: left, Scale: 4}, best)
	s.LEAQ(Mem{Base: places, Index: left, Scale: 8}, places)
	s.LEAQ(Mem{Base: src, Index: left, Scale: uint8(4 * stride)}, src)
	s.LEAQ(Mem{Base: from, Index: left, Scale: uint8(stride)}, from)
	s.MOVQ(U32(n), left)
	s.JMP(LabelRef("block"))
	s.Label("done")
	s.End()
}

// storePlaces stores what was found as integers of 64 bits.
func storePlaces(s simd.ISA, places reg.GPVirtual) {
	if s.Wide() {
		s.VEXTRACTI64X4(U8(1), s.V(placeFound), s.V(placeTap).AsY())
		s.VPMOVSXDQ(s.V(placeTap).AsY(), s.V(placeTap))
		s.VPMOVSXDQ(s.V(placeFound).AsY(), s.V(placeFound))
	} else {
		s.VEXTRACTI128(U8(1), s.V(placeFound), s.V(placeTap).AsX())
		s.VPMOVSXDQ(s.V(placeTap).AsX(), s.V(placeTap))
		s.VPMOVSXDQ(s.V(placeFound).AsX(), s.V(placeFound))
	}
	s.VMOVUPS(s.V(placeFound), simd.At(places, 0))
	s.VMOVUPS(s.V(placeTap), simd.At(places, s.Size()))
}

// loadTap returns tap x of a row of as many windows as there are lanes; nothing past their taps is read.
func loadTap(s simd.ISA, p reg.GPVirtual, x, stride int) reg.VecPhysical {
	v, w := s.V(placeLoad), s.V(placeLoad+1)
	if stride == 1 {
		s.VMOVUPS(simd.At(p, 4*x), v)
		return v
	}
	first, odd := 0, x > 0 // tap 2 is what is odd from the second float on
	if x == 2 {
		first = 4
	}
	s.VMOVUPS(simd.At(p, first), v)
	if s.Wide() {
		s.VMOVUPS(simd.At(p, first+4*s.Lanes()), w)
		order := s.V(placeEvens)
		if odd {
			order = s.V(placeOdds)
		}
		s.VPERMT2PS(w, order, v)
		return v
	}
	lanes := uint64(0x88)
	if odd {
		lanes = 0xdd
	}
	s.VSHUFPS(U8(lanes), simd.At(p, first+4*s.Lanes()), v, v)
	s.VPERMPD(U8(0xd8), v, v)
	return v
}
