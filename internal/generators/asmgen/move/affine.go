package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// emitAffine writes the last operations of norms and softmax on elements.
// Products and sums are rounded one by one, as in Go.
func emitAffine(s isa) {
	for _, stream := range []bool{false, true} {
		s.affine("affineEach", "stores (x-shift)*scale + add.", "func(dst, src *float32, n int, shift, scale, add float32)", stream, nil,
			[]string{"shift", "scale", "add"}, func(x reg.VecPhysical, n []reg.VecPhysical, _ func(int) Op) {
				s.VSUBPS(n[0], x, x)
				s.VMULPS(n[1], x, x)
				s.VADDPS(n[2], x, x)
			})
		s.affine("affineRow", "stores ((x-mean)*scale + add)*weight + bias.", "func(dst, src, weight, bias *float32, n int, mean, scale, add float32)", stream,
			[]string{"weight", "bias"}, []string{"mean", "scale", "add"}, func(x reg.VecPhysical, n []reg.VecPhysical, at func(int) Op) {
				s.VSUBPS(n[0], x, x)
				s.VMULPS(n[1], x, x)
				s.VADDPS(n[2], x, x)
				s.VMULPS(at(0), x, x)
				s.VADDPS(at(1), x, x)
			})
	}
	s.affine("affineColumns", "stores (x-shift)*scale + add.", "func(dst, src, shift, scale, add *float32, n int)", false,
		[]string{"shift", "scale", "add"}, nil, func(x reg.VecPhysical, _ []reg.VecPhysical, at func(int) Op) {
			s.VSUBPS(at(0), x, x)
			s.VMULPS(at(1), x, x)
			s.VADDPS(at(2), x, x)
		})
}

// affine writes a loop over elements: vectors are operands with an element for
// each of src, numbers are the same for all. Numbers stay in registers; a turn is
// several vectors that do not depend on each other.
func (s isa) affine(name, doc, signature string, stream bool, vectors, numbers []string, op func(x reg.VecPhysical, n []reg.VecPhysical, at func(int) Op)) {
	if stream {
		name, doc = name+"Stream", doc+" The results go past the caches;\ndst is a multiple of 64 and n one of 16."
	}
	s.Begin(name, signature, doc+" n is at least one.")
	dst, src, n := s.Arg("dst"), s.Arg("src"), s.Arg("n")
	pointers := []reg.GPVirtual{dst, src}
	for _, v := range vectors {
		pointers = append(pointers, s.Arg(v))
	}
	var consts []reg.VecPhysical
	for i, c := range numbers {
		a, err := s.Param(c).Resolve()
		if err != nil {
			panic(err)
		}
		s.VBROADCASTSS(a.Addr, s.V(12+i))
		consts = append(consts, s.V(12+i))
	}
	if s.prologue != nil {
		s.prologue()
	}
	w, spare := s.width(), s.V(8)
	turn := func(i int, m *simd.Mask) {
		x := s.V(i)
		s.LoadLanes(simd.At(src, i*w), x, m)
		op(x, consts, func(v int) Op {
			from := simd.At(pointers[2+v], i*w)
			if m == nil {
				return from
			}
			s.LoadLanes(from, spare, m)
			return spare
		})
		if m != nil {
			s.StoreLanes(x, simd.At(dst, i*w), m)
			return
		}
		s.store(x, simd.At(dst, i*w), stream)
	}
	for _, group := range []int{unroll, 1} {
		label := map[int]string{unroll: "block", 1: "whole"}[group]
		s.wholes(label, n, group*s.Lanes(), func() {
			for i := range group {
				turn(i, nil)
			}
			for _, p := range pointers {
				s.ADDQ(U32(uint32(group*w)), p)
			}
		})
	}
	if stream {
		s.End()
		return
	}
	s.Masked("done", n, reg.K1, 11, func(m *simd.Mask) { turn(0, m) })
	s.End()
}
