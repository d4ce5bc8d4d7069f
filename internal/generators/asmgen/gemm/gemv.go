package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
)

// emitGemv writes products of a packed matrix and a vector.
func emitGemv(c *build.Context) {
	for _, s := range []simd.ISA{simd.AVX512(c), simd.AVX2(c)} {
		emitPanels(s)
		emitDense(s)
	}
}

// chains is the number of sums that are computed at once, enough to hide the
// latency of multiply-add.
const chains = 8

// emitPanels writes the product of panels of a packed left operand, a vector of
// rows each, and a vector: four panels, or two or one with the steps of k dealt
// out to several sums.
func emitPanels(s simd.ISA) {
	s.Begin("gemvPanels", "func(panels, k int, a *float32, stride int, x *float32, ldx int, out *float32, acc bool)",
		fmt.Sprintf("stores in out[%d*i+l] the sum over k >= 1 of a[i*stride+%d*p+l]·x[p*ldx]\nfor panels i, 1, 2 or 4 of them, or adds it with acc.", s.Lanes(), s.Lanes()))
	panels, k, a, stride := s.Arg("panels"), s.Arg("k"), s.Arg("a"), s.Bytes("stride")
	x, ldx, out := s.Arg("x"), s.Bytes("ldx"), s.Arg("out")
	acc := s.GP32()
	s.Load(s.Param("acc"), acc.As8())
	s.CMPQ(panels, U8(4))
	s.JEQ(LabelRef("p4"))
	s.CMPQ(panels, U8(2))
	s.JEQ(LabelRef("p2"))
	for _, n := range []int{1, 2, 4} {
		panelSums(s, n, k, a, stride, x, ldx, out, acc)
	}
}

// panelSums writes the sums of so many panels: there are always the same number of
// chains of multiply-adds, enough to hide the latency of one, so fewer panels get
// the steps of k dealt out to several, which are added by halves at the end.
func panelSums(s simd.ISA, panels int, k, a, stride, x, ldx, out reg.GPVirtual, acc reg.GP) {
	name := fmt.Sprintf("p%d", panels)
	split, size := chains/panels, 4*s.Lanes()
	s.Label(name)
	at := []reg.GPVirtual{a}
	for i := 1; i < panels; i++ {
		at = append(at, s.GP64())
		s.MOVQ(at[i-1], at[i])
		s.ADDQ(stride, at[i])
	}
	for i := range chains {
		s.Zero(s.V(i))
	}
	step := func(j int) {
		v := s.V(chains + j%2)
		s.VBROADCASTSS(simd.At(x, 0), v)
		s.ADDQ(ldx, x)
		for i := range panels {
			s.MultiplyAdd(simd.At(at[i], size*j), v, s.V(i*split+j))
		}
	}
	advance := func(steps int) {
		for _, p := range at {
			s.ADDQ(U32(size*steps), p)
		}
	}
	unrolled(s, name, k, split, func(steps int) {
		for j := range steps {
			step(j)
		}
		advance(steps)
	})
	for half := split / 2; half >= 1; half /= 2 {
		for i := range panels {
			for j := range half {
				s.VADDPS(s.V(i*split+j+half), s.V(i*split+j), s.V(i*split+j))
			}
		}
	}
	s.TESTB(acc.As8(), acc.As8())
	s.JEQ(LabelRef(name + "store"))
	for i := range panels {
		s.VADDPS(simd.At(out, size*i), s.V(i*split), s.V(i*split))
	}
	s.Label(name + "store")
	for i := range panels {
		s.VMOVUPS(s.V(i*split), simd.At(out, size*i))
	}
	s.End()
}

// denseAhead is how far, in bytes, a dense panel is asked for early.
const denseAhead = 1024

// emitDense writes the product of one panel, whose steps follow each other
// without gaps, and a vector: the panel is read as a single stream, whose
// bandwidth bounds it.
func emitDense(s simd.ISA) {
	s.Begin("gemvDense", "func(vecs, k int, a, x *float32, ldx int, out *float32)",
		fmt.Sprintf("stores in out[l], for l < %d·vecs, the sum over k >= 1 of\na[%d·vecs·p+l]·x[p*ldx], for vecs of 1 or 2.", s.Lanes(), s.Lanes()))
	vecs, k, a := s.Arg("vecs"), s.Arg("k"), s.Arg("a")
	x, ldx, out := s.Arg("x"), s.Bytes("ldx"), s.Arg("out")
	s.CMPQ(vecs, U8(1))
	s.JEQ(LabelRef("v1"))
	denseSums(s, 2, k, a, x, ldx, out)
	s.Label("v1")
	denseSums(s, 1, k, a, x, ldx, out)
}

// denseSums writes the sums of a panel of one or two vectors: the steps of k are
// dealt out to as many chains of multiply-adds as hide the latency of one, and the
// chains added by halves at the end.
func denseSums(s simd.ISA, vecs int, k, a, x, ldx, out reg.GPVirtual) {
	name := fmt.Sprintf("dense%d", vecs)
	split, size := chains/vecs, 4*s.Lanes()
	for i := range chains {
		s.Zero(s.V(i))
	}
	steps := func(n int) {
		for j := range n {
			f := s.V(chains + j%2)
			s.VBROADCASTSS(simd.At(x, 0), f)
			s.ADDQ(ldx, x)
			for i := range vecs {
				at := size * (vecs*j + i)
				if at%64 == 0 {
					s.PREFETCHT0(simd.At(a, denseAhead+at))
				}
				s.MultiplyAdd(simd.At(a, at), f, s.V(vecs*j+i))
			}
		}
		s.ADDQ(U32(size*vecs*n), a)
	}
	unrolled(s, name, k, split, steps)
	for half := chains / 2; half >= vecs; half /= 2 {
		for i := range half {
			s.VADDPS(s.V(i+half), s.V(i), s.V(i))
		}
	}
	for i := range vecs {
		s.VMOVUPS(s.V(i), simd.At(out, size*i))
	}
	s.End()
}

// unrolled runs n steps at a time while k is as many, then one at a time.
func unrolled(s simd.ISA, name string, k reg.GPVirtual, n int, steps func(n int)) {
	s.Wholes(name+"loop", name+"rest", k, n, func() { steps(n) })
	s.TESTQ(k, k)
	s.JEQ(LabelRef(name + "end"))
	steps(1)
	s.DECQ(k)
	s.JMP(LabelRef(name + "rest"))
	s.Label(name + "end")
}
