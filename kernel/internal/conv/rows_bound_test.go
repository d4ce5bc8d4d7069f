package conv

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
)

// The choice between the forms of a weight takes as long for 2^40 columns as for 64: it
// counts no tiles.
func TestChoiceCountsNoTiles(t *testing.T) {
	s := Conv{Stride: []int{1, 1}, PadLo: []int{1, 1}, PadHi: []int{1, 1}, Dilation: []int{1, 1}}
	start := time.Now()
	for _, in := range [][]int{{8, 1 << 40}, {1 << 40, 8}, {1 << 20, 1 << 20}} {
		for _, kernel := range [][]int{{3, 3}, {1, 1}, {1, 7}} {
			rowsForm(cpu.Host.Level, s, in, kernel, 1<<20, 3)
		}
	}
	require.Less(t, time.Since(start), 5*time.Second)
}

// Cut returns how many panels of each height Rows gives.
func TestCut(t *testing.T) {
	for l := cpu.Generic; l <= cpu.AVX512; l++ {
		bl := gemm.BlockingOf(l)
		for m := range 200 {
			count := map[int]int{}
			for i := range bl.Panels(m) {
				lo, hi := bl.Rows(m, i)
				count[hi-lo]++
			}
			got := map[int]int{}
			for _, c := range bl.Cut(m) {
				if c.Panels > 0 {
					got[c.Rows] += c.Panels
				}
			}
			require.Equal(t, count, got, "%v: %d rows", l, m)
		}
	}
}
