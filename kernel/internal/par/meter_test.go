package par

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// napJob takes a while for each index.
type napJob struct{ each time.Duration }

func (j napJob) Do(lo, hi int) {
	for start := time.Now(); time.Since(start) < j.each*time.Duration(hi-lo); {
	}
}

// The time of a call is that of goroutines that work, wait for the last of them, or are
// called and leave.
func TestMetersAccountForAllTime(t *testing.T) {
	w := &Workspace{Threads: 3, Meter: &Meter{}}
	w.Parallel(1, 1, napJob{}) // nothing to share
	w.Parallel(7, 7, napJob{})
	require.Empty(t, w.Meter.Regions)
	w.Parallel(7, 1, napJob{50 * time.Microsecond})
	w.Parallel(2, 1, napJob{50 * time.Microsecond})
	require.Len(t, w.Meter.Regions, 2)
	for i, r := range w.Meter.Regions {
		require.Equal(t, 3, r.Threads)
		require.Equal(t, []int{7, 2}[i], r.Indices)
		require.Equal(t, []int{7, 2}[i], r.Chunks)
		require.Len(t, r.Stays, []int{3, 2}[i])
		require.Empty(t, r.Took)
		require.GreaterOrEqual(t, r.Busy(), time.Duration(r.Indices)*50*time.Microsecond)
		require.GreaterOrEqual(t, r.Uneven(), time.Duration(0))
		require.GreaterOrEqual(t, r.Handing(), time.Duration(0))
		require.Equal(t, 3*r.Wall, r.Busy()+r.Uneven()+r.Handing())
		for _, s := range r.Stays {
			require.LessOrEqual(t, s.From, s.To)
			require.LessOrEqual(t, s.To, r.Wall)
		}
	}
	require.GreaterOrEqual(t, w.Meter.Regions[1].Uneven(), w.Meter.Regions[1].Wall, "a thread had nothing to do")
}

// In turn, all chunks that so many threads would get are done by the caller.
func TestMetersAskForOtherMachines(t *testing.T) {
	for _, threads := range []int{2, 16, 64, 1000} {
		w := &Workspace{Threads: threads, Meter: &Meter{InTurn: true}}
		j := &countJob{seen: make([]int, 5000), chunks: map[[2]int]int{}}
		w.Parallel(5000, 3, j)
		require.Len(t, w.Meter.Regions, 1)
		r := w.Meter.Regions[0]
		require.Equal(t, []int{threads, 5000, len(j.chunks)}, []int{r.Threads, r.Indices, r.Chunks})
		require.Len(t, r.Took, r.Chunks)
		total := time.Duration(0)
		for _, d := range r.Took {
			total += d
		}
		require.Equal(t, r.Wall, total)
		for _, n := range j.seen {
			require.Equal(t, 1, n)
		}
		require.Equal(t, min(threads, 64), w.Processors(64))
		w.Meter = nil
		require.Equal(t, Machine(min(threads, 64)), w.Processors(64))
		require.Empty(t, w.Jobs[0].(*team).job)
	}
}
