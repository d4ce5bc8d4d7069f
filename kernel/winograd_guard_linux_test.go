package kernel

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"
)

// No access leaves an operand, on either side: such an access would fault.
func TestWinogradGuardPages(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	winogradLevels(t, func(t *testing.T) {
		for _, before := range []bool{false, true} {
			r := rand.New(rand.NewPCG(1, 1))
			for _, c := range winogradCases {
				for _, e := range []int{2, 4} {
					ns, nw, nd := c.sizes()
					m := c.groups * c.outPerGroup
					if ns == 0 || ns > 20000 {
						continue
					}
					guarded := func(n int) []float32 { return guardedFloats(t, r, n, before) }
					end := epilogue{scaleRow: guarded(m), biasRow: guarded(m), residual: guarded(nd)}
					v := c.form()
					weight := guarded(nw)
					v.packed = guarded(winogradLen(cpu.level, e, c.groups, c.outPerGroup, c.perGroup))
					packWinograd(&Workspace{}, cpu.level, e, v.packed, weight, c.groups, c.outPerGroup, c.perGroup)
					v.src, v.dst, v.end = guarded(ns), guarded(nd), end.with(Epilogue{Act: ActReLU})
					v.end.ldr = v.g.outPlane
					p := v.winograd()
					p.run(&Workspace{}, e)
				}
			}
		}
	})
}

// The transforms stay within what their callers check.
func TestWinogradKernelGuards(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	winogradLevels(t, func(t *testing.T) {
		l, nr := cpu.level, blockingOf(cpu.level).nr
		for _, before := range []bool{false, true} {
			r := rand.New(rand.NewPCG(1, 1))
			for _, e := range []int{2, 4} {
				tt := e + 2
				for vecs := 1; vecs <= 2; vecs++ {
					n := vecs * nr / 2
					plane, row, ps := n+3, 3, n+1
					winogradInput(l, e, n, guardedFloats(t, r, (tt*tt-1)*ps+n, before), ps, guardedFloats(t, r, (e*tt-1)*plane+row+n, before), plane, row)
					winogradOutput(l, e, 2, n, guardedFloats(t, r, 2*nr*e*e, before), guardedFloats(t, r, tt*tt*2*nr, before), 2*nr)
				}
				for _, tiles := range []int{1, 7, 8, 15, 16, 17, 33} {
					width := e*tiles - 1
					winogradSplit(l, e, 2*e+2, 0, 0, tiles, guardedFloats(t, r, e*tt*3*tiles, before), 3*tiles, tiles, guardedFloats(t, r, (2*e+2)*width, before), width, 1, width)
				}
			}
		}
	})
}
