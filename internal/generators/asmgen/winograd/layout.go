package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// clamped returns a-b within 0..lanes.
func (s *isa) clamped(a, b, none, all reg.GPVirtual) reg.GPVirtual {
	r := s.GP64()
	s.MOVQ(a, r)
	s.SUBQ(b, r)
	s.CMOVQLT(none, r)
	s.CMPQ(r, all)
	s.CMOVQGT(all, r)
	return r
}

// splitMasks are the lanes of a group of tiles: inputs that lie in the image,
// tiles, and tiles whose left neighbour there is.
type splitMasks struct {
	image [4]simd.Mask
	tiles [2]simd.Mask
}

// emitSplit writes the sorting of an image's columns by their place in a patch.
// Tiles are taken a vector at a time, down all rows, so that masks are made once.
func (s *isa) emitSplit(e int) {
	s.Begin(fmt.Sprintf("winogradSplit%d", e), "func(rows, first, from, to int, dst *float32, plane, ldd int, src *float32, lds, pad, width int)",
		fmt.Sprintf("stores dst[(%d*x+y%%%d)*plane+y/%d*ldd+t] = src[(y-first)*lds+%d*t+x-pad]\nfor y from first to first+rows, tiles t from `from` to `to` and x < %d, zero\nfor what is left or right of a row's width. rows is at least 1, from < to.", e, e, e, e, e+2))
	n := s.Lanes()
	from, dst, skip := s.Arg("from"), s.Arg("dst"), s.GP64()
	s.MOVQ(U32(1), skip)
	at := s.Arg("first")
	s.IMULQ(s.Bytes("plane"), at)
	s.ADDQ(at, dst)
	evens, odds := 0, 0
	if s.Wide() {
		s.list("evens", 14)
		s.list("odds", 15)
		evens, odds = 14, 15
	}
	s.Label("group")
	first := func() reg.GPVirtual { // the input of the group's first lane
		x := s.GP64()
		s.MOVQ(from, x)
		s.SHLQ(U8(log2(e)), x)
		s.SUBQ(s.Arg("pad"), x)
		return x
	}
	m := s.splitMasks(e, first(), from, skip)
	p, d, lds, left, cycle := s.Arg("src"), s.GP64(), s.Bytes("lds"), s.Arg("rows"), s.GP64()
	s.LEAQ(Mem{Base: p, Index: first(), Scale: 4}, p)
	s.LEAQ(Mem{Base: dst, Index: from, Scale: 4}, d)
	s.MOVQ(U32(e), cycle) // rows to the next row of tiles
	s.SUBQ(s.Arg("first"), cycle)
	// pl is the distance of planes of neighbouring columns.
	plane, pl, wrap := s.Bytes("plane"), s.GP64(), s.Bytes("ldd")
	s.MOVQ(plane, pl)
	s.SHLQ(U8(log2(e)), pl)
	s.SUBQ(pl, wrap)
	s.Label("row")
	s.splitRow(e, p, d, pl, m, evens, odds)
	s.ADDQ(lds, p)
	s.ADDQ(plane, d)
	s.DECQ(cycle)
	s.JNZ(LabelRef("same"))
	s.ADDQ(wrap, d)
	s.MOVQ(U32(e), cycle)
	s.Label("same")
	s.DECQ(left)
	s.JNZ(LabelRef("row"))
	s.ADDQ(U8(n), from)
	s.XORQ(skip, skip)
	s.CMPQ(from, s.Arg("to")) // the last tile's last columns are the first of one that need not be
	s.JLE(LabelRef("group"))
	s.End()
}

func log2(e int) int { return e / 2 } // of 2 or 4

// splitMasks makes the masks of the group of tiles that begins at from, whose
// first input is x.
func (s *isa) splitMasks(e int, x, from, skip reg.GPVirtual) (m splitMasks) {
	ks := []reg.Register{reg.K1, reg.K2, reg.K3, reg.K4, reg.K5, reg.K6}
	top := 9 // AVX2: registers 9 down to 4
	none, all, width := s.GP64(), s.GP64(), s.Arg("width")
	s.XORQ(none, none)
	s.MOVQ(U32(s.Lanes()), all)
	for v := range e {
		hi, lo := s.clamped(width, x, none, all), s.clamped(none, x, none, all)
		m.image[v] = s.RangeMask(lo, hi, ks[v], reg.K7, top-v, 15)
		if v < e-1 {
			s.ADDQ(U8(s.Lanes()), x)
		}
	}
	to := s.Arg("to")
	end := s.clamped(to, from, none, all)
	m.tiles[0] = s.LaneMask(end, ks[4], top-4)
	past := s.GP64()
	s.LEAQ(simd.At(to, 1), past)
	m.tiles[1] = s.RangeMask(skip, s.clamped(past, from, none, all), ks[5], reg.K7, top-5, 15)
	return m
}

// splitRow sorts one row of a group: from p, to the planes at d.
func (s *isa) splitRow(e int, p, d, pl reg.GPVirtual, m splitMasks, evens, odds int) {
	n := s.Lanes()
	for v := range e {
		s.LoadLanes(simd.At(p, 4*n*v), s.V(v), &m.image[v])
	}
	var phase []reg.VecPhysical
	if e == 2 {
		s.halves(0, 1, 10, evens, odds)
		phase = []reg.VecPhysical{s.V(0), s.V(10)}
	} else {
		s.halves(0, 1, 10, evens, odds) // evens in 0, odds in 10
		s.halves(2, 3, 11, evens, odds)
		s.halves(0, 2, 12, evens, odds)
		s.halves(10, 11, 13, evens, odds)
		phase = []reg.VecPhysical{s.V(0), s.V(10), s.V(12), s.V(13)}
	}
	at := s.GP64()
	s.MOVQ(d, at)
	for i := range e {
		s.StoreLanes(phase[i], simd.At(at, 0), &m.tiles[0])
		s.ADDQ(pl, at)
	}
	for i := range 2 {
		s.StoreLanes(phase[i], simd.At(at, -4), &m.tiles[1])
		if i == 0 {
			s.ADDQ(pl, at)
		}
	}
}

// halves leaves the even lanes of registers a and b in a and the odd ones in c.
func (s *isa) halves(a, b, c, evens, odds int) {
	if s.Wide() {
		s.VMOVAPS(s.V(a), s.V(c))
		s.permute(s.V(evens), s.V(a), s.V(b))
		s.permute(s.V(odds), s.V(c), s.V(b))
		return
	}
	s.VSHUFPS(U8(0xdd), s.V(b), s.V(a), s.V(c))
	s.VSHUFPS(U8(0x88), s.V(b), s.V(a), s.V(a))
	s.VPERMPD(U8(0xd8), s.V(a), s.V(a))
	s.VPERMPD(U8(0xd8), s.V(c), s.V(c))
}

// Fields of kernel.winogradStore, in bytes.
const (
	storeChans = 8 * iota
	storeRows
	storeCols
	storeDst
	storeDstChan
	storeDstRow
	storeSrc
	storeSrcChan
	storeSrcRow
	storeScale
	storeBias
	storeResidual
	storeLo
	storeHi = storeLo + 4
)

// emitStore writes the last pass: outputs of tiles go to their rows, through the
// epilogue.
func (s *isa) emitStore(neutral Mem) {
	n := s.Lanes()
	s.Begin("winogradStore", "func(a *byte)", "applies the epilogue of a, a winogradStore, to a block of at least one\nchannel, row and column, and stores it. It counts a down.")
	a := s.Arg("a")
	field := func(disp int) reg.GPVirtual {
		r := s.GP64()
		s.MOVQ(simd.At(a, disp), r)
		return r
	}
	scale, scaleStep := field(storeScale), s.GP64()
	bias, biasStep := field(storeBias), s.GP64()
	for i, p := range []struct{ at, step reg.GPVirtual }{{scale, scaleStep}, {bias, biasStep}} {
		label := fmt.Sprintf("given%d", i)
		s.MOVQ(U32(4), p.step)
		s.TESTQ(p.at, p.at)
		s.JNE(LabelRef(label))
		s.LEAQ(neutral.Offset(4*i), p.at)
		s.XORQ(p.step, p.step)
		s.Label(label)
	}
	s.VBROADCASTSS(simd.At(a, storeLo), s.V(0))
	s.VBROADCASTSS(simd.At(a, storeHi), s.V(1))
	res := field(storeResidual) // as a distance from dst, zero without one
	s.TESTQ(res, res)
	s.JEQ(LabelRef("chan"))
	s.SUBQ(simd.At(a, storeDst), res)
	rows, left, d, f, t := s.GP64(), s.GP64(), s.GP64(), s.GP64(), s.GP64()
	row := func(m *simd.Mask, label string) { s.storeVector(f, d, res, m, label) }
	s.Label("chan")
	s.VBROADCASTSS(simd.At(scale, 0), s.V(3))
	s.VBROADCASTSS(simd.At(bias, 0), s.V(4))
	s.ADDQ(scaleStep, scale)
	s.ADDQ(biasStep, bias)
	s.MOVQ(simd.At(a, storeRows), rows)
	dr, sr := field(storeDst), field(storeSrc)
	s.Label("row")
	s.MOVQ(dr, d)
	s.MOVQ(sr, f)
	s.MOVQ(simd.At(a, storeCols), left)
	s.Wholes("vector", "tail", left, n, func() {
		row(nil, "plain")
		s.ADDQ(U8(4*n), d)
		s.ADDQ(U8(4*n), f)
	})
	s.Masked("next", left, reg.K1, 6, func(m *simd.Mask) { row(m, "masked") })
	step := func(disp int, r reg.GPVirtual) {
		s.MOVQ(simd.At(a, disp), t)
		s.LEAQ(Mem{Base: r, Index: t, Scale: 4}, r)
	}
	step(storeDstRow, dr)
	step(storeSrcRow, sr)
	s.DECQ(rows)
	s.JNZ(LabelRef("row"))
	for _, f := range [][2]int{{storeDst, storeDstChan}, {storeSrc, storeSrcChan}} {
		s.MOVQ(simd.At(a, f[1]), t)
		s.SHLQ(U8(2), t)
		s.ADDQ(t, simd.At(a, f[0]))
	}
	s.DECQ(simd.At(a, storeChans))
	s.JNZ(LabelRef("chan"))
	s.End()
}

// storeVector takes a vector at from through the epilogue to its place, with
// the residual unless its distance from there is zero.
func (s *isa) storeVector(from, to, residual reg.GPVirtual, m *simd.Mask, label string) {
	x := s.V(2)
	s.LoadLanes(simd.At(from, 0), x, m)
	s.VMULPS(s.V(3), x, x)
	s.VADDPS(s.V(4), x, x)
	s.TESTQ(residual, residual)
	s.JEQ(LabelRef(label))
	s.LoadLanes(simd.Indexed(to, residual, 0), s.V(5), m)
	s.VADDPS(s.V(5), x, x)
	s.Label(label)
	// The last source is the result of a comparison with NaN.
	s.VMAXPS(x, s.V(0), x)
	s.VMINPS(x, s.V(1), x)
	s.StoreLanes(x, simd.At(to, 0), m)
}
