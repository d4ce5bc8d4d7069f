package par

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sumJob adds up in each part of a round what all parts of the last one have.
type sumJob struct {
	parts int
	list  [2][MostLanes]int
	calls atomic.Int64
	inTo  func(round, part int)
}

func (j *sumJob) Do(round, part int) {
	j.calls.Add(1)
	if j.inTo != nil {
		j.inTo(round, part)
	}
	sum := 0
	for _, v := range j.list[round%2][:j.parts] {
		sum += v
	}
	j.list[1-round%2][part] = (sum + part) % 1000003
}

func (j *sumJob) fill() *sumJob {
	for i := range j.parts {
		j.list[0][i] = i + 1
	}
	return j
}

// A round sees all that the last one has written, with any number of goroutines.
func TestRounds(t *testing.T) {
	for _, rounds := range []int{0, 1, 2, 7, 300} {
		for _, parts := range []int{0, 1, 2, 3, MostLanes} {
			want := (&sumJob{parts: parts}).fill()
			for i := range rounds {
				for p := range parts {
					want.Do(i, p)
				}
			}
			for _, threads := range []int{0, 1, 2, 3, 5, 16} {
				for _, m := range []*Meter{nil, {}, {InTurn: true}} {
					w, j := &Workspace{Threads: threads, Meter: m}, (&sumJob{parts: parts}).fill()
					w.Rounds(rounds, parts, j)
					name := fmt.Sprintf("%d rounds of %d parts, %d threads", rounds, parts, threads)
					require.Equal(t, want.list, j.list, name)
					require.EqualValues(t, rounds*parts, j.calls.Load(), name)
				}
			}
		}
	}
}

// Parts of who comes late, or rests in the middle of one, are done once.
func TestRoundsOfLateGoroutines(t *testing.T) {
	const rounds, parts = 40, 3
	want := (&sumJob{parts: parts}).fill()
	for i := range rounds {
		for p := range parts {
			want.Do(i, p)
		}
	}
	for at := range 6 {
		j := (&sumJob{parts: parts}).fill()
		j.inTo = func(round, part int) {
			if (round+part)%6 == at {
				time.Sleep(200 * time.Microsecond)
			}
		}
		(&Workspace{Threads: parts}).Rounds(rounds, parts, j)
		require.Equal(t, want.list, j.list)
		require.EqualValues(t, rounds*parts, j.calls.Load())
	}
}

// Who is waited for for long leaves after its part, and so do others but the first.
func TestRoundsGoOnAlone(t *testing.T) {
	if crew.look(); crew.alone.Load() {
		t.Skip("GOMAXPROCS is 1: nobody waits for as long as other programs take")
	}
	r := &roundsJob{rounds: 4, parts: 2}
	j := (&sumJob{parts: 2}).fill()
	r.job = j
	r.list[1].at.Store(1) // somebody has part 1 of the first round
	over := make(chan bool)
	go func() {
		r.stay(0)
		close(over)
	}()
	for !r.apart.Load() {
		time.Sleep(time.Millisecond)
	}
	require.EqualValues(t, 1, j.calls.Load(), "it waits")
	j.Do(0, 1)
	r.list[1].at.Store(3) // and has the next one, too
	r.stay(1)             // which it does not begin: it takes nothing, and gives nothing back that is not its own
	r.list[1].at.Store(2) // as it does when it leaves
	<-over
	want := (&sumJob{parts: 2}).fill()
	for i := range 4 {
		for p := range 2 {
			want.Do(i, p)
		}
	}
	require.Equal(t, want.list, j.list)
	require.EqualValues(t, 8, j.calls.Load())
}

// One processor is enough.
func TestRoundsTakeTurns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	w := &Workspace{Threads: 3}
	for range 2 * lookEvery {
		j := (&sumJob{parts: 3}).fill()
		w.Rounds(20, 3, j)
		require.EqualValues(t, 60, j.calls.Load())
	}
}

// A panic ends all goroutines, and is raised on the caller; the workspace can be used again.
func TestRoundsPanic(t *testing.T) {
	for _, threads := range []int{1, 2, 3} {
		for _, bad := range []int{0, 1, 2} {
			w := &Workspace{Threads: threads}
			j := (&sumJob{parts: 3}).fill()
			j.inTo = func(round, part int) {
				if round == 5 && part == bad {
					panic("part")
				}
			}
			require.PanicsWithValue(t, "part", func() { w.Rounds(100, 3, j) })
			require.LessOrEqual(t, j.calls.Load(), int64(18), "nobody goes on")
			again := (&sumJob{parts: 3}).fill()
			w.Rounds(10, 3, again)
			require.EqualValues(t, 30, again.calls.Load())
		}
	}
}

// Time until a round ends is no work, and is uneven.
func TestRoundsAreMetered(t *testing.T) {
	w := &Workspace{Threads: 2, Meter: &Meter{}}
	j := (&sumJob{parts: 2}).fill()
	j.inTo = func(_, part int) {
		for start := time.Now(); time.Since(start) < time.Duration(1+3*part)*100*time.Microsecond; {
		}
	}
	w.Rounds(5, 2, j)
	require.Len(t, w.Meter.Regions, 1)
	r := w.Meter.Regions[0]
	require.Equal(t, []int{2, 2, 5}, []int{r.Threads, r.Indices, r.Rounds})
	require.GreaterOrEqual(t, r.Waited, time.Duration(0))
	require.GreaterOrEqual(t, r.Busy(), 2500*time.Microsecond)
	require.Equal(t, 2*r.Wall, r.Busy()+r.Uneven()+r.Handing())

	w = &Workspace{Threads: 2, Meter: &Meter{InTurn: true}}
	w.Rounds(5, 2, (&sumJob{parts: 2}).fill())
	require.Len(t, w.Meter.Regions, 5, "each round is shared by itself")
}

func TestRoundsDoNotAllocate(t *testing.T) {
	w, j := &Workspace{Threads: 2}, (&sumJob{parts: 2}).fill()
	run := func() { w.Rounds(30, 2, j) }
	run()
	require.Zero(t, testing.AllocsPerRun(20, run))
}

// BenchmarkRounds is the time of a round that does nothing, and of a call of Parallel.
func BenchmarkRounds(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads_%d", threads), func(b *testing.B) {
			w, j := &Workspace{Threads: threads}, (&sumJob{parts: 2}).fill()
			w.Rounds(b.N, 2, j)
		})
	}
}
