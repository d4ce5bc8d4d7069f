package par

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// RoundJob is work in rounds, each of which reads what the one before it has written.
// Do is called from several goroutines at once, each with its own part of a round, so it
// must write only what belongs to that part, must not write what other parts of the same
// round read, and must not touch the workspace.
//
//gofx:kernel
type RoundJob interface {
	Do(round, part int)
}

// Rounds runs j for all parts of all rounds, on at most as many goroutines of w as there are parts,
// MostLanes at most. A round begins when all parts of the last one are done. A goroutine that has come keeps its
// part from round to round, so that what the part reads stays in the caches of one processor; those
// of a goroutine that has not come are done by the others. Where one is waited for as long as other programs
// make it wait, all but the first leave, which does the rest. This takes less than a call of
// Parallel for each round: a round ends with one store that the others see. A panic in Do
// is raised again on the caller after every goroutine has ended. It does not allocate once warm.
func (w *Workspace) Rounds(rounds, parts int, j RoundJob) {
	if rounds <= 0 || parts <= 0 {
		return
	}
	r := TakeJob[roundsJob](w)
	r.job, r.rounds, r.parts = j, int64(rounds), parts
	switch {
	case oneThread || w.Threads <= 1 || parts == 1:
		for i := range rounds {
			for p := range parts {
				j.Do(i, p)
			}
		}
	case w.Meter != nil && w.Meter.InTurn:
		// Of another machine's goroutines each would have its part: each round is a call.
		r.single = true
		for r.round = range rounds {
			w.Parallel(parts, 1, r)
		}
	default:
		r.clock = w.Meter != nil
		w.Parallel(parts, 1, r)
		if r.clock {
			at := &w.Meter.Regions[len(w.Meter.Regions)-1]
			at.Rounds, at.Waited = rounds, time.Duration(r.waited.Load())
		}
	}
	PutJob(w, r)
}

// roundsJob is a call of Rounds in progress: an index is a goroutine that stays for all rounds.
type roundsJob struct {
	job    RoundJob
	rounds int64
	parts  int
	single bool // an index is a part of one round
	round  int
	clock  bool
	waited atomic.Int64 // nanoseconds, with a clock
	failed atomic.Bool
	apart  atomic.Bool // all but the first goroutine leave
	_      [line]byte

	list [MostLanes]roundPart
}

// roundPart is how far a part has come: 2r where round r is not begun, 2r+1 where a
// goroutine has it. Its own goroutine goes on to 2r+3 when it ends a round, which says
// that the round is done and that the next one is taken.
type roundPart struct {
	at atomic.Int64
	_  [line - 8]byte
}

// Do is a goroutine for each of [lo, hi), of which the first one that is there finds work.
func (r *roundsJob) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		if r.single {
			r.job.Do(r.round, i)
		} else {
			r.stay(i)
		}
	}
}

// stay does all rounds of its own part, and those of others that nobody has taken.
func (r *roundsJob) stay(own int) {
	// Who waits for a part that has failed must not wait for ever.
	ended := false
	defer func() {
		if !ended {
			r.failed.Store(true)
		}
	}()
	mine := false
	for i := r.begun(); i < r.rounds && !r.failed.Load(); i++ {
		if own != 0 && r.apart.Load() {
			if mine {
				r.list[own].at.Store(2 * i)
			}
			break
		}
		if !mine {
			mine = r.list[own].at.CompareAndSwap(2*i, 2*i+1)
		}
		if mine {
			r.job.Do(int(i), own)
			next := 2*i + 3
			if i+1 == r.rounds {
				next--
			}
			r.list[own].at.Store(next)
		}
		for p := range r.parts {
			r.take(i, p)
		}
		r.end(i)
	}
	ended = true
}

// take does a part of a round if nobody has taken it, and reports whether the round of the part is over.
func (r *roundsJob) take(i int64, part int) bool {
	s := &r.list[part].at
	now := s.Load()
	if now == 2*i && s.CompareAndSwap(2*i, 2*i+1) {
		r.job.Do(int(i), part)
		s.Store(2*i + 2)
		return true
	}
	return now >= 2*i+2
}

// begun returns the round that is in progress: the first one that a part has not done.
func (r *roundsJob) begun() int64 {
	first := r.rounds
	for p := range r.parts {
		first = min(first, r.list[p].at.Load()/2)
	}
	return first
}

// end returns when all parts of a round are done, or a goroutine has failed.
func (r *roundsJob) end(i int64) {
	var start time.Time
	if r.clock {
		start = time.Now()
	}
	for p := range r.parts {
		for spins := 0; !r.take(i, p) && !r.failed.Load(); spins++ {
			switch {
			case spins < quickLooks:
			case crew.alone.Load():
				runtime.Gosched()
			case spins < quickLooks+awaitRounds:
				cpu.Pause()
			default:
				// Another program has the processor of who does the part. It may have it again
				// in each of the next rounds: one goroutine does them by itself.
				r.apart.Store(true)
				time.Sleep(restTime)
			}
		}
	}
	if r.clock {
		r.waited.Add(int64(time.Since(start)))
	}
}
