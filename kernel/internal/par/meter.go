package par

import (
	"runtime"
	"time"
)

// Meter watches the Parallel calls of a workspace that has it: where several goroutines
// shared chunks, and how long each was there. It is for measuring, and allocates.
//
//gofx:kernel
type Meter struct {
	// InTurn has the caller alone do the chunks that so many threads would share, one after
	// the other, each timed: what a machine with as many processors would be given.
	InTurn bool
	// Regions are the calls that shared chunks, in order.
	Regions []Region
}

// Region is a call of Parallel whose chunks several goroutines were to share.
//
//gofx:kernel
type Region struct {
	Threads int // that the chunks were to be shared by
	Indices int // of the range
	Chunks  int // that it was cut into
	// Wall is from the call to its return.
	Wall time.Duration
	// Stays has for each goroutine when it was there, the caller first. InTurn has none.
	Stays []Stay
	// Took is the time of each chunk, InTurn only.
	Took []time.Duration
	// Rounds is how many there were in one call, of which each begins when all parts of the
	// last one are done; 0 where there were none. Waited is the time, of all goroutines together,
	// from their parts of a round to its end.
	Rounds int
	Waited time.Duration
}

// Stay is when a goroutine took chunks, after the beginning of the call. One that never
// came has zeros.
//
//gofx:kernel
type Stay struct{ From, To time.Duration }

// Busy is the time in which goroutines took chunks, all together.
func (r *Region) Busy() (t time.Duration) {
	for _, s := range r.Stays {
		t += s.To - s.From
	}
	return t - r.Waited
}

// Uneven is the time, of all threads together, between a goroutine's last chunk and the last
// chunk of all, or the last one of its round, and of threads for which there was no chunk.
func (r *Region) Uneven() (t time.Duration) {
	last := time.Duration(0)
	for _, s := range r.Stays {
		last = max(last, s.To)
	}
	for _, s := range r.Stays {
		if s.To > 0 {
			t += last - s.To
		}
	}
	return t + time.Duration(r.Threads-len(r.Stays))*r.Wall + r.Waited
}

// Handing is the time, of all threads together, in which work was handed over: until a
// goroutine came, and from the last chunk until the call returned.
func (r *Region) Handing() time.Duration {
	return time.Duration(r.Threads)*r.Wall - r.Busy() - r.Uneven()
}

// inTurn does the chunks of a call that threads would share.
func (m *Meter) inTurn(t *team, threads int) {
	start := time.Now()
	r := Region{Threads: threads, Indices: t.n, Chunks: t.chunks, Took: make([]time.Duration, t.chunks)}
	before := time.Duration(0)
	for i := range t.chunks {
		t.job.Do(t.cut(i), t.cut(i+1))
		now := time.Since(start)
		r.Took[i], before = now-before, now
	}
	r.Wall = before
	m.Regions = append(m.Regions, r)
}

// note adds the call of t, which has ended.
func (m *Meter) note(t *team, threads int) {
	r := Region{Threads: threads, Indices: t.n, Chunks: t.chunks, Wall: time.Since(t.begin), Stays: make([]Stay, len(t.shares))}
	for i := range t.shares {
		r.Stays[i] = t.shares[i].stay
		t.shares[i].stay = Stay{}
	}
	m.Regions = append(m.Regions, r)
}

// clocked works, and notes when.
func (t *team) clocked(i int) {
	s := &t.shares[i]
	s.stay.From = time.Since(t.begin)
	t.chunksOf(i)
	s.stay.To = time.Since(t.begin)
}

// Processors returns how many goroutines of the workspace run at once, at most so many: no
// more than the machine lets, except where a Meter asks what another machine would do.
func (w *Workspace) Processors(most int) int {
	if w.Meter == nil || !w.Meter.InTurn {
		most = Machine(most)
	}
	return max(1, min(w.Threads, most))
}

// Machine returns how many goroutines run at once on this machine, at most so many.
func Machine(most int) int { return min(runtime.NumCPU(), most) }
