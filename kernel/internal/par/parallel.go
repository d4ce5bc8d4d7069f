package par

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// Job is work over an index range that Parallel cuts into chunks. Do is called
// from several goroutines at once, each with its own range, so it must write
// only the elements of that range and must not touch the workspace.
//
//gofx:kernel
type Job interface {
	Do(lo, hi int)
}

// oneThread says that goroutines never run at once, whatever GOMAXPROCS is set to.
// It is a constant, so that programs for such machines link nothing of teams.
const oneThread = runtime.GOARCH == "wasm"

// Parallel runs j over [0, n) in chunks of about grain indices on at most
// w.Threads goroutines, the caller's among them, and returns when all chunks are
// done. Chunks are made smaller where their number would not divide among the
// goroutines: the results of a job must not depend on where its range is cut, so
// that results do not depend on the number of threads. A panic in Do is raised
// again on the caller after every started chunk has ended. It does not allocate
// once warm.
func (w *Workspace) Parallel(n, grain int, j Job) {
	grain = max(grain, 1)
	if n <= 0 {
		return
	}
	chunks := (n-1)/grain + 1
	if oneThread || w.Threads <= 1 || chunks == 1 {
		j.Do(0, n)
		return
	}
	t := TakeJob[team](w)
	t.start(j, n, evenChunks(n, chunks, w.Threads), w.Threads)
	m := w.Meter
	switch {
	case m == nil:
	case m.InTurn:
		m.inTurn(t, w.Threads)
		t.job = nil
		w.keep(t)
		return
	default:
		t.begin, t.clock = time.Now(), true
	}
	here := -1
	if t.calls++; t.calls%lookEvery == 1 {
		here = crew.look()
	}
	for i := 1; i < len(t.shares) && crew.lend(t, i, here); i++ {
	}
	t.work(0)
	t.wait(&crew)
	failed, cause := t.failed, t.cause
	if m != nil {
		m.note(t, w.Threads)
	}
	t.job, t.clock, t.failed, t.cause = nil, false, false, nil
	w.keep(t)
	if failed {
		panic(cause)
	}
}

// evenChunks returns the number of chunks for a range of n in at least so many.
func evenChunks(n, chunks, threads int) int {
	if threads < n && chunks <= fewChunks*threads {
		chunks = (chunks + threads - 1) / threads * threads
	}
	return min(n, chunks)
}

// Parts returns the number of parts to cut n units into, of at most so many units
// and, where goroutines can share them, as few as several for each, but no less
// than so many.
func (w *Workspace) Parts(n, most, least int) int {
	parts := (n-1)/most + 1
	if w.Threads > 1 {
		parts = max(parts, min(fewChunks/2*w.Threads, n/least))
	}
	return evenChunks(n, parts, max(1, w.Threads))
}

// team is one Parallel call in progress.
type team struct {
	// Workers read these.
	job       Job
	n, chunks int
	shares    []share
	clock     bool // goroutines note when they are there
	begin     time.Time
	_         [line]byte

	left   atomic.Int64 // workers that are lent and have not left
	parked atomic.Bool
	wake   chan struct{}
	_      [line]byte

	// The caller's own, except for panics.
	lent   []*worker
	calls  int
	mu     sync.Mutex
	failed bool
	cause  any
}

// share is a goroutine's part of the chunks. Who has done his own takes from those
// of others.
type share struct {
	next atomic.Int64
	end  int
	stay Stay // with a clock
	_    [line - 32]byte
}

func (t *team) start(j Job, n, chunks, threads int) {
	threads = min(threads, chunks)
	t.job, t.n, t.chunks = j, n, chunks
	if cap(t.shares) < threads {
		t.shares = make([]share, threads)
	}
	t.shares = t.shares[:threads]
	for i := range t.shares {
		s := &t.shares[i]
		s.end = chunks * (i + 1) / threads
		s.next.Store(int64(chunks * i / threads))
	}
	if t.wake == nil {
		t.wake = make(chan struct{}, 1)
	}
}

// work takes chunks until none is left, those of share i first. It stops all
// takers at the first panic.
func (t *team) work(i int) {
	defer t.catch()
	if t.clock {
		t.clocked(i)
		return
	}
	t.chunksOf(i)
}

// chunksOf takes the chunks of share i, and then those of the others.
func (t *team) chunksOf(i int) {
	for range t.shares {
		for s := &t.shares[i]; ; {
			c := int(s.next.Add(1)) - 1
			if c >= s.end {
				break
			}
			t.job.Do(t.cut(c), t.cut(c+1))
		}
		if i++; i == len(t.shares) {
			i = 0
		}
	}
}

// cut is where chunk i begins.
func (t *team) cut(i int) int {
	if i == t.chunks {
		return t.n
	}
	size, more := t.n/t.chunks, t.n%t.chunks
	lo := i*size + min(i, more)
	if size >= longChunk {
		lo &^= 63
	}
	return lo
}

func (t *team) catch() {
	r := recover()
	if r == nil {
		return
	}
	for i := range t.shares {
		t.shares[i].next.Store(int64(t.chunks))
	}
	t.mu.Lock()
	if !t.failed {
		t.failed, t.cause = true, r
	}
	t.mu.Unlock()
}

// wait returns when all workers have left. One that has not come yet is not
// waited for: other programs may keep its processor.
func (t *team) wait(s *workers) {
	for _, k := range t.lent {
		if k.next.Load() == t && k.next.CompareAndSwap(t, nil) {
			t.left.Add(-1)
		}
	}
	done := func() bool { return t.left.Load() == 0 }
	for !await(done) {
		t.parked.Swap(true) // not Store: see take
		// A worker that left in between has seen the caller parked, or has not.
		if !done() || !t.parked.Swap(false) {
			<-t.wake
		}
	}
	s.back(t.lent)
	clear(t.lent)
	t.lent = t.lent[:0]
}

// leave tells the caller, who may use t for another call at once.
func (t *team) leave() {
	wake := t.wake
	if t.left.Add(-1) == 0 && t.parked.Swap(false) {
		wake <- struct{}{}
	}
}

// workers is the process-wide set of goroutines that Parallel calls borrow.
// Borrowing never waits: a call that finds no idle worker does the work itself,
// so calls from many goroutines, or from within a job, cannot deadlock.
type workers struct {
	alone atomic.Bool // goroutines take turns on one processor
	_     [line]byte

	mu    sync.Mutex
	idle  []*worker
	count int
}

// worker is one of them. After a call it looks for the next one for a while
// before it parks: waking a parked one takes longer than many calls do.
type worker struct {
	next   atomic.Pointer[team] // that it is lent to and has not come to
	share  int                  // of it
	caller int                  // processor of its caller, -1 where nobody has looked
	parked atomic.Bool
	wake   chan struct{}
	moved  time.Time
	_      [line]byte
}

var crew workers

// look notes whether goroutines run at once, and returns the processor of the
// caller if it matters.
func (s *workers) look() int {
	alone := runtime.GOMAXPROCS(0) == 1
	if s.alone.Load() != alone {
		s.alone.Store(alone)
	}
	if alone {
		return -1
	}
	return processorHere()
}

// lend gives t one worker for a share, and reports false when there is none to
// give. The caller runs on processor here, if that is known.
func (s *workers) lend(t *team, share, here int) bool {
	s.mu.Lock()
	var k *worker
	if last := len(s.idle) - 1; last >= 0 {
		k = s.idle[last]
		s.idle = s.idle[:last]
	} else if s.count < max(runtime.GOMAXPROCS(0), 4)-1 {
		s.count++
		k = &worker{wake: make(chan struct{}, 1)}
		go k.run()
	}
	s.mu.Unlock()
	if k == nil {
		return false
	}
	t.lent = append(t.lent, k)
	t.left.Add(1)
	if here < 0 && k.parked.Load() {
		here = s.look()
	}
	k.share, k.caller = share, here
	k.next.Store(t)
	if k.parked.Swap(false) {
		k.wake <- struct{}{}
	}
	return true
}

// back takes workers that a call has done with.
func (s *workers) back(list []*worker) {
	s.mu.Lock()
	s.idle = append(s.idle, list...)
	s.mu.Unlock()
}

func (k *worker) run() {
	for {
		t := k.take()
		k.part()
		t.work(k.share)
		t.leave()
	}
}

// apart is the least time between two moves of a worker.
const apart = time.Millisecond

// part moves a worker that runs where its caller does. Schedulers start a woken
// thread there, and some leave it there for long: then the two take turns.
func (k *worker) part() {
	if k.caller < 0 || processorHere() != k.caller {
		return
	}
	if now := time.Now(); now.Sub(k.moved) >= apart {
		k.moved = now
		moveFrom(k.caller)
	}
}

// take comes to the next call that the worker is lent to.
func (k *worker) take() *team {
	lent := func() bool { return k.next.Load() != nil }
	for {
		if await(lent) {
			// Its caller may have taken the loan back.
			if t := k.next.Load(); t != nil && k.next.CompareAndSwap(t, nil) {
				return t
			}
			continue
		}
		// Swap and not Store, whose write may come after the read below where an emulator
		// (qemu 7.2, arm64 on amd64) puts no barrier between STLR and LDAR.
		k.parked.Swap(true)
		// A lender that came in between has seen the worker parked, or has not.
		if !lent() || !k.parked.Swap(false) {
			<-k.wake
		}
	}
}

// await looks for a while whether done holds.
func await(done func() bool) bool {
	if crew.alone.Load() { // who is waited for could not run
		return done()
	}
	for range awaitRounds {
		if done() {
			return true
		}
		cpu.Pause()
	}
	return done()
}

// TakeJob returns an idle *J of this workspace, or a new one. The caller fills
// it and gives it back with PutJob, so that steady state allocates nothing.
func TakeJob[J any](w *Workspace) *J {
	for i := len(w.Jobs) - 1; i >= 0; i-- {
		if j, ok := w.Jobs[i].(*J); ok {
			w.take(i)
			return j
		}
	}
	return new(J)
}

// PutJob zeroes j, so that it keeps no array alive, and returns it to the idle ones.
func PutJob[J any](w *Workspace, j *J) {
	var zero J
	*j = zero
	w.keep(j)
}

// take and keep are the parts of TakeJob and PutJob that are the same for all
// types: a program has one of those for each of its kernels.
func (w *Workspace) take(i int) {
	last := len(w.Jobs) - 1
	w.Jobs[i] = w.Jobs[last]
	w.Jobs[last] = nil
	w.Jobs = w.Jobs[:last]
}

func (w *Workspace) keep(j any) { w.Jobs = append(w.Jobs, j) }
