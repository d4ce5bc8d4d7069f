package par

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// slotJob fails where two goroutines have one slot.
type slotJob struct {
	slots Slots
	of    int
	in    [MostSlots]atomic.Int64
	used  [MostSlots]atomic.Int64
	twice atomic.Bool
}

func (j *slotJob) Do(lo, hi int) {
	slot := j.slots.Take(lo % j.of)
	defer j.slots.Give(slot)
	if j.in[slot].Add(1) != 1 {
		j.twice.Store(true)
	}
	for range hi - lo {
		j.used[slot].Add(1)
	}
	j.in[slot].Add(-1)
}

func TestSlotsHaveOneOwnerEach(t *testing.T) {
	for _, most := range []int{1, 2, 3, 64} {
		w := &Workspace{Threads: 5}
		j := &slotJob{of: most}
		for range 200 {
			w.Within(most, 97, 1, j)
		}
		require.False(t, j.twice.Load())
		require.Equal(t, 5, w.Threads)
		total := int64(0)
		for i := range j.used {
			total += j.used[i].Load()
			if i >= most {
				require.Zero(t, j.used[i].Load(), "slot %d of %d", i, most)
			}
		}
		require.EqualValues(t, 200*97, total)
	}
}

func TestSlotsPreferTheWantedOne(t *testing.T) {
	var s Slots
	require.Equal(t, 63, s.Take(63))
	require.Equal(t, 0, s.Take(63))
	require.Equal(t, 1, s.Take(0))
	s.Give(63)
	require.Equal(t, 63, s.Take(63))
}
