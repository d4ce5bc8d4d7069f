package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
	"github.com/gofx-dev/gofx/internal/generators/asmgen/window"
)

// Bytes into filterCall of package conv.
const (
	callWeight   = window.Own
	callResidual = callWeight + 8
	callWide     = callResidual + 8
	callScale    = callWide + 8
	callBias     = callScale + 4
	callLo       = callBias + 4
	callHi       = callLo + 4
)

// filter writes the convolution of one channel by one square kernel.
type filter struct {
	window.Window
	weights reg.GPVirtual
	temps   int // vector registers of the window, in addition to the sums
	held    int // weights that registers hold
}

// emitFilter writes the filter of a window that moves down: see package window.
// Output rows are sums in registers, weights are in the remaining registers or
// in memory, and each input row is read once for all rows that meet it.
func emitFilter(s simd.ISA, kernel, stride int, order [2]Mem) {
	f := &filter{Window: window.Window{ISA: s, Kernel: kernel, Stride: stride}, temps: window.Temps(s, stride)}
	f.held = min(kernel*kernel, s.Pick(16, 32)-window.Tall-f.temps)
	s.Begin(fmt.Sprintf("filter%ds%d", kernel, stride), "func(c *byte)",
		fmt.Sprintf("convolves one channel, c a filterCall, by a %dx%d kernel with stride\n%d.", kernel, kernel, stride))
	f.Call, f.weights = s.Arg("c"), s.GP64()
	f.prepare()
	f.Init = func() {
		for r := range window.Tall {
			f.Zero(f.V(r))
		}
	}
	f.Add, f.Finish = f.add, f.finish
	f.Write(order)
	s.End()
}

// prepare brings the weights where they are used from: registers as far as they
// go, then memory, where AVX2 needs whole vectors of them.
func (f *filter) prepare() {
	w := f.weights
	f.MOVQ(simd.At(f.Call, callWeight), w)
	wide := f.GP64()
	if !f.Wide() {
		f.MOVQ(simd.At(f.Call, callWide), wide)
	}
	for t := range f.Kernel * f.Kernel {
		switch {
		case t < f.held:
			f.VBROADCASTSS(simd.At(w, 4*t), f.T(f.temps+t))
		case !f.Wide():
			f.VBROADCASTSS(simd.At(w, 4*t), f.T(0))
			f.VMOVUPS(f.T(0), simd.At(wide, 32*t))
		}
	}
	if !f.Wide() {
		f.MOVQ(wide, w)
	}
}

// add adds column x of input row j to the sums of every output row that it
// belongs to.
func (f *filter) add(j, x int, v reg.VecPhysical) {
	f.Targets(j, func(r, y int) {
		switch t := y*f.Kernel + x; {
		case t < f.held:
			f.VFMADD231PS(f.T(f.temps+t), v, f.V(r))
		case f.Wide():
			f.VFMADD231PS_BCST(simd.At(f.weights, 4*t), v, f.V(r))
		default:
			f.VFMADD231PS(simd.At(f.weights, 32*t), v, f.V(r))
		}
	})
}

// finish applies the epilogue to the sums and stores the rows that exist.
func (f *filter) finish(at window.Place) {
	a, b := f.T(0), f.T(1)
	f.VBROADCASTSS(simd.At(f.Call, callScale), a)
	f.VBROADCASTSS(simd.At(f.Call, callBias), b)
	for r := range window.Tall {
		f.VFMADD213PS(b, a, f.V(r))
	}
	from := f.GP64()
	f.MOVQ(simd.At(f.Call, callResidual), from)
	f.TESTQ(from, from)
	f.JEQ(LabelRef("clamp"))
	f.ADDQ(at.Offset, from)
	for r := range window.Tall {
		f.AddLanes(simd.At(from, 0), f.V(r), a, &at.Mask)
		if r < window.Tall-1 {
			f.CMPQ(at.Rows, U8(r+1))
			f.JEQ(LabelRef("clamp"))
			f.ADDQ(at.Row, from)
		}
	}
	f.Label("clamp")
	f.VBROADCASTSS(simd.At(f.Call, callLo), a)
	f.VBROADCASTSS(simd.At(f.Call, callHi), b)
	f.Store(at, func(r int) {
		f.VMAXPS(f.V(r), a, f.V(r))
		f.VMINPS(f.V(r), b, f.V(r))
	})
}
