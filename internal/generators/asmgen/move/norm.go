package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// emitNorm writes the scaling of a row that adds up the next one meanwhile, for
// AVX-512: memory writes one while it reads the other.
func emitNorm(s isa) {
	for _, stream := range []bool{false, true} {
		name, doc := "normRow", "stores ((x-mean)*scale + add)*weight + bias for n elements, a multiple of 16,\n"+
			"and returns the sum of n elements at next, asking for those ahead bytes further on."
		if stream {
			name, doc = "normRowStream", "is normRow past the caches: dst is a multiple of 64."
		}
		s.Begin(name, "func(dst, x, weight, bias *float32, n int, mean, scale, add float32, next *float32, ahead int) float64", doc)
		s.normRow(stream)
	}
}

// normRow writes its loop: four sums of 64 bits and three numbers in registers,
// the row from the first cache, the next one from memory.
func (s isa) normRow(stream bool) {
	dst, x, weight, bias, n := s.Arg("dst"), s.Arg("x"), s.Arg("weight"), s.Arg("bias"), s.Arg("n")
	next, ahead := s.Arg("next"), s.Arg("ahead")
	sums := [4]reg.VecPhysical{s.V(0), s.V(1), s.V(2), s.V(3)}
	mean, scale, add := s.V(4), s.V(5), s.V(6)
	for i, name := range []string{"mean", "scale", "add"} {
		s.VBROADCASTSS(s.argAt(name), s.V(4+i))
	}
	for _, v := range sums {
		s.Zero(v)
	}
	w := s.width()
	// Each register of a turn has its own half of the sums' lanes.
	turn := func(i int) {
		v, low, high := s.V(8+i), s.V(10+i), s.V(12+i)
		s.PREFETCHT0(Mem{Base: next, Index: ahead, Scale: 1, Disp: i * w})
		s.VCVTPS2PD(simd.At(next, i*w), low)
		s.VCVTPS2PD(simd.At(next, i*w+w/2), high)
		s.VADDPD(low, sums[2*i], sums[2*i])
		s.VADDPD(high, sums[2*i+1], sums[2*i+1])
		s.VMOVUPS(simd.At(x, i*w), v)
		s.VSUBPS(mean, v, v)
		s.VMULPS(scale, v, v)
		s.VADDPS(add, v, v)
		s.VMULPS(simd.At(weight, i*w), v, v)
		s.VADDPS(simd.At(bias, i*w), v, v)
		s.store(v, simd.At(dst, i*w), stream)
	}
	s.wholes("turn", n, 2*s.Lanes(), func() {
		turn(0)
		turn(1)
		for _, p := range []reg.GPVirtual{dst, x, weight, bias, next} {
			s.ADDQ(U32(uint32(2*w)), p)
		}
	})
	s.TESTQ(n, n)
	s.JEQ(LabelRef("fold"))
	turn(0)
	s.Label("fold")
	m := &softmax{isa: s}
	m.fold(sums, s.VADDPD)
	s.Store(reg.X0, s.ReturnIndex(0))
	s.End()
}
