package conv

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/winograd"
)

// No access leaves an operand, on either side: such an access would fault.
func TestWinogradGuardPages(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		for _, before := range []bool{false, true} {
			r := rand.New(rand.NewPCG(1, 1))
			for _, c := range winogradCases {
				for _, e := range []int{2, 4} {
					ns, nw, nd := c.sizes()
					m := c.groups * c.outPerGroup
					if ns == 0 || ns > 20000 {
						continue
					}
					guarded := func(n int) []float32 { return kerneltest.GuardedFloats(t, r, n, before) }
					end := gemm.Finish{ScaleRow: guarded(m), BiasRow: guarded(m), Residual: guarded(nd)}
					v := c.form()
					weight := guarded(nw)
					v.packed = guarded(winograd.Len(cpu.Host.Level, e, c.groups, c.outPerGroup, c.perGroup))
					winograd.Pack(&par.Workspace{}, cpu.Host.Level, e, v.packed, weight, c.groups, c.outPerGroup, c.perGroup)
					v.src, v.dst, v.end = guarded(ns), guarded(nd), end.With(operand.Epilogue{Act: operand.ActReLU})
					v.end.Ldr = v.g.OutPlane
					p := v.winograd()
					p.Run(&par.Workspace{}, e)
				}
			}
		}
	})
}

// The transforms stay within the memory that their callers check.
func TestWinogradKernelGuards(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		l, nr := cpu.Host.Level, gemm.BlockingOf(cpu.Host.Level).Nr
		for _, before := range []bool{false, true} {
			r := rand.New(rand.NewPCG(1, 1))
			for _, e := range []int{2, 4} {
				tt := e + 2
				for vecs := 1; vecs <= 2; vecs++ {
					n := vecs * nr / 2
					plane, row, ps := n+3, 3, n+1
					winograd.Input(l, e, n, kerneltest.GuardedFloats(t, r, (tt*tt-1)*ps+n, before), ps, kerneltest.GuardedFloats(t, r, (e*tt-1)*plane+row+n, before), plane, row)
					winograd.Output(l, e, 2, n, kerneltest.GuardedFloats(t, r, 2*nr*e*e, before), kerneltest.GuardedFloats(t, r, tt*tt*2*nr, before), 2*nr)
				}
				for _, tiles := range []int{1, 7, 8, 15, 16, 17, 33} {
					width := e*tiles - 1
					winograd.Split(l, e, 2*e+2, 0, 0, tiles, kerneltest.GuardedFloats(t, r, e*tt*3*tiles, before), 3*tiles, tiles, kerneltest.GuardedFloats(t, r, (2*e+2)*width, before), width, 1, width)
				}
			}
		}
	})
}
