package par

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// parkings is how often the tests below let somebody park just while he is woken:
// without a full barrier one in a thousand or more is lost under an emulator of arm64.
const parkings = 20000

// most is how long they go on at most: where other programs have the processors, it takes milliseconds until
// who is woken runs, and all rounds take minutes.
const most = 10 * time.Second

// atOnce runs two functions in lockstep, with a delay of one of them that varies, and
// fails where they do not come to an end.
func atOnce(t *testing.T, what string, reset, a, b func()) {
	t.Helper()
	if runtime.GOMAXPROCS(0) == 1 {
		t.Skip("GOMAXPROCS is 1: nobody parks just while he is woken")
	}
	crew.alone.Store(true) // nobody looks for a while before he parks
	defer crew.alone.Store(false)
	var begun, ended atomic.Int64
	until := func(at *atomic.Int64, round int64) (comes bool) {
		for spins := 1; ; spins++ {
			switch now := at.Load(); {
			case now == round:
				return true
			case now < 0:
				return false
			case spins%1024 == 0:
				runtime.Gosched()
			}
		}
	}
	over := make(chan bool)
	go func() {
		for i := int64(1); until(&begun, i); i++ {
			b()
			ended.Store(i)
		}
	}()
	go func() {
		defer close(over)
		defer begun.Store(-1)
		start := time.Now()
		for i := int64(1); i <= parkings && time.Since(start) < most; i++ {
			reset()
			begun.Add(1)
			for range i % 8 {
				begun.Load()
			}
			a()
			until(&ended, i)
		}
	}()
	for last := int64(-1); ; {
		select {
		case <-over:
			return
		case <-time.After(20 * time.Second):
			round := begun.Load()
			require.NotEqual(t, last, round, "%s was not woken", what)
			last = round
		}
	}
}

// A caller is woken by the last worker that leaves, however close the two are.
func TestCallersAreWoken(t *testing.T) {
	var s workers
	tm := &team{wake: make(chan struct{}, 1)}
	atOnce(t, "a caller", func() { tm.left.Store(1) }, func() { tm.wait(&s) }, tm.leave)
	require.Zero(t, tm.left.Load())
	require.Empty(t, tm.wake)
}

// A worker is woken by who lends it, however close the two are.
func TestWorkersAreWoken(t *testing.T) {
	k := &worker{wake: make(chan struct{}, 1)}
	s := workers{count: 1}
	tm := &team{wake: make(chan struct{}, 1)}
	atOnce(t, "a worker", func() { s.idle, tm.lent = append(s.idle[:0], k), tm.lent[:0] },
		func() {
			if !s.lend(tm, 1, 0) {
				t.Error("nobody was lent")
			}
		},
		func() {
			if k.take() != tm {
				t.Error("lent to somebody else")
			}
		})
	require.Empty(t, k.wake)
}
