package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Job is work over an index range that Parallel cuts into chunks. Do is called
// from several goroutines at once, each with its own range, so it must write
// only what belongs to that range and must not touch the workspace.
type Job interface {
	Do(lo, hi int)
}

// Parallel runs j over [0, n) in chunks of grain indices (the last may be
// shorter) on at most w.Threads goroutines, the caller's among them, and
// returns when all chunks are done. The chunks do not depend on the number of
// threads, so neither do results. A panic in Do is raised again on the caller
// after every started chunk has ended. It does not allocate once warm.
func (w *Workspace) Parallel(n, grain int, j Job) {
	grain = max(grain, 1)
	if n <= 0 {
		return
	}
	chunks := (n-1)/grain + 1
	if w.Threads <= 1 || chunks == 1 {
		for lo := 0; lo < n; lo += grain {
			j.Do(lo, min(lo+grain, n))
		}
		return
	}
	t := takeJob[team](w)
	t.job, t.n, t.grain = j, n, grain
	t.next.Store(0)
	for range min(w.Threads, chunks) - 1 {
		if !crew.lend(t) {
			break
		}
	}
	t.work()
	t.wait()
	failed, cause := t.failed, t.cause
	t.job, t.failed, t.cause = nil, false, nil
	w.jobs = append(w.jobs, t)
	if failed {
		panic(cause)
	}
}

// team is one Parallel call in progress.
type team struct {
	job      Job
	n, grain int
	next     atomic.Int64
	members  sync.WaitGroup
	left     atomic.Int64 // members that may still touch the team

	mu     sync.Mutex
	failed bool
	cause  any
}

// work takes chunks until none is left. It stops all takers at the first panic.
func (t *team) work() {
	defer t.catch()
	for {
		lo := int(t.next.Add(int64(t.grain))) - t.grain
		if lo >= t.n {
			return
		}
		t.job.Do(lo, min(lo+t.grain, t.n))
	}
}

func (t *team) catch() {
	r := recover()
	if r == nil {
		return
	}
	t.next.Store(int64(t.n))
	t.mu.Lock()
	if !t.failed {
		t.failed, t.cause = true, r
	}
	t.mu.Unlock()
}

// workers is the process-wide set of goroutines that Parallel calls borrow.
// Borrowing never waits: a call that finds no idle worker does the work itself,
// so calls from many goroutines, or from within a job, cannot deadlock.
type workers struct {
	mu    sync.Mutex
	idle  []*worker
	count int
}

// worker is one of them. After a call it looks for the next one for a while
// before it parks: waking a parked one takes longer than many calls do.
type worker struct {
	next   atomic.Pointer[team]
	parked atomic.Bool
	wake   chan struct{}
}

var crew workers

// lend gives t one worker and reports false when there is none to give.
func (s *workers) lend(t *team) bool {
	s.mu.Lock()
	var k *worker
	if last := len(s.idle) - 1; last >= 0 {
		k = s.idle[last]
		s.idle = s.idle[:last]
	} else if s.count < max(runtime.GOMAXPROCS(0), 4)-1 {
		s.count++
		k = &worker{wake: make(chan struct{}, 1)}
		go s.run(k)
	}
	s.mu.Unlock()
	if k == nil {
		return false
	}
	t.members.Add(1)
	t.left.Add(1)
	k.next.Store(t)
	if k.parked.Swap(false) {
		k.wake <- struct{}{}
	}
	return true
}

func (s *workers) run(k *worker) {
	for {
		t := k.take()
		t.work()
		k.next.Store(nil)
		s.mu.Lock()
		s.idle = append(s.idle, k)
		s.mu.Unlock()
		t.members.Done()
		t.left.Add(-1)
	}
}

// take returns the next call that the worker is lent to.
func (k *worker) take() *team {
	for {
		if await(func() bool { return k.next.Load() != nil }) {
			return k.next.Load()
		}
		k.parked.Store(true)
		// A lender that came in between has seen the worker parked, or has not.
		if k.next.Load() == nil || !k.parked.Swap(false) {
			<-k.wake
		}
	}
}

// wait returns when all members have left.
func (t *team) wait() {
	done := func() bool { return t.left.Load() == 0 }
	await(done)
	t.members.Wait()
	for !done() { // a member that is about to leave
		runtime.Gosched()
	}
}

// How long await looks: rounds of a pause of about a tenth of a microsecond to
// one, longer than what lies between the steps of a network.
const awaitRounds = 600

// await looks for a while whether done holds.
func await(done func() bool) bool {
	if runtime.GOMAXPROCS(0) == 1 { // who is waited for could not run
		return done()
	}
	for range awaitRounds {
		if done() {
			return true
		}
		pause()
	}
	return done()
}

// takeJob returns an idle *J of this workspace, or a new one. The caller fills
// it and gives it back with putJob, so that steady state allocates nothing.
func takeJob[J any](w *Workspace) *J {
	for i := len(w.jobs) - 1; i >= 0; i-- {
		if j, ok := w.jobs[i].(*J); ok {
			last := len(w.jobs) - 1
			w.jobs[i] = w.jobs[last]
			w.jobs[last] = nil
			w.jobs = w.jobs[:last]
			return j
		}
	}
	return new(J)
}

// putJob zeroes j, so that it keeps no array alive, and returns it to the idle ones.
func putJob[J any](w *Workspace, j *J) {
	var zero J
	*j = zero
	w.jobs = append(w.jobs, j)
}
