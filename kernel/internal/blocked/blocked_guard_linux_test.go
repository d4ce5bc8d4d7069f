package blocked

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// No tile leaves an operand, on either side: such an access would fault.
func TestBlockedGuardPages(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 9))
		most, ofThree := blockRows(cpu.Host.Level)
		for _, before := range []bool{false, true} {
			guarded := func(n int) []float32 { return kerneltest.GuardedFloats(t, r, n, before) }
			for _, kind := range tileKinds {
				for blocks := 1; blocks <= min(kind.blocks, max(1, 3*min(ofThree, 1))); blocks++ {
					limit := []int{0, most, most, ofThree}[blocks]
					for rows := 1; rows <= limit; rows += 1 + rows/3 {
						taps := [2]int{2, 1}
						if kind.blocks == 1 {
							taps = [2]int{3, 0}
						}
						c := tileCase(r, guarded, rows, blocks, taps, [2]int{BlockLanes, 5})
						kind.run(&c, cpu.Host.Level, rows, blocks)
					}
				}
			}
		}
	})
}
