// Command pool writes the assembly of pooling.
package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/gofx-dev/gofx/internal/generators/asmgen/simd"
	"github.com/gofx-dev/gofx/internal/generators/asmgen/window"
)

func generate() (map[string][]byte, error) {
	unit := func(name string, emit func(s simd.ISA, kernel, stride int, order [2]Mem)) simd.Unit {
		return simd.Unit{Family: "pool", Name: name, Emit: func(c *build.Context) {
			order := window.Orders(c)
			for _, s := range []simd.ISA{simd.AVX512(c), simd.AVX2(c)} {
				for _, kernel := range []int{2, 3} {
					for _, stride := range []int{1, 2} {
						emit(s, kernel, stride, order)
					}
				}
			}
		}}
	}
	return simd.Files("asmgen/pool", []simd.Unit{
		unit("poolmax", emitMax),
		unit("poolavg", emitAvg),
		{Family: "pool", Name: "poolplaces", Emit: emitPlaces},
		{Family: "pool", Name: "poolsum", Emit: func(c *build.Context) {
			for _, s := range []simd.ISA{simd.AVX512(c), simd.AVX2(c)} {
				emitSums(s)
			}
		}},
	})
}

func main() { simd.Main("asmgen/pool", generate) }

// Bytes into maxCall of package pool.
const (
	callNaN  = window.Own
	callFill = window.Own + 4
)

// emitMax writes the maxima of windows. Lanes outside the input hold minus
// infinity. NaN is only detected: the instruction does not keep it reliably,
// and a plane that has one is computed again.
func emitMax(s simd.ISA, kernel, stride int, order [2]Mem) {
	f := &window.Window{ISA: s, Kernel: kernel, Stride: stride}
	temps := window.Temps(s, stride)
	best, seen, nan := f.T(temps), f.T(temps+1), f.T(temps+2)
	f.Fill = f.T(temps + 3)
	s.Begin(fmt.Sprintf("max%ds%d", kernel, stride), "func(c *byte)",
		fmt.Sprintf("stores the maxima of %dx%d windows with stride %d of a plane, c a\nmaxCall, and whether it read a NaN.", kernel, kernel, stride))
	f.Call = s.Arg("c")
	s.VBROADCASTSS(simd.At(f.Call, callFill), f.Fill)
	if s.Wide() {
		s.KXORW(reg.K7, reg.K7, reg.K7)
	} else {
		s.Zero(seen)
	}
	f.Init = func() {
		for r := range window.Tall {
			s.VMOVAPS(f.Fill, f.V(r))
		}
	}
	const unordered = 3
	f.Loaded = func(a, b reg.VecPhysical) {
		if s.Wide() {
			s.VCMPPS(U8(unordered), a, b, reg.K6)
			s.KORW(reg.K6, reg.K7, reg.K7)
		} else {
			s.VCMPPS(U8(unordered), a, b, nan)
			s.VORPS(nan, seen, seen)
		}
	}
	// Of equals, such as zeros, the first remains: the one that was there.
	f.Add = func(j, x int, v reg.VecPhysical) {
		if x == 0 {
			s.VMOVAPS(v, best)
		} else {
			s.VMAXPS(best, v, best)
		}
	}
	f.RowEnd = func(j int) {
		f.Targets(j, func(r, _ int) { s.VMAXPS(f.V(r), best, f.V(r)) })
	}
	f.Finish = func(at window.Place) { f.Store(at, func(int) {}) }
	f.Write(order)
	found := s.GP32()
	if s.Wide() {
		s.KMOVW(reg.K7, found)
	} else {
		s.VMOVMSKPS(seen, found)
	}
	s.MOVL(found, simd.At(f.Call, callNaN))
	s.End()
}

// emitAvg writes the averages of windows: sums of row sums, as in Go, divided by
// the product of a row's and a column's count. A row sum is one register that all
// output rows which meet the input row add; see package window.
func emitAvg(s simd.ISA, kernel, stride int, order [2]Mem) {
	f := &window.Window{ISA: s, Kernel: kernel, Stride: stride, Counts: true}
	sum := f.T(window.Temps(s, stride))
	s.Begin(fmt.Sprintf("avg%ds%d", kernel, stride), "func(c *byte)",
		fmt.Sprintf("stores the averages of %dx%d windows with stride %d of a plane, c a\nwindowCall.", kernel, kernel, stride))
	f.Call = s.Arg("c")
	f.Init = func() {
		for r := range window.Tall {
			s.Zero(f.V(r))
		}
	}
	f.Add = func(j, x int, v reg.VecPhysical) {
		if x == 0 {
			s.VMOVAPS(v, sum)
		} else {
			s.VADDPS(v, sum, sum)
		}
	}
	f.RowEnd = func(j int) {
		f.Targets(j, func(r, _ int) { s.VADDPS(sum, f.V(r), f.V(r)) })
	}
	f.Finish = func(at window.Place) {
		s.VMOVUPS(simd.At(at.Block, f.ColumnCounts()), f.T(0))
		f.Store(at, func(r int) {
			s.VBROADCASTSS(simd.At(at.Tile, f.RowCounts()+4*r), f.T(1))
			s.VMULPS(f.T(0), f.T(1), f.T(1))
			s.VDIVPS(f.T(1), f.V(r), f.V(r))
		})
	}
	f.Write(order)
	s.End()
}
