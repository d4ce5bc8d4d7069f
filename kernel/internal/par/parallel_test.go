package par

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// countJob counts visits of indices and the chunks it saw.
type countJob struct {
	mu     sync.Mutex
	seen   []int
	chunks map[[2]int]int
}

func (j *countJob) Do(lo, hi int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.chunks[[2]int{lo, hi}]++
	for i := lo; i < hi; i++ {
		j.seen[i]++
	}
}

func TestParallelVisitsEachIndexOnce(t *testing.T) {
	for _, c := range []struct{ n, grain int }{{0, 4}, {1, 1}, {10, 3}, {12, 3}, {7, 100}, {1000, 1}, {5, 0}, {-3, 2}, {1 << 20, 1 << 15}, {100003, 5000}} {
		for _, threads := range []int{0, 1, 2, 9} {
			j := &countJob{seen: make([]int, max(c.n, 0)), chunks: map[[2]int]int{}}
			(&Workspace{Threads: threads}).Parallel(c.n, c.grain, j)
			for i, v := range j.seen {
				if v != 1 {
					t.Fatalf("%d visits of index %d", v, i)
				}
			}
		}
	}
}

func TestParallelCutsEvenly(t *testing.T) {
	for _, c := range []struct{ n, grain, threads, want int }{
		{10, 4, 2, 4},
		{7, 1, 2, 7}, // no index can be cut
		{7, 2, 2, 4},
		{7, 7, 2, 1}, // too little to share out
		{100, 10, 3, 12},
		{100, 1, 2, 100},
		{1000, 10, 3, 100}, // one chunk more or less does not matter
		{100003, 5000, 2, 21},
		{2, 1, 4, 2},
	} {
		j := &countJob{seen: make([]int, c.n), chunks: map[[2]int]int{}}
		(&Workspace{Threads: c.threads}).Parallel(c.n, c.grain, j)
		require.Len(t, j.chunks, c.want, "%+v", c)
		least, most := c.n, 0
		for b := range j.chunks {
			least, most = min(least, b[1]-b[0]), max(most, b[1]-b[0])
			if c.n/c.want >= longChunk {
				require.Zero(t, b[0]%64)
			}
		}
		require.LessOrEqual(t, most, c.grain)
		if c.n/c.want < longChunk {
			require.LessOrEqual(t, most-least, 1, "%+v", c)
		}
	}
}

// A caller that has done all the work does not wait for workers that other
// programs keep from coming.
func TestParallelTakesLoansBack(t *testing.T) {
	w := &Workspace{Threads: 2}
	var s workers
	k := &worker{wake: make(chan struct{}, 1)} // nobody runs it
	s.idle, s.count = append(s.idle, k), 1
	tm := &team{}
	tm.start(&tallyJob{}, 8, 8, 2)
	require.True(t, s.lend(tm, 1, -1))
	require.EqualValues(t, 1, tm.left.Load())
	tm.work(0)
	tm.wait(&s)
	require.EqualValues(t, 8, tm.job.(*tallyJob).n.Load())
	require.Zero(t, tm.left.Load())
	require.Empty(t, tm.lent)
	require.Equal(t, []*worker{k}, s.idle, "it can be lent again")
	w.Parallel(8, 1, tm.job)
	require.EqualValues(t, 16, tm.job.(*tallyJob).n.Load())
}

// meetJob ends only when two goroutines are in it at once.
type meetJob struct{ wg sync.WaitGroup }

func (j *meetJob) Do(int, int) {
	j.wg.Done()
	j.wg.Wait()
}

func TestParallelRunsAtOnce(t *testing.T) {
	done := make(chan bool)
	go func() {
		j := &meetJob{}
		j.wg.Add(2)
		(&Workspace{Threads: 2}).Parallel(2, 1, j)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("two chunks did not run at the same time")
	}
}

type panicJob struct{ at int }

func (j *panicJob) Do(lo, _ int) {
	if lo == j.at {
		panic("chunk failed")
	}
	runtime.Gosched()
}

func TestParallelRaisesPanicsOnTheCaller(t *testing.T) {
	w := &Workspace{Threads: 4}
	for at := range 8 {
		require.PanicsWithValue(t, "chunk failed", func() { w.Parallel(8, 1, &panicJob{at: at}) })
		j := &countJob{seen: make([]int, 20), chunks: map[[2]int]int{}}
		w.Parallel(20, 1, j)
		require.Len(t, j.chunks, 20, "the workspace works after a panic")
	}
}

// nestedJob starts parallel work from within parallel work.
type nestedJob struct{ inner [16]countJob }

func (j *nestedJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		j.inner[i] = countJob{seen: make([]int, 50), chunks: map[[2]int]int{}}
		(&Workspace{Threads: 4}).Parallel(50, 1, &j.inner[i])
	}
}

func TestParallelNestsAndShares(t *testing.T) {
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			j := &nestedJob{}
			(&Workspace{Threads: 3}).Parallel(16, 1, j)
			for i := range j.inner {
				if len(j.inner[i].chunks) != 50 {
					t.Errorf("inner call %d ran %d chunks of 50", i, len(j.inner[i].chunks))
				}
			}
		})
	}
	wg.Wait()
}

type quietJob struct{ sum [64]int }

func (j *quietJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		j.sum[i]++
	}
}

func TestParallelDoesNotAllocate(t *testing.T) {
	w := &Workspace{Threads: 3}
	call := func() {
		j := TakeJob[quietJob](w)
		w.Parallel(64, 4, j)
		PutJob(w, j)
	}
	call()
	require.Zero(t, testing.AllocsPerRun(50, call))
}

// Workers that have parked are woken, those that still look are not.
func TestWorkersParkAndWake(t *testing.T) {
	w := &Workspace{Threads: 3}
	for i := range 40 {
		j := &tallyJob{}
		w.Parallel(64, 1, j)
		require.EqualValues(t, 64, j.n.Load())
		if i%4 == 0 {
			time.Sleep(2 * time.Millisecond) // long enough to park
		}
	}
}

type tallyJob struct{ n atomic.Int64 }

func (j *tallyJob) Do(lo, hi int) { j.n.Add(int64(hi - lo)) }
