package cost_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/cost"
)

const us = time.Microsecond

// shared is a call of so many chunks of equal length, which so many threads share.
func shared(threads, chunks int, each time.Duration) kernel.Region {
	r := kernel.Region{Threads: threads, Indices: chunks, Chunks: chunks, Wall: each * time.Duration(chunks)}
	for range chunks {
		r.Took = append(r.Took, each)
	}
	return r
}

func predicted(threads int, h cost.Handover, bandwidth float64, steps ...cost.Part) cost.Scaling {
	return (&cost.Cutting{Threads: threads, Steps: steps}).Predict(h, bandwidth)
}

// Without handing over, the time of a call is its chunks in turns, and the parts of the time of
// all threads add up.
func TestScalingOfEqualChunks(t *testing.T) {
	for _, c := range []struct{ threads, chunks, turns int }{{1, 5, 5}, {2, 6, 3}, {2, 7, 4}, {16, 16, 1}, {16, 17, 2}, {16, 3, 1}, {64, 640, 10}, {3, 1, 1}} {
		s := predicted(c.threads, cost.Handover{}, 0, cost.Part{Serial: 2 * us, Regions: []kernel.Region{shared(c.threads, c.chunks, 10*us)}})
		require.Equal(t, 2*us+time.Duration(c.turns)*10*us, s.Time, "%+v", c)
		require.Equal(t, 2*us+time.Duration(c.chunks)*10*us, s.Alone)
		require.Equal(t, 2*us, s.Serial)
		require.Equal(t, []int{1, c.chunks}, []int{s.Barriers, s.Tiles})
		require.Equal(t, s.Time, s.Serial+s.Uneven+s.Handing+time.Duration(c.chunks)*10*us/time.Duration(c.threads))
		require.InDelta(t, float64(s.Alone)/float64(s.Time)/float64(c.threads), s.Efficiency, 1e-12)
	}
}

// Who is done takes chunks from others: a long first share does not hold all up.
func TestScalingTakesChunksOfOthers(t *testing.T) {
	r := kernel.Region{Threads: 2, Indices: 4, Chunks: 4, Took: []time.Duration{30 * us, 30 * us, 10 * us, 10 * us}, Wall: 80 * us}
	s := predicted(2, cost.Handover{}, 0, cost.Part{Regions: []kernel.Region{r}})
	require.Equal(t, 50*us, s.Time, "30+10+10 next to 30: the second thread takes its own chunks and then one of the first's")
}

// More threads are never slower where handing over takes no time, nor faster than their number.
func TestScalingIsMonotone(t *testing.T) {
	last := time.Duration(1 << 60)
	for _, threads := range []int{1, 2, 4, 8, 16, 32, 64} {
		s := predicted(threads, cost.Handover{}, 0, cost.Part{Serial: us, Regions: []kernel.Region{shared(threads, 96, 3*us), shared(threads, 10, 5*us)}})
		require.LessOrEqual(t, s.Time, last)
		require.LessOrEqual(t, s.Efficiency, 1.0)
		last = s.Time
	}
}

// The caller lends threads one after the other, and the last one to leave tells it.
func TestScalingCountsHandingOver(t *testing.T) {
	h := cost.Handover{Call: 5 * us, Line: us}
	one := predicted(2, h, 0, cost.Part{Regions: []kernel.Region{shared(2, 2, 100*us)}})
	require.Equal(t, 105*us, one.Time, "the second comes after two lines, and the call ends after the rest")
	more := predicted(16, h, 0, cost.Part{Regions: []kernel.Region{shared(16, 16, 100*us)}})
	require.Equal(t, 119*us, more.Time)
	require.Greater(t, more.Handing, one.Handing)
	require.Equal(t, more.Time, more.Uneven+more.Handing+100*us)
}

// A step takes no less than its bytes do.
func TestScalingIsBoundByMemory(t *testing.T) {
	s := predicted(4, cost.Handover{}, 1e9, cost.Part{Bytes: 40_000, Regions: []kernel.Region{shared(4, 4, 10*us)}}, cost.Part{Bytes: 1000, Serial: 5 * us})
	require.Equal(t, 45*us, s.Time)
	require.Equal(t, 30*us, s.Memory)
	require.InDelta(t, 41_000/45e-6, s.Bandwidth, 1)
	require.Zero(t, predicted(4, cost.Handover{}, 0).Efficiency)
}

func TestMedianOfParts(t *testing.T) {
	part := func(serial time.Duration, took ...time.Duration) cost.Part {
		return cost.Part{Serial: serial, Regions: []kernel.Region{{Threads: 2, Indices: 9, Chunks: 2, Took: took, Wall: took[0] + took[1]}}}
	}
	m := cost.Median([]cost.Part{part(3*us, 1*us, 9*us), part(1*us, 2*us, 7*us), part(2*us, 50*us, 8*us)})
	require.Equal(t, 2*us, m.Serial)
	require.Equal(t, []time.Duration{2 * us, 8 * us}, m.Regions[0].Took)
	require.Equal(t, 10*us, m.Regions[0].Wall)
	require.Equal(t, 9, m.Regions[0].Indices)
	require.Empty(t, cost.Median(nil).Regions)

	longer := part(9*us, 5*us, 5*us)
	longer.Regions = append(longer.Regions, longer.Regions[0])
	m = cost.Median([]cost.Part{longer, part(1*us, 2*us, 4*us), longer, part(3*us, 6*us, 8*us), part(2*us, 3*us, 5*us)})
	require.Equal(t, 2*us, m.Serial, "loops of other numbers of rounds are left out")
	require.Len(t, m.Regions, 1)
	require.Equal(t, []time.Duration{3 * us, 5 * us}, m.Regions[0].Took)
}
