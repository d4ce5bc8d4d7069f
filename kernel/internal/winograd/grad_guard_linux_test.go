package winograd

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// No access leaves an operand, and none the memory that the callers of the transforms check:
// such an access would fault.
func TestGradGuardPages(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.WinogradLevels(t, func(t *testing.T) {
		l := cpu.Host.Level
		lanes := gemm.PanelLanes(l)
		for _, before := range []bool{false, true} {
			r := rand.New(rand.NewPCG(1, 1))
			guarded := func(n int) []float32 { return kerneltest.GuardedFloats(t, r, n, before) }
			for tiles := 1; tiles <= 3; tiles++ {
				col, row, ps := lanes+3, 4*tiles*(lanes+3)+2, tiles*lanes+1
				seed(l, tiles, guarded(35*ps+tiles*lanes), ps, guarded(3*row+(4*tiles-1)*col+lanes), col, row)
				n := tiles * lanes
				taps(l, tiles, guarded(8*(n+1)+n), n+1, guarded(35*(n+2)+n), n+2)
			}
			for _, c := range [][5]int{{1, 1, 1, 1, 1}, {2, 17, 9, 7, 8}, {1, 33, 40, 9, 12}, {2, 16, 15, 4, 4}} {
				g := geom.NewSpatial([]int{c[3], c[4]}, []int{c[3], c[4]}, []int{3}, nil, []int{1, 1}, nil)
				v := Grad{G: g, Batch: c[0], Groups: 2, PerGroup: c[1], OutPerGroup: c[2]}
				v.Src, v.Seed, v.Dst = guarded(c[0]*2*c[1]*g.InPlane), guarded(c[0]*2*c[2]*g.OutPlane), guarded(2*c[2]*c[1]*9)
				v.Run(&par.Workspace{})
			}
		}
	})
}
