package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// Fields of kernel.tileEpilogue, in bytes.
const (
	epiScaleRow   = 0
	epiBiasRow    = 8
	epiResidual   = 32
	epiResidualLD = 40
	epiLo         = 48
	epiHi         = 52
)

// storeArgs are the registers of a store.
type storeArgs struct {
	cols, dst, ldc, scale, scaleStep, bias, biasStep, res, ldr reg.GPVirtual
	lo, hi                                                     Mem
	positions                                                  simd.Mask
}

// emitStore writes the way of a finished tile to its place: transposed, and
// through its epilogue while it is in registers. A vector of channels at a time is
// turned by a transposition of the whole register file, after which a register is
// one channel's positions: its scale, bias and row of the residual are then one
// operand each.
func emitStore(s isa) {
	one := s.StaticGlobal("one" + s.Suffix())
	s.DataAttributes(attr.RODATA | attr.NOPTR)
	s.AddDatum(0, F32(1))
	zero := s.StaticGlobal("minusZero" + s.Suffix()) // adding it changes nothing
	s.DataAttributes(attr.RODATA | attr.NOPTR)
	s.AddDatum(0, U32(1<<31))
	mr, n := s.Pick(6, 14), s.Lanes()
	s.Begin("convStore", "func(rows, cols int, tile, dst *float32, ldc int, e *byte)",
		fmt.Sprintf("stores tile[r*%d+c], through the epilogue e, in dst[c*ldc+r] for\nr < rows, 1 to %d, and c < cols, 1 to %d. Of e, a tileEpilogue, what belongs to a\nrow belongs to one c; there is nothing that belongs to a column.", 2*n, mr, 2*n))
	rows, tile, e := s.Arg("rows"), s.Arg("tile"), s.Arg("e")
	t := storeArgs{cols: s.Arg("cols"), dst: s.Arg("dst"), ldc: s.Bytes("ldc"), scale: s.GP64(), scaleStep: s.GP64(),
		bias: s.GP64(), biasStep: s.GP64(), res: s.GP64(), ldr: s.GP64(), lo: simd.At(e, epiLo), hi: simd.At(e, epiHi)}
	orElse := func(field int, p, step reg.GPVirtual, absent Mem) {
		label := fmt.Sprintf("has%d", field)
		s.MOVQ(simd.At(e, field), p)
		s.MOVQ(U32(4), step)
		s.TESTQ(p, p)
		s.JNE(LabelRef(label))
		s.LEAQ(absent, p)
		s.XORQ(step, step)
		s.Label(label)
	}
	orElse(epiScaleRow, t.scale, t.scaleStep, one)
	orElse(epiBiasRow, t.bias, t.biasStep, zero)
	s.MOVQ(simd.At(e, epiResidual), t.res)
	s.MOVQ(simd.At(e, epiResidualLD), t.ldr)
	s.SHLQ(U8(2), t.ldr)
	s.Label("half")
	for r := range n {
		if r < mr {
			s.VMOVUPS(simd.At(tile, 8*n*r), s.V(r))
		} else {
			s.Zero(s.V(r))
		}
	}
	out := s.Transpose4()
	spare := map[int]bool{}
	for i := range 2 * n {
		spare[i] = true
	}
	for _, r := range out {
		delete(spare, r)
	}
	var free []int
	for i := range 2 * n {
		if spare[i] {
			free = append(free, i)
		}
	}
	t.positions = s.LaneMask(rows, reg.K1, free[0])
	s.TESTQ(t.res, t.res)
	s.JNE(LabelRef("residual"))
	s.columns(t, out, free[1:], false)
	s.JMP(LabelRef("next"))
	s.Label("residual")
	s.columns(t, out, free[1:], true)
	s.Label("next")
	s.ADDQ(U8(4*n), tile)
	s.JMP(LabelRef("half"))
	s.Label("done")
	s.End()
}

// columns stores the columns in the given registers, as many as are left.
func (s isa) columns(t storeArgs, from, free []int, residual bool) {
	lo, hi, b := s.V(free[0]), s.V(free[1]), s.V(free[2])
	s.VBROADCASTSS(t.lo, lo)
	s.VBROADCASTSS(t.hi, hi)
	for _, i := range from {
		x := s.V(i)
		s.VBROADCASTSS(simd.At(t.scale, 0), b)
		s.VMULPS(b, x, x)
		s.VBROADCASTSS(simd.At(t.bias, 0), b)
		s.VADDPS(b, x, x)
		if residual {
			s.LoadLanes(simd.At(t.res, 0), b, &t.positions)
			s.VADDPS(b, x, x)
			s.ADDQ(t.ldr, t.res)
		}
		// The last source is the result of a comparison with NaN.
		s.VMAXPS(x, lo, x)
		s.VMINPS(x, hi, x)
		s.StoreLanes(x, simd.At(t.dst, 0), &t.positions)
		s.ADDQ(t.ldc, t.dst)
		s.ADDQ(t.scaleStep, t.scale)
		s.ADDQ(t.biasStep, t.bias)
		s.DECQ(t.cols)
		s.JEQ(LabelRef("done"))
	}
}
